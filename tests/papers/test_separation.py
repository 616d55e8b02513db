"""FCN and CNN on log2(n)-patterns: the tabled net is the CNN, gradients are the theorem's, criteria go either way."""

import itertools
import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.learners import CNN, Trained
from separatrix.learners.algorithms import GradientDescent
from separatrix.papers.convolution import order, separation, separation_chart, separation_claims
from separatrix.papers.convolution.start_gradient import (
    architecture,
    exact_gradient_sq,
    expected_slope,
    measured_gradient,
)
from separatrix.papers.convolution.tabled import Tabled
from separatrix.studies.curve import Curve, Point
from separatrix.studies.intervals import mean_interval
from separatrix.tasks import KPattern
from separatrix.theory.certificate import Interval
from separatrix.training import Cell, Procedure
from separatrix.training.trajectory import follow

EXACT = Procedure(evaluation="population", precision="float64")


@pytest.mark.parametrize("start", ["gaussian", "paper"])
def test_a_tabled_net_is_trained_as_the_cnn_is(start):
    net = CNN(7, 3, "clipped_relu", start)
    task = KPattern(5, 3, 1, (1, -1, -1, 1, 1, 1, -1, 1))
    plain, tabled = (
        follow(Cell(task, Trained(one, GradientDescent(0.7), "hinge"), None, 3, EXACT), 6) for one in (net, Tabled(net))
    )
    assert not np.array_equal(plain.params.W[0], plain.params.W[-1])
    for name in ("W", "u"):
        assert getattr(plain.params, name) == pytest.approx(getattr(tabled.params.net, name), abs=1e-14)
    assert (tabled.params.net.b is None) == (start == "paper")


@pytest.mark.parametrize("net", ["CNN", "FCN"])
def test_the_bounded_start_is_what_theorem_12_asks(net):
    n, k, q = 5, 2, 6
    made = architecture(net, q, k).build(jax.random.key(1), (n,), ())
    cube = jnp.asarray(list(itertools.product([1.0, -1.0], repeat=n)))
    assert float(jnp.abs(made(cube)).max()) <= 1
    u = np.asarray(made.net.u if net == "CNN" else made.u)
    assert np.abs(u) == pytest.approx(1 / u.size)
    assert set(np.sign(u).ravel()) == {-1, 1}


def test_equal_widths_are_equal_numbers_of_parameters():
    for n, k, q in ((5, 2, 6), (9, 4, 3)):
        counts = {architecture(net, q, k).parameter_count((n,)) for net in ("CNN", "FCN")}
        assert counts == {q * (n + 2)}


@pytest.mark.parametrize(("net", "n", "k"), [("FCN", 5, 2), ("FCN", 4, 3), ("CNN", 6, 3)])
def test_exact_gradients_against_many_neurons_by_hand(net, n, k):
    """E over w of the squared gradient, w sampled in NumPy and all points enumerated: 5 standard errors."""
    bits = k if net == "CNN" else n
    cube = np.array(list(itertools.product([1, -1], repeat=bits)))
    parity = cube[:, :k].prod(axis=1)
    w = np.random.default_rng(2).normal(scale=bits**-0.5, size=(20_000, bits))
    z = w @ cube.T
    in_w = np.square(((z > 0) & (z < 1)) * parity @ cube / len(cube)).sum(axis=1)
    in_u = np.square(np.clip(z, 0, 1) @ parity / len(cube))
    assert abs(in_w.mean() - exact_gradient_sq(net, n, k)) < 5 * in_w.std() / math.sqrt(len(w))
    q = 8
    u = 1 / (q * (n - k + 1) if net == "CNN" else q)
    slopes = q * (u**2 * in_w + in_u)
    assert abs(slopes.mean() - expected_slope(net, n, k, q)) < 5 * slopes.std() / math.sqrt(len(w))


@pytest.mark.parametrize("net", ["CNN", "FCN"])
def test_the_trained_networks_start_there(net):
    found = measured_gradient(net, 5, 2, 64, 6)
    spread = 5 * found.gradient_sq.std / math.sqrt(6)
    assert abs(found.gradient_sq.mean - exact_gradient_sq(net, 5, 2)) < spread
    assert 0 < found.float32_error < 1e-5


def test_the_least_study_finds_the_plateau_that_the_gradient_predicts(tmp_path):
    study = replace(separation._plateau("quick", 2, (4,)), seeds=(0, 1, 2))
    results = {separation.plateau(2): study.run(tmp_path, workers=0)}
    for net in separation.NETS:
        (times,) = separation.measured_plateaus(results, net).values()
        assert times == pytest.approx([separation.expected_plateaus(net)[4]] * 3, rel=0.6)
    chart = separation_chart._plateau_chart(results, {"log_y": True}).to_dict()
    assert "k = 2: FCN no law, CNN no law" in chart["title"]["subtitle"]


