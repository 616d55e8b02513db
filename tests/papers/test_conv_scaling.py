"""Corollary 5's powers and section 5's counts, against brute force, other ways to the same numbers, and bad input."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers import theorem
from separatrix.papers.convolution.theorems import corollary_5, section_5
from separatrix.papers.convolution.unknown_order import fcn_symmetry, junta_dimension, span_rank, window_dimension


def bound_at(k, q, T, c=1.0, a=1):
    n = 2.0 ** (k / a)
    return 2 * c * n**2 * k**2 * 2**k / q + 2 * (2**k * k) ** 2 / math.sqrt(q * n) + c**2 * n**1.5 * math.sqrt(q) / T


@pytest.mark.parametrize("c", ["1", "1/3", "6"])
@pytest.mark.parametrize("a", [1, 2])
def test_the_corrected_powers_are_right(c, a):
    found = corollary_5(c=c, a=a, epsilon="1/20", k_max=256)
    assert found.status == "holds"
    assert found.measured["exponent_q"].mean == pytest.approx(4, abs=1e-3)
    assert found.measured["exponent_T"].mean == pytest.approx(2, abs=1e-3)
    assert found.measured["power_of_n"] == pytest.approx(4 * a - 1, abs=1e-3)


@pytest.mark.parametrize("constant", [1, 30, 1000, 10_000])
def test_the_printed_powers_have_a_counterexample_for_every_constant(constant):
    found = corollary_5(version="printed", constant=constant)
    assert found.status == "violated"
    k, epsilon = found.measured["counterexample_k"], 0.1
    q = constant * 100 * 8.0**k * k**2
    assert found.measured["counterexample_q"] == pytest.approx(q)
    assert bound_at(k, q, math.inf) > epsilon  # for no T
    assert k <= max(2, math.sqrt(constant) / 2 + 1)
    if k > 2:
        smaller = constant * 100 * 8.0 ** (k - 1) * (k - 1) ** 2
        assert bound_at(k - 1, smaller, math.inf) < epsilon
    assert found.measured["counterexample_total"] == pytest.approx(bound_at(k, q, constant * 100 * 8.0**k * k))


def test_least_q_by_bisection_in_floats():
    """The exact search that the slopes come from, at k = 8 and 16."""

    def least(k):
        low, high = 1.0, 1e30
        while high / low > 1 + 1e-13:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if bound_at(k, middle, math.inf) > 0.1 else (low, middle)
        return high

    slope = math.log(least(16) / least(8) / 2.0**24) / math.log(2)
    assert corollary_5(k_max=64).measured["slopes_q"][0] == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"k": 8, "k_max": 32}, "k_max must be at least 8 k = 64"),
        ({"k": 9, "a": 2, "k_max": 100}, "k a multiple of a = 2"),
        ({"epsilon": 2}, "epsilon must be"),
    ],
)
def test_bad_input_is_named(case, words):
    with pytest.raises(InputError, match=words):
        corollary_5(**case)
    with pytest.raises(InputError, match="k must be at most n = 3"):
        section_5(n=3, k=4)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 1), (5, 2), (6, 3), (5, 4), (4, 4)])
def test_dimensions_against_rational_ranks_and_counting(n, k):
    sets = list(itertools.combinations(range(n), k))
    windows = [tuple(range(j, j + k)) for j in range(n - k + 1)]
    cube = np.array(list(itertools.product([1, -1], repeat=n)))
    for chosen, count in ((sets, junta_dimension(n, k)), (windows, window_dimension(n, k))):
        rows = [(cube[:, list(s)] == z).all(axis=1) for s in chosen for z in itertools.product([1, -1], repeat=k)]
        assert np.linalg.matrix_rank(np.array(rows, dtype=float)) == count
        assert span_rank(n, chosen) == count
    fitting = {sub for window in windows for r in range(k + 1) for sub in itertools.combinations(window, r)}
    assert len(fitting) == window_dimension(n, k)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (7, 3), (9, 9), (1024, 10)])
def test_section_5_holds(n, k):
    found = section_5(n=n, k=k, queries=20)
    assert found.status == "holds"
    assert found.measured["sq_dimension"] == sum(math.comb(n, i) for i in range(k + 1))
    assert found.measured["orders_needed"] * (n - k + 1) >= math.comb(n, k)
    json.dumps(theorem("convolution/section-5").certify(n=n, k=k, queries=1).to_json())


def test_one_query_rules_out_few():
    found = section_5(n=6, k=2, tau="1/4", queries=100)
    assert found.bound["most_ruled_out"] == pytest.approx(16)
    assert 2 <= found.measured["most_ruled_out"] <= 16


def test_growth_at_log_n():
    measured = section_5(k_max=8, queries=0).measured
    for i, k in enumerate(range(2, 8)):
        ratio = Fraction(junta_dimension(2 ** (k + 1), k + 1), junta_dimension(2**k, k))
        assert measured["exponents"][i] == pytest.approx(math.log2(ratio))
    assert measured["exponents"] == sorted(measured["exponents"])
    assert abs(measured["exponents_ordered"][-1] - 2) < 0.05


def test_the_symmetry_is_one_of_the_net_and_not_of_the_code(monkeypatch):
    """The same code with a target that does not move with the bits: most permutations no longer commute."""
    from separatrix.papers.convolution import unknown_order

    assert fcn_symmetry(4, 2, 3) == (0, 24)
    honest = unknown_order._descended
    monkeypatch.setattr(unknown_order, "_descended", lambda start, target, n: honest(start, {0, 1}, n))
    assert fcn_symmetry(4, 2, 3)[0] > 10
