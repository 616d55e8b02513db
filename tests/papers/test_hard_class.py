"""Theorems 2 and 3, Lemmas D.1 and D.2: projections by another method, counting, sharp examples."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers.residual.hard_class import best_risks
from separatrix.papers.residual.lower_bounds import _finding, samples
from separatrix.papers.residual.rank_argument import example_matrix
from separatrix.papers.residual.spans import (
    KERNELS,
    DotProductSpan,
    ParitySpan,
    RandomSpan,
    TabulatedSpan,
    eigenvalues,
)
from separatrix.papers.residual.theorems import lemma_d_1, lemma_d_2, theorem_2, theorem_3
from separatrix.theory.certificate import Interval
from separatrix.theory.krawtchouk import krawtchouk_values

KAPPA = {
    "gaussian": lambda rho: np.exp(-2 * (1 - rho) / 1.0),
    "arc-cosine": lambda rho: (np.sqrt(np.maximum(1 - rho**2, 0)) + rho * (np.pi - np.arccos(rho))) / np.pi,
    "ntk": lambda rho: (np.sqrt(np.maximum(1 - rho**2, 0)) + 2 * rho * (np.pi - np.arccos(rho))) / np.pi,
    "linear": lambda rho: rho,
    "arcsin": np.arcsin,
}


def cube(d):
    """All points in walsh's order: bit i of the index is coordinate i."""
    return 1.0 - 2.0 * ((np.arange(1 << d)[:, None] >> np.arange(d)) & 1)


def brute_force(functions, d, d1, k, alpha):
    """The best risk of every target by least squares on the whole cube."""
    z = cube(d)
    basis, sizes, _ = np.linalg.svd(functions, full_matrices=False)
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    risks = []
    for S in itertools.combinations(range(d1), k):
        total = 0.0
        for i in S:
            target = z[:, i] + alpha * z[:, S].prod(axis=1)
            total += float(np.mean((target - basis @ (basis.T @ target)) ** 2))
        risks.append(total)
    return np.array(risks)


@pytest.mark.parametrize("kernel", KAPPA)
@pytest.mark.parametrize(("d", "d1", "k", "N"), [(6, 6, 2, 5), (7, 5, 3, 4)])
def test_best_risks_by_least_squares_on_the_cube(kernel, d, d1, k, N):
    z = np.unique(samples(d, N, 3), axis=0)
    found = best_risks(DotProductSpan(kernel, z, d1), k, 0.4)
    functions = KAPPA[kernel](np.clip(cube(d) @ z.T / d, -1, 1))
    expected = brute_force(functions, d, d1, k, 0.4)
    assert found.risk == pytest.approx(expected, abs=1e-6)
    assert best_risks(TabulatedSpan(functions, d1), k, 0.4).risk == pytest.approx(expected, abs=1e-6)
    assert (found.lower <= expected + 1e-9).all()


def by_120_digits(kappa, z, k, alpha):
    """The best risks by mpmath: the whole Gram matrix, its Cholesky factor, no basis and no rank."""
    N, d = z.shape
    with mpmath.workdps(120):
        points = cube(d).astype(int)
        columns = [[kappa(mpmath.mpf(int(rho)) / d) for rho in points @ x] for x in z]
        gram = mpmath.matrix([[mpmath.fdot(a, b) / 2**d for b in columns] for a in columns])
        L = mpmath.cholesky(gram)
        risks = []
        for S in itertools.combinations(range(d), k):
            total = mpmath.mpf(0)
            for i in S:
                target = [int(v) for v in points[:, i]], [int(v) for v in points[:, S].prod(axis=1)]
                b = [mpmath.fdot(c, target[0]) / 2**d + alpha * mpmath.fdot(c, target[1]) / 2**d for c in columns]
                white = mpmath.matrix(N, 1)
                for row in range(N):
                    white[row] = (b[row] - sum(L[row, c] * white[c] for c in range(row))) / L[row, row]
                total += 1 + mpmath.mpf(alpha) ** 2 - sum(v * v for v in white)
            risks.append(float(total))
    return np.array(risks)


