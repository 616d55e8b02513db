r"""The span of K(., x_n) for a kernel sum_s lambda_s sum_{|S|=s} chi_S(x) chi_S(y) whose lambda_s differ by any factor.

The Gram matrix is sum_s lambda_s^2 M_s, M_s = (sum_{|S|=s} chi_S(x_n) chi_S(x_m)): its eigenvalues go through as many
orders of magnitude as the lambda_s^2, and float64 loses all levels but the first where the kernel is smooth. The M_s
are well conditioned. So combinations of the samples are sorted by the first level that they do not cancel: with the
levels in falling order of lambda_s^2 C(d, s), Q_i is a basis of the range of M_i among what cancels all levels before,
and in the functions sum_n (Q_i)_n K(., x_n) / (lambda_i sqrt C(d, i)) only ratios of at most 1 are left:

    gram_ij = w_j / w_i  Q_i^T T_j Q_j  (i before j),   T_j = sum over s from j on of (w_s / w_j)^2 M_s / C(d, s),

w_s = |lambda_s| sqrt C(d, s), and the coefficient at S is lambda_|S| / w_i Q_i^T (chi_S(x_n)), or 0 for |S| before i.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.papers.residual.hard_class import Functions, large_values
from separatrix.theory.krawtchouk import krawtchouk_values
from separatrix.theory.parameters import Floats, Ints


def characters(z: Ints, sets: Ints) -> Floats:
    """chi_S(z_n) for each row S of ``sets`` and each row of z, sets x points."""
    return np.asarray(z.T[sets].prod(axis=1), dtype=np.float64)


def level_sums(d: int) -> list[list[int]]:
    """sum over |S| = s of chi_S(z) for a z with m entries -1, by m and s: K_s(m; d)."""
    return [list(krawtchouk_values(m, d)) for m in range(d + 1)]


@dataclass(frozen=True)
class LevelBasis:
    """``spectrum`` is lambda_0, ..., lambda_d in mpmath, zero where the kernel lacks a level; z the samples, N x d."""

    spectrum: list[Any]
    z: Ints

    @property
    def d(self) -> int:
        return self.z.shape[1]

    @functools.cached_property
    def sums(self) -> list[list[int]]:
        return level_sums(self.d)

    @functools.cached_property
    def order(self) -> list[int]:
        """The levels that the kernel has, the one with the most energy first."""
        present = [s for s, value in enumerate(self.spectrum) if value != 0]
        return sorted(present, key=lambda s: -(self.spectrum[s] ** 2) * math.comb(self.d, s))

    @functools.cached_property
    def distances(self) -> Ints:
        return np.asarray((self.d - self.z @ self.z.T) // 2)

    def weight(self, s: int) -> Any:
        """w_s, in mpmath."""
        import mpmath

        return abs(self.spectrum[s]) * mpmath.sqrt(math.comb(self.d, s))

    def blocks(self) -> tuple[dict[int, Floats], bool]:
        """Q_i by level, in order; and whether float64 decides all of their ranks."""
        distances = self.distances
        rest, found, decided = np.eye(len(self.z)), dict[int, Floats](), True
        for s in self.order:
            if not rest.shape[1]:
                break
            M = np.array([row[s] / math.comb(self.d, s) for row in self.sums])[distances]
            values, vectors = np.linalg.eigh(rest.T @ M @ rest)
            large = large_values(values, float(np.linalg.norm(M)))
            if large is None:
                decided, large = False, values > 0
            if large.any():
                found[s] = rest @ vectors[:, large]
                rest = rest @ vectors[:, ~large]
        return found, decided

    def functions(self) -> Functions:
        found, decided = self.blocks()
        if not found:
            return Functions(np.zeros((1, 1)), lambda sets: np.zeros((len(sets), 1)))
        levels = list(found)
        rows = []
        for place, j in enumerate(levels):
            right = self._tail(j)[self.distances] @ found[j]
            ratios = [float(self.weight(j) / self.weight(i)) for i in levels[: place + 1]]
            rows.append([ratio * found[i].T @ right for i, ratio in zip(levels, ratios, strict=False)])
        sizes = np.cumsum([0, *(found[s].shape[1] for s in levels)])
        gram = np.zeros((sizes[-1], sizes[-1]))
        for j, column in enumerate(rows):
            for i, block in enumerate(column):
                gram[sizes[i] : sizes[i + 1], sizes[j] : sizes[j + 1]] = block
                gram[sizes[j] : sizes[j + 1], sizes[i] : sizes[i + 1]] = block.T
        return Functions(gram, lambda sets: self._at(found, sets), 1.0 if decided else math.inf)

    def _tail(self, j: int) -> Floats:
        """T_j by the number of coordinates in which two samples differ."""
        import mpmath

        behind = self.order[self.order.index(j) :]
        with mpmath.workprec(3 * self.d + 80):
            shares = {s: (self.spectrum[s] / self.weight(j)) ** 2 for s in behind}
            return np.array([float(sum((v * row[s] for s, v in shares.items()), mpmath.mpf(0))) for row in self.sums])

    def _at(self, found: dict[int, Floats], sets: Ints) -> Floats:
        s, order = sets.shape[1], self.order
        own, values = self.spectrum[s], characters(self.z, sets)
        scaled = [
            Q * (float(own / self.weight(i)) if own != 0 and order.index(i) <= order.index(s) else 0.0)
            for i, Q in found.items()
        ]
        return np.asarray(values @ np.column_stack(scaled))
