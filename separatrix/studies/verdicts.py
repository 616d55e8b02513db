"""Verdicts: what became of a claim, decided by intervals, with the numbers behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats

from separatrix.studies.curve import Curve, Difference

if TYPE_CHECKING:
    from separatrix.studies.result import Result

Outcome = Literal["supported", "refuted", "inconclusive", "vacuous", "not run"]


@dataclass(frozen=True)
class Verdict:
    """What became of a claim, and the numbers that decided."""

    outcome: Outcome
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper with the criterion that decides it on a figure's result (its results by name, if joint)."""

    id: str
    statement: str
    criterion: str
    decide: Callable[[Result], Verdict] | Callable[[Mapping[str, Result]], Verdict]

    @property
    def paper(self) -> str:
        return self.id.split("/", 1)[0]


def lower(curve: Curve, first: str, second: str) -> Verdict:
    """Whether ``first`` lies below ``second``: :data:`LOWER`."""
    verdict = _decide(curve.differences(first, second), first, second)
    missing = curve.unshared(first, second)
    if not missing:
        return verdict
    outcome: Outcome = "inconclusive" if verdict.outcome == "supported" else verdict.outcome
    return Verdict(outcome, {**verdict.evidence, "missing_at": missing})


LOWER = (
    "paired differences over seeds, 95% intervals together over all places: supported if the difference is below zero "
    "at half of the places where the two are not equal, or more, and above at none; refuted the other way round"
)


def _decide(differences: Sequence[Difference], first: str, second: str) -> Verdict:
    compared = [difference for difference in differences if not difference.equal]
    below = [d.x for d in compared if d.high < 0]
    above = [d.x for d in compared if d.low > 0]
    evidence = {
        "difference": f"{first} - {second}",
        "below_at": below,
        "above_at": above,
        "undecided_at": [d.x for d in compared if d.low <= 0 <= d.high],
        "equal_at": [d.x for d in differences if d.equal],
        "means": {f"{d.x:g}": d.mean for d in differences},
        "intervals": {f"{d.x:g}": [d.low, d.high] for d in differences},
    }
    if compared and 2 * len(below) >= len(compared) and not above:
        return Verdict("supported", evidence)
    if compared and 2 * len(above) >= len(compared) and not below:
        return Verdict("refuted", evidence)
    return Verdict("inconclusive", evidence)


def alike(curve: Curve, first: str, second: str, margin: float) -> Verdict:
    """Whether two curves differ by less than ``margin`` everywhere (an equivalence test)."""
    differences = curve.differences(first, second)
    missing = curve.unshared(first, second)
    evidence = {
        "difference": f"{first} - {second}",
        "margin": margin,
        "missing_at": missing,
        "means": {f"{d.x:g}": d.mean for d in differences},
        "intervals": {f"{d.x:g}": [d.low, d.high] for d in differences},
    }
    inside = [d.equal or (-margin < d.low and d.high < margin) for d in differences]
    outside = [not d.equal and (d.low > margin or d.high < -margin) for d in differences]
    if differences and all(inside) and not missing:
        return Verdict("supported", evidence)
    return Verdict("refuted" if any(outside) else "inconclusive", evidence)


def change(curve: Curve, learner: str, start: float | None = None, end: float | None = None) -> Difference:
    """The value at the end of a learner's curve minus that at its start, with Welch's interval."""
    points = {point.x: point for point in curve.of(learner)}
    first, last = points[min(points) if start is None else start], points[max(points) if end is None else end]
    a, b = np.asarray(first.values), np.asarray(last.values)
    gap = float(b.mean() - a.mean())
    if len(a) < 2 or len(b) < 2:
        return Difference(last.x, gap, float("-inf"), float("inf"), False)
    if np.ptp(a) == np.ptp(b) == 0:  # no spread to go by: the intervals of the two pooled proportions remain
        low, high = last.summary.low - first.summary.high, last.summary.high - first.summary.low
        return Difference(last.x, gap, low, high, gap == 0)
    interval = stats.ttest_ind(b, a, equal_var=False).confidence_interval(curve.level)
    return Difference(last.x, gap, float(interval.low), float(interval.high), False)


def all_of(verdicts: Mapping[str, Verdict]) -> Verdict:
    """The verdict on a conjunction: refuted if one part is, supported if all are."""
    outcomes = {verdict.outcome for verdict in verdicts.values()}
    evidence = {name: {"verdict": v.outcome, **v.evidence} for name, v in verdicts.items()}
    if "refuted" in outcomes:
        return Verdict("refuted", evidence)
    return Verdict("supported" if outcomes == {"supported"} else "inconclusive", evidence)
