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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

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
        return _float(self.first / q), root(Fraction(self.second**2, q * self.n)), root(third)

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
        return least(lambda T: self.below(q, T, epsilon), _guess(self._steps, q, epsilon))

    def smallest_q(self, epsilon: Fraction) -> int:
        """The least q for which some T does: sqrt(q) solves epsilon q - second sqrt(q/n) - first = 0."""
        return least(lambda q: self.reachable(q, epsilon), _guess(self._width, epsilon))

    def _steps(self, mp: Any, q: int, epsilon: Fraction) -> Any:
        root = mp.sqrt(mp.mpf(q) * self.n)
        left = _exact(mp, epsilon) - _exact(mp, self.first / q) - self.second / root
        return _exact(mp, self.c**2) * self.n * root / left

    def _width(self, mp: Any, epsilon: Fraction) -> Any:
        half = self.second / mp.sqrt(mp.mpf(self.n)) / 2
        return ((half + mp.sqrt(half**2 + _exact(mp, epsilon * self.first))) / _exact(mp, epsilon)) ** 2

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


def least(true_from: Callable[[int], bool], guess: int = 1) -> int:
    """The least whole number from which on a monotone condition holds: away from the guess ever faster, and back.

    >>> least(lambda m: m * m >= 10**12), least(lambda m: m * m >= 10**12, 999_998)
    (1000000, 1000000)
    """
    low, high, stride = max(guess, 1) - 1, max(guess, 1), 1
    while not true_from(high):
        low, high, stride = high, high + stride, 2 * stride
    while low > 0 and true_from(low):
        low, high, stride = max(low - stride, 0), low, 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true_from(middle) else (middle, high)
    return high


def _guess(formula: Callable[..., Any], *arguments: Any) -> int:
    """A formula's value in so many bits that it is off by less than about one."""
    import mpmath

    bits = 4 * sum(max(abs(Fraction(a).numerator), Fraction(a).denominator).bit_length() for a in arguments)
    with mpmath.workprec(bits + 4096):
        return max(1, int(mpmath.ceil(formula(mpmath, *arguments))))


def _exact(mp: Any, value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def root(value: Fraction) -> float:
    """The square root, also where the value itself is outside the range of floats.

    >>> root(Fraction(10**1000, 10**998))
    10.0
    """
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt(value / Fraction(4) ** shift), shift)
    except OverflowError:
        return math.inf


def _float(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf
