"""Pictures of the digit sequences, as below the curves of the paper's figures 3 and 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from separatrix.studies.pixels import data_address
from separatrix.tasks import DigitSequences
from separatrix.tasks.digit_sequences import HEIGHT, WIDTH

if TYPE_CHECKING:
    import altair as alt

_ZOOM, _EDGE = 4, 2
_LENGTHS = (3, 7, 11, 19)


def examples_of_sequences(places: Literal["middle", "far"], seed: int = 0) -> alt.TopLevelMixin:
    """The seed's first sequence of each label at several lengths; the digits that decide are underlined."""
    import altair as alt

    rows, sizes = [], {}
    for n in _LENGTHS:
        task = DigitSequences(n, 1 if places == "middle" else (n - 1) // 2, scaling="unit")
        task.prepare()
        x, y = task.draw(seed, 32, "test")
        for column, sign in enumerate((1, -1)):
            picture = strip(x[y == sign][0], task)
            sizes[n] = picture.shape
            label = f"n = {n}: {'even' if sign > 0 else 'odd'}, y = {'+' if sign > 0 else '−'}1"
            rows.append({"label": label, "n": n, "column": column, "picture": data_address(picture)})
    charts = []
    for n in _LENGTHS:
        height, width = sizes[n]
        pair = [
            alt.Chart(alt.InlineData([row]), title=alt.Title(str(row["label"]), fontSize=12, offset=4))
            .mark_image(width=width / 2, height=height / 2, align="left", baseline="top")
            .encode(x=alt.value(0), y=alt.value(0), url="picture:N")
            .properties(width=width / 2, height=height / 2)
            for row in rows
            if row["n"] == n
        ]
        charts.append(alt.hconcat(*pair, spacing=24))
    which = "middle three" if places == "middle" else "first, the middle and the last"
    title = alt.Title(
        "Sequences of MNIST digits, 24 x 8 pixels each",
        subtitle=f"the label is the parity of the sum of the {which} (underlined)",
    )
    return alt.vconcat(*charts, title=title, spacing=14)


def strip(x: np.ndarray, task: DigitSequences) -> np.ndarray:
    """A sequence as grey bytes, enlarged, dark ink on white, with a line under the digits that decide."""
    ink = (255 * (1 - x)).round().astype(np.uint8)
    picture = np.kron(ink, np.ones((_ZOOM, _ZOOM), np.uint8))
    foot = np.full((3 * _EDGE, picture.shape[1]), 255, np.uint8)
    middle, pitch = (task.n - 1) // 2, WIDTH * _ZOOM
    for place in (middle - task.apart, middle, middle + task.apart):
        foot[_EDGE:, place * pitch + _EDGE : (place + 1) * pitch - _EDGE] = 0
    assert picture.shape[0] == HEIGHT * _ZOOM
    return np.vstack([picture, foot])
