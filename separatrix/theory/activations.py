"""Activation functions as mathematics: values, derivatives and their suprema.

The networks that are trained have their own, in JAX and float32. These are for evaluating theorems,
in fractions where the function is piecewise linear and otherwise to any number of bits, so they touch
neither JAX nor float32.

The derivative at a kink is a convention, here **0 at every kink**: at 0 for ``relu``, at 0 and 6 for
``relu6``, at 0 and 1 for ``clipped_relu``, at -1 and 1 for ``hard_tanh``. PyTorch does the same for all four.
JAX does for ``jax.nn.relu`` and ``jax.nn.relu6``, but takes 1/2 for ``jnp.clip`` and 1 for
``jax.nn.hard_tanh``. It only matters where a kink has positive probability; ``kinks`` says where they are.

>>> relu6 = activation("relu6")
>>> relu6.value(np.array([-1.0, 2.5, 9.0])), relu6.derivative(np.array([0.0, 2.5, 6.0]))
(array([0. , 2.5, 6. ]), array([0., 1., 0.]))
>>> relu6.exact_values([Fraction(5, 2)], bits=1)
[Fraction(5, 2)]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import unknown

Array = NDArray[np.float64]
GUARD_BITS = 20


@dataclass(frozen=True)
class Activation(ABC):
    """sigma: R -> R with |sigma| <= ``sup``, |sigma'| <= ``derivative_sup``, smooth but at its ``kinks``."""

    name: str
    sup: float
    derivative_sup: float
    kinks: tuple[int, ...]

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether rational inputs have rational values."""

    @abstractmethod
    def value(self, z: Array) -> Array:
        """sigma in float64."""

    @abstractmethod
    def derivative(self, z: Array) -> Array:
        """sigma' in float64."""

    @abstractmethod
    def exact_values(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        """sigma exactly, or rounded to a multiple of 2^-bits."""

    @abstractmethod
    def exact_derivatives(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        """sigma' exactly, or rounded to a multiple of 2^-bits."""


@dataclass(frozen=True)
class Clip(Activation):
    """min(max(z, low), high), with an infinite ``high`` for max(z, low)."""

    low: int
    high: int | float

    @property
    def exact(self) -> bool:
        return True

    def value(self, z: Array) -> Array:
        return np.clip(z, self.low, self.high)

    def derivative(self, z: Array) -> Array:
        return np.asarray((z > self.low) & (z < self.high), dtype=np.float64)

    def exact_values(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        clipped: list[Any] = [min(max(point, self.low), self.high) for point in z]
        return [Fraction(value) for value in clipped]

    def exact_derivatives(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        return [Fraction(self.low < point < self.high) for point in z]


def _round_all(
    function: Callable[[Any], Any], z: Sequence[Fraction], bits: int, edge: int, limit: int
) -> list[Fraction]:
    """mpmath's ``function`` at each point in multiples of 2^-bits; ``limit`` (odd or 0) beyond ``edge``."""
    import mpmath

    def at(point: Fraction) -> Fraction:
        if abs(point) >= edge:
            return Fraction(limit if point > 0 else -limit)
        argument = mpmath.mpf(point.numerator) / point.denominator
        return Fraction(int(mpmath.nint(mpmath.ldexp(function(argument), bits))), 1 << bits)

    with mpmath.workprec(bits + GUARD_BITS):
        return [at(point) for point in z]


@dataclass(frozen=True)
class Tanh(Activation):
    """tanh(z), with derivative 1 - tanh(z)^2."""

    @property
    def exact(self) -> bool:
        return False

    def value(self, z: Array) -> Array:
        return np.tanh(z)

    def derivative(self, z: Array) -> Array:
        return np.asarray(1 - np.tanh(z) ** 2)

    def exact_values(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        import mpmath

        return _round_all(mpmath.tanh, z, bits, edge=bits + 2, limit=1)

    def exact_derivatives(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        import mpmath

        return _round_all(lambda point: mpmath.sech(point) ** 2, z, bits, edge=bits + 2, limit=0)


@dataclass(frozen=True)
class Erf(Activation):
    """erf(z), with derivative 2 exp(-z^2) / sqrt(pi). Its slope at 0 is 1.128, so it is not 1-Lipschitz."""

    @property
    def exact(self) -> bool:
        return False

    def value(self, z: Array) -> Array:
        from scipy.special import erf

        return np.asarray(erf(z))

    def derivative(self, z: Array) -> Array:
        return np.asarray(2 / math.sqrt(math.pi) * np.exp(-(z**2)))

    def exact_values(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        import mpmath

        return _round_all(mpmath.erf, z, bits, edge=math.isqrt(bits) + 2, limit=1)

    def exact_derivatives(self, z: Sequence[Fraction], bits: int) -> list[Fraction]:
        import mpmath

        def slope(point: Any) -> Any:
            return 2 * mpmath.exp(-(point**2)) / mpmath.sqrt(mpmath.pi)

        return _round_all(slope, z, bits, edge=math.isqrt(bits) + 2, limit=0)


def _clip(name: str, low: int, high: int | float) -> Clip:
    kinks = tuple(int(kink) for kink in (low, high) if math.isfinite(kink))
    return Clip(name, float(max(abs(low), abs(high))), 1.0, kinks, low, high)


ACTIVATIONS: Mapping[str, Activation] = {
    made.name: made
    for made in (
        _clip("relu", 0, math.inf),
        _clip("relu6", 0, 6),
        _clip("clipped_relu", 0, 1),
        _clip("hard_tanh", -1, 1),
        Tanh("tanh", 1.0, 1.0, ()),
        Erf("erf", 1.0, 2 / math.sqrt(math.pi), ()),
    )
}


def activation(name: str) -> Activation:
    """An activation by its name."""
    if name not in ACTIVATIONS:
        raise unknown("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]
