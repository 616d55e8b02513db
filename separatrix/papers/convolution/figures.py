"""The experiments: figures 3 and 4 with their examples."""

from __future__ import annotations

from separatrix.papers.convolution import claims
from separatrix.papers.convolution.pictures import examples_of_sequences
from separatrix.papers.convolution.sequences import draw, sequences
from separatrix.studies.figures import Figure, Picture

_OPEN = (
    "The paper leaves open the stride, the loss, the minibatch and how many sequences an epoch has; here: both "
    "strides, the logistic loss, 128, and what one shuffle of the 60000 training digits is cut into, 60000 / n."
)
_INDEPENDENT = (
    "60000 sequences an epoch whatever n is: each place of the sequence has a shuffle of the digits of its own. "
    "Kernels aligned with the digits (stride 8)."
)

FIGURES = (
    Figure(
        id="convolution/fig3",
        statement="Test error on sequences of n digits of MNIST, the label the parity of the middle three: FCN, CNN "
        "and LCN of one hidden layer of 1024 units, by n and by epoch",
        study=lambda scale: sequences("middle", scale, "convolution/fig3"),
        draw=draw("Parity of the three middle digits of n"),
        claims=claims.FIG3,
        x="n",
        notes=_OPEN,
    ),
    Figure(
        id="convolution/fig4",
        statement="The same where the label is the parity of the first, the middle and the last digit",
        study=lambda scale: sequences("far", scale, "convolution/fig4"),
        draw=draw("Parity of the first, middle and last digit of n"),
        claims=claims.FIG4,
        x="n",
        notes=_OPEN,
    ),
    Figure(
        id="convolution/fig3-independent",
        statement="Figure 3 with 60000 sequences an epoch, whatever n is",
        study=lambda scale: sequences(
            "middle", scale, "convolution/fig3-independent", strides=(8,), composition="independent"
        ),
        draw=draw("Parity of the three middle digits of n, 60000 sequences an epoch"),
        claims=claims.FIG3_INDEPENDENT,
        x="n",
        notes=_INDEPENDENT,
    ),
    Figure(
        id="convolution/fig4-independent",
        statement="Figure 4 with 60000 sequences an epoch, whatever n is",
        study=lambda scale: sequences(
            "far", scale, "convolution/fig4-independent", strides=(8,), composition="independent"
        ),
        draw=draw("Parity of the first, middle and last digit of n, 60000 sequences an epoch"),
        claims=claims.FIG4_INDEPENDENT,
        x="n",
        notes=_INDEPENDENT,
    ),
    Picture(
        id="convolution/fig3-examples",
        statement="Sequences of MNIST digits of varying length, the label the parity of the middle three",
        draw=lambda _: examples_of_sequences("middle"),
    ),
    Picture(
        id="convolution/fig4-examples",
        statement="Sequences of MNIST digits of varying length, the label the parity of the first, middle and last",
        draw=lambda _: examples_of_sequences("far"),
    ),
)
