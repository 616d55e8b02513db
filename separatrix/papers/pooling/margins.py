"""Section 6: the norm of the best linear separator, and the bounds that follow from it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Annotated, Any

import numpy as np

from separatrix.learners.least_distance import least_distance
from separatrix.rules import Maybe, Whole
from separatrix.tasks.pattern_detection import need_room
from separatrix.theory.certificate import Assumption, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Floats, Ints, Version
from separatrix.theory.results import result

MOST_SOLVED = 600
"""Points of the support up to which the quadratic program is also solved numerically."""
SOLVER_TOLERANCE = 1e-8
PROOF_CONSTANT = 51_200
"""||v*||^2 ||z||^2 <= (2 80^2 d / (k eta^2 T^2)) (4 k eta^2 T^2) in part 3 of Theorem 5.1's proof, over d."""


@result(
    "pooling/proposition-6.1",
    "The least-norm linear separator of the pattern distribution with margin 1 has squared norm at least n "
    "(printed); it is exactly 2n (corrected).",
)
def proposition_6_1(
    n: Annotated[int, Whole(1, 1000)] = 4,
    d: Annotated[int, Whole(3)] = 5,
    l: Annotated[int | None, Maybe(Whole(3, 1000))] = None,  # noqa: E741
    version: Version = "corrected",
) -> Finding:
    r"""Proposition 6.1 of Brutzkus & Globerson, on the whole support.

        w^ = argmin ||w||^2  such that  y w . x >= 1 for all (x, y) in the support       (Equation 9)

    Printed: ||w^||^2 >= n, from |w[i] . (o_1 - o_2)| <= 2 ||w[i]||; but ||o_1 - o_2|| = sqrt 2, so the same
    proof gives ||w[i]||^2 >= 2. The minimum is 2n, by two certificates checked here in integers:

    - w[i] = o_1 - o_2 for each i is feasible: the least margin over the support, which has n (l-2)^(n-1)
      points of each label, is min_i (y w[i] . o_y + sum_{j != i} min_s y w[j] . o_s), of only n terms;
    - weight 1 on the 2n points with o_1 or o_2 at place i and o_3 at all others is dual feasible, and
      w = sum lambda y x. ``dual_gap`` is (1/2) ||w||^2 - (sum lambda - (1/2) ||sum lambda y x||^2).

    Where the support has at most 600 points the program is also solved numerically (as the least-distance
    problem it is, by non-negative least squares), and the solver's own duality gap reported: a solver's point
    counts only with it.

    ``n`` patterns to an input, ``l`` different ones (``d`` by default) in R^d. Only the coordinates along the
    patterns matter: a component outside their span only adds to the norm.

    >>> found = proposition_6_1(n=300, d=10)
    >>> found.status, found.measured["norm_sq"], found.measured["dual_gap"]
    ('holds', 600, Fraction(0, 1))
    """
    patterns = min(d, 1000) if l is None else l
    need_room(d, patterns)
    w = np.zeros((n, patterns), dtype=np.int64)
    w[:, 0], w[:, 1] = 1, -1
    norm_sq = int(np.sum(w * w))
    weighted = weighted_sum(*_sparse_dual(n), patterns)
    multipliers = 2 * n
    gap = Fraction(norm_sq, 2) - (multipliers - Fraction(int(np.sum(weighted * weighted)), 2))
    stated = n if version == "printed" else 2 * n
    measured: dict[str, Any] = {
        "norm_sq": norm_sq,
        "dual_gap": gap,
        "least_margin": least_margin(w),
        "stationarity": int(np.abs(w - weighted).max()),
        "support_vectors": 2 * n,
    }
    checks = [
        at_least("least_margin", measured["least_margin"], 1),
        equal("stationarity", measured["stationarity"], 0),
        equal("dual_gap", gap, 0),
        at_least("norm_sq", norm_sq, stated),
    ]
    notes = []
    if version == "printed":
        notes.append(f"true but not tight: the minimum is 2n = {2 * n}")
    else:
        checks.append(at_most("norm_sq is no more", norm_sq, stated))
    if 2 * n * (patterns - 2) ** (n - 1) <= MOST_SOLVED:
        points, labels = support(n, patterns)
        solved, solver_gap = least_norm_separator(points, labels)
        measured |= {"norm_sq_solved": float(solved @ solved), "dual_gap_solved": solver_gap}
        if solver_gap <= SOLVER_TOLERANCE * n:
            checks.append(equal("norm_sq_solved", measured["norm_sq_solved"], norm_sq, SOLVER_TOLERANCE * n))
            notes.append(f"also solved numerically on all {len(points)} points of the support")
        else:
            notes.append(f"the numerical solver stopped at a duality gap of {solver_gap:.2g}: it says nothing here")
    assumptions = [Assumption("l >= 3", patterns, 3, patterns >= 3)]
    return Finding(measured, {"norm_sq": stated}, checks, "exact", assumptions, notes=notes)


def least_margin(w: Ints) -> int:
    """The smallest y w . x over the whole support, without enumerating it; w has a row for each place.

    >>> least_margin(np.array([[1, -1, 0, 2], [1, -1, -3, 0]]))
    -2
    """
    margins = []
    for y, discriminative in ((1, 0), (-1, 1)):
        spurious = (y * w[:, 2:]).min(axis=1)
        margins.append(y * w[:, discriminative] + spurious.sum() - spurious)
    return int(np.min(margins))


