"""Section 1, figure 1: CNN and FCN of depth 2, 4 and 6 on CIFAR-10, their accuracy against their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from separatrix.learners import MLP, Architecture, ImageCNN, RMSProp, Trained
from separatrix.studies.figures import Scale
from separatrix.studies.grid import Grid
from separatrix.studies.pixels import data_address
from separatrix.studies.study import Study
from separatrix.tasks import Photographs
from separatrix.tasks.datasets.cifar10 import CLASSES
from separatrix.training import Procedure

if TYPE_CHECKING:
    import altair as alt

    from separatrix.studies.result import Result

DEPTHS = (2, 4, 6)
BATCH = 128
EPOCHS = 125
BUDGETS = (40_000, 100_000, 300_000, 1_000_000, 3_000_000)
WIDTHS: Mapping[tuple[str, int], tuple[int, ...]] = {
    ("CNN", 2): (15, 38, 115, 386, 1159),
    ("CNN", 4): (42, 69, 123, 230, 403),
    ("CNN", 6): (30, 50, 88, 164, 286),
    ("FCN", 2): (12, 32, 97, 324, 973),
    ("FCN", 4): (12, 31, 91, 275, 676),
    ("FCN", 6): (12, 31, 87, 245, 562),
}
"""By kind and depth, the greatest widths with at most so many parameters."""
_COLOURS = {"CNN": ("#7b2d12", "#c2410c", "#f59e5b"), "FCN": ("#173b6c", "#2f6fb3", "#8bb8e0")}


def architecture(kind: str, depth: int, width: int) -> Architecture:
    """``depth`` layers of weights, equally wide but for the last."""
    return ImageCNN(width, depth) if kind == "CNN" else MLP((width,) * (depth - 1))


def label(kind: str, depth: int) -> str:
    return f"{kind}, depth {depth}"


def photographs(scale: Scale) -> Study:
    """CNN and FCN of equal numbers of parameters, RMSprop, 125 epochs.

    The paper says that much, and CIFAR-10. Ours: convolutions of 3 x 3 with up to three poolings and a linear readout
    (see :class:`ImageCNN`), equal width in all layers, the widest within each number of parameters; the cross-entropy,
    minibatches of 128, no augmentation; rates tuned on 5000 training images that are held out, on the first seed. The
    quick scale has 6 passes of 5000 images drawn anew, fewer parameters, the depths 2 and 4, and one rate, 1e-3.
    """
    paper = scale == "paper"
    used: slice = slice(1, None) if paper else slice(2)
    algorithm = RMSProp(learning_rate=1e-3, batch=BATCH)
    learners = {
        label(kind, depth): [
            Trained(architecture(kind, depth, width), algorithm, "cross_entropy") for width in widths[used]
        ]
        for (kind, depth), widths in WIDTHS.items()
        if paper or depth < 6
    }
    return Study(
        task=Photographs(),
        learners=learners,
        train_size=None if paper else 5000,
        seeds=3 if paper else 2,
        tune={"learning_rate": Grid((1e-4, 3e-4, 1e-3), extensions=1)} if paper else {},
        tune_seeds=1 if paper else None,
        procedure=Procedure(
            epochs=EPOCHS if paper else 6, test_size=10_000 if paper else 2000, validation_size=5000 if paper else 500
        ),
        name=f"convolution/fig1 ({scale})",
    )


def draw_photographs(result: Result) -> alt.TopLevelMixin:
    """Test error against the number of parameters, a colour a kind, its shade the depth."""
    colours = {
        label(kind, depth): shade
        for kind, shades in _COLOURS.items()
        for depth, shade in zip(DEPTHS, shades, strict=True)
    }
    epochs = result.study.procedure.epochs
    return result.curve("parameters").plot(
        title=f"CIFAR-10: test error against parameters, {epochs} epochs",
        x_title="trained parameters",
        y_title="test error",
        reference=0.9,
        colours=colours,
        interval="bars",
        height=380,
    )


def examples_of_photographs(seed: int = 0) -> alt.TopLevelMixin:
    """The seed's first test images of each class."""
    import altair as alt

    across, zoom, gap = 8, 2, 4
    task = Photographs(scaling="unit")
    task.prepare()
    x, y = task.draw(seed, 512, "test")
    side = 32 * zoom
    rows = []
    for place, name in enumerate(CLASSES):
        pictures = (255 * x[y.argmax(axis=1) == place][:across]).round().astype(np.uint8)
        row = np.full((side, across * (side + gap) - gap, 3), 255, np.uint8)
        for column, picture in enumerate(pictures):
            left = column * (side + gap)
            row[:, left : left + side] = picture.repeat(zoom, axis=0).repeat(zoom, axis=1)
        rows.append({"class": name, "picture": data_address(row)})
    width = across * (side + gap)
    named = alt.Axis(title=None, domain=False, ticks=False, grid=False, labelFontSize=13, labelPadding=8)
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_image(width=width, height=side, align="left", baseline="middle")
        .encode(x=alt.value(0), y=alt.Y("class:N", sort=list(CLASSES), axis=named), url="picture:N")
        .properties(
            width=width,
            height=len(CLASSES) * (side + gap),
            title=alt.Title("CIFAR-10: test images by class", subtitle="32 x 32 pixels each, enlarged twice"),
        )
    )
