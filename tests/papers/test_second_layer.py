"""Theorem 5.1 and appendix A: the pieces against other implementations, and what must fail."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from separatrix.errors import InputError
from separatrix.papers.pooling import second_layer
from separatrix.papers.pooling.convergence import MOST_STEPS, steps_to_half
from separatrix.papers.pooling.first_layer import Setting, features, first_layer, pattern_sets
from separatrix.papers.pooling.margins import least_norm_separator
from separatrix.papers.pooling.scaling import exponent, limit_errors
from separatrix.papers.pooling.second_layer import error_of, smallest_m, v_star
from separatrix.papers.pooling.theorems import appendix_a, theorem_5_1

SMALL = {"d": 4, "n": 3, "T1": 10, "T2": 400, "runs": 0}


@pytest.fixture(scope="module")
def found():
    return theorem_5_1(**SMALL, seed=3)


def test_it_holds_and_says_what_was_reached(found):
    assert found.status == "holds"
    assert found.measured["margin_v_star"] > 1
    assert found.measured["loss"] < found.measured["loss_start"]
    assert found.measured["angle"] < found.measured["angle_start"] / 3
    assert found.measured["test_error"] == found.measured["test_error_limit"] == 0
    assert found.measured["smallest_m"] > 10**6


def test_losses_angles_and_limit_by_hand(found):
    """The engine's second layer again in NumPy, on the features, and the separator by another solver."""
    setting = Setting.of(4, 3, None, None, 100, 10, None, None, 3)
    run = first_layer(setting)
    Z, y = features(run.products[-1], run.present[50:]), run.y[50:]
    a, losses = run.a.copy(), []
    for _ in range(401):
        margins = y * (Z @ a)
        losses.append(np.log1p(np.exp(-margins)).mean())
        a = a + 7.9 * setting.k * (y / (1 + np.exp(margins))) @ Z / len(y)
    for t, loss in found.measured["loss_history"]:
        assert loss == pytest.approx(losses[t], rel=1e-7)
    # without a bias: the sample and its mirror image
    size = np.linalg.norm(Z, axis=1).max()
    points = np.vstack([Z, -Z]) / size
    machine = SVC(kernel="linear", C=1e8, tol=1e-8).fit(points, np.append(y, -y))
    norm = float(np.linalg.norm(machine.coef_)) / size
    support, _, _ = pattern_sets(3, 4)
    largest = (features(run.products[-1], support) ** 2).sum(axis=1).max()
    assert found.measured["product"] == pytest.approx(norm**2 * largest, rel=1e-3)


def test_v_star_margin_is_that_of_the_inputs_themselves():
    from separatrix.learners.networks import ConvPoolNet
    from separatrix.training.engine import numerics
    from separatrix.training.trajectory import follow

    setting = Setting.of(4, 3, None, None, 100, 10, None, None, 3)
    run, path = first_layer(setting), follow(setting.cell(), 10)
    v = v_star(run, 4)
    assert set(np.flatnonzero(v)) == {*run.lucky(1), *run.lucky(-1)}
    with numerics("float64"):
        import jax.numpy as jnp

        points = setting.cell().task.population(jnp.asarray(path.instance))
        network = path.network(10)
        outputs = np.asarray(ConvPoolNet(jnp.asarray(network.W), jnp.asarray(v))(points.x))
    assert len(points.x) > len(pattern_sets(3, 4)[0])
    margin = float((np.asarray(points.y) * outputs).min())
    assert theorem_5_1(**SMALL, seed=3).measured["margin_v_star"] == pytest.approx(margin, rel=1e-9)


@pytest.mark.parametrize("wrong", [-1.0, 0.02])
def test_a_wrong_separator_is_caught(monkeypatch, wrong):
    monkeypatch.setattr(second_layer, "v_star", lambda run, d: wrong * v_star(run, d))
    assert theorem_5_1(**SMALL, seed=3).status == "violated"


