"""Figures in the atlas: the drawing, what it shows in words, and its interactive version."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.report.words import number
from separatrix.studies.figures import shortened
from separatrix.studies.pages import javascript_bundle, specification_of
from separatrix.studies.theme import FAINT, GRID, INK, PALETTE

_ON_DARK = ("#6CB2F2", "#FF8A57", "#3CC9A2", "#C98BE0", "#E3B341", "#7CC8F5", "#F07FB4", "#A8A8A8", "#C9946B")
DARK: Mapping[str, str] = dict(zip(PALETTE, _ON_DARK, strict=True)) | {
    INK: "var(--ink)",
    FAINT: "var(--faint)",
    GRID: "var(--line)",
    "white": "var(--card)",
}
"""What a chart's colours become on dark paper."""


@dataclass(frozen=True)
class FigureView:
    """A figure of the store with its drawing (SVG) and specification, empty where the files are gone."""

    summary: Mapping[str, Any]
    name: str
    drawing: str
    specification: str
    caption: list[str]
    alternative: str


def figure_view(summary: Mapping[str, Any], folder: Path) -> FigureView:
    """A summary with the files that ``reproduce`` drew beside it."""
    names = {Path(path).suffix: Path(path).name for path in summary["figure_files"]}
    name = re.sub(r"\W+", "-", f"{summary['figure']}-{summary['scale']}")
    drawing, page = (_read(folder / names.get(suffix, "missing")) for suffix in (".svg", ".html"))
    specification = json.dumps(specification_of(page)).replace("<", "\\u003c") if page else ""
    return FigureView(summary, name, _embedded(drawing, name), specification, _caption(summary), _alternative(summary))


def interactive_script() -> str:
    """Vega's bundle, to stand in an element that is only run when someone asks for it."""
    return javascript_bundle()


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _embedded(svg: str, name: str) -> str:
    """The SVG with identifiers that no other drawing on the page has, and without its prologue."""
    drawing = svg[svg.find("<svg") :] if "<svg" in svg else ""
    drawing = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawing)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", drawing)


def _caption(summary: Mapping[str, Any]) -> list[str]:
    """What the figure shows and how it was made, a sentence each."""
    cells, axes = summary["cells"], summary["axes"]
    if not summary["series"]:
        return [summary["notes"]] if summary["notes"] else []
    counts = sorted({row["n"] for row in summary["series"]})
    seeds = (
        "no seeds" if not counts else f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
    )
    told = [
        f"Points are means of {axes['y'].replace('_', ' ')} over {seeds}; bands or bars are 95% intervals of the mean "
        "over seeds, joined for errors on a sample with the exact interval of the pooled proportion.",
        f"{_scale(summary['scale'])} {cells['planned']} cells planned, {cells['diverged']} diverged, "
        f"{cells['failed']} failed.",
    ]
    if summary["select"] == "test":
        told.append("Hyperparameters were chosen on the test sample, as the paper did: these errors are optimistic.")
    elif summary["select"] == "steps":
        told.append("Hyperparameters were chosen for the fewest steps to the target, for each learner and place.")
    elif any(choice["values"] for choice in summary["chosen"]):
        told.append(
            f"Hyperparameters were chosen on a validation sample, for each learner and place{_judged(summary)}."
        )
    if summary["on_edge"]:
        told.append(f"The best value lies on the edge of its grid for {shortened(summary['on_edge'])}.")
    if summary["notes"]:
        told.append(summary["notes"])
    return told


def _judged(summary: Mapping[str, Any]) -> str:
    """On which seeds the choice was made, where it was not on all."""
    count = summary.get("tune_seeds")
    return f", on {'the first seed' if count == 1 else f'the first {count} seeds'} alone" if count else ""


def _scale(name: str) -> str:
    return {"quick": "Quick scale.", "paper": "The paper's scale."}.get(name, "A study of one size.")


def _alternative(summary: Mapping[str, Any]) -> str:
    """The figure for those who do not see it: each curve's two ends."""
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in summary["series"]:
        curves.setdefault(row["learner"], []).append(row)
    ends = [
        f"{learner} goes from {number(rows[0]['mean'])} at {number(rows[0]['x'])} "
        f"to {number(rows[-1]['mean'])} at {number(rows[-1]['x'])}"
        for learner, rows in curves.items()
    ]
    return f"{summary['statement']}. {'; '.join(ends)}."
