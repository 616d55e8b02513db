"""The fully-connected network's gradient at initialisation, for the parity chi_I of k bits (section 4).

One neuron, readout u = 1, |h| <= 1 so that the hinge loss is linear:

    dL/dw_j = -E_x[x_j sigma'(<w, x> + b) chi_I(x)]        dL/du = -E_x[sigma(<w, x> + b) chi_I(x)]

As x_j chi_I is the parity of I without j (j in I) or with j (j outside), a gradient is a Fourier coefficient,
and

    E ||dL/dw||^2 = k m_{k-1} + (n - k) m_{k+1}        E (dL/du)^2 = m_k

with m_s the second moment over w of the coefficient at a set of s coordinates, of sigma' in the first two
and of sigma in the last. Three ways to m_s:

- w uniform in {+-1}^n: with x = w * z the coefficient is +- E_z[chi_S(z) sigma'(sum z + b)], the same square
  for every w, a Krawtchouk sum;
- w Gaussian: a Hermite series where sigma is piecewise linear, a Krawtchouk sum of the dual activation where
  that is known and b = 0;
- otherwise, and as a check, sample w and transform all of the hypercube; the mean over all sets of one size
  has the same expectation as a single set, because w is permutation invariant, and far less variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from separatrix.theory.activations import Activation, Clip
from separatrix.theory.certificate import Interval
from separatrix.theory.dual import dual_values
from separatrix.theory.hermite import RELATIVE_ERROR, second_moment
from separatrix.theory.krawtchouk import symmetric_coefficient
from separatrix.theory.walsh import fourier_coefficients, inner_products, level_weights

RELATIVE_BITS = 50
"""Rounded values carry this many correct bits, or are reported as zero to within ``error``."""


@dataclass(frozen=True)
class Moments:
    """m_{k-1} and m_{k+1} of sigma' and m_k of sigma; each is at most ``error`` off (0 when exact)."""

    inside: Fraction
    outside: Fraction
    readout: Fraction
    error: Fraction = Fraction(0)

    def gradient_w_sq(self, n: int, k: int) -> Fraction:
        return k * self.inside + (n - k) * self.outside


def sign_moments(n: int, k: int, b: Fraction, sigma: Activation) -> Moments:
    """For w uniform in {+-1}^n, exactly where sigma is piecewise linear.

    >>> from separatrix.theory.activations import activation
    >>> sign_moments(4, 3, Fraction(1, 2), activation("clipped_relu"))
    Moments(inside=Fraction(1, 64), outside=Fraction(9, 64), readout=Fraction(1, 256), error=Fraction(0, 1))
    """
    points = [b + n - 2 * m for m in range(n + 1)]

    def moment(s: int, derivative: bool, bits: int) -> Fraction:
        values = sigma.exact_derivatives(points, bits) if derivative else sigma.exact_values(points, bits)
        return symmetric_coefficient(s, values) ** 2

    if sigma.exact:
        return Moments(moment(k - 1, True, 0), moment(k + 1, True, 0), moment(k, False, 0))
    return _resolved(moment, n, k, amplitude_error=lambda bits, value: _square_error(bits, value))


def _square_error(bits: int, square: Fraction) -> Fraction:
    """How far c^2 is off where c is at most 2^-bits off."""
    ulp = Fraction(1, 1 << bits)
    amplitude = Fraction(math.isqrt(int(square * 4**bits)) + 1, 1 << bits)
    return 2 * amplitude * ulp + ulp * ulp


def series_moments(n: int, k: int, b: Fraction, variance: Fraction, sigma: Clip) -> Moments:
    """For w ~ N(0, variance I_n) and piecewise linear sigma, by the Hermite series."""
    spread = float(variance * n)
    inside = second_moment(k - 1, n, float(b), spread, sigma, True)
    outside = second_moment(k + 1, n, float(b), spread, sigma, True)
    readout = second_moment(k, n, float(b), spread, sigma, False)
    error = RELATIVE_ERROR * max(inside, outside, readout)
    return Moments(Fraction(inside), Fraction(outside), Fraction(readout), Fraction(error))


def dual_moments(n: int, k: int, variance: Fraction, sigma: Activation) -> Moments:
    """For w ~ N(0, variance I_n), b = 0, by the closed-form dual."""
    correlations = [Fraction(n - 2 * m, n) for m in range(n + 1)]

    def moment(s: int, derivative: bool, bits: int) -> Fraction:
        duals = dual_values(sigma.name, derivative, correlations, variance * n, bits)
        return symmetric_coefficient(s, duals)

    return _resolved(moment, n, k, amplitude_error=lambda bits, value: Fraction(1, 1 << bits))


def _resolved(
    moment: Callable[[int, bool, int], Fraction],
    n: int,
    k: int,
    amplitude_error: Callable[[int, Fraction], Fraction],
) -> Moments:
    """Raise the precision until every moment is known to ``RELATIVE_BITS``, or is as good as zero."""
    scale = math.comb(n, k).bit_length() + n.bit_length()
    found, errors = [], []
    for s, derivative in ((k - 1, True), (k + 1, True), (k, False)):
        for bits in (2 * RELATIVE_BITS + scale, 4 * RELATIVE_BITS + 3 * scale):
            value = moment(s, derivative, bits) if 0 <= s <= n else Fraction(0)
            error = amplitude_error(bits, value) if 0 <= s <= n else Fraction(0)
            if error <= value / 2**RELATIVE_BITS:
                break
        found.append(value if abs(value) > error else Fraction(0))
        errors.append(error)
    inside, outside, readout = found
    return Moments(inside, outside, readout, max(errors))


@dataclass(frozen=True)
class Estimate:
    """Unbiased means with 95% intervals."""

    gradient_w_sq: Interval
    gradient_u_sq: Interval


def gaussian_estimate(
    n: int, k: int, b: float, variance: float, sigma: Activation, samples: int, seed: int
) -> Estimate:
    """For w ~ N(0, variance I_n): w sampled, x and the k-sets enumerated."""
    generator = np.random.default_rng(seed)
    sets = math.comb(n, k)
    gradients_w, gradients_u = np.empty(samples), np.empty(samples)
    for i in range(samples):
        before = inner_products(generator.normal(scale=math.sqrt(variance), size=n)) + b
        slopes = np.append(level_weights(fourier_coefficients(sigma.derivative(before))), 0.0)
        values = level_weights(fourier_coefficients(sigma.value(before)))
        gradients_w[i] = ((n - k + 1) * slopes[k - 1] + (k + 1) * slopes[k + 1]) / sets
        gradients_u[i] = values[k] / sets
    return Estimate(_interval(gradients_w), _interval(gradients_u))


def _interval(values: NDArray[np.float64]) -> Interval:
    """Student's t interval for the mean."""
    from scipy.special import stdtrit

    mean = float(values.mean())
    half = float(stdtrit(values.size - 1, 0.975) * values.std(ddof=1) / math.sqrt(values.size))
    return Interval(mean, mean - half, mean + half)
