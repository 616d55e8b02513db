"""Figures: a study at two scales, how it is drawn, and the claims it decides."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from separatrix.errors import InputError
from separatrix.files import write_whole
from separatrix.studies.progress import Progress
from separatrix.studies.result import Result
from separatrix.studies.store import Store
from separatrix.studies.study import Study
from separatrix.studies.verdicts import Claim, Verdict
from separatrix.theory.certificate import plain

if TYPE_CHECKING:
    import altair as alt

FORMAT = 2
"""Of a summary; raised when its shape changes."""
Scale = Literal["quick", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "paper")
Names = str | Sequence[str]


class Shown(ABC):
    """What ``reproduce`` can make: a :class:`Figure` of a study, or a :class:`Picture`."""

    id: str
    statement: str
    notes: str
    claims: Sequence[Claim]

    @property
    def paper(self) -> str:
        return self.id.split("/", 1)[0]

    @abstractmethod
    def plan(self, scale: Scale) -> str | None:
        """The name of the plan that a store keeps of it; None where there is nothing to run."""

    @abstractmethod
    def make(
        self, scale: Scale, store: Store, workers: int | None, progress: Progress | None
    ) -> tuple[alt.TopLevelMixin, dict[str, Any]]:
        """The chart, and what was found, as :func:`reproduce` prints it."""


@dataclass(frozen=True)
class Figure(Shown):
    """A figure of a paper (or one that it should have had) as a study at either scale.

    ``panels`` are its curves' conditions (see ``Result.curve``'s ``where``) by the name of the panel; of several ``y``
    each has such panels of its own.
    """

    id: str
    statement: str
    study: Callable[[Scale], Study]
    draw: Callable[[Result], alt.TopLevelMixin]
    claims: Sequence[Claim]
    x: Names = "train_size"
    y: Names = "test_error"
    panels: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    notes: str = ""

    def plan(self, scale: Scale) -> str:
        return self.study(scale).name

    def make(
        self, scale: Scale, store: Store, workers: int | None, progress: Progress | None
    ) -> tuple[alt.TopLevelMixin, dict[str, Any]]:
        result = self.study(scale).run(store, workers=workers, progress=progress)
        ys = _names(self.y)
        panels = [
            (", ".join(part for part in (panel, y if len(ys) > 1 else "") if part), y, where)
            for y in ys
            for panel, where in self.panels.items()
        ]
        series = [row for panel, y, where in panels for row in _series(panel, result, self.x, y, where)]
        return self.draw(result), _found([result], series, self.x, self.y) | {
            "chosen": _chosen(result),
            "tune_seeds": result.study.tune_seeds,
            "claims": [_verdict(claim, result) for claim in self.claims],
        }


@dataclass(frozen=True)
class JointFigure(Shown):
    """A figure of several studies by name, for learners that depend on the task, or for two precisions.

    The studies have one name, that of the plan; ``draw`` and the claims are given all results. Those claims also
    decide what no study has trained, such as a gradient at the start.
    """

    id: str
    statement: str
    studies: Callable[[Scale], Mapping[str, Study]]
    draw: Callable[[Mapping[str, Result]], alt.TopLevelMixin]
    claims: Sequence[Claim]
    x: Names = "train_size"
    y: str = "test_error"
    notes: str = ""

    def plan(self, scale: Scale) -> str:
        return next(iter(self.studies(scale).values())).name

    def make(
        self, scale: Scale, store: Store, workers: int | None, progress: Progress | None
    ) -> tuple[alt.TopLevelMixin, dict[str, Any]]:
        results = {
            name: study.run(store, workers=workers, progress=progress) for name, study in self.studies(scale).items()
        }
        series = [row for name, result in results.items() for row in _series(name, result, self.x, self.y)]
        return self.draw(results), _found(list(results.values()), series, self.x, self.y) | {
            "chosen": [{"panel": name} | row for name, result in results.items() for row in _chosen(result)],
            "on_edge": [f"{name}: {place}" for name, result in results.items() for place in result.on_edge()],
            "claims": [_verdict(claim, results) for claim in self.claims],
        }


@dataclass(frozen=True)
class Picture(Shown):
    """A figure that shows something and trains nothing, such as examples of a task; it decides no claims."""

    id: str
    statement: str
    draw: Callable[[Scale], alt.TopLevelMixin]
    claims: Sequence[Claim] = ()
    notes: str = ""

    def plan(self, scale: Scale) -> None:
        return None

    def make(
        self, scale: Scale, store: Store, workers: int | None, progress: Progress | None
    ) -> tuple[alt.TopLevelMixin, dict[str, Any]]:
        return self.draw(scale), {
            "cells": dict.fromkeys(("planned", "reused", "ran", "diverged", "failed"), 0),
            "series": [],
            "axes": {"x": "", "y": ""},
            "chosen": [],
            "select": None,
            "tune_seeds": None,
            "on_edge": [],
            "claims": [],
        }


def reproduce(
    figure: Shown,
    scale: Scale,
    store: Store,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run what the store lacks, draw the figure, decide its claims; the summary as ``reproduce --json`` prints it.

    The summary is also kept in the store (``figures/``), from which the report is made.
    """
    from separatrix.studies.pages import save_chart

    start = time.perf_counter()
    chart, found = figure.make(scale, store, workers, progress)
    stem = store.folder / "figures" / f"{figure.id.replace('/', '-')}-{scale}"
    files = save_chart(chart, stem)
    about = {"figure": figure.id, "statement": figure.statement, "notes": figure.notes, "scale": scale}
    made = {
        "seconds": time.perf_counter() - start,
        "store": str(store.folder),
        "format": FORMAT,
        "made": _made(),
        "figure_files": [str(path) for path in files],
    }
    summary: dict[str, Any] = plain(about | found | made)
    write_whole(stem.with_name(f"{stem.name}.json"), json.dumps(summary, indent=1))
    return summary


