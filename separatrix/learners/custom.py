"""Anyone's learner: an Equinox module, a function that makes one, or a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.base import Architecture, Fitted, Learner, Network, Solver, Trained


class PointwiseNet(Network):
    """Anyone's Equinox module, which maps one x to one output, on a batch."""

    module: Callable[[Array], Array]
    output_shape: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x: Array) -> Array:
        outputs = jax.vmap(self.module)(x)
        return outputs.reshape(len(x), *self.output_shape)


@dataclass(frozen=True)
class Module(Architecture):
    """An architecture from ``make(key, input_shape, output_shape) -> eqx.Module``, called with one x at a time."""

    make: Callable[[PRNGKeyArray, tuple[int, ...], tuple[int, ...]], Callable[[Array], Array]]
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or getattr(self.make, "__name__", "module")

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> PointwiseNet:
        return PointwiseNet(self.make(key, input_shape, output_shape), output_shape)


@dataclass(frozen=True)
class FixedStart(Architecture):
    """One Equinox module with the weights it has: every seed starts from the same ones."""

    module: Any

    @property
    def label(self) -> str:
        return type(self.module).__name__

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> PointwiseNet:
        return PointwiseNet(self.module, output_shape)


@dataclass(frozen=True)
class Estimator(Solver):
    """A scikit-learn estimator, cloned for each cell; its ``random_state``, if it has one, is the seed."""

    estimator: Any

    @property
    def label(self) -> str:
        return type(self.estimator).__name__

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        from sklearn.base import clone

        model = clone(self.estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        if len(np.unique(y)) < 2 and hasattr(model, "predict_proba"):
            return Fitted(lambda points: np.full(len(points), y[0]), {}, "the sample holds one class only")
        model.fit(x.reshape(len(x), -1), y)

        def predict(points: np.ndarray) -> np.ndarray:
            flat = points.reshape(len(points), -1)
            decide = getattr(model, "decision_function", None) or model.predict
            return np.asarray(decide(flat), dtype=float)

        return Fitted(predict, {})


def as_learner(value: Any) -> Learner:
    """A learner from a learner, an architecture (trained by Adam), a module, its maker, or an estimator."""
    if isinstance(value, Learner):
        return value
    if isinstance(value, Architecture):
        return Trained(value)
    if isinstance(value, eqx.Module):
        return Trained(FixedStart(value))
    if hasattr(value, "fit") and hasattr(value, "get_params"):
        return Estimator(value)
    if callable(value):
        return Trained(Module(value))
    raise InputError(
        "a learner must be a separatrix learner, an Equinox module (or a function that makes one) or a "
        f"scikit-learn estimator, got {value!r}"
    )
