"""Inequalities along a run: a quantity and its bound at each of the steps t = 1, 2, ..., T."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.theory.certificate import Check, at_most
from separatrix.theory.parameters import Floats

ROUNDING = 1e-12
"""Relative to the bound."""


def largest_ratio(values: Floats, limits: Floats) -> float:
    """The largest of value over limit; 0 where both are.

    >>> largest_ratio(np.array([0.0, 1.0, 3.0]), np.array([0.0, 4.0, 4.0]))
    0.75
    """
    return float(np.divide(values, limits, out=np.where(values > 0, math.inf, 0.0), where=limits > 0).max())


def tightest(name: str, values: Floats, limits: Floats) -> Check:
    """The inequality at the t where value over limit is largest.

    >>> tightest("drift", np.array([1.0, 3.0, 3.0]), np.array([4.0, 4.0, 8.0])).name
    'drift at every t, tightest at t = 2'
    """
    never = np.where(values > 0, math.inf, -1.0)
    at = int(np.argmax(np.divide(values, limits, out=never, where=limits > 0)))
    limit = float(limits[at])
    return at_most(f"{name} at every t, tightest at t = {at + 1}", float(values[at]), limit, ROUNDING * limit)


def changes_of_loss(
    changes: Mapping[str, Floats], limits: Mapping[str, Floats], through: Mapping[str, Floats]
) -> dict[str, Any]:
    """What several readouts' losses change by as the first layer moves, against a bound and that by the drift itself.

    The ``hardest`` readout is that of the largest ratio.
    """
    ratios = {name: largest_ratio(change, limits[name]) for name, change in changes.items()}
    hardest = max(ratios, key=lambda name: ratios[name])
    return {
        "change": {name: float(change[-1]) for name, change in changes.items()},
        "change_ratio": ratios[hardest],
        "change_ratios": ratios,
        "through_drift": max(largest_ratio(change, through[name]) for name, change in changes.items()),
        "hardest": hardest,
    }
