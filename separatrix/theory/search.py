"""The least whole number from which on a bound is small: an exact search from a guess of many digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any


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


def guess(formula: Callable[..., Any], *numbers: Any) -> int:
    """A formula of mpmath, in so many more bits than the numbers in it have that it is off by less than about one.

    >>> guess(lambda mp: mp.sqrt(mp.mpf(10) ** 80 + 1), 10**80)
    10000000000000000000000000000000000000001
    """
    import mpmath

    bits = 4 * sum(Fraction(a).numerator.bit_length() + Fraction(a).denominator.bit_length() for a in numbers)
    with mpmath.workprec(bits + 1024):
        return max(1, int(mpmath.ceil(formula(mpmath))))


def exactly(mp: Any, value: Fraction | int) -> Any:
    """A rational in mpmath's precision."""
    return mp.mpf(Fraction(value).numerator) / Fraction(value).denominator


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


def rounded(value: Fraction) -> float:
    """The nearest float; infinity beyond their range."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf
