"""The methods of section 8.1 and of the controls by name, and on which side of the error of F alone each comes out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from separatrix.studies.curve import Curve
from separatrix.studies.intervals import mean_interval

if TYPE_CHECKING:
    from separatrix.studies.curve import Point
    from separatrix.studies.result import Result


KINDS = ("3resnet", "3layer", "2layer")
KERNELS = tuple(f"{kind} ({how})" for how in ("last", "NTK") for kind in KINDS)
ALPHA, OUTPUTS = 0.3, 15
THRESHOLD = OUTPUTS * ALPHA**2
"""k alpha^2 = 1.35: the error of F alone, summed over the outputs, without a factor 1/2."""
LEARNED = 0.99 * THRESHOLD
"""Below it something of G is learned: the function 0 has an error of just k alpha^2 where beta is 0."""
BETAS = (1.0, 0.5, 0.3, 0.2, 0.0)

GROUPS: Mapping[str, list[str]] = {
    "networks": [f"{kind} ({part})" for part in ("all", "hidden") for kind in KINDS],
    "kernel methods": list(KERNELS),
}

KERNEL_GROUPS: Mapping[str, list[str]] = {
    kind: [f"{kind} ({how})" for how in ("last, SGD", "last", "NTK, SGD", "NTK", "NTK, averaged")] for kind in KINDS
}


def controls(part: str) -> dict[str, tuple[str, bool | None]]:
    """The four three-layer networks by name: the kind, and whether U = V A (None: as in figure 2, whose cells they
    share).
    """
    return {
        f"ResNet, U = VA ({part})": ("3resnet", None),
        f"ResNet, free U ({part})": ("3resnet", False),
        f"no skip, U = VA ({part})": ("3layer", True),
        f"no skip, free U ({part})": ("3layer", None),
    }


def only(curve: Curve, labels: Iterable[str]) -> Curve:
    """The curve of these learners alone, in this order."""
    points = {label: curve.points[label] for label in labels if label in curve.points}
    return Curve(curve.x, curve.y, points, curve.level)


def by_beta(result: Result) -> Curve:
    """Error against width with the beta of the task in the place of the learner's name."""
    betas = dict.fromkeys(float(getattr(task, "beta", 1.0)) for task in result.study.tasks)
    found = {f"β = {beta:g}": result.curve("width", where={"beta": beta}) for beta in betas}
    points = {name: next(iter(curve.points.values())) for name, curve in found.items() if curve.points}
    return Curve("width", "test_error", points)


def side(point: Point) -> str:
    """Whether the interval of the mean lies below :data:`LEARNED`, above it, or across it.

    A training that diverged learned nothing: with one there is no mean below, and the others decide what is above.
    """
    if point.summary.high < LEARNED:
        return "below"
    ended = [value for value in point.values if math.isfinite(value)]
    return "above" if not ended or mean_interval(ended).low > LEARNED else "across"


def sides_of(curve: Curve, label: str) -> dict[str, Any]:
    """A learner's places by side, with its least mean error and, where some seeds learn and some do not, how many."""
    points = curve.of(label)
    best = min(points, key=lambda point: point.summary.mean)
    sides = {name: [point.x for point in points if side(point) == name] for name in ("below", "across", "above")}
    return {
        **{f"{name}_at": places for name, places in sides.items() if places},
        "best": [best.summary.mean, best.summary.low, best.summary.high],
        "best_at": best.x,
        "seeds_below": {f"{p.x:g}": f"{n} of {len(p.values)}" for p in points if (n := _seeds_below(p))},
    }


def every_side(curve: Curve) -> dict[str, dict[str, Any]]:
    """:func:`sides_of` each learner."""
    return {label: sides_of(curve, label) for label in curve.points}


def _seeds_below(point: Point) -> int:
    return sum(value < LEARNED for value in point.values)


def search(result: Result) -> dict[str, Any]:
    """How much was searched: seeds, the values tried of each hyperparameter, and what still lies on an edge."""
    tried: dict[str, set[float]] = {}
    for condition in result.conditions:
        for choice in condition.choices:
            for name, value in choice:
                tried.setdefault(name, set()).add(value)
    return {
        "seeds": len({cell_seed for condition in result.conditions for cell_seed in condition.seeds}),
        "tried": {name: sorted(values) for name, values in tried.items()},
        "cells": len(result.records),
        "best_on_the_edge": len(result.on_edge()),
    }
