r"""The hard class (7.1) and what a span of functions on the cube captures of it.

With inputs scaled to z in {+-1}^d, the target of S = {i_1, ..., i_k} in the first d_1 coordinates has the outputs
chi_i + alpha chi_S, i in S. The best risk of predictors from a linear space U (for each output) is

    sum_{i in S} (1 + alpha^2 - ||P_U (chi_i + alpha chi_S)||^2)  >=  k alpha^2 (1 - c_S),   c_S = ||P_{U_k} chi_S||^2,

where U_k is the projection of U on level k (the span of chi_S', |S'| = k): only the coefficients at level k of the
error are counted. As sum_S c_S = dim U_k <= N, at most N / (1 - 1/(16 k)) targets have a risk of at most alpha^2/16,
whatever the functions are. No rank is computed there: dim U is at most the number of distinct functions.

The best risk itself needs the rank of a Gram matrix, which float64 tells where every eigenvalue is either large or a
rounding error. Where one lies between, the risk is known only to lie between the bound above and that of zero.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.theory.parameters import Floats, Ints

MOST_TARGETS = 2_000_000
MOST_ENTRIES = 400_000_000
"""Coefficients of the functions at all sets of size k that are looked at."""
_CHUNK = 20_000
_LARGE, _ROUNDING = 1e-8, 1e-12
"""Shares of the largest eigenvalue from which on one counts as positive, and up to which it counts as zero."""
_UNIT = 2.0**-53


def subsets(d1: int, k: int) -> Iterator[Ints]:
    """All k-subsets of 0..d1-1 in chunks, a row each."""
    chosen = itertools.combinations(range(d1), k)
    while rows := list(itertools.islice(chosen, _CHUNK)):
        yield np.array(rows, dtype=np.int64)


@dataclass(frozen=True)
class Functions:
    """Functions by their Gram matrix and their coefficients E f_n chi_S at the rows S of an array of sets.

    ``condition`` is that of how they were got from others; infinite where float64 does not decide their span.
    """

    gram: Floats
    at: Callable[[Ints], Floats]
    condition: float = 1.0


class Span(ABC):
    """The span of N functions on {+-1}^d; ``distinct`` of them differ, counted exactly, which bounds its dimension."""

    d1: int
    distinct: int

    @abstractmethod
    def whole(self) -> Functions:
        """The functions, or others with the same span and a better conditioned Gram matrix E f_n f_m."""

    @abstractmethod
    def level(self, k: int) -> Functions:
        """Functions with the span U_k of the coefficients at the k-subsets of the first d1 coordinates."""


@dataclass(frozen=True)
class BestRisks:
    """For every target: the best risk (``risk``, by projection in float64) and a lower bound of it that is sound.

    ``leverage`` is c_S, and ``lower`` = k alpha^2 (1 - c_S); where the Gram matrix of level k is not well conditioned
    nothing is claimed (``sound``), and ``lower`` is 0. ``error`` is how far ``risk`` may be off, infinite where float64
    does not decide the span; ``most`` is the risk of zero.
    """

    risk: Floats
    lower: Floats
    leverage_sum: float
    sound: bool
    error: float
    most: float

    @property
    def decided(self) -> bool:
        return math.isfinite(self.error)

    @property
    def least(self) -> Floats:
        """What the risks are at least."""
        return np.asarray(np.maximum(self.lower, self.risk - self.error))

    def above(self, threshold: float) -> float:
        return float(np.mean(self.risk > threshold))

    def above_limits(self, threshold: float) -> tuple[float, float]:
        """What the share above the threshold is at least and at most, by :attr:`least` and by ``error``."""
        return float(np.mean(self.least > threshold)), float(np.mean(self.risk + self.error > threshold))

    def surely_above(self, threshold: float) -> float:
        return float(np.mean(self.lower > threshold))


def best_risks(span: Span, k: int, alpha: float) -> BestRisks:
    """The best risks of all C(d1, k) targets, in the order of :func:`subsets`."""
    functions, at_level = span.whole(), span.level(k)
    check_size(span.d1, k, len(functions.gram))
    projection, level = Projection.of(functions.gram), Projection.of(at_level.gram)
    singles = projection.coordinates(functions.at(np.arange(span.d1)[:, None]))
    captured_singles = (singles * singles).sum(axis=1)
    sound = level.full_rank
    risks, lower, total = [], [], 0.0
    for sets in subsets(span.d1, k):
        own = projection.coordinates(functions.at(sets))
        cross = np.einsum("sn,skn->sk", own, singles[sets])
        captured = captured_singles[sets] + 2 * alpha * cross + alpha**2 * (own * own).sum(axis=1)[:, None]
        risks.append((1 + alpha**2 - captured).sum(axis=1))
        leverage = (level.coordinates(at_level.at(sets)) ** 2).sum(axis=1)
        total += float(leverage.sum())
        lower.append(k * alpha**2 * np.maximum(1 - leverage, 0) if sound else np.zeros(len(sets)))
    most = k * (1 + alpha**2)
    error = _UNIT * most * len(functions.gram) * functions.condition * projection.condition
    return BestRisks(np.concatenate(risks), np.concatenate(lower), total, sound, error, most)


def check_size(d1: int, k: int, N: int) -> None:
    targets = math.comb(d1, k)
    if targets > MOST_TARGETS or targets * N > MOST_ENTRIES:
        raise InputError(
            f"d1, k and N must leave at most {MOST_TARGETS} targets and {MOST_ENTRIES} coefficients, got C({d1}, "
            f"{k}) = {targets} times {N}"
        )


@dataclass(frozen=True)
class Projection:
    """Coordinates of a projection on a span in an orthonormal basis, from the Gram matrix.

    ``condition`` is of the eigenvalues that count as positive, infinite where one is neither that nor clearly zero.
    """

    basis: Floats
    full_rank: bool
    condition: float

    @staticmethod
    def of(gram: Floats) -> Projection:
        values, vectors = np.linalg.eigh(gram)
        top = max(float(values[-1]), 0.0)
        if top == 0:
            return Projection(np.zeros((len(gram), 0)), True, 1.0)
        large = large_values(values, top)
        if large is None:
            large = values > _ROUNDING * top
            return Projection(vectors[:, large] / np.sqrt(values[large]), False, math.inf)
        condition = top / float(values[large].min())
        return Projection(vectors[:, large] / np.sqrt(values[large]), bool(large.all()), condition)

    def coordinates(self, coefficients: Floats) -> Floats:
        return np.asarray(coefficients @ self.basis)


def large_values(values: Floats, top: float) -> NDArray[np.bool_] | None:
    """Which of the eigenvalues are positive, as shares of ``top``; None where one may be positive or a rounding error.

    >>> large_values(np.array([-1e-16, 0.2, 1.0]), 1.0).tolist(), large_values(np.array([1e-10, 1.0]), 1.0)
    ([False, True, True], None)
    """
    large = np.asarray(values > _LARGE * top)
    return large if (np.abs(values[~large]) <= _ROUNDING * top).all() else None


def ranks(sets: Ints, d1: int) -> Ints:
    """The place of each k-subset among all of them, in the order of :func:`subsets`.

    >>> ranks(np.array([[0, 1], [0, 2], [2, 3]]), 4).tolist()
    [0, 1, 5]
    """
    k = sets.shape[1]
    combinations = np.array([[math.comb(n, r) for r in range(k + 1)] for n in range(d1)], dtype=np.int64)
    behind = sum(combinations[d1 - 1 - sets[:, j], k - j] for j in range(k))
    return np.asarray(math.comb(d1, k) - 1 - behind, dtype=np.int64)
