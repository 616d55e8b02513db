"""The paper's sentences about its experiments, each with the criterion that decides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from separatrix.papers.convolution.sequences import STRIDES, at_stride
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


def at_length(result: Result, verdict: Verdict) -> Verdict:
    """The verdict, where training was as long as the paper's: an error after fewer epochs says nothing of its level."""
    epochs = result.study.procedure.epochs
    if epochs >= EPOCHS:
        return verdict
    return Verdict("inconclusive", {"why": f"{epochs} epochs instead of the paper's {EPOCHS}", **verdict.evidence})


def _only(curve: Curve, keep: Callable[[float], bool]) -> Curve:
    return replace(curve, points={name: tuple(p for p in found if keep(p.x)) for name, found in curve.points.items()})


def _locals(result: Result) -> list[dict[str, str]]:
    """The labels of the local networks, by stride, that the study has."""
    known = {label for label, _ in result.study.labelled}
    return [labels for stride in STRIDES if set((labels := at_stride(stride)).values()) <= known]


def _locals_stay_good(result: Result) -> Verdict:
    curve = result.curve("n")
    found = {label: below(curve, label, GOOD) for labels in _locals(result) for label in labels.values()}
    return at_length(result, all_of(found))


def _fcn_degrades(result: Result) -> Verdict:
    curve = result.curve("n")
    parts = {"degrades": grows(change(curve, "FCN")), "chance at the greatest n": above(curve, "FCN", CHANCE)}
    return at_length(result, all_of(parts))


def _locals_beat_fcn(result: Result) -> Verdict:
    curve = _only(result.curve("n"), lambda n: n > 3)
    return all_of({label: lower(curve, label, "FCN") for labels in _locals(result) for label in labels.values()})


def _lcn_beats_cnn(stride: int) -> Decide:
    def decide(result: Result) -> Verdict:
        labels = at_stride(stride)
        return lower(_only(result.curve("n"), lambda n: n > 3), labels["LCN"], labels["CNN"])

    return decide


def _fcn_wins_at_small_n(result: Result) -> Verdict:
    curve = _only(result.curve("n"), lambda n: 3 < n <= SMALL)
    return all_of({label: lower(curve, "FCN", label) for labels in _locals(result) for label in labels.values()})


def _all_poor(result: Result) -> Verdict:
    curve = result.curve("n")
    labels = ["FCN", *(label for found in _locals(result) for label in found.values())]
    return at_length(result, all_of({label: above(curve, label, POOR) for label in labels}))


def middle(figure: str, strides: Sequence[int]) -> tuple[Claim, ...]:
    """What the paper says of figure 3."""
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
        *(
            Claim(
                f"{figure}-lcn-beats-cnn-stride-{stride}",
                f"LCN has a clear advantage over CNN (kernels every {stride} columns, n > 3)",
                LOWER,
                _lcn_beats_cnn(stride),
            )
            for stride in strides
        ),
    )


def far(figure: str) -> tuple[Claim, ...]:
    """What the paper says of figure 4."""
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


FIG3 = middle("convolution/fig3", STRIDES)
FIG3_INDEPENDENT = middle("convolution/fig3-independent", (8,))
FIG4 = far("convolution/fig4")
FIG4_INDEPENDENT = far("convolution/fig4-independent")
