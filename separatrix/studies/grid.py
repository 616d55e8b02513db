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
    """Values in increasing order; ``extensions`` is how often it may grow at each end."""

    values: tuple[float, ...]
    extensions: int = 0

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
            return _beyond(known[-1], known[-1] / known[-2])
        if best == known[0] and sum(v < self.values[0] for v in known) < self.extensions and known[0] > 0:
            return _beyond(known[0], known[0] / known[1])
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


def as_grid(values: Any) -> Grid:
    """A grid from a grid or from values, one or several."""
    if isinstance(values, Grid):
        return values
    try:
        return Grid(tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else (values,))
    except TypeError:
        raise InputError(f"a grid must be numbers or names of one kind, got {values!r}") from None
