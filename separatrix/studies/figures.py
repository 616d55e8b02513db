"""Figures: a study at two scales, how it is drawn, and the claims it decides."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from separatrix.files import write_whole
from separatrix.studies.progress import Progress
from separatrix.studies.result import Result
from separatrix.studies.store import Store
from separatrix.studies.study import Study
from separatrix.studies.verdicts import Claim
from separatrix.theory.certificate import plain

if TYPE_CHECKING:
    import altair as alt

Scale = Literal["quick", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "paper")


@dataclass(frozen=True)
class Figure:
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

    @property
    def paper(self) -> str:
        return self.id.split("/", 1)[0]


def reproduce(
    figure: Figure,
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
    result = figure.study(scale).run(store, workers=workers, progress=progress)
    stem = store.folder / "figures" / f"{figure.id.replace('/', '-')}-{scale}"
    files = save_chart(figure.draw(result), stem)
    statuses = result.status_counts()
    summary = plain(
        {
            "figure": figure.id,
            "statement": figure.statement,
            "notes": figure.notes,
            "scale": scale,
            "cells": {
                "planned": result.counts["planned"],
                "reused": result.counts["reused"],
                "ran": result.counts["ran"],
                "diverged": statuses["diverged"],
                "failed": statuses["failed"],
            },
            "series": _series(figure, result),
            "axes": {"x": figure.x, "y": figure.y},
            "chosen": _chosen(result),
            "select": result.study.select,
            "on_edge": result.on_edge(),
            "claims": [_verdict(claim, result) for claim in figure.claims],
            "seconds": time.perf_counter() - start,
            "store": str(store.folder),
            "figure_files": [str(path) for path in files],
        }
    )
    write_whole(stem.with_suffix(".json"), json.dumps(summary, indent=1))
    found: dict[str, Any] = summary
    return found


def _series(figure: Figure, result: Result) -> list[dict[str, Any]]:
    return [
        ({"panel": panel} if panel else {}) | row
        for panel, where in figure.panels.items()
        for row in result.curve(figure.x, figure.y, where=where).series()
    ]


def _verdict(claim: Claim, result: Result) -> dict[str, Any]:
    verdict = claim.decide(result)
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
