"""Laws over the draw of w: how many entries are not zero, what its sum over A is, and expectations along them.

w is uniform in {-1, 0, 1}^n, so an entry is zero with probability 1/3. Probabilities over w are exact rationals; the
expectations of a neuron for thousands of |J| at once are in float64.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from separatrix.papers.parity.neurons import Window, coefficient, mass
from separatrix.theory.parameters import Floats

SHOWN_BITS = 2048
_EXACT_UP_TO = 1000
EXACT_LAW_UP_TO = 4000
_TIE = 1e-6


def shown(value: Fraction) -> Fraction | float:
    """A fraction of up to 2048 bits as it is, a longer one as the nearest float."""
    return value if value.denominator.bit_length() <= SHOWN_BITS else value.numerator / value.denominator


@functools.lru_cache(maxsize=64)
def nonzeros(N: int) -> tuple[int, ...]:
    """3^N P(M = m) for m = 0..N, M the number of the nonzero among N entries of w.

    >>> nonzeros(2)
    (1, 4, 4)
    """
    found, term = [], 1
    for m in range(N + 1):
        found.append(term)
        term = term * 2 * (N - m) // (m + 1)
    return tuple(found)


def law_of_nonzeros(N: int) -> list[tuple[int, Fraction]]:
    """(m, P(M = m)) for the number M of the nonzero among N entries: exact; for N above 4000 rounded, and without what
    lies more than 14 standard deviations away (below 1e-80 in all).

    >>> law_of_nonzeros(1)
    [(0, Fraction(1, 3)), (1, Fraction(2, 3))]
    """
    if N <= EXACT_LAW_UP_TO:
        return [(m, Fraction(weight, 3**N)) for m, weight in enumerate(nonzeros(N))]
    first, last = bulk(N)
    logs = (_log_binomial(N, m) + m * math.log(2) - N * math.log(3) for m in range(first, last + 1))
    return [(m, Fraction(math.exp(log))) for m, log in enumerate(logs, first)]


def balanced(k: int) -> Fraction:
    """P(sum over A of w = 0): the central trinomial coefficient over 3^k.

    >>> balanced(1), balanced(3)
    (Fraction(1, 3), Fraction(7, 27))
    """
    return sum((pairs(k, a) for a in range(k // 2 + 1)), Fraction(0))


def pairs(k: int, a: int) -> Fraction:
    """P(w has a entries +1, a entries -1 and k - 2a zeros on A)."""
    return Fraction(math.comb(k, a) * math.comb(k - a, a), 3**k)


def at_least(N: int, least: int) -> Fraction:
    """P(M >= least) for the number M of nonzero entries among N: exact, and rounded for N above 4000.

    >>> at_least(2, 1), at_least(2, 3)
    (Fraction(8, 9), Fraction(0, 1))
    """
    if N <= EXACT_LAW_UP_TO:
        return Fraction(sum(nonzeros(N)[max(least, 0) :]), 3**N)
    from scipy.stats import binom

    return Fraction(float(binom.sf(least - 1, N, 2 / 3)))


def log_square(s: int, m: int, window: Window) -> float:
    """log of the square of :func:`.neurons.coefficient` for s > 0, -inf where that is 0.

    With K_t(s-1; m-1) = C(m-1, t) K_{s-1}(t; m-1) / C(m-1, s-1), only one binomial is large, and it is taken from log
    gamma where m is: to about ten digits.
    """
    if m <= _EXACT_UP_TO:
        value = coefficient(s, m, window)
        return 2 * (math.log(abs(value.numerator)) - math.log(value.denominator)) if value else -math.inf
    ends = (m - window.lo) // 2, -((window.hi - m) // 2) - 1
    terms = [(_log_binomial(m - 1, t), _small_krawtchouk(s - 1, t, m - 1)) for t in ends if 0 <= t < m]
    terms = [(log, value) for log, value in terms if value]
    if not terms:
        return -math.inf
    top = max(log + math.log(abs(value)) for log, value in terms)
    signs = [1, -1] if len(terms) == 2 else [1]
    total = sum(
        sign * math.copysign(math.exp(log + math.log(abs(value)) - top), value)
        for sign, (log, value) in zip(signs, terms, strict=True)
    )
    if total == 0:
        return -math.inf
    return 2 * (top + math.log(abs(total)) - m * math.log(2) - math.log(math.comb(m - 1, s - 1)))


def _log_binomial(n: int, t: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(t + 1) - math.lgamma(n - t + 1)


def _small_krawtchouk(s: int, t: int, n: int) -> int:
    """K_s(t; n) for a small s, exactly."""
    return sum((-1) ** j * math.comb(t, j) * math.comb(n - t, s - j) for j in range(s + 1))


def exceeds(s: int, m: int, window: Window, square: Fraction) -> bool:
    """Whether the coefficient's square is above ``square``; close cases are decided exactly."""
    found = log_square(s, m, window)
    if found == -math.inf:
        return square < 0
    gap = found - (math.log(square.numerator) - math.log(square.denominator))
    if m <= _EXACT_UP_TO or abs(gap) < _TIE:
        return coefficient(s, m, window) ** 2 > square
    return gap > 0


