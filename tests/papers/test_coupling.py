"""Lemma C.1 and Claim C.5: the adversary by brute force, norms by autodiff's formula, exponents."""

import itertools

import numpy as np
import pytest

from separatrix.papers.residual.coupling import Flips
from separatrix.papers.residual.network import ResNet, with_bias
from separatrix.papers.residual.theorems import claim_c_5, lemma_c_1


def test_the_worst_sign_changes_by_brute_force():
    generator = np.random.default_rng(0)
    for budget in (0.2, 0.7, 1.5):
        A, g0 = generator.normal(size=(2, 9)), generator.normal(size=9)
        most = largest = 0.0
        for changed in itertools.product((False, True), repeat=9):
            changed = np.array(changed)
            if np.sum(g0[changed] ** 2) > budget**2:
                continue
            most = max(most, changed.sum())
            largest = max(largest, float(np.linalg.norm(A @ (np.where(changed, g0 < 0, g0 >= 0) * g0))))
        flips = Flips.of(A, g0, budget)
        assert flips.count == most
        assert flips.adversarial <= largest + 1e-12 <= flips.bound + 2e-12
        assert flips.adversarial >= 0.7 * largest


def test_the_ratio_of_claim_c_5_is_attained():
    generator = np.random.default_rng(1)
    net = ResNet.start(4, 3, 30, 0.5, 2.0, generator)
    x = generator.normal(size=4)
    to_W, to_V = net.sensitivities(x)
    for matrix, vector, which in ((to_W, with_bias(x), 0), (to_V, with_bias(net.out1(x)), 1)):
        worst = np.linalg.svd(matrix)[0][:, 0]
        gradient = net.gradients(x, net.out(x) + worst)[which]
        assert np.linalg.norm(gradient) == pytest.approx(np.linalg.norm(vector) * np.linalg.norm(matrix, 2))
        other = net.gradients(x, net.out(x) + np.array([0.6, 0, 0.8]))[which]
        assert np.linalg.norm(other) <= np.linalg.norm(gradient) + 1e-12


def test_lemma_c_1():
    found = lemma_c_1(m=4096, draws=4, d=5)
    assert found.status in ("holds", "undecided")
    assert found.measured["exponent_a"].low < 5 / 6 + 0.03
    assert abs(found.measured["exponent_a"].mean - 5 / 6) < 0.04
    assert abs(found.measured["exponent_d"].mean - 1) < 0.04
    assert lemma_c_1(m=1024, draws=3, tau_w=30).status == "outside"


def test_claim_c_5():
    found = claim_c_5(m=1024, draws=3, k=2)
    assert found.status in ("holds", "undecided")
    assert found.measured["largest_ratio_w"] < 3
