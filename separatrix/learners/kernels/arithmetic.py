"""Float64 arithmetic of kernels: NumPy and LAPACK on a CPU, JAX where there is an accelerator, the same formulas.

Functions of arrays take their operations from the arrays (``x.__array_namespace__()``), so that they serve both.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

Array = Any
"""A NumPy or a JAX array of float64."""
_EPSILON = float(np.finfo(np.float64).eps)


@contextlib.contextmanager
def float64() -> Iterator[None]:
    """JAX in double precision, whatever the program outside uses."""
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield


def on_device(x: Array) -> Array:
    """The array in float64 where large sums are fastest: JAX's device if that is an accelerator."""
    if jax.default_backend() == "cpu":
        return np.asarray(x, np.float64)
    return jax.numpy.asarray(x, jax.numpy.float64)


def flat(x: Array) -> Array:
    return x.reshape(len(x), -1)


class Solved(NamedTuple):
    """The solution of A s = b with A symmetric and positive, and how well it is determined."""

    s: Array
    facts: Mapping[str, float | int]
    problem: str | None


def solve_positive(A: Array, ridge: float, b: Array) -> Solved:
    """(A + ridge I) s = b by Cholesky's factors; where A is singular to working precision, the shortest solution.

    ``condition`` is an estimate (Hager and Higham's, of the 1-norm), ``residual`` relative to b. Eigenvalues below
    m eps times the largest are taken as 0, and then ``rank`` says how many remain. A residual above 1e-3 in all of the
    space that is left is a problem.
    """
    xp = A.__array_namespace__()
    regular = A + ridge * xp.eye(len(A), dtype=A.dtype)
    factor = _cholesky(regular)
    if factor is not None:
        condition = _condition(regular, factor)
        if condition * _EPSILON < 1:
            s = factor(b)
            residual = float(xp.linalg.norm(regular @ s - b) / max(float(xp.linalg.norm(b)), 1e-300))
            problem = None if residual < 1e-3 else f"the linear system's residual is {residual:.2g}; raise the ridge"
            return Solved(s, {"condition": condition, "residual": residual}, problem)
    values, vectors = xp.linalg.eigh(regular)
    least, most = float(values[0]), float(abs(values).max())
    if not np.isfinite(most):
        return Solved(xp.zeros_like(b), {}, "the kernel has entries that are not finite")
    kept = values > len(A) * _EPSILON * most
    rank = int(kept.sum())
    inverse = xp.where(kept, 1 / xp.where(kept, values, 1.0), 0.0)
    coordinates = vectors.T @ b
    s = vectors @ (inverse[:, None] * coordinates)
    lost = xp.where(kept[:, None], 0.0, coordinates)
    condition = most / float(values[len(A) - rank]) if rank else float("inf")
    residual = float(xp.linalg.norm(lost) / max(float(xp.linalg.norm(b)), 1e-300))
    facts = {"condition": condition, "residual": residual, "rank": rank, "least_eigenvalue": least}
    indefinite = least < -1e-6 * most
    return Solved(s, facts, f"the kernel is indefinite: its least eigenvalue is {least:.2g}" if indefinite else None)


def _cholesky(A: Array) -> Callable[[Array], Array] | None:
    """What applies A^-1; None where A is not numerically positive."""
    if isinstance(A, np.ndarray):
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        try:
            factor = cho_factor(A, lower=True, check_finite=False)
        except LinAlgError:
            return None
        return None if not np.isfinite(factor[0][-1, -1]) else lambda b: cho_solve(factor, b, check_finite=False)
    lower = jax.numpy.linalg.cholesky(A)
    if not bool(jax.numpy.isfinite(lower[-1, -1])):
        return None
    return lambda b: jax.scipy.linalg.cho_solve((lower, True), b)


def _condition(A: Array, inverse: Callable[[Array], Array]) -> float:
    """||A||_1 times an estimate of ||A^-1||_1 (Hager's, which needs a few solves)."""
    xp, m = A.__array_namespace__(), len(A)
    x = xp.full((m, 1), 1.0 / m, dtype=A.dtype)
    best, tried = 0.0, -1
    for _ in range(5):
        y = inverse(x)
        size = float(abs(y).sum())
        if size <= best:
            break
        best = size
        z = inverse(xp.where(y >= 0, 1.0, -1.0))
        place = int(abs(z[:, 0]).argmax())
        if place == tried:
            break
        x = xp.where(xp.arange(m)[:, None] == place, 1.0, xp.zeros((m, 1), dtype=A.dtype))
        tried = place
    return float(abs(A).sum(axis=0).max()) * best


def in_numpy(x: Array) -> NDArray[np.float64]:
    return np.asarray(x, np.float64)
