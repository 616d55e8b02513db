"""Dual activations: what two correlated Gaussian pre-activations have in common.

For centred jointly Gaussian X, Y of variance V and correlation rho,

    kappa_f(rho) = E[f(X) f(Y)]

With w ~ N(0, v I_n) and points x, x' of the hypercube, <w, x> and <w, x'> are such a pair, V = v n and
rho = <x, x'> / n, so a second moment over w becomes a sum over the hypercube,

    E_w (E_x chi_S(x) f(<w, x>))^2 = E_z chi_S(z) kappa_f(sum(z) / n)        (z = x * x')

which :func:`separatrix.theory.krawtchouk.symmetric_coefficient` evaluates. References: Y. Cho and L. Saul,
*Kernel Methods for Deep Learning* (2009), for relu; C. Williams, *Computing with Infinite Networks*
(1998), for erf.

>>> dual_values("relu", True, [Fraction(0), Fraction(1)], Fraction(1), bits=20)  # P(X > 0, Y > 0)
[Fraction(1, 4), Fraction(1, 2)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from separatrix.theory.activations import GUARD_BITS


def _relu(rho: Any, variance: Any) -> Any:
    """V (sqrt(1 - rho^2) + rho (pi - arccos rho)) / (2 pi)."""
    import mpmath

    return variance * (mpmath.sqrt(1 - rho**2) + rho * (mpmath.pi - mpmath.acos(rho))) / (2 * mpmath.pi)


def _relu_slope(rho: Any, variance: Any) -> Any:
    """(pi - arccos rho) / (2 pi)."""
    import mpmath

    return (mpmath.pi - mpmath.acos(rho)) / (2 * mpmath.pi)


def _erf(rho: Any, variance: Any) -> Any:
    """2/pi arcsin(2 V rho / (1 + 2 V))."""
    import mpmath

    return 2 / mpmath.pi * mpmath.asin(2 * variance * rho / (1 + 2 * variance))


def _erf_slope(rho: Any, variance: Any) -> Any:
    """4/pi / sqrt((1 + 2 V)^2 - (2 V rho)^2)."""
    import mpmath

    return 4 / mpmath.pi / mpmath.sqrt((1 + 2 * variance) ** 2 - (2 * variance * rho) ** 2)


Kernel = Callable[[Any, Any], Any]
DUALS: Mapping[str, tuple[Kernel, Kernel]] = {"relu": (_relu, _relu_slope), "erf": (_erf, _erf_slope)}
"""Where the dual of the activation and of its derivative are known in closed form (without a bias)."""


def dual_values(
    name: str, derivative: bool, correlations: Sequence[Fraction], variance: Fraction, bits: int
) -> list[Fraction]:
    """kappa at each correlation, rounded to a multiple of 2^-bits."""
    import mpmath

    kernel = DUALS[name][derivative]

    def number(value: Fraction) -> Any:
        return mpmath.mpf(value.numerator) / value.denominator

    with mpmath.workprec(bits + GUARD_BITS + max(0, variance.numerator.bit_length())):
        spread = number(variance)
        return [
            Fraction(int(mpmath.nint(mpmath.ldexp(kernel(number(rho), spread), bits))), 1 << bits)
            for rho in correlations
        ]
