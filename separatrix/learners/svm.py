"""The hard-margin linear SVM, which says where there is none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.learners.base import Fitted, Solver
from separatrix.learners.least_distance import least_distance
from separatrix.rules import Real, Whole, enforce, parameter

_HARD = 1e10
_OFFSET = 1e3
_GAP = 1e-3
_CLEARLY_POSITIVE = 1e-6
_SOLVED, _INFEASIBLE = 0, 2


class _Solution(NamedTuple):
    """A separator and the dual weights of the points behind it."""

    w: np.ndarray
    b: float
    dual: np.ndarray
    finished: bool


@dataclass(frozen=True)
class LinearSVM(Solver):
    """argmin ||w||^2 subject to y_i (w . x_i + b) >= 1, in float64.

    A linear program first decides whether the sample is separable. Where it is not, no hard margin exists, and the
    solution is the soft-margin one with ``soft_penalty``, by libsvm. The facts say which (``separable``) and how near
    the optimum the hard margin is (``duality_gap``, relative: a feasible point of the dual bounds it from above). A
    solution with a gap above 1e-3, or that libsvm gave up after ``max_iterations``, is a problem and not a result.

    With more points than dimensions the hard margin is found by least-distance programming (:mod:`.least_distance`),
    an active-set method that stays accurate where separability just ends and libsvm does not converge; with fewer,
    where libsvm is quick, by libsvm first.
    """

    soft_penalty: float = parameter(1.0, Real(above=0))
    max_iterations: int = parameter(1_000_000, Whole(1))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return "SVM"

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        points, labels = x.reshape(len(x), -1).astype(np.float64), y.astype(np.float64)
        if len(np.unique(y)) < 2:
            only = float(y[0])
            return Fitted(lambda new: np.full(len(new), only), {"separable": True})
        if not linearly_separable(points, labels):
            soft = _libsvm(points, labels, self.soft_penalty, self.max_iterations)
            gave_up = f"the solver stopped at {self.max_iterations} steps; raise max_iterations"
            return Fitted(_decision(soft), {"separable": False}, None if soft.finished else gave_up)
        solvers = [_least_distance, lambda x, y: _libsvm(x, y, _HARD, self.max_iterations)]
        for solve in solvers if points.shape[1] < len(points) else reversed(solvers):
            solution = solve(points, labels)
            margin, gap = certified_margin(points, labels, solution)
            if gap <= _GAP:
                break
        facts = {"separable": True, "margin": margin, "duality_gap": gap}
        problem = None if gap <= _GAP else f"no solver came within {_GAP} of the largest margin; the gap is {gap:.2g}"
        return Fitted(_decision(solution), facts, problem)


def _decision(solution: _Solution) -> Callable[[np.ndarray], np.ndarray]:
    return lambda new: np.asarray(new.reshape(len(new), -1).astype(np.float64) @ solution.w + solution.b)


def certified_margin(x: np.ndarray, y: np.ndarray, solution: _Solution) -> tuple[float, float]:
    """The margin of a separator and its relative duality gap; 0 and infinity where it does not separate.

    Scaled to least product 1 the separator is feasible for the primal; the dual weights are feasible for the dual.
    """
    least = float((y * (x @ solution.w + solution.b)).min())
    if least <= 0:
        return 0.0, float("inf")
    primal = 0.5 * float(solution.w @ solution.w) / least**2
    in_dual = (solution.dual * y) @ x
    dual = float(solution.dual.sum() - 0.5 * in_dual @ in_dual)
    return float(1 / np.sqrt(2 * primal)), 1 - dual / primal


def _least_distance(x: np.ndarray, y: np.ndarray) -> _Solution:
    """By least-distance programming in (w, b). The offset is free: its column is so large that its part in the norm
    is nothing.
    """
    G = y[:, None] * np.hstack([x, np.full((len(x), 1), _OFFSET)])
    dual, _ = least_distance(G, _GAP)
    direction = dual @ G
    return _Solution(direction[:-1], float(direction[-1] * _OFFSET), dual, True)


def _libsvm(x: np.ndarray, y: np.ndarray, penalty: float, max_iterations: int) -> _Solution:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    model = SVC(kernel="precomputed", C=penalty, tol=1e-4, max_iter=max_iterations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x @ x.T, y)
    dual = np.zeros(len(y))
    dual[model.support_] = np.abs(model.dual_coef_[0])
    return _Solution(x.T @ (dual * y), float(model.intercept_[0]), dual, model.fit_status_ == 0)


def linearly_separable(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether some (w, b) has y_i (w . x_i + b) > 0 for all i.

    The least-squares fit of the labels is tried first: where it separates (as it does all points in general position
    in many dimensions), it is itself the proof. Otherwise a linear program decides.
    """
    from scipy.optimize import linprog

    points = np.hstack([x, np.ones((len(x), 1))])
    fitted = points.T @ np.linalg.lstsq(points @ points.T, y.astype(np.float64), rcond=None)[0]
    if (y * (points @ fitted)).min() > _CLEARLY_POSITIVE:
        return True
    signed = -y[:, None] * points
    for method in ("highs", "highs-ipm"):
        found = linprog(
            np.zeros(signed.shape[1]), A_ub=signed, b_ub=-np.ones(len(x)), bounds=(None, None), method=method
        )
        if found.status in (_SOLVED, _INFEASIBLE):
            return bool(found.status == _SOLVED)
    raise ArithmeticError(f"the linear program that decides whether the sample is separable failed: {found.message}")
