"""What the paper says of training FCN and CNN on log2(n)-patterns, each with the criterion that decides it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from separatrix.papers.convolution.separation import (
    LEFT,
    LONGEST,
    NAME,
    NETS,
    TARGET,
    Results,
    along_log_n,
    expected_plateaus,
    gradients,
    law,
    measured,
    measured_plateaus,
    plateaus,
    trained,
)
from separatrix.papers.convolution.start_gradient import Net, exact_gradient_sq
from separatrix.studies.tuning import STEPS
from separatrix.studies.verdicts import LOWER, Claim, Outcome, Verdict, all_of, lower

if TYPE_CHECKING:
    from separatrix.studies.result import Result

POLY = 3
"""Corollary 5's power of n in T."""
SLOWER = 10
ROUNDOFF = 2.0**-24
"""Float32's; a coordinate of dL/dw_i is a mean of numbers of size 1, and below this it is rounding."""
TOLERANCE = 3.0


def _learners(result: Result, net: Net) -> list[str]:
    return [label for label, _ in result.study.labelled if label.startswith(net)]


def _cnn_needs_few_steps(results: Results) -> Verdict:
    """Each start: every seed gets there, and steps grow with n at a fixed k more slowly than n^3."""
    parts = {}
    for name, result in trained(results).items():
        for learner in _learners(result, "CNN"):
            values = [value for point in result.curve("n", STEPS).of(learner) for value in point.values]
            missed, found = sum(map(math.isinf, values)), law(result, learner)
            evidence = {"runs": len(values), "not done": missed, "exponent of n": found and found.rate}
            decided = missed == 0 and found is not None and found.rate.high < POLY
            refuted = found is not None and found.rate.low > POLY
            refuted |= missed > len(values) / 2
            outcome: Outcome = "supported" if decided else "refuted" if refuted else "inconclusive"
            parts[f"{name}, {learner}"] = Verdict(outcome, evidence)
    return all_of(parts)


def _fcn_fails(results: Results) -> Verdict:
    """At the greatest n = 2^k that was trained."""
    curve = along_log_n(trained(results).values())
    parts = {}
    for learner in [label for label in curve.points if label.startswith("FCN")]:
        last = max(curve.of(learner), key=lambda point: point.x)
        others = {point.x: point for point in curve.of("CNN" + learner.removeprefix("FCN"))}
        slow = SLOWER * max(others[last.x].values)
        evidence = {"n": last.x, "steps of FCN": last.values, "steps of CNN": others[last.x].values}
        reached = [value for value in last.values if math.isfinite(value)]
        if all(value > slow for value in last.values):
            parts[learner] = Verdict("supported", evidence)
        else:
            all_fast = len(reached) == len(last.values) and max(reached) <= slow
            parts[learner] = Verdict("refuted" if all_fast else "inconclusive", evidence)
    return all_of(parts)


def _cnn_is_faster(results: Results) -> Verdict:
    """Paired steps, where all seeds got there."""
    parts = {}
    for name, result in trained(results).items():
        curve = result.curve("n", STEPS)
        for learner in _learners(result, "CNN"):
            other = "FCN" + learner.removeprefix("CNN")
            if all(
                math.isfinite(value) for one in (learner, other) for point in curve.of(one) for value in point.values
            ):
                parts[f"{name}, {learner}"] = lower(curve, learner, other)
            else:
                missed = {
                    one: sum(map(math.isinf, [v for p in curve.of(one) for v in p.values])) for one in (learner, other)
                }
                parts[f"{name}, {learner}"] = Verdict("inconclusive", {"not done": missed})
    return all_of(parts)


def _plateau_exponent_grows(results: Results) -> Verdict:
    """The exponents of n at the least and the greatest k."""
    fitted = {net: {k: law(result, net) for k, result in plateaus(results).items()} for net in NETS}
    evidence: dict[str, Any] = {
        net: {f"k = {k}": one and one.rate for k, one in found.items()} for net, found in fitted.items()
    }
    rates = [one.rate for one in fitted["FCN"].values() if one is not None]
    if len(rates) > 1 and rates[-1].low > rates[0].high:
        return Verdict("supported", evidence)
    return Verdict("refuted" if len(rates) > 1 and rates[-1].high < rates[0].low else "inconclusive", evidence)


def _plateau_as_predicted(results: Results) -> Verdict:
    parts = {}
    for net in NETS:
        for n, times in measured_plateaus(results, net).items():
            ratios = [time / expected_plateaus(net)[n] for time in times]
            evidence = {"times": times, "predicted": expected_plateaus(net)[n]}
            near = all(1 / TOLERANCE < ratio < TOLERANCE for ratio in ratios)
            far = all(not 1 / TOLERANCE < ratio < TOLERANCE for ratio in ratios)
            outcome: Outcome = "supported" if near else "refuted" if far else "inconclusive"
            parts[f"{net}, n = {n}"] = Verdict(outcome, evidence)
    return all_of(parts)


def _exponents(values: Mapping[int, float]) -> list[float]:
    """-d log E||g||^2 / d log n between every n and the next but one: k even and k odd alternate."""
    ns = sorted(values)
    return [math.log(values[a] / values[b]) / math.log(b / a) for a, b in zip(ns, ns[2:], strict=False)]


