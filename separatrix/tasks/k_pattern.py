"""k-patterns of Malach & Shalev-Shwartz (Definition 3): f(x) = g(x_j*, ..., x_{j*+k-1}) on {-1, +1}^n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from separatrix.errors import InputError, unknown
from separatrix.rules import Maybe, Whole, enforce, parameter
from separatrix.tasks.base import Population, Split, Task
from separatrix.tasks.bits import BitDistribution, Uniform, hypercube

TARGETS = ("parity", "majority", "and", "random")


class Pattern(NamedTuple):
    """What a seed fixes: the truth table of g and where the bits of the pattern lie."""

    table: Float[Array, " entries"]
    bits: Int[Array, " k"]


@dataclass(frozen=True)
class KPattern(Task):
    """A label in {-1, +1} that depends on k consecutive bits of n, from position ``j`` (1-based, as j* is).

    ``g``: ``parity`` (the product of the bits), ``majority`` (ties are -1, as sign(0) = -1 everywhere here),
    ``and`` (+1 if all bits are +1), ``random`` (a fair truth table, drawn with the instance), or a truth table:
    a tuple of 2^k labels whose entry i belongs to the bits of i, the first bit of the window the highest
    and a 1 standing for x = -1. ``j`` defaults to the middle. ``shuffled`` puts the n bits in an unknown order, drawn
    with the instance: the pattern is then a k-junta (section 5). ``distribution`` is over the cube.
    """

    n: int = parameter(16, Whole(1))
    k: int = parameter(4, Whole(1, 20))
    j: int | None = parameter(None, Maybe(Whole(1)))
    g: str | tuple[int, ...] = "parity"
    distribution: BitDistribution = Uniform()
    shuffled: bool = False

    def __post_init__(self) -> None:
        enforce(self)
        if self.k > self.n:
            raise InputError(f"k must be at most n = {self.n}, got {self.k}")
        if self.j is not None and self.j > self.n - self.k + 1:
            raise InputError(f"j must be at most n - k + 1 = {self.n - self.k + 1}, got {self.j}")
        if isinstance(self.g, str):
            if self.g not in TARGETS:
                raise unknown("target g", self.g, TARGETS)
        else:
            object.__setattr__(self, "g", tuple(int(label) for label in self.g))
            if len(self.g) != 2**self.k or not set(self.g) <= {-1, 1}:
                raise InputError(f"g must be a name or 2^k = {2**self.k} labels of -1 and 1, got {self.g}")
        self.distribution.check(self.n)

    @property
    def start(self) -> int:
        """The 0-based position of the pattern's first bit."""
        return (self.n - self.k) // 2 if self.j is None else self.j - 1

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.n,)

    def instance(self, key: PRNGKeyArray, data: Any) -> Pattern:
        table_key, order_key = jax.random.split(key)
        if self.g == "random":
            table = 1.0 - 2.0 * jax.random.bernoulli(table_key, shape=(2**self.k,))
        else:
            table = jnp.asarray(self.table(), float)
        window = jnp.arange(self.start, self.start + self.k)
        return Pattern(table, jax.random.permutation(order_key, self.n)[window] if self.shuffled else window)

    def table(self) -> np.ndarray:
        """The truth table of a target that no seed decides."""
        if not isinstance(self.g, str):
            return np.array(self.g, dtype=float)
        bits = hypercube(self.k)
        if self.g == "parity":
            return np.asarray(bits.prod(axis=1))
        if self.g == "majority":
            return np.where(bits.sum(axis=1) > 0, 1.0, -1.0)
        if self.g == "and":
            return np.where((bits == 1).all(axis=1), 1.0, -1.0)
        raise InputError("the truth table of a random g belongs to an instance")

    def label(self, instance: Pattern, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """f(x)."""
        ones = (x[..., instance.bits] < 0).astype(int)
        place = 2 ** jnp.arange(self.k - 1, -1, -1)
        return instance.table[(ones * place).sum(axis=-1)].astype(x.dtype)

    def example(
        self, instance: Pattern, split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        x = self.distribution.sample(key, self.n)
        return x, self.label(instance, x)

    @property
    def population_size(self) -> int | None:
        return 2**self.n if self.n <= 24 and self.distribution.enumerable else None

    def population(self, instance: Pattern) -> Population:
        if self.population_size is None:
            raise InputError("the population must have n of at most 24 and known probabilities to be listed")
        x = jnp.asarray(hypercube(self.n), instance.table.dtype)
        return Population(x, self.label(instance, x), self.distribution.probabilities(self.n))
