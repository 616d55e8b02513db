"""Confidence intervals for proportions and for means over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Summary:
    """A mean over seeds with its standard deviation and confidence limits."""

    mean: float
    std: float
    n: int
    low: float
    high: float


def proportion(successes: float, trials: int, level: float = 0.95) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a proportion.

    >>> low, high = proportion(0, 1000)
    >>> low, round(high, 4)
    (0.0, 0.0037)
    """
    tail = (1 - level) / 2
    low = 0.0 if successes <= 0 else float(stats.beta.ppf(tail, successes, trials - successes + 1))
    high = 1.0 if successes >= trials else float(stats.beta.ppf(1 - tail, successes + 1, trials - successes))
    return low, high


def mean_interval(values: Sequence[float], level: float = 0.95) -> Summary:
    """Student's interval of a mean; without limits (infinite) for fewer than two values, or where
    one is not finite."""
    data = np.asarray(values, dtype=np.float64)
    n, mean = len(data), float(data.mean())
    if n < 2 or not np.isfinite(mean):
        return Summary(mean, float("nan"), n, float("-inf"), float("inf"))
    std = float(data.std(ddof=1))
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * std / np.sqrt(n))
    return Summary(mean, std, n, mean - half, mean + half)


def error_interval(errors: Sequence[float], test_size: int | None, level: float = 0.95) -> Summary:
    """The interval of an expected error from its values over seeds.

    Each value is a proportion of ``test_size`` examples (None: exact). The interval over seeds alone is empty
    when all seeds agree, as at an error of 0; so it is joined with the interval of the pooled proportion.
    """
    found = mean_interval(errors, level)
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    if test_size is not None:
        trials = test_size * len(errors)
        pooled = proportion(round(found.mean * trials), trials, level)
        low, high = min(low, pooled[0]), max(high, pooled[1])
    return Summary(found.mean, found.std, found.n, low, high)
