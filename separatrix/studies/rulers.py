"""Rulers: where a value lies along a chart's axis, so that marks and labels can be kept apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

_MOST_TICKS = 9


@dataclass(frozen=True)
class Ruler:
    """An axis of ``length`` pixels from ``low`` to ``high``, linear or logarithmic."""

    low: float
    high: float
    length: float
    log: bool
    ticks: list[float]
    upward: bool = False

    @classmethod
    def around(cls, values: Sequence[float], length: float, log: bool, margin: float = 14.0) -> Ruler:
        """A horizontal ruler that ends a few pixels beyond the values, with ticks at them where they are few."""
        places = sorted(set(values))
        low, high = places[0], places[-1]
        part = margin / (length - 2 * margin)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - 1, high + 1)
        elif log:
            ratio = (high / low) ** part
            low, high = low / ratio, high * ratio
        else:
            low, high = low - part * (high - low), high + part * (high - low)
        ticks = places if len(places) <= _MOST_TICKS else nice_ticks(places[0], places[-1], log)
        made = cls(low, high, length, log, ticks)
        return cls(low, high, length, log, _uncrowded(made, ticks))

    @classmethod
    def above_zero(cls, values: Sequence[float], length: float, log: bool) -> Ruler:
        """A vertical ruler from 0 (logarithmic: from below the least positive value) to just above the greatest."""
        positive = [value for value in values if value > 0]
        if log:
            least, most = min(positive, default=1e-3), max(positive, default=1.0)
            low, high = 10 ** math.floor(math.log10(least)), 10 ** math.ceil(math.log10(most * 1.0001))
            return cls(low, high, length, True, nice_ticks(low, high, True), True)
        low, high = min(0.0, *values) if values else 0.0, max(positive, default=1.0)
        high += 0.03 * (high - low)
        return cls(low, high, length, False, nice_ticks(low, high, False), True)

    def encoding(self) -> alt.Scale:
        limits = [self.low, self.high]
        if self.log:
            return alt.Scale(type="log", domain=limits, nice=False)
        return alt.Scale(type="linear", domain=limits, nice=False, zero=False)

    def pixel(self, value: float) -> float:
        """Pixels from the left, or from the top."""
        part = (self._linear(value) - self._linear(self.low)) / (self._linear(self.high) - self._linear(self.low))
        return self.length * (1 - part if self.upward else part)

    def value(self, pixel: float) -> float:
        part = 1 - pixel / self.length if self.upward else pixel / self.length
        found = self._linear(self.low) + part * (self._linear(self.high) - self._linear(self.low))
        return math.exp(found) if self.log else found

    def moved(self, value: float, pixels: float) -> float:
        return self.value(self.pixel(value) + pixels) if pixels else value

    def inside(self, value: float) -> float:
        """The nearest value on the ruler."""
        return min(max(value, self.low), self.high)

    def closest(self, values: Sequence[float]) -> float:
        """Pixels between the closest two different values."""
        places = sorted({self.pixel(value) for value in values})
        return min((b - a for a, b in itertools.pairwise(places)), default=self.length)

    def _linear(self, value: float) -> float:
        return math.log(value) if self.log else value


def nice_ticks(low: float, high: float, log: bool) -> list[float]:
    """Round numbers in [low, high]: powers of ten (with 2 and 5 where these are few), or equal steps.

    >>> nice_ticks(0.01, 1, True)
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    """
    if log:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        digits = (1, 2, 5) if len(decades) <= 4 else (1,)
        found = [float(f"{digit}e{decade}") for decade in decades for digit in digits]
    else:
        step = _step((high - low) / 6)
        found = [float(f"{i * step:.10g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [tick for tick in found if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)] if low > 0 else found


def spread(places: Sequence[float], gap: float, length: float) -> list[float]:
    """The places moved as little as needed to lie ``gap`` apart, in the same order, inside [0, length] if they fit.

    >>> spread([10.0, 10.0, 50.0], 16.0, 100.0)
    [2.0, 18.0, 50.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[tuple[float, list[int]]] = []  # the top of each group of touching labels
    room = max(length, gap * (len(places) - 1))
    for i in order:
        top, members = places[i], [i]
        while True:
            height = gap * (len(members) - 1)
            middle = sum(places[j] for j in members) / len(members)
            top = min(max(middle - height / 2, 0.0), room - height)
            if not groups or groups[-1][0] + gap * len(groups[-1][1]) <= top + 1e-9:
                break
            members = groups.pop()[1] + members
        groups.append((top, members))
    found = [0.0] * len(places)
    for top, members in groups:
        for rank, i in enumerate(members):
            found[i] = top + gap * rank
    return found


def emptiest(
    spots: Sequence[tuple[float, float]], width: float, height: float, taken: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """The first of the spots (left, top) on whose box the fewest pixels are taken.

    >>> emptiest([(0.0, 0.0), (50.0, 0.0)], 40.0, 10.0, [(20.0, 5.0)])
    (50.0, 0.0)
    """

    def crowd(spot: tuple[float, float]) -> int:
        left, top = spot
        return sum(-2 < x - left < width + 2 and -1 < y - top < height + 1 for x, y in taken)

    return min(spots, key=crowd)


def _step(rough: float) -> float:
    """The least of 1, 2, 2.5, 5, 10 times a power of ten that is at least ``rough``."""
    unit = 10 ** math.floor(math.log10(rough))
    return float(next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * (1 - 1e-9)))


def _uncrowded(ruler: Ruler, ticks: Sequence[float], room: float = 30.0) -> list[float]:
    """The ticks without those that would stand in the way of the one before."""
    kept: list[float] = []
    for tick in ticks:
        if not kept or ruler.pixel(tick) - ruler.pixel(kept[-1]) >= room:
            kept.append(tick)
    return kept
