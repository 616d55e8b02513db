"""The paper's sentences about its experiments, each with the criterion that decides it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from separatrix.studies.verdicts import LOWER, Claim, Outcome, Verdict, alike, all_of, change, lower

if TYPE_CHECKING:
    from separatrix.studies.curve import Difference
    from separatrix.studies.result import Result

BASELINES = ("MLP", "SVM")
LINEARLY_BOUNDED = ("leaky FC", "SVM")
TRAININGS = ("layerwise", "end to end")
HARMLESS = 0.02
SIMILAR = 0.05


def _outperforms(where: Mapping[str, Any] | None = None, x: str = "train_size") -> Callable[[Result], Verdict]:
    def decide(result: Result) -> Verdict:
        curve = result.curve(x, where=where)
        return all_of({name: lower(curve, "ConvPool", name) for name in BASELINES})

    return decide


def _for_every_noise(decide: Callable[[Mapping[str, Any]], Callable[[Result], Verdict]]) -> Callable[[Result], Verdict]:
    def decide_all(result: Result) -> Verdict:
        kinds = dict.fromkeys(getattr(task, "noise", "none") for task in result.study.tasks)
        return all_of({kind: decide({"noise": kind})(result) for kind in kinds})

    return decide_all


def _training_errors(result: Result, where: Mapping[str, Any] | None = None) -> dict[str, dict[float, float]]:
    """The largest training error over the seeds by learner and train size: exact, a count and not an estimate."""
    curve = result.curve(y="train_error", where=where)
    return {label: {point.x: max(point.values) for point in points} for label, points in curve.points.items()}


def _cut_short(result: Result, where: Mapping[str, Any] | None = None) -> dict[str, list[float]]:
    """Where a training ended with the budget of steps: an error that is left there is not the learner's."""
    curve, budget = result.curve(y="steps", where=where), result.study.procedure.max_steps
    found = {label: [p.x for p in points if max(p.values) >= budget] for label, points in curve.points.items()}
    return {label: places for label, places in found.items() if places}


def _fits(errors: Mapping[str, Mapping[float, float]], cut_short: Mapping[str, Sequence[float]]) -> Verdict:
    """Whether all training errors are zero; those that the budget left do not refute it."""
    nonzero = {label: {x: e for x, e in found.items() if e} for label, found in errors.items()}
    nonzero = {label: found for label, found in nonzero.items() if found}
    evidence = {"largest_where_not_zero": nonzero, "ended_with_the_budget_at": cut_short}
    if any(x not in cut_short.get(label, ()) for label, found in nonzero.items() for x in found):
        return Verdict("refuted", evidence)
    return Verdict("inconclusive" if nonzero else "supported", evidence)


def _training_errors_are_zero(result: Result) -> Verdict:
    fits, missing = _fits(_training_errors(result), _cut_short(result)), result.missing()
    outcome: Outcome = "inconclusive" if missing and fits.outcome == "supported" else fits.outcome
    return Verdict(outcome, {**fits.evidence, "missing": missing})


def _only_the_linear_model_fails_to_fit(where: Mapping[str, Any]) -> Callable[[Result], Verdict]:
    def decide(result: Result) -> Verdict:
        errors = _training_errors(result, where)
        linear = errors.pop("SVM", {})
        fits = _fits(errors, _cut_short(result, where))
        undecided = fits.outcome == "supported" and not any(linear.values())
        outcome: Outcome = "inconclusive" if undecided else fits.outcome
        return Verdict(outcome, {**fits.evidence, "largest_of_svm_by_train_size": linear})

    return decide


def _linear_fails(where: Mapping[str, Any]) -> Callable[[Result], Verdict]:
    """The SVM's error at the largest train size stays above 5%, ConvPool's below."""

    def decide(result: Result) -> Verdict:
        curve = result.curve(where=where)
        svm, conv = curve.of("SVM")[-1].summary, curve.of("ConvPool")[-1].summary
        evidence = {"train_size": curve.of("SVM")[-1].x, "SVM": [svm.low, svm.high], "ConvPool": [conv.low, conv.high]}
        if svm.low > 0.05 and conv.high < 0.05:
            return Verdict("supported", evidence)
        return Verdict("refuted" if svm.high < 0.05 or conv.low > 0.05 else "inconclusive", evidence)

    return decide


def _increases(where: Mapping[str, Any], names: Sequence[str] = BASELINES) -> Callable[[Result], Verdict]:
    """The named learners' errors grow from the least n to the greatest."""

    def decide(result: Result) -> Verdict:
        curve = result.curve("n", where=where)
        return all_of({name: _positive(change(curve, name)) for name in names})

    return decide


def _mildly(where: Mapping[str, Any], names: Sequence[str] = BASELINES) -> Callable[[Result], Verdict]:
    """ConvPool's increase is below half of each named learner's."""

    def decide(result: Result) -> Verdict:
        curve = result.curve("n", where=where)
        own = change(curve, "ConvPool")
        verdicts = {}
        for name in names:
            other = change(curve, name)
            evidence = {"ConvPool": [own.mean, own.low, own.high], name: [other.mean, other.low, other.high]}
            outcome: Outcome = "inconclusive"
            if own.high < other.low / 2:
                outcome = "supported"
            elif own.low > other.high / 2:
                outcome = "refuted"
            verdicts[name] = Verdict(outcome, evidence)
        return all_of(verdicts)

    return decide


