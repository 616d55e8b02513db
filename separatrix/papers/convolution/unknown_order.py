"""Section 5: with the bits in an unknown order a k-pattern is a k-junta, and no search over architectures is cheap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from separatrix.errors import InputError
from separatrix.rules import Maybe, Real, Whole
from separatrix.theory.certificate import Check, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Ints, Seed
from separatrix.theory.results import result
from separatrix.theory.walsh import levels, walsh_hadamard

ENUMERATED_BITS, ENUMERATED_JUNTAS = 10, 4096
"""Up to here the class's dimension is also found by elimination."""
PRIME = 2_147_483_629
SYMMETRY_BITS, SYMMETRY_STEPS = 4, 2


@result(
    "convolution/section-5",
    "In an unknown order of the bits the k-pattern problem is that of k-juntas, whose statistical-query dimension is "
    "C(n,0) + ... + C(n,k), superpolynomial at k = log2 n, against (n-k+2) 2^(k-1) in the known order.",
)
def section_5(
    n: Annotated[int, Whole(1, 4096)] = 8,
    k: Annotated[int, Whole(1, 64)] = 3,
    tau: Annotated[Fraction | None, Maybe(Real(above=0, high=1, exact=True))] = None,
    queries: Annotated[int, Whole(0, 10_000)] = 200,
    k_max: Annotated[int, Whole(3, 64)] = 12,
    seed: Seed = 0,
) -> Finding:
    r"""Section 5 of Malach & Shalev-Shwartz: what its sentences say, in exact numbers, for x uniform on {+-1}^n.

    **Statistical-query dimension** (Blum et al.): the largest d such that the class has d functions with pairwise
    correlations of at most 1/d. Parities are uncorrelated, so those of at most k bits, which are k-juntas, give
    d >= sum_{i<=k} C(n, i); and d unit vectors with correlations at most 1/d are independent (their Gram matrix is
    diagonally dominant), so d is at most the dimension of the juntas' span, the same number. In the *known* order the
    class is the functions of one window, and the same argument counts the sets that fit into one:

        ``sq_dimension`` = sum_{i<=k} C(n, i)         ``sq_dimension_ordered`` = (n - k + 2) 2^(k-1)

    both found again by elimination (exactly, modulo a prime) for small n. An algorithm that asks for expectations up to
    ``tau`` (default d^(-1/3)) needs at least (d tau^2 - 1)/2 queries, because one query distinguishes at most 1/tau^2
    of the parities (Parseval): ``most_ruled_out`` is the most that any of ``queries`` random +-1 queries did.

    **Architectures.** A network over windows of k bits, in the order it takes the bits to be in, is a sum of functions
    of one window each, so it is uncorrelated with a parity that fits into none, whatever its weights, and its hinge
    loss is at least 1 - E[f h] = 1. An order serves n - k + 1 of the C(n, k) parities, so that all of them need at
    least ``orders_needed`` orders.

    **Growth**: at k = log2 n the local exponent d log(dimension) / d log n goes to 2 in the known order
    (``exponents_ordered``; the dimension is at most n^2/2) and grows without end in the unknown one (``exponents``), k
    up to ``k_max``.

    **The fully connected net does not care**: gradient descent on sign weights (ReLU, in fractions, so exactly)
    commutes with every permutation of the bits: ``symmetry_mismatches`` over all permutations of 4 bits.

    >>> found = section_5(n=6, k=2)
    >>> found.status, found.measured["sq_dimension"], found.measured["sq_dimension_ordered"]
    ('holds', 22, 12)
    """
    if k > n:
        raise InputError(f"k must be at most n = {n}, got {k}")
    juntas, ordered = junta_dimension(n, k), window_dimension(n, k)
    tolerance = float(tau) if tau is not None else juntas ** (-1 / 3)
    unordered_growth, ordered_growth = _growth(k_max)
    mismatches, permutations = fcn_symmetry(SYMMETRY_BITS, 2, seed)
    measured: dict[str, Any] = {
        "sq_dimension": juntas,
        "sq_dimension_parities": math.comb(n, k),
        "sq_dimension_ordered": ordered,
        "queries_needed": max(0.0, (juntas * tolerance**2 - 1) / 2),
        "tolerance": tolerance,
        "parities_in_a_window": n - k + 1,
        "orders_needed": math.ceil(Fraction(math.comb(n, k), n - k + 1)),
        "exponents": unordered_growth,
        "exponents_ordered": ordered_growth,
        "symmetry_mismatches": mismatches,
        "permutations": permutations,
    }
    bound: dict[str, Any] = {"symmetry_mismatches": 0}
    checks: list[Check] = [
        equal("symmetry_mismatches", mismatches, 0),
        at_least("least rise of the exponents, unknown order", _least_rise(unordered_growth), 0),
        at_most("dimension in the known order over n^2, k = log2 n", _over_square(k_max), Fraction(1, 2)),
    ]
    notes = [
        f"all {permutations} permutations of {SYMMETRY_BITS} bits, {SYMMETRY_STEPS} steps, every weight a fraction"
    ]
    if n <= ENUMERATED_BITS and math.comb(n, k) << k <= ENUMERATED_JUNTAS:
        sets = list(itertools.combinations(range(n), k))
        windows = [tuple(range(j, j + k)) for j in range(n - k + 1)]
        measured |= {"rank": span_rank(n, sets), "rank_ordered": span_rank(n, windows)}
        measured["largest_correlation_outside"] = _correlation_outside(n, sets, windows)
        checks += [
            equal("rank of the span of all k-juntas", measured["rank"], juntas),
            equal("rank of the span of all windows' functions", measured["rank_ordered"], ordered),
            equal("correlation of other parities with windows' functions", measured["largest_correlation_outside"], 0),
        ]
        if queries:
            ruled_out = _most_ruled_out(n, k, tolerance, queries, seed)
            measured["most_ruled_out"] = ruled_out
            bound["most_ruled_out"] = tolerance**-2
            checks.append(at_most("parities that one query distinguishes", ruled_out, tolerance**-2, 1e-9))
        notes.append("ranks by elimination on the 2^n points modulo a prime, correlations in integers")
    return Finding(measured, bound, checks, "exact", notes=notes)


