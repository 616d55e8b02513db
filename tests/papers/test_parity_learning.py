"""Theorems 2 and 11, Lemmas 12 to 14: the engine's runs against plain NumPy, the search against brute force."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import InputError
from separatrix.papers import theorem
from separatrix.papers.parity import drift, learning
from separatrix.papers.parity.bounds import Bound
from separatrix.papers.parity.descent import Places, Setting, descend, least_norm_separator
from separatrix.papers.parity.theorems import lemma_12, lemma_13, lemma_14, theorem_2, theorem_11

CASE = {"n": 5, "k": 3, "q": 8, "T": 20, "eta": 0.2, "lambda_": 0.1, "A": (1, 3, 4), "seed": 3}
SETTING = Setting(5, 3, 8, 20, 0.2, 0.1, (1, 3, 4), "corrected", 3)


@pytest.fixture(scope="module")
def run():
    return descend(SETTING)


def cube(n, places):
    z = np.array(list(itertools.product([1, -1], repeat=n)))
    on = z[:, places]
    aligned = np.abs(on.sum(axis=1)) == len(places)
    return z / math.sqrt(n), on.prod(axis=1), 0.5 / 2**n + 0.5 * aligned / 2 ** (n - len(places) + 1)


def plain(s, w, b, u):
    """Section 2 written out: one step with eta = 1, lambda = 1/2, then small ones; b is not regularised."""
    x, f, p = cube(s.n, [place - 1 for place in s.A])
    kept = [(w, b, u)]
    for t in range(s.T):
        eta, decay = (1.0, 0.5) if t == 0 else (s.eta, s.lambda_)
        z = x @ w.T + b
        hidden = np.clip(z, 0, 6)
        pull = -p * f * (f * (hidden @ u) < 1)
        slope = pull[:, None] * ((z > 0) & (z < 6)) * u
        w, b, u = (
            w - eta * (slope.T @ x + 2 * decay * w),
            b - eta * slope.sum(axis=0),
            u - eta * (pull @ hidden + 2 * decay * u),
        )
        kept.append((w, b, u))
    return kept


def test_the_run_is_plain_gradient_descent(run):
    x, f, p = cube(5, [0, 2, 3])
    kept = plain(SETTING, run.W[0], run.b[0], run.u[0])
    for t, (w, b, u) in enumerate(kept):
        np.testing.assert_allclose(run.W[t], w, atol=1e-12)
        np.testing.assert_allclose(run.b[t], b, atol=1e-12)
        np.testing.assert_allclose(run.u[t], u, atol=1e-12)
        g = np.clip(x @ w.T + b, 0, 6) @ u
        assert run.losses[t] == pytest.approx(p @ np.maximum(0, 1 - f * g))
        assert run.errors[t] == pytest.approx(p @ ((g > 0) != (f > 0)))
    np.testing.assert_allclose(run.gradients[:-1], -np.diff(run.u[1:], axis=0) / 0.2, atol=1e-12)
    assert np.abs(run.outputs(0, run.u[0])).max() < 1e-12


@pytest.mark.parametrize(("n", "k"), [(5, 3), (6, 3), (6, 5)])
def test_lemma_12_is_the_largest_over_every_w(n, k):
    x, f, p = cube(n, list(range(k)))
    w = np.array(list(itertools.product([-1, 0, 1], repeat=n)))
    u = (p * f) @ np.clip(x @ w.T + 1 / (8 * k), 0, 6)
    found = lemma_12(n=n, k=k)
    assert found.status == "holds"
    assert found.measured["max_u1"] == pytest.approx(np.abs(u).max(), abs=1e-13)
    assert found.bound["max_u1"] == pytest.approx(k / math.sqrt(n))


def test_lemma_12_of_a_drawn_network(run):
    assert lemma_12(n=5, k=3, q=8, A="1,3,4", seed=3).measured["max_u1"] == pytest.approx(np.abs(run.u[1]).max())
    large = lemma_12(n=2501, k=5, q=16)
    assert large.status == "holds"
    assert large.measured["rms_u1"] < large.measured["max_u1"] < large.bound["max_u1_tight"]


def test_lemma_12_at_any_n():
    """Over all w up to n = 2000; above that a network is drawn, smaller for a larger n."""
    assert "q" not in lemma_12(n=61, k=3).measured
    found = lemma_12(n=20_001, k=7)
    assert (found.status, found.measured["q"]) == ("holds", 9)
    assert found.measured == lemma_12(n=20_001, k=7, q=9).measured
    assert lemma_12(n=2001, k=3).measured["q"] == 99
    assert any("q = 99" in note for note in lemma_12(n=2001, k=3).notes)


def test_lemma_12_printed():
    """The lone pair by enumeration of all of a small cube; at the default n it is too large, at this one not."""
    n, k = 13, 3
    x, f, p = cube(n, [0, 1, 2])
    w, u, b = np.array([0, 0, 0] + [1] * 10), n / k, 1 / 24
    z = x @ w + b
    g = u * np.clip(z, 0, 6) - u * np.clip(-z, 0, 6)
    expected = abs((p * f * (f * g < 1)) @ np.clip(z, 0, 6))
    found = lemma_12(n=n, k=k, version="printed")
    assert found.measured["max_u1"] == pytest.approx(expected)
    assert found.status == "holds"
    default = lemma_12(version="printed")
    assert default.status == "violated"
    # E relu(z) of 400 signs, z = r / sqrt 403 + 1/24: half of it
    assert default.measured["max_u1"] == pytest.approx((math.sqrt(400 / 403 / (2 * math.pi)) + 0.5 / 24) / 2, rel=0.01)
    network = lemma_12(n=5, k=3, q=8, version="printed", seed=1)
    assert network.method == "run"
    assert 0 < network.measured["without_gradient"] < 1


def test_lemma_13_measures_what_it_says(run):
    found = lemma_13(**CASE)
    assert found.status == "holds"
    t = np.arange(1, 21)
    w = np.linalg.norm(run.W[1:] - run.W[1], axis=2)
    limit = 6 * 0.04 * t**2 + 0.2 * t * 3 / math.sqrt(5) + 2 * 0.2 * t * 0.1 * 5 / 3
    assert found.measured["w_ratio"] == pytest.approx((w / limit[:, None]).max())
    assert found.bound["b"] == pytest.approx(6 * 0.04 * 400 + 0.2 * 20 * 3 / math.sqrt(5))
    assert found.measured["u_ratio"] == pytest.approx((np.abs(run.u[1:]).max(1) / (6 * 0.2 * t + 3 / 5**0.5)).max())


@pytest.mark.parametrize("lemma", [lemma_13, lemma_14], ids=lambda lemma: lemma.id)
def test_a_first_layer_that_runs_away_is_caught(lemma, run, monkeypatch):
    slow = replace(SETTING, eta=1e-3)
    wild = replace(run, setting=slow, W=run.W + (np.arange(21) > 5)[:, None, None])
    monkeypatch.setattr(drift, "descend", lambda setting: wild)
    assert lemma(**CASE | {"eta": 1e-3}).status == "violated"


def test_a_readout_that_runs_away_is_caught(run, monkeypatch):
    wild = replace(run, u=run.u * np.where(np.arange(21) > 5, 1e6, 1)[:, None])
    monkeypatch.setattr(learning, "descend", lambda setting: wild)
    failing = [check.name for check in theorem_2(n=5, q=8, T=20, seeds=0).checks if not check.holds]
    assert "the sum: average of f_t(u^(t))" in failing


def test_lemma_14_looks_at_every_point(run):
    """The change of one readout's loss at one x, found by hand, is below the certificate's largest."""
    found = lemma_14(**CASE)
    assert found.status == "holds"
    u = run.u[-1]
    by_hand = np.abs(
        np.maximum(0, 1 - run.y * (run.features(20) @ u)) - np.maximum(0, 1 - run.y * (run.features(1) @ u))
    )
    assert found.measured["change"]["trained"] == pytest.approx(by_hand.max())
    assert 0 < found.measured["change_ratio"] < found.measured["through_drift"] <= 1


def test_theorem_11_measures_what_it_says(run):
    found = theorem_11(**CASE, sequences=3)
    assert found.status == "holds"
    assert found.bound["average_sharp"] < found.bound["average"]
    own = run.losses[1:] + 0.1 * (run.u[1:] ** 2).sum(axis=1)
    assert found.measured["average"] == pytest.approx(own.mean())
    sizes, start = np.linalg.norm(run.gradients, axis=1), np.linalg.norm(run.u[1])
    star = np.zeros(16) if run.separator is None else run.separator
    right = run.regularised(star).mean() + star @ star / (2 * 0.2 * 20) + start * sizes.mean() + 0.2 * (sizes**2).mean()
    assert found.bound["average"] == pytest.approx(right)


def test_least_norm_separator_is_optimal():
    """By weak duality: u = rows^T a with a >= 0 has ||u||^2 = sum a."""
    from scipy.optimize import minimize

    generator = np.random.default_rng(1)
    rows = generator.normal(size=(12, 5)) + 1.0
    u = least_norm_separator(rows)
    assert (rows @ u).min() == pytest.approx(1)
    constraint = {"type": "ineq", "fun": lambda v: rows @ v - 1, "jac": lambda v: rows}
    other = minimize(lambda v: v @ v, np.ones(5), jac=lambda v: 2 * v, constraints=constraint)
    assert u @ u == pytest.approx(other.fun, rel=1e-5)


def test_the_separator_separates_the_cube(run):
    u = run.separator
    if u is not None:
        assert (run.y * (run.features(1) @ u)).min() >= 1 - 1e-9
    wide = descend(Setting.of(6, 3, 32, 2, None, None, None, "corrected", 0))
    assert (wide.y * (wide.features(1) @ wide.separator)).min() >= 1 - 1e-9


def terms(k, q, n, T):
    return k**10 / q, k**8 / math.sqrt(q), q * k / math.sqrt(n), k**2 * math.sqrt(q) / T


def test_terms_and_total():
    found = theorem_2(n=10**9, k=7, q=1000, T=77, method="closed-form")
    assert [found.bound[f"term_{i}"] for i in (1, 2, 3, 4)] == pytest.approx(terms(7, 1000, 10**9, 77), rel=1e-14)
    assert found.bound["total"] == pytest.approx(sum(terms(7, 1000, 10**9, 77)), rel=1e-14)


def test_the_search_against_brute_force():
    bound = Bound.unit(3)
    epsilon = 3000
    q, n, T = bound.smallest(Fraction(epsilon))
    rest = [epsilon - sum(terms(3, width, 1, 1)[:2]) for width in range(1, 1000)]
    assert q == next(width for width, left in enumerate(rest, 1) if left > 0)
    assert n == next(size for size in itertools.count(1) if sum(terms(3, q, size, 1)[:3]) < epsilon)
    assert next(steps for steps in itertools.count(1) if sum(terms(3, q, n, steps)) <= epsilon) == T


@given(
    st.tuples(*[st.integers(1, 10**6)] * 4), st.fractions(Fraction(1, 10**9), 10**3).filter(bool), st.integers(1, 10**9)
)
def test_the_search_is_exact(coefficients, epsilon, extra):
    import mpmath

    bound = Bound(*coefficients)
    q, n, T = bound.smallest(epsilon)
    assert q == 1 or not bound.reachable(q - 1, epsilon)
    assert n == 1 or not bound.below(q, n - 1, None, epsilon)
    assert T == 1 or not bound.below(q, n, T - 1, epsilon)
    assert bound.below(q, n, T + extra, epsilon)
    with mpmath.workprec(2000):
        a, b, c, d = map(mpmath.mpf, coefficients)
        root_q, root_n = mpmath.sqrt(mpmath.mpf(q)), mpmath.sqrt(mpmath.mpf(n))
        total = a / q + b / root_q + c * q / root_n + d * root_q / T
        assert total <= mpmath.mpf(epsilon.numerator) / epsilon.denominator * (1 + mpmath.mpf(2) ** -1900)
    width, size, steps = bound.balanced(epsilon)
    assert bound.below(width, size, steps, epsilon)


def test_the_proofs_constants():
    """The sum of the mended proof's parts in floats, at sizes where the lemmas' premises hold."""
    k, q, n, T = 7, 10**14, 10**36, 10**12
    p = 1 / (1120 * k**3.5)
    size = p * q / 2
    eta, decay = k**2 / (T * math.sqrt(q)), k / n
    norm_sq = sum((2 * 2 * abs(r) * 8 * k) ** 2 / size for r in range(-k, k + 1, 2))
    support = (k + 1) * size
    drifted = 6 * eta**2 * T**2 + eta * T * k / math.sqrt(n) + eta * T * decay * n / k
    G = math.sqrt(2 * q) * (3 + 2 * decay * (3 * eta * T + k / math.sqrt(n)))
    total = decay * norm_sq + 2 * math.sqrt(norm_sq * support) * drifted + norm_sq / (2 * eta * T)
    total += math.sqrt(2 * q) * k / math.sqrt(n) * G + eta * G**2
    proved = Bound.proved(k).total(q, n, T)
    assert total <= proved <= 2 * total


def test_theorem_2_on_a_run(run):
    found = theorem_2(n=5, q=8, T=20, seeds=2)
    measured = found.measured
    assert found.method == "run"
    assert found.status == "vacuous"
    assert len(found.checks) > 5
    assert False not in [check.holds for check in found.checks]
    assert measured["error"] <= measured["final_error"]
    assert measured["least_loss"] <= measured["average_loss"]
    assert set(measured["least_loss_by_q"]) == {"2", "4", "8"}
    own = descend(Setting.of(5, 3, 8, 20, None, None, None, "corrected", 0))
    assert measured["error"] == own.errors[1:].min()


def test_theorem_2_printed():
    found = theorem_2(version="printed", n=8, q=4, T=3, seeds=0)
    assert found.status == "violated"
    failing = [check for check in found.checks if not check.holds]
    assert [check.name for check in failing] == ["max |g^(0)|", "g^(0) of a pair with w = 0 and u = n/k"]
    assert theorem_2(version="printed", epsilon="1/2").status == "violated"
    assert theorem_2(version="printed", k=3, method="closed-form").status == "outside"


def test_large_sizes_are_evaluated_not_run():
    found = theorem("parity/theorem-2").certify(k=999, epsilon="1/10000000000")
    json.dumps(found.to_json())
    assert found.finding.method == "closed form"
    assert (found.status, found.ok, found.finding.slack) == ("undecided", True, None)
    assert "too large" in found.finding.unchecked
    assert theorem_2(k=7, epsilon=10**9).status == theorem_2(q=10**400).status == "vacuous"
    assert theorem_2(k=3, epsilon="9/10").status == "outside"  # q is below Lemma 10's
    assert theorem_2(k=7, n=10**4, q=10**4, T=10**4).status == "vacuous"
    assert theorem_2(lambda_=0.5, method="closed-form").status == "outside"


@pytest.mark.parametrize(
    ("result", "case", "words"),
    [
        (theorem_2, {"k": 4}, "k must be odd, got 4"),
        (theorem_2, {"k": 5, "n": 4}, "k must be at most n = 4, got 5"),
        (theorem_2, {"epsilon": 0}, "epsilon must be"),
        (lemma_12, {"n": 3, "k": 5}, "k must be odd and at most n = 3, got 5"),
        (lemma_12, {"A": "1,2,3"}, "q must be given with A"),
        (lemma_12, {"n": 30, "k": 3, "q": 4, "version": "printed"}, "n must be of at most 16"),
        (lemma_13, {"A": "1,2"}, "A must be k = 3 different places"),
        (lemma_13, {"A": "1,1,2"}, "A must be different places"),
        (lemma_14, {"k": 4}, "k must be odd"),
        (theorem_11, {"n": 16, "q": 10**6}, "to be followed step by step"),
    ],
)
def test_bad_input_is_named(result, case, words):
    with pytest.raises(InputError, match=words):
        result(**case)


def test_places_are_read_from_text():
    assert Places().convert("(5, 2,8)") == (2, 5, 8)
    assert lemma_12.certify(n=5, k=3, q=8, A="4,1,3", seed=3).to_json()["params"]["A"] == [1, 3, 4]
