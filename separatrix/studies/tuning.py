"""Hyperparameters: what to try for a condition, which to take, and whether to look further."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.errors import InputError
from separatrix.specs import has_field, replaced
from separatrix.studies.grid import Grid
from separatrix.training import Cell, Procedure

Choice = tuple[tuple[str, float], ...]
"""One value for each tuned name."""

_FLOAT32 = 1e-6
"""A training in float32 compares with the target rounded."""
STEPS = "steps_to_target"
"""The column that :func:`steps_to_target` gives, beside those that records have."""


def criterion_of(select: str) -> str:
    """The column by which a study's ``select`` chooses."""
    return STEPS if select == "steps" else f"{select}_error"


def steps_to_target(record: Mapping[str, Any], procedure: Procedure) -> float:
    """The steps of a training that ended at its target loss or error; infinity for one that did not get there."""
    if record.get("status") != "ok" or record["steps"] is None:
        return math.inf
    limits = {"train_loss": procedure.target_loss, "train_error": procedure.target_error}
    there = any(record[name] <= limit + _FLOAT32 * abs(limit) for name, limit in limits.items())
    return float(record["steps"]) if there else math.inf


def _mean(values: Sequence[float | None]) -> tuple[int, float]:
    """How many values there are not, and the mean of the others."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return len(values) - len(known), sum(known) / len(known) if known else math.inf


@dataclass
class Condition:
    """A task, a learner and a train size: what hyperparameters are chosen for, over the first ``tune_seeds`` of its
    seeds.
    """

    label: str
    cell: Cell
    grids: Mapping[str, Grid]
    seeds: Sequence[int]
    tune_seeds: int
    choices: list[Choice]

    @classmethod
    def of(
        cls, label: str, cell: Cell, tune: Mapping[str, Grid], seeds: Sequence[int], tune_seeds: int | None = None
    ) -> Condition:
        grids = {name: values for name, values in tune.items() if has_field(cell.learner, name)}
        choices = [
            tuple(zip(grids, values, strict=True)) for values in itertools.product(*(g.values for g in grids.values()))
        ]
        return cls(label, cell, grids, seeds, tune_seeds or len(seeds), choices)

    def cells(self, choice: Choice) -> list[Cell]:
        """The cells of one choice, a seed each."""
        learner = self.cell.learner
        for name, value in choice:
            learner = replaced(learner, name, value)
        return [Cell(self.cell.task, learner, self.cell.train_size, seed, self.cell.procedure) for seed in self.seeds]

    def trials(self, choice: Choice) -> list[Cell]:
        """Those of its cells by which the choice is judged."""
        return self.cells(choice)[: self.tune_seeds]

    def all_cells(self) -> list[Cell]:
        """What the search begins with."""
        return [cell for choice in self.choices for cell in self.trials(choice)]

    def best(self, records: Mapping[str, Mapping[str, Any]], criterion: str) -> Choice:
        """The choice with the fewest seeds that diverged or failed, then the least mean error of the others.

        By steps: the fewest seeds that did not reach the target, then the least mean number of steps of the others;
        where none did, the least mean loss. Of equally good choices, the one farthest from the grid's edges: a plateau
        that reaches the edge is no reason to look beyond. Where no choice has an error at all, the least values:
        smaller rates diverge less.
        """

        def quality(choice: Choice) -> tuple[int, float]:
            rows = [records.get(cell.key, {}) for cell in self.trials(choice)]
            if criterion == STEPS:
                reached = _mean([steps_to_target(row, self.cell.procedure) for row in rows])
                return (
                    reached if math.isfinite(reached[1]) else (len(rows), _mean([r.get("train_loss") for r in rows])[1])
                )
            return _mean([row.get(criterion) for row in rows])

        found = {choice: quality(choice) for choice in self.choices}
        best = min(found.values())
        if math.isinf(best[1]):
            return min(self.choices, key=lambda choice: [value for _, value in choice])
        tied = [choice for choice, value in found.items() if value == best]
        return max(tied, key=lambda choice: (self._distance_from_edge(choice), -self.choices.index(choice)))

    def extend(self, best: Choice) -> list[Choice]:
        """Choices beyond the edge on which the best one lies, as far as the field allows; they join the condition's."""
        chosen, new = dict(best), []
        for name, values in self.grids.items():
            beyond = values.around(chosen[name], self._tried(name))
            if beyond is not None and self._allows(name, beyond):
                new.append(tuple((chosen | {name: beyond}).items()))
        self.choices += new
        return new

    def _allows(self, name: str, value: float) -> bool:
        try:
            replaced(self.cell.learner, name, value)
        except InputError:
            return False
        return True

    def on_edge(self, best: Choice) -> list[str]:
        """The tuned names whose best value is the least or greatest tried, and might be less or greater."""
        return [name for name, value in best if self._might_go_on(name, value)]

    def _might_go_on(self, name: str, value: float) -> bool:
        tried = self._tried(name)
        if isinstance(value, bool) or len(tried) == 1 or value not in (tried[0], tried[-1]):
            return False
        less = value // 2 if isinstance(value, int) else value / 2
        beyond = less if value == tried[0] else 2 * value
        return beyond != value and self._allows(name, beyond)

    def _tried(self, name: str) -> list[float]:
        return sorted({dict(choice)[name] for choice in self.choices})

    def _distance_from_edge(self, choice: Choice) -> int:
        distances = []
        for name, value in choice:
            tried = self._tried(name)
            place = tried.index(value)
            distances.append(min(place, len(tried) - 1 - place))
        return min(distances, default=0)
