"""The best linear classifier of the bits: against all threshold functions, and by what it does."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from separatrix.papers.parity.linear import best_linear_error, best_separator
from separatrix.theory.walsh import points


def errors(h, k):
    """On the uniform and on the aligned component, for h on all points."""
    x = points(0, 1 << k, k)
    wrong = h != x.prod(axis=1)
    aligned = abs(x.sum(axis=1)) == k
    return Fraction(int(wrong.sum()), 2**k), Fraction(int(wrong[aligned].sum()), 2)


@pytest.mark.parametrize("k", [3, 5, 7, 9, 11])
def test_the_separator_has_the_error(k):
    uniform, aligned = errors(np.sign(points(0, 1 << k, k) @ best_separator(k)), k)
    assert (uniform, aligned) == (best_linear_error(k, Fraction(0)), 0)


def threshold_functions(k, largest):
    """Those with whole weights up to ``largest`` in size: a row of truth values each."""
    x = points(0, 1 << k, k).astype(int)
    ordered = set()
    for w in combinations_with_replacement(range(largest + 1), k):
        sums = x @ np.array(w)
        ordered |= {(sums > b).tobytes() for b in (*np.unique(sums), -math.inf)}
    h = np.array([np.frombuffer(row, bool) for row in ordered])
    place = {tuple(point): i for i, point in enumerate(x.tolist())}
    found = [
        np.packbits(h[:, [place[tuple(point)] for point in (x * signs)[:, order].tolist()]], axis=1)
        for order in permutations(range(k))
        for signs in product((1, -1), repeat=k)
    ]
    return np.unpackbits(np.unique(np.concatenate(found), axis=0), axis=1).astype(bool)


@pytest.mark.parametrize(("k", "largest", "count"), [(3, 2, 104), (5, 5, 94_572)])
def test_no_threshold_function_has_a_smaller_one(k, largest, count):
    """None of all of them: small whole weights make every one of so few bits, and their number is known."""
    h = threshold_functions(k, largest)
    assert len(h) == count
    x = points(0, 1 << k, k)
    wrong, aligned = h != (x.prod(axis=1) > 0), abs(x.sum(axis=1)) == k
    for mixture in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(7, 8)):
        p = (1 - mixture) * Fraction(1, 2**k), mixture * Fraction(1, 2)
        counts = np.stack([wrong.sum(axis=1), wrong[:, aligned].sum(axis=1)], axis=1)
        least = min(a * p[0] + b * p[1] for a, b in counts.tolist())
        assert least == best_linear_error(k, mixture)
