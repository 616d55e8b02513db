"""What a study found: its records, the hyperparameters chosen, and curves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from separatrix.errors import InputError, unknown
from separatrix.learners import Trained
from separatrix.specs import flat
from separatrix.studies.curve import Curve, Point
from separatrix.studies.intervals import Summary, error_interval, mean_interval
from separatrix.studies.tuning import STEPS, Choice, Condition, criterion_of, steps_to_target

if TYPE_CHECKING:
    from separatrix.studies.study import Study
    from separatrix.tasks import Task

ERRORS = ("test_error", "validation_error")


@dataclass(frozen=True)
class Result:
    """The records of a study's cells and what follows from them.

    ``counts`` has ``planned``, ``reused`` (were in the store), and ``ran``.
    """

    study: Study
    conditions: Sequence[Condition]
    records: Mapping[str, Mapping[str, Any]]
    counts: Counter[str]
    store: Path

    def chosen(self, condition: Condition) -> Choice:
        """The hyperparameters of a condition."""
        return condition.best(self.records, criterion_of(self.study.select))

    def rows(self, condition: Condition) -> list[Mapping[str, Any]]:
        """The records of a condition's chosen hyperparameters, a seed each, without those that failed."""
        cells = condition.cells(self.chosen(condition))
        found = [self.records[cell.key] for cell in cells if cell.key in self.records]
        return [row for row in found if row["status"] != "failed"]

    def frame(self) -> pl.DataFrame:
        """Every record of the study, with its learner's label and whether its hyperparameters were chosen."""
        rows = []
        for condition in self.conditions:
            best = self.chosen(condition)
            for choice in condition.choices:
                for cell in condition.cells(choice):
                    if cell.key in self.records:
                        rows.append({"label": condition.label, "chosen": choice == best} | dict(self.records[cell.key]))
        return pl.DataFrame(rows, infer_schema_length=None)

    def status_counts(self) -> Counter[str]:
        return Counter(str(record["status"]) for record in self.records.values())

    def place(self, condition: Condition) -> dict[str, Any]:
        """What sets a condition apart from the others of its label, but for what is tuned: its train size, its k."""
        columns = [_columns(other) for other in self.conditions if other.label == condition.label]
        own = {path: value for path, value in _columns(condition).items() if _last(path) not in self.study.tune}
        differing = {path: value for path, value in own.items() if any(other.get(path) != value for other in columns)}
        return {_last(path): value for path, value in differing.items()}

    def named(self, condition: Condition) -> str:
        """The condition's label and place in words."""
        place = self.place(condition)
        return ", ".join([condition.label, *(f"{name.replace('_', ' ')} {value}" for name, value in place.items())])

    def missing(self) -> list[str]:
        """Conditions without a record for every seed (some failed), in words."""
        return [
            f"{self.named(condition)}: {len(rows)} of {len(condition.seeds)} seeds"
            for condition in self.conditions
            if len(rows := self.rows(condition)) < len(condition.seeds)
        ]

    def on_edge(self) -> list[str]:
        """Conditions whose best hyperparameter is still the least or greatest tried, in words."""
        found = []
        for condition in self.conditions:
            names = condition.on_edge(self.chosen(condition)) if len(condition.choices) > 1 else []
            found += [f"{self.named(condition)}: {name}" for name in names]
        return found

    def curve(
        self,
        x: str | Sequence[str] = "train_size",
        y: str = "test_error",
        *,
        where: Mapping[str, Any] | None = None,
        level: float = 0.95,
    ) -> Curve:
        """``y`` against ``x`` for each learner, at the chosen hyperparameters, with intervals over the seeds.

        ``x`` is ``train_size``, ``parameters`` (how many a network trains) or any number in the task, the learner or
        the procedure (of several names the first that a learner has: neurons ``q`` of one, features ``N`` of another);
        ``where`` keeps the conditions whose fields have these values. A diverged training counts as an error of 1/2 (a
        coin) in a classification.
        Beside the records' columns ``y`` may be ``steps_to_target``, infinite for a training that did not get there.
        """
        names = (x,) if isinstance(x, str) else tuple(x)
        points: dict[str, list[Point]] = {}
        for condition in self.conditions:
            if any(_field(condition, name) != value for name, value in (where or {}).items()):
                continue
            rows = self.rows(condition)
            if not rows:
                continue
            values = [_value(row, y, condition) for row in rows]
            summary = _summary(values, rows[0], y, condition, level)
            seeds = tuple(int(row["seed"]) for row in rows)
            place = _coordinate(condition, names)
            if any(point.x == place for point in points.get(condition.label, ())):
                raise InputError(
                    f"several conditions of {condition.label} lie at {names[0]} = {place:g}; choose among them with "
                    "where= or take the axis in which they differ"
                )
            points.setdefault(condition.label, []).append(Point(place, summary, tuple(values), seeds))
        ordered = {label: tuple(sorted(found, key=lambda point: point.x)) for label, found in points.items()}
        return Curve(names[0], y, ordered, level)

    def history(
        self,
        y: str = "test_error",
        *,
        where: Mapping[str, Any] | None = None,
        epochs: bool = False,
        level: float = 0.95,
    ) -> Curve:
        """``y`` (``test_error``, ``train_error`` or ``train_loss``) along the training, from the records' checkpoints.

        A curve a learner, over the steps, or the epochs, that all seeds reached; ``where`` must leave one condition of
        each learner.
        """
        points: dict[str, tuple[Point, ...]] = {}
        for condition in self.conditions:
            rows = self.rows(condition)
            if not rows or any(_field(condition, name) != value for name, value in (where or {}).items()):
                continue
            if condition.label in points:
                raise InputError(f"several conditions of {condition.label} remain; choose among them with where=")
            unit = condition.cell.epoch_steps if epochs else 1
            if not unit:
                raise InputError(f"{condition.label} was not trained in epochs")
            points[condition.label] = tuple(_along(rows, y, unit, condition, level))
        return Curve("epoch" if epochs else "step", y, points, level)


