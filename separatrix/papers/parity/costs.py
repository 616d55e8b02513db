"""What it costs to find the parity, in samples, neurons or features, and how that grows with k."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from separatrix.errors import InputError
from separatrix.studies.growth import Comparison, GrowthLaw, compare_laws, costs, growth_law
from separatrix.studies.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from separatrix.studies.curve import Curve
    from separatrix.studies.result import Result

    Results = Result | Mapping[str, Result]
    """Of one study, or of several by name."""

NETWORK, RANDOM_FEATURES = "network", "random ReLU features"
FIXED_N = f"{RANDOM_FEATURES}, one n for every k"
UNIFORM = "test_error.uniform"
REACHED = 0.1
"""The error on the uniform component at which the parity counts as found: below any linear classifier's of the bits."""


def is_linear(label: str) -> bool:
    return not label.startswith(NETWORK)


def is_rival(label: str) -> bool:
    """A linear method on the task that the network of the same k has."""
    return is_linear(label) and label != FIXED_N


def curves_by_k(results: Results, axis: str | Sequence[str]) -> dict[int, Curve]:
    """The error on the uniform component along ``axis``, of all the studies' learners together."""
    found: dict[int, Curve] = {}
    for result in results.values() if isinstance(results, Mapping) else [results]:
        for k in {int(task.k) for task in result.study.tasks}:  # type: ignore[attr-defined]
            curve = result.curve(axis, UNIFORM, where={"k": k})
            found[k] = replace(curve, points={**found[k].points, **curve.points}) if k in found else curve
    return dict(sorted(found.items()))


class Costs:
    """By learner and k, what it cost each seed to reach :data:`REACHED` on the uniform component, along ``axis``."""

    def __init__(self, results: Results, axis: str | Sequence[str]):
        self.by_label: dict[str, dict[float, list[float]]] = {}
        self.limits: dict[str, dict[float, float]] = {}
        for k, curve in curves_by_k(results, axis).items():
            for label, points in curve.points.items():
                found = costs(curve, label, REACHED)
                self.by_label.setdefault(label, {})[k] = [found[seed] for seed in sorted(found)]
                self.limits.setdefault(label, {})[k] = points[-1].x

    def best_linear(self) -> tuple[dict[float, list[float]], dict[float, float]]:
        """The least cost of any linear method, by seed."""
        linear = [label for label in self.by_label if is_rival(label)]
        found = {
            k: [min(values) for values in zip(*(self.by_label[label][k] for label in linear), strict=True)]
            for k in self.by_label[linear[0]]
        }
        return found, self.limits[linear[0]]

    def law(self, label: str) -> GrowthLaw | None:
        """The exponential law of the places that were reached; None where these are fewer than two."""
        try:
            return growth_law(list(self.by_label[label]), list(self.by_label[label].values()), "exponential")
        except InputError:
            return None


def _evidence(found: Mapping[float, list[float]], limits: Mapping[float, float], laws: Comparison) -> dict[str, Any]:
    reached = {k: f"{median(v):.4g}" if math.isfinite(median(v)) else f"> {limits[k]:g}" for k, v in found.items()}
    return {
        "error": REACHED,
        "median_cost_by_k": reached,
        "seeds": dict(found),
        "exponential": str(laws.exponential),
        "power": str(laws.power),
        "better": laws.preferred or "undecided",
        "share_of_resamples": laws.share,
    }


def grows(axis: str | Sequence[str], which: str, kind: str) -> Callable[[Results], Verdict]:
    """Whether the cost of ``which`` (a label, or ``linear`` for the best linear method) follows the law ``kind``."""

    def decide(results: Results) -> Verdict:
        all_costs = Costs(results, axis)
        if which == "linear":
            found, limits = all_costs.best_linear()
        else:
            found, limits = all_costs.by_label[which], all_costs.limits[which]
        try:
            laws = compare_laws(list(found), list(found.values()), limits=limits)
        except InputError as few:
            return Verdict("inconclusive", {"seeds": found, "limits": limits, "missing": str(few)})
        outcome: Outcome = "inconclusive"
        if laws.preferred is not None:
            outcome = "supported" if laws.preferred == kind else "refuted"
        return Verdict(outcome, _evidence(found, limits, laws))

    return decide


def cheaper_at_the_largest_k(axis: str | Sequence[str]) -> Callable[[Results], Verdict]:
    """For every seed the network's cost lies below the least of any linear method, at the largest k."""

    def decide(results: Results) -> Verdict:
        all_costs = Costs(results, axis)
        linear, limits = all_costs.best_linear()
        k = max(linear)
        own, other = all_costs.by_label[NETWORK][k], linear[k]
        lower = [mine < theirs for mine, theirs in zip(own, other, strict=True)]
        higher = [mine > theirs for mine, theirs in zip(own, other, strict=True)]
        outcome: Outcome = "supported" if all(lower) else "refuted" if all(higher) else "inconclusive"
        return Verdict(outcome, {"k": k, NETWORK: own, "best_linear": other, "limit": limits[k]})

    return decide
