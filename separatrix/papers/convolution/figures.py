"""The experiments: figures 1, 3 and 4 with their examples, and the two that the theorems call for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from separatrix.papers.convolution import claims, order, separation, separation_chart, separation_claims
from separatrix.papers.convolution.photographs import draw_photographs, examples_of_photographs, photographs
from separatrix.papers.convolution.pictures import examples_of_sequences
from separatrix.papers.convolution.sequences import Places, draw, sequences
from separatrix.studies.figures import Figure, JointFigure, Picture
from separatrix.studies.verdicts import Claim

_OPEN = (
    "The paper leaves open the stride, the loss, the minibatch and how many sequences an epoch has; here: kernels "
    "aligned with the digits (stride 8), the logistic loss, 128, and what one shuffle of the 60000 training digits is "
    "cut into, 60000 / n. At n = 3 a kernel covers the whole strip, and the three networks are one class of functions."
)
_STRIDE_1 = (
    "Kernels at every column (stride 1, the textbook's CNN) and the same networks otherwise, three seeds for five: "
    "eight times the work of the figure itself, whose paper scale is written for a GPU."
)
_INDEPENDENT = (
    "60000 sequences an epoch whatever n is: each place of the sequence has a shuffle of the digits of its own. "
    "Kernels aligned with the digits (stride 8). n times the work of the figure itself: its paper scale is written for "
    "a GPU."
)
_WHICH = {"middle": "the three middle digits", "far": "the first, middle and last digit"}


def _variants(
    number: int, places: Places, statement: str, decided: Callable[[str], tuple[Claim, ...]]
) -> Iterator[Figure]:
    """A figure of the paper, and what becomes of it under two other readings."""
    readings: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("", "", _OPEN, {}),
        ("-stride-1", ", kernels at every column", _STRIDE_1, {"stride": 1}),
        ("-independent", ", 60000 sequences an epoch", _INDEPENDENT, {"composition": "independent"}),
    )
    for suffix, words, notes, options in readings:
        name = f"convolution/fig{number}{suffix}"
        yield Figure(
            id=name,
            statement=statement + words,
            study=partial(sequences, places, name=name, **options),
            draw=draw(f"Parity of {_WHICH[places]} of n{words}"),
            claims=decided(name),
            x="n",
            notes=notes,
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
        id="convolution/fig1",
        statement="Test error on CIFAR-10 against the number of parameters: CNN and FCN of depth 2, 4 and 6 and "
        "several widths, RMSprop, 125 epochs",
        study=photographs,
        draw=draw_photographs,
        claims=claims.FIG1,
        x="parameters",
        notes="The paper leaves open the CNNs' kernels and pooling, the loss, the rates and the widths; here: 3 x 3, "
        "up to three poolings of 2 x 2, the cross-entropy, rates tuned on images held out, and the widest networks "
        "within each number of parameters. The paper scale is written for a GPU.",
    ),
    Picture(
        id="convolution/fig1-examples",
        statement="Images of CIFAR-10 by class",
        draw=lambda _: examples_of_photographs(),
    ),
    *_variants(
        3,
        "middle",
        "Test error on sequences of n digits of MNIST, the label the parity of the middle three: FCN, CNN and LCN of "
        "one hidden layer of 1024 units, by n and by epoch",
        claims.middle,
    ),
    *_variants(
        4,
        "far",
        "Test error on sequences of n digits of MNIST, the label the parity of the first, the middle and the last: "
        "FCN, CNN and LCN of one hidden layer of 1024 units, by n and by epoch",
        claims.far,
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
