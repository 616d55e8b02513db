"""Anyone's task: a sampler, or arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.rules import Choice, Real, enforce, parameter
from separatrix.tasks.base import Split, Task


@dataclass(frozen=True)
class Sampled(Task):
    """A task from one function, ``sampler(key) -> (x, y)``, written with ``jax.random`` and ``jax.numpy``.

    ``shape`` is the shape of x; y is -1.0 or +1.0, or of shape ``outputs`` for a regression.
    """

    sampler: Callable[[PRNGKeyArray], tuple[Array, Array]]
    shape: tuple[int, ...]
    outputs: tuple[int, ...] = ()
    target: str = parameter("classification", Choice("classification", "regression"))

    def __post_init__(self) -> None:
        enforce(self)
        x, y = jax.eval_shape(self.sampler, jax.random.key(0))
        if x.shape != tuple(self.shape) or y.shape != tuple(self.outputs):
            raise InputError(
                f"sampler must give shapes {tuple(self.shape)} and {tuple(self.outputs)}, got {x.shape} and {y.shape}"
            )

    @property
    def input_shape(self) -> tuple[int, ...]:
        return tuple(self.shape)

    @property
    def output_shape(self) -> tuple[int, ...]:
        return tuple(self.outputs)

    @property
    def kind(self) -> Literal["classification", "regression"]:
        return "regression" if self.target == "regression" else "classification"

    def instance(self, key: PRNGKeyArray, data: Any) -> tuple[()]:
        return ()

    def example(self, instance: Any, split: Split, index: Array, key: PRNGKeyArray) -> tuple[Array, Array]:
        x, y = self.sampler(key)
        return jnp.asarray(x, float), jnp.asarray(y, float)


@dataclass(frozen=True, eq=False)
class Arrays(Task):
    """A task from arrays: a seed shuffles the examples and splits them, so that no split sees another's.

    The first ``1 - validation_fraction - test_fraction`` of the shuffled examples can be trained on. Labels
    are -1 and +1 (0 and 1 are taken as these); ``target="regression"`` leaves y as it is.
    """

    x: Any
    y: Any
    target: str = parameter("classification", Choice("classification", "regression"))
    validation_fraction: float = parameter(0.2, Real(above=0, below=1))
    test_fraction: float = parameter(0.2, Real(above=0, below=1))

    def __post_init__(self) -> None:
        enforce(self)
        x, y = np.asarray(self.x, np.float32), np.asarray(self.y, np.float32)
        if len(x) != len(y) or len(x) < 3:
            raise InputError(f"x and y must have the same length of at least 3, got {len(x)} and {len(y)}")
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise InputError("x and y must be finite")
        if self.target == "classification":
            labels = set(np.unique(y).tolist())
            if not (labels <= {0.0, 1.0} or labels <= {-1.0, 1.0}) or y.ndim != 1:
                raise InputError(f"y must hold two labels, -1 and 1 or 0 and 1, got {sorted(labels)[:5]}")
            y = np.where(y > 0, 1, -1).astype(np.float32)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        if min(self._capacities().values()) < 1:
            raise InputError("the fractions must leave an example for each split")

    def _capacities(self) -> dict[Split, int]:
        total = len(self.x)
        test, validation = int(total * self.test_fraction), int(total * self.validation_fraction)
        return {"train": total - test - validation, "validation": validation, "test": test}

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self.x.shape[1:]

    @property
    def output_shape(self) -> tuple[int, ...]:
        return self.y.shape[1:]

    @property
    def kind(self) -> Literal["classification", "regression"]:
        return "regression" if self.target == "regression" else "classification"

    def capacity(self, split: Split) -> int | None:
        return self._capacities()[split]

    def data(self) -> tuple[Array, Array]:
        return jnp.asarray(self.x), jnp.asarray(self.y)

    def instance(self, key: PRNGKeyArray, data: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        return (*data, jax.random.permutation(key, len(self.x)))

    def example(self, instance: Any, split: Split, index: Array, key: PRNGKeyArray) -> tuple[Array, Array]:
        x, y, order = instance
        sizes = self._capacities()
        first = {"train": 0, "validation": sizes["train"], "test": sizes["train"] + sizes["validation"]}
        place = order[first[split] + index]
        return x[place], y[place]
