"""Sparse parities of Daniely & Malach (section 2): a product of k bits, under a distribution that shows which."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.rules import Choice, Real, Whole, enforce, parameter
from separatrix.tasks.base import Population, Split, Task

_ENUMERABLE = 24


class Sums(NamedTuple):
    """One value of the pair (sum of the bits in A, sum of the others), its label and its exact probability."""

    on: int
    off: int
    y: int
    p: Fraction


@dataclass(frozen=True)
class SparseParity(Task):
    """D_A: x in {+-1/sqrt n}^n is uniform with probability 1 - ``mixture``, and otherwise uniform outside A with all
    bits of A equal, +1 or -1 with probability 1/2 each; y = f_A(x) = sign(prod_{i in A} x_i), |A| = k odd.

    The paper's weight of the second component is 1/2; 0 is the uniform distribution alone. ``A``: places 1..n, or None
    to draw them with the instance. ``scale``: bits of size 1/sqrt n (``unit``, the paper's: every ||x|| = 1) or of
    size 1 (``bits``). The two components are its ``parts``, and are themselves such tasks.
    """

    n: int = parameter(30, Whole(1))
    k: int = parameter(3, Whole(1))
    mixture: float = parameter(0.5, Real(0, 1), traced=True)
    A: tuple[int, ...] | None = None
    scale: str = parameter("unit", Choice("unit", "bits"))

    def __post_init__(self) -> None:
        enforce(self)
        if self.k > self.n or self.k % 2 == 0:
            raise InputError(f"k must be odd and at most n = {self.n}, got {self.k}")
        if self.A is not None:
            try:
                object.__setattr__(self, "A", tuple(sorted(Whole(1, self.n).accept("A", place) for place in self.A)))
            except TypeError:
                raise InputError(f"A must be a tuple of places of 1..{self.n}, got {self.A!r}") from None
            if len(set(self.A)) != self.k or len(self.A) != self.k:
                raise InputError(f"A must be k = {self.k} different places of 1..{self.n}, got {self.A}")

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.n,)

    @property
    def size(self) -> float:
        """The size of a bit."""
        return 1 / math.sqrt(self.n) if self.scale == "unit" else 1.0

    def instance(self, key: PRNGKeyArray, data: Any) -> Int[Array, " k"]:
        """The places of A, from 0."""
        if self.A is not None:
            return jnp.asarray(self.A) - 1
        return jnp.sort(jax.random.permutation(key, self.n)[: self.k])

    def label(self, instance: Int[Array, " k"], x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """f_A(x)."""
        return jnp.sign(x[..., instance]).prod(axis=-1)

    def example(
        self, instance: Int[Array, " k"], split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        which, bits_key, sign_key = jax.random.split(key, 3)
        bits = jax.random.rademacher(bits_key, (self.n,), dtype=float)
        equal = bits.at[instance].set(jax.random.rademacher(sign_key, (), dtype=float))
        x = jnp.where(jax.random.bernoulli(which, self.mixture), equal, bits)
        return x * jnp.asarray(self.size, x.dtype), self.label(instance, x)

    @property
    def population_size(self) -> int | None:
        """2^n, for n of at most 24."""
        return 2**self.n if self.n <= _ENUMERABLE else None

    def population(self, instance: Int[Array, " k"]) -> Population:
        if self.population_size is None:
            raise InputError(f"n must be at most {_ENUMERABLE} for the population to be listed, got {self.n}")
        digits = (jnp.arange(2**self.n)[:, None] >> jnp.arange(self.n - 1, -1, -1)) & 1
        x = 1.0 - 2.0 * digits
        aligned = jnp.abs(x[:, instance].sum(axis=1)) == self.k
        p = 0.5**self.n * ((1 - self.mixture) + jnp.where(aligned, self.mixture * 2.0 ** (self.k - 1), 0.0))
        return Population(x * jnp.asarray(self.size, x.dtype), self.label(instance, x), p)

    def parts(self) -> Mapping[str, SparseParity]:
        """The components: ``uniform`` and ``aligned`` (the bits of A all equal)."""
        return {"uniform": replace(self, mixture=0.0), "aligned": replace(self, mixture=1.0)}

    def sums(self) -> list[Sums]:
        """The exact law of (sum on A, sum off A) in units of a bit, with the label, at any n: the structure in which
        the population of a function of these sums is (k + 1)(n - k + 1) terms and not 2^n.

        >>> [(s.on, s.off, s.y, str(s.p)) for s in SparseParity(n=4, k=3).sums() if s.off == 1]
        [(3, 1, 1, '5/32'), (1, 1, -1, '3/32'), (-1, 1, 1, '3/32'), (-3, 1, -1, '5/32')]
        """
        k, rest = self.k, self.n - self.k
        weight, found = Fraction(self.mixture), []
        for minus in range(k + 1):
            on = (1 - weight) * Fraction(math.comb(k, minus), 2**k) + (weight / 2 if minus in (0, k) else 0)
            for others in range(rest + 1):
                p = on * Fraction(math.comb(rest, others), 2**rest)
                found.append(Sums(k - 2 * minus, rest - 2 * others, -1 if minus % 2 else 1, p))
        return found
