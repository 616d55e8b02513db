"""Allen-Zhu & Li, *What Can ResNet Learn Efficiently, Going Beyond Kernels?*

=====================================  ===========================================================
in the paper                           here
=====================================  ===========================================================
Section 4, Example 4.1                 :func:`.complexity.complexity`, ``residual/complexity``
Section 6, Theorem 1, table 1          :func:`.guarantee.theorem_1`, ``residual/theorem-1``
its trainings by Algorithm 1           :mod:`.descent`
Section 7, Theorems 2 and 3            :mod:`.lower_bounds`, ``residual/theorem-2``, ``residual/theorem-3``
the class (7.1), exact best risks      :mod:`.hard_class`; of kernels and of features: :mod:`.spans`
Section 8.1, figures 2 and 3           :mod:`.figures`, :mod:`.claims`, :mod:`.sides`
Section 8.2, figures 1 and 4           :mod:`.minimal_norm`; W* by hand: ``residual/section-8.2`` in :mod:`.hand_made`
Appendix A, Lemma A.2, Fact A.3        :mod:`.concept`, ``residual/lemma-a.2``, ``residual/fact-a.3``
Appendix C.1, Lemma C.1                :func:`.coupling.lemma_c_1`, ``residual/lemma-c.1``
Appendix C.2, Lemmas C.2 and C.3       :mod:`.existence_near_start`, ``residual/lemma-c.2``, ``residual/lemma-c.3``
Appendix C.3, Fact C.4                 :func:`.network.fact_c_4`, ``residual/fact-c.4``
Appendix C.3, Claim C.5                :func:`.coupling.claim_c_5`, ``residual/claim-c.5``
Appendix C.3, Claims C.6 and C.7       :mod:`.error_term`, ``residual/claim-c.6``, ``residual/claim-c.7``
Appendix D, Lemmas D.1 and D.2         :mod:`.rank_argument`, ``residual/lemma-d.1``, ``residual/lemma-d.2``
Appendix E, Lemma E.1                  :func:`.existence.lemma_e_1`, ``residual/lemma-e.1``
Appendix E, Lemma E.2                  :func:`.indicator.lemma_e_2`, ``residual/lemma-e.2``
Appendix E, Claim E.3                  :func:`.half_space.claim_e_3`, ``residual/claim-e.3``
Appendix E, Claim E.4                  :func:`.indicator.claim_e_4`, ``residual/claim-e.4``
=====================================  ===========================================================

The networks are :class:`separatrix.learners.ReLUNet`, Algorithm 1 is :class:`separatrix.learners.Algorithm1`, the
tasks :class:`separatrix.tasks.HierarchicalParity` (section 8.1), ``HardInstance`` (7.1), ``Monomial`` (8.2) and
``Concept`` (Concepts 1 and 2); the infinitely wide ResNet is :class:`separatrix.learners.kernels.WideReLUNet`.

Symbols: H = F + alpha G(F) from R^d to R^k, F and G sums of p_F, p_G smooth functions of complexity C_s, C_eps;
out = out_1 + A relu((V0 + V)(out_1, 1)), out_1 = A relu((W0 + W)(x, 1)), of width m, started with deviations sigma_w,
sigma_v/sqrt(m), and trained within ||W|| <= tau_w, ||V|| <= tau_v; D_W, D_{V,W} the diagonal 0/1 matrices of the signs.
"""
