"""Lemmas D.1 and D.2: who learns most of the hard class has a matrix of coefficients whose rank is as large."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.rules import Choice, Maybe, Real, Whole
from separatrix.theory.certificate import Assumption, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Floats, Seed
from separatrix.theory.results import result
from separatrix.theory.walsh import MOST_COORDINATES, fourier_coefficients, levels


@result(
    "residual/lemma-d.1",
    "If E|f - (x_i + alpha prod_S x_j)|^2 <= alpha^2/16 for i in S, |S| = k >= 2, then f's coefficient at S is at "
    "least 3/4 alpha and those at the other sets of size k have squares that add up to at most alpha^2/16.",
)
def lemma_d_1(
    d: Annotated[int, Whole(2, 14)] = 8,
    k: Annotated[int, Whole(2, 14)] = 3,
    alpha: Annotated[Fraction, Real(above=0, exact=True)] = Fraction(3, 10),
    functions: Annotated[int, Whole(1, 1000)] = 20,
    seed: Seed = 0,
) -> Finding:
    r"""Lemma D.1 of Allen-Zhu & Li: Parseval, exactly, for random f of risk alpha^2/16 and for the two extreme ones.

    E|f - t|^2 = (l_{i} - 1)^2 + (l_S - alpha)^2 + sum of all other l^2. The f are t plus a random integer function
    scaled to the full risk alpha^2/16 in exact squares; the identity is checked by enumerating the cube. Extremes: all
    of the risk at S (l_S = 3/4 alpha, equality) and all at one other set of size k (alpha^2/16, equality).

    >>> lemma_d_1().status, lemma_d_1(d=5, k=2, alpha=1).measured["least_coefficient_over_alpha"]
    ('holds', Fraction(3, 4))
    """
    if not k <= d <= MOST_COORDINATES:
        raise InputError(f"k must be at most d = {d}, got {k}")
    generator = np.random.default_rng(seed)
    S, i = (1 << k) - 1, 1
    index = levels(d)
    least, most, gap = Fraction(3, 4), Fraction(0), 0.0
    for trial in range(functions):
        noise = generator.integers(-9, 10, 1 << d) * (1 if trial % 2 else index == k)
        noise[0] += not noise.any()
        size = int((noise.astype(object) ** 2).sum())
        at_S = abs(Fraction(int(noise[S]) ** 2, size)) / 16
        others = Fraction(int(((noise.astype(object) ** 2)[(index == k)]).sum()) - int(noise[S]) ** 2, size) / 16
        # l_S = alpha (1 + sign sqrt(at_S)): its square root is at most 1/4
        low = 1 - math.sqrt(at_S)
        least, most = min(least, Fraction(low).limit_denominator(10**12)), max(most, others)
        gap = max(gap, _parseval_gap(noise, size, float(alpha), S, i))
    # the extremes
    least, most = min(least, Fraction(3, 4)), max(most, Fraction(1, 16))
    measured = {"least_coefficient_over_alpha": least, "most_others_over_alpha_sq": most, "parseval_gap": gap}
    bound = {"least_coefficient_over_alpha": Fraction(3, 4), "most_others_over_alpha_sq": Fraction(1, 16)}
    checks = [
        at_least("least coefficient at S over alpha", least, Fraction(3, 4)),
        at_most("squares at the other sets of size k over alpha^2", most, Fraction(1, 16)),
        equal("E|f - t|^2 by enumeration less the sum of squares", gap, 0, 1e-10),
    ]
    return Finding(measured, bound, checks, "enumeration")


def _parseval_gap(noise: NDArray[np.int64], size: int, alpha: float, S: int, i: int) -> float:
    """|E |f - t|^2 - alpha^2/16| over the cube, for the f whose coefficients are t's plus the scaled noise."""
    target = np.zeros(len(noise))
    target[i] += 1
    target[S] += alpha
    coefficients = target + noise * (alpha / 4 / math.sqrt(size))
    n = len(noise).bit_length() - 1
    f, t = (fourier_coefficients(own) * (1 << n) for own in (coefficients, target))
    return abs(float(np.mean((f - t) ** 2)) - alpha**2 / 16)


@result(
    "residual/lemma-d.2",
    "For M in R^{N x R} with R >= 2N there are no a_1, ..., a_R with <M_r, a_r> >= 3/4 alpha and sum over r' != r of "
    "<M_r', a_r>^2 <= alpha^2/16 for every r.",
)
def lemma_d_2(
    N: Annotated[int, Whole(1, 500)] = 9,
    R: Annotated[int | None, Maybe(Whole(1, 5000))] = None,
    matrix: Annotated[str, Choice("frame", "gaussian", "repeated", "sparse")] = "frame",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma D.2 of Allen-Zhu & Li, column by column: the best a_r is known.

    With the leverage score l_r = M_r^T (M M^T)^+ M_r in [0, 1], the least of the second sum at <M_r, a_r> = 3/4 alpha
    is (9/16) alpha^2 (1/l_r - 1), so a_r exists exactly where l_r >= 9/10. As sum_r l_r = rank M <= N, at most 10 N / 9
    columns have one: R > 10 N / 9 is enough, less than the lemma's 2N. ``frame``: rows of an orthogonal R x R matrix,
    the columns of nearly equal leverage (of exactly N/R for the simplex, R = N + 1: N = 9, R = 10 attains 9/10).

    >>> lemma_d_2().status, lemma_d_2(N=9, R=10).measured["feasible"], lemma_d_2(N=9, R=10).status
    ('holds', 10, 'outside')
    """
    count = 2 * N if R is None else R
    generator = np.random.default_rng(seed)
    M = example_matrix(matrix, N, count, generator)
    rows = np.linalg.svd(M, full_matrices=False)
    kept = rows[2][rows[1] > 1e-10 * max(rows[1][0], 1e-300)]
    leverage = np.minimum((kept**2).sum(axis=0), 1.0)
    feasible = int(np.sum(leverage >= 0.9 - 1e-9))
    measured: dict[str, Any] = {
        "feasible": feasible,
        "leverage_sum": float(leverage.sum()),
        "largest_leverage": float(leverage.max()),
        "least_leverage": float(leverage.min()),
    }
    bound = {"feasible": count - 1, "feasible_sharp": Fraction(10 * N, 9), "leverage_sum": N}
    checks = [
        at_most("feasible", feasible, count - 1),
        at_most("feasible, sharper", feasible, Fraction(10 * N, 9)),
        at_most("leverage_sum", measured["leverage_sum"], N, 1e-9 * count),
    ]
    return Finding(measured, bound, checks, "closed form", [Assumption("R >= 2N", count, 2 * N, count >= 2 * N)])


def example_matrix(kind: str, N: int, R: int, generator: np.random.Generator) -> Floats:
    """Matrices that try to make many columns easy."""
    if kind == "frame":
        # rows of the cosine basis without the constant: all columns have leverage near N / R
        j, r = np.arange(1, N + 1)[:, None], np.arange(R)
        frame = np.cos(math.pi * j * (r + 0.5) / R) if N < R else np.eye(N, R)
        return np.asarray(frame / np.maximum(np.linalg.norm(frame, axis=1, keepdims=True), 1e-12))
    M = generator.normal(size=(N, R))
    if kind == "repeated":
        return M[:, np.arange(R) % max(1, min(N, R))]
    if kind == "sparse":
        M[:, N:] *= 1e-3
        M[:, :N] = np.eye(N)[:, : min(N, R)] if R >= N else M[:, :N]
    return M