def junta_dimension(n: int, k: int) -> int:
    """The number of sets of at most k of n bits.

    >>> junta_dimension(4, 2)
    11
    """
    return sum(math.comb(n, i) for i in range(k + 1))


def window_dimension(n: int, k: int) -> int:
    """The number of sets that fit into k consecutive bits: with the first element among n-k+1 places, or later.

    >>> window_dimension(4, 2)  # the empty set, four single bits, three pairs
    8
    """
    return (n - k + 2) << (k - 1)


def span_rank(n: int, sets: Sequence[tuple[int, ...]]) -> int:
    """The rank over a prime field of the indicators 1{x_S = z}, all S of ``sets`` and z, as vectors of 2^n entries.

    It is at most the rational rank, which is at most the number of characters that span them.
    """
    rows = [_shown(n, chosen) == z for chosen in sets for z in range(1 << len(chosen))]
    matrix = np.unique(np.array(rows, dtype=np.int64), axis=0)
    rank = 0
    for column in range(matrix.shape[1]):
        pivots = np.flatnonzero(matrix[rank:, column])
        if not len(pivots):
            continue
        pivot = rank + int(pivots[0])
        matrix[[rank, pivot]] = matrix[[pivot, rank]]
        matrix[rank] = matrix[rank] * pow(int(matrix[rank, column]), -1, PRIME) % PRIME
        below = rank + 1 + np.flatnonzero(matrix[rank + 1 :, column])
        matrix[below] = (matrix[below] - matrix[below, column, None] * matrix[rank]) % PRIME
        rank += 1
        if rank == len(matrix):
            break
    return rank


def _shown(n: int, bits: Sequence[int]) -> Ints:
    """The number of the pattern on these bits, at every point."""
    index = np.arange(1 << n)
    found = np.zeros_like(index)
    for place, bit in enumerate(bits):
        found |= ((index >> bit) & 1) << place
    return found


def _correlation_outside(n: int, sets: Sequence[tuple[int, ...]], windows: Sequence[tuple[int, ...]]) -> int:
    """The largest |sum_x chi_S(x) 1{x_window = z}| over the S in no window: 0, by the transform of each indicator."""
    outside = [sum(1 << bit for bit in chosen) for chosen in sets if chosen not in windows]
    if not outside:
        return 0
    largest = 0
    for window in windows:
        shown = _shown(n, window)
        for z in range(1 << len(window)):
            sums = walsh_hadamard(np.asarray(shown == z, dtype=np.int64))
            largest = max(largest, int(np.abs(sums[outside]).max()))
    return largest


