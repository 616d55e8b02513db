"""The paper's sentences about its experiments, each with the criterion that decides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from separatrix.papers.convolution.photographs import DEPTHS, label
from separatrix.papers.convolution.photographs import EPOCHS as PHOTOGRAPH_EPOCHS
from separatrix.studies.curve import Curve, Difference
from separatrix.studies.verdicts import LOWER, Claim, Verdict, all_of, change, lower

if TYPE_CHECKING:
    from separatrix.studies.result import Result

Decide = Callable[["Result"], Verdict]

GOOD = 0.25
"""Half the error of a coin."""
CHANCE = 0.45
POOR = 0.4
SMALL = 7
EPOCHS = 30
LOCAL = ("CNN", "LCN")
HARMLESS = 0.02


def below(curve: Curve, learner: str, limit: float, places: Sequence[float] | None = None) -> Verdict:
    """Whether a learner's interval lies below the limit at all of the places; refuted if above at one."""
    points = [point for point in curve.of(learner) if places is None or point.x in places]
    intervals = {f"{point.x:g}": [point.summary.low, point.summary.high] for point in points}
    evidence = {"learner": learner, "limit": limit, "intervals": intervals}
    if points and all(point.summary.high < limit for point in points):
        return Verdict("supported", evidence)
    return Verdict("refuted" if any(point.summary.low > limit for point in points) else "inconclusive", evidence)


def above(curve: Curve, learner: str, limit: float) -> Verdict:
    """Whether a learner's interval at the greatest place lies above the limit; refuted if below."""
    last = curve.of(learner)[-1]
    evidence = {"learner": learner, "limit": limit, "at": last.x, "interval": [last.summary.low, last.summary.high]}
    if last.summary.low > limit:
        return Verdict("supported", evidence)
    return Verdict("refuted" if last.summary.high < limit else "inconclusive", evidence)


def grows(difference: Difference) -> Verdict:
    evidence = {"change": difference.mean, "interval": [difference.low, difference.high]}
    if difference.low > 0:
        return Verdict("supported", evidence)
    return Verdict("refuted" if difference.high < 0 else "inconclusive", evidence)


def at_length(result: Result, verdict: Verdict, paper: int = EPOCHS) -> Verdict:
    """The verdict, where training was as long as the paper's: an error after fewer epochs says nothing of its level."""
    epochs = result.study.procedure.epochs
    if epochs >= paper:
        return verdict
    return Verdict("inconclusive", {"why": f"{epochs} epochs instead of the paper's {paper}", **verdict.evidence})


def _only(curve: Curve, keep: Callable[[float], bool]) -> Curve:
    return replace(curve, points={name: tuple(p for p in found if keep(p.x)) for name, found in curve.points.items()})


def _locals_stay_good(result: Result) -> Verdict:
    curve = result.curve("n")
    return at_length(result, all_of({name: below(curve, name, GOOD) for name in LOCAL}))


def _fcn_degrades(result: Result) -> Verdict:
    curve = result.curve("n")
    parts = {"degrades": grows(change(curve, "FCN")), "chance at the greatest n": above(curve, "FCN", CHANCE)}
    return at_length(result, all_of(parts))


def _locals_beat_fcn(result: Result) -> Verdict:
    curve = _only(result.curve("n"), lambda n: n > 3)
    return all_of({name: lower(curve, name, "FCN") for name in LOCAL})


def _lcn_beats_cnn(result: Result) -> Verdict:
    return lower(_only(result.curve("n"), lambda n: n > 3), "LCN", "CNN")


def _fcn_wins_at_small_n(result: Result) -> Verdict:
    curve = _only(result.curve("n"), lambda n: 3 < n <= SMALL)
    return all_of({name: lower(curve, "FCN", name) for name in LOCAL})


def _all_poor(result: Result) -> Verdict:
    curve = result.curve("n")
    return at_length(result, all_of({name: above(curve, name, POOR) for name in ("FCN", *LOCAL)}))


