"""How many cells go side by side: few on a CPU, where activations must stay in the cache; many on a GPU."""

from __future__ import annotations

import functools
import math

import equinox as eqx
import jax

from separatrix.learners import Trained
from separatrix.training.cell import Cell

_CPU_CACHE = 2**18
_DEVICE_MEMORY = 2**33
_WIDEST = {"cpu": 4, "gpu": 256, "tpu": 256}


def lanes_for(cell: Cell) -> int:
    """The lanes of the cell's fleet on this machine's first device."""
    return lanes(working_set(cell), jax.default_backend())


def lanes(working_set: int, backend: str) -> int:
    """The largest power of two whose working sets fit: the cache of a core, or a part of a device's memory.

    >>> lanes(30_000, "cpu"), lanes(10_000_000, "cpu"), lanes(10_000_000, "gpu")
    (4, 1, 256)
    """
    room = _CPU_CACHE if backend == "cpu" else _DEVICE_MEMORY
    return max(1, min(_WIDEST.get(backend, 1), 2 ** math.floor(math.log2(max(room / working_set, 1)))))


@functools.lru_cache(maxsize=1024)
def working_set(cell: Cell) -> int:
    """Bytes that a step of one cell touches: parameters, their optimiser's memory, and every activation."""
    learner = cell.learner
    assert isinstance(learner, Trained)
    itemsize = 8 if cell.procedure.precision == "float64" else 4
    inputs, outputs = cell.task.input_shape, cell.task.output_shape
    return itemsize * (
        4 * learner.architecture.parameter_count(inputs, outputs) + cell.bucket * _activations(learner, inputs, outputs)
    )


def _activations(learner: Trained, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> int:
    """Numbers that the forward pass produces for one more example."""
    network = eqx.filter_eval_shape(learner.architecture.build, jax.random.key(0), inputs, outputs)
    arrays, rest = eqx.partition(network, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def produced(examples: int) -> int:
        x = jax.ShapeDtypeStruct((examples, *inputs), "float32")
        return _produced(jax.make_jaxpr(lambda arrays, x: eqx.combine(arrays, rest)(x))(arrays, x).jaxpr)

    return math.prod(inputs) + produced(3) - produced(2)


def _produced(jaxpr: object) -> int:
    total = 0
    for equation in jaxpr.eqns:  # type: ignore[attr-defined]
        inner = [p for p in equation.params.values() if hasattr(p, "jaxpr") or hasattr(p, "eqns")]
        if inner:
            total += sum(_produced(getattr(p, "jaxpr", p)) for p in inner)
        else:
            total += sum(math.prod(getattr(out.aval, "shape", ())) for out in equation.outvars)
    return total
