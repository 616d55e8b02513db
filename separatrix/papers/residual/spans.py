"""Spans of functions on the cube that the hard class is tried with: kernels at samples, tabulated features, parities.

:mod:`.hard_class` says what of the class a :class:`.hard_class.Span` captures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from separatrix.papers.residual.hard_class import Functions, Span, check_size, large_values, ranks, subsets
from separatrix.papers.residual.level_basis import LevelBasis, characters
from separatrix.theory.krawtchouk import krawtchouk, krawtchouk_values
from separatrix.theory.parameters import Floats, Ints
from separatrix.theory.walsh import fourier_coefficients


def _gaussian(rho: Any, h: Any) -> Any:
    """exp(-||x - y||^2 / h) for unit vectors."""
    import mpmath

    return mpmath.exp(-2 * (1 - rho) / h)


def _arc_cosine(rho: Any, h: Any) -> Any:
    """Degree 1: (sqrt(1 - rho^2) + rho (pi - arccos rho)) / pi."""
    import mpmath

    return (mpmath.sqrt(1 - rho**2) + rho * (mpmath.pi - mpmath.acos(rho))) / mpmath.pi


def _ntk(rho: Any, h: Any) -> Any:
    """Two-layer ReLU network without biases: arc-cosine of degree 1 plus rho times that of degree 0."""
    import mpmath

    return _arc_cosine(rho, h) + rho * (1 - mpmath.acos(rho) / mpmath.pi)


def _arcsin(rho: Any, h: Any) -> Any:
    import mpmath

    return mpmath.asin(rho)


def _linear(rho: Any, h: Any) -> Any:
    return rho


DOT_PRODUCT: Mapping[str, Callable[[Any, Any], Any]] = {
    "gaussian": _gaussian,
    "arc-cosine": _arc_cosine,
    "ntk": _ntk,
    "arcsin": _arcsin,
    "linear": _linear,
}
KERNELS = (*DOT_PRODUCT, "random")


def _gaussian_spectrum(d: int, h: Any) -> list[Any]:
    """A product over the coordinates: lambda_s = 2^-d (1 + q)^(d - s) (1 - q)^s, q = e^(-4/(hd))."""
    import mpmath

    q, less = mpmath.exp(-4 / (h * d)), -mpmath.expm1(-4 / (h * d))
    return [(1 + q) ** (d - s) * less**s / mpmath.mpf(2) ** d for s in range(d + 1)]


SPECTRA: Mapping[str, Callable[[int, Any], list[Any]]] = {"gaussian": _gaussian_spectrum}


def eigenvalues(kernel: str, d: int, h: float = 1.0) -> list[Any]:
    """lambda_s, s = 0..d: K(x, y) = sum_S lambda_|S| chi_S(x) chi_S(y) on the cube, in mpmath.

    In closed form where there is one (:data:`SPECTRA`); or lambda_s = E_z chi_S(z) kappa(sum z / d), a Krawtchouk sum,
    with enough digits for its cancellation: below its rounding error lambda_s is 0 (odd and even kernels lack levels,
    and the others' fall no faster than s!/s^s > e^-s).
    """
    import mpmath

    with mpmath.workprec(3 * d + 80):
        if kernel in SPECTRA:
            return SPECTRA[kernel](d, mpmath.mpf(h))
        values = [DOT_PRODUCT[kernel](mpmath.mpf(d - 2 * m) / d, mpmath.mpf(h)) for m in range(d + 1)]
        scale, rounding = mpmath.mpf(2) ** d, max(map(abs, values)) * mpmath.mpf(2) ** (-2 * d - 60)
        sums = [sum(K * v for K, v in zip(krawtchouk_values(s, d), values, strict=True)) / scale for s in range(d + 1)]
        return [value if abs(value) > rounding else mpmath.mpf(0) for value in sums]


class DotProductSpan(Span):
    """K(., x_n) for a kernel of the inner product of unit vectors, at the distinct ones of the samples z (N x d)."""

    def __init__(self, kernel: str, z: Ints, d1: int, h: float = 1.0):
        self.z = np.unique(z, axis=0)
        self.d1, self.distinct = d1, len(self.z)
        self._spectrum = eigenvalues(kernel, z.shape[1], h)

    def whole(self) -> Functions:
        return LevelBasis(self._spectrum, self.z).functions()

    def level(self, k: int) -> Functions:
        """chi_S(x_n): integers, the same for every such kernel. x and -x, equal up to sign at level k, count once."""
        signal = self.z[:, : self.d1]
        z = np.unique(signal * signal[:, :1], axis=0)
        sums = np.array([krawtchouk(k, m, self.d1) for m in range(self.d1 + 1)], dtype=np.float64)
        return Functions(sums[(self.d1 - z @ z.T) // 2], lambda sets: characters(z, sets))


class RandomSpan(Span):
    """K(., x_n) of the Mercer kernel sum_S mu_S chi_S(x) chi_S(y), mu_S exponential: S of sizes 0, 1 and k."""

    def __init__(self, z: Ints, d1: int, k: int, generator: np.random.Generator):
        self.z = np.unique(z, axis=0)
        self.d1, self.k, self.distinct = d1, k, len(self.z)
        self._constant = float(generator.exponential())
        self._single: Floats = np.asarray(generator.exponential(size=z.shape[1]))
        check_size(d1, k, self.distinct)
        self._mu: Floats = np.asarray(generator.exponential(size=math.comb(d1, k)))

    def _at(self, sets: Ints) -> Floats:
        weights = self._single[sets[:, 0]] if sets.shape[1] == 1 else self._mu[ranks(sets, self.d1)]
        return weights[:, None] * characters(self.z, sets)

    def level(self, k: int) -> Functions:
        gram = np.zeros((self.distinct, self.distinct))
        for sets in subsets(self.d1, k):
            rows = self._at(sets)
            gram += rows.T @ rows
        return Functions(gram, self._at)

    def whole(self) -> Functions:
        singles = self._single * self.z
        return Functions(self._constant**2 + singles @ singles.T + self.level(self.k).gram, self._at)


class TabulatedSpan(Span):
    """Any functions by their values (2^d x N) in the order of :mod:`separatrix.theory.walsh`."""

    def __init__(self, values: Floats, d1: int):
        self.d1 = d1
        self.distinct = len(np.unique(values, axis=1).T)
        self._coefficients = np.column_stack([fourier_coefficients(column) for column in values.T])

    def _at(self, sets: Ints) -> Floats:
        return self._coefficients[(1 << sets).sum(axis=1)]

    def whole(self) -> Functions:
        """An orthonormal basis, by the singular values of the coefficients: squares would lose half the digits."""
        basis, sizes, _ = np.linalg.svd(self._coefficients, full_matrices=False)
        top = max(float(sizes[0]), 1e-300)
        large = large_values(sizes, top)
        kept = sizes > 0 if large is None else large
        condition = math.inf if large is None else top / float(sizes[kept].min(initial=top))
        basis = np.asarray(basis[:, kept])
        return Functions(np.eye(basis.shape[1]), lambda sets: basis[(1 << sets).sum(axis=1)], condition)

    def level(self, k: int) -> Functions:
        rows = np.concatenate([self._at(sets) for sets in subsets(self.d1, k)])
        return Functions(rows.T @ rows, self._at)


class ParitySpan(Span):
    """All chi_i of d1 coordinates and then chi_S in order, ``count`` in all."""

    def __init__(self, d1: int, k: int, count: int):
        self.d1 = d1
        singles = [(i,) for i in range(min(d1, count))]
        sets = (tuple(row) for chunk in subsets(d1, k) for row in chunk.tolist())
        self._sets = singles + [own for own, _ in zip(sets, range(count - len(singles)), strict=False)]
        self.distinct = len(self._sets)

    def _coefficients(self, places: dict[tuple[int, ...], int], width: int, sets: Ints) -> Floats:
        found = np.zeros((len(sets), width))
        for row, own in enumerate(map(tuple, sets.tolist())):
            if own in places:
                found[row, places[own]] = 1
        return found

    def _functions(self, sets: list[tuple[int, ...]]) -> Functions:
        places = {own: place for place, own in enumerate(sets)}
        width = max(1, len(sets))
        gram = np.eye(width) if sets else np.zeros((1, 1))
        return Functions(gram, lambda rows: self._coefficients(places, width, rows))

    def whole(self) -> Functions:
        return self._functions(self._sets)

    def level(self, k: int) -> Functions:
        return self._functions([own for own in self._sets if len(own) == k])