def middle(figure: str) -> tuple[Claim, ...]:
    """What the paper says of figure 3, decided on a figure."""
    return (
        Claim(
            f"{figure}-local-networks-stay-good",
            "CNN and LCN achieve good performance regardless of the number n of digits",
            f"each, at every n: the 95% interval of the error lies below {GOOD}; refuted if it lies above at one n",
            _locals_stay_good,
        ),
        Claim(
            f"{figure}-fcn-degrades-to-chance",
            "The performance of the FCN critically degrades for larger n, to chance at n = 19",
            "the change of its error from the least n to the greatest has a 95% interval above 0, and the interval at "
            f"the greatest n lies above {CHANCE}",
            _fcn_degrades,
        ),
        Claim(
            f"{figure}-local-networks-beat-fcn",
            "CNN and LCN are better than the FCN where the three digits are consecutive (n > 3)",
            f"each: {LOWER}",
            _locals_beat_fcn,
        ),
        Claim(
            f"{figure}-lcn-beats-cnn",
            "LCN has a clear advantage over CNN (n > 3)",
            LOWER,
            _lcn_beats_cnn,
        ),
    )


def far(figure: str) -> tuple[Claim, ...]:
    """What the paper says of figure 4, decided on a figure."""
    return (
        Claim(
            f"{figure}-fcn-wins-at-small-n",
            "For small n the FCN performs much better than CNN and LCN where the three digits are far apart",
            f"against each, at n from 5 to {SMALL} (at n = 3 all are one class of functions): {LOWER}",
            _fcn_wins_at_small_n,
        ),
        Claim(
            f"{figure}-all-poor-at-large-n",
            "For large n all architectures perform poorly",
            f"each, at the greatest n: the 95% interval of the error lies above {POOR}",
            _all_poor,
        ),
    )


def _kinds(result: Result) -> list[tuple[str, str]]:
    """The CNN and the FCN of each depth that the study has."""
    known = dict(result.study.labelled)
    pairs = [(label("CNN", depth), label("FCN", depth)) for depth in DEPTHS]
    return [pair for pair in pairs if set(pair) <= set(known)]


def _by_rank(curve: Curve) -> Curve:
    """The curve against the rank of its parameter counts: those of a rank are equal but for rounding to whole units."""
    return replace(
        curve,
        points={
            name: tuple(replace(point, x=float(rank)) for rank, point in enumerate(points, start=1))
            for name, points in curve.points.items()
        },
    )


def _cnns_win(result: Result) -> Verdict:
    curve = _by_rank(result.curve("parameters"))
    found = {}
    for cnn, fcn in _kinds(result):
        differences = curve.differences(cnn, fcn)
        above, below = (any(d.low > 0 for d in differences), all(d.high < 0 for d in differences))
        evidence = {"means": [d.mean for d in differences], "intervals": [[d.low, d.high] for d in differences]}
        found[f"{cnn} - {fcn}"] = Verdict(
            "refuted" if above else "supported" if below and differences else "inconclusive", evidence
        )
    return all_of(found)


def _parameters_do_not_hurt(result: Result) -> Verdict:
    curve = result.curve("parameters")
    found = {}
    for name, points in curve.points.items():
        best = min(points, key=lambda point: point.summary.mean).x
        rise = change(curve, name, start=best)
        evidence = {"best": best, "largest": points[-1].x, "change": rise.mean, "interval": [rise.low, rise.high]}
        outcome = "supported" if rise.high <= HARMLESS else "refuted" if rise.low > HARMLESS else "inconclusive"
        found[name] = Verdict(outcome, evidence)  # type: ignore[arg-type]
    return all_of(found)


def _after_all_epochs(decide: Decide) -> Decide:
    def decided(result: Result) -> Verdict:
        return at_length(result, decide(result), PHOTOGRAPH_EPOCHS)

    return decided


FIG1 = (
    Claim(
        "convolution/fig1-cnns-beat-fcns",
        "CNNs have a clear advantage over FCNs on CIFAR-10, regardless of the number of parameters",
        "each depth, at every number of parameters: the paired difference of the errors has a 95% interval (together "
        "over the numbers) below zero; refuted if one lies above",
        _after_all_epochs(_cnns_win),
    ),
    Claim(
        "convolution/fig1-parameters-do-not-hurt",
        "A large number of parameters does not hurt the performance",
        f"each kind and depth: from its least mean error to its largest network the error rises by at most {HARMLESS}, "
        "95% interval; refuted if one interval lies above",
        _after_all_epochs(_parameters_do_not_hurt),
    ),
)
