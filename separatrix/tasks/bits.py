"""Distributions over {-1, +1}^n, each with a sampler and, for small n, all 2^n probabilities.

Point number i of the cube has the binary digits of i, the first coordinate the highest, and a digit 1 is x = -1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.rules import Real, enforce, parameter


def hypercube(n: int) -> np.ndarray:
    """All points of {-1, +1}^n, a row each.

    >>> hypercube(2).tolist()
    [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    """
    digits = (np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1)) & 1
    return 1.0 - 2.0 * digits


class BitDistribution(ABC):
    """A distribution over the cube; subclasses are frozen dataclasses."""

    @property
    def enumerable(self) -> bool:
        return True

    def check(self, n: int) -> None:
        """Raise where the distribution does not fit n bits."""
        return

    @abstractmethod
    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]: ...

    @abstractmethod
    def probabilities(self, n: int) -> Float[Array, " points"]: ...


@dataclass(frozen=True)
class Uniform(BitDistribution):
    """Independent fair bits."""

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        return jax.random.rademacher(key, (n,), dtype=float)

    def probabilities(self, n: int) -> Float[Array, " points"]:
        return jnp.full(2**n, 0.5**n)


@dataclass(frozen=True)
class BiasedBits(BitDistribution):
    """Independent bits with P(x_i = 1) = ``p``."""

    p: float = parameter(0.5, Real(0, 1), traced=True)

    def __post_init__(self) -> None:
        enforce(self)

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        return 2.0 * jax.random.bernoulli(key, self.p, (n,)) - 1.0

    def probabilities(self, n: int) -> Float[Array, " points"]:
        return jnp.where(jnp.asarray(hypercube(n)) > 0, self.p, 1 - self.p).prod(axis=1)


@dataclass(frozen=True)
class MarkovBits(BitDistribution):
    """A chain along the bits: the first is fair, and each next one differs with probability ``flip``.

    Small ``flip`` correlates neighbours, as the pixels of an image are.
    """

    flip: float = parameter(0.25, Real(0, 1), traced=True)

    def __post_init__(self) -> None:
        enforce(self)

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        first, steps = jax.random.split(key)
        turns = 1.0 - 2.0 * jax.random.bernoulli(steps, self.flip, (n,))
        turns = turns.at[0].set(jax.random.rademacher(first, (), dtype=turns.dtype))
        return jnp.cumprod(turns)

    def probabilities(self, n: int) -> Float[Array, " points"]:
        cube = jnp.asarray(hypercube(n))
        turned = cube[:, 1:] != cube[:, :-1]
        return 0.5 * jnp.where(turned, self.flip, 1 - self.flip).prod(axis=1)


@dataclass(frozen=True)
class WeightedBits(BitDistribution):
    """Any distribution, by the weight of each of the 2^n points (normalised here)."""

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=float)
        if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() == 0:
            raise InputError("weights must be finite numbers of at least 0 with a positive sum")
        object.__setattr__(self, "weights", tuple((weights / weights.sum()).tolist()))

    def check(self, n: int) -> None:
        if len(self.weights) != 2**n:
            raise InputError(f"weights must be 2^n = {2**n} numbers, got {len(self.weights)}")

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        cumulative = jnp.cumsum(jnp.asarray(self.weights))
        point = jnp.searchsorted(cumulative, jax.random.uniform(key) * cumulative[-1], side="right")
        digits = (jnp.minimum(point, 2**n - 1) >> jnp.arange(n - 1, -1, -1)) & 1
        return 1.0 - 2.0 * digits

    def probabilities(self, n: int) -> Float[Array, " points"]:
        return jnp.asarray(self.weights)


@dataclass(frozen=True)
class SampledBits(BitDistribution):
    """A distribution known by its sampler alone: ``sampler(key, n)`` gives n bits in {-1.0, +1.0}."""

    sampler: Callable[[PRNGKeyArray, int], Float[Array, " n"]]

    @property
    def enumerable(self) -> bool:
        return False

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
        return self.sampler(key, n)

    def probabilities(self, n: int) -> Float[Array, " points"]:
        raise InputError("a sampler has no list of probabilities")
