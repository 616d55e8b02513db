"""How much goes side by side: cells in a block, examples in a chunk.

On a CPU the activations of a step must stay in a core's cache, so examples come in chunks and cells one by one or a few
at a time; on a GPU both are as many as its memory comfortably holds. Measured in ``bench/``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import equinox as eqx
import jax

from separatrix.learners import Trained
from separatrix.training.cell import Cell


@dataclass(frozen=True)
class _Room:
    """Bytes of activations that a chunk, and a block of cells, may take, and the widest block.

    Beyond ``enough`` cells, a block whose steps touch ``busy`` bytes keeps the device busy: a wider one gains nothing,
    and costs where it has to be padded.
    """

    chunk: int
    block: int
    widest: int
    busy: int
    enough: int


_CPU = _Room(chunk=2**21, block=2**16, widest=8, busy=2**16, enough=1)
_ACCELERATOR = _Room(chunk=2**28, block=2**33, widest=256, busy=2**27, enough=64)


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
    example = itemsize * _activations(learner, inputs, outputs)
    chunk = max(1, room.chunk // example)
    optimiser = 4 * itemsize * learner.parameter_count(inputs, outputs)
    batch = getattr(learner.algorithm, "batch", None) or cell.bucket
    working_set = optimiser + min(chunk, cell.bucket, batch) * example
    fitting = _power_of_two(room.block / working_set)
    useful = max(room.enough, _power_of_two(room.busy / working_set))
    return Layout(min(room.widest, fitting, useful), chunk)


def _power_of_two(number: float) -> int:
    """The greatest one that is at most the number, and at least 1."""
    return int(2 ** math.floor(math.log2(max(number, 1))))


def _activations(learner: Trained, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> int:
    """Numbers that the forward pass produces for one more example."""
    network = eqx.filter_eval_shape(learner.build, jax.random.key(0), inputs, outputs)
    arrays, rest = eqx.partition(network, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def produced(examples: int) -> int:
        x = jax.ShapeDtypeStruct((examples, *inputs), "float32")
        return _produced(jax.make_jaxpr(lambda arrays, x: eqx.combine(arrays, rest)(x))(arrays, x).jaxpr)

    return math.prod(inputs) + produced(3) - produced(2)


def _produced(jaxpr: object) -> int:
    total = 0
    for equation in jaxpr.eqns:  # type: ignore[attr-defined]
        inner = [p for p in equation.params.values() if hasattr(p, "jaxpr") or hasattr(p, "eqns")]
        if inner and equation.primitive.name != "reduce":
            total += sum(_produced(getattr(p, "jaxpr", p)) for p in inner)
        else:
            total += sum(math.prod(getattr(out.aval, "shape", ())) for out in equation.outvars)
    return total
