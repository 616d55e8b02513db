"""The papers, one package each; what they share lives in the layers below.

A paper's package has the same modules everywhere: ``theorems`` (its results), ``figures`` (its
experiments as studies) and ``claims`` (its sentences with the criterion that decides each).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from separatrix.errors import unknown
from separatrix.theory.results import Result, registered

PAPERS: Mapping[str, str] = {
    "convolution": "Malach & Shalev-Shwartz, Computational Separation Between Convolutional and "
    "Fully-Connected Networks",
    "parity": "Daniely & Malach, Learning Parities with Neural Networks",
    "pooling": "Brutzkus & Globerson, An Optimization and Generalization Analysis for Max-Pooling Networks",
    "residual": "Allen-Zhu & Li, What Can ResNet Learn Efficiently, Going Beyond Kernels?",
}


def theorems(paper: str | None = None) -> Mapping[str, Result]:
    """The results of one paper, or of all, by id."""
    if paper is not None and paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    for name in PAPERS if paper is None else (paper,):
        importlib.import_module(f"separatrix.papers.{name}.theorems")
    return {id: found for id, found in registered().items() if paper in (None, found.paper)}


def theorem(id: str) -> Result:
    """One result by its id, e.g. ``convolution/theorem-12``."""
    known = theorems(id.split("/", 1)[0]) if "/" in id and id.split("/", 1)[0] in PAPERS else theorems()
    if id not in known:
        raise unknown("result", id, known)
    return known[id]
