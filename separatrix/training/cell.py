"""A cell: one training, and the unit that is run, stored and resumed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from separatrix import specs
from separatrix.errors import InputError
from separatrix.learners import Algorithm, Learner, Solver, Trained
from separatrix.rules import Choice, Maybe, Real, Whole, enforce, parameter
from separatrix.tasks import Task

REVISION = 1
"""Part of every key; raised when the same description comes to mean another computation."""

_EXACT_UP_TO = 2**12


@dataclass(frozen=True)
class Procedure:
    """How a cell is trained and evaluated.

    Training stops at ``max_steps``, or at a check (every ``check_every`` steps) that finds the mean training loss at
    most ``target_loss``, the training error at most ``target_error``, or a loss above ``divergence`` or not finite.
    The errors along the way are kept at the steps 0, 1, r, r^2, ... for r = ``checkpoint_ratio``, 32 at most.
    ``evaluation``: on fresh samples, on the task's whole ``population``, or ``auto``: that where it is small.

    ``epochs`` above 0: minibatches in so many passes over training data that each pass draws anew (a new order, new
    sequences, new examples), inside the compiled program. Training then lasts as long as the passes do; a check comes
    at the end of each, a checkpoint at the end of each or of every few.
    """

    max_steps: int = parameter(10_000, Whole(1, 2**30), traced=True)
    target_loss: float = parameter(0.0, Real(0), traced=True)
    target_error: float = parameter(-1.0, Real(-1), traced=True)
    divergence: float = parameter(1e6, Real(above=0), traced=True)
    check_every: int = parameter(10, Whole(1, 2**30), traced=True)
    checkpoint_ratio: float = parameter(4.0, Real(1.1), traced=True)
    test_size: int = parameter(1000, Whole(1))
    validation_size: int = parameter(1000, Whole(1))
    evaluation: str = parameter("auto", Choice("auto", "sample", "population"))
    precision: str = parameter("float32", Choice("float32", "float64"))
    epochs: int = parameter(0, Whole(0, 2**20), added=True)

    def __post_init__(self) -> None:
        enforce(self)

    def on_population(self, task: Task) -> bool:
        """Whether errors are exact expectations over the task's support."""
        size = task.population_size
        if self.evaluation == "population" and size is None:
            raise InputError(f"{type(task).__name__} has no population to evaluate on; take evaluation='sample'")
        small = size is not None and size <= _EXACT_UP_TO
        return self.evaluation == "population" or (self.evaluation == "auto" and small)


