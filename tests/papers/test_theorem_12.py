"""Theorem 12 against enumeration of the hypercube, three ways to the same numbers, and its edges."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers import theorem
from separatrix.papers.convolution.initial_gradient import dual_moments, series_moments
from separatrix.papers.convolution.theorems import theorem_12
from separatrix.theory.activations import ACTIVATIONS, activation
from separatrix.theory.population import Network, hinge_gradients, parity
from separatrix.theory.walsh import points

PIECEWISE = ["relu", "relu6", "clipped_relu", "hard_tanh"]
BIASES = [Fraction(0), Fraction(1, 2), Fraction(-1), Fraction(4, 3)]


def enumerated(n: int, k: int, b: Fraction, name: str, w: np.ndarray) -> tuple[Fraction, Fraction]:
    """Squared gradients in w and u for u = 1 and the linear loss, in integers: sums times 3 * 2^n."""
    sigma, cube = activation(name), points(0, 1 << n, n).astype(np.int64)
    sums = cube @ w
    reached = sorted(set(sums.tolist()))
    inputs = [b + total for total in reached]
    where = np.searchsorted(reached, sums)
    chi = cube[:, :k].prod(axis=1)
    values = np.array([int(6 * v) for v in sigma.exact_values(inputs, 0)])[where]
    slopes = np.array([int(v) for v in sigma.exact_derivatives(inputs, 0)])[where]
    gradient_w = [Fraction(int(total), 1 << n) for total in (chi * slopes) @ cube]
    gradient_u = Fraction(int(chi @ values), 6 << n)
    return sum((g * g for g in gradient_w), Fraction(0)), gradient_u**2


@pytest.mark.parametrize("b", BIASES, ids=str)
@pytest.mark.parametrize("name", PIECEWISE)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_exact_values_are_those_of_enumeration(n: int, name: str, b: Fraction) -> None:
    generator = np.random.default_rng(n)
    for k in range(1, n + 1):
        measured = theorem_12(n=n, k=k, b=b, activation=name).measured
        for w in (np.ones(n, dtype=np.int64), generator.choice([-1, 1], n)):
            expected = enumerated(n, k, b, name, w)
            assert (measured["gradient_w_sq"], measured["gradient_u_sq"]) == expected


def test_every_sign_vector_has_the_same_square() -> None:
    found = {enumerated(5, 3, Fraction(4, 3), "relu6", np.array(w)) for w in itertools.product([-1, 1], repeat=5)}
    assert len(found) == 1
    assert found.pop()[0] > 0


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_agrees_with_the_population_gradient(name: str) -> None:
    n, k, b = 7, 3, Fraction(1, 3)
    w = np.random.default_rng(3).choice([-1.0, 1.0], (1, n))
    network = Network(w, np.array([float(b)]), np.array([1e-3]), activation(name))
    gradients = hinge_gradients(network, parity(list(range(k))))
    measured = theorem_12(n=n, k=k, b=b, activation=name).measured
    assert float(measured["gradient_w_sq"]) == pytest.approx(np.sum((gradients.w / 1e-3) ** 2), rel=1e-10)
    assert float(measured["gradient_u_sq"]) == pytest.approx(gradients.u[0] ** 2, rel=1e-10)


@pytest.mark.parametrize("weights", ["sign", "gaussian"])
@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_never_violated_as_stated(name: str, weights: str) -> None:
    for n in (1, 2, 3, 6, 9):
        for k in range(1, n + 1):
            for b in BIASES[:2]:
                finding = theorem_12(n=n, k=k, b=b, activation=name, weights=weights, samples=4)
                assert finding.status in ("holds", "vacuous", "outside"), (n, k, b)
                assert finding.bound["gradient_w_sq_tight"] <= finding.bound["gradient_w_sq"]


@pytest.mark.parametrize("name", ["relu", "erf"])
@pytest.mark.parametrize(("k", "variance"), [(2, "1"), (3, "1/n"), (6, "1"), (7, "1")])
def test_closed_form_and_estimate_agree_for_gaussian_weights(name: str, k: int, variance: str) -> None:
    case = {"n": 7, "k": k, "b": 0, "activation": name, "weights": "gaussian", "variance": variance}
    closed = theorem_12(**case).measured
    sampled = theorem_12(**case, method="estimate", samples=3000, seed=5).measured
    for part in ("gradient_w_sq", "gradient_u_sq"):
        interval = sampled[f"{part}_interval"]
        width = interval.high - interval.low
        assert abs(closed[part] - interval.mean) <= width + 1e-30  # about four standard errors


@pytest.mark.parametrize("name", PIECEWISE)
@pytest.mark.parametrize(("k", "b", "variance"), [(1, "3/10", "1"), (3, "6/5", "1/n"), (4, "-1/2", "1")])
def test_series_and_estimate_agree_with_a_bias(name: str, k: int, b: str, variance: str) -> None:
    case = {"n": 8, "k": k, "b": b, "activation": name, "weights": "gaussian", "variance": variance}
    closed = theorem("convolution/theorem-12")(**case).measured
    sampled = theorem("convolution/theorem-12")(**case, method="estimate", samples=1500, seed=6).measured
    for part in ("gradient_w_sq", "gradient_u_sq"):
        interval = sampled[f"{part}_interval"]
        assert abs(closed[part] - interval.mean) <= interval.high - interval.low + 1e-30


@pytest.mark.parametrize(("n", "k"), [(5, 3), (12, 4), (12, 12), (60, 30), (128, 6), (300, 11)])
def test_series_and_dual_agree(n: int, k: int) -> None:
    relu = activation("relu")
    series = series_moments(n, k, Fraction(0), Fraction(1, n), relu)
    dual = dual_moments(n, k, Fraction(1, n), relu)
    for part in ("inside", "outside", "readout"):
        expected = float(getattr(dual, part))
        assert float(getattr(series, part)) == pytest.approx(expected, rel=1e-11, abs=1e-300)


def test_relu_with_gaussian_weights_by_hand() -> None:
    """n = k = 1: |w| > 0 on one of the two points, so both parts are known."""
    measured = theorem_12(n=1, k=1, b=0, activation="relu", weights="gaussian", variance="1").measured
    assert measured["gradient_w_sq"] == pytest.approx(1 / 4)
    assert measured["gradient_u_sq"] == pytest.approx(1 / 4)


@pytest.mark.parametrize("name", ["clipped_relu", "tanh"])
@pytest.mark.parametrize(("n", "k"), [(4000, 11), (20_000, 13)])
def test_large_n_is_below_both_bounds(n: int, k: int, name: str) -> None:
    certificate = theorem("convolution/theorem-12").certify(n=str(n), k=str(k), activation=name)
    printed = json.loads(json.dumps(certificate.to_json()))
    assert certificate.status == "holds"
    assert 0 < printed["measured"]["gradient_w_sq"] < printed["bound"]["gradient_w_sq_tight"]
    assert printed["bound"]["gradient_w_sq_exact"] == f"{n}/{math.comb(n - 1, k)}"


def test_exact_zero_is_zero_in_rounded_arithmetic_too() -> None:
    """tanh is odd: at b = 0 its even coefficients vanish, and those of tanh' at odd sets."""
    measured = theorem_12(n=60, k=8, b=0, activation="tanh").measured
    assert measured == {"gradient_w_sq": 0.0, "gradient_u_sq": 0.0}