def _gradient_is_tiny(results: Results) -> Verdict:
    """The exact expectation along n = 2^k: superpolynomial for FCN and polynomial for CNN."""
    rates: dict[Net, list[float]] = {net: _exponents(gradients(net)) for net in NETS}
    evidence: dict[str, Any] = {f"local exponents, {net}": values for net, values in rates.items()}
    rising = all(late > early for early, late in zip(rates["FCN"], rates["FCN"][2:], strict=False))
    flat = max(rates["CNN"]) < POLY
    return Verdict("supported" if rising and flat else "refuted", evidence)


def _theory_is_measured(results: Results) -> Verdict:
    """The networks' own gradients against the exact expectation."""
    parts = {}
    for net in NETS:
        for n, start in measured(results, net).items():
            summary, exact = start.gradient_sq, exact_gradient_sq(net, n, n.bit_length() - 1)
            evidence = {"measured": [summary.mean, summary.low, summary.high], "exact": exact}
            evidence["float32, relative error with a Gaussian u"] = start.float32_error
            inside = summary.low <= exact <= summary.high
            far = not summary.mean / TOLERANCE < exact < summary.mean * TOLERANCE
            parts[f"{net}, n = {n}"] = Verdict(
                "supported" if inside else "refuted" if far else "inconclusive", evidence
            )
    return all_of(parts)


def _float32_is_blind(results: Results) -> Verdict:
    """A coordinate's root mean square against the roundoff; and whether float32 needed other numbers of steps."""
    sizes = {n: math.sqrt(value / n) for n, value in gradients("FCN").items()}
    blind = [n for n, size in sizes.items() if size < ROUNDOFF]
    places = [int(point.x) for point in along_log_n(trained(results).values()).of("FCN")]
    evidence: dict[str, Any] = {"rms coordinate": sizes, "below 2^-24 at n": blind, "trained at n": places}
    for name, result in results.items():
        if result.study.procedure.precision == "float32":
            double = results[name.removesuffix(", float32")]
            evidence[f"steps, {name}"] = _means(result)
            evidence[f"steps, {name.removesuffix(', float32')}"] = _means(double)
    return Verdict("supported" if blind else "refuted", evidence)


def _means(result: Result) -> dict[str, dict[str, float]]:
    curve = result.curve("n", STEPS)
    return {name: {f"{p.x:g}": p.summary.mean for p in curve.of(name)} for name in NETS}


CLAIMS = (
    Claim(
        f"{NAME}-cnn-needs-poly-steps",
        "Training a CNN of polynomial size with gradient descent achieves small error in polynomial time",
        f"each start and k: every run gets to a loss of {TARGET}, and the 95% interval of the exponent of n in the "
        f"steps lies below {POLY}, Corollary 5's",
        _cnn_needs_few_steps,
    ),
    Claim(
        f"{NAME}-fcn-fails",
        "Gradient descent fails to learn log2(n)-patterns when training an FCN of polynomial size (at n up to 16)",
        f"each start, at the greatest n = 2^k trained: every FCN needs more than {SLOWER} times the steps of the "
        "slowest CNN; refuted if none does",
        _fcn_fails,
    ),
    Claim(
        f"{NAME}-cnn-is-faster",
        "A CNN learns k-patterns in fewer steps than an FCN with as many parameters",
        f"each start and k, at tuned rates: {LOWER}",
        _cnn_is_faster,
    ),
    Claim(
        f"{NAME}-plateau-exponent-grows",
        "The tiny gradient keeps the FCN at a loss near 1 for a time n^Omega(k): the power of n grows with k",
        f"time until the loss is {LEFT} ~ n^b at each k: supported if the 95% interval of b at the greatest k lies "
        "above that at the least",
        _plateau_exponent_grows,
    ),
    Claim(
        f"{NAME}-plateau-as-predicted",
        "The plateau lasts as long as the gradient at the start says",
        f"every training at n = 2^k: the time is within a factor of {TOLERANCE:g} of {1 - LEFT:.1f} / E "
        "||grad L(0)||^2; refuted if all seeds of a network are not",
        _plateau_as_predicted,
    ),
    Claim(
        f"{NAME}-gradient-is-superpolynomially-small",
        "The FCN's gradient at the start is n^-Omega(log n) in the squared norm; the CNN's is not",
        f"exact values at n = 2^k: the FCN's local exponents rise throughout (k even and k odd apart), the CNN's "
        f"stay below {POLY}",
        _gradient_is_tiny,
    ),
    Claim(
        f"{NAME}-gradient-as-predicted",
        "The networks that are trained start with the gradient of Theorem 12",
        "at every n = 2^k trained: the exact expectation lies in the 95% interval over seeds; refuted where it is off "
        f"by more than a factor of {TOLERANCE:g}",
        _theory_is_measured,
    ),
    Claim(
        f"{NAME}-float32-sees-zero",
        "On a finite-precision machine the true population gradient is effectively zero",
        f"the exact root mean square of a coordinate of dL/dw_i at n = 2^k, k up to {LONGEST}: supported if it falls "
        "below float32's 2^-24; at the n trained here it does not, and float32's steps stand beside float64's",
        _float32_is_blind,
    ),
)
