"""Targets H(x) = beta F(x) + alpha G(F(x)) of Allen-Zhu & Li: a base signal and a smaller one composed with it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from separatrix.errors import InputError
from separatrix.rules import Choice, Real, Whole, enforce, parameter
from separatrix.tasks.base import Population, Split, Task
from separatrix.tasks.bits import hypercube

_ENUMERABLE = 20


class Hierarchical(Task):
    """H(x) = beta F(x) + alpha G(F(x)), F: R^d -> R^k, G: R^k -> R^k; subclasses say what x, F and G are."""

    alpha: float
    beta: float

    @abstractmethod
    def inputs(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """One x."""

    @abstractmethod
    def base(self, instance: PyTree[Array], x: Float[Array, " d"]) -> Float[Array, " k"]:
        """F(x)."""

    @abstractmethod
    def composite(self, instance: PyTree[Array], y: Float[Array, " k"]) -> Float[Array, " k"]:
        """G(y)."""

    @property
    def kind(self) -> Literal["classification", "regression"]:
        return "regression"

    def target(self, instance: PyTree[Array], x: Float[Array, "*batch d"]) -> Float[Array, "*batch k"]:
        y = self.base(instance, x)
        return self.beta * y + self.alpha * self.composite(instance, y)

    def example(
        self, instance: PyTree[Array], split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, " d"], Float[Array, " k"]]:
        x = self.inputs(key)
        return x, self.target(instance, x).astype(x.dtype)


@dataclass(frozen=True)
class HierarchicalParity(Hierarchical):
    """Section 8.1: x uniform on {-1, +1}^d, d = p k; F_i the product of the p bits of block i;
    G_i(y) = (-1)^i y_1 ... y_q, i = 1..k.

    The paper has k = 15, p = 2, q = 4, alpha = 0.3. Whoever learns beta F and nothing of G errs by ||alpha G||^2 =
    k alpha^2 (1.35 there) at every x, and whoever learns nothing by beta^2 k more.
    """

    k: int = parameter(15, Whole(1))
    p: int = parameter(2, Whole(1))
    q: int = parameter(4, Whole(1))
    alpha: float = parameter(0.3, Real(0), traced=True)
    beta: float = parameter(1.0, Real(0), traced=True)

    def __post_init__(self) -> None:
        enforce(self)
        if self.q > self.k:
            raise InputError(f"q must be at most k = {self.k}, got {self.q}")

    @property
    def threshold(self) -> float:
        """k alpha^2, the squared error of beta F alone."""
        return self.k * self.alpha**2

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.p * self.k,)

    @property
    def output_shape(self) -> tuple[int, ...]:
        return (self.k,)

    def instance(self, key: PRNGKeyArray, data: Any) -> tuple[()]:
        return ()

    def inputs(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        return jax.random.rademacher(key, self.input_shape, dtype=float)

    def base(self, instance: PyTree[Array], x: Float[Array, "*batch d"]) -> Float[Array, "*batch k"]:
        return x.reshape(*x.shape[:-1], self.k, self.p).prod(axis=-1)

    def composite(self, instance: PyTree[Array], y: Float[Array, "*batch k"]) -> Float[Array, "*batch k"]:
        signs = (-1.0) ** jnp.arange(1, self.k + 1)
        return signs.astype(y.dtype) * y[..., : self.q].prod(axis=-1, keepdims=True)

    @property
    def population_size(self) -> int | None:
        d = self.p * self.k
        return 2**d if d <= _ENUMERABLE else None

    def population(self, instance: PyTree[Array]) -> Population:
        if self.population_size is None:
            raise InputError(f"the population must have p k of at most {_ENUMERABLE} to be listed")
        x = jnp.asarray(hypercube(self.p * self.k), float)
        return Population(x, self.target(instance, x).astype(x.dtype), jnp.full(len(x), 1 / len(x)))


Vector = Callable[[Array], Array]


@dataclass(frozen=True)
class Composed(Hierarchical):
    """Any F: R^d -> R^k and G: R^k -> R^k, written with ``jax.numpy``; x on the sphere, Gaussian or on the cube."""

    F: Vector
    G: Vector
    d: int = parameter(10, Whole(1))
    alpha: float = parameter(0.3, Real(0), traced=True)
    beta: float = parameter(1.0, Real(0), traced=True)
    x: str = parameter("sphere", Choice("sphere", "gaussian", "cube"))

    def __post_init__(self) -> None:
        enforce(self)
        y = jax.eval_shape(self.F, jnp.zeros(self.d))
        if y.ndim != 1 or jax.eval_shape(self.G, jnp.zeros(y.shape)).shape != y.shape:
            raise InputError("F must map R^d to R^k and G map R^k to R^k")

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.d,)

    @property
    def output_shape(self) -> tuple[int, ...]:
        k: int = jax.eval_shape(self.F, jnp.zeros(self.d)).shape[0]
        return (k,)

    def instance(self, key: PRNGKeyArray, data: Any) -> tuple[()]:
        return ()

    def inputs(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        return _inputs(key, self.d, self.x)

    def base(self, instance: PyTree[Array], x: Float[Array, " d"]) -> Float[Array, " k"]:
        return self.F(x)

    def composite(self, instance: PyTree[Array], y: Float[Array, " k"]) -> Float[Array, " k"]:
        return self.G(y)


def _inputs(key: PRNGKeyArray, d: int, kind: str) -> Float[Array, " d"]:
    if kind == "cube":
        return jax.random.rademacher(key, (d,), dtype=float)
    x = jax.random.normal(key, (d,))
    return x / jnp.linalg.norm(x) if kind == "sphere" else x
