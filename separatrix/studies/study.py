"""A study: tasks x learners x train sizes x seeds, with the grids to tune, planned, run and resumed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from separatrix.errors import InputError, unknown
from separatrix.learners import Learner, as_learner
from separatrix.rules import Choice, Maybe, Whole
from separatrix.schema import FINAL
from separatrix.specs import content_hash, has_field
from separatrix.studies.executors import Executor, executor_for
from separatrix.studies.grid import Grid, as_grid
from separatrix.studies.progress import Progress, Silent
from separatrix.studies.queue import Queue
from separatrix.studies.result import Result
from separatrix.studies.store import Store
from separatrix.studies.tuning import Condition, criterion_of
from separatrix.tasks import Task
from separatrix.training import Cell, Procedure

DEFAULT_STORE = "separatrix-results"


@dataclass(frozen=True)
class Study:
    """The plan of a comparison.

    ``task``: one task or several. ``learners``: learners, architectures, Equinox modules or scikit-learn estimators,
    in a list or by label; a list under one label is one curve over an axis of the learner (its width, say).
    ``train_size``: one or several; None is the exact population. ``seeds``: how many, or which. ``tune``: grids for any
    fields of the learners (a learner without the field is not tuned in it). ``select``: the sample on which
    hyperparameters are chosen, ``validation`` or, as some papers do, ``test``; or ``steps``, the fewest to the target.
    ``tune_seeds``: on how many seeds, the first ones, they are chosen; the others are then run at the choice alone.
    None is all of them.
    """

    task: Task | Sequence[Task]
    learners: Sequence[Any] | Mapping[str, Any]
    train_size: int | Sequence[int | None] | None
    seeds: int | Sequence[int] = 5
    tune: Mapping[str, Grid | Sequence[float]] = field(default_factory=dict)
    procedure: Procedure = Procedure()
    select: str = "validation"
    name: str = "study"
    tune_seeds: int | None = None

    def __post_init__(self) -> None:
        Choice("validation", "test", "steps").accept("select", self.select)
        for name, value in self._checked().items():
            object.__setattr__(self, name, value)
        for name in self.tune:
            if not any(has_field(learner, name) for _, learner in self.labelled):
                known = {key for _, learner in self.labelled for key in _tunable(learner)}
                raise unknown("name to tune", name, known)
        for condition in self.conditions():
            condition.all_cells()

    def _checked(self) -> dict[str, Any]:
        """The fields in their own types: whatever was given as one thing, or can be gone through once, is a tuple."""
        if not isinstance(self.procedure, Procedure):
            raise InputError(f"procedure must be a Procedure, got {self.procedure!r}")
        if not isinstance(self.tune, Mapping):
            raise InputError(f"tune must map names to grids, got {self.tune!r}")
        tasks = tuple(_several(self.task))
        for task in tasks:
            if not isinstance(task, Task):
                raise InputError(f"task must be a Task or several, got {task!r}")
        given = _several(self.seeds, once=lambda seeds: range(Whole(1).accept("seeds", seeds)))
        seeds = _distinct("seeds", [Whole(0, 2**31 - 1).accept("seeds", seed) for seed in given])
        tune_seeds = Maybe(Whole(1, len(seeds))).accept("tune_seeds", self.tune_seeds)
        sizes = [None if size is None else Whole(1).accept("train_size", size) for size in _several(self.train_size)]
        return {
            "task": tasks,
            "learners": self.learners if isinstance(self.learners, Mapping) else tuple(_several(self.learners)),
            "train_size": _distinct("train_size", sizes),
            "seeds": seeds,
            "tune": {name: as_grid(values) for name, values in self.tune.items()},
            "name": str(self.name),
            "tune_seeds": tune_seeds,
        }

    @property
    def tasks(self) -> tuple[Task, ...]:
        return cast("tuple[Task, ...]", self.task)

    @property
    def labelled(self) -> list[tuple[str, Learner]]:
        """The learners with the labels that curves and figures give them."""
        if isinstance(self.learners, Mapping):
            several = {
                label: value if isinstance(value, list | tuple) else [value] for label, value in self.learners.items()
            }
            return [(label, as_learner(value)) for label, values in several.items() for value in values]
        made = [as_learner(value) for value in self.learners]
        repeated = [label for label, count in Counter(learner.label for learner in made).items() if count > 1]
        if repeated:
            raise InputError(f"learners must have different labels, got {repeated[0]} twice; pass {{label: learner}}")
        return [(learner.label, learner) for learner in made]

    def conditions(self) -> list[Condition]:
        """What hyperparameters are chosen for, in the order of tasks, learners and sizes."""
        found = []
        sizes = cast("tuple[int | None, ...]", self.train_size)
        grids, seeds = cast("Mapping[str, Grid]", self.tune), cast("tuple[int, ...]", self.seeds)
        for task in self.tasks:
            for label, learner in self.labelled:
                learner.check(task.input_shape, task.output_shape)
                for size in sizes:
                    cell = Cell(task, learner, size, 0, self.procedure)
                    found.append(Condition.of(label, cell, grids, seeds, self.tune_seeds))
        if not found:
            raise InputError("a study must have at least one task, one learner and one train size")
        return found

    def run(
        self,
        store: str | os.PathLike[str] | Store = DEFAULT_STORE,
        *,
        workers: int | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> Result:
        """Run what the store lacks, and return the whole. Run again after an interruption: it goes on.

        The grids extend themselves, condition by condition, until the best value lies inside or the grid may not grow;
        then the seeds that were not tuned on are run at the choice.
        """
        kept = store if isinstance(store, Store) else Store(os.fspath(store))
        shown = progress if progress is not None else Silent()
        where = executor if executor is not None else executor_for(workers)
        conditions = self.conditions()
        counts = Counter[str]()
        wanted = {cell.key: cell for condition in conditions for cell in condition.all_cells()}
        counts["reused"] = sum(status in FINAL for key, status in kept.statuses().items() if key in wanted)
        try:
            records = self._rounds(conditions, wanted, counts, kept, where, shown)
        finally:
            where.close()
        kept.compact()
        counts["planned"] = len(wanted)
        return Result(self, conditions, records, counts, kept.folder)

    def _rounds(
        self,
        conditions: Sequence[Condition],
        wanted: dict[str, Cell],
        counts: Counter[str],
        store: Store,
        executor: Executor,
        progress: Progress,
    ) -> dict[str, Mapping[str, Any]]:
        """Run what is missing, extend the grids, and again until nothing is to be added; the records of all cells."""
        criterion = criterion_of(self.select)
        plan = content_hash([self.name, list(wanted)])
        while True:
            store.save_plan(plan, self.name, list(wanted), {"select": self.select})
            counts += self._run_missing(wanted, store, executor, progress)
            records: dict[str, Mapping[str, Any]] = {
                row["cell"]: row for row in store.frame().iter_rows(named=True) if row["cell"] in wanted
            }
            added: dict[str, Cell] = {}
            grown = False
            for condition in conditions:
                best = condition.best(records, criterion)
                beyond = condition.extend(best)
                grown = grown or bool(beyond)
                further = [cell for choice in beyond for cell in condition.trials(choice)] or condition.cells(best)
                added |= {cell.key: cell for cell in further if cell.key not in wanted}
            if not grown and not added:
                return records
            done = store.statuses()
            counts["reused"] += sum(done.get(key) in FINAL for key in added)
            wanted |= added

    def _run_missing(
        self, wanted: Mapping[str, Cell], store: Store, executor: Executor, progress: Progress
    ) -> Counter[str]:
        done = store.statuses()
        missing = [cell for key, cell in wanted.items() if done.get(key) not in FINAL]
        counts = Counter[str]()
        if not missing:
            return counts
        for task in self.tasks:
            task.prepare()
        with progress.phase(self.name, total=len(wanted), done=len(wanted) - len(missing)) as shown:
            for report in executor.run(Queue(missing, executor.lanes), store, shown.tick):
                counts["ran"] += len(report.chunk.cells)
                shown.advance(report)
        return counts


def _tunable(learner: Learner) -> list[str]:
    from separatrix.specs import traced_values

    return [path.rsplit(".", 1)[-1] for path in traced_values(learner)]


def _several(value: Any, once: Callable[[Any], Iterable[Any]] = lambda value: [value]) -> Iterable[Any]:
    """The items of a collection, or what one thing stands for."""
    return value if isinstance(value, Iterable) and not isinstance(value, str) else once(value)


def _distinct(name: str, values: Sequence[Any]) -> tuple[Any, ...]:
    if not values:
        raise InputError(f"{name} must not be empty")
    if len(set(values)) < len(values):
        raise InputError(f"{name} must not repeat a value, got {list(values)}")
    return tuple(values)