def masses(first: int, last: int, window: Window) -> Floats:
    """P(lo <= r <= hi) for the sum r of J signs, J = first..last, each from the one before (in float64, from an
    exact first one up to 4000):

        P_{J+1} - P_J = (p_J(lo - 1) - p_J(lo) - p_J(hi) + p_J(hi + 1)) / 2

    >>> masses(0, 3, Window(0, 5)).tolist()
    [1.0, 0.5, 0.75, 0.5]
    """
    J = np.arange(first, last)
    ends = (window.lo - 1, 1), (window.lo, -1), (window.hi, -1), (window.hi + 1, 1)
    change = sum((sign * point_masses(J, r) for r, sign in ends), np.zeros(len(J)))
    if first <= EXACT_LAW_UP_TO:
        start = float(mass(first, window))
    else:
        reachable = range(max(window.lo, -first), min(window.hi, first) + 1)
        start = math.fsum(_point_mass(first, r) for r in reachable if (first - r) % 2 == 0)
    found = np.concatenate([[start], start + np.cumsum(change) / 2])
    return np.asarray(np.clip(found, 0.0, 1.0))


def point_masses(J: NDArray[np.integer], r: int) -> Floats:
    """P(the sum of J signs is r) for each J.

    >>> point_masses(np.array([0, 1, 2]), 0).tolist()
    [1.0, 0.0, 0.5]
    """
    from scipy.special import gammaln

    possible = (abs(r) <= J) & ((J - r) % 2 == 0)
    up = np.where(possible, (J + r) // 2, 0).astype(np.float64)
    logs = gammaln(J + 1.0) - gammaln(up + 1) - gammaln(J - up + 1) - J * math.log(2)
    return np.where(possible, np.exp(np.where(possible, logs, -np.inf)), 0.0)


def _point_mass(J: int, r: int) -> float:
    return math.exp(_log_binomial(J, (J + r) // 2) - J * math.log(2))


def bulk(N: int, spread: float = 14.0) -> tuple[int, int]:
    """The first and last M within ``spread`` standard deviations of 2N/3: all but 2 exp(-2 (2/9) spread^2) at most."""
    reach = spread * math.sqrt(2 * N / 9) + 1
    return max(0, math.floor(2 * N / 3 - reach)), min(N, math.ceil(2 * N / 3 + reach))


def coefficients(s: int, m: NDArray[np.integer], window: Window) -> Floats:
    """:func:`.neurons.coefficient` for many m at once in float64, s > 0: K_{s-1}(t; m-1) by its recurrence in s.

    >>> coefficients(2, np.array([3, 4]), Window(-1, 1)).tolist()
    [-0.25, -0.125]
    """
    total = np.zeros(len(m))
    for t, sign in (((m - window.lo) // 2, 1), (-((window.hi - m) // 2) - 1, -1)):
        inside = (t >= 0) & (t < m)
        at = np.where(inside, t, 0).astype(np.float64)
        before, current, N = np.zeros(len(m)), np.ones(len(m)), m - 1.0
        for j in range(s - 1):
            before, current = current, ((N - 2 * at) * current - (N - j + 1) * before) / (j + 1)
        total += sign * np.where(inside, current * _ratio(np.asarray(N, np.float64), at, s - 1), 0.0)
    return total


def _ratio(N: Floats, t: Floats, j: int) -> Floats:
    """2^-(N+1) C(N, t) / C(N, j)."""
    from scipy.special import gammaln

    logs = gammaln(j + 1) + gammaln(np.maximum(N - j, 0) + 1) - gammaln(t + 1) - gammaln(N - t + 1)
    return np.asarray(np.where(j <= N, np.exp(logs - (N + 1) * math.log(2)), 0.0))
