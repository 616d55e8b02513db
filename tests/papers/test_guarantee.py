"""Theorem 1: table 1, the class's complexities by enumeration, and Algorithm 1 against the formula of Fact C.4."""

import itertools
import math

import numpy as np
import pytest

import separatrix as sx
from separatrix.learners import Algorithm1, Trained
from separatrix.papers.residual.descent import SectionSix, trainings
from separatrix.papers.residual.guarantee import Choices, Concept
from separatrix.papers.residual.network import ResNet
from separatrix.papers.residual.theorems import theorem_1
from separatrix.tasks import HardInstance
from separatrix.training import Cell, Procedure
from separatrix.training.trajectory import follow


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_product_is_a_sum_of_powers_of_unit_directions(k):
    y = np.random.default_rng(0).normal(size=k)
    signs = np.array(list(itertools.product((1, -1), repeat=k)))
    v = signs / math.sqrt(2 * k)
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), 1 / math.sqrt(2))
    coefficient = (2 * k) ** (k / 2) / (math.factorial(k) * 2**k)
    assert coefficient * np.sum(signs.prod(axis=1) * (v @ y) ** k) == pytest.approx(y.prod())
    concept = Concept.hard_class(7, k, C_star=3.0)
    assert concept.p_G == len(signs)
    assert pytest.approx(3 * (k + 1) * coefficient) == concept.C_G
    assert pytest.approx(3 * 2 * math.sqrt(14)) == concept.C_F


@pytest.mark.parametrize("d", [3, 8, 20])
def test_the_smallest_m_leaves_room_for_tau_w(d):
    concept = Concept.hard_class(d, 2)
    exact = Choices(concept, 0.1, 1).log10_smallest_m

    def room(m):
        made = Choices(concept, 0.1, m)
        ranges = [made.tau_w_range(sigma) for sigma in np.geomspace(*made.sigma_w_range, 4001)]
        return any(low <= made.tau_w <= high for low, high in ranges)

    assert room(int(10 ** (exact + 0.02)))
    assert not room(int(10 ** (exact - 0.02)))


def test_the_rates_are_the_theorems():
    concept = Concept(k=3, p_F=2, C_F=1.5, p_G=4, C_G=0.5, B_F=2.0)
    made = Choices(concept, alpha=0.1, m=1000, OPT=0.25)
    assert (made.tau_w, made.tau_v, made.largest_alpha) == pytest.approx((9, 0.6, 1 / 6))
    assert made.least_delta == pytest.approx(0.25 + 0.1**4 * 6**4 * 9)
    assert (made.eta_w(0.5), made.eta_w(3.0), made.T(0.5), made.T(3.0)) == (0.5, 1.0, 4 * 81, 81)
    assert made.eta_v(0.5) == pytest.approx(0.5 * (0.1 * 4 * 0.5 / (2 * 1.5)) ** 2)


def test_algorithm_1_takes_the_steps_of_fact_c_4():
    task, learner = HardInstance(5, 2, 0.4), SectionSix(30, 0.4, 1.3)
    procedure = Procedure(max_steps=6, precision="float64")
    path = follow(Cell(task, Trained(learner, Algorithm1(0.05, 0.02), "squared", "hidden"), 6, 3, procedure), 6)
    start = path.network(0).network
    W0, V0 = (
        np.column_stack([np.asarray(matrix), np.asarray(bias)])
        for matrix, bias in ((start.W, start.b1), (start.V, start.b2))
    )
    net = ResNet(np.asarray(start.A), W0, V0, np.zeros_like(W0), np.zeros_like(V0))
    for x, y in zip(np.asarray(path.sample.x), np.asarray(path.sample.y), strict=True):
        dW, dV = net.gradients(x, y)
        net = net.moved(net.W - 0.05 * dW, net.V - 0.02 * dV)
    end = path.network(6).network
    np.testing.assert_allclose(np.asarray(end.W), (net.W0 + net.W)[:, :-1], atol=1e-12)
    np.testing.assert_allclose(np.asarray(end.b2), (net.V0 + net.V)[:, -1], atol=1e-12)
    np.testing.assert_array_equal(np.asarray(end.A), np.asarray(start.A))
    assert np.abs(net.V).max() > 1e-4
    large = SectionSix(4000, 0.4, 1.3).build(sx.tasks.stream(0, "initialise"), (5,), (2,))
    deviations = [float(np.std(array)) for array in (large.W, large.b1, large.V, large.b2, large.A)]
    assert deviations == pytest.approx([0.4, 0.4, 1.3 / 4000**0.5, 1.3 / 4000**0.5, 4000**-0.5], rel=0.05)


def test_the_risks_are_those_of_the_cube():
    (found,) = trainings(4, 2, [0.4], SectionSix(20), [(1e-20, 1e-20)], [50], 2, 0)
    assert found.T == 50
    np.testing.assert_allclose(found.average, found.final, rtol=1e-5)
    for seed, risk in enumerate(found.final):
        task = HardInstance(4, 2, 0.4)
        x, y = task.draw(seed, 4000)
        network = SectionSix(20).build(sx.tasks.stream(seed, "initialise"), (4,), (2,))
        assert np.mean(np.sum((np.asarray(network(x)) - y) ** 2, axis=1)) == pytest.approx(risk, rel=0.1)


def test_theorem_1():
    found = theorem_1(d=5, m=60, steps=500, runs=3)
    assert found.status == "vacuous"  # the bound is above the risk of zero
    assert found.bound["risk"] > found.measured["risk_of_zero"] > found.measured["average_risk"][-1]
    assert f"{found.measured['first_layer_alone']['exponent'].mean:.3g}" in found.notes[0]
    assert False not in [check.holds for check in found.checks]
    assert found.measured["exponent"].mean == pytest.approx(4, abs=0.4)
    assert found.measured["exponent"].mean > found.measured["first_layer_alone"]["exponent"].mean
    assert found.measured["learned"] < 0.2
    assert theorem_1(d=4, m=50, steps=50, runs=2, a=0.6).status == "outside"
    with pytest.raises(sx.InputError, match="k must be at most d = 2, got 3"):
        theorem_1(d=2, k=3)
