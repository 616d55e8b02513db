"""Grids of hyperparameters that extend themselves when the best value lies on their edge."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.errors import InputError
from separatrix.rules import Real, Whole


@dataclass(frozen=True)
class Grid:
    """Values in increasing order; ``extensions`` is how often it may grow at each end.

    It grows by the ratio of the last two values, or, with ``decimal``, to the next of {1, 2, 5} x 10^k.
    """

    values: tuple[float, ...]
    extensions: int = 0
    decimal: bool = False

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError("a grid must have at least one value")
        if any(isinstance(v, float) and not math.isfinite(v) for v in self.values):
            raise InputError(f"a grid's values must be finite, got {self.values}")
        object.__setattr__(self, "values", tuple(sorted(set(self.values))))

    def around(self, best: float, tried: Sequence[float]) -> float | None:
        """The value to add beside ``best`` if it is the least or the greatest of those tried; None inside."""
        known = sorted(tried)
        if len(known) < 2 or len(known) >= len(self.values) + 2 * self.extensions:
            return None
        if best == known[-1] and sum(v > self.values[-1] for v in known) < self.extensions:
            return next_decimal(known[-1], 1) if self.decimal else _beyond(known[-1], known[-1] / known[-2])
        if best == known[0] and sum(v < self.values[0] for v in known) < self.extensions and known[0] > 0:
            return next_decimal(known[0], -1) if self.decimal else _beyond(known[0], known[0] / known[1])
        return None


def _beyond(value: float, ratio: float) -> float:
    return float(f"{value * ratio:.6g}")


def grid(low: float, high: float, *, per_decade: int = 3, extensions: int = 3) -> Grid:
    """A logarithmic grid from ``low``, up to ``high``.

    >>> grid(1e-3, 1e-1, per_decade=1).values
    (0.001, 0.01, 0.1)
    """
    low, high = Real(above=0).accept("low", low), Real(above=0).accept("high", high)
    per_decade = Whole(1).accept("per_decade", per_decade)
    extensions = Whole(0).accept("extensions", extensions)
    if low > high:
        raise InputError(f"low must be at most high = {high}, got {low}")
    count = math.floor(math.log10(high / low) * per_decade + 1e-9)
    return Grid(tuple(float(f"{low * 10 ** (i / per_decade):.6g}") for i in range(count + 1)), extensions)


_DIGITS = (1, 2, 5)


def decimal_grid(low: float, high: float, *, extensions: int = 3) -> Grid:
    """The values {1, 2, 5} x 10^k from ``low`` to ``high``, both of them such values.

    >>> decimal_grid(0.02, 0.5).values
    (0.02, 0.05, 0.1, 0.2, 0.5)
    """
    low, high = Real(above=0).accept("low", low), Real(above=0).accept("high", high)
    if low > high:
        raise InputError(f"low must be at most high = {high}, got {low}")
    for name, value in (("low", low), ("high", high)):
        if next_decimal(next_decimal(value, 1), -1) != value:
            raise InputError(f"{name} must be 1, 2 or 5 times a power of ten, got {value}")
    values = [low]
    while values[-1] < high:
        values.append(next_decimal(values[-1], 1))
    return Grid(tuple(values), Whole(0).accept("extensions", extensions), decimal=True)


def next_decimal(value: float, direction: int) -> float:
    """The next greater (1) or smaller (-1) of {1, 2, 5} x 10^k."""
    exponent = math.floor(math.log10(value))
    near = [float(f"{digit}e{k}") for k in range(exponent - 1, exponent + 3) for digit in _DIGITS]
    if direction > 0:
        return min(other for other in near if other > value * (1 + 1e-9))
    return max(other for other in near if other < value * (1 - 1e-9))


def as_grid(values: Any) -> Grid:
    """A grid from a grid or from values, one or several."""
    if isinstance(values, Grid):
        return values
    try:
        return Grid(tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else (values,))
    except TypeError:
        raise InputError(f"a grid must be numbers or names of one kind, got {values!r}") from None
