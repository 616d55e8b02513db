"""Proposition 6.1 and section 6: two solvers, the certificates, and what they reject."""

import numpy as np
import pytest
from sklearn.svm import SVC

from separatrix.errors import InputError
from separatrix.papers.pooling import margins
from separatrix.papers.pooling.margins import least_margin, least_norm_separator, support, weighted_sum
from separatrix.papers.pooling.theorems import proposition_6_1, section_6


# SciPy's solver stops too early on (3, 5) and (4, 6), and on (2, 7) in one order of the points
@pytest.mark.parametrize(("n", "l"), [(1, 3), (2, 5), (2, 7), (3, 4), (3, 5), (4, 6), (5, 3)])
def test_the_minimum_is_twice_n_by_another_solver(n: int, l: int) -> None:  # noqa: E741
    points, labels = support(n, l)
    machine = SVC(kernel="linear", C=1e6, tol=1e-8).fit(points, labels)
    # an SVM has an intercept, which the symmetry between the labels leaves at zero
    assert float(machine.intercept_[0]) == pytest.approx(0, abs=1e-4)
    assert float(np.sum(machine.coef_**2)) == pytest.approx(2 * n, rel=1e-4)
    found = proposition_6_1(n=n, l=l, d=8)
    assert found.status == "holds"
    assert found.measured["norm_sq"] == found.bound["norm_sq"] == 2 * n
    assert found.measured["dual_gap"] == 0
    assert found.measured["norm_sq_solved"] == pytest.approx(2 * n, rel=1e-9)
    assert found.measured["dual_gap_solved"] == pytest.approx(0, abs=1e-9)


def test_least_margin_is_that_of_the_whole_support() -> None:
    points, labels = support(3, 5)
    for seed in range(20):
        w = np.random.default_rng(seed).integers(-9, 10, (3, 5))
        assert least_margin(w) == int((labels * (points @ w.ravel())).min())


def test_weighted_sum_is_the_sum_over_points() -> None:
    numbers = np.array([[0, 2, 3], [1, 3, 3], [2, 2, 0]])
    labels = np.array([1, -1, 1])
    expected = np.einsum("p,pil->il", labels, np.eye(4)[numbers])
    assert np.array_equal(weighted_sum(numbers, labels, 4), expected)


def test_solver_on_skewed_data_and_its_gap() -> None:
    generator = np.random.default_rng(4)
    truth = np.array([1.0, -2.0, 0.5])
    points = generator.normal(size=(40, 3))
    labels = np.where(points @ truth > 0, 1, -1)
    w, gap = least_norm_separator(points, labels)
    assert (labels * (points @ w)).min() == pytest.approx(1)
    assert 0 <= gap + 1e-9 < 1e-6
    machine = SVC(kernel="linear", C=1e9, tol=1e-9).fit(np.vstack([points, -points]), np.append(labels, -labels))
    assert w == pytest.approx(machine.coef_[0], rel=1e-3)


@pytest.mark.parametrize(("shrunk", "gap", "status"), [(0.99, 0.0, "violated"), (1.01, 0.1, "holds")])
def test_a_solved_point_counts_with_its_gap_alone(
    monkeypatch: pytest.MonkeyPatch, shrunk: float, gap: float, status: str
) -> None:
    def worse(points: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
        w, _ = least_norm_separator(points, labels)
        return shrunk * w, gap

    monkeypatch.setattr(margins, "least_norm_separator", worse)
    found = proposition_6_1(n=3, l=4, d=4)
    assert found.status == status
    assert {c.name for c in found.checks if not c.holds} == ({"norm_sq_solved"} if status == "violated" else set())


def test_hundreds_of_patterns_and_both_versions() -> None:
    found = proposition_6_1(n=400, d=30)
    assert (found.status, found.measured["norm_sq"], found.slack) == ("holds", 800, 0)
    printed = proposition_6_1(n=400, d=30, version="printed")
    assert (printed.status, printed.bound["norm_sq"]) == ("holds", 400)
    assert "not tight" in printed.notes[0]
    with pytest.raises(InputError, match="l must be at most d = 4"):
        proposition_6_1(n=3, d=4, l=5)


@pytest.mark.parametrize(("version", "d"), [("corrected", 20), ("printed", 20), ("corrected", 7)])
def test_the_bounds_cross_at_the_smallest_n(version: str, d: int) -> None:
    smallest = section_6(d=d, version=version).measured["smallest_n"]
    assert section_6(n=smallest, d=d, version=version).status == "holds"
    assert section_6(n=smallest - 1, d=d, version=version).status == "vacuous"