def _bounds_predict_the_gap(result: Result) -> Verdict:
    parts = {"grows with n": _increases({}, LINEARLY_BOUNDED), "ConvPool mildly": _mildly({}, LINEARLY_BOUNDED)}
    return all_of({name: decide(result) for name, decide in parts.items()})


def _positive(difference: Difference) -> Verdict:
    evidence = {"change": difference.mean, "interval": [difference.low, difference.high]}
    if difference.low > 0:
        return Verdict("supported", evidence)
    return Verdict("refuted" if difference.high < 0 else "inconclusive", evidence)


def _more_channels_do_not_hurt(result: Result) -> Verdict:
    """The largest network against the one with the least mean error."""
    curve = result.curve("channels")
    points = curve.of("ConvPool")
    best = min(points, key=lambda point: point.summary.mean).x
    rise = change(curve, "ConvPool", start=best)
    evidence = {"best_channels": best, "largest": points[-1].x, "change": rise.mean, "interval": [rise.low, rise.high]}
    if rise.high <= HARMLESS:
        return Verdict("supported", evidence)
    return Verdict("refuted" if rise.low > HARMLESS else "inconclusive", evidence)


FIG3A = (
    Claim(
        "pooling/fig3a-convpool-wins",
        "ConvPool has a lower test error than MLP and SVM on clean pattern detection",
        f"against each: {LOWER}",
        _outperforms(),
    ),
    Claim(
        "pooling/fig3a-training-errors-zero",
        "All models had zero training error on clean data",
        "the training error of every chosen model, counted, is zero for every train size and seed; one that the budget "
        "of steps left refutes nothing",
        _training_errors_are_zero,
    ),
)

FIG3B = (
    Claim(
        "pooling/fig3b-convpool-wins",
        "With noise ConvPool performs well and outperforms MLP (and the linear method)",
        f"each kind of noise, against each: {LOWER}",
        _for_every_noise(_outperforms),
    ),
    Claim(
        "pooling/fig3b-linear-fails",
        "With noise the linear method fails, but ConvPool performs well",
        "each kind of noise, at the largest train size: the SVM's 95% interval lies above 0.05, ConvPool's below",
        _for_every_noise(_linear_fails),
    ),
    Claim(
        "pooling/fig3b-training-errors",
        "With noise the training error of the linear model was non-zero in many cases, of the others zero",
        "each kind of noise, counted: zero for the networks at every train size and seed (one that the budget of steps "
        "left refutes nothing), not for the SVM at some",
        _for_every_noise(_only_the_linear_model_fails_to_fit),
    ),
)

FIG4 = (
    Claim(
        "pooling/fig4-baselines-deteriorate",
        "Increasing n worsens MLP and SVM",
        "each kind of noise, each: the error's change from the least n to the greatest has a 95% interval above 0",
        _for_every_noise(_increases),
    ),
    Claim(
        "pooling/fig4-convpool-mildly-affected",
        "ConvPool is only mildly affected by n",
        "each kind of noise: the upper 95% limit of its change is below half the lower limit of each baseline's",
        _for_every_noise(_mildly),
    ),
    Claim(
        "pooling/fig4-convpool-wins",
        "ConvPool outperforms MLP and SVM at every n",
        f"each kind of noise, against each: {LOWER}",
        _for_every_noise(lambda where: _outperforms(where, "n")),
    ),
)

SECTION_6 = (
    Claim(
        "pooling/bounds-predict-the-gap",
        "The bounds of section 6 predict the gap: n^2 for a linear SVM and the leaky-ReLU network, no n for ConvPool",
        "the change of the error from the least n to the greatest: 95% interval above 0 for the leaky FC network and "
        "the SVM, and ConvPool's upper limit below half of each one's lower limit",
        _bounds_predict_the_gap,
    ),
)

LAYERWISE = (
    Claim(
        "pooling/layerwise-equals-end-to-end",
        "Layer-wise training performs very similarly to standard training",
        f"without and with noise, the intervals of all paired differences lie within {SIMILAR} of zero; refuted if one "
        "lies outside",
        _for_every_noise(lambda where: lambda result: alike(result.curve(where=where), *TRAININGS, SIMILAR)),
    ),
)

CHANNELS = (
    Claim(
        "pooling/more-channels-do-not-hurt",
        "Over-parameterised ConvPool generalises: many more channels than needed do not hurt",
        f"the 95% interval of the error of the most channels minus the best number's lies below {HARMLESS}",
        _more_channels_do_not_hurt,
    ),
)

FIG3C = (
    Claim(
        "pooling/fig3c-convpool-wins",
        "ConvPool has a lower test error than MLP and SVM on detection of the digits three and five",
        f"against each: {LOWER}",
        _outperforms(),
    ),
)
