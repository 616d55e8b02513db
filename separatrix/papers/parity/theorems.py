"""The results of the parity paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.parity.embeddings import theorem_1
from separatrix.papers.parity.features import lemma_8, lemma_9
from separatrix.papers.parity.irrelevant import lemma_3, lemma_4, lemma_5
from separatrix.papers.parity.relevant import lemma_6, lemma_7
from separatrix.papers.parity.separator import lemma_10

__all__ = [
    "lemma_3",
    "lemma_4",
    "lemma_5",
    "lemma_6",
    "lemma_7",
    "lemma_8",
    "lemma_9",
    "lemma_10",
    "theorem_1",
]
