r"""Theorem 4's bound on the average loss, its three terms, and the least (q, T) at which it is small: all exact.

    2 c n^2 k^2 2^k / q  +  2 (2^k k)^2 / sqrt(q n)  +  c^2 n^1.5 sqrt(q) / T

for the convolutional network; with no factor n in the first layer's movement, 2 c n k^2 2^k / q, for the locally
connected one (``docs/convolution-lcn.md``). The square roots make the terms irrational, but not their comparison with a
rational epsilon: all of it can be squared.

>>> bound = Bound(n=3, k=2, c=Fraction(1))
>>> q, T = bound.smallest(Fraction(1))
>>> q, T, bound.total(q, T) <= 1 < bound.total(q, T - 1)
(6024, 10621259, True)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.theory.search import exactly, guess, least, root, rounded

Terms = tuple[float, float, float]


@dataclass(frozen=True)
class Bound:
    """The bound as a function of q and T; ``shared`` says whether the windows share their weights."""

    n: int
    k: int
    c: Fraction
    shared: bool = True

    @property
    def first(self) -> Fraction:
        """q times the first term: of eta^2 T^2 = n/q, Lemma 9 for Lemma 6's u*."""
        return 2 * self.c * self.n ** (2 if self.shared else 1) * self.k**2 * 2**self.k

    @property
    def second(self) -> int:
        """sqrt(qn) times the second term: ||u*||^2 / (2 eta T)."""
        return 2 * (2**self.k * self.k) ** 2

    def terms(self, q: int, T: int) -> Terms:
        """The three terms, each rounded once."""
        third = self.c**4 * Fraction(self.n**3 * q, T**2)
        return rounded(self.first / q), root(Fraction(self.second**2, q * self.n)), root(third)

    def total(self, q: int, T: int) -> float:
        return math.fsum(self.terms(q, T))

    def below(self, q: int, T: int, epsilon: Fraction) -> bool:
        """Whether the bound is at most epsilon, decided in fractions.

        With s = sqrt(qn) the last two terms are s (second/(qn) + c^2 n/T).
        """
        rest = epsilon - self.first / q
        return (
            rest > 0
            and q * self.n * (Fraction(self.second, q * self.n) + self.c**2 * Fraction(self.n, T)) ** 2 <= rest**2
        )

    def reachable(self, q: int, epsilon: Fraction) -> bool:
        """Whether some T brings the bound to epsilon: the first two terms are below it."""
        rest = epsilon - self.first / q
        return rest > 0 and self.second**2 < rest**2 * q * self.n

    def smallest_T(self, q: int, epsilon: Fraction) -> int | None:
        """The least T that does, for this q: c^2 n^1.5 sqrt(q) over what the other terms leave."""
        if not self.reachable(q, epsilon):
            return None

        def steps(mp: Any) -> Any:
            root = mp.sqrt(mp.mpf(q) * self.n)
            left = exactly(mp, epsilon) - exactly(mp, self.first / q) - self.second / root
            return exactly(mp, self.c**2) * self.n * root / left

        return least(lambda T: self.below(q, T, epsilon), guess(steps, q, epsilon, self.n))

    def smallest_q(self, epsilon: Fraction) -> int:
        """The least q for which some T does: sqrt(q) solves epsilon q - second sqrt(q/n) - first = 0."""

        def width(mp: Any) -> Any:
            half = self.second / mp.sqrt(mp.mpf(self.n)) / 2
            return ((half + mp.sqrt(half**2 + exactly(mp, epsilon * self.first))) / exactly(mp, epsilon)) ** 2

        return least(lambda q: self.reachable(q, epsilon), guess(width, epsilon, self.first, self.second, self.n))

    def smallest(self, epsilon: Fraction) -> tuple[int, int]:
        """The least q for which some T does, and with it the least T."""
        q = self.smallest_q(epsilon)
        T = self.smallest_T(q, epsilon)
        assert T is not None
        return q, T

    def balanced(self, epsilon: Fraction) -> tuple[int, int]:
        """The least q that leaves half of epsilon to the last term, and the least T then: the cheaper choice."""
        q = self.smallest_q(epsilon / 2)
        T = self.smallest_T(q, epsilon)
        assert T is not None
        return q, T
