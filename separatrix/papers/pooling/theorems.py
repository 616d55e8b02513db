"""The results of the pooling paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.pooling.expressivity import theorem_4_2
from separatrix.papers.pooling.initialisation import lemma_5_2
from separatrix.papers.pooling.margins import proposition_6_1, section_6

__all__ = ["lemma_5_2", "proposition_6_1", "section_6", "theorem_4_2"]
