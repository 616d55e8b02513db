"""The results of the pooling paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.pooling.convergence import appendix_a
from separatrix.papers.pooling.dynamics import corollary_5_4, lemma_5_3, lemma_c_3
from separatrix.papers.pooling.expressivity import theorem_4_2
from separatrix.papers.pooling.initialisation import lemma_5_2
from separatrix.papers.pooling.margins import proposition_6_1, section_6
from separatrix.papers.pooling.norms import lemma_5_5, lemma_c_1, lemma_c_2
from separatrix.papers.pooling.second_layer import theorem_5_1

__all__ = [
    "appendix_a",
    "corollary_5_4",
    "lemma_5_2",
    "lemma_5_3",
    "lemma_5_5",
    "lemma_c_1",
    "lemma_c_2",
    "lemma_c_3",
    "proposition_6_1",
    "section_6",
    "theorem_4_2",
    "theorem_5_1",
]
