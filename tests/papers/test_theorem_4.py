"""Theorem 4, of CNN and LCN: the search against brute force, the chain on real runs, the printed version, bad input."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers import theorem
from separatrix.papers.convolution import guarantee
from separatrix.papers.convolution.bounds import Bound
from separatrix.papers.convolution.theorems import theorem_4, theorem_4_lcn

SMALL = {"q": 3000, "T": 250, "seed": 2}


def terms(n, k, c, q, T, shared=True):
    first = 2 * c * n ** (2 if shared else 1) * k**2 * 2**k / q
    return first, 2 * (2**k * k) ** 2 / math.sqrt(q * n), c**2 * n**1.5 * math.sqrt(q) / T


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("n", "k", "c", "epsilon"), [(1, 1, 1, 1), (3, 1, 6, 2), (5, 2, 1, 7), (4, 3, 2, 40)])
def test_the_search_against_brute_force(n, k, c, epsilon, shared):
    bound = Bound(n, k, Fraction(c), shared)
    q, T = bound.smallest(Fraction(epsilon))

    def rest(width):
        return epsilon - sum(terms(n, k, c, width, 1, shared)[:2])

    brute = next(width for width in range(1, 10**6) if rest(width) > 0)
    assert q == brute
    assert math.ceil(terms(n, k, c, q, 1, shared)[2] / rest(q) * (1 - 1e-9)) <= T
    assert math.ceil(terms(n, k, c, q, 1, shared)[2] / rest(q) * (1 + 1e-9)) >= T
    assert bound.below(q, T, Fraction(epsilon))
    assert not bound.below(q, T - 1, Fraction(epsilon))
    assert not bound.reachable(q - 1, Fraction(epsilon))


def test_the_search_is_exact_where_floats_are_not():
    """Total at the edge differs from epsilon by parts in 10^30: decided in fractions, checked with mpmath."""
    import mpmath

    n, k, epsilon = 10**6, 20, Fraction(1, 100)
    q, T = Bound(n, k, Fraction(1)).smallest(epsilon)

    def total(q, T):
        root = mpmath.sqrt(mpmath.mpf(q) * n)
        first, second = mpmath.mpf(2 * n**2 * k**2 * 2**k) / q, 2 * (2**k * k) ** 2 / root
        return first + second + (mpmath.mpf(n) * root / T if T else 0)

    with mpmath.workprec(600):
        limit = mpmath.mpf(1) / 100
        assert total(q, T) <= limit < total(q, T - 1)
        assert total(q, 0) < limit <= total(q - 1, 0)
    found = theorem_4(n=n, k=k, epsilon=epsilon)
    assert (found.bound["smallest_q"], found.bound["smallest_T"]) == (q, T)
    json.dumps(theorem("convolution/theorem-4").certify(n=10**9, k=400, epsilon="1/1000").to_json())


@pytest.mark.parametrize("c", [1, "3/2"])
def test_terms(c):
    found = theorem_4(n=7, k=3, q=5000, T=900, c=c, method="closed-form")
    expected = terms(7, 3, float(Fraction(c)), 5000, 900)
    assert [found.bound[f"term_{i}"] for i in (1, 2, 3)] == pytest.approx(expected, rel=1e-14)
    assert found.bound["total"] == pytest.approx(sum(expected), rel=1e-14)
    local = theorem_4_lcn(n=7, k=3, q=5000, T=900, c=c, method="closed-form")
    assert local.bound["term_1"] == pytest.approx(expected[0] / 7, rel=1e-14)
    assert (local.bound["term_2"], local.bound["term_3"]) == (found.bound["term_2"], found.bound["term_3"])


@pytest.mark.parametrize("result", [theorem_4, theorem_4_lcn], ids=lambda result: result.id)
def test_the_chain_holds_on_a_run(result):
    found = result(**SMALL)
    assert found.status == "vacuous"  # at this size the bound is above 1
    assert all(check.holds for check in found.checks)
    measured = found.measured
    assert measured["average_loss_from_0"] <= measured["regret_bound"] <= found.bound["total"]
    parts = ("average_loss_of_u_star", "norm_u_star_sq_over_2_eta_T", "eta_average_gradient_sq")
    assert measured["regret_bound"] == pytest.approx(sum(measured[name] for name in parts))
    shift = (1 - measured["final_loss"]) / 250
    assert measured["average_loss"] == pytest.approx(measured["average_loss_from_0"] - shift)


def test_where_the_bound_says_something_the_network_learns():
    found = theorem_4(seed=1)
    assert found.status == "holds"
    assert found.bound["total"] <= 0.5
    assert found.measured["average_loss"] < 0.1
    assert (found.measured["final_loss"], found.measured["final_error"]) == (0, 0)
    # the parity's own window alone moves: h = a t f(x), so the loss falls linearly from 1 to 0 and stays there
    eta, classes = found.bound["eta"], 4
    slope = eta * 89671 / (classes * classes * 4)  # eta |J_z| (1/k)^2 P(z), in the mean over z
    assert found.measured["average_loss"] == pytest.approx(1 / (2 * slope * found.measured["T"]), rel=0.02)


def test_printed_has_two_counterexamples():
    stuck = theorem_4(version="printed")
    assert stuck.status == "violated"
    assert stuck.measured["average_loss"] == 1 > stuck.bound["total"]
    step = theorem_4(version="printed", activation="clipped_relu", **SMALL)
    assert step.status == "violated"
    first, second, third = terms(3, 2, 1, 3000, 250)
    line = first * 250 + second / math.sqrt(250) + third * math.sqrt(250)
    assert step.measured["last_line"] == pytest.approx(line)
    assert step.bound["eta"] == pytest.approx(math.sqrt(3) / math.sqrt(3000 * 250))
    assert [check.holds for check in step.checks] == [False, True]


def test_assumptions():
    assert theorem_4(activation="relu", method="closed-form").status == "outside"
    assert theorem_4(activation="tanh", method="closed-form").status == "outside"
    narrow = theorem_4(q=100, T=50, method="closed-form")
    assert [a.name for a in narrow.assumptions if not a.holds] == ["q > 2^(k+3) log(2^k/delta)"]
    big = theorem_4(n=64, k=6, epsilon="1/10")
    assert (big.status, big.method) == ("undecided", "closed form")


def test_a_bound_that_was_only_evaluated_says_so():
    """It was asked from which q and T on it says anything: nothing was estimated, nothing failed, nothing is nan."""
    for result in (theorem_4, theorem_4_lcn):
        asked = result.certify(n=5, k=3, epsilon="1/3")
        document = asked.to_json()
        assert (asked.status, asked.ok) == ("undecided", True)
        assert (document["slack"], document["checks"]) == (None, [])
        assert "too large" in document["unchecked"]
        assert document["bound"]["total"] <= 1 / 3
        assert "method is closed-form" in result(n=5, k=3, epsilon="1/3", method="closed-form").unchecked
    assert theorem_4().unchecked is None


def test_a_slower_run_than_the_bound_is_caught(monkeypatch):
    honest = guarantee.descend

    def stuck(setting):
        from dataclasses import replace

        run = honest(setting)
        return replace(run, u=np.zeros_like(run.u))

    monkeypatch.setattr(guarantee, "descend", stuck)
    found = theorem_4()
    assert found.status == "violated"
    assert found.measured["average_loss"] == 1


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"n": 2, "k": 3}, "k must be at most n = 2, got 3"),
        ({"n": 4, "k": 2, "j": 4}, "j must be at most n - k \\+ 1 = 3, got 4"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"k": 401, "n": 1000}, "k must be an integer of at least 1 and of at most 400"),
        ({"T": 0}, "T must be"),
        ({"n": 3, "k": 2, "g": "++"}, "g must have 2\\^k = 4 signs, got 2"),
    ],
)
def test_bad_input_is_named(case, words):
    with pytest.raises(InputError, match=words):
        theorem_4(**case)
