"""Algorithms: how one step changes the parameters. The one training loop is in ``separatrix.training``.

An algorithm sees the training sample through a :class:`Problem`, and is two pure functions: ``init`` makes
its state, ``step`` takes parameters and state to the next ones. The update rules are Optax's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from separatrix.errors import InputError
from separatrix.learners.network import at_path
from separatrix.rules import Maybe, Real, Whole, enforce, parameter


class Problem(ABC):
    """The training sample as an algorithm sees it: sizes, weights and gradients."""

    size: Int[Array, ""]
    weights: Float[Array, " points"]
    layers: tuple[tuple[str, ...], ...]
    stream: PRNGKeyArray
    """The cell's stream of random numbers for its algorithm: for what is drawn less often than every step."""

    @abstractmethod
    def gradient(self, params: PyTree, weights: Float[Array, " points"]) -> PyTree:
        """The gradient of sum_i weights_i loss(x_i, y_i)."""

    def batch(self, t: Int[Array, ""], size: int, key: PRNGKeyArray) -> Int[Array, " batch"]:
        """Which examples step ``t`` takes: drawn with replacement, unless the problem has an order of its own."""
        return jax.random.randint(key, (size,), 0, self.size)

    @abstractmethod
    def batch_gradient(
        self, params: PyTree, indices: Int[Array, " batch"], weights: Float[Array, " batch"] | None = None
    ) -> PyTree:
        """The gradient of the mean loss over these examples, or of the loss with these weights."""


