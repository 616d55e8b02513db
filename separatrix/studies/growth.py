"""How a cost grows: the laws y ~ a x^b and y ~ a e^(b x), with intervals for b, and which of the two fits.

A cost is what a learner needs at a place x (samples, features or steps to reach an error), one value a seed. A seed
that did not reach it within the budget costs infinity: the median stays finite while fewer than half do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from separatrix.errors import InputError
from separatrix.rules import Choice
from separatrix.studies.curve import Curve
from separatrix.studies.intervals import mean_interval
from separatrix.theory.certificate import Interval

Kind = Literal["power", "exponential"]
Centre = Literal["median", "mean"]
Samples = Sequence[Sequence[float] | np.ndarray]
"""The costs of the seeds at each place."""

_LEVEL, _RESAMPLES, _DECISIVE = 0.95, 1000, 0.95


@dataclass(frozen=True)
class GrowthLaw:
    """A fitted law. ``rate`` is b; ``misfit`` the root mean square of the residuals of log y.

    ``places`` are those of the fit; at ``censored_at`` half of the seeds or more did not reach the cost.
    """

    kind: Kind
    rate: Interval
    prefactor: float
    misfit: float
    places: tuple[float, ...]
    censored_at: tuple[float, ...] = ()

    def at(self, x: float) -> float:
        """The law's value at x."""
        power = self.rate.mean * (math.log(x) if self.kind == "power" else x)
        return float(self.prefactor * math.exp(power))

    def __str__(self) -> str:
        rate, variable = self.rate, "x^b" if self.kind == "power" else "e^(b x)"
        return f"y = {self.prefactor:.3g} {variable}, b = {rate.mean:.3g} [{rate.low:.3g}, {rate.high:.3g}]"


@dataclass(frozen=True)
class Comparison:
    """Both laws on the same data; ``preferred`` fits better in ``share`` of the resamples, None where too few.

    The laws' rates are of the places that were reached; the comparison hears the other places too, where a limit is
    known.
    """

    power: GrowthLaw
    exponential: GrowthLaw
    preferred: Kind | None
    share: float


