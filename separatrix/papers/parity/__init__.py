"""Daniely & Malach, *Learning Parities with Neural Networks*.

=====================================  ===========================================================
in the paper                           here
=====================================  ===========================================================
Section 2, Theorem 1 (Forster)         :func:`.embeddings.theorem_1`, ``parity/theorem-1``
Section 4.1, Lemmas 3, 4, 5            :mod:`.irrelevant`, ``parity/lemma-3``, ``parity/lemma-4``, ``parity/lemma-5``
Section 4.1, Lemmas 6, 7               :mod:`.relevant`, ``parity/lemma-6``, ``parity/lemma-7``
Section 4.1, Lemmas 8, 9               :mod:`.features`, ``parity/lemma-8``, ``parity/lemma-9``
Section 4.1, Lemma 10                  :func:`.separator.lemma_10`, ``parity/lemma-10``
Section 4.2, Theorem 11                :func:`.online.theorem_11`, ``parity/theorem-11``
Section 4.2, Lemma 12                  :func:`.readout.lemma_12`, ``parity/lemma-12``
Section 4.2, Lemmas 13, 14             :mod:`.drift`, ``parity/lemma-13``, ``parity/lemma-14``
Section 3, Theorem 2                   :mod:`.learning`, :mod:`.bounds`, ``parity/theorem-2``
Section 4.1, the first step, drawn     :class:`.pictures.FirstStep`, ``parity/first-step``
Abstract, Section 5 (no experiments)   :mod:`.figures`, :mod:`.studies`, :mod:`.claims`: ``parity/study-samples``,
                                       ``-svm``, ``-uniform``, ``-features``, ``-k``, ``-mixture``, ``-two-phase``
Linear classifiers of the bits         :func:`.linear.best_linear_error`: their least error, exactly
=====================================  ===========================================================

The task D_A is :class:`separatrix.tasks.SparseParity`, the network :class:`separatrix.learners.PairedFCN` and its
descent :class:`separatrix.learners.TwoPhase`; :mod:`.neurons` has the first step in closed form,
:mod:`.descent` whole runs on the enumerated population.

Symbols: n bits of size 1/sqrt n, A the k of them (k odd) whose parity f_A is the label, D^(1) the uniform half of
D_A and D^(2) the half where the bits of A are equal; 2q neurons w_i, b_i, u_i; J the nonzero entries of w outside A.
"""
