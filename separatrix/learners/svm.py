"""The hard-margin linear SVM, which says where there is none."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from separatrix.learners.base import Fitted, Solver
from separatrix.rules import Real, Whole, enforce, parameter

_HARD = 1e10
_CLEARLY_POSITIVE = 1e-6
_SOLVED, _INFEASIBLE = 0, 2


@dataclass(frozen=True)
class LinearSVM(Solver):
    """argmin ||w||^2 subject to y_i (w . x_i + b) >= 1, in float64, through the dual of libsvm.

    A linear program first decides whether the sample is separable. Where it is not, no hard margin exists, and the
    solution is the soft-margin one with ``soft_penalty``. The facts say which (``separable``) and how near the
    optimum it is (``duality_gap``, relative; a feasible point of the hard-margin dual bounds the margin from above).
    A solver that stops at ``max_iterations`` is reported as a problem, not as a result.
    """

    soft_penalty: float = parameter(1.0, Real(above=0))
    max_iterations: int = parameter(2_000_000, Whole(1))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return "SVM"

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        points = x.reshape(len(x), -1).astype(np.float64)
        if len(np.unique(y)) < 2:
            only = float(y[0])
            return Fitted(lambda new: np.full(len(new), only), {"separable": True})
        separable = linearly_separable(points, y)
        w, b, dual, finished = self._solve(points, y, _HARD if separable else self.soft_penalty)
        facts: dict[str, float | bool | int] = {"separable": separable}
        problem = None if finished else f"the solver stopped at {self.max_iterations} steps; raise max_iterations"
        if separable:
            margins = y * (points @ w + b)
            if margins.min() <= 0:
                problem = "the sample is separable but the solver did not separate it; raise max_iterations"
            else:
                primal = 0.5 * (w @ w) / margins.min() ** 2
                facts["margin"] = float(1 / np.sqrt(2 * primal))
                facts["duality_gap"] = float(1 - (dual.sum() - 0.5 * w @ w) / primal)
        return Fitted(lambda new: new.reshape(len(new), -1).astype(np.float64) @ w + b, facts, problem)

    def _solve(self, x: np.ndarray, y: np.ndarray, penalty: float) -> tuple[np.ndarray, float, np.ndarray, bool]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        model = SVC(kernel="precomputed", C=penalty, tol=1e-4, max_iter=self.max_iterations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(x @ x.T, y)
        dual = np.zeros(len(y))
        dual[model.support_] = np.abs(model.dual_coef_[0])
        return x.T @ (dual * y), float(model.intercept_[0]), dual, model.fit_status_ == 0


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
