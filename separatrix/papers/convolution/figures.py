"""The experiments: figures 3 and 4 with their examples."""

from __future__ import annotations

from separatrix.papers.convolution import claims, order, separation, separation_chart, separation_claims
from separatrix.papers.convolution.pictures import examples_of_sequences
from separatrix.papers.convolution.sequences import draw, sequences
from separatrix.studies.figures import Figure, JointFigure, Picture

_OPEN = (
    "The paper leaves open the stride, the loss, the minibatch and how many sequences an epoch has; here: both "
    "strides, the logistic loss, 128, and what one shuffle of the 60000 training digits is cut into, 60000 / n."
)
_INDEPENDENT = (
    "60000 sequences an epoch whatever n is: each place of the sequence has a shuffle of the digits of its own. "
    "Kernels aligned with the digits (stride 8)."
)

FIGURES = (
    JointFigure(
        id=separation.NAME,
        statement="Steps that population gradient descent needs on k-patterns, for FCN and CNN of equal numbers of "
        "parameters, against n at several k, and the gradient at the start at k = log2 n",
        studies=separation.studies,
        draw=separation_chart.draw,
        claims=separation_claims.CLAIMS,
        x="n",
        y="steps_to_target",
        notes="Clipped ReLU, hinge loss, all 2^n points in float64 (one study in float32), until the loss is 0.1; "
        "learning rates tuned for the fewest steps. Starts: u_i = +-1 over their number, so that |h| <= 1, as Theorem "
        "12 asks; Gaussian u; and the paper's u = 0, of which the FCN's is the analogue. The plateau is the time "
        "(steps times rate, at small rates) until the loss is 0.9. Laws n^b go through the medians over seeds.",
    ),
    order.FIGURE,
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
