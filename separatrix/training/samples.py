"""The compiled sampling of a task: programs that all learners on the task share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from separatrix.specs import with_values
from separatrix.tasks import Split, Task, stream
from separatrix.tasks.base import stream_number

Values = Mapping[str, Array | np.ndarray]
"""The traced values of a cell, or of a block of cells along a leading axis, by dotted path."""


class Sample(NamedTuple):
    """Examples with weights that sum to one (zero on padding)."""

    x: Float[Array, points * input]
    y: Float[Array, points * outputs]
    w: Float[Array, " points"]


def chosen(values: Values, part: str) -> Values:
    """The values that belong to one part of a cell, their paths relative to it."""
    prefix = part + "."
    return {path.removeprefix(prefix): value for path, value in values.items() if path.startswith(prefix)}


class Sampler:
    """Draws the samples of a block of cells; their traced values are ``task.*`` and ``seed``.

    Examples are drawn ``DRAW`` at a time, so that one compiled program serves every sample size.
    """

    DRAW = 256

    def __init__(self, task: Task):
        self.task = task
        self.shared = task.data()
        self._draw = jax.jit(self._drawn, static_argnums=0)
        self._enumerate = jax.jit(self._enumerated)

    def draw(self, values: Values, split: Split, room: int, size: np.ndarray) -> Sample:
        """The first ``size`` examples of a split (one size a cell), with room for ``room`` of them."""
        own = self._own(values)
        starts = range(0, room, self.DRAW)
        parts = [self._draw(split, stream_number(split), own, first, self.shared) for first in starts]
        x, y = parts[0] if len(parts) == 1 else (jnp.concatenate(each, axis=1) for each in zip(*parts, strict=True))
        used = np.arange(room) < size[:, None]
        return Sample(x[:, :room], y[:, :room], (used / size[:, None]).astype(y.dtype))

    def population(self, values: Values) -> Sample:
        """Every point of the support with its probability."""
        return self._enumerate(self._own(values), self.shared)

    @staticmethod
    def _own(values: Values) -> Values:
        return {path: v for path, v in values.items() if path.startswith("task.") or path == "seed"}

    def _instance(self, values: Values, shared: PyTree[Array]) -> tuple[Task, PyTree[Array]]:
        task = with_values(self.task, chosen(values, "task"))
        return task, task.instance(stream(values["seed"], "instance"), shared)

    def _drawn(
        self, split: Split, number: int | Array, values: Values, first: int | Array, shared: PyTree[Array]
    ) -> tuple[Array, Array]:
        """The split's stream comes as a number: where a task treats its splits alike, so do their programs, and
        JAX's cache compiles them once."""

        def one(values: Values) -> tuple[Array, Array]:
            task, instance = self._instance(values, shared)
            return task.sample(instance, split, stream(values["seed"], number), self.DRAW, first)

        return jax.vmap(one)(values)

    def _enumerated(self, values: Values, shared: PyTree[Array]) -> Sample:
        def one(values: Values) -> Sample:
            task, instance = self._instance(values, shared)
            points = task.population(instance)
            return Sample(points.x, points.y, points.p / points.p.sum())

        return jax.vmap(one)(values)
