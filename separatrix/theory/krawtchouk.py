"""Krawtchouk polynomials, and through them exact Fourier coefficients of symmetric functions.

    K_m(s; n) = sum_j (-1)^j C(s, j) C(n - s, m - j)

is the sum of chi_S(z), |S| = s, over the points z of {+-1}^n with exactly m entries -1. A function
of z that depends on sum(z) alone therefore has, at every S of size s, the coefficient

    E_z[chi_S(z) phi(sum z)] = 2^-n sum_m K_m(s; n) phi(n - 2m)

which costs n + 1 terms instead of 2^n. All in integers, so exact at n in the thousands, where the terms
exceed the sum by hundreds of orders of magnitude. Reference: F. J. MacWilliams and N. J. A. Sloane,
*The Theory of Error-Correcting Codes*, chapter 5, section 7.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

comb = functools.lru_cache(maxsize=512)(math.comb)
"""Binomials of tens of thousands of bits take milliseconds, and sums over windows meet the same ones again."""


def krawtchouk(m: int, s: int, n: int) -> int:
    """K_m(s; n) by its definition, with the smaller of m and s below (C(n, s) K_m(s; n) = C(n, m) K_s(m; n)).

    >>> [krawtchouk(m, 1, 3) for m in range(4)]
    [1, 1, -1, -1]
    """
    if s < m <= n:
        return comb(n, m) * krawtchouk(s, m, n) // comb(n, s)
    return sum((-1) ** j * math.comb(s, j) * math.comb(n - s, m - j) for j in range(max(0, m - n + s), min(s, m) + 1))


def krawtchouk_values(s: int, n: int) -> Iterator[int]:
    """K_0(s; n), K_1(s; n), ..., K_n(s; n) by the three-term recurrence

        (m + 1) K_{m+1} = (n - 2s) K_m - (n - m + 1) K_{m-1}

    in which every division is exact.

    >>> list(krawtchouk_values(2, 4))
    [1, 0, -2, 0, 1]
    """
    before, current = 0, 1
    for m in range(n + 1):
        yield current
        before, current = current, ((n - 2 * s) * current - (n - m + 1) * before) // (m + 1)


def krawtchouk_sum(t: int, s: int, n: int) -> int:
    """K_0(s; n) + ... + K_t(s; n), which is K_t(s - 1; n - 1) for s > 0: a window of levels costs two terms.

    >>> [krawtchouk_sum(t, 1, 3) for t in range(-1, 5)]
    [0, 1, 2, 1, 0, 0]
    """
    if not 0 <= t < n:
        return 0 if t < 0 or s > 0 else 1 << n
    return krawtchouk(t, s - 1, n - 1) if s > 0 else sum(math.comb(n, m) for m in range(t + 1))


def symmetric_coefficient(s: int, values: Sequence[int | Fraction]) -> Fraction:
    """The Fourier coefficient at a set of size s of z -> phi(sum z); ``values[m]`` is phi(n - 2m).

    The fold K_{n-m}(s; n) = (-1)^s K_m(s; n) halves the work. Outside 0 <= s <= n there is no set, and the
    answer is 0.

    >>> symmetric_coefficient(3, [0, 0, 0, 1])  # all three entries are -1
    Fraction(-1, 8)
    """
    n = len(values) - 1
    if not 0 <= s <= n:
        return Fraction(0)
    denominator = math.lcm(*(Fraction(value).denominator for value in values))
    scaled = [int(value * denominator) for value in values]
    sign = -1 if s % 2 else 1
    total = 0
    for m, weight in zip(range(n // 2 + 1), krawtchouk_values(s, n), strict=False):
        mirrored = scaled[m] if 2 * m == n else scaled[m] + sign * scaled[n - m]
        if mirrored:
            total += mirrored * weight
    return Fraction(total, denominator << n)
