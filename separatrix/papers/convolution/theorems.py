"""The results of the convolution paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.convolution.corollary import corollary_5
from separatrix.papers.convolution.drift import lemma_8, lemma_9
from separatrix.papers.convolution.fully_connected import theorem_12
from separatrix.papers.convolution.learning import theorem_4, theorem_4_lcn
from separatrix.papers.convolution.online import theorem_10
from separatrix.papers.convolution.separability import lemma_6
from separatrix.papers.convolution.unknown_order import section_5

__all__ = [
    "corollary_5",
    "lemma_6",
    "lemma_8",
    "lemma_9",
    "section_5",
    "theorem_4",
    "theorem_4_lcn",
    "theorem_10",
    "theorem_12",
]
