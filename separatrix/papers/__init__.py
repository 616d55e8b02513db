"""The papers, one package each; what they share lives in the layers below.

A paper's package has the same modules everywhere: ``theorems`` (its results) and ``figures`` (its experiments as
studies, each with the claims that it decides). A paper that has not got one of them yet simply adds nothing.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from separatrix.errors import unknown
from separatrix.theory.results import Result, registered

if TYPE_CHECKING:
    from separatrix.studies.figures import Shown

PAPERS: Mapping[str, str] = {
    "convolution": "Malach & Shalev-Shwartz, Computational Separation Between Convolutional and "
    "Fully-Connected Networks",
    "parity": "Daniely & Malach, Learning Parities with Neural Networks",
    "pooling": "Brutzkus & Globerson, An Optimization and Generalization Analysis for Max-Pooling Networks",
    "residual": "Allen-Zhu & Li, What Can ResNet Learn Efficiently, Going Beyond Kernels?",
}

CERTIFIED = (
    "certificates of the corrected statement: refuted if one is violated, otherwise supported if one holds, vacuous "
    "if all that apply are vacuous, inconclusive if none applies or an estimate does not decide"
)


@dataclass(frozen=True)
class KnownClaim:
    """A claim and where it is tested: by the figure or the certificate whose id is ``test``."""

    id: str
    statement: str
    criterion: str
    kind: Literal["figure", "certificate"]
    test: str

    @property
    def paper(self) -> str:
        return self.id.split("/", 1)[0]


def theorems(paper: str | None = None) -> Mapping[str, Result]:
    """The results of one paper, or of all, by id: sorted, lemma-3 before lemma-10, whatever was imported first."""
    for _ in _modules(paper, "theorems"):
        pass
    found = registered()
    return {id: found[id] for id in sorted(found, key=_in_order) if paper in (None, found[id].paper)}


def theorem(id: str) -> Result:
    """One result by its id, e.g. ``convolution/theorem-12``."""
    known = theorems(_paper_of(id))
    if id not in known:
        raise unknown("result", id, known or theorems())
    return known[id]


def figures(paper: str | None = None) -> Mapping[str, Shown]:
    """The figures of one paper, or of all, by id."""
    return {figure.id: figure for module in _modules(paper, "figures") for figure in module.FIGURES}


def figure(id: str) -> Shown:
    """One figure by its id, e.g. ``pooling/fig3a``."""
    known = figures(_paper_of(id))
    if id not in known:
        raise unknown("figure", id, known or figures())
    return known[id]


def claims(paper: str | None = None) -> Mapping[str, KnownClaim]:
    """Every claim by id: those that figures decide, and one for each theorem, which its certificates decide."""
    found = [
        KnownClaim(claim.id, claim.statement, claim.criterion, "figure", figure.id)
        for figure in figures(paper).values()
        for claim in figure.claims
    ]
    found += [KnownClaim(id, result.statement, CERTIFIED, "certificate", id) for id, result in theorems(paper).items()]
    return {claim.id: claim for claim in found}


def _in_order(id: str) -> list[tuple[int, str]]:
    """A key for sorting that takes numbers as numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", id)]


def _paper_of(id: str) -> str | None:
    """The paper that an id names; None where there is no such paper, and all are to be searched."""
    paper = id.split("/", 1)[0]
    return paper if paper in PAPERS else None


def _modules(paper: str | None, name: str) -> Iterator[ModuleType]:
    """The modules of this name that exist, in the order of the papers."""
    if paper is not None and paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    for package in PAPERS if paper is None else (paper,):
        wanted = f"{__name__}.{package}.{name}"
        try:
            yield importlib.import_module(wanted)
        except ModuleNotFoundError as error:
            if error.name not in (wanted, wanted.rpartition(".")[0]):
                raise