def test_width_multiplies_both_sides() -> None:
    one, ten = theorem_12(n=9, k=3), theorem_12(n=9, k=3, q=10)
    for name in ("gradient_w_sq", "gradient_u_sq"):
        assert ten.measured[name] == 10 * one.measured[name]
        assert ten.bound[name] == 10 * one.bound[name]


def test_assumptions_that_fail_put_it_outside() -> None:
    steep = theorem_12(n=10, k=3, b=0, activation="erf")  # slope 1.128 at 0
    assert steep.status == "outside"
    assert [a.name for a in steep.assumptions if not a.holds] == ["|sigma'| <= 1"]
    low = theorem_12(n=10, k=3, activation="relu6", c=2)
    assert [a.name for a in low.assumptions if not a.holds] == ["|sigma| <= c"]
    unbounded = theorem_12(n=10, k=3, b=0, activation="relu", weights="gaussian")
    assert unbounded.status == "outside"


def test_the_proofs_bound_on_each_coordinate_is_false() -> None:
    case = {"n": 101, "k": 2, "activation": "relu"}
    assert theorem_12(**case).status == "holds"
    printed = theorem_12(**case, version="printed")
    assert printed.status == "violated"
    failing = [check.name for check in printed.checks if not check.holds]
    assert failing == ["each coordinate, as the proof has it", "the same at n = 6, k = 1, relu, b = 1/2"]
    # by hand, for one sign vector: at k = 1 the pattern's coordinate of the gradient is -P(<w, x> + 1/2 > 0)
    w = np.array([1, -1, -1, 1, 1, 1])
    share = Fraction(int(np.sum(points(0, 64, 6).astype(int) @ w >= 0)), 64)
    default = theorem_12(version="printed")
    assert default.status == "violated"
    assert default.measured["counterexample_coordinate_sq"] == share**2 == Fraction(42, 64) ** 2 > Fraction(1, 5)


@pytest.mark.parametrize(("n", "k", "empty"), [(12, 12, True), (12, 1, True), (12, 6, False), (1, 1, True)])
def test_vacuous_where_parseval_alone_says_as_much(n: int, k: int, empty: bool) -> None:
    assert (theorem_12(n=n, k=k).status == "vacuous") is empty


def test_the_kink_that_is_met_is_named() -> None:
    assert not any("kink" in note for note in theorem_12(n=9, k=3).notes)
    assert any("kink at 1" in note for note in theorem_12(n=9, k=3, b=0).notes)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"n": 4, "k": 5}, "k must be an integer of at most n = 4, got 5"),
        ({"n": 0}, "n must be an integer of at least 1"),
        ({"weights": "gaussian", "activation": "tanh"}, "n must be at most 20"),
        ({"weights": "gaussian", "activation": "erf", "method": "closed-form"}, "method closed-form needs"),
        ({"weights": "gaussian", "n": 4000, "k": 2000}, "k must be smaller or closer to n"),
        ({"method": "estimate"}, "sign weights"),
        ({"activation": "gelu"}, "unknown activation 'gelu'"),
    ],
)
def test_bad_input_is_named(case: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        theorem_12(**case)