@pytest.mark.parametrize("h", [1.0, 1e3, 1e6])
def test_smooth_kernels_by_120_digits(h):
    """The levels of exp(-|x-y|^2/h) differ by powers of h, their squares by more than float64 has."""
    z = np.unique(samples(6, 18, 0), axis=0)
    expected = by_120_digits(lambda rho: mpmath.exp(-2 * (1 - rho) / h), z, 2, 0.3)
    found = best_risks(DotProductSpan("gaussian", z, 6, h), 2, 0.3)
    assert found.decided
    assert found.error < 1e-9
    assert found.risk == pytest.approx(expected, abs=1e-9)


def test_ever_smoother_kernels():
    for h, mean, least in ((100, 0.1337759017, 0.1106383473), (1000, 0.1336489419, 0.1102568218),
                           (1e6, 0.1336363761, 0.1102156978)):  # fmt: skip
        measured = theorem_2(k=2, d1=12, N=30, h=h).measured
        assert (measured["mean_risk"], measured["least_risk"]) == pytest.approx((mean, least), abs=1e-9)
    # ever smoother: the limit exists, and no float overflows
    assert theorem_2(k=2, d1=12, N=30, h=1e300).measured["mean_risk"] == pytest.approx(0.1336363636, abs=1e-9)


def test_the_closed_form_of_a_spectrum():
    for h in (0.5, 3.0, 700.0):
        by_sum = [
            sum(v * kappa for v, kappa in zip(krawtchouk_values(s, 9), np.exp(-4 * np.arange(10) / 9 / h), strict=True))
            / 2**9
            for s in range(10)
        ]
        assert [float(v) for v in eigenvalues("gaussian", 9, h)] == pytest.approx(by_sum, abs=1e-14)
    assert [s for s, v in enumerate(eigenvalues("arc-cosine", 9)) if v == 0] == [3, 5, 7, 9]


def test_what_float64_does_not_decide_is_said():
    """Two features that differ by 1e-11 span a plane or a line: the risks are then known between limits only."""
    values = cube(6)[:, :2] @ np.array([[1, 1], [0, 1e-11]])
    found = best_risks(TabulatedSpan(values, 6), 2, 0.3)
    assert not found.decided
    assert found.above_limits(0.3**2 / 16)[1] == 1
    finding = _finding(found, TabulatedSpan(values, 6), 2, 0.3, 15, "corrected", [], {})
    assert isinstance(finding.measured["mean_risk"], Interval)
    assert not finding.measured["well_conditioned"]
    assert any("does not decide" in note for note in finding.notes)


def test_a_threshold_below_the_error_is_not_decided():
    """At alpha = 1e-9, alpha^2/16 is below what float64 tells of 1; the counting bound decides where it can."""
    assert theorem_2(d1=20, k=3, alpha=1e-9).measured["fraction_above"] == 1.0
    linear = best_risks(DotProductSpan("linear", 1 - 2 * np.eye(7, dtype=np.int64), 7), 2, 1e-9)
    least, most = linear.above_limits(1e-18 / 16)
    assert least == linear.surely_above(1e-18 / 16)
    assert most == 1


def test_random_kernel_by_its_own_definition():
    z, d, k = samples(5, 3, 1), 5, 2
    span = RandomSpan(z, d, k, np.random.default_rng(4))
    sets = [()] + [(i,) for i in range(d)] + list(itertools.combinations(range(d), k))
    weights = [span._constant, *span._single, *span._mu]
    points = cube(d)
    kernel = sum(
        w * np.outer(points[:, list(S)].prod(axis=1), span.z[:, list(S)].prod(axis=1))
        for w, S in zip(weights, sets, strict=True)
    )
    assert best_risks(span, k, 0.7).risk == pytest.approx(brute_force(kernel, d, d, k, 0.7), abs=1e-6)


