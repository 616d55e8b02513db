"""Lemma 5.2: how many filters are lucky at initialisation."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.rules import Maybe, Whole
from separatrix.tasks.pattern_detection import need_room
from separatrix.theory.certificate import Assumption, Finding, at_least, at_most, equal
from separatrix.theory.parameters import MaybeCount, Version
from separatrix.theory.results import result

MOST_PRODUCTS = 1 << 26
"""Products of filters and patterns up to which the filters themselves are drawn."""


@result(
    "pooling/lemma-5.2",
    "With probability at least 1 - 4 exp(-d), between k/4l and k/l of the k filters detect the positive "
    "pattern with a positive second-layer weight, and as many the negative one with a negative weight "
    "(printed: d for l).",
)
def lemma_5_2(
    d: Annotated[int, Whole(3, 200)] = 20,
    l: Annotated[int | None, Maybe(Whole(3))] = None,  # noqa: E741
    k: MaybeCount = None,
    version: Version = "corrected",
    seed: Annotated[int, Whole(0)] = 0,
) -> Finding:
    r"""Lemma 5.2 of Brutzkus & Globerson.

    Filters w_i uniform on a sphere of R^d, a_i = +-1 with equal chances, independent. Filter i is a lucky
    positive one, i in W_0^+ and A^+, when a_i = 1 and o_1 has the largest product with w_i, and a positive
    one, among o_1, o_3, ..., o_l. Those l - 1 products are exchangeable and their signs independent, so

        P(i in W_0^+ and A^+) = (1 - 2^(1-l)) / (2 (l - 1)) = p

    in which the 1/2 is that of a_i (``probability``; without it, ``probability_detector``). The paper has d
    for l, here, in k/4d <= |W_0^+ and A^+|, |W_0^- and A^-| <= k/d, and in Hoeffding's inequality. With fewer
    patterns than dimensions that upper bound fails (``version=printed``). With l for d throughout,
    1/2l <= p <= 3/4l and k >= 8 d^3 >= 8 l^2 d give the lemma:

        P(k/4l <= both counts <= k/l) >= 1 - 4 exp(-2k / (4l)^2) >= 1 - 4 exp(-d)

    ``d``, ``k`` (default 8 d^3 + 1) and ``l`` are the paper's; ``l`` is d by default, but d/2 for
    ``version=printed``, which l = d makes right. The counts are jointly multinomial, from which
    ``failure_probability`` is summed; ``lucky_positive`` and ``lucky_negative`` are counted in one
    initialisation, drawn by ``seed``.

    >>> lemma_5_2(d=6, l=4).measured["probability"]
    Fraction(7, 48)
    >>> lemma_5_2().status, lemma_5_2(version="printed").status
    ('holds', 'violated')
    """
    patterns = l if l is not None else max(3, d // 2) if version == "printed" else d
    need_room(d, patterns)
    filters = 8 * d**3 + 1 if k is None else k
    stated = d if version == "printed" else patterns
    probability = lucky_probability(patterns)
    failure = failure_probability(filters, probability, Fraction(filters, 4 * stated), Fraction(filters, stated))
    positive, negative = count_lucky(filters, patterns, seed)
    measured: dict[str, Any] = {
        "probability": probability,
        "probability_detector": 2 * probability,
        "failure_probability": failure,
        "lucky_positive": positive,
        "lucky_negative": negative,
    }
    bound: dict[str, Any] = {
        "probability": lucky_probability(stated),
        "failure_probability": 4 * math.exp(-d),
        "count_low": Fraction(filters, 4 * stated),
        "count_high": Fraction(filters, stated),
    }
    checks = [
        equal("probability", probability, bound["probability"]),
        at_least("probability above 1/2d", probability, Fraction(1, 2 * stated)),
        at_most("probability below 3/4d", probability, Fraction(3, 4 * stated)),
        at_most("failure_probability", failure, bound["failure_probability"]),
    ]
    return Finding(
        measured=measured,
        bound=bound,
        checks=checks,
        method="closed form",
        assumptions=[
            Assumption("l >= 3", patterns, 3, patterns >= 3),
            Assumption("k >= 8 d^3", filters, 8 * d**3, filters >= 8 * d**3),
        ],
        vacuous="4 exp(-d) is at least 1" if 4 * math.exp(-d) >= 1 else None,
        notes=[
            "the probability is exact, the failure probability a sum of binomial tails in float64",
            "the seed's counts are one draw: they leave the range with the failure probability",
        ],
    )


def lucky_probability(l: int) -> Fraction:  # noqa: E741
    """p = (1 - 2^(1-l)) / (2 (l - 1)), the chance that a filter is a lucky positive one.

    >>> lucky_probability(3)
    Fraction(3, 16)
    """
    return (1 - Fraction(2, 2**l)) / (2 * (l - 1))


def failure_probability(k: int, p: Fraction, low: Fraction, high: Fraction) -> float:
    """P(not both counts in [low, high]); the counts and the rest are multinomial (k; p, p, 1 - 2p).

    Given that the first count is m, the second is binomial (k - m, p / (1 - p)).
    """
    least, most = math.ceil(low), math.floor(high)
    first = np.arange(least, min(most, k) + 1)
    rest = k - first
    chance = float(p / (1 - p))
    second_outside = _at_most(least - 1, rest, chance) + _above(most, rest, chance)
    one = np.array([k])
    first_outside = _at_most(least - 1, one, float(p)) + _above(most, one, float(p))
    return float(first_outside[0] + np.sum(_mass(first, k, float(p)) * second_outside))


def _at_most(count: int, trials: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """P(binomial <= count), for each number of trials."""
    from scipy.special import betainc

    if count < 0:
        return np.zeros(len(trials))
    inside = np.maximum(trials - count, 1)
    return np.where(trials <= count, 1.0, betainc(inside, count + 1, 1 - p))


def _above(count: int, trials: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """P(binomial > count), for each number of trials, without cancellation."""
    from scipy.special import betainc

    if count < 0:
        return np.ones(len(trials))
    inside = np.maximum(trials - count, 1)
    return np.where(trials <= count, 0.0, betainc(count + 1, inside, p))


def _mass(counts: NDArray[np.int64], trials: int, p: float) -> NDArray[np.float64]:
    """P(binomial = count), for each count."""
    from scipy.special import gammaln

    ways = gammaln(trials + 1) - gammaln(counts + 1) - gammaln(trials - counts + 1)
    return np.asarray(np.exp(ways + counts * math.log(p) + (trials - counts) * math.log1p(-p)))


def count_lucky(k: int, l: int, seed: int) -> tuple[int, int]:  # noqa: E741
    """The lucky positive and negative filters of one initialisation.

    Only the products with the l patterns matter, and of those only signs and order: Gaussian ones will do for
    a sphere of any radius. Where there are very many, the counts are drawn from their multinomial law.
    """
    generator = np.random.default_rng(seed)
    if k * l > MOST_PRODUCTS:
        p = float(lucky_probability(l))
        drawn = generator.multinomial(k, [p, p, 1 - 2 * p])
        return int(drawn[0]), int(drawn[1])
    positive = negative = 0
    rows = max(1, (1 << 22) // l)
    for start in range(0, k, rows):
        size = min(rows, k - start)
        products = generator.normal(size=(size, l))
        sign = generator.choice([-1, 1], size)
        spurious = products[:, 2:].max(axis=1)
        detects = products[:, :2] > np.maximum(spurious, 0)[:, None]
        positive += int(np.sum(detects[:, 0] & (sign == 1)))
        negative += int(np.sum(detects[:, 1] & (sign == -1)))
    return positive, negative
