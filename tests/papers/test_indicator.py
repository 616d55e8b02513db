"""Lemma E.2 and Claims E.3, E.4: against Monte Carlo in many dimensions, mpmath and scipy."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import eval_hermitenorm

from separatrix.errors import InputError
from separatrix.papers.residual.half_space import hermite_values
from separatrix.papers.residual.indicator import Indicator, mean_absolute_hermite
from separatrix.papers.residual.theorems import claim_e_3, claim_e_4, lemma_e_2
from separatrix.theory.series import series


@pytest.mark.parametrize("i", [1, 3, 5, 9, 15])
def test_p_by_mpmath(i):
    def integrand(z):
        he = mpmath.hermite(i, z / mpmath.sqrt(2)) / mpmath.mpf(2) ** (mpmath.mpf(i) / 2)
        return he * mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)

    expected = float(mpmath.quad(integrand, [0, 2, 5, 9, 16]))
    found = claim_e_3(i=i)
    assert found.status == "holds"
    assert found.measured["p"] == pytest.approx(expected, rel=1e-10)
    assert abs(found.measured["p_sqrt_2pi"]) == math.prod(range(i - 2, 0, -2))


def test_the_printed_bound_fails_from_three_on():
    statuses = {i: claim_e_3(i=i, version="printed").status for i in (1, 3, 5, 31, 199)}
    assert statuses == {1: "holds", 3: "violated", 5: "violated", 31: "violated", 199: "violated"}
    with pytest.raises(InputError, match="i must be odd"):
        claim_e_3(i=4)


def test_hermite_values():
    z = np.linspace(-3, 4, 9)
    for i in range(8):
        assert hermite_values(i, z) == pytest.approx(eval_hermitenorm(i, z), rel=1e-12, abs=1e-12)


def test_the_indicator_in_ten_dimensions():
    """Property (b): E 1[<w, x> >= 0] h(<w, w*>) = phi(<w*, x>) for unit w*, x, by sampling."""
    generator = np.random.default_rng(0)
    h = Indicator.of(series("sin"), 0.01)
    x, star = (v / np.linalg.norm(v) for v in generator.normal(size=(2, 10)))
    w = generator.normal(size=(400_000, 10))
    values = (w @ x >= 0) * h(w @ star)
    error = values.std() / math.sqrt(len(w))
    assert abs(values.mean() - math.sin(float(star @ x))) < 4 * error + 0.01
    assert float(np.mean(h(w @ star) ** 2)) == pytest.approx(h.second_moment, rel=0.05)


@pytest.mark.parametrize("phi", ["sin", "exp", "power:1", "power:3", "series:1/2,1,0,-1/5"])
def test_lemma_e_2(phi):
    found = lemma_e_2(phi=phi, epsilon=1e-4, C_star=900, points=41)
    assert found.status == "holds"
    assert found.measured["largest_error"] <= 1e-4
    assert found.measured["largest_value_up_to_20"] <= found.measured["range"]


def test_the_constant_is_needed():
    small = lemma_e_2(C_star=2)
    assert small.status == "outside"
    assert small.measured["smallest_C_star_range"] > 100


def test_mean_of_absolute_hermites():
    z = np.random.default_rng(1).normal(size=400_000)
    for i in (1, 2, 3, 6):
        values = np.abs(eval_hermitenorm(i, z))
        assert mean_absolute_hermite(i) == pytest.approx(values.mean(), abs=5 * values.std() / math.sqrt(len(z)))


def test_claim_e_4():
    found = claim_e_4(phi="tanh")
    assert found.status == "holds"
    assert found.measured["c"] < found.measured["c_sup"] <= found.bound["c_sup"]
    assert claim_e_4(C_star=50).status == "outside"
