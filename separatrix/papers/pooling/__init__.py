"""Brutzkus & Globerson, *An Optimization and Generalization Analysis for Max-Pooling Networks*.

=====================================  ===========================================================
in the paper                           here
=====================================  ===========================================================
Section 3, the distribution            :class:`separatrix.tasks.PatternDetection`
Section 3, Equation 1, the network     :class:`separatrix.learners.networks.ConvPoolNet` (``ConvPool``)
Section 3, Figure 2, Algorithm 1        :class:`separatrix.learners.algorithms.Layerwise`
Section 4, Theorem 4.2                 :func:`.expressivity.theorem_4_2`, ``pooling/theorem-4.2``
Section 5, Lemma 5.2                   :func:`.initialisation.lemma_5_2`, ``pooling/lemma-5.2``
Section 5, Theorem 5.1                 :func:`.second_layer.theorem_5_1`, ``pooling/theorem-5.1``
Section 5, Lemma 5.3                   :func:`.dynamics.lemma_5_3`, ``pooling/lemma-5.3``
Section 5, Corollary 5.4               :func:`.dynamics.corollary_5_4`, ``pooling/corollary-5.4``
Section 5, Lemma 5.5                   :func:`.norms.lemma_5_5`, ``pooling/lemma-5.5``
Appendix A                             :func:`.convergence.appendix_a`, ``pooling/appendix-a``
Appendix C, Lemmas C.1, C.2            :mod:`.norms`, ``pooling/lemma-c.1``, ``pooling/lemma-c.2``
Appendix C, Lemma C.3                  :func:`.dynamics.lemma_c_3`, ``pooling/lemma-c.3``
Section 6, Proposition 6.1             :func:`.margins.proposition_6_1`, ``pooling/proposition-6.1``
Section 6, the two bounds              :func:`.margins.section_6`, ``pooling/section-6``
Section 7, Figures 3 to 5              :mod:`.figures`, with what they claim in :mod:`.claims`
=====================================  ===========================================================

:mod:`.first_layer` follows a run of Algorithm 1, on which the lemmas of section 5 and appendix C are checked.

Symbols: n patterns to an input, each one of l orthonormal vectors of R^d; o_1 (positive) or o_2 (negative)
once, spurious o_3..o_l elsewhere; k channels with filters w_i (the rows of W, which is k x d) and second
layer a; sets W_t^+ and W_t^- of the filters that detect o_1 and o_2 at step t.
"""
