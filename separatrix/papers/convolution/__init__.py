"""Malach & Shalev-Shwartz, *Computational Separation Between Convolutional and Fully-Connected Networks*.

=====================================  ===========================================================
in the paper                           here
=====================================  ===========================================================
Section 4, Theorem 12                  :func:`.theorems.theorem_12`, ``convolution/theorem-12``
its second moments, three ways         :mod:`.initial_gradient`
=====================================  ===========================================================

Symbols: n bits, a k-pattern on the consecutive bits I, q neurons or filters, readout u, first layer w, bias
b, activation sigma with |sigma| <= c and |sigma'| <= 1. Misprints of the paper are noted where they matter,
and ``version=printed`` shows what goes wrong.
"""
