"""Linear methods on a kernel: ridge regression and the soft-margin SVM, in float64, each with how well it is posed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.errors import InputError
from separatrix.learners.base import Fitted, Solver
from separatrix.learners.kernels.arithmetic import Array, float64, in_numpy, on_device, solve_positive
from separatrix.learners.kernels.base import Gaussian, Kernel
from separatrix.rules import Real, Whole, enforce, parameter

_BLOCK = 4096
_GAP = 1e-2


@dataclass(frozen=True)
class KernelRidge(Solver):
    r"""argmin_f  sum_i ||f(x_i) - y_i||^2 + ridge s ||f||_K^2,  s the mean of K(x_i, x_i), for one output or several.

    In the dual, or on the features themselves where these are fewer than the examples. With ``center`` the mean of
    the labels is subtracted first and added to what is predicted. Facts: an estimate of the system's ``condition``
    number, its relative ``residual``, the ``rank`` where the kernel is singular (the shortest solution is then taken),
    and for one label in {-1, 1} the ``margin`` min_i y_i f(x_i) / (||f||_K sqrt s) on the sample.
    """

    kernel: Kernel = Gaussian()
    ridge: float = parameter(1e-6, Real(0))
    center: bool = True

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return self.kernel.label

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        self.kernel.check(input_shape, output_shape)

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        return self._fit(x, y, None, seed)

    def fit_population(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray, seed: int) -> Fitted:
        """A point of probability p counts as p times the number of points."""
        drawn = weights > 0
        return self._fit(x[drawn], y[drawn], weights[drawn].astype(np.float64) * drawn.sum(), seed)

    def _fit(self, x: np.ndarray, y: np.ndarray, counts: np.ndarray | None, seed: int) -> Fitted:
        """With every term of the sum, and of the means, as often as ``counts`` says (None: once): the rows of an
        unweighted problem times the roots of the counts.
        """
        targets = y.reshape(len(y), -1).astype(np.float64)
        mean = np.average(targets, axis=0, weights=counts) if self.center else np.zeros(targets.shape[1])
        with float64():
            points, roots = on_device(x), None if counts is None else on_device(np.sqrt(counts)[:, None])
            wanted = _times(on_device(targets - mean), roots)
            features = self.kernel.features(points, seed)
            if features is not None and features.shape[1] < len(x):
                features = _times(features, roots)
                s = float((features**2).sum() / len(x))
                solved = solve_positive(features.T @ features, self.ridge * s, features.T @ wanted)
                outputs, norm_sq = features @ solved.s, float((solved.s**2).sum())
                of_new = self._primal(solved.s, seed)
            else:
                K = self.kernel.gram(points, points, seed) if features is None else features @ features.T
                K = _times(_times(K, roots).T, roots)
                s = float(K.trace() / len(x))
                solved = solve_positive(K, self.ridge * s, wanted)
                outputs = K @ solved.s
                norm_sq = float((solved.s * outputs).sum())
                of_new = self._dual(points, _times(solved.s, roots), seed)
            margins = in_numpy(outputs if roots is None else outputs / roots) + mean
        facts = dict(solved.facts)
        if y.ndim == 1 and set(np.unique(y)) <= {-1.0, 1.0} and norm_sq > 0 and s > 0:
            facts["margin"] = float((margins[:, 0] * y).min()) / math.sqrt(norm_sq * s)
        shape = y.shape[1:]

        def predict(new: np.ndarray) -> np.ndarray:
            blocks = [new[first : first + _BLOCK] for first in range(0, len(new), _BLOCK)]
            with float64():
                found = [in_numpy(of_new(on_device(block))) for block in blocks]
            return np.asarray(np.concatenate(found) + mean).reshape(len(new), *shape)

        return Fitted(predict, facts, solved.problem)

    def _primal(self, w: Array, seed: int) -> Callable[[Array], Array]:
        def of_new(new: Array) -> Array:
            features = self.kernel.features(new, seed)
            assert features is not None
            return features @ w

        return of_new

    def _dual(self, points: Array, dual: Array, seed: int) -> Callable[[Array], Array]:
        return lambda new: self.kernel.gram(new, points, seed) @ dual


def _times(rows: Array, roots: Array | None) -> Array:
    return rows if roots is None else rows * roots


@dataclass(frozen=True)
class KernelSVM(Solver):
    """The soft-margin SVM on a kernel, by libsvm: min (1/2) ||f||_K^2 + (penalty / s) sum_i hinge(y_i (f(x_i) + b)).

    ``s`` is the mean of K(x_i, x_i), so that the penalty does not depend on the kernel's scale. Facts: the number of
    ``support_vectors``, the relative ``duality_gap``, and the ``margin`` min_i y_i (f + b) / (||f||_K sqrt s). A gap
    above 1e-2 is a problem and not a result.
    """

    kernel: Kernel = Gaussian()
    penalty: float = parameter(1.0, Real(above=0))
    max_iterations: int = parameter(1_000_000, Whole(1))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return f"SVM, {self.kernel.label}"

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        if output_shape != ():
            raise InputError(f"KernelSVM has one output, the task wants the shape {output_shape}")
        self.kernel.check(input_shape, output_shape)

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        if len(np.unique(y)) < 2:
            only = float(y[0])
            return Fitted(lambda new: np.full(len(new), only), {"support_vectors": 0})
        with float64():
            points = on_device(x)
            K = in_numpy(self.kernel.gram(points, points, seed))
        s = float(np.trace(K)) / len(x)
        model = SVC(kernel="precomputed", C=self.penalty / s, tol=1e-4, max_iter=self.max_iterations, cache_size=1000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(K, y)
        dual = np.zeros(len(y))
        dual[model.support_] = model.dual_coef_[0]
        b = float(model.intercept_[0])
        raw = K @ dual
        norm_sq = float(dual @ raw)
        slack = np.maximum(1 - y * (raw + b), 0).sum() * self.penalty / s
        primal, in_dual = norm_sq / 2 + slack, np.abs(dual).sum() - norm_sq / 2
        gap = float((primal - in_dual) / max(abs(primal), 1e-300))
        facts: dict[str, float | int] = {"support_vectors": len(model.support_), "duality_gap": gap}
        if norm_sq > 0:
            facts["margin"] = float((y * (raw + b)).min()) / math.sqrt(norm_sq * s)
        used, weights = points[model.support_], dual[model.support_]

        def predict(new: np.ndarray) -> np.ndarray:
            blocks = [new[first : first + _BLOCK] for first in range(0, len(new), _BLOCK)]
            with float64():
                found = [in_numpy(self.kernel.gram(on_device(block), used, seed)) @ weights for block in blocks]
            return np.asarray(np.concatenate(found) + b)

        problem = None if gap <= _GAP else f"libsvm stopped with a relative duality gap of {gap:.2g}"
        return Fitted(predict, facts, problem)
