"""The paper's sentences about its experiments, each with the criterion that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separatrix.studies.verdicts import LOWER, Claim, Verdict, all_of, lower

if TYPE_CHECKING:
    from separatrix.studies.result import Result

BASELINES = ("MLP", "SVM")


def _outperforms(result: Result) -> Verdict:
    curve = result.curve()
    return all_of({name: lower(curve, "ConvPool", name) for name in BASELINES})


def _training_errors_are_zero(result: Result) -> Verdict:
    """Exact: a training error is a count, not an estimate."""
    errors = {
        f"{condition.label} at {condition.cell.train_size}": max(
            (row["train_error"] for row in result.rows(condition) if row["train_error"] is not None), default=None
        )
        for condition in result.conditions
    }
    missing = [name for name, error in errors.items() if error is None]
    nonzero = {name: error for name, error in errors.items() if error}
    evidence = {"conditions": len(errors), "largest_where_not_zero": nonzero, "without_a_record": missing}
    if nonzero:
        return Verdict("refuted", evidence)
    return Verdict("inconclusive" if missing else "supported", evidence)


FIG3A = (
    Claim(
        "pooling/fig3a-convpool-wins",
        "ConvPool has a lower test error than MLP and SVM on clean pattern detection",
        f"against each: {LOWER}",
        _outperforms,
    ),
    Claim(
        "pooling/fig3a-training-errors-zero",
        "All models had zero training error on clean data",
        "the training error of every chosen model, counted, is zero for every train size and seed",
        _training_errors_are_zero,
    ),
)

FIG3C = (
    Claim(
        "pooling/fig3c-convpool-wins",
        "ConvPool has a lower test error than MLP and SVM on detection of the digits three and five",
        f"against each: {LOWER}",
        _outperforms,
    ),
)
