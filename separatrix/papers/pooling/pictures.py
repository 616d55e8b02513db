"""Pictures of the digit task's examples, as the paper's figure 5."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from separatrix.studies.pixels import data_address
from separatrix.tasks import DigitDetection

if TYPE_CHECKING:
    import altair as alt

_SIDE, _ZOOM, _GAP = 28, 4, 2
_SHOWN = 4
_PIXELS = 120


def examples_of_digits(task: DigitDetection, seed: int = 0) -> alt.TopLevelMixin:
    """The seed's first four positive training examples above its first four negative ones."""
    import altair as alt

    task.prepare()
    x, y = task.draw(seed, 64)
    rows = []
    for sign, digit in ((1, task.positive), (-1, task.negative)):
        for column, patterns in enumerate(x[y == sign][:_SHOWN]):
            row = f"y = {'+' if sign > 0 else '−'}1: a {digit} and no {task.positive + task.negative - digit}"
            rows.append({"label": row, "column": column, "picture": data_address(grid(patterns))})
    labels = list(dict.fromkeys(row["label"] for row in rows))
    across = alt.X("column:O", axis=None, scale=alt.Scale(paddingInner=0.1, paddingOuter=0))
    panels = [
        alt.Chart(alt.InlineData([row for row in rows if row["label"] == label]), title=label)
        .mark_image(width=_PIXELS, height=_PIXELS, baseline="middle")
        .encode(x=across, y=alt.value(_PIXELS / 2), url="picture:N")
        .properties(width=_SHOWN * _PIXELS * 1.1, height=_PIXELS)
        for label in labels
    ]
    title = alt.Title(
        "Detection of a digit among others: examples",
        subtitle=f"each input is {task.n} digits of MNIST; the label says which of two digits is among them",
    )
    return alt.vconcat(*panels, title=title, spacing=18)


def grid(patterns: np.ndarray) -> np.ndarray:
    """Patterns in reading order as one picture (bytes), as square as it gets, with gaps between them."""
    low, high = float(patterns.min()), float(patterns.max())
    across = math.ceil(math.sqrt(len(patterns)))
    down = math.ceil(len(patterns) / across)
    pitch = _SIDE * _ZOOM + _GAP
    picture = np.full((down * pitch - _GAP, across * pitch - _GAP), 255, np.uint8)
    for place, pattern in enumerate(patterns):
        scaled = (255 * (pattern.reshape(_SIDE, _SIDE) - low) / (high - low)).round().astype(np.uint8)
        top, left = (pitch * index for index in divmod(place, across))
        picture[top : top + pitch - _GAP, left : left + pitch - _GAP] = np.kron(
            scaled, np.ones((_ZOOM, _ZOOM), np.uint8)
        )
    return picture
