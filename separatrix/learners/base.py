"""What a learner is: a hypothesis class with its initialisation, loss and algorithm, or a direct solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.algorithms import Adam, Algorithm
from separatrix.learners.losses import LABELS, LOSSES
from separatrix.rules import Choice, enforce, parameter


class Network(eqx.Module):
    """A function with parameters, on a batch: ``(points, *input) -> (points, *outputs)``."""

    @abstractmethod
    def __call__(self, x: Float[Array, points * input]) -> Float[Array, points * outputs]: ...

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The names of the parameters of each layer, from the input on; for layerwise training."""
        return ()

    @property
    def frozen(self) -> tuple[str, ...]:
        """The names of the arrays that training leaves alone."""
        return ()


class Architecture(ABC):
    """A hypothesis class and its initialisation; subclasses are frozen dataclasses."""

    @abstractmethod
    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> Network: ...

    @property
    def label(self) -> str:
        return type(self).__name__

    def parameter_count(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...] = ()) -> int:
        """The number of trained parameters, without making them."""
        shapes = eqx.filter_eval_shape(self.build, jax.random.key(0), input_shape, output_shape)
        return sum(leaf.size for leaf in jax.tree.leaves(trained_part(shapes)))


def trained_part(network: Network) -> Network:
    """The network with None in the place of everything that training leaves alone."""
    kept = eqx.filter(network, lambda leaf: eqx.is_inexact_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct))
    if network.frozen:
        kept = eqx.tree_at(
            lambda tree: [getattr(tree, name) for name in network.frozen], kept, replace_fn=lambda _: None
        )
    return kept


class Learner(ABC):
    """Anything that turns a training sample into a predictor: :class:`Trained` or a :class:`Solver`."""

    @property
    @abstractmethod
    def label(self) -> str: ...

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        """Raise an ``InputError`` where the learner does not fit a task's shapes."""
        return


@dataclass(frozen=True)
class Trained(Learner):
    """A network trained by a gradient method on a loss."""

    architecture: Architecture
    algorithm: Algorithm = Adam()
    loss: str = parameter("logistic", Choice(*LOSSES))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return self.architecture.label

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        if len(output_shape) != LABELS.get(self.loss, len(output_shape)):
            fitting = [name for name in LOSSES if LABELS.get(name, len(output_shape)) == len(output_shape)]
            raise InputError(
                f"loss must be one of {', '.join(fitting)} for outputs of the shape {output_shape}, got {self.loss}"
            )
        self.architecture.parameter_count(input_shape, output_shape)


@dataclass(frozen=True)
class Fitted:
    """What a solver made: the real-valued output on a batch, and facts about the solution.

    ``problem`` says in a sentence why the solution is not to be trusted; None where it is.
    """

    predict: Callable[[np.ndarray], np.ndarray]
    facts: Mapping[str, float | bool | int]
    problem: str | None = None


class Solver(Learner):
    """A learner that solves for its predictor at once, in NumPy; subclasses are frozen dataclasses."""

    @abstractmethod
    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted: ...
