"""The results of the parity paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.parity.drift import lemma_13, lemma_14
from separatrix.papers.parity.embeddings import theorem_1
from separatrix.papers.parity.features import lemma_8, lemma_9
from separatrix.papers.parity.irrelevant import lemma_3, lemma_4, lemma_5
from separatrix.papers.parity.learning import theorem_2
from separatrix.papers.parity.online import theorem_11
from separatrix.papers.parity.readout import lemma_12
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
    "lemma_12",
    "lemma_13",
    "lemma_14",
    "theorem_1",
    "theorem_2",
    "theorem_11",
]
