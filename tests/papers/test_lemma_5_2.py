"""Lemma 5.2: the exact probability against simulation, the tails against fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers.pooling.initialisation import count_lucky, failure_probability, lucky_probability
from separatrix.papers.pooling.theorems import lemma_5_2


@pytest.mark.parametrize(("d", "l"), [(3, 3), (5, 4), (9, 6)])
def test_probability_is_that_of_filters_on_a_sphere(d: int, l: int) -> None:  # noqa: E741
    """On a sphere of R^d, with l orthonormal patterns that are not the standard basis."""
    generator = np.random.default_rng(11)
    patterns = np.linalg.qr(generator.normal(size=(d, d)))[0][:l]
    filters = generator.normal(size=(400_000, d))
    filters *= 0.01 / np.linalg.norm(filters, axis=1, keepdims=True)
    products = filters @ patterns.T
    without_negative = np.delete(products, 1, axis=1)
    detects = (without_negative.argmax(axis=1) == 0) & (without_negative[:, 0] > 0)
    lucky = detects & (generator.choice([-1, 1], len(filters)) == 1)
    measured = lemma_5_2(d=d, l=l).measured
    for frequency, name in ((lucky.mean(), "probability"), (detects.mean(), "probability_detector")):
        p = float(measured[name])
        assert abs(frequency - p) < 5 * math.sqrt(p * (1 - p) / len(filters))


def test_counts_of_a_seed_have_the_exact_mean() -> None:
    k, l = 300_000, 7  # noqa: E741
    p = float(lucky_probability(l))
    for count in count_lucky(k, l, seed=2):
        assert abs(count - k * p) < 5 * math.sqrt(k * p * (1 - p))
    assert count_lucky(k, l, seed=2) == count_lucky(k, l, seed=2) != count_lucky(k, l, seed=3)


@pytest.mark.parametrize(("k", "l", "low", "high"), [(30, 3, 2, 10), (25, 5, 3, 8), (12, 4, 0, 1), (9, 3, 5, 20)])
def test_failure_probability_is_the_multinomial_sum(k: int, l: int, low: int, high: int) -> None:  # noqa: E741
    p = lucky_probability(l)
    inside = Fraction(0)
    for a in range(low, min(high, k) + 1):
        for b in range(low, min(high, k - a) + 1):
            ways = math.comb(k, a) * math.comb(k - a, b)
            inside += ways * p ** (a + b) * (1 - 2 * p) ** (k - a - b)
    found = failure_probability(k, p, Fraction(low), Fraction(high))
    assert found == pytest.approx(float(1 - inside), rel=1e-10)


def test_small_failure_probabilities_do_not_drown() -> None:
    assert 0 < failure_probability(64_001, lucky_probability(20), Fraction(64_001, 80), Fraction(64_001, 20)) < 1e-100


@pytest.mark.parametrize("d", [3, 4, 7, 12])
def test_corrected_holds_for_every_number_of_patterns(d: int) -> None:
    for l in range(3, d + 1):  # noqa: E741
        assert lemma_5_2(d=d, l=l).status == "holds", l


def test_printed_fails_for_few_patterns_and_holds_for_as_many_as_dimensions() -> None:
    assert lemma_5_2(d=12, l=3, version="printed").status == "violated"
    assert lemma_5_2(d=12, l=12, version="printed").status == "holds"
    failing = [check.name for check in lemma_5_2(version="printed").checks if not check.holds]
    assert "failure_probability" in failing


def test_too_few_filters_are_outside_and_too_many_patterns_refused() -> None:
    assert lemma_5_2(d=6, k=100).status == "outside"
    with pytest.raises(InputError, match="l must be at most d = 5"):
        lemma_5_2(d=5, l=6)
