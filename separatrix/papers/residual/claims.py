"""What section 8.1 says about its experiments, and what the controls say, each with the criterion that decides it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from separatrix.papers.residual.sides import ALPHA, KERNELS, by_beta, controls, every_side, only, search, side, sides_of
from separatrix.studies.curve import Curve
from separatrix.studies.verdicts import LOWER, Claim, Outcome, Verdict, all_of, lower

if TYPE_CHECKING:
    from separatrix.studies.result import Result

FAR = 2.0
BELOW = "more than 1% below k alpha^2 = 1.35, the error without G"


def _only_the_resnet(part: str) -> Callable[[Result], Verdict]:
    winner = f"3resnet ({part})"

    def decide(result: Result) -> Verdict:
        curve = result.curve("width")
        sides = every_side(curve)
        learned = [label for label, found in sides.items() if found.get("below_at")]
        across = [label for label, found in sides.items() if label != winner and found.get("across_at")]
        outcome: Outcome = "inconclusive"
        if any(label != winner for label in learned) or winner not in sides:
            outcome = "refuted"
        elif winner in learned and not across:
            outcome = "supported"
        elif not learned and not sides[winner].get("across_at"):
            outcome = "refuted"
        sizes = {condition.cell.train_size for condition in result.conditions}
        return Verdict(outcome, {"N": sorted(filter(None, sizes)), "methods": sides, "search": search(result)})

    return decide


def _kernels_far_behind(part: str) -> Callable[[Result], Verdict]:
    winner = f"3resnet ({part})"

    def decide(result: Result) -> Verdict:
        curve = result.curve("width")
        verdicts = {}
        for label in KERNELS:
            ratios = _ratios(curve, winner, label)
            ahead = lower(curve, winner, label)
            outcome = ahead.outcome
            widest = max(ratios, key=float)
            if outcome == "supported" and (ahead.evidence["undecided_at"] or ratios[widest] < FAR):
                outcome = "inconclusive"
            verdicts[label] = Verdict(outcome, {**ahead.evidence, "ratio_of_means": ratios})
        return all_of(verdicts)

    return decide


def _ratios(curve: Curve, first: str, second: str) -> dict[str, float]:
    """The mean error of ``second`` over that of ``first``, by place."""
    own = {point.x: point.summary.mean for point in curve.of(first)}
    return {f"{p.x:g}": p.summary.mean / own[p.x] if own[p.x] > 0 else math.inf for p in curve.of(second) if p.x in own}


def fig2(figure: str, part: str) -> tuple[Claim, ...]:
    return (
        Claim(
            f"residual/{figure}-only-resnet",
            "Training a three-layer ResNet is the only method among the nine that learns alpha G(F(x)), even only "
            "non-trivially",
            f"95% intervals over seeds: supported if the ResNet's lies {BELOW} at some width and every "
            "other method's above it at every width; refuted if another's lies below at some width, or the ResNet's "
            "above at every width. It speaks of this N and these nine methods; see samples and controls for others",
            _only_the_resnet(part),
        ),
        Claim(
            f"residual/{figure}-kernels-fall-behind",
            "All kernel methods fall far behind even when the network width m is large",
            f"against each of the six, decided at every width, and at the largest with a mean error of at least "
            f"{FAR:g} times the ResNet's: {LOWER}",
            _kernels_far_behind(part),
        ),
    )


def _beta_decides(result: Result) -> Verdict:
    """Learned for every beta > alpha, for none below; of beta = alpha, "about" claims neither."""
    sides = {name: sides_of(by_beta(result), name) for name in by_beta(result).points}
    verdicts = {}
    for name, found in sides.items():
        beta = float(name.split("= ")[1])
        if beta == ALPHA:
            continue
        large = beta > ALPHA
        outcome: Outcome = "inconclusive"
        if found.get("below_at"):
            outcome = "supported" if large else "refuted"
        elif not found.get("across_at"):
            outcome = "refuted" if large else "supported"
        verdicts[name] = Verdict(outcome, found)
    decided = all_of(verdicts)
    return Verdict(decided.outcome, {**decided.evidence, "at beta = alpha": sides.get(f"β = {ALPHA:g}")})


def fig3(figure: str) -> tuple[Claim, ...]:
    return (
        Claim(
            f"residual/{figure}-base-signal-needed",
            "When alpha is at most about beta the ResNet learns the composite signal; when alpha is larger, that is "
            "practically impossible",
            f"95% intervals over seeds: for beta > alpha {BELOW} at some width, for beta < alpha above that at "
            "every width; beta = alpha is told and decides nothing",
            _beta_decides,
        ),
    )


def _each(pairs: Iterable[tuple[str, str]]) -> Callable[[Result], Verdict]:
    def decide(result: Result) -> Verdict:
        curve = result.curve()
        return all_of({f"{first} < {second}": lower(curve, first, second) for first, second in pairs})

    return decide


def _only_at_every_size(result: Result) -> Verdict:
    """The least N from which each method is below the threshold, the ResNets' against the others'."""
    curve = result.curve()
    sides = every_side(curve)
    first = {label: _learned_from(curve, label) for label in curve.points}
    own = min(first["3resnet (all)"], first["3resnet (hidden)"])
    others = {label: N for label, N in first.items() if not label.startswith("3resnet (") or label in KERNELS}
    evidence = {
        "below_1.35_from_N": {label: N if math.isfinite(N) else "never" for label, N in first.items()},
        "largest_N": max(point.x for points in curve.points.values() for point in points),
        "methods": sides,
        "search": search(result),
    }
    if math.isfinite(min(others.values())):
        return Verdict("refuted", evidence)
    across = any(sides[label].get("across_at") for label in others)
    return Verdict("inconclusive" if across or math.isinf(own) else "supported", evidence)


def _learned_from(curve: Curve, label: str) -> float:
    return min((point.x for point in curve.of(label) if side(point) == "below"), default=math.inf)


SAMPLES = (
    Claim(
        "residual/samples-only-resnet-at-any-size",
        "The ResNet is the only method that learns alpha G(F(x)), whatever the number of samples",
        f"95% intervals over seeds: refuted if another method's lies {BELOW}, at some N, supported if the ResNet's "
        "does and every other's lies above that at every N. (The paper claims it for its N only.)",
        _only_at_every_size,
    ),
    Claim(
        "residual/networks-beat-kernels",
        "Other findings: two- and three-layer fully connected networks do better than kernel methods",
        f"each (all) against its own (last) and (NTK): {LOWER}",
        _each((f"{kind} (all)", f"{kind} ({how})") for kind in ("3layer", "2layer") for how in ("last", "NTK")),
    ),
    Claim(
        "residual/resnet-beats-networks",
        "Other findings: the three-layer ResNet does better than two- and three-layer fully connected networks",
        f"all layers trained, and hidden layers trained, against each: {LOWER}",
        _each((f"3resnet ({part})", f"{kind} ({part})") for part in ("all", "hidden") for kind in ("3layer", "2layer")),
    ),
)


def _none_learns(result: Result) -> Verdict:
    """No learner's interval reaches below the threshold."""
    curve = result.curve("width")
    sides = every_side(curve)
    outcome: Outcome = "supported"
    if any(found.get("below_at") for found in sides.values()):
        outcome = "refuted"
    elif any(found.get("across_at") for found in sides.values()):
        outcome = "inconclusive"
    return Verdict(outcome, {"methods": sides, "search": search(result)})


