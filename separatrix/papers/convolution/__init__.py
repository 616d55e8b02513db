"""Malach & Shalev-Shwartz, *Computational Separation Between Convolutional and Fully-Connected Networks*.

=====================================  ===========================================================
in the paper                           here
=====================================  ===========================================================
Section 3, Theorem 4                   :func:`.learning.theorem_4`, ``convolution/theorem-4``
its bound, and its smallest (q, T)     :mod:`.bounds`
its proof's chain, on a run            :mod:`.guarantee`
Section 3.1, Theorem 4 for LCNs        :func:`.learning.theorem_4_lcn`, ``convolution/theorem-4-lcn``
Section 3, Corollary 5                 :func:`.corollary.corollary_5`, ``convolution/corollary-5``
Section 3, Lemma 6                     :func:`.separability.lemma_6`, ``convolution/lemma-6``
Section 3, Lemmas 8 and 9              :mod:`.drift`, ``convolution/lemma-8``, ``convolution/lemma-9``
Section 3, Theorem 10                  :func:`.online.theorem_10`, ``convolution/theorem-10``
their training, at any width           :mod:`.descent`, :mod:`.classes`, :mod:`.setting`
Section 4, Theorem 12                  :func:`.fully_connected.theorem_12`, ``convolution/theorem-12``
its second moments, three ways         :mod:`.initial_gradient`
what training makes of it, a figure    :mod:`.separation` (claims: :mod:`.separation_claims`)
its networks, on the cube              :mod:`.start_gradient`, :mod:`.tabled`
Section 5                              :func:`.unknown_order.section_5`, ``convolution/section-5``
the same as a figure                   :mod:`.order`
Section 1, Figure 1                    :mod:`.photographs`, ``convolution/fig1``
Section 6, Figures 3 and 4             :mod:`.sequences`, ``convolution/fig3``, ``convolution/fig4``
=====================================  ===========================================================

Symbols: n bits, a k-pattern on the consecutive bits I, q neurons or filters, readout u, first layer w, bias
b, activation sigma with |sigma| <= c and |sigma'| <= 1. Misprints of the paper are noted where they matter,
and ``version=printed`` shows what goes wrong.
"""
