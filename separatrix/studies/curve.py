"""Curves: a mean with its interval against an axis, for each learner, and how two of them compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from separatrix.errors import unknown
from separatrix.studies.intervals import Summary, mean_interval

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Point:
    """One place of a curve: the summary over seeds and the seeds' own values."""

    x: float
    summary: Summary
    values: tuple[float, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Difference:
    """First minus second at one place: the mean of the paired differences and their interval."""

    x: float
    mean: float
    low: float
    high: float
    equal: bool


@dataclass(frozen=True)
class Curve:
    """``y`` against ``x`` by learner."""

    x: str
    y: str
    points: Mapping[str, tuple[Point, ...]]
    level: float = 0.95

    def of(self, learner: str) -> tuple[Point, ...]:
        if learner not in self.points:
            raise unknown("learner", learner, self.points)
        return self.points[learner]

    def series(self) -> list[dict[str, Any]]:
        """A row a point, as ``reproduce --json`` prints it."""
        return [
            {
                "learner": learner,
                "x": point.x,
                "mean": point.summary.mean,
                "std": point.summary.std,
                "low": point.summary.low,
                "high": point.summary.high,
                "n": point.summary.n,
            }
            for learner, points in self.points.items()
            for point in points
        ]

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.series())

    def plot(self, **options: Any) -> alt.LayerChart:
        """The figure: means with their intervals (see ``separatrix.studies.charts.curve_chart``)."""
        from separatrix.studies.charts import curve_chart

        return curve_chart(self, **options)

    def unshared(self, first: str, second: str) -> list[float]:
        """The places at which only one of the two was measured."""
        return sorted({point.x for point in self.of(first)} ^ {point.x for point in self.of(second)})

    def differences(self, first: str, second: str) -> list[Difference]:
        """``first`` minus ``second`` where both were measured, paired by seed (they share data), with
        intervals that hold at all places together (Bonferroni)."""
        others = {point.x: point for point in self.of(second)}
        shared = [(point, others[point.x]) for point in self.of(first) if point.x in others]
        level = 1 - (1 - self.level) / max(len(shared), 1)
        found = []
        for one, other in shared:
            theirs = dict(zip(other.seeds, other.values, strict=True))
            pairs = [value - theirs[seed] for seed, value in zip(one.seeds, one.values, strict=True) if seed in theirs]
            if not pairs:
                continue
            summary = mean_interval(pairs, level)
            equal = len(pairs) > 1 and not np.any(pairs)
            found.append(Difference(one.x, summary.mean, summary.low, summary.high, equal))
        return found
