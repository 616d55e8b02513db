"""How much goes side by side: cells in a block, examples in a chunk.

On a CPU the activations of a step must stay in a core's cache, so examples come in chunks and cells one by one or a few
at a time; on a GPU both are as many as its memory comfortably holds. Measured on a CPU; a GPU's numbers are estimates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax

from separatrix.learners import Trained
from separatrix.training.cell import Cell


@dataclass(frozen=True)
class _Room:
    """Bytes of activations that a chunk, and a block of cells, may take, the widest block, and the products of
    numbers in a step beyond which more cells side by side gain nothing.
    """

    chunk: int
    block: int
    widest: int
    busy: int


_CPU = _Room(chunk=2**21, block=2**16, widest=8, busy=2**32)
_ACCELERATOR = _Room(chunk=2**28, block=2**33, widest=256, busy=2**30)


@dataclass(frozen=True)
class Layout:
    """Cells side by side and examples at a time."""

    lanes: int
    chunk: int


def layout_for(cell: Cell, backend: str | None = None) -> Layout:
    """The layout of the cell's fleet: a function of the fleet and the kind of device, never of the plan."""
    kind = backend or jax.default_backend()
    if (cell.fleet, kind) not in _LAYOUTS:
        _LAYOUTS[cell.fleet, kind] = _layout(cell, _CPU if kind == "cpu" else _ACCELERATOR)
    return _LAYOUTS[cell.fleet, kind]


_LAYOUTS: dict[tuple[str, str], Layout] = {}


def _layout(cell: Cell, room: _Room) -> Layout:
    learner = cell.learner
    assert isinstance(learner, Trained)
    inputs, outputs = cell.task.input_shape, cell.task.output_shape
    itemsize = 8 if cell.procedure.precision == "float64" else 4
    numbers, products = _work(learner, inputs, outputs)
    example, weights = itemsize * numbers, itemsize * learner.parameter_count(inputs, outputs)
    # weights that are read, and whose gradient is added up, once a chunk want enough examples for it (StripCNN with
    # 1024 filters on 19 digits: 122 GFLOP/s a core at weights / example, 172 at three times as much, 161 at six)
    chunk = max(1, room.chunk // example, 3 * weights // example)
    seen = learner.algorithm.examples_a_step or cell.bucket
    working_set = 4 * weights + min(chunk, seen) * example
    most = min(room.block / working_set, room.busy / max(seen * products, 1))
    fitting = 2 ** math.floor(math.log2(max(most, 1)))
    return Layout(max(1, min(room.widest, fitting)), chunk)


def _work(learner: Trained, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> tuple[int, int]:
    """Numbers that the forward pass produces for one more example, and the products of numbers that it takes."""
    network = eqx.filter_eval_shape(learner.build, jax.random.key(0), inputs, outputs)
    arrays, rest = eqx.partition(network, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def produced(examples: int) -> tuple[int, int]:
        x = jax.ShapeDtypeStruct((examples, *inputs), "float32")
        return _produced(jax.make_jaxpr(lambda arrays, x: eqx.combine(arrays, rest)(x))(arrays, x).jaxpr)

    (numbers, products), (fewer_numbers, fewer_products) = produced(3), produced(2)
    return math.prod(inputs) + numbers - fewer_numbers, products - fewer_products


def _produced(jaxpr: object) -> tuple[int, int]:
    numbers, products = 0, 0
    for equation in jaxpr.eqns:  # type: ignore[attr-defined]
        inner = [p for p in equation.params.values() if hasattr(p, "jaxpr") or hasattr(p, "eqns")]
        if inner and equation.primitive.name != "reduce":
            for part in inner:
                more = _produced(getattr(part, "jaxpr", part))
                numbers, products = numbers + more[0], products + more[1]
            continue
        made = sum(math.prod(getattr(out.aval, "shape", ())) for out in equation.outvars)
        numbers, products = numbers + made, products + made * _terms(equation)
    return numbers, products


def _terms(equation: Any) -> int:
    """How many products are added up to one number of the equation's output."""
    if equation.primitive.name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        return math.prod(equation.invars[0].aval.shape[axis] for axis in contracted)
    if equation.primitive.name == "conv_general_dilated":
        kernel = equation.invars[1].aval.shape
        return math.prod(kernel) // kernel[equation.params["dimension_numbers"].rhs_spec[0]]
    return 0
