"""The point nearest to the origin in a polyhedron, with the multipliers that prove it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_ORDERS = 16


def least_distance(G: Floats, tolerance: float = 1e-9) -> tuple[Floats, float]:
    """Multipliers u >= 0 of argmin ||v||^2 subject to G v >= 1, which is v = G^T u, and their :func:`duality_gap`.

    Lawson and Hanson's least-distance programming: with u >= 0 minimising ||G^T u||^2 + (sum u - 1)^2, by non-negative
    least squares, the multipliers are u / (1 - sum u). SciPy's solver (1.15 and later) now and then stops at a point
    that is not optimal and says nothing, so its answers are judged by their gap, and other orders of the rows are
    tried until one is within the tolerance. The gap is infinite where none separates.

    >>> multipliers, gap = least_distance(np.array([[3.0, 0.0], [0.0, 4.0], [1.0, 1.0]]))
    >>> multipliers, gap < 1e-9
    (array([0. , 0. , 0.5]), True)
    """
    from scipy.optimize import nnls

    E, f = np.vstack([G.T, np.ones(len(G))]), np.append(np.zeros(G.shape[1]), 1.0)
    best, least = np.zeros(len(G)), float("inf")
    for attempt in range(_ORDERS):
        order = np.random.default_rng(attempt).permutation(len(G)) if attempt else np.arange(len(G))
        try:
            found, _ = nnls(E[:, order], f, maxiter=30 * len(G))
        except RuntimeError:  # it ran out of steps
            continue
        u = np.empty(len(G))
        u[order] = found
        if u.sum() < 1:
            u /= 1 - u.sum()
            gap = duality_gap(G, u)
            best, least = (u, gap) if gap < least else (best, least)
        if least <= tolerance:
            break
    return best, least


def duality_gap(G: Floats, u: Floats) -> float:
    """How far G^T u may be from optimal, relative: 1 - dual/primal of (1/2) ||v||^2 at multipliers u >= 0.

    The primal's feasible point is G^T u scaled to the least product 1; infinite where no scaling makes it feasible.
    """
    v = u @ G
    least = float((G @ v).min())
    if least <= 0:
        return float("inf")
    return float(1 - (u.sum() - v @ v / 2) / (v @ v / (2 * least**2)))
