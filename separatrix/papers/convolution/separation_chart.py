"""The figure of the separation: the gradient and the plateau at n = 2^k, and the steps of full trainings at each k."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from separatrix.papers.convolution.separation import (
    LEFT,
    LONGEST,
    NETS,
    TARGET,
    Results,
    expected_plateaus,
    gradients,
    law,
    measured,
    measured_plateaus,
    plateaus,
    trained,
)
from separatrix.studies.curve import Curve, Point
from separatrix.studies.growth import GrowthLaw
from separatrix.studies.intervals import Summary
from separatrix.studies.tuning import STEPS

if TYPE_CHECKING:
    import altair as alt

    from separatrix.studies.result import Result


def draw(results: Results) -> alt.TopLevelMixin:
    """Steps against n for each k, and the gradient at the start at n = 2^k, as far as one likes."""
    import altair as alt

    from separatrix.studies.charts import curve_chart

    size: dict[str, Any] = {"width": 300, "height": 240, "log_y": True}
    charts = [
        curve_chart(
            _positive(result.curve("n", STEPS)),
            title=name,
            subtitle=_laws(result),
            x_title="bits n",
            y_title=f"steps to a loss of {TARGET}",
            interval="bars",
            **size,
        )
        for name, result in trained(results).items()
    ]
    charts = [_gradient_chart(results, size), _plateau_chart(results, size), *charts]
    columns = 3 if len(charts) > 4 else 2
    rows = [
        alt.hconcat(*charts[first : first + columns], spacing=40).resolve_scale(
            color="independent", shape="independent"
        )
        for first in range(0, len(charts), columns)
    ]
    title = alt.Title(
        "k-patterns: population gradient descent on FCN and CNN of equal numbers of parameters",
        subtitle="float64, learning rates tuned for the fewest steps; means and 95% intervals over seeds",
        fontSize=18,
        offset=12,
    )
    return alt.vconcat(*rows, title=title, spacing=30).resolve_scale(color="independent", shape="independent")


def _positive(curve: Curve) -> Curve:
    """The curve with no interval below one step."""
    points = {
        name: tuple(replace(p, summary=replace(p.summary, low=max(p.summary.low, 1.0))) for p in found)
        for name, found in curve.points.items()
    }
    return replace(curve, points=points)


def _laws(result: Result) -> list[str]:
    """The growth laws in words, a line a learner, with what was not reached."""
    lines = []
    for learner in dict.fromkeys(label for label, _ in result.study.labelled):
        rate = _power(law(result, learner))
        missed = sum(math.isinf(value) for point in result.curve("n", STEPS).of(learner) for value in point.values)
        budget = result.study.procedure.max_steps
        lines.append(f"{learner}: {rate}" + (f", {missed} runs not done in {budget} steps" if missed else ""))
    return lines


def _gradient_chart(results: Results, size: Mapping[str, Any]) -> alt.LayerChart:
    """Lines are exact; open circles are the networks of every seed that were trained."""
    from separatrix.papers.convolution.fully_connected import theorem_12
    from separatrix.studies.charts import curve_chart

    curves = {}
    for net in NETS:
        starts = measured(results, net)
        curves[f"{net}, exact"] = tuple(
            _exact(n, value, starts[n].values if n in starts else ()) for n, value in gradients(net).items()
        )
    bounds = {2**k: float(theorem_12(n=2**k, k=k).bound["gradient_w_sq"]) for k in range(2, LONGEST + 1)}
    curves["FCN, bound"] = tuple(_exact(n, value, ()) for n, value in bounds.items())
    return curve_chart(
        Curve("n", "gradient_sq", curves),
        title="At the start: Theorem 12 at k = log2 n",
        subtitle=[
            "E ||dL/dw_i||² at |u_i| = 1; circles: the networks trained.",
            "Dashed: coordinates of float32's roundoff 2^-24, n = 256",
        ],
        x_title="bits n",
        y_title="squared norm of the gradient",
        reference=256 * 2.0**-48,
        reference_label="float32",
        every_seed=True,
        **size,
    )


def _plateau_chart(results: Results, size: Mapping[str, Any]) -> alt.LayerChart:
    """Lines are predictions; open circles are the trainings of every seed."""
    from separatrix.studies.charts import curve_chart

    curves = {}
    for net in NETS:
        times = measured_plateaus(results, net)
        curves[f"{net}, predicted"] = tuple(
            _exact(n, value, times.get(n, ())) for n, value in expected_plateaus(net).items()
        )
    laws = [
        f"k = {k}: FCN {_power(law(result, 'FCN'))}, CNN {_power(law(result, 'CNN'))}"
        for k, result in plateaus(results).items()
    ]
    return curve_chart(
        Curve("n", "plateau", curves),
        title=f"The plateau: time until the loss is {LEFT}, k = log2 n",
        subtitle=["0.1 / E ||grad L||² (q = 8n) and, circles, the trainings;", *laws],
        x_title="bits n",
        y_title="steps times rate",
        every_seed=True,
        **size,
    )


def _exact(n: int, value: float, values: tuple[float, ...]) -> Point:
    return Point(n, Summary(value, math.nan, 1, value, value), values, tuple(range(len(values))))


def _power(found: GrowthLaw | None) -> str:
    return "no law" if found is None else f"n^{found.rate.mean:.2f} [{found.rate.low:.2f}, {found.rate.high:.2f}]"
