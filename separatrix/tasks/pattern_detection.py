"""Pattern detection of Brutzkus & Globerson (section 3): one discriminative pattern among spurious ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import comb
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.rules import Choice, Maybe, Real, Whole, enforce, parameter
from separatrix.tasks.base import Population, Split, Task

NOISES = ("none", "ball", "sphere", "radius", "gaussian")
_ENUMERABLE = 2**20


def need_room(d: int, l: int) -> None:  # noqa: E741 - the paper's symbol
    """Raise where R^d has no l orthonormal patterns."""
    if l > d:
        raise InputError(f"l must be at most d = {d} (orthonormal patterns), got {l}")


@dataclass(frozen=True)
class PatternDetection(Task):
    """x = (x[1], ..., x[n]) with x[j] in R^d; o_1 (y = 1) or o_2 (y = -1) at a random place, spurious
    patterns o_3, ..., o_l (uniform, independent) at the n - 1 others, and noise v with ||v|| <= r on each.

    ``l``: number of orthonormal patterns (default d). ``patterns``: rows of a random orthogonal matrix,
    drawn with the instance, or of the identity. ``noise``: uniform in the ``ball`` or on the ``sphere``;
    ``radius``: a uniform direction and a uniform radius in [0, r]; ``gaussian``: N(0, r^2/d) in each coordinate,
    pulled back to the ball where it leaves it. The paper says only ||v|| <= r, and the kinds differ much.
    """

    d: int = parameter(20, Whole(3))
    n: int = parameter(10, Whole(1))
    l: int | None = parameter(None, Maybe(Whole(3)))  # noqa: E741 - the paper's symbol
    patterns: str = parameter("orthogonal", Choice("orthogonal", "standard"))
    noise: str = parameter("none", Choice(*NOISES))
    r: float = parameter(1.0, Real(0), traced=True)

    def __post_init__(self) -> None:
        enforce(self)
        need_room(self.d, self.count)

    @property
    def count(self) -> int:
        """The number of patterns: l, or d where l is left open."""
        return self.d if self.l is None else self.l

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.n, self.d)

    def instance(self, key: PRNGKeyArray, data: Any) -> Float[Array, "l d"]:
        if self.patterns == "standard":
            return jnp.eye(self.count, self.d)
        return _random_orthogonal(key, self.d)[: self.count]

    def example(
        self, instance: Float[Array, "l d"], split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, "n d"], Float[Array, ""]]:
        choices, noise = jax.random.split(key)
        # one draw of 32-bit words for all choices (their remainders are uniform to 1 part in 2^27): quick to compile
        words = jax.random.bits(choices, (self.n + 2,))
        negative = (words[0] % 2).astype(int)
        which = 2 + (words[2:] % (self.count - 2)).astype(int)
        which = which.at[words[1] % self.n].set(negative)
        x = instance[which] + self._noise(noise).astype(instance.dtype)
        return x, (1 - 2 * negative).astype(x.dtype)

    def _noise(self, key: PRNGKeyArray) -> Float[Array, "n d"]:
        if self.noise == "none":
            return jnp.zeros((self.n, self.d))
        direction, radius = jax.random.split(key)
        gaussian = jax.random.normal(direction, (self.n, self.d))
        norm = jnp.linalg.norm(gaussian, axis=1, keepdims=True)
        if self.noise == "gaussian":
            length = self.r * jnp.minimum(norm / jnp.sqrt(self.d), 1.0)
        elif self.noise == "sphere":
            length = self.r * jnp.ones_like(norm)
        else:
            uniform = jax.random.uniform(radius, norm.shape)
            length = self.r * (uniform if self.noise == "radius" else uniform ** (1 / self.d))
        return gaussian / norm * length

    @property
    def population_size(self) -> int | None:
        """2 n (l - 2)^(n-1) inputs, where there is no noise and they are few enough to list."""
        size: int = 2 * self.n * (self.count - 2) ** (self.n - 1)
        return size if self.noise == "none" and size <= _ENUMERABLE else None

    def population(self, instance: Float[Array, "l d"]) -> Population:
        """Every input of the support; all have the same probability."""
        if self.population_size is None:
            raise InputError("the population must be free of noise and of at most 2^20 points to be listed")
        spurious = np.array(list(itertools.product(range(2, self.count), repeat=self.n - 1)), dtype=int)
        spurious = spurious.reshape(len(spurious), self.n - 1)
        blocks = [np.insert(spurious, place, pattern, axis=1) for pattern in (0, 1) for place in range(self.n)]
        which = np.concatenate(blocks)
        y = np.where((which == 0).any(axis=1), 1.0, -1.0)
        return _population(instance, which, y, np.full(len(y), 1 / len(y)))

    @property
    def pattern_set_count(self) -> int | None:
        """2 times the number of sets of spurious patterns that an input can contain."""
        spurious, places = self.count - 2, self.n - 1
        if self.noise != "none":
            return None
        if places == 0:
            return 2
        return 2 * sum(comb(spurious, size) for size in range(1, min(spurious, places) + 1))

    def pattern_sets(self, instance: Float[Array, "l d"]) -> Population:
        """One input for every set of patterns that can be present, with the set's exact probability.

        A function of the set alone (a max-pooling network is one) has the same expectation over this
        as over the whole support, which is far larger. A set of s spurious patterns fills the n - 1 places
        in surj(n-1, s) of (l-2)^(n-1) equally likely ways.
        """
        if self.pattern_set_count is None or self.pattern_set_count > _ENUMERABLE:
            raise InputError("the sets of patterns must be free of noise and at most 2^20 to be listed")
        places, spurious = self.n - 1, range(2, self.count)
        which, weights = [], []
        for size in range(min(1, places), min(len(spurious), places) + 1):
            ways = sum((-1) ** i * comb(size, i) * (size - i) ** places for i in range(size + 1))
            for chosen in itertools.combinations(spurious, size):
                filled = [*chosen, *([chosen[-1]] * (places - size))] if chosen else []
                which.append(filled)
                weights.append(ways / len(spurious) ** places)
        rows = np.array(which, dtype=int).reshape(len(which), places)
        both = np.concatenate([np.insert(rows, 0, pattern, axis=1) for pattern in (0, 1)])
        y = np.repeat([1.0, -1.0], len(rows))
        return _population(instance, both, y, np.tile(weights, 2) / 2)


def _population(instance: Array, which: np.ndarray, y: np.ndarray, p: np.ndarray) -> Population:
    dtype = instance.dtype
    return Population(instance[jnp.asarray(which)], jnp.asarray(y, dtype), jnp.asarray(p, dtype))


def _random_orthogonal(key: PRNGKeyArray, d: int) -> Float[Array, "d d"]:
    """Uniform (Haar) on the orthogonal group: QR of a Gaussian matrix, signs fixed by R's diagonal."""
    q, r = jnp.linalg.qr(jax.random.normal(key, (d, d)))
    return q * jnp.sign(jnp.diagonal(r))
