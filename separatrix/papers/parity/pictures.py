"""Charts of the parity studies, and the weights before and after the first gradient step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from separatrix.learners import PairedFCN
from separatrix.papers.parity.costs import REACHED, UNIFORM, Costs, curves_by_k
from separatrix.papers.parity.linear import best_linear_error
from separatrix.papers.parity.neurons import Neuron, mixed, starting_bias
from separatrix.theory.parameters import Floats

if TYPE_CHECKING:
    import altair as alt

    from separatrix.papers.parity.costs import Results
    from separatrix.studies.result import Result

_SHOWN_OFF_A = 33


def error_and_uniform(result: Result, title: str, k: int) -> alt.TopLevelMixin:
    """The error on D_A beside that on its uniform component, each with the least error of a linear classifier."""
    import altair as alt

    from separatrix.studies.charts import curve_chart

    charts = [
        curve_chart(
            result.curve(y=y),
            title=name,
            x_title="training samples",
            y_title="test error",
            reference=float(best_linear_error(k, Fraction(weight))),
            reference_label="best linear classifier of the bits",
            interval="bars",
            width=360,
            height=320,
        )
        for name, y, weight in (("on D_A", "test_error", 0.5), ("on its uniform component", UNIFORM, 0))
    ]
    return alt.hconcat(*charts, title=alt.Title(title, fontSize=18, offset=12), spacing=30)


def size_and_cost(results: Results, axis: str | Sequence[str], title: str, words: str) -> alt.TopLevelMixin:
    """The error on the uniform component against the size, a panel a k (but k = 1, which is linear), and the size that
    it takes against k.
    """
    import altair as alt

    from separatrix.studies.charts import curve_chart

    charts: list[Any] = [
        curve_chart(
            curve,
            title=f"k = {k}",
            x_title=words,
            y_title="error on the uniform component",
            reference=REACHED,
            reference_label=f"{REACHED:g}",
            width=330,
            height=220,
        )
        for k, curve in curves_by_k(results, axis).items()
        if k > 1
    ]
    charts.append(cost_chart(Costs(results, axis), words))
    rows = [alt.hconcat(*charts[first : first + 2], spacing=30) for first in range(0, len(charts), 2)]
    return alt.vconcat(*rows, title=alt.Title(title, fontSize=18, offset=12), spacing=24)


def cost_chart(costs: Costs, words: str) -> alt.LayerChart:
    """The costs of every seed against k with their medians; an arrow where half of the seeds or more needed more than
    the largest size; a dashed line is the exponential law of the places that were reached.
    """
    import altair as alt

    from separatrix.studies.theme import FONT, PALETTE

    labels = list(costs.by_label)
    colour = alt.Color("learner:N", scale=alt.Scale(domain=labels, range=list(PALETTE[: len(labels)])), legend=None)
    top = 2 * max(limit for by_k in costs.limits.values() for limit in by_k.values())
    seeds, medians, arrows, lines = [], [], [], []
    for label, by_k in costs.by_label.items():
        for k, values in by_k.items():
            seeds += [{"learner": label, "k": k, "cost": value} for value in values if math.isfinite(value)]
            centre = median(values)
            if math.isfinite(centre):
                medians.append({"learner": label, "k": k, "cost": centre})
            else:
                beside = k + 0.13 * (labels.index(label) - (len(labels) - 1) / 2)
                arrows.append({"learner": label, "k": k, "cost": costs.limits[label][k], "beside": beside})
        law = costs.law(label)
        if law is not None:
            drawn = [(k, law.at(k)) for k in np.linspace(min(by_k), max(by_k), 49)]
            lines += [{"learner": label, "k": k, "cost": cost} for k, cost in drawn if 1 <= cost <= top]
    ks = sorted({k for by_k in costs.by_label.values() for k in by_k})
    x_scale = alt.Scale(domain=[ks[0] - 0.4, ks[-1] + 0.4], nice=False)
    x = alt.X("k:Q", title="k", scale=x_scale, axis=alt.Axis(values=ks, grid=False))
    decades = [10**i for i in range(math.floor(math.log10(top)) + 1)]
    axis = alt.Axis(values=decades, format=",~f", domain=False, ticks=False)
    scale = alt.Scale(type="log", domain=[1, top], nice=False, clamp=True)
    y = alt.Y("cost:Q", title=words, scale=scale, axis=axis)
    base = alt.Chart(width=330, height=220).encode(x=x, y=y, color=colour)
    ends = [max((row for row in (*medians, *arrows) if row["learner"] == label), key=_k) for label in labels]
    layers = [
        base.properties(data=alt.InlineData(lines)).mark_line(strokeDash=[4, 3], strokeWidth=1.3, clip=True),
        base.properties(data=alt.InlineData(seeds)).mark_point(size=22, filled=False, strokeWidth=1.1),
        base.properties(data=alt.InlineData(medians)).mark_point(size=62, filled=True, opacity=1),
        base.properties(data=alt.InlineData(arrows))
        .mark_text(text="↑", fontSize=20, dy=-6, fontWeight="bold")
        .encode(x=alt.X("beside:Q", title="k", scale=x_scale)),
        base.properties(data=alt.InlineData(_apart(ends, top)))
        .mark_text(align="left", dx=22, font=FONT, fontSize=13, fontWeight=600)
        .encode(text="learner:N", y=alt.Y("at:Q", scale=scale)),
    ]
    subtitle = "dots: medians of the seeds; arrows: more than was tried; dashed: fitted a e^(b k)"
    title = alt.Title(f"what an error of {REACHED:g} takes", subtitle=subtitle)
    return alt.LayerChart(layer=layers, title=title)


def _k(row: dict[str, Any]) -> float:
    return float(row["k"])


def _apart(ends: list[dict[str, Any]], top: float) -> list[dict[str, Any]]:
    """The ends of the curves with the heights of their names, 16 of 220 pixels apart."""
    from separatrix.studies.rulers import spread

    heights = [220 * (1 - math.log(row["cost"]) / math.log(top)) for row in ends]
    return [
        row | {"at": top ** (1 - height / 220)} for row, height in zip(ends, spread(heights, 16.0, 220.0), strict=True)
    ]


@dataclass(frozen=True)
class FirstStep:
    """q neurons on D_A with A = {1..k}, in rows by the size of w's sum over A: ``before``, w^(0); ``after``,
    sqrt n w^(1) / u; ``bias``, (b^(1) - b^(0)) / u.
    """

    before: Floats
    after: Floats
    bias: Floats

    @classmethod
    def of(cls, n: int, k: int, q: int, seed: int = 0) -> FirstStep:
        """From the closed form (:mod:`.neurons`), exact up to the last rounding."""
        network = PairedFCN(q, k).build(jax.random.key(seed), (n,), ())
        before = np.asarray(network.w[:q], np.float64)
        before = before[np.argsort(np.abs(before[:, :k].sum(axis=1)), kind="stable")]
        after, bias = np.zeros_like(before), np.zeros(q)
        for row, w in enumerate(before):
            on, J = w[:k], int(np.abs(w[k:]).sum())
            neuron = Neuron(n, k, int((on > 0).sum()), int((on < 0).sum()), J, starting_bias(k))
            relevant = {value: float(mixed(neuron.relevant(value))) for value in neuron.entries}
            after[row, :k] = [relevant[int(value)] for value in on]
            after[row, k:] = float(mixed(neuron.irrelevant)) * w[k:]
            bias[row] = float(mixed(neuron.bias))
        return cls(before, after, bias)


def first_step_picture(n: int, k: int, q: int, seed: int = 0) -> alt.TopLevelMixin:
    """The weights before and after as heat maps, a row a neuron (the bits of A and the first of the others), and what
    became of the biases.
    """
    import altair as alt

    from separatrix.studies.theme import INK, PALETTE

    step = FirstStep.of(n, k, q, seed)
    balanced = int((step.before[:, :k].sum(axis=1) == 0).sum())
    shown = k + _SHOWN_OFF_A
    neurons = alt.Y("neuron:O", axis=alt.Axis(values=[1, balanced, q], title="neuron", domain=False, ticks=False))
    below = alt.Chart(alt.InlineData([{"bit": k, "neuron": balanced}])).mark_rule(color=INK, strokeWidth=1.2)
    across = below.encode(y=alt.Y("neuron:O", bandPosition=1))

    def heat(values: Floats, title: str, legend: str) -> alt.LayerChart:
        rows = [{"bit": j + 1, "neuron": i + 1, "value": float(values[i, j])} for i in range(q) for j in range(shown)]
        most = float(np.abs(values).max())
        colour = alt.Color(
            "value:Q",
            scale=alt.Scale(scheme="redblue", domain=[-most, most]),
            legend=alt.Legend(title=legend, orient="bottom", gradientLength=220, titleLimit=300, format="~g"),
        )
        bits = alt.X("bit:O", axis=alt.Axis(values=[1, k, shown], title=f"bit (1 to {k} are A)", labelAngle=0))
        cells = alt.Chart(alt.InlineData(rows)).mark_rect().encode(x=bits, y=neurons, color=colour)
        down = below.encode(x=alt.X("bit:O", bandPosition=1))
        return alt.LayerChart(layer=[cells, across, down], width=340, height=360, title=title)

    moved = [{"neuron": i + 1, "bias": float(value)} for i, value in enumerate(step.bias)]
    along = alt.X("bias:Q", title="change of the bias / u", axis=alt.Axis(tickCount=4, grid=True))
    dots = alt.Chart(alt.InlineData(moved)).mark_point(filled=True, size=38, color=PALETTE[0], opacity=1)
    biases = alt.layer(dots.encode(x=along, y=neurons), across).properties(width=150, height=360, title="and the bias")
    first = heat(step.before, "before the step", "w")
    second = heat(step.after, "after it", "√n w / u")
    title = alt.Title(
        f"The first gradient step on D_A: n = {n}, k = {k}",
        subtitle=[
            f"in the neurons 1 to {balanced} the entries of w on A add up to 0: outside A the weights become exactly 0 "
            "and the bias stays",
            f"in the others the weights outside A are at most {np.abs(step.after[:, k:]).max():.1g} here, but the bias "
            f"moves; of the {n - k} bits outside A the first {_SHOWN_OFF_A} are shown",
        ],
        fontSize=18,
        offset=12,
    )
    return alt.hconcat(first, second, biases, title=title, spacing=24).resolve_scale(color="independent")
