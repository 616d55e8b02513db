"""Charts of curves: means with their intervals.

What Altair does by default and is mended here: legends far from the lines (each curve is labelled where it ends),
log axes padded to whole decades (the axis ends where the data does, with ticks at the measured places), and learners
in alphabetical order (they keep the order of the study, the first in the strongest colour).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

from separatrix.errors import InputError
from separatrix.specs import content_hash
from separatrix.studies.curve import Curve
from separatrix.studies.rulers import Ruler, emptiest, spread
from separatrix.studies.theme import FAINT, FONT, PALETTE, SHAPES

WIDTH, HEIGHT = 520, 320
_BANDS_UP_TO = 3
_LABEL_GAP = 17.0
_BELOW = 30.0
_MANY_DIGITS = 1e7
_LETTER = 5.4
_PARTS = [part / 16 for part in range(17)]
_NAMES = {
    "train_size": "training examples",
    "parameters": "trained parameters",
    "test_error": "test error",
    "validation_error": "validation error",
    "train_error": "training error",
    "train_loss": "training loss",
}


def curve_chart(
    curve: Curve,
    *,
    title: str = "",
    subtitle: str | list[str] | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    log_x: bool = True,
    log_y: bool = False,
    reference: float | None = None,
    reference_label: str = "chance",
    interval: Literal["auto", "band", "bars"] = "auto",
    colours: Mapping[str, str] | None = None,
    every_seed: bool = False,
    y_covers: Sequence[float] = (),
    width: int = WIDTH,
    height: int = HEIGHT,
) -> alt.LayerChart:
    """The curves with a point at each measured place, the interval of each mean, and each learner's name at its end.

    The interval is a band for up to three learners and a bar for more (or as ``interval`` says); bars stand a
    little apart, and so do their points. On a logarithmic axis a mean of 0 is drawn at the bottom, and the subtitle
    says so. ``reference`` is a horizontal line, such as the error of a coin. With ``every_seed`` each seed's own
    value is a small open circle, and there are no intervals. The vertical axis also reaches ``y_covers``.
    """
    rows = [row for row in curve.series() if math.isfinite(row["x"]) and math.isfinite(row["mean"])]
    if log_x:
        rows = [row for row in rows if row["x"] > 0]
    if not rows:
        raise InputError(f"a chart needs at least one finite point of {curve.y} against {curve.x}, got none")
    learners = [name for name in curve.points if any(row["learner"] == name for row in rows)]
    banded = interval == "band" or (interval == "auto" and _bands_are_legible(learners, rows))
    step = 0.0 if banded else _step_apart([row["x"] for row in rows], len(learners), width, log_x)
    x_scale = Ruler.around([row["x"] for row in rows], width, log_x, margin=14 + step * (len(learners) - 1) / 2)
    seeds = _every_seed(curve) if every_seed else []
    y_scale = _vertical([*rows, *seeds], reference, y_covers, height, log_y)
    _place(rows, learners, x_scale, y_scale, step)

    data = alt.InlineData(sorted(rows, key=lambda row: (-learners.index(row["learner"]), row["x"])))
    colour = alt.Color("learner:N", scale=_ordered(learners, colours), legend=None)
    shape = alt.Shape("learner:N", scale=alt.Scale(domain=learners, range=_cycled(SHAPES, len(learners))), legend=None)
    # a name of its own: charts side by side would otherwise be told, with a warning, to share one
    own = f"hover_{content_hash([title, rows])[:8]}"
    hover = alt.selection_point(name=own, fields=["learner"], on="pointerover", clear="pointerout", empty=True)
    shown = alt.when(hover).then(alt.value(1)).otherwise(alt.value(0.15))
    thickness = alt.when(alt.datum.learner == learners[0]).then(alt.value(2.8)).otherwise(alt.value(2.0))
    x = alt.X(
        "x_drawn:Q",
        scale=x_scale.encoding(),
        axis=alt.Axis(values=x_scale.ticks, grid=False, title=x_title or _name(curve.x), format=_format(rows)),
    )
    y_format = "~e" if y_scale.ticks[-1] >= _MANY_DIGITS else "~g"
    y_axis = alt.Axis(values=y_scale.ticks, domain=False, ticks=False, title=y_title or _name(curve.y), format=y_format)
    y = alt.Y("y_drawn:Q", scale=y_scale.encoding(), axis=y_axis)
    base = alt.Chart(data).encode(x=x, color=colour)
    limits = {"y": alt.Y("low_drawn:Q", scale=y_scale.encoding(), axis=y_axis), "y2": "high_drawn:Q"}
    layers: list[Any] = []
    if reference is not None:
        layers += _reference(
            reference, reference_label, x_scale, y_scale, y_axis, _traced(rows, seeds, x_scale, y_scale)
        )
    if every_seed:
        layers.append(_seed_marks(seeds, rows, colour, shown, x_scale, y_scale, y_axis))
    elif banded:
        layers.append(base.mark_area(opacity=0.16, clip=True, line=False).encode(**limits))
    else:
        layers.append(base.mark_rule(strokeWidth=1.6, clip=True).encode(**limits, opacity=shown))
    layers.append(base.mark_line().encode(y=y, opacity=shown, strokeWidth=thickness))
    points = base.mark_point(size=58, filled=True, stroke="white", strokeWidth=0.8, opacity=1)
    layers.append(points.encode(y=y, shape=shape, opacity=shown, tooltip=_tooltip(curve)).add_params(hover))
    layers += _labels(rows, learners, colour, shape, shown, x_scale, y_scale, y_axis)
    text = subtitle if subtitle is not None else describe(curve, rows, log_y, every_seed)
    heading = alt.Title(title or f"{_name(curve.y)} against {_name(curve.x)}", subtitle=text)
    return alt.LayerChart(layer=layers, title=heading, width=width, height=height)


def panels(curves: Mapping[str, Curve], *, title: str, columns: int = 2, **options: Any) -> alt.TopLevelMixin:
    """Curve charts of one vertical axis side by side, in the order given, each under its own name."""
    covers = [height for curve in curves.values() for height in _heights(curve.series())]
    size: dict[str, Any] = {"width": 320, "height": 260, "y_covers": covers}
    charts = [curve_chart(curve, title=name, **(size | options)) for name, curve in curves.items()]
    # one concatenation: rows of rows give panels that differ in their data alone the same name, and mix them up
    return alt.concat(*charts, columns=columns, title=alt.Title(title, fontSize=18, offset=12))


def describe(curve: Curve, rows: Sequence[Mapping[str, Any]], log_y: bool = False, every_seed: bool = False) -> str:
    """What the points and intervals are, in words."""
    counts = sorted({int(row["n"]) for row in rows})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    words = (
        f"one seed, {curve.level:.0%} interval"
        if counts == [1]
        else f"mean over {seeds} seeds, {curve.level:.0%} interval"
    )
    if every_seed:
        words = f"mean over {seeds} seeds, each seed an open circle"
    if log_y and any(row["mean"] <= 0 for row in rows):
        words += "; a mean of 0 stands on the lower edge"
    return words


def _name(column: str) -> str:
    return _NAMES.get(column, column.rsplit(".", 1)[-1].replace("_", " "))


def _format(rows: Sequence[Mapping[str, Any]]) -> str:
    # without digits Vega rounds ticks to its own steps
    return "~s" if max(abs(row["x"]) for row in rows) >= 100_000 else ",.6~g"


def _cycled(values: Sequence[str], count: int) -> list[str]:
    return [values[i % len(values)] for i in range(count)]


def _ordered(learners: Sequence[str], colours: Mapping[str, str] | None) -> alt.Scale:
    taken = dict(zip(learners, _cycled(PALETTE, len(learners)), strict=True)) | dict(colours or {})
    return alt.Scale(domain=list(learners), range=[taken[name] for name in learners])


def _bands_are_legible(learners: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Few learners, each measured at two places or more."""
    counts = Counter(row["learner"] for row in rows)
    return len(learners) <= _BANDS_UP_TO and min(counts.values()) > 1


