"""The targets of Allen-Zhu & Li on the cube: the hard class (7.1), and the monomial of section 8.2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.rules import Maybe, Real, Whole, enforce, parameter
from separatrix.tasks.base import Population, Split, Task
from separatrix.tasks.bits import BitDistribution, Uniform, hypercube
from separatrix.tasks.hierarchical import Hierarchical

_LISTED = 20
"""Coordinates up to which the support is listed."""


@dataclass(frozen=True)
class HardInstance(Hierarchical):
    """Equation 7.1: H(x) = beta F(x) + alpha G(F(x)) in R^k, with F(x) = sqrt(d) (x_{i_1}, ..., x_{i_k}) and
    G(y)_i = prod_j y_j for each i (and beta = 1).

    x lies in {+-1/sqrt(d)}^d: its first ``d1`` coordinates (all d by default) are uniform and hold the distinct
    i_1, ..., i_k, which the instance draws (C(d1, k) targets up to the order of the outputs); the others have the
    ``background`` distribution, D_2 in the paper.
    """

    d: int = parameter(20, Whole(1))
    k: int = parameter(4, Whole(1))
    alpha: float = parameter(0.3, Real(0), traced=True)
    beta: float = parameter(1.0, Real(0), traced=True)
    d1: int | None = parameter(None, Maybe(Whole(1)))
    background: BitDistribution = Uniform()

    def __post_init__(self) -> None:
        enforce(self)
        if self.signal > self.d:
            raise InputError(f"d1 must be at most d = {self.d}, got {self.d1}")
        if self.k > self.signal:
            raise InputError(f"k must be at most d1 = {self.signal}, got {self.k}")
        if self.d > self.signal:
            self.background.check(self.d - self.signal)

    @property
    def signal(self) -> int:
        """d1."""
        return self.d if self.d1 is None else self.d1

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.d,)

    @property
    def output_shape(self) -> tuple[int, ...]:
        return (self.k,)

    def instance(self, key: PRNGKeyArray, data: Any) -> Int[Array, " k"]:
        """i_1, ..., i_k, from 0."""
        return jax.random.permutation(key, self.signal)[: self.k]

    def inputs(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        signal, background = jax.random.split(key)
        bits = Uniform().sample(signal, self.signal)
        if self.d > self.signal:
            bits = jnp.concatenate([bits, self.background.sample(background, self.d - self.signal)])
        return bits / math.sqrt(self.d)

    def base(self, instance: Int[Array, " k"], x: Float[Array, "*batch d"]) -> Float[Array, "*batch k"]:
        return math.sqrt(self.d) * x[..., instance]

    def composite(self, instance: Int[Array, " k"], y: Float[Array, "*batch k"]) -> Float[Array, "*batch k"]:
        return jnp.broadcast_to(y.prod(axis=-1, keepdims=True), y.shape)

    @property
    def population_size(self) -> int | None:
        return 2**self.d if self.d <= _LISTED and self.background.enumerable else None

    def population(self, instance: Int[Array, " k"]) -> Population:
        if self.population_size is None:
            raise InputError(f"the population must have d of at most {_LISTED} and a known background to be listed")
        rest = self.d - self.signal
        p = jnp.repeat(jnp.full(2**self.signal, 0.5**self.signal), 2**rest)
        if rest:
            p = p * jnp.tile(self.background.probabilities(rest), 2**self.signal)
        x = jnp.asarray(hypercube(self.d) / math.sqrt(self.d), float)
        return Population(x, self.target(instance, x), p)


@dataclass(frozen=True)
class Monomial(Task):
    """Section 8.2: y = d^(q/2) x_{i_1} ... x_{i_q} = +-1 for x uniform on {+-1/sqrt(d)}^d, a regression.

    ``degree`` is q, 6 in the paper; the instance draws the distinct indices.
    """

    d: int = parameter(40, Whole(1))
    degree: int = parameter(6, Whole(1))

    def __post_init__(self) -> None:
        enforce(self)
        if self.degree > self.d:
            raise InputError(f"degree must be at most d = {self.d}, got {self.degree}")

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.d,)

    @property
    def kind(self) -> Literal["regression"]:
        return "regression"

    def instance(self, key: PRNGKeyArray, data: Any) -> Int[Array, " degree"]:
        return jax.random.permutation(key, self.d)[: self.degree]

    def example(
        self, instance: Int[Array, " degree"], split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, " d"], Float[Array, ""]]:
        bits = jax.random.rademacher(key, (self.d,), dtype=float)
        return bits / math.sqrt(self.d), bits[instance].prod()

    @property
    def population_size(self) -> int | None:
        return 2**self.d if self.d <= _LISTED else None

    def population(self, instance: Int[Array, " degree"]) -> Population:
        if self.population_size is None:
            raise InputError(f"the population must have d of at most {_LISTED} to be listed")
        bits = jnp.asarray(hypercube(self.d), float)
        p = jnp.full(len(bits), 0.5**self.d)
        return Population(bits / math.sqrt(self.d), bits[:, instance].prod(axis=1), p)