def _along(rows: Sequence[Mapping[str, Any]], y: str, unit: int, condition: Condition, level: float) -> Iterator[Point]:
    """The points of a history: checkpoints and the end."""
    found = [dict(zip(row["curve_step"], row[f"curve_{y}"], strict=True)) for row in rows]
    for row, along in zip(rows, found, strict=True):
        if row["status"] == "ok":
            along[row["steps"]] = row[y]
    seeds = tuple(int(row["seed"]) for row in rows)
    for step in sorted(set.intersection(*(set(along) for along in found))):
        values = tuple(float(along[step]) for along in found)
        yield Point(step / unit, _summary(values, rows[0], y, condition, level), values, seeds)


def _summary(values: Sequence[float], row: Mapping[str, Any], y: str, condition: Condition, level: float) -> Summary:
    """The mean over the seeds; of an error, ``y`` or one on a part of the task, with the interval of its sample."""
    if y.split(".")[0] in ERRORS and condition.cell.task.kind == "classification":
        return error_interval(values, _trials(row, y, condition), level)
    return mean_interval(values, level)


def _trials(row: Mapping[str, Any], y: str, condition: Condition) -> int | None:
    """The size of the sample behind an error; None where it is exact."""
    if row["test_size"] is None:
        return None
    procedure = condition.cell.procedure
    return procedure.validation_size if y == "validation_error" else procedure.test_size


def _value(row: Mapping[str, Any], y: str, condition: Condition) -> float:
    if y == STEPS:
        return steps_to_target(row, condition.cell.procedure)
    if y not in row:
        raise unknown("column", y, row)
    if row[y] is None and row["status"] == "diverged" and y.split(".")[0].endswith("_error"):
        return chance(condition.cell.task)
    if not isinstance(row[y], int | float | None):
        raise InputError(f"a curve needs a column of numbers, got {y} = {row[y]!r}")
    return float("nan") if row[y] is None else float(row[y])


def chance(task: Task) -> float:
    """The error of a guess: 1/2, or 1 - 1/classes; infinite in a regression."""
    classes = math.prod(task.output_shape) if task.output_shape else 2
    return 1 - 1 / classes if task.kind == "classification" else float("inf")


def _coordinate(condition: Condition, names: Sequence[str]) -> float:
    name = next((name for name in names[:-1] if _has_field(condition, name)), names[-1])
    value = _field(condition, name)
    if not isinstance(value, int | float | None):
        raise InputError(f"an axis must be a number, got {name} = {value!r}")
    return float("inf") if value is None else float(value)


def _field(condition: Condition, name: str) -> Any:
    """A field of the condition's cell by its name, wherever it lies, or how many parameters its network has."""
    cell = condition.cell
    if name == "parameters" and isinstance(cell.learner, Trained):
        return cell.learner.parameter_count(cell.task.input_shape, cell.task.output_shape)
    columns = _columns(condition)
    matches = _matches(columns, name)
    if not matches:
        raise unknown("axis", name, [_last(path) for path in columns])
    return columns[matches[0]]


def _has_field(condition: Condition, name: str) -> bool:
    return bool(_matches(_columns(condition), name))


def _columns(condition: Condition) -> dict[str, Any]:
    cell = condition.cell
    columns: dict[str, Any] = {"train_size": cell.train_size}
    return columns | flat(cell.task, "task") | flat(cell.learner, "learner") | flat(cell.procedure, "procedure")


def _matches(columns: Mapping[str, Any], name: str) -> list[str]:
    return [path for path in columns if name in (path, _last(path))]


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]
