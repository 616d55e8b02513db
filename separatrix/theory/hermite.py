"""Fourier coefficients of a neuron with Gaussian weights, in the mean square, at any n.

Let X, Y be standard Gaussians of correlation rho and f(X) = sum_j a_j he_j(X) in the normalised Hermite
polynomials. Then E[f(X) f(Y)] = sum_j a_j^2 rho^j, and for w ~ N(0, (V/n) I_n), x uniform on the hypercube
and |S| = s the second moment

    E_w (E_x chi_S(x) f(<w, x> / sqrt V))^2 = sum_j a_j^2 mu_{j,s},    mu_{j,s} = E_z[chi_S(z) (sum z / n)^j]

where mu_{j,s} is the probability that an Ehrenfest walk started at level s is at level 0 after j steps:

    mu_{0,s} = [s = 0],    mu_{j+1,s} = (s/n) mu_{j,s-1} + (1 - s/n) mu_{j,s+1}

Every term is at least 0, so float64 loses nothing to cancellation, however small the sum. From some j on
mu_{j,s} is 2^(1-n) for j of the parity of s (and 0 for others), and the rest of the series is known from its
sum at rho = +-1. Reference: R. O'Donnell, *Analysis of Boolean Functions*, chapter 11.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from separatrix.theory.activations import Clip

Array = NDArray[np.float64]
RELATIVE_ERROR = 1e-10
_ROUNDING = 1e-12
_EDGE = 14.0
"""Beyond this a Gaussian has no mass in float64."""


def second_moment(s: int, n: int, b: float, variance: float, sigma: Clip, derivative: bool) -> float:
    """E_w of the squared coefficient at |S| = s of sigma or sigma' at <w, x> + b; 0 where there is no S.

    ``variance`` is that of <w, x>. The answer is good to about ``RELATIVE_ERROR``.

    >>> from separatrix.theory.activations import activation
    >>> relu = activation("relu")
    >>> round(second_moment(1, 1, 0.0, 1.0, relu, derivative=False), 12)  # E (w / 2)^2
    0.25
    """
    if not 0 <= s <= n:
        return 0.0
    deviation = math.sqrt(variance)
    knots = (_knot(sigma.low, b, deviation), _knot(sigma.high, b, deviation))
    mean, at_one, at_minus_one = _ends(sigma, b, deviation, derivative)
    coefficients = step_coefficients(*knots) if derivative else ramp_coefficients(*knots, deviation, mean)
    remaining = max((at_one + (-1) ** s * at_minus_one) / 2, 0.0)
    floor = math.ldexp(1.0, 1 - n)
    least = 1e-8 * RELATIVE_ERROR * at_one * math.exp(-_log_comb(n, s))
    total = 0.0
    for j, (walk, coefficient) in enumerate(zip(return_probabilities(n), coefficients, strict=False)):
        if (j - s) % 2 == 0:
            total += coefficient**2 * walk[s]
            remaining = max(remaining - coefficient**2, 0.0)
        excess = at_one * (walk.max() - floor)
        if j > s and excess <= max(RELATIVE_ERROR / 10 * total, least, 1e-12 * at_one * floor):
            break
    return float(total + (remaining * floor if remaining > _ROUNDING * at_one else 0.0))


def return_probabilities(n: int) -> Iterator[Array]:
    """mu_{j,s} for s = 0..n, for j = 0, 1, 2, ... without end."""
    level = np.arange(n + 1) / n
    walk = np.zeros(n + 1)
    walk[0] = 1.0
    while True:
        yield walk
        after = np.zeros(n + 1)
        after[1:] += level[1:] * walk[:-1]
        after[:-1] += (1 - level[:-1]) * walk[1:]
        walk = after


def step_coefficients(low: float, high: float) -> Iterator[float]:
    """a_0, a_1, ... of the indicator of low < X < high; a_j sqrt(j) is he_{j-1} phi at low less at high."""
    yield _normal(high) - _normal(low)
    for j, (left, right) in enumerate(zip(_weighted_hermite(low), _weighted_hermite(high), strict=True), 1):
        yield (left - right) / math.sqrt(j)


def ramp_coefficients(low: float, high: float, slope: float, mean: float) -> Iterator[float]:
    """The same for a function with this mean and this slope between low and high, constant outside.

    Its derivative is ``slope`` times the indicator, so a_{j+1} = slope * step_j / sqrt(j + 1).
    """
    yield mean
    for j, step in enumerate(step_coefficients(low, high)):
        yield slope * step / math.sqrt(j + 1)


def _weighted_hermite(t: float) -> Iterator[float]:
    """he_0(t) phi(t), he_1(t) phi(t), ... with phi the Gaussian density; all 0 at infinity."""
    before, current = 0.0, 0.0 if math.isinf(t) else math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    t = 0.0 if math.isinf(t) else t
    j = 0
    while True:
        yield current
        before, current = current, (t * current - math.sqrt(j) * before) / math.sqrt(j + 1)
        j += 1


def _ends(sigma: Clip, b: float, deviation: float, derivative: bool) -> tuple[float, float, float]:
    """E f(X), E f(X)^2 and E f(X) f(-X), by Gauss-Legendre quadrature between the kinks of both factors."""
    knots = [_knot(sigma.low, b, deviation), _knot(sigma.high, b, deviation)]
    cuts = sorted({-_EDGE, 0.0, _EDGE, *(sign * t for t in knots for sign in (1, -1) if abs(t) < _EDGE)})
    nodes, weights = np.polynomial.legendre.leggauss(120)
    mean = squares = products = 0.0
    for left, right in pairwise(cuts):
        x = (left + right) / 2 + (right - left) / 2 * nodes
        mass = weights * (right - left) / 2 * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        f = sigma.derivative if derivative else sigma.value
        ahead, behind = f(deviation * x + b), f(-deviation * x + b)
        mean += float(np.sum(mass * ahead))
        squares += float(np.sum(mass * ahead * ahead))
        products += float(np.sum(mass * ahead * behind))
    return mean, squares, products


def _knot(kink: float, b: float, deviation: float) -> float:
    return (kink - b) / deviation


def _normal(t: float) -> float:
    return math.erfc(-t / math.sqrt(2)) / 2


def _log_comb(n: int, s: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(s + 1) - math.lgamma(n - s + 1)