def _made() -> dict[str, str]:
    """When, with what and on what."""
    import jax

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "separatrix": version("separatrix"),
        "jax": version("jax"),
        "device": jax.devices()[0].device_kind,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def _found(results: Sequence[Result], series: list[dict[str, Any]], x: Names, y: Names) -> dict[str, Any]:
    """What a summary says of the trainings behind a figure."""
    statuses = sum((result.status_counts() for result in results), Counter[str]())
    counts = sum((result.counts for result in results), Counter[str]())
    return {
        "cells": {name: counts[name] for name in ("planned", "reused", "ran")}
        | {name: statuses[name] for name in ("diverged", "failed")},
        "series": series,
        "axes": {"x": " or ".join(_names(x)), "y": " or ".join(_names(y))},
        "select": results[0].study.select,
        "on_edge": [place for result in results for place in result.on_edge()],
    }


def _names(of: Names) -> tuple[str, ...]:
    return (of,) if isinstance(of, str) else tuple(of)


def _series(
    panel: str, result: Result, x: Names, y: str, where: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    return [({"panel": panel} if panel else {}) | row for row in result.curve(x, y, where=where).series()]


def _verdict(claim: Claim, result: Any) -> dict[str, Any]:
    try:
        verdict = claim.decide(result)
    except InputError as missing:  # a learner without a single record
        verdict = Verdict("inconclusive", {"missing": str(missing)})
    return {
        "id": claim.id,
        "statement": claim.statement,
        "verdict": verdict.outcome,
        "criterion": claim.criterion,
        "evidence": verdict.evidence,
    }


def _chosen(result: Result) -> list[dict[str, Any]]:
    """For every condition: ``place`` tells it from the others of its learner, ``values`` are its hyperparameters."""
    return [
        {"learner": condition.label, "place": result.place(condition), "values": dict(result.chosen(condition))}
        for condition in result.conditions
    ]


def shortened(names: Sequence[str], most: int = 4) -> str:
    """The first few of a list, and how many more there are."""
    more = len(names) - most
    return "; ".join([*names[:most], *([f"and {more} more"] if more > 0 else [])])


def summaries(store: Store) -> list[dict[str, Any]]:
    """The summaries of the figures that a store holds, without those of another shape."""
    found = []
    for path in sorted((store.folder / "figures").glob("*.json")):
        summary = json.loads(path.read_text())
        if summary.get("format") == FORMAT:
            found.append(summary)
        else:
            warnings.warn(f"{path.name} is of another version and left out; reproduce its figure again", stacklevel=2)
    return found
