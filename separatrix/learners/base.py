"""What a learner is: a hypothesis class with its initialisation, loss and algorithm, or a direct solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.algorithms import Adam, Algorithm
from separatrix.learners.losses import LABELS, LOSSES
from separatrix.learners.network import Network, trained_part
from separatrix.learners.parts import PARTS, part_of
from separatrix.rules import Choice, enforce, parameter

__all__ = ["Architecture", "Fitted", "Learner", "Network", "Solver", "Trained", "need_one_output", "trained_part"]


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


def need_one_output(architecture: Architecture, output_shape: tuple[int, ...]) -> None:
    if output_shape != ():
        raise InputError(f"{architecture.label} has one output, the task wants the shape {output_shape}")


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
    """A network trained by a gradient method on a loss: all of it, or a part (see :mod:`.parts`)."""

    architecture: Architecture
    algorithm: Algorithm = Adam()
    loss: str = parameter("logistic", Choice(*LOSSES))
    train: str = parameter("all", Choice(*PARTS), added=True)

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return self.architecture.label if self.train == "all" else f"{self.architecture.label} ({self.train})"

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> Network:
        """The network at its start, such that its trained part is what this learner moves."""
        return part_of(self.architecture.build(key, input_shape, output_shape), self.train)

    def parameter_count(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...] = ()) -> int:
        """The number of trained parameters."""
        shapes = eqx.filter_eval_shape(self.build, jax.random.key(0), input_shape, output_shape)
        return sum(leaf.size for leaf in jax.tree.leaves(trained_part(shapes)))

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        if len(output_shape) != LABELS.get(self.loss, len(output_shape)):
            fitting = [name for name in LOSSES if LABELS.get(name, len(output_shape)) == len(output_shape)]
            raise InputError(
                f"loss must be one of {', '.join(fitting)} for outputs of the shape {output_shape}, got {self.loss}"
            )
        self.parameter_count(input_shape, output_shape)


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

    def fit_population(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray, seed: int) -> Fitted:
        """The same for an exact population: points with probabilities in the place of a sample."""
        raise NotImplementedError

    @property
    def on_population(self) -> bool:
        """Whether it can be trained on an exact population."""
        return type(self).fit_population is not Solver.fit_population
