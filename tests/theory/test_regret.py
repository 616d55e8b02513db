"""Online gradient descent's inequality: independent sums, the identity behind it, and where it breaks."""

import numpy as np
import pytest

from separatrix.theory.convex_sequences import FAMILIES, concave, tried
from separatrix.theory.regret import Function, descend, regret


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_both_sides_are_those_of_a_plain_loop(family):
    generator = np.random.default_rng(3)
    functions = FAMILIES[family](generator, 17, 4)
    eta, theta, star = 0.13, generator.normal(size=4), generator.normal(size=4)
    run = descend(functions, theta, eta)
    sides = run.against(star)
    first, total, stars, pulls, squares = theta.copy(), 0.0, 0.0, 0.0, 0.0
    for t, f in enumerate(functions, start=1):
        g = f.gradient(theta)
        total, stars = total + f.value(theta), stars + f.value(star)
        pulls, squares = pulls + np.sqrt(np.sum(g**2)), squares + np.sum(g**2)
        right = stars / t + np.sum(star**2) / (2 * eta * t) + np.sqrt(np.sum(first**2)) * pulls / t + eta * squares / t
        assert sides.left[t - 1] == pytest.approx(total / t, rel=1e-12)
        assert sides.right[t - 1] == pytest.approx(right, rel=1e-12)
        theta = theta - eta * g
    assert run.update_error < 1e-14
    assert run.displacement == pytest.approx(theta - first)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_gradients_are_those_of_finite_differences(family):
    generator = np.random.default_rng(5)
    (f,) = FAMILIES[family](generator, 1, 3)
    point, step = generator.normal(size=3), 1e-6
    ahead = [(f.value(point + step * e) - f.value(point - step * e)) / (2 * step) for e in np.eye(3)]
    assert f.gradient(point) == pytest.approx(np.array(ahead), abs=1e-6)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_it_holds_on_random_convex_sequences_and_the_sharp_side_is_below(family):
    found = tried(family, np.random.default_rng(7), sequences=12, T=40, d=3)
    assert found.violations == 0
    assert found.least_convexity > -1e-9
    assert found.least_sharp_slack > -1e-9
    assert found.check.holds


def test_linear_functions_lose_nothing_to_convexity():
    run = descend(FAMILIES["linear"](np.random.default_rng(2), 30, 4), np.full(4, 2.0), 0.3)
    sides = run.against(np.array([1.0, -2.0, 0.5, 3.0]))
    assert sides.sharp == pytest.approx(sides.left, rel=1e-12)  # the identity


def test_concave_functions_break_it():
    found = tried("concave", np.random.default_rng(0), sequences=20, T=40, d=3, make=concave)
    assert found.violations > 0
    assert found.least_convexity < 0
    assert found.check.holds is False


def test_a_wrong_step_breaks_it():
    """Descent with three times the step that is stated: the identity fails, and so does the inequality."""
    square = Function(lambda x: float(x @ x) / 2, lambda x: x)
    run = descend([square] * 20, np.array([1.0]), 2.5)
    honest = run.against(np.zeros(1))
    assert honest.holds
    norms = np.linalg.norm(run.gradients, axis=1)
    stated = regret(0.05, run.losses, np.zeros(20), norms, 0.0, 0.0)
    assert not stated.holds
    assert [check.holds for check in stated.checks("stated")] == [False, False]


def test_a_zero_start_without_losses():
    sides = regret(1.0, np.zeros(3), np.zeros(3), np.zeros(3), 0.0, 0.0)
    assert sides.holds
    assert sides.slack.tolist() == [0, 0, 0]
