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
from separatrix.training import Cell

Choice = tuple[tuple[str, float], ...]
"""One value for each tuned name."""


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

    def all_trials(self) -> list[Cell]:
        return [cell for choice in self.choices for cell in self.trials(choice)]

    def best(self, records: Mapping[str, Mapping[str, Any]], criterion: str) -> Choice:
        """The choice with the fewest seeds that diverged or failed, then the least mean error of the others.

        Of equally good choices, the one farthest from the grid's edges: a plateau that reaches the edge is no reason
        to look beyond. Where no choice has an error at all, the least values: smaller rates diverge less.
        """

        def quality(choice: Choice) -> tuple[int, float]:
            errors = [records.get(cell.key, {}).get(criterion) for cell in self.trials(choice)]
            known = [error for error in errors if error is not None and math.isfinite(error)]
            return len(errors) - len(known), sum(known) / len(known) if known else math.inf

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
        """The tuned names whose best value is the least or greatest tried."""
        return [name for name, value in best if self._tried(name)[0] == value or self._tried(name)[-1] == value]

    def _tried(self, name: str) -> list[float]:
        return sorted({dict(choice)[name] for choice in self.choices})

    def _distance_from_edge(self, choice: Choice) -> int:
        distances = []
        for name, value in choice:
            tried = self._tried(name)
            place = tried.index(value)
            distances.append(min(place, len(tried) - 1 - place))
        return min(distances, default=0)
