"""Figures: a study at two scales, how it is drawn, and the claims it decides."""

from __future__ import annotations

import json
import os
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
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

Scale = Literal["quick", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "paper")


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

    ``panels`` are its curves' conditions (see ``Result.curve``'s ``where``) by the name of the panel.
    """

    id: str
    statement: str
    study: Callable[[Scale], Study]
    draw: Callable[[Result], alt.TopLevelMixin]
    claims: Sequence[Claim]
    x: str = "train_size"
    y: str = "test_error"
    panels: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    notes: str = ""

    def plan(self, scale: Scale) -> str:
        return self.study(scale).name

    def make(
        self, scale: Scale, store: Store, workers: int | None, progress: Progress | None
    ) -> tuple[alt.TopLevelMixin, dict[str, Any]]:
        result = self.study(scale).run(store, workers=workers, progress=progress)
        statuses = result.status_counts()
        return self.draw(result), {
            "cells": {
                "planned": result.counts["planned"],
                "reused": result.counts["reused"],
                "ran": result.counts["ran"],
                "diverged": statuses["diverged"],
                "failed": statuses["failed"],
            },
            "series": _series(self, result),
            "axes": {"x": self.x, "y": self.y},
            "chosen": _chosen(result),
            "select": result.study.select,
            "tune_seeds": result.study.tune_seeds,
            "on_edge": result.on_edge(),
            "claims": [_verdict(claim, result) for claim in self.claims],
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
    from separatrix.studies.charts import save_chart

    start = time.perf_counter()
    chart, found = figure.make(scale, store, workers, progress)
    stem = store.folder / "figures" / f"{figure.id.replace('/', '-')}-{scale}"
    files = save_chart(chart, stem)
    about = {"figure": figure.id, "statement": figure.statement, "notes": figure.notes, "scale": scale}
    made = {
        "seconds": time.perf_counter() - start,
        "store": str(store.folder),
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


def _series(figure: Figure, result: Result) -> list[dict[str, Any]]:
    return [
        ({"panel": panel} if panel else {}) | row
        for panel, where in figure.panels.items()
        for row in result.curve(figure.x, figure.y, where=where).series()
    ]


def _verdict(claim: Claim, result: Result) -> dict[str, Any]:
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
    return [
        {"learner": condition.label, "train_size": condition.cell.train_size, **dict(result.chosen(condition))}
        for condition in result.conditions
    ]


def summaries(store: Store) -> list[dict[str, Any]]:
    """The summaries of the figures that a store holds."""
    folder: Path = store.folder / "figures"
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