def test_printed_counts_patterns_by_dimensions():
    printed = theorem_5_1(d=8, n=3, T1=3, T2=20, runs=0, version="printed")
    assert printed.status == "violated"
    failing = {check.name.split()[0] for check in printed.checks if not check.holds}
    assert failing == {"norm_v_star_sq", "lucky+", "lucky-"}
    assert theorem_5_1(d=8, l=3, n=3, T1=3, T2=20, runs=0).status == "holds"
    assert theorem_5_1(n=3, T1=3, T2=20, runs=0, version="printed").status == "violated"  # at the default d


def test_outside_and_vacuous():
    assert theorem_5_1(**SMALL, eta_2=1e5).status == "outside"
    assert theorem_5_1(**SMALL, k=30).status == "outside"
    assert theorem_5_1(**SMALL, m=40, seed=3).status == "vacuous"


def test_a_support_too_large_is_refused_at_once():
    with pytest.raises(InputError, match="fewer patterns l"):
        theorem_5_1(d=20, n=15)


def test_error_of_counts_the_wrong_sets():
    present, y, p = pattern_sets(4, 5)
    assert error_of(y, 4, 5) == 0
    assert error_of(0 * y, 4, 5) == pytest.approx(0.5)  # sign(0) = -1
    only = np.where(np.arange(len(y)) == 3, -y, y)
    assert error_of(only, 4, 5) == pytest.approx(p[3])
    assert present.shape == (14, 5)


def test_limit_errors_do_not_depend_on_the_neighbours():
    together, _ = limit_errors(4, 4, 4, 6, 20)
    alone = [limit_errors(4, 4, 4, 1, 20 + run)[0][0] for run in range(6)]
    assert together == pytest.approx(alone)
    assert 0 < together.mean() <= 0.5


def test_smallest_m_is_the_smallest():
    def bound(m, d):
        root = (51_200 * d) ** 0.5
        return 2 * root / (m / 2) ** 0.5 + (1 + root) * (2 * np.log(40) / (m / 2)) ** 0.5

    for d in (3, 4, 9):
        assert bound(smallest_m(d), d) < 1 <= bound(smallest_m(d) - 2, d)


def test_exponent_of_a_known_law():
    generator = np.random.default_rng(1)
    at = [4, 8, 16, 32]
    values = [m**-1.5 * generator.uniform(0.5, 1.5, 200) for m in at]
    fitted = exponent(at, values, 0)
    assert fitted.low < -1.5 < fitted.high
    assert fitted.high - fitted.low < 0.2


def test_steps_to_half_against_a_plain_loop():
    """Skewed data, where it takes many steps; a itself, not the Gram matrix."""
    generator = np.random.default_rng(3)
    Z = np.column_stack([np.full(30, 0.05), generator.uniform(0.5, 2.0, 30)])
    y = np.where(np.arange(30) < 3, -1.0, 1.0)
    Z[y < 0, 0] *= -1
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    found = steps_to_half(Z, y)
    w, _ = least_norm_separator(Z, y)
    assert found.gamma == pytest.approx(1 / np.linalg.norm(w))
    a, t, reached = np.zeros(2), 0, False
    while not reached:
        p = -y * (Z @ a)
        total = np.log1p(np.exp(p)).sum()
        slope = 1 / (1 + 1 / np.expm1(total))
        a += (1 / 30 if total > np.log(2) else 0.5) * (y / (1 + np.exp(-p)) / slope) @ Z
        t += 1
        reached = (y * (Z @ a)).min() >= found.gamma / 2 * np.linalg.norm(a)
    assert 10 < found.iterations == t < MOST_STEPS


def test_appendix_a_measures_both_exponents():
    found = appendix_a(runs=3, T1=2, m=32, seed=2)
    assert found.method == "scaling"
    assert found.status in ("holds", "undecided")
    assert all(0 < gamma <= 1 for gamma in found.measured["gamma"].values())
    assert replace(found, assumptions=()).status == found.status