def _most_ruled_out(n: int, k: int, tau: float, queries: int, seed: int) -> int:
    """Of random +-1 queries (and the parity itself), the most parities of at most k bits with |correlation| > tau."""
    generator = np.random.default_rng(seed)
    small = levels(n) <= k
    most = 1 if tau < 1 else 0  # a parity distinguishes itself
    for _ in range(queries):
        values = generator.choice(np.array([-1, 1]), 1 << n)
        if generator.integers(2):  # a query that leans on few bits
            values = np.sign(values + 2 * walsh_hadamard(np.where(small, generator.normal(size=1 << n), 0.0)))
        found = walsh_hadamard(np.asarray(values, dtype=np.float64)) / (1 << n)
        most = max(most, int(np.sum(np.abs(found[small]) > tau)))
    return most


def _growth(k_max: int) -> tuple[list[float], list[float]]:
    """log2 of D(2n, k+1) / D(n, k) at n = 2^k, for both orders."""

    def exponents(dimension: Any) -> list[float]:
        values = [dimension(2**k, k) for k in range(2, k_max + 1)]
        return [math.log2(later) - math.log2(value) for value, later in itertools.pairwise(values)]

    return exponents(junta_dimension), exponents(window_dimension)


def _over_square(k_max: int) -> Fraction:
    """The largest dimension in the known order over n^2 at n = 2^k, k = 2..k_max."""
    return max(Fraction(window_dimension(2**k, k), 4**k) for k in range(2, k_max + 1))


def _least_rise(values: list[float]) -> float:
    return min((later - value for value, later in itertools.pairwise(values)), default=0.0)


def fcn_symmetry(n: int, k: int, seed: int) -> tuple[int, int]:
    """How many permutations do not commute with gradient descent on a two-neuron ReLU net; and how many there are.

    h(x) = sum_i u_i relu(<w_i, x> + 1/2) on chi_I, I the first k bits, population hinge loss, step 1/4, in fractions:
    for each permutation pi the net of weights pi(w) on chi_pi(I) must have exactly pi of the weights, and the same u.
    """
    generator = np.random.default_rng(seed)
    start = [[Fraction(int(bit)) for bit in row] for row in generator.choice([-1, 1], (2, n))]
    target = set(range(k))
    w, u = _descended(start, target, n)
    wrong = 0
    permutations = list(itertools.permutations(range(n)))
    for order in permutations:
        moved = [[row[order.index(bit)] for bit in range(n)] for row in start]  # bit i goes to place order[i]
        w_moved, u_moved = _descended(moved, {order[bit] for bit in target}, n)
        same = all(row[bit] == other[order[bit]] for row, other in zip(w, w_moved, strict=True) for bit in range(n))
        wrong += not (same and u == u_moved)
    return wrong, len(permutations)


def _descended(start: list[list[Fraction]], target: set[int], n: int) -> tuple[list[list[Fraction]], list[Fraction]]:
    """A few steps of population gradient descent from u = 1/4, written out over all points."""
    w, u = [list(row) for row in start], [Fraction(1, 4)] * len(start)
    b, eta = Fraction(1, 2), Fraction(1, 4)
    cube = list(itertools.product((1, -1), repeat=n))
    for _ in range(SYMMETRY_STEPS):
        step_w = [[Fraction(0)] * n for _ in w]
        step_u = [Fraction(0)] * len(w)
        for x in cube:
            y = math.prod(x[bit] for bit in target)
            z = [sum(row[bit] * x[bit] for bit in range(n)) + b for row in w]
            if y * sum(u[i] * max(z[i], Fraction(0)) for i in range(len(w))) >= 1:
                continue
            for i in range(len(w)):
                if z[i] > 0:
                    step_u[i] += y * z[i]
                    for bit in range(n):
                        step_w[i][bit] += y * u[i] * x[bit]
        w = [
            [value + eta * step / 2**n for value, step in zip(*rows, strict=True)]
            for rows in zip(w, step_w, strict=True)
        ]
        u = [value + eta * step / 2**n for value, step in zip(u, step_u, strict=True)]
    return w, u
