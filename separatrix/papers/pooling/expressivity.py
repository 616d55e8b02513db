"""Theorem 4.2: max-pooling networks shatter exponentially many points of the distribution's support."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from separatrix.rules import Maybe, Whole
from separatrix.theory.certificate import Assumption, Finding, at_least, equal
from separatrix.theory.parameters import Floats, Ints, MaybeCount
from separatrix.theory.results import result

ENTRIES = 1 << 22
"""Entries of the largest array made at once."""
LITERAL_WORK = 1 << 27
"""Activations computed, unless the number of labellings is asked for."""


@result(
    "pooling/theorem-4.2",
    "With d = 2n and n >= 2, max-pooling networks on the support of the pattern distribution have VC "
    "dimension at least 2^(d/2 - 1).",
)
def theorem_4_2(
    n: Annotated[int, Whole(1, 12)] = 4,
    d: MaybeCount = None,
    l: Annotated[int | None, Maybe(Whole(3))] = None,  # noqa: E741
    labellings: MaybeCount = None,
    seed: Annotated[int, Whole(0)] = 0,
) -> Finding:
    r"""Theorem 4.2 of Brutzkus & Globerson: a shattered set B of size 2^(n-1), for d = 2n and n >= 2.

    For I in {0,1}^(n-1) the point x_I has x_I[j] = o_{2j+1} where I[j] = 1 and o_{2j+2} where I[j] = 0, and
    o_1 or o_2 (drawn by ``seed``) as its n-th pattern. A labelling y is realised by the network of Equation 1

        N(x) = sum_i a_i max_j relu(w_i . x[j])

    with, for each I, filters max(alpha_I, 0) sum_{j<n} x_I[j] and max(-alpha_I, 0) sum_{j<n} x_I[j] and
    a = 1 and -1. As x_I meets the pattern sum of I' unless I' is its complement I^c, Equation 5 is
    (J - P) alpha = y, J all ones and P the complementation, and with N = 2^(n-1) and S = sum y it gives

        (N - 1) alpha_I = S - (N - 1) y_{I^c}

    so everything times N - 1 is an integer.

    ``n``, ``d``, ``l`` (the number of patterns, ``d`` by default) are the paper's; ``labellings`` is how many
    Equation 1 is evaluated for: by default all where there are at most 2^16, else that many random ones, or
    as many as are quick. ``shattered`` is the size of B when every labelling is proved to be realised.

    >>> found = theorem_4_2(n=4)
    >>> found.status, found.measured
    ('holds', {'labellings_checked': 256, 'labellings_realised': 256, 'shattered': 8})
    """
    dimension = 2 * n if d is None else d
    patterns = dimension if l is None else l
    assumptions = [
        Assumption("d = 2n", dimension, 2 * n, dimension == 2 * n),
        Assumption("n >= 2", n, 2, n >= 2),
        Assumption("l = d patterns", patterns, dimension, patterns == dimension),
    ]
    bound = {"vc_dimension": 2 ** (n - 1)}
    if n < 2 or not 2 * n <= patterns <= dimension:
        nothing = {"labellings_checked": 0, "labellings_realised": 0, "shattered": 0}
        note = "the construction needs n >= 2 and the patterns o_1..o_{2n} in R^d"
        return Finding(nothing, bound, [], "exact", assumptions, notes=[note])
    generator = np.random.default_rng(seed)
    points = shattered_points(n, generator.integers(2, size=1 << (n - 1)))
    proved = in_support(points, patterns) and realises_every_labelling(points)
    chosen = _labellings(n, labellings, generator)
    realised = sum(realised_labellings(points, block, dimension) for block in _blocks(chosen, points))
    shattered = len(points) if proved and realised == len(chosen) else 0
    return Finding(
        measured={
            "labellings_checked": len(chosen),
            "labellings_realised": realised,
            "shattered": shattered,
        },
        bound=bound,
        checks=[
            equal("labellings_realised", realised, len(chosen)),
            at_least("shattered", shattered, bound["vc_dimension"]),
        ],
        method="exact",
        assumptions=assumptions,
        notes=[
            "Equation 1 in integers (weights times N - 1) at every point of B, for each labelling checked",
            "all labellings: the output is linear in alpha, as relu(alpha v) - relu(-alpha v) = alpha v for "
            "the v >= 0 here, and alpha is linear in y; the matrix alpha -> output, each column a value of "
            "Equation 1, was formed and inverts y -> alpha",
        ],
    )


def shattered_points(n: int, last: Ints) -> Ints:
    """B as pattern numbers: row I holds the n patterns of x_I, numbered from 1 as in the paper.

    >>> shattered_points(3, np.array([0, 1, 1, 0])).tolist()
    [[4, 6, 1], [3, 6, 2], [4, 5, 2], [3, 5, 1]]
    """
    index = np.arange(1 << (n - 1))[:, None]
    j = np.arange(1, n)
    bits = (index >> (j - 1)) & 1
    return np.asarray(np.concatenate([2 * j + 2 - bits, last[:, None] + 1], axis=1))


def in_support(points: Ints, patterns: int) -> bool:
    """Whether the points are distinct, each with one discriminative pattern and n-1 spurious ones."""
    discriminative = (points <= 2).sum(axis=1)
    known = (points >= 1) & (points <= patterns)
    return bool((discriminative == 1).all() and known.all() and len(np.unique(points, axis=0)) == len(points))


def second_layer(labels: Ints) -> Ints:
    """(N - 1) alpha for each row of labels, from Equation 5. The complement of I is N - 1 - I."""
    size = labels.shape[1]
    return np.asarray(labels.sum(axis=1, keepdims=True) - (size - 1) * labels[:, ::-1])


def pattern_sums(points: Ints, dimension: int) -> Floats:
    """sum_{j<n} x_I[j] for each I, a row of R^d, with o_i the i-th unit vector."""
    return np.asarray(np.eye(dimension)[points[:, :-1] - 1].sum(axis=1))


def equation_1(filters: Floats, a: Floats, points: Ints) -> Floats:
    """N(x) of each network at each point; ``filters`` is (networks, k, d), the answer (networks, points).

    With o_i the i-th unit vector, w . o_i is the i-th entry of w. Integers below 2^53 stay exact.
    """
    pooled = np.zeros((*filters.shape[:2], len(points)))
    for patterns in points.T:
        np.maximum(pooled, filters[:, :, patterns - 1], out=pooled)
    return np.asarray(np.einsum("k,rkp->rp", a, pooled))


def realised_labellings(points: Ints, labels: Ints, dimension: int) -> int:
    """How many rows of labels the network built for them gives, exactly N(x_I) = y_I at every point."""
    size = len(points)
    alpha = second_layer(labels).astype(np.float64)
    sums = pattern_sums(points, dimension)
    filters = np.concatenate([np.maximum(alpha, 0)[:, :, None] * sums, np.maximum(-alpha, 0)[:, :, None] * sums], 1)
    a = np.repeat([1.0, -1.0], size)
    return int((equation_1(filters, a, points) == (size - 1) * labels).all(axis=1).sum())


def realises_every_labelling(points: Ints) -> bool:
    """Whether the matrix alpha -> output of Equation 1 is J - P, which ``second_layer`` inverts.

    Column I' of the matrix is the network with the one filter sum_j x_I'[j]. That (J - P) alpha = (N - 1) y
    is checked on the unit vectors y where N is at most 1024, and is the identity
    (J - P)(J - (N - 1) P) = (N - 1) Id, which follows from J^2 = N J, J P = P J = J and P^2 = Id.
    """
    size = len(points)
    sums = pattern_sums(points, int(points.max()))
    complement = np.arange(size)[::-1]
    columns = max(1, ENTRIES // size)
    for start in range(0, size, columns):
        some = np.arange(start, min(start + columns, size))
        outputs = equation_1(sums[some, None, :], np.ones(1), points)
        expected = (some[:, None] != complement[None, :]).astype(np.float64)
        if not np.array_equal(outputs, expected):
            return False
    if size > 1024:
        return True
    matrix = 1 - np.eye(size)[::-1]
    alphas = second_layer(np.eye(size, dtype=np.int64)).astype(np.float64)
    return bool(np.array_equal(alphas @ matrix, (size - 1) * np.eye(size)))


def _labellings(n: int, wanted: int | None, generator: np.random.Generator) -> Ints:
    """All labellings, or as many random ones as asked for."""
    size = 1 << (n - 1)
    quick = max(1, LITERAL_WORK // (2 * size * size * n))
    if size <= 16 and (wanted is None or wanted >= 1 << size):
        bits = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
        return 1 - 2 * bits
    count = min(1 << 16, quick) if wanted is None else wanted
    return generator.choice(np.array([-1, 1]), size=(count, size))


def _blocks(labels: Ints, points: Ints) -> list[Ints]:
    rows = max(1, ENTRIES // (2 * len(points) ** 2))
    return [labels[start : start + rows] for start in range(0, len(labels), rows)]
