"""Theorem 1: no embedding of low dimension makes all parities linear."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from separatrix.errors import InputError
from separatrix.rules import Whole
from separatrix.theory.certificate import Assumption, Check, Finding, at_least, equal
from separatrix.theory.parameters import Floats, MaybeCount, Seed
from separatrix.theory.results import result
from separatrix.theory.walsh import points

MOST_ENTRIES = 1 << 20
"""Entries of the parity matrix up to which its Gram matrix is computed."""
MOST_PROGRAMS = 1 << 16
"""Inputs times features of one linear program."""


def least_root(value: int, power: int) -> int:
    """The least whole N with N^power >= value.

    >>> least_root(27, 3), least_root(28, 3), least_root(1, 2)
    (3, 4, 1)
    """
    low, high = 1, 1 << -(-value.bit_length() // power)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**power >= value else (middle + 1, high)
    return low


def gram_norm_sq(n: int, k: int) -> int:
    """The squared operator norm of M[x, A] = f_A(x), from its Gram matrix in integers: 2^n where the columns are
    orthogonal; a row sum of absolute values, which bounds it, otherwise.

    >>> gram_norm_sq(4, 3)
    16
    """
    x = points(0, 1 << n, n)
    columns = np.stack([x[:, list(A)].prod(axis=1) for A in itertools.combinations(range(n), k)]).astype(np.int64)
    return int(np.abs(columns @ columns.T).sum(axis=1).max())


def realised(features: Floats, n: int, k: int, limit: int) -> tuple[int, int]:
    """Of the first ``limit`` parities of k bits, how many some w realises on all of the cube; and how many were tried.

    By a linear program each: y_x <w, Psi(x)> >= 1 for all x.
    """
    from scipy.optimize import linprog

    x = points(0, 1 << n, n)
    found = tried = 0
    for A in itertools.islice(itertools.combinations(range(n), k), limit):
        y = x[:, list(A)].prod(axis=1).astype(np.float64)
        program = linprog(
            np.zeros(features.shape[1]), A_ub=-y[:, None] * features, b_ub=-np.ones(1 << n), bounds=(None, None)
        )
        found += program.status == 0
        tried += 1
    return found, tried


@result(
    "parity/theorem-1",
    "An embedding on which every parity of k of n bits is linear (each with probability 1/N at least) has dimension "
    "N = 2^Omega(k).",
)
def theorem_1(
    n: Annotated[int, Whole(1, 100_000)] = 8,
    k: Annotated[int, Whole(1, 99)] = 3,
    N: MaybeCount = None,
    parities: Annotated[int, Whole(0)] = 8,
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 1 of Daniely & Malach (Forster 2002), with its constant. For M[x, A] = f_A(x), x in {+-1}^n, |A| = k,

        sign-rank(M) >= sqrt(2^n C(n, k)) / ||M||,     M^T M = 2^n I,  so  ||M|| = 2^(n/2)  and  N >= sqrt C(n, k)

    for an embedding that is not random (``dimension``). Where each f_A is realised with probability 1/N at least, some
    draw realises C(n, k)/N of them, and Forster's bound on these columns (the norm of a part is no larger) gives
    N >= sqrt(C(n, k)/N): ``dimension_random``, the least N with N^3 >= C(n, k). From n = 2k on, C(n, k) >= 2^k, which
    makes it 2^(k/3).

    ``norm_sq``: M's squared operator norm over 2^n, exactly; the Gram matrix is computed up to 2^20 entries. Measured
    beside it: of ``parities`` functions f_A, how many ``N`` random ReLU features and how many the features
    psi_r of the *right* A realise on the whole cube (linear programs; N defaults to 4 ``dimension``).

    >>> found = theorem_1(n=10, k=5, parities=0)
    >>> found.status, found.bound["dimension"], found.bound["dimension_random"]
    ('holds', 16, 7)
    """
    if k > n:
        raise InputError(f"k must be an integer of at most n = {n}, got {k}")
    ways = math.comb(n, k)
    dimension, random = least_root(ways, 2), least_root(ways, 3)
    norm = Fraction(1)
    checks: list[Check] = []
    notes = []
    entries = ways << n if n <= 20 else MOST_ENTRIES + 1
    if entries <= MOST_ENTRIES:
        norm = Fraction(gram_norm_sq(n, k), 1 << n)
        checks.append(equal("norm_sq", norm, Fraction(1)))
    else:
        notes.append("columns are different characters, so orthogonal: ||M||^2 = 2^n without its Gram matrix")
    rate = Fraction(k, 3)
    checks.append(at_least("N >= 2^(k/3)", Fraction(random**3), Fraction(2**k)))
    measured: dict[str, Any] = {"norm_sq": norm, "columns": ways if ways.bit_length() < 1024 else math.log2(ways)}
    bound: dict[str, Any] = {"dimension": dimension, "dimension_random": random, "exponent_of_2": rate}
    width = 4 * dimension if N is None else N
    if parities and (1 << min(n, 30)) * width <= MOST_PROGRAMS:
        generator = np.random.default_rng(seed)
        x = points(0, 1 << n, n).astype(np.float64)
        hidden = np.maximum(x @ generator.normal(size=(n, width)) + generator.normal(size=width), 0)
        done, tried = realised(hidden, n, k, parities)
        total = x[:, :k].sum(axis=1)
        right = np.stack([np.maximum(abs(r) - np.sign(r) * total, 0) for r in range(-k, k + 1) if r], axis=1)
        own, others = realised(right, n, k, 1)[0], realised(right, n, k, parities)
        measured |= {"N": width, "tried": tried, "realised_by_random_features": done}
        measured |= {"realised_by_psi_of_A": own, "realised_by_psi_of_another_A": others[0] - own}
        if width < random:
            checks.append(at_least("below the bound not every parity", tried - done if tried == ways else 1, 1))
        notes.append("psi_r of A realises f_A with 2k features: dimension is not what stops a linear method, A is")
    return Finding(
        measured=measured,
        bound=bound,
        checks=checks,
        method="exact",
        assumptions=[Assumption("n >= 2k (for 2^(k/3))", n, 2 * k, n >= 2 * k)],
        vacuous="N >= 1 says nothing" if dimension <= 1 else None,
        notes=notes,
    )