class Algorithm(ABC):
    """How a step changes the parameters; subclasses are frozen dataclasses with traced rates."""

    @property
    def warmup(self) -> Any:
        """The number of steps before which no stopping rule applies."""
        return 0

    def ends(self, size: int | Int[Array, ""]) -> Any:
        """The number of steps after which it ends by itself on a sample of this size; None where it goes on."""
        return None

    @property
    def examples_a_step(self) -> int | None:
        """The size of a minibatch; None where a step looks at the whole sample."""
        return None

    @property
    def on_population(self) -> bool:
        """Whether the algorithm can descend on an exact population, whose points have weights of their own."""
        return False

    @abstractmethod
    def init(self, params: PyTree) -> PyTree: ...

    @abstractmethod
    def step(
        self, t: Int[Array, ""], params: PyTree, state: PyTree, problem: Problem, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        """The parameters and state after step number ``t`` (0-based)."""


class FirstOrder(Algorithm):
    """An Optax rule fed with the gradient of the whole sample, or of a random minibatch."""

    @property
    @abstractmethod
    def batch(self) -> int | None:
        """Examples a step, drawn with replacement (or in the order of an epoch); None for the whole sample."""

    @abstractmethod
    def rule(self) -> optax.GradientTransformation: ...

    @property
    def examples_a_step(self) -> int | None:
        return self.batch

    @property
    def on_population(self) -> bool:
        return self.batch is None

    def init(self, params: PyTree) -> PyTree:
        return self.rule().init(params)

    def step(
        self, t: Int[Array, ""], params: PyTree, state: PyTree, problem: Problem, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        if self.batch is None:
            gradient = problem.gradient(params, problem.weights)
        else:
            gradient = problem.batch_gradient(params, problem.batch(t, self.batch, key))
        updates, state = self.rule().update(gradient, state, params)
        return optax.apply_updates(params, updates), state


_RATE = Real(above=0)


@dataclass(frozen=True)
class GradientDescent(FirstOrder):
    """w <- w - eta (grad L(w) + weight_decay w), with momentum where it is not zero.

    On the whole sample, or on the exact population where the cell is trained on it; SGD with a ``batch``.
    """

    learning_rate: float = parameter(0.1, _RATE, traced=True)
    momentum: float = parameter(0.0, Real(0, below=1), traced=True)
    weight_decay: float = parameter(0.0, Real(0), traced=True)
    batch: int | None = parameter(None, Maybe(Whole(1)))

    def __post_init__(self) -> None:
        enforce(self)

    def rule(self) -> optax.GradientTransformation:
        return optax.chain(
            optax.add_decayed_weights(self.weight_decay),
            optax.trace(decay=self.momentum),
            optax.scale_by_learning_rate(self.learning_rate),
        )


@dataclass(frozen=True)
class Adam(FirstOrder):
    """Adam (Kingma & Ba) with decoupled weight decay."""

    learning_rate: float = parameter(1e-3, _RATE, traced=True)
    weight_decay: float = parameter(0.0, Real(0), traced=True)
    b1: float = parameter(0.9, Real(0, below=1), traced=True)
    b2: float = parameter(0.999, Real(0, below=1), traced=True)
    batch: int | None = parameter(None, Maybe(Whole(1)))

    def __post_init__(self) -> None:
        enforce(self)

    def rule(self) -> optax.GradientTransformation:
        return optax.adamw(self.learning_rate, b1=self.b1, b2=self.b2, weight_decay=self.weight_decay)


@dataclass(frozen=True)
class AdaDelta(FirstOrder):
    """AdaDelta (Zeiler): its rate is 1, and 1e-3, a default of some frameworks, hardly moves."""

    learning_rate: float = parameter(1.0, _RATE, traced=True)
    rho: float = parameter(0.9, Real(0, below=1), traced=True)
    weight_decay: float = parameter(0.0, Real(0), traced=True)
    batch: int | None = parameter(None, Maybe(Whole(1)))

    def __post_init__(self) -> None:
        enforce(self)

    def rule(self) -> optax.GradientTransformation:
        return optax.adadelta(self.learning_rate, rho=self.rho, weight_decay=self.weight_decay)


@dataclass(frozen=True)
class RMSProp(FirstOrder):
    """RMSprop (Tieleman & Hinton)."""

    learning_rate: float = parameter(1e-3, _RATE, traced=True)
    decay: float = parameter(0.9, Real(0, below=1), traced=True)
    batch: int | None = parameter(None, Maybe(Whole(1)))

    def __post_init__(self) -> None:
        enforce(self)

    def rule(self) -> optax.GradientTransformation:
        return optax.rmsprop(self.learning_rate, decay=self.decay)


class _LayerwiseState(NamedTuple):
    """Layerwise descent remembers nothing between steps."""


@dataclass(frozen=True)
class Layerwise(Algorithm):
    """Algorithm 1 of Brutzkus & Globerson, LW_CNN: the first layer on S_1, then the last on S_2.

    For t = 1..T1:  W <- W - eta1 dL_1/dW (W, a^(0));  then  a <- a - eta2 dL_2/da (W^(T1), a),
    where S_1 is the first ceil(m/2) examples and L_i the mean loss on S_i. T2 is the procedure's step budget less T1.
    """

    T1: int = parameter(100, Whole(1), traced=True)
    eta1: float = parameter(1e-2, _RATE, traced=True)
    eta2: float = parameter(1e-1, _RATE, traced=True)

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def warmup(self) -> Any:
        return self.T1

    def init(self, params: PyTree) -> PyTree:
        return _LayerwiseState()

    def step(
        self, t: Int[Array, ""], params: PyTree, state: PyTree, problem: Problem, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        if len(problem.layers) != 2:
            raise InputError("layerwise training needs a network that names its two layers")
        first, last = problem.layers
        S1, S2 = halves(problem)

        def descend(names: tuple[str, ...], weights: Array, rate: float | Array) -> PyTree:
            moving = eqx.tree_at(
                lambda tree: [at_path(tree, name) for name in names],
                jax.tree.map(lambda _: False, params),
                [True] * len(names),
            )
            free, fixed = eqx.partition(params, moving)
            gradient = problem.gradient(params, weights)
            step = jax.tree.map(lambda p, g: p - rate * g, free, eqx.filter(gradient, moving))
            return eqx.combine(step, fixed)

        return jax.lax.cond(
            t < self.T1,
            lambda: descend(first, S1, self.eta1),
            lambda: descend(last, S2, self.eta2),
        ), state


def halves(problem: Problem) -> tuple[Float[Array, " points"], Float[Array, " points"]]:
    """The weights of the means over S_1, the first ceil(m/2) examples, and over S_2, the others."""
    index = jnp.arange(problem.weights.shape[0])
    size1 = (problem.size + 1) // 2
    size2 = problem.size - size1
    ones = jnp.ones_like(problem.weights)
    S1 = jnp.where(index < size1, ones / size1, 0)
    S2 = jnp.where((index >= size1) & (index < problem.size), ones / jnp.maximum(size2, 1), 0)
    return S1, S2