def growth_law(
    x: Sequence[float],
    samples: Samples,
    kind: Kind = "power",
    *,
    centre: Centre = "median",
    zero: float | None = None,
    misfit_counts: bool = True,
    seed: int = 0,
) -> GrowthLaw:
    """Fit log y against log x (``power``) or x (``exponential``) by least squares through the centres of the seeds.

    The 95% interval of b is a bootstrap over the seeds, joined (three places or more, unless ``misfit_counts`` is
    false) with Student's interval of the regression, so that a law that fits badly gets a wide one. A centre of 0 (an
    error that was never seen) counts as ``zero``; without it costs must be above 0.

    >>> law = growth_law([1, 2, 4, 8], [[3.0, 3.0], [12.0, 12.0], [48.0, 48.0], [192.0, 192.0]])
    >>> print(law)
    y = 3 x^b, b = 2 [2, 2]
    """
    Choice("power", "exponential").accept("kind", kind)
    centre_of = _Centre(centre, zero)
    places, values, censored = _uncensored(x, samples, centre_of)
    t = _abscissa(places, kind)
    y = np.log([centre_of(value) for value in values])
    slope, intercept = np.polyfit(t, y, 1)
    residuals = y - slope * t - intercept
    drawn = _slopes(t, _resamples(values, centre_of, seed))
    low, high = np.quantile([*drawn, slope], [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    if misfit_counts and len(places) > 2:
        error = math.sqrt(float(residuals @ residuals) / (len(t) - 2) / float(np.square(t - t.mean()).sum()))
        half = float(stats.t.ppf((1 + _LEVEL) / 2, len(t) - 2)) * error
        low, high = min(low, slope - half), max(high, slope + half)
    rate = Interval(*(round(float(number), 12) for number in (slope, low, high)))
    return GrowthLaw(kind, rate, math.exp(intercept), float(np.sqrt(np.mean(residuals**2))), places, censored)


def paired_exponent(x: Sequence[float], values: np.ndarray) -> Interval:
    """The b of y ~ a x^b where each draw keeps from place to place what is its own: values at places x draws.

    Each draw gives a power, and Student's interval over the draws is the exponent's.

    >>> paired_exponent([1, 2, 4], np.array([[1.0, 5.0], [2.0, 10.0], [4.0, 20.0]])).mean
    1.0
    """
    found = mean_interval(np.polyfit(np.log(x), np.log(values), 1)[0].round(12).tolist())
    return Interval(found.mean, found.low, found.high)


def compare_laws(
    x: Sequence[float],
    samples: Samples,
    *,
    limits: Mapping[float, float] | None = None,
    centre: Centre = "median",
    seed: int = 0,
) -> Comparison:
    """The power law against the exponential one: which leaves the smaller residuals, in how many resamples of seeds.

    ``limits`` gives the budget that was not enough at places where the cost was not reached: a law has a residual
    there as far as it stays below, and none above. Decided where it is 95%, from four places on, of which three are
    measured: the others are those whose limit one of the laws of the measured ones stays below (a limit that both pass
    says nothing).

    >>> compare_laws([1, 2, 3, 4, 5], [[2.0**k] for k in range(1, 6)]).preferred
    'exponential'
    """
    power, exponential = (growth_law(x, samples, kind, centre=centre, seed=seed) for kind in ("power", "exponential"))
    places, values, missed = _uncensored(x, samples, _Centre(centre))
    drawn = _resamples(values, _Centre(centre), seed)
    known = {
        place: math.log(limit)
        for place, limit in (limits or {}).items()
        if place in missed and min(power.at(place), exponential.at(place)) < limit
    }

    def left_over(kind: Kind) -> np.ndarray:
        return _left_over(_abscissa(places, kind), drawn, _abscissa([*known], kind), np.array([*known.values()]))

    exponential_left, power_left = left_over("exponential"), left_over("power")
    alike = np.isclose(exponential_left, power_left, rtol=1e-6, atol=1e-9)
    share = float(np.mean(np.where(alike, 0.5, exponential_left < power_left)))
    better: Kind = "exponential" if share > 0.5 else "power"
    share = max(share, 1 - share)
    decided = len(places) >= 3 and len(places) + len(known) >= 4 and share >= _DECISIVE
    return Comparison(power, exponential, better if decided else None, share)


def costs(curve: Curve, learner: str, target: float) -> dict[int, float]:
    """By seed, the x at which a learner's value first comes down to ``target``; infinity where it does not.

    Between two measured places it is interpolated in log x; at the first place already, it is that place.
    """
    paths: dict[int, list[tuple[float, float]]] = {}
    for point in curve.of(learner):
        for seed, value in zip(point.seeds, point.values, strict=True):
            paths.setdefault(seed, []).append((point.x, value))
    return {seed: _first_reach(path, target) for seed, path in paths.items()}


def _first_reach(path: Sequence[tuple[float, float]], target: float) -> float:
    before: tuple[float, float] | None = None
    for x, value in path:
        if value <= target:
            if before is None or x <= 0:
                return x
            share = (before[1] - target) / (before[1] - value) if math.isfinite(before[1]) else 1.0
            return float(before[0] * (x / before[0]) ** share)
        before = (x, value)
    return math.inf


@dataclass(frozen=True)
class _Centre:
    """The centre of the seeds' costs, where 0 counts as ``zero``."""

    kind: Centre
    zero: float | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Along the last axis."""
        found = np.median(values, axis=-1) if self.kind == "median" else np.mean(values, axis=-1)
        return np.where(found == 0, self.zero or 0.0, found)


def _uncensored(
    x: Sequence[float], samples: Samples, centre: _Centre
) -> tuple[tuple[float, ...], list[np.ndarray], tuple[float, ...]]:
    """The places with a finite centre, their values, and the other places."""
    if len(x) != len(samples):
        raise InputError(f"samples must be as many as the places, got {len(samples)} and {len(x)}")
    kept: list[tuple[float, np.ndarray]] = []
    censored = []
    for place, values in sorted(zip(x, samples, strict=True), key=lambda pair: pair[0]):
        data = np.asarray(values, dtype=np.float64)
        if data.size == 0 or np.isnan(data).any() or (data < 0).any() or float(centre(data)) == 0:
            raise InputError(f"costs must be numbers above 0 or infinity, got {list(values)} at {place:g}")
        if math.isfinite(centre(data)):
            kept.append((float(place), data))
        else:
            censored.append(float(place))
    if len(kept) < 2:
        raise InputError(f"a growth law needs two places where the cost was reached, got {len(kept)}")
    return tuple(place for place, _ in kept), [data for _, data in kept], tuple(censored)


def _abscissa(places: Sequence[float], kind: Kind) -> np.ndarray:
    if kind == "power" and min(places, default=1) <= 0:
        raise InputError(f"a power law needs places above 0, got {min(places):g}")
    return np.log(places) if kind == "power" else np.asarray(places, dtype=np.float64)


def _resamples(values: Sequence[np.ndarray], centre: _Centre, seed: int) -> np.ndarray:
    """A row a resample of the seeds: the logarithms of its centres. One whose centres are not finite is left out."""
    generator = np.random.default_rng(seed)
    drawn = np.stack([centre(generator.choice(data, (_RESAMPLES, data.size))) for data in values], axis=1)
    usable: np.ndarray = np.isfinite(drawn).all(axis=1) & (drawn > 0).all(axis=1)
    return np.asarray(np.log(drawn[usable]))


def _slopes(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The slope of the regression of each row of y on t."""
    centred = t - t.mean()
    return np.asarray(y @ centred / (centred @ centred))


def _left_over(t: np.ndarray, y: np.ndarray, missed_at: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """For each row of y the least sum, over lines, of the squared residuals on t and of the squares by which the line
    stays below the limits at ``missed_at``. The best line is the regression on t and on the places where it stays
    below: one of the candidates, and none of the others has a smaller sum.
    """
    best = np.full(len(y), np.inf)
    for below in itertools.product((False, True), repeat=len(limits)):
        held = np.array(below, dtype=bool)
        at = np.concatenate([t, missed_at[held]])
        to = np.hstack([y, np.broadcast_to(limits[held], (len(y), int(held.sum())))])
        slope = _slopes(at, to)
        line = to.mean(axis=1)[:, None] + slope[:, None] * (np.concatenate([t, missed_at]) - at.mean())
        short = np.maximum(limits - line[:, len(t) :], 0.0)
        best = np.minimum(best, np.square(y - line[:, : len(t)]).sum(axis=1) + np.square(short).sum(axis=1))
    return best
