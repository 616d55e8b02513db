r"""Theorem 2's error bound, its four terms, and the least (q, n, T) at which it is small: all exact.

    k^10 / q  +  k^8 / sqrt q  +  q k / sqrt n  +  k^2 sqrt q / T

inside an O, so with unknown factors: ``Bound.unit(k)`` takes 1 for each, ``Bound.proved(k)`` what the (corrected)
proof gives. The square roots are irrational, but comparisons with a rational epsilon are not: they are squared away.

>>> bound = Bound.unit(3)
>>> q, n, T = bound.smallest(Fraction(1))
>>> q, bound.below(q, n, T, Fraction(1)), bound.below(q, n, T - 1, Fraction(1)), bound.reachable(q - 1, Fraction(1))
(43164739, True, False, False)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.theory.search import exactly, guess, least, root, rounded


def ceil_root(value: int) -> int:
    """The least whole number whose square is at least ``value``.

    >>> ceil_root(16), ceil_root(17)
    (4, 5)
    """
    return math.isqrt(value - 1) + 1 if value > 0 else 0


@dataclass(frozen=True)
class Bound:
    """a/q + b/sqrt q + c q/sqrt n + d sqrt q/T."""

    a: int
    b: int
    c: int
    d: int

    @staticmethod
    def unit(k: int) -> Bound:
        return Bound(k**10, k**8, k, k**2)

    @staticmethod
    def proved(k: int) -> Bound:
        r"""The proof's own constants, mended, rounded up to whole numbers, for lambda <= k/n <= 1/8 and q >= k^7.

        Lemma 10's u* has |J_r| = pq/2 neurons for each r, p = 1/(1120 k^3.5), of weight 2 |v_r| |r| 8k / |J_r|:

            ||u*||^2 <= S/q,  S = 256 k^2 sum_r v_r^2 r^2 2/p      ||u*|| sqrt(||u*||_0) = 16 k sqrt((k+1) sum_r v_r^2
            r^2)

        and with eta T = k^2 / sqrt q

            lambda ||u*||^2 + 2 ||u*|| sqrt(||u*||_0) (6 eta^2 T^2 + 2 eta T) + ||u*||^2 / (2 eta T)
            + sqrt(2q) k/sqrt n G + eta G^2,        G = 3.5 sqrt(2q) >= sqrt(2q) (3 + 2 lambda (3 eta T + k/sqrt n))

        The 3 is half of the cap of ReLU6, as half of the labels are +1. The paper has 6 sqrt q for G, which 2q features
        of at most 6 do not give (that is 6 sqrt(2q)), but the balance of the labels does.
        """
        squares = 4 * sum(r * r for r in range(-k, k + 1, 2))  # |v_r| <= 2
        S = 512 * 1120 * ceil_root(k**11) * squares  # k^2 k^3.5 = k^5.5
        cross = 16 * k * ceil_root((k + 1) * squares)
        return Bound(-(-S // 8) + 12 * k**4 * cross, 4 * k**2 * cross + -(-S // (2 * k**2)), 7 * k, 25 * k**2)

    def terms(self, q: int, n: int, T: int) -> tuple[float, float, float, float]:
        """The four terms, each rounded once."""
        second, third = Fraction(self.b**2, q), Fraction((self.c * q) ** 2, n)
        return rounded(Fraction(self.a, q)), root(second), root(third), root(Fraction(self.d**2 * q, T**2))

    def total(self, q: int, n: int, T: int) -> float:
        return math.fsum(self.terms(q, n, T))

    def below(self, q: int, n: int, T: int | None, epsilon: Fraction) -> bool:
        """Whether the bound is at most epsilon, in fractions; for T = None: below epsilon for some T.

        With A = b/q + d/T and B = c q/n it reads sqrt q A + sqrt n B <= R = epsilon - a/q.
        """
        R = epsilon - Fraction(self.a, q)
        A, B = Fraction(self.b, q) + (Fraction(self.d, T) if T else 0), Fraction(self.c * q, n)
        W = R * R - q * A * A - n * B * B
        if R <= 0 or W < 0:
            return False
        crossed = 4 * A * A * B * B * q * n
        return crossed <= W * W if T else crossed < W * W

    def reachable(self, q: int, epsilon: Fraction) -> bool:
        """Whether some n and T bring the bound to epsilon: its first two terms are below it."""
        R = epsilon - Fraction(self.a, q)
        return R > 0 and self.b**2 < R * R * q

    def smallest_q(self, epsilon: Fraction) -> int:
        """The least q for which some n and T do: sqrt q solves epsilon q - b sqrt q - a = 0."""

        def width(mp: Any) -> Any:
            e = exactly(mp, epsilon)
            return ((self.b + mp.sqrt(mp.mpf(self.b) ** 2 + 4 * e * self.a)) / (2 * e)) ** 2

        return least(lambda q: self.reachable(q, epsilon), guess(width, epsilon, self.a, self.b))

    def smallest_n(self, q: int, epsilon: Fraction) -> int | None:
        """The least n for which some T does, for this q: (c q over what the first two terms leave)^2."""
        if not self.reachable(q, epsilon):
            return None
        found = guess(lambda mp: (self.c * q / self._left(mp, q, epsilon)) ** 2, epsilon, self.a, self.b, q, self.c)
        return least(lambda n: self.below(q, n, None, epsilon), found)

    def smallest_T(self, q: int, n: int, epsilon: Fraction) -> int | None:
        """The least T that does, for these q and n."""
        if not self.below(q, n, None, epsilon):
            return None

        def steps(mp: Any) -> Any:
            left = self._left(mp, q, epsilon) - self.c * q / mp.sqrt(mp.mpf(n))
            return self.d * mp.sqrt(mp.mpf(q)) / left

        return least(lambda T: self.below(q, n, T, epsilon), guess(steps, epsilon, self.a, self.b, q, n))

    def _left(self, mp: Any, q: int, epsilon: Fraction) -> Any:
        """What the first two terms leave of epsilon."""
        return exactly(mp, epsilon) - mp.mpf(self.a) / q - self.b / mp.sqrt(mp.mpf(q))

    def smallest(self, epsilon: Fraction) -> tuple[int, int, int]:
        """The least q for which some n and T do, with it the least n for which some T does, and then the least T."""
        return self._from(self.smallest_q(epsilon), epsilon, epsilon)

    def balanced(self, epsilon: Fraction) -> tuple[int, int, int]:
        """A cheaper choice: a third of epsilon is left to n, and a third to T."""
        return self._from(self.smallest_q(epsilon / 3), 2 * epsilon / 3, epsilon)

    def _from(self, q: int, for_n: Fraction, for_T: Fraction) -> tuple[int, int, int]:
        n = self.smallest_n(q, for_n)
        assert n is not None
        T = self.smallest_T(q, n, for_T)
        assert T is not None
        return q, n, T