KERNEL_CLAIMS = (
    Claim(
        "residual/kernels-do-not-learn",
        "No kernel method learns alpha G(F(x)) at N = 500: trained by SGD or solved, with all outputs or averaged",
        f"95% intervals over seeds: refuted if one lies {BELOW}, supported if all lie above that",
        _none_learns,
    ),
)


def _against(part: str, first: str, second: str) -> Callable[[Result], Verdict]:
    def decide(result: Result) -> Verdict:
        curve = only(result.curve(), controls(part))
        found = lower(curve, f"{first} ({part})", f"{second} ({part})")
        evidence = {**found.evidence, "methods": every_side(curve), "search": search(result)}
        decided = {name for name in ("below_at", "above_at", "undecided_at", "equal_at") if found.evidence[name]}
        outcome: Outcome = "inconclusive"
        if decided == {"below_at"}:
            outcome = "supported"
        elif decided == {"above_at"}:
            outcome = "refuted"
        return Verdict(outcome, evidence)

    return decide


def _control(id: str, statement: str, first: str, second: str) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            f"residual/controls-{id}-{part}",
            f"{statement} ({part} layers trained)",
            "paired differences over seeds, 95% intervals together over the sizes: supported if all lie below zero, "
            "refuted if all lie above",
            _against(part, first, second),
        )
        for part in ("all", "hidden")
    )


CONTROLS = (
    *_control(
        "bottleneck-helps-resnet",
        "Control: with the skip, the bottleneck U = V A lowers the error against a free U",
        "ResNet, U = VA",
        "ResNet, free U",
    ),
    *_control(
        "bottleneck-helps-plain",
        "Control: without the skip, the bottleneck U = V A lowers the error against a free U",
        "no skip, U = VA",
        "no skip, free U",
    ),
    *_control(
        "skip-helps-bottleneck",
        "Control: with the bottleneck, the skip lowers the error against the same network without it",
        "ResNet, U = VA",
        "no skip, U = VA",
    ),
    *_control(
        "skip-helps-free",
        "Control: with a free U, the skip lowers the error against the three-layer network",
        "ResNet, free U",
        "no skip, free U",
    ),
)
