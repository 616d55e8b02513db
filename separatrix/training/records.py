"""Records: what a cell left, as one row of plain columns."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from separatrix.learners import Fitted
from separatrix.schema import SCHEMA
from separatrix.training.blocks import Layout
from separatrix.training.cell import Cell
from separatrix.training.program import DIVERGED, State

DIVERGENCE_HINT = "the loss grew beyond the procedure's divergence limit or was not finite; try a smaller rate"


def _record(cell: Cell, status: str, message: str, seconds: float, *found: Mapping[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = dict.fromkeys(SCHEMA)
    record |= cell.columns() | {
        "status": status,
        "message": message,
        # a test on the whole population is exact, not a proportion of a sample
        "test_size": None if cell.procedure.on_population(cell.task) else cell.procedure.test_size,
        "seconds": seconds,
        "version": version("separatrix"),
    }
    for columns in found:
        record |= columns
    return record


def _errors(cell: Cell, train: float, validation: float, test: float, parts: Mapping[str, float]) -> dict[str, float]:
    """The errors; a proportion of a sample as the fraction that it is, free of float32's rounding."""
    procedure = cell.procedure
    exact = procedure.on_population(cell.task)
    tested = None if exact else procedure.test_size

    def fraction(error: float, size: int | None) -> float:
        return error if size is None or cell.task.kind != "classification" else round(error * size) / size

    return {
        "train_error": fraction(train, cell.judged),
        "validation_error": fraction(validation, None if exact else procedure.validation_size),
        "test_error": fraction(test, tested),
        **{f"test_error.{name}": fraction(error, tested) for name, error in parts.items()},
    }


def trained_record(
    cell: Cell,
    layout: Layout,
    state: State,
    validation_error: float,
    test_error: float,
    part_errors: Mapping[str, float],
    norm: float,
    seconds: float,
) -> dict[str, Any]:
    """The record of a network; one that diverged has a history and no errors. ``part_errors`` are those on the task's
    parts."""
    reached = np.asarray(state.trace.step) >= 0
    found = {f"curve_{name}": np.asarray(slots)[reached].tolist() for name, slots in state.trace._asdict().items()}
    found |= {"steps": int(state.stopped_at), "lanes": layout.lanes, "chunk": layout.chunk}
    if int(state.outcome) == DIVERGED:
        return _record(cell, "diverged", DIVERGENCE_HINT, seconds, found)
    found |= {"train_loss": float(state.train_loss), "norm": norm}
    errors = _errors(cell, float(state.train_error), validation_error, test_error, part_errors)
    return _record(cell, "ok", "", seconds, found, errors)


def solver_record(
    cell: Cell,
    fitted: Fitted,
    train_error: float,
    validation_error: float,
    test_error: float,
    part_errors: Mapping[str, float],
    seconds: float,
) -> dict[str, Any]:
    """The record of a direct learner; a solution that is not to be trusted is a failure."""
    facts = {f"fit.{name}": value for name, value in fitted.facts.items()}
    if fitted.problem is not None:
        return _record(cell, "failed", fitted.problem, seconds, facts)
    return _record(
        cell, "ok", "", seconds, facts, _errors(cell, train_error, validation_error, test_error, part_errors)
    )


def failed_record(cell: Cell, error: Exception, seconds: float) -> dict[str, Any]:
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({last[0].name}, line {last[0].lineno})" if last else ""
    return _record(cell, "failed", f"{type(error).__name__}: {error}{where}", seconds)
