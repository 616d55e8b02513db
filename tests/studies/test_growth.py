"""Growth laws: known laws are found, intervals cover, censored costs are told, one law is told from the other."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from separatrix.errors import InputError
from separatrix.studies import growth
from separatrix.studies.curve import Curve, Point
from separatrix.studies.growth import compare_laws, costs, growth_law, paired_exponent
from separatrix.studies.intervals import mean_interval


def noisy(law, x, seeds, spread, rng):
    return [law(place) * np.exp(spread * rng.normal(size=seeds)) for place in x]


@pytest.mark.parametrize(("kind", "law"), [("power", lambda x: 5 * x**1.5), ("exponential", lambda x: 2 * 3**x)])
def test_the_interval_covers_the_true_rate(kind, law):
    """Of 60 experiments at least 52 cover: far below that of an honest 95% (P < 0.4%) the interval is too narrow."""
    rng = np.random.default_rng(1)
    x, rate = [2, 3, 5, 8, 12], 1.5 if kind == "power" else math.log(3)
    covered = 0
    for _ in range(60):
        fit = growth_law(x, noisy(law, x, 5, 0.3, rng), kind, centre="median").rate
        covered += fit.low <= rate <= fit.high
    assert covered >= 52


def test_the_laws_are_told_apart_and_near_ties_are_not_decided():
    rng = np.random.default_rng(2)
    x = [2, 4, 6, 8, 10, 12]
    assert compare_laws(x, noisy(lambda x: 4 * x**2, x, 6, 0.1, rng)).preferred == "power"
    assert compare_laws(x, noisy(lambda x: 2.0**x, x, 6, 0.1, rng)).preferred == "exponential"
    assert compare_laws([2, 3, 4], noisy(lambda x: 2.0**x, [2, 3, 4], 6, 0.1, rng)).preferred is None
    assert compare_laws(x, noisy(lambda x: 7.0 + 0 * x, x, 6, 1.0, rng)).preferred is None


def test_costs_that_were_not_reached():
    samples = [[10.0, 20.0, 30.0], [40.0, 80.0, math.inf], [math.inf, 90.0, math.inf], [160.0, 320.0, 480.0]]
    law = growth_law([1, 2, 3, 4], samples)
    assert law.places == (1, 2, 4)
    assert law.censored_at == (3,)
    assert law.rate.mean == pytest.approx(2)
    with pytest.raises(InputError, match="two places"):
        growth_law([1, 2], [[1.0], [math.inf]])
    with pytest.raises(InputError, match="above 0"):
        growth_law([1, 2], [[1.0], [0.0]])


def test_costs_are_read_off_a_curve_by_seed():
    values = {10: (0.5, 0.04), 20: (0.3, 0.3), 40: (0.1, 0.0)}
    points = tuple(Point(x, mean_interval(v), v, (3, 7)) for x, v in values.items())
    found = costs(Curve("train_size", "test_error", {"net": points}), "net", 0.2)
    assert found[7] == 10
    assert found[3] == pytest.approx(20 * 2**0.5)
    assert costs(Curve("train_size", "test_error", {"net": points}), "net", 0.05)[3] == math.inf


def test_a_budget_that_was_not_enough_tells_the_laws_apart():
    """Three measured places and a fourth of which only a lower bound is known."""
    x, samples = [1, 3, 5, 7], [[3.0, 3.5], [40.0, 44.0], [700.0, 650.0], [math.inf, math.inf]]
    assert compare_laws(x, samples).preferred is None
    found = compare_laws(x, samples, limits={7: 8192.0})
    assert (found.preferred, found.exponential.censored_at) == ("exponential", (7,))
    assert compare_laws(x, [*samples[:3], [900.0, 950.0]], limits={7: 8192.0}).preferred == "power"
    assert compare_laws(x, samples, limits={7: 1000.0}).preferred is None  # both laws are above it


def test_the_residuals_with_limits_are_the_least_there_are():
    t, y = np.array([0.0, 1.0, 2.0]), np.array([[0.0, 1.5, 1.0], [3.0, 1.0, 2.0]])
    missed, limits = np.array([3.0, 4.0]), np.array([2.5, 2.0])
    for row, found in zip(y, growth._left_over(t, y, missed, limits), strict=True):

        def objective(line, row=row):
            slack = np.maximum(limits - line[0] - line[1] * missed, 0)
            return np.square(row - line[0] - line[1] * t).sum() + np.square(slack).sum()

        assert found == pytest.approx(minimize(objective, np.zeros(2)).fun, rel=1e-5)


def test_what_a_draw_keeps_from_place_to_place_does_not_widen_its_exponent():
    rng = np.random.default_rng(4)
    x, own = [2.0, 3.0, 7.0], np.exp(3 * rng.normal(size=6))
    values = np.array(x)[:, None] ** -1.5 * own * np.exp(0.01 * rng.normal(size=(3, 6)))
    paired = paired_exponent(x, values)
    assert paired.low < -1.5 < paired.high
    assert paired.high - paired.low < 0.05
    apart = growth_law(x, list(values), centre="mean").rate
    assert apart.high - apart.low > 1
