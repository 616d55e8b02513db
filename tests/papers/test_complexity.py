"""Section 4, Example 4.1, Lemma A.2 and Fact A.3 against independent sums."""

import math

import mpmath
import numpy as np
import pytest

from separatrix.papers.residual.complexity import complexity_of, truncation_degree
from separatrix.papers.residual.concept import GeneralFunction
from separatrix.papers.residual.theorems import complexity, fact_a_3, lemma_a_2
from separatrix.theory.series import series


def direct(coefficients, C_star, epsilon):
    """The two sums as printed, in mpmath, by a plain loop."""
    L = mpmath.log(1 / mpmath.mpf(epsilon))
    C_s, C_epsilon = mpmath.mpf(0), mpmath.mpf(0)
    for i, c in enumerate(coefficients):
        size = abs(mpmath.mpf(c))
        C_s += C_star * (i + 1) * size
        second = 1 if i == 0 else (mpmath.sqrt(L / i) * C_star) ** i
        C_epsilon += (mpmath.mpf(C_star) ** i + second) * size
    return float(C_s), float(C_epsilon)


CASES = {
    "sin": [math.sin(i * math.pi / 2) / math.factorial(i) for i in range(60)],
    "exp": [1 / math.factorial(i) for i in range(60)],
    "power:3": [0, 0, 0, 1],
    "series:1/2,0,-3": [0.5, 0, -3],
}


@pytest.mark.parametrize("phi", CASES)
@pytest.mark.parametrize(("C_star", "epsilon"), [(1, 0.1), (2.5, 1e-6), (0.3, 0.9)])
def test_against_a_plain_sum(phi, C_star, epsilon):
    found = complexity_of(series(phi), C_star, epsilon).floats()
    assert (found["C_s"], found["C_epsilon"]) == pytest.approx(direct(CASES[phi], C_star, epsilon), rel=1e-12)


def test_closed_forms():
    assert complexity(phi="sin", C_star=3).measured["C_s"] == pytest.approx(3 * math.e, rel=1e-14)
    assert complexity(phi="exp").measured["C_s"] == pytest.approx(2 * math.e, rel=1e-14)
    assert complexity(phi="tanh").measured["C_s"] == pytest.approx(math.tan(1) + 1 / math.cos(1) ** 2, rel=1e-14)
    assert complexity(phi="power:3", C_star="1/2").measured["C_s"] == 2.0
    assert complexity(phi="cos", epsilon=1).measured["C_epsilon"] == pytest.approx(1 + math.cosh(1), rel=1e-12)


@pytest.mark.parametrize(("phi", "C_star", "epsilon"), [("sin", 1.0, 0.999), ("exp", 2.0, 0.9), ("tanh", 0.3, 0.01)])
def test_growth_is_that_of_small_epsilon(phi, C_star, epsilon):
    """Near eps = 1, or where C_eps tends to a constant, a slope says nothing about the growth in 1/eps."""
    assert complexity(phi=phi, C_star=C_star, epsilon=epsilon).status == "holds"


@pytest.mark.parametrize("C_star", [1.0, 1.57, 1.58, 10.0])
def test_tanh_is_infinite_from_its_radius_on(C_star):
    printed = complexity(phi="tanh", C_star=C_star, version="printed")
    infinite = C_star >= math.pi / 2
    assert math.isinf(printed.measured["C_epsilon"]) == infinite
    assert printed.status == "violated"
    assert [check.holds for check in printed.checks if "finite" in check.name] == [not infinite]
    corrected = complexity(phi="tanh", C_star=C_star)
    assert corrected.status == "holds"
    D = corrected.measured["truncation_degree"]
    assert sum(abs(float(c)) for c in series("tanh").coefficients(200)[D + 1 :]) <= 0.1
    assert math.isfinite(corrected.measured["C_epsilon_truncated"])


def test_truncation_is_the_least():
    for epsilon in (0.1, 1e-5):
        D = truncation_degree(series("sigmoid"), epsilon)
        tail = [abs(float(c)) for c in series("sigmoid").coefficients(120)]
        assert sum(tail[D + 1 :]) <= epsilon < sum(tail[D:]) or D == 0


def test_a_degree_cuts_the_series():
    found = complexity(phi="tanh", C_star=5, degree=3)
    assert found.measured["C_s"] == pytest.approx(5 * (2 + 4 / 3))
    assert found.status == "holds"


@pytest.mark.parametrize("phi", ["exp", "cos", "sigmoid", "power:4", "series:1,-2,3,-4,5"])
def test_lemma_a_2(phi):
    assert lemma_a_2(phi=phi, d=4, k=2, p=3, seed=5).status == "holds"


def test_lemma_a_2_needs_a_large_constant():
    small = lemma_a_2(phi="power:2", C_star=1)
    assert small.status == "outside"
    assert small.measured["C_epsilon_phi_minus"] > small.measured["C_epsilon_phi"]


def test_jacobian_of_a_general_function():
    generator = np.random.default_rng(3)
    F = GeneralFunction.random(series("tanh"), 3, 2, 4, generator)
    x, step = generator.normal(size=(5, 3)), 1e-6
    numeric = np.stack([(F(x + step * e) - F(x - step * e)) / (2 * step) for e in np.eye(3)], axis=2)
    assert np.abs(numeric - F.jacobians(x)).max() < 1e-8


@pytest.mark.parametrize("phi", ["sin", "tanh", "power:0", "power:3", "exp"])
def test_fact_a_3_both_versions(phi):
    assert fact_a_3(phi=phi, d=2, k=3, p=2, seed=8).status == "holds"
    printed = fact_a_3(phi=phi, version="printed")
    assert printed.status == "violated"
    assert printed.measured["value_at_0_of_phi_z"] == 1
