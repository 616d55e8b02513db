"""The results of the residual paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.residual.complexity import complexity
from separatrix.papers.residual.concept import fact_a_3, lemma_a_2
from separatrix.papers.residual.coupling import claim_c_5, lemma_c_1
from separatrix.papers.residual.error_term import claim_c_6, claim_c_7
from separatrix.papers.residual.existence import lemma_e_1
from separatrix.papers.residual.existence_near_start import lemma_c_2, lemma_c_3
from separatrix.papers.residual.guarantee import theorem_1
from separatrix.papers.residual.half_space import claim_e_3
from separatrix.papers.residual.hand_made import section_8_2
from separatrix.papers.residual.indicator import claim_e_4, lemma_e_2
from separatrix.papers.residual.lower_bounds import theorem_2, theorem_3
from separatrix.papers.residual.network import fact_c_4
from separatrix.papers.residual.rank_argument import lemma_d_1, lemma_d_2

__all__ = [
    "claim_c_5",
    "claim_c_6",
    "claim_c_7",
    "claim_e_3",
    "claim_e_4",
    "complexity",
    "fact_a_3",
    "fact_c_4",
    "lemma_a_2",
    "lemma_c_1",
    "lemma_c_2",
    "lemma_c_3",
    "lemma_d_1",
    "lemma_d_2",
    "lemma_e_1",
    "lemma_e_2",
    "section_8_2",
    "theorem_1",
    "theorem_2",
    "theorem_3",
]
