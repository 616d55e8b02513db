"""The experiments of section 7: test error of ConvPool, MLP and SVM."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from separatrix.learners import MLP, ConvPool, LinearSVM
from separatrix.papers.pooling import claims
from separatrix.papers.pooling.pictures import examples_of_digits
from separatrix.studies.figures import Figure, Picture, Scale
from separatrix.studies.grid import Grid, grid
from separatrix.studies.study import Study
from separatrix.tasks import DigitDetection, PatternDetection, Task
from separatrix.training import Procedure

if TYPE_CHECKING:
    import altair as alt

    from separatrix.studies.result import Result

PAPER_SIZES = (10, 20, 40, 80, 160, 320, 640, 1280)
QUICK_SIZES = (10, 20, 40, 80, 160, 320)


def compare(task: Task, scale: Scale, name: str) -> Study:
    """ConvPool (Equation 1, trained end to end by Adam, as the paper reports) against its baselines.

    The paper gives d = 20, n = 10, 500 channels, 5 repeats and 1000 test points; rates, train sizes and the stopping
    rule are ours: rates tuned on validation data, full-batch Adam until the mean logistic loss is 1e-3.
    """
    paper = scale == "paper"
    channels = 500 if paper else 100
    conv = ConvPool(channels)
    return Study(
        task=task,
        learners={"ConvPool": conv, "MLP": MLP.matching(conv), "SVM": LinearSVM()},
        train_size=PAPER_SIZES if paper else QUICK_SIZES,
        seeds=5,
        tune={"learning_rate": grid(1e-3, 1e-1, per_decade=3 if paper else 1)},
        procedure=Procedure(max_steps=20_000 if paper else 5_000, target_loss=1e-3),
        name=f"{name} ({scale})",
    )


def _draw(result: Result) -> alt.TopLevelMixin:
    return result.curve().plot(
        title="Pattern detection: test error against training samples",
        x_title="training samples",
        y_title="test error",
    )


def compare_on_digits(scale: Scale) -> Study:
    """The same comparison where d = 784. Pixels in [0, 1] want smaller rates (an MLP dies at 0.1), and the quick scale
    stops at a mean loss of 1e-2 and keeps to four rates.
    """
    paper = scale == "paper"
    rates = grid(1e-4, 1e-2, per_decade=3) if paper else Grid((3e-4, 1e-3, 3e-3, 1e-2))
    procedure = Procedure(max_steps=20_000 if paper else 2_000, target_loss=1e-3 if paper else 1e-2)
    study = compare(DigitDetection(n=4), scale, "pooling/fig3c")
    return replace(study, tune={"learning_rate": rates}, procedure=procedure)


def _draw_digits(result: Result) -> alt.TopLevelMixin:
    return result.curve().plot(
        title="Detection of a 3 or a 5 among digits: test error against training samples",
        x_title="training samples",
        y_title="test error",
    )


FIGURES = (
    Figure(
        id="pooling/fig3a",
        statement="Test error against train size on clean pattern detection, d = 20, n = 10: ConvPool, MLP and SVM",
        study=lambda scale: compare(PatternDetection(d=20, n=10), scale, "pooling/fig3a"),
        draw=_draw,
        claims=claims.FIG3A,
    ),
    Figure(
        id="pooling/fig3c",
        statement="Test error against train size on detection of the digits three and five among four digits of MNIST: "
        "ConvPool, MLP and SVM",
        study=compare_on_digits,
        draw=_draw_digits,
        claims=claims.FIG3C,
    ),
    Picture(
        id="pooling/fig5",
        statement="Examples of the detection problem with digits of MNIST",
        draw=lambda _: examples_of_digits(DigitDetection(n=4)),
    ),
)
