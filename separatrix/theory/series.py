"""Taylor series at 0 with exact coefficients: of named functions, given, or by automatic differentiation.

>>> [str(c) for c in series("tanh").coefficients(5)]
['0', '1', '0', '-1/3', '0', '2/15']
>>> by_autodiff("tanh", 5).round(6).tolist()
[0.0, 1.0, 0.0, -0.333333, 0.0, 0.133333]
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError, unknown
from separatrix.rules import Rule

_SEEN = 32
"""Terms by which a function is known to be odd or even."""


@dataclass(frozen=True)
class Series:
    """phi(z) = sum_i c_i z^i, converging for |z| < ``radius``; ``degree`` where it is a polynomial.

    ``absolute(t)`` is sum_i |c_i| t^i for t below the radius, by mpmath; None where only the coefficients are known.
    """

    name: str
    coefficient: Callable[[int], Fraction]
    radius: float = math.inf
    degree: int | None = None
    absolute: Callable[[Any], Any] | None = None

    def coefficients(self, order: int) -> list[Fraction]:
        """c_0, ..., c_order."""
        return [self.coefficient(i) for i in range(order + 1)]

    def value(self, z: NDArray[np.float64], order: int) -> NDArray[np.float64]:
        """The series up to this order, in float64."""
        c = np.array([float(coefficient) for coefficient in self.coefficients(order)])
        return np.asarray(np.polynomial.polynomial.polyval(z, c), dtype=np.float64)

    def truncated(self, degree: int) -> Series:
        """The terms up to ``degree``."""
        return _polynomial(f"{self.name} up to degree {degree}", self.coefficients(degree))

    def keeping(self, name: str, wanted: Callable[[int], bool], shift: int = 0) -> Series:
        """The terms of the degrees that are ``wanted``, divided by z^shift."""

        def coefficient(i: int) -> Fraction:
            return self.coefficient(i + shift) if wanted(i + shift) else Fraction(0)

        if shift == 0 and all(wanted(i) or self.coefficient(i) == 0 for i in range(_SEEN)):
            return replace(self, name=name)
        degree = None if self.degree is None else max(self.degree - shift, 0)
        last = max((i for i in range(_SEEN) if coefficient(i)), default=0)
        if degree is None and last < _SEEN // 2:  # what cos has of odd terms
            degree = last
        return Series(name, coefficient, self.radius, degree)


@functools.cache
def _tangent(i: int) -> Fraction:
    """The coefficient of z^i in tan z: tan' = 1 + tan^2."""
    if i % 2 == 0:
        return Fraction(0)
    if i == 1:
        return Fraction(1)
    return sum((_tangent(j) * _tangent(i - 1 - j) for j in range(1, i - 1, 2)), Fraction(0)) / i


def _sine(i: int) -> Fraction:
    return Fraction((-1) ** (i // 2), math.factorial(i)) if i % 2 else Fraction(0)


def _cosine(i: int) -> Fraction:
    return Fraction(0) if i % 2 else Fraction((-1) ** (i // 2), math.factorial(i))


def _hyperbolic_tangent(i: int) -> Fraction:
    return _tangent(i) * (-1) ** (i // 2)


def _sigmoid(i: int) -> Fraction:
    """1/(1 + e^-z) = 1/2 + tanh(z/2)/2."""
    return Fraction(1, 2) if i == 0 else _hyperbolic_tangent(i) / 2 ** (i + 1)


def _mp(name: str) -> Callable[[Any], Any]:
    def evaluate(t: Any) -> Any:
        import mpmath

        return getattr(mpmath, name)(t)

    return evaluate


def _half_tan(t: Any) -> Any:
    import mpmath

    return mpmath.mpf(1) / 2 + mpmath.tan(t / 2) / 2


NAMED: Mapping[str, Series] = {
    made.name: made
    for made in (
        Series("sin", _sine, absolute=_mp("sinh")),
        Series("cos", _cosine, absolute=_mp("cosh")),
        Series("exp", lambda i: Fraction(1, math.factorial(i)), absolute=_mp("exp")),
        Series("expm1", lambda i: Fraction(i > 0, math.factorial(i)), absolute=_mp("expm1")),
        Series("tanh", _hyperbolic_tangent, radius=math.pi / 2, absolute=_mp("tan")),
        Series("sigmoid", _sigmoid, radius=math.pi, absolute=_half_tan),
    )
}
MOST_TERMS = 400
"""The degree of a polynomial that is given."""


def _polynomial(name: str, coefficients: list[Fraction]) -> Series:
    def coefficient(i: int) -> Fraction:
        return coefficients[i] if i < len(coefficients) else Fraction(0)

    return Series(name, coefficient, degree=len(coefficients) - 1)


def series(name: str) -> Series:
    """A function by its name: one of those above, ``power:N``, or ``series:c0,c1,...`` with numbers such as -1/6.

    >>> series("series:0,1,-1/6").coefficients(3)
    [Fraction(0, 1), Fraction(1, 1), Fraction(-1, 6), Fraction(0, 1)]
    """
    kind, colon, rest = name.partition(":")
    if not colon:
        if name not in NAMED:
            raise unknown("function phi", name, [*NAMED, "power:N", "series:c0,c1,..."])
        return NAMED[name]
    try:
        if kind == "power" and 0 <= int(rest) <= MOST_TERMS:
            return _polynomial(name, [Fraction(0)] * int(rest) + [Fraction(1)])
        if kind == "series" and len(terms := rest.split(",")) <= MOST_TERMS:
            return _polynomial(name, [Fraction(term.strip()) for term in terms])
    except (ValueError, ZeroDivisionError):
        pass
    raise InputError(
        f"phi must be a name, power:N with N from 0 to {MOST_TERMS}, or series:c0,c1,... with numbers such as -1/6, "
        f"got {name!r}"
    )


@dataclass(frozen=True)
class SeriesName(Rule):
    """The name of a function that :func:`series` knows."""

    @property
    def allowed(self) -> str:
        return "one of " + ", ".join(NAMED) + ", power:N or series:c0,c1,..."

    def convert(self, value: Any) -> str:
        return series(str(value)).name

    def accept(self, name: str, value: Any) -> Any:
        return self.convert(value)


_TRACED = ("sin", "cos", "exp", "expm1", "tanh")


def by_autodiff(function: str | Callable[[Any], Any], order: int) -> NDArray[np.float64]:
    """c_0, ..., c_order of a function written with ``jax.numpy``, by Taylor-mode differentiation at 0."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import jet

    def named(z: Any) -> Any:
        if function == "sigmoid":
            return 0.5 + 0.5 * jnp.tanh(z / 2)
        kind, _, rest = str(function).partition(":")
        if kind == "power":
            return jnp.asarray(1.0) if rest == "0" else functools.reduce(lambda a, b: a * b, [z] * int(rest))
        if kind == "series":
            return functools.reduce(lambda a, c: a * z + float(Fraction(c)), reversed(rest.split(",")), 0 * z)
        return getattr(jnp, str(function))(z)

    with jax.enable_x64(True):
        start = [1.0] + [0.0] * (order - 1) if order else []
        called = function if callable(function) else named
        if not order:
            return np.array([float(called(jnp.asarray(0.0)))])
        value, derivatives = jet.jet(called, (jnp.asarray(0.0),), ([jnp.asarray(v) for v in start],))
    return np.array([float(value)] + [float(d) / math.factorial(i + 1) for i, d in enumerate(derivatives)])