@dataclass(frozen=True)
class Cell:
    """One training. ``train_size`` None means the exact population in the place of a sample; with a procedure that
    counts ``epochs`` it is the number of examples in a pass, and None all that the task has.
    """

    task: Task
    learner: Learner
    train_size: int | None = parameter(None, Maybe(Whole(1)))
    seed: int = parameter(0, Whole(0, 2**31 - 1))
    procedure: Procedure = Procedure()

    def __post_init__(self) -> None:
        enforce(self)
        self.procedure.on_population(self.task)
        if isinstance(self.learner, Trained) and self.learner.algorithm.warmup >= self.procedure.max_steps:
            warmup = self.learner.algorithm.warmup
            raise InputError(f"max_steps must be above the algorithm's first phase of {warmup} steps")
        if self.procedure.epochs:
            self._check_epochs()
        elif self.train_size is None:
            if self.task.population_size is None:
                raise InputError(f"{type(self.task).__name__} has no population to train on; give a train size")
            if not self._takes_populations:
                raise InputError(f"{self.learner.label} (with this algorithm) is trained on samples; give a train size")
        wanted = {
            "train": self.train_size,
            "validation": self.procedure.validation_size,
            "test": self.procedure.test_size,
        }
        for split, size in wanted.items():
            capacity = self.task.capacity(split)  # type: ignore[arg-type]
            if self.procedure.epochs and split == "train":
                capacity = self.task.epoch_size
            if capacity is not None and size is not None and size > capacity:
                raise InputError(f"{split} size must be at most {capacity} for this task, got {size}")

    @property
    def _takes_populations(self) -> bool:
        how = self.learner.algorithm if isinstance(self.learner, Trained) else self.learner
        return isinstance(how, Algorithm | Solver) and how.on_population

    def _check_epochs(self) -> None:
        if not (isinstance(self.learner, Trained) and self.learner.algorithm.examples_a_step):
            raise InputError(f"epochs are passes in minibatches; give {self.learner.label} an algorithm with a batch")
        if self.train_size is None and self.task.epoch_size is None:
            raise InputError(f"{type(self.task).__name__} draws without end; give the train size of an epoch")
        if self.epoch_steps < 1:
            batch = self.learner.algorithm.examples_a_step
            raise InputError(f"batch must be at most the {self.bucket} examples of an epoch, got {batch}")
        if self.epoch_steps * self.procedure.epochs > 2**30:
            raise InputError(f"epochs must make at most {2**30} steps, got {self.epoch_steps * self.procedure.epochs}")

    @property
    def epoch_steps(self) -> int:
        """The number of steps of an epoch, whole minibatches; 0 where the procedure does not count epochs."""
        if not self.procedure.epochs:
            return 0
        assert isinstance(self.learner, Trained)
        return self.bucket // (self.learner.algorithm.examples_a_step or self.bucket)

    @property
    def judged(self) -> int | None:
        """On how many examples the training error is measured: on all, or on some of what epochs are made of."""
        return min(self.bucket, self.procedure.test_size) if self.procedure.epochs else self.train_size

    @functools.cached_property
    def key(self) -> str:
        """The content hash of exactly what decides the result."""
        return specs.content_hash([REVISION, self])

    @functools.cached_property
    def fleet(self) -> str:
        """Equal for cells that run in one compiled program."""
        parts = [specs.static_part(part) for part in (self.task, self.learner, self.procedure)]
        return specs.content_hash([*parts, self.bucket])

    @property
    def compiled(self) -> bool:
        """Whether the cell runs in a compiled program, side by side with others of its fleet."""
        return isinstance(self.learner, Trained)

    @property
    def bucket(self) -> int:
        """The number of examples that the program has room for: a function of the train size alone."""
        if self.procedure.epochs:
            size = self.task.epoch_size if self.train_size is None else self.train_size
            assert size is not None
            return size
        if self.train_size is None:
            assert self.task.population_size is not None
            return self.task.population_size
        return bucket(self.train_size)

    def traced(self) -> dict[str, float]:
        """What this cell gives to its fleet's program."""
        values = specs.traced_values(self.task, "task.")
        values |= specs.traced_values(self.learner, "learner.")
        values |= specs.traced_values(self.procedure, "procedure.")
        if steps := self.epoch_steps:
            values |= {"procedure.max_steps": steps * self.procedure.epochs, "procedure.check_every": steps}
        return values | {"seed": self.seed, "train_size": self.bucket if self.train_size is None else self.train_size}

    def columns(self) -> dict[str, Any]:
        """The cell as columns of its record."""
        found: dict[str, Any] = {
            "cell": self.key,
            "task": type(self.task).__name__,
            "learner": self.learner.label,
            "train_size": self.bucket if self.procedure.epochs else self.train_size,
            "seed": self.seed,
        }
        for name in ("task", "learner", "procedure"):
            found |= specs.flat(getattr(self, name), name)
        return found


def bucket(size: int) -> int:
    """The least of 4, 5, 6, 7 times a power of two that is at least ``size`` (every number below 8).

    >>> [bucket(size) for size in (1, 7, 9, 10, 11, 160, 161)]
    [1, 7, 10, 10, 12, 160, 192]
    """
    unit = 1 << max((size - 1).bit_length() - 3, 0)
    return -(-size // unit) * unit
