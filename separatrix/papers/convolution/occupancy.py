"""How q neurons fall into the 2^k sign classes J_z of Lemma 6: exact probabilities of the events its proof needs.

The classes' sizes are multinomial, q throws into 2^k cells alike.

>>> all_at_least(4, 1, 1), all_at_least(2, 1, 1)  # four neurons cover both patterns of one bit: 1 - 2/16
(Fraction(7, 8), Fraction(1, 2))
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import gammaln

EXACT_UP_TO = 400
"""Up to this q probabilities are fractions; above, float64 to about 1e-12."""


def all_at_least(q: int, k: int, least: int) -> Fraction | float:
    """P(every |J_z| >= least).

    The words of length q in 2^k letters that use each letter that often are counted by doubling the letters k times,
    A_{2m}(t) = sum_s C(t, s) A_m(s) A_m(t-s); in floats with Poisson weights, which condition to the same law.
    """
    if least <= 0:
        return Fraction(1)
    if least << k > q:
        return Fraction(0)
    if q <= EXACT_UP_TO:
        words = [int(t >= least) for t in range(q + 1)]
        for _ in range(k):
            words = [sum(math.comb(t, s) * words[s] * words[t - s] for s in range(t + 1)) for t in range(q + 1)]
        return Fraction(words[q], 1 << (k * q))
    t = np.arange(q + 1)
    rate = q / 2**k
    weights = np.where(t >= least, np.exp(t * math.log(rate) - rate - gammaln(t + 1)), 0)
    for _ in range(k):
        weights = np.maximum(fftconvolve(weights, weights)[: q + 1], 0)
    return float(min(weights[q] / math.exp(q * math.log(q) - q - gammaln(q + 1)), 1.0))


def chance_below(q: int, k: int, limit: Fraction) -> float:
    """P(|J_z| <= limit) for one z, of which Chernoff's bound is e^(-q 2^-k / 8) at limit q 2^-k / 2.

    >>> chance_below(4, 1, Fraction(1))
    0.3125
    """
    from scipy.stats import binom

    return float(binom.cdf(math.floor(limit), q, 0.5**k))


def least_covering(k: int, delta: float) -> int | None:
    """The least q with P(no J_z is empty) >= 1 - delta, below which no u* serves all g; by inclusion and exclusion.

    >>> least_covering(1, 0.2)
    4
    """
    if k > 6:
        return None
    cells, wanted = 2**k, 1 - Fraction(delta)

    def covered(q: int) -> bool:
        ways = sum((-1) ** i * math.comb(cells, i) * (cells - i) ** q for i in range(cells))
        return Fraction(ways, cells**q) >= wanted

    high = cells
    while not covered(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if covered(middle) else (middle, high)
    return high