def steps(**learners):
    points = {
        label: tuple(Point(n, mean_interval(values), tuple(values), (0, 1)) for n, values in found.items())
        for label, found in learners.items()
    }
    return Curve("n", "steps_to_target", points)


@pytest.mark.parametrize(
    ("fcn", "outcome"),
    [
        ((500.0, 400.0), "supported"),
        ((math.inf, math.inf), "supported"),
        ((40.0, math.inf), "inconclusive"),
        ((40.0, 60.0), "refuted"),
    ],
)
def test_failing_is_ten_times_the_slowest_cnn(monkeypatch, fcn, outcome):
    curve = steps(CNN={4: (1.0, 2.0), 8: (9.0, 20.0)}, FCN={4: (5.0, 5.0), 8: fcn})
    monkeypatch.setattr(separation_claims, "along_log_n", lambda results: curve)
    assert separation_claims._fcn_fails({}).outcome == outcome


@pytest.mark.parametrize(("factor", "outcome"), [(1.2, "supported"), (5.0, "refuted"), (0.1, "refuted")])
def test_a_plateau_is_as_predicted_within_a_factor(monkeypatch, factor, outcome):
    monkeypatch.setattr(separation_claims, "expected_plateaus", lambda net: {8: 10.0})
    monkeypatch.setattr(
        separation_claims, "measured_plateaus", lambda results, net: {8: (10.0 * factor, 11.0 * factor)}
    )
    assert separation_claims._plateau_as_predicted({}).outcome == outcome


@pytest.mark.parametrize(
    ("last", "outcome"),
    [((3.0, 2.5, 3.5), "supported"), ((1.0, 0.5, 2.0), "inconclusive"), ((0.0, -1.0, 0.5), "refuted")],
)
def test_exponents_grow_where_the_intervals_are_apart(monkeypatch, last, outcome):
    rates = {2: Interval(1.0, 0.8, 1.2), 4: Interval(*last)}
    law = type("Law", (), {})
    monkeypatch.setattr(separation_claims, "plateaus", lambda results: {2: 2, 4: 4})

    def fitted(k, learner):
        found = law()
        found.rate = rates[k]
        return found

    monkeypatch.setattr(separation_claims, "law", fitted)
    assert separation_claims._plateau_exponent_grows({}).outcome == outcome


def test_the_gradient_is_superpolynomially_small_for_fcn_alone():
    verdict = separation_claims._gradient_is_tiny({})
    assert verdict.outcome == "supported"
    assert verdict.evidence["local exponents, FCN"][-1] > 10
    assert verdict.evidence["local exponents, CNN"][-1] < 2
    assert separation_claims._exponents({2**k: 7.0 * 8.0**-k for k in range(2, 6)}) == pytest.approx([3, 3])


def test_a_search_counts_the_orders_between_successes(monkeypatch):
    tried = (math.inf, 12.0, math.inf, math.inf, 9.0, 14.0, math.inf)
    curve = Curve("n", "steps_to_target", {"CNN": (Point(6.0, mean_interval([1.0]), tried, tuple(range(7))),)})
    result = type("Result", (), {"curve": lambda self, x, y: curve})()
    assert order.search_costs(result) == {6: [2, 3, 1]}
    assert order._counts(result) == {6: (3, 7)}


def test_a_search_succeeds_in_the_orders_that_serve(tmp_path):
    """Every try against what its seed drew: a CNN learns if and only if the bits fit into a window."""
    study = replace(order._search("quick", 2, (5,)), seeds=tuple(range(16)))
    (condition,) = study.conditions()
    result = study.run(tmp_path, workers=0)
    (point,) = result.curve("n", "steps_to_target").of("CNN")
    served = [order._fits(condition.cell.task, seed) for seed in point.seeds]
    assert [math.isfinite(steps) for steps in point.values] == served
    assert 0 < sum(served) < 16
    tries = [order._fits(KPattern(5, 2, shuffled=True), seed) for seed in range(300)]
    assert np.mean(tries) == pytest.approx(order.orders_served(5, 2), abs=0.09)


def test_orders_that_serve_by_counting():
    for n, k in ((5, 2), (7, 3), (4, 4)):
        chosen = list(itertools.combinations(range(n), k))
        assert sum(c[-1] - c[0] == k - 1 for c in chosen) / len(chosen) == order.orders_served(n, k)
