r"""The hard class (7.1) and what a span of functions on the cube captures of it.

With inputs scaled to z in {+-1}^d, the target of S = {i_1, ..., i_k} in the first d_1 coordinates has the outputs
chi_i + alpha chi_S, i in S. The best risk of predictors from a linear space U (for each output) is

    sum_{i in S} (1 + alpha^2 - ||P_U (chi_i + alpha chi_S)||^2)  >=  k alpha^2 (1 - c_S),   c_S = ||P_{U_k} chi_S||^2,

where U_k is the projection of U on level k (the span of chi_S', |S'| = k): only the coefficients at level k of the
error are counted. As sum_S c_S = dim U_k <= N, at most N / (1 - 1/(16 k)) targets have a risk of at most alpha^2/16,
whatever the functions are. No rank is computed: dim U is at most the number of distinct functions.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from separatrix.errors import InputError
from separatrix.theory.parameters import Floats, Ints

MOST_TARGETS = 2_000_000
MOST_ENTRIES = 400_000_000
"""Coefficients of the functions at all sets of size k that are looked at."""
_CHUNK = 20_000
_WELL_CONDITIONED = 1e-8
_RIDGE = 1e-12


def subsets(d1: int, k: int) -> Iterator[Ints]:
    """All k-subsets of 0..d1-1 in chunks, a row each."""
    chosen = itertools.combinations(range(d1), k)
    while rows := list(itertools.islice(chosen, _CHUNK)):
        yield np.array(rows, dtype=np.int64)


@dataclass(frozen=True)
class Functions:
    """Functions by their Gram matrix and their coefficients E f_n chi_S at the rows S of an array of sets."""

    gram: Floats
    at: Callable[[Ints], Floats]


class Span(ABC):
    """The span of N functions on {+-1}^d; ``distinct`` of them differ, counted exactly, which bounds its dimension."""

    d1: int
    distinct: int

    @abstractmethod
    def whole(self) -> Functions:
        """The functions themselves: ``gram`` is E f_n f_m."""

    @abstractmethod
    def level(self, k: int) -> Functions:
        """Functions with the span U_k of the coefficients at the k-subsets of the first d1 coordinates."""


@dataclass(frozen=True)
class BestRisks:
    """For every target: the best risk (``risk``, by projection in float64) and a lower bound of it that is sound.

    ``leverage`` is c_S, and ``lower`` = k alpha^2 (1 - c_S); where the Gram matrix of level k is not well conditioned
    nothing is claimed, and ``lower`` is 0.
    """

    risk: Floats
    lower: Floats
    leverage_sum: float
    sound: bool

    def above(self, threshold: float) -> float:
        return float(np.mean(self.risk > threshold))

    def surely_above(self, threshold: float) -> float:
        return float(np.mean(self.lower > threshold))


def best_risks(span: Span, k: int, alpha: float) -> BestRisks:
    """The best risks of all C(d1, k) targets, in the order of :func:`subsets`."""
    functions, at_level = span.whole(), span.level(k)
    check_size(span.d1, k, len(functions.gram))
    projection, level = _Projection.of(functions.gram), _Projection.of(at_level.gram)
    singles = projection.coordinates(functions.at(np.arange(span.d1)[:, None]))
    captured_singles = (singles * singles).sum(axis=1)
    sound = level.well_conditioned
    risks, lower, total = [], [], 0.0
    for sets in subsets(span.d1, k):
        own = projection.coordinates(functions.at(sets))
        cross = np.einsum("sn,skn->sk", own, singles[sets])
        captured = captured_singles[sets] + 2 * alpha * cross + alpha**2 * (own * own).sum(axis=1)[:, None]
        risks.append((1 + alpha**2 - captured).sum(axis=1))
        leverage = (level.coordinates(at_level.at(sets)) ** 2).sum(axis=1)
        total += float(leverage.sum())
        lower.append(k * alpha**2 * np.maximum(1 - leverage, 0) if sound else np.zeros(len(sets)))
    return BestRisks(np.concatenate(risks), np.concatenate(lower), total, sound)


def check_size(d1: int, k: int, N: int) -> None:
    targets = math.comb(d1, k)
    if targets > MOST_TARGETS or targets * N > MOST_ENTRIES:
        raise InputError(
            f"d1, k and N must leave at most {MOST_TARGETS} targets and {MOST_ENTRIES} coefficients, got C({d1}, "
            f"{k}) = {targets} times {N}"
        )


@dataclass(frozen=True)
class _Projection:
    """Coordinates of a projection on a span in an orthonormal basis, from the Gram matrix."""

    basis: Floats
    well_conditioned: bool

    @staticmethod
    def of(gram: Floats) -> _Projection:
        values, vectors = np.linalg.eigh(gram)
        top = max(float(values[-1]), 0.0)
        if top == 0:
            return _Projection(np.zeros((len(gram), 0)), True)
        ridge = _RIDGE * top
        # b^T Q^-1 b, shrunk where Q has hardly an eigenvalue: the energy that a bounded combination captures
        weights = np.sqrt(np.maximum(values + 2 * ridge, 0)) / np.maximum(values + ridge, ridge)
        return _Projection(vectors * weights, bool(values[0] > _WELL_CONDITIONED * top))

    def coordinates(self, coefficients: Floats) -> Floats:
        return np.asarray(coefficients @ self.basis)


def ranks(sets: Ints, d1: int) -> Ints:
    """The place of each k-subset among all of them, in the order of :func:`subsets`.

    >>> ranks(np.array([[0, 1], [0, 2], [2, 3]]), 4).tolist()
    [0, 1, 5]
    """
    k = sets.shape[1]
    combinations = np.array([[math.comb(n, r) for r in range(k + 1)] for n in range(d1)], dtype=np.int64)
    behind = sum(combinations[d1 - 1 - sets[:, j], k - j] for j in range(k))
    return np.asarray(math.comb(d1, k) - 1 - behind, dtype=np.int64)