def test_leverages_add_up_to_the_dimension_and_count_the_targets():
    found = theorem_2(d1=16, k=4, N=20, kernel="arc-cosine")
    assert found.measured["leverage_sum"] == pytest.approx(20, rel=1e-9)
    # adversarial functions: as many targets as the counting allows, and no more
    d1, k, D = 8, 3, 30
    span = ParitySpan(d1, k, D)
    risks = best_risks(span, k, 0.5)
    learned = D - d1
    assert risks.above(0.5**2 / 16) == pytest.approx(1 - learned / math.comb(d1, k))
    assert risks.surely_above(0.5**2 / 16) == risks.above(0.5**2 / 16)


@pytest.mark.parametrize("kernel", KERNELS)
def test_theorem_2_where_it_is_not_vacuous(kernel):
    found = theorem_2(k=3, d1=24, kernel=kernel, seed=2)
    assert found.status == "holds"
    assert found.measured["fraction_above"] == found.measured["fraction_certified"] == 1
    assert found.measured["targets"] == math.comb(24, 3)
    assert found.bound["fraction_above"] == 0.99


def test_repeated_and_opposite_samples_are_counted_once():
    z = samples(9, 4, 0)
    span = DotProductSpan("gaussian", np.concatenate([z, z, -z]), 9)
    assert span.distinct == 8
    assert best_risks(span, 4, 0.3).leverage_sum == pytest.approx(4)


def test_all_points_of_the_cube_learn_everything():
    found = theorem_2(d1=5, k=2, N=400, kernel="gaussian")
    assert found.status == "outside"
    assert found.measured["distinct_samples"] == 32
    assert found.measured["fraction_above"] == 0


def test_the_sketch_is_false_at_the_boundary():
    for printed in (theorem_2(version="printed"), theorem_3(version="printed")):
        assert printed.status == "violated"
        assert printed.measured["half_risk_linear_kernel_k_2"] == pytest.approx(0.3**2)
    # the same counterexample, small, by projection: half the risk is alpha^2 exactly
    z = 1 - 2 * np.eye(7, dtype=np.int64)
    risks = best_risks(DotProductSpan("linear", z, 7), 2, 0.3).risk
    assert risks / 2 == pytest.approx(np.full(21, 0.09), abs=1e-9)
    assert math.comb(2001, 2) >= 1000 * 2001 > 1000 * math.comb(2000, 2) / 1000


def test_theorem_3():
    for features in ("relu", "cosine"):
        assert theorem_3(k=6, d1=14, features=features).status == "holds"
    with pytest.raises(InputError, match="d1 must be at most"):
        theorem_3(d1=30, k=3)
    with pytest.raises(InputError, match="k <= d1"):
        theorem_2(k=5, d1=4)


@pytest.mark.parametrize(("d", "k", "alpha"), [(5, 2, "1/2"), (6, 6, 1), (9, 4, "1/100")])
def test_lemma_d_1(d, k, alpha):
    assert lemma_d_1(d=d, k=k, alpha=alpha, seed=6).status == "holds"


@pytest.mark.parametrize("matrix", ["frame", "gaussian", "repeated", "sparse"])
def test_lemma_d_2_by_optimisation(matrix):
    """The least second sum from the leverage score is what a linear solve finds."""
    N, R, alpha = 4, 11, 0.8
    M = example_matrix(matrix, N, R, np.random.default_rng(2))
    gram = np.linalg.pinv(M @ M.T)
    for r in range(R):
        leverage = float(M[:, r] @ gram @ M[:, r])
        if leverage < 1e-9:
            continue
        a = gram @ M[:, r] / leverage * 0.75 * alpha
        products = M.T @ a
        assert products[r] == pytest.approx(0.75 * alpha)
        rest = float(np.sum(np.delete(products, r) ** 2))
        assert rest == pytest.approx(9 / 16 * alpha**2 * (1 / leverage - 1), abs=1e-9)
    assert lemma_d_2(N=N, R=R, matrix=matrix, seed=2).status == "holds"


def test_lemma_d_2_is_sharp_at_ten_ninths():
    simplex = lemma_d_2(N=9, R=10)
    assert (simplex.status, simplex.measured["feasible"]) == ("outside", 10)
    assert lemma_d_2(N=9, R=11).measured["feasible"] < 11