def _sparse_dual(n: int) -> tuple[Ints, Ints]:
    """For each place i, the positive and the negative point with o_3 at all other places."""
    numbers = np.full((2 * n, n), 2)
    numbers[np.arange(n), np.arange(n)] = 0
    numbers[n + np.arange(n), np.arange(n)] = 1
    return numbers, np.repeat([1, -1], n)


def weighted_sum(numbers: Ints, labels: Ints, l: int) -> Ints:  # noqa: E741
    """sum_p y_p x_p with a row for each place; ``numbers`` has the patterns of each point, from 0."""
    total = np.zeros((numbers.shape[1], l), dtype=np.int64)
    for place, patterns in enumerate(numbers.T):
        np.add.at(total[place], patterns, labels)
    return total


def support(n: int, l: int) -> tuple[Floats, Ints]:  # noqa: E741
    """Every point of the support as a vector of R^(n l), and its label."""
    numbers, labels = [], []
    for place in range(n):
        for spurious in product(range(2, l), repeat=n - 1):
            for y, discriminative in ((1, 0), (-1, 1)):
                numbers.append([*spurious[:place], discriminative, *spurious[place:]])
                labels.append(y)
    return np.eye(l)[np.array(numbers)].reshape(len(labels), n * l), np.array(labels)


def least_norm_separator(points: Floats, labels: Ints | Floats) -> tuple[Floats, float]:
    """argmin ||w||^2 with y w . x >= 1, and its duality gap; the data must be separable.

    The point is scaled to be feasible before the gap is taken, so the gap bounds how far ||w||^2 / 2 is from the
    minimum whatever the solver did; it is infinite where the solver found no separator.
    """
    rows = labels[:, None] * points
    multipliers, gap = least_distance(rows)
    combined = multipliers @ rows
    if math.isinf(gap):
        return combined, gap
    w = combined / float((rows @ combined).min())
    return w, gap * float(w @ w) / 2


def need_separable(gap: float) -> None:
    """Raise where :func:`least_norm_separator` found no separator."""
    if math.isinf(gap):
        raise ArithmeticError("the features of S2 must be linearly separable, and no separator of them was found")


@result(
    "pooling/section-6",
    "The margin bound of linear and fully-connected learners, ||w^||^2 R^2, grows as n^2; the bound of the "
    "max-pooling network, of order d, does not depend on n.",
)
def section_6(
    n: Annotated[int, Whole(1, 1_000_000)] = 1000,
    d: Annotated[int, Whole(3, 1_000_000)] = 20,
    version: Version = "corrected",
) -> Finding:
    r"""Section 6 of Brutzkus & Globerson, the comparison of two upper bounds on the sample complexity.

    =====================  ==========================================================================
    learner                bound, up to one common constant
    =====================  ==========================================================================
    SVM, leaky-ReLU FC     ||w^||^2 R^2 with R^2 = n and ||w^||^2 = 2n (``version=printed``: n)
    max-pooling CNN        ||a^||^2 max ||z(x)||^2 <= 51200 d, from part 3 of Theorem 5.1's proof:
                           ||a^||^2 <= 2 80^2 d / (k eta_1^2 T_1^2) and ||z(x)||^2 <= 4 k eta_1^2 T_1^2
    =====================  ==========================================================================

    The orders are checked on the numbers themselves: doubling ``n`` multiplies the first by 4 and leaves the
    second, doubling ``d`` does the opposite with 2; so for n = d^r they are d^2r and d. With the proof's own
    constant the second is the smaller only above n = 160 sqrt(d) (``smallest_n``); below that the comparison
    is ``vacuous``. Both are upper bounds: neither says what the learners do.

    >>> found = section_6(n=1000, d=20)
    >>> found.status, found.bound["fully_connected"], found.bound["max_pooling"], found.measured["smallest_n"]
    ('holds', 2000000, 1024000, 716)
    >>> section_6(n=100).status
    'vacuous'
    """
    factor = 1 if version == "printed" else 2

    def fully_connected(n: int) -> int:
        return factor * n * n

    def max_pooling(d: int) -> int:
        return PROOF_CONSTANT * d

    wide, pooled = fully_connected(n), max_pooling(d)
    smallest = math.isqrt(pooled // factor) + 1
    measured: dict[str, Any] = {
        "exponent_n": math.log2(Fraction(fully_connected(2 * n), wide)),
        "exponent_d": math.log2(Fraction(max_pooling(2 * d), pooled)),
        "ratio": Fraction(wide, pooled),
        "smallest_n": smallest,
    }
    return Finding(
        measured=measured,
        bound={"fully_connected": wide, "max_pooling": pooled, "exponent_n": 2, "exponent_d": 1},
        checks=[
            equal("exponent_n", measured["exponent_n"], 2),
            equal("exponent_d", measured["exponent_d"], 1),
        ],
        method="closed form",
        assumptions=[Assumption("l >= 3 patterns in R^d", d, 3, d >= 3)],
        vacuous=None if wide > pooled else f"the two bounds cross at n = {smallest}",
    )