def _step_apart(places: Sequence[float], learners: int, width: float, log: bool) -> float:
    """Pixels between the bars of neighbouring learners at one place."""
    return min(5.0, 0.6 * Ruler.around(places, width, log).closest(places) / learners)


def _vertical(
    rows: Sequence[Mapping[str, Any]], reference: float | None, covers: Sequence[float], height: int, log: bool
) -> Ruler:
    return Ruler.above_zero([*_heights(rows), *covers, *([] if reference is None else [reference])], height, log)


def _heights(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    values = [row[name] for row in rows for name in ("mean", "low", "high")]
    return [value for value in values if math.isfinite(value)]


def _place(rows: list[dict[str, Any]], learners: Sequence[str], x: Ruler, y: Ruler, step: float) -> None:
    """Add to each row where it is drawn: apart from the others at its place, and inside the axes."""
    for row in rows:
        offset = (learners.index(row["learner"]) - (len(learners) - 1) / 2) * step
        row["x_drawn"] = x.moved(row["x"], offset)
        row["y_drawn"] = y.inside(row["mean"])
        known = row["n"] > 1 or math.isfinite(row["low"] + row["high"])
        row["low_drawn"] = y.inside(row["low"]) if known else row["y_drawn"]
        row["high_drawn"] = y.inside(row["high"]) if known else row["y_drawn"]
        for name in ("std", "low", "high"):
            row[name] = row[name] if math.isfinite(row[name]) else None


def _every_seed(curve: Curve) -> list[dict[str, Any]]:
    """A row for each seed at each place; it takes the part of mean, low and high."""
    return [
        {"learner": learner, "x": point.x, "seed": seed} | dict.fromkeys(("mean", "low", "high"), value)
        for learner, points in curve.points.items()
        for point in points
        for seed, value in zip(point.seeds, point.values, strict=True)
        if math.isfinite(value)
    ]


def _seed_marks(
    seeds: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    colour: alt.Color,
    shown: Any,
    x: Ruler,
    y: Ruler,
    axis: alt.Axis,
) -> alt.Chart:
    places = {(row["learner"], row["x"]): row["x_drawn"] for row in rows}
    values = [
        {"learner": row["learner"], "seed": row["seed"], "value": row["mean"], "y": y.inside(row["mean"])}
        | {"x": places[row["learner"], row["x"]]}
        for row in seeds
        if (row["learner"], row["x"]) in places
    ]
    marks = alt.Chart(alt.InlineData(values)).mark_point(size=22, filled=False, strokeWidth=1.1, clip=True)
    return marks.encode(
        x=alt.X("x:Q", scale=x.encoding()),
        y=alt.Y("y:Q", scale=y.encoding(), axis=axis),
        color=colour,
        opacity=shown,
        tooltip=[alt.Tooltip("learner:N"), alt.Tooltip("seed:Q"), alt.Tooltip("value:Q", format=".4~g")],
    )


def _tooltip(curve: Curve) -> list[alt.Tooltip]:
    numbers = {"mean": "mean", "low": "interval from", "high": "interval to", "std": "std over seeds"}
    return [
        alt.Tooltip("learner:N"),
        alt.Tooltip("x:Q", title=_name(curve.x), format="~g"),
        *(alt.Tooltip(f"{name}:Q", title=title, format=".4~g") for name, title in numbers.items()),
        alt.Tooltip("n:Q", title="seeds"),
    ]


def _traced(
    rows: Sequence[Mapping[str, Any]], seeds: Sequence[Mapping[str, Any]], x: Ruler, y: Ruler
) -> list[tuple[float, float]]:
    """Pixels that the curves, their intervals' ends and the seeds lie on, a few between neighbouring places."""
    found = [(x.pixel(row["x"]), y.pixel(y.inside(row["mean"]))) for row in seeds]
    for name in ("y_drawn", "low_drawn", "high_drawn"):
        for learner in {row["learner"] for row in rows}:
            own = sorted((x.pixel(row["x_drawn"]), y.pixel(row[name])) for row in rows if row["learner"] == learner)
            for (left, start), (right, end) in itertools.pairwise([own[0], *own]):
                found += [(left + part * (right - left), start + part * (end - start)) for part in _PARTS]
    return found


def _reference(
    value: float, label: str, x: Ruler, y: Ruler, axis: alt.Axis, traced: Sequence[tuple[float, float]]
) -> list[alt.Chart]:
    """A dashed line with its name above or below, where the fewest curves pass, best at the right."""
    at, length = y.pixel(y.inside(value)), _LETTER * len(label)
    room = x.length - length - 4
    spots = [(2 + share * room, at + below) for share in (1, 0, 0.5, 0.75, 0.25) for below in (-17, 3)]
    left, top = emptiest(spots, length, 14, traced)
    base = alt.Chart(alt.InlineData([{"y": y.inside(value), "top": y.value(top + 7), "label": label}]))
    height, name = (alt.Y(field, scale=y.encoding(), axis=axis) for field in ("y:Q", "top:Q"))
    line = base.mark_rule(strokeDash=[5, 4], color=FAINT, strokeWidth=1.2).encode(y=height)
    text = base.mark_text(align="left", baseline="middle", color=FAINT, fontSize=11.5, font=FONT)
    return [line, text.encode(y=name, x=alt.value(left), text="label:N")]


def _labels(
    rows: Sequence[Mapping[str, Any]],
    learners: Sequence[str],
    colour: alt.Color,
    shape: alt.Shape,
    shown: Any,
    x: Ruler,
    y: Ruler,
    axis: alt.Axis,
) -> list[alt.Chart]:
    """Each learner's mark and name beside the end of its curve, apart from one another, joined by a thin line."""
    ends = [max((row for row in rows if row["learner"] == name), key=lambda row: row["x"]) for name in learners]
    places = spread([y.pixel(end["y_drawn"]) for end in ends], _LABEL_GAP, y.length + _BELOW)
    values = [
        {"learner": end["learner"], "end_x": end["x_drawn"], "end_y": end["y_drawn"], "label_y": y.value(place)}
        for end, place in zip(ends, places, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values)).encode(color=colour, opacity=shown)
    at = alt.Y("label_y:Q", scale=y.encoding(), axis=axis)
    edge = x.length + (16 if len(learners) > 4 else 0)
    leader = base.mark_rule(strokeWidth=0.9, strokeDash=[2, 2], clip=False).encode(
        x=alt.X("end_x:Q", scale=x.encoding()),
        x2=alt.value(edge + 22),
        y=alt.Y("end_y:Q", scale=y.encoding(), axis=axis),
        y2="label_y:Q",
    )
    mark = base.mark_point(size=58, filled=True).encode(x=alt.value(edge + 28), y=at, shape=shape)
    text = base.mark_text(align="left", baseline="middle", fontSize=13, font=FONT, fontWeight=600)
    return [leader, mark, text.encode(x=alt.value(edge + 38), y=at, text="learner:N")]
