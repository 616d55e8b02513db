"""The paper's main message as a figure: population gradient descent of FCN and CNN on log2(n)-patterns.

Equal widths q mean equal numbers of parameters, q (n + 2). Both are trained on all 2^n points with the hinge loss, at
rates tuned for the fewest steps, until the loss is at most 0.1, and so the error. (The error alone would be a matter of
signs, which a CNN that starts with u = 0 has right after one step of any length.) How long the loss stays near 1, the
plateau, is measured at small fixed rates, as a time: steps times rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from separatrix.errors import InputError
from separatrix.learners import Trained
from separatrix.learners.algorithms import GradientDescent
from separatrix.papers.convolution.start_gradient import (
    Net,
    Start,
    architecture,
    exact_gradient_sq,
    expected_slope,
    measured_gradient,
)
from separatrix.studies.curve import Curve, Point
from separatrix.studies.figures import Scale
from separatrix.studies.grid import Grid
from separatrix.studies.growth import GrowthLaw, growth_law
from separatrix.studies.study import Study
from separatrix.studies.tuning import STEPS
from separatrix.tasks import KPattern
from separatrix.training import Procedure

if TYPE_CHECKING:
    from separatrix.studies.result import Result

Results = Mapping[str, "Result"]
NAME = "convolution/theorem-12-training"
NETS: tuple[Net, ...] = ("CNN", "FCN")
TARGET = 0.1
LEFT = 0.9
"""The loss at which the plateau, a loss of 1, has been left."""
RATES = {2: 0.02, 3: 0.1, 4: 0.3, 5: 0.3}
"""Of the plateaus, by k: small beside their length."""
USUAL, PAPERS = ("", ", Gaussian u"), ", paper's start"
STARTS = {"": "bounded", ", Gaussian u": "gaussian", PAPERS: "paper"}
"""What follows the network's name: u_i = +-1 over their number, so that |h| <= 1 (Theorem 12); u_i Gaussian, as is
usual; and Theorem 4's start, for the FCN its analogue."""
LONGEST = 10
"""k of the exact gradients, at n = 2^k."""


def width(k: int) -> int:
    """Enough filters for the paper's start to meet all 2^k patterns."""
    return 8 * 2**k


def panel(k: int, precision: str = "float64") -> str:
    return f"k = {k}" + ("" if precision == "float64" else f", {precision}")


def studies(scale: Scale) -> dict[str, Study]:
    """A study for each k, its plateaus, one in float32; at paper scale the paper's start too, with larger rates."""
    places: dict[int, tuple[int, ...]] = {2: (4, 8), 3: (6, 8)}
    if scale == "paper":
        places = {k: tuple(n for n in (4, 6, 8, 10, 12) if n > k + 1) + (16,) * (k == 4) for k in (2, 3, 4, 5)}
    middle = 3 if scale == "quick" else 4
    made = {panel(k): _study(scale, k, ns, USUAL) for k, ns in places.items()}
    made |= {plateau(k): _plateau(scale, k, ns) for k, ns in places.items()}
    made[panel(middle, "float32")] = _study(scale, middle, places[middle], ("",), "float32")
    if scale == "paper":
        made |= {f"{panel(k)}{PAPERS}": _study(scale, k, places[k][:3], (PAPERS,)) for k in (2, 3, 4)}
    return made


def _study(scale: Scale, k: int, ns: tuple[int, ...], starts: tuple[str, ...], precision: str = "float64") -> Study:
    own = PAPERS in starts
    return Study(
        task=[KPattern(n, k) for n in ns],
        learners={
            net + start: Trained(architecture(net, width(k), k, STARTS[start]), GradientDescent(), "hinge")
            for start in starts
            for net in NETS
        },
        train_size=None,
        seeds=5 if scale == "paper" else 3,
        tune={"learning_rate": Grid((3.0, 10.0, 30.0), 2) if own else Grid((1.0, 3.0, 10.0), 1)},
        procedure=Procedure(
            max_steps=1000 if own else 150,
            target_loss=TARGET,
            check_every=1,
            evaluation="population",
            precision=precision,
        ),
        select="steps",
        name=f"{NAME} ({scale})",
    )


def _plateau(scale: Scale, k: int, ns: tuple[int, ...]) -> Study:
    """Until the loss is 0.9 from |h| <= 1, at a rate for which a step is short."""
    return Study(
        task=[KPattern(n, k) for n in ns],
        learners={net: Trained(architecture(net, width(k), k), GradientDescent(RATES[k]), "hinge") for net in NETS},
        train_size=None,
        seeds=5 if scale == "paper" else 3,
        procedure=Procedure(
            max_steps=3000, target_loss=LEFT, check_every=1, evaluation="population", precision="float64"
        ),
        select="steps",
        name=f"{NAME} ({scale})",
    )


def plateau(k: int) -> str:
    return f"plateau, {panel(k)}"


def trained(results: Results) -> dict[str, Result]:
    """The studies that go to the target, in float64."""
    return {
        name: result
        for name, result in results.items()
        if result.study.procedure.precision == "float64" and result.study.procedure.target_loss == TARGET
    }


def plateaus(results: Results) -> dict[int, Result]:
    """The studies that leave the plateau, by k."""
    return {_k(result): result for result in results.values() if result.study.procedure.target_loss == LEFT}


def law(result: Result, learner: str) -> GrowthLaw | None:
    """Steps ~ n^b at a fixed k, through the medians; None where there are fewer than two."""
    points = result.curve("n", STEPS).of(learner)
    try:
        return growth_law([point.x for point in points], [point.values for point in points])
    except InputError:
        return None


def along_log_n(results: Iterable[Result]) -> Curve:
    """Steps at n = 2^k."""
    points: dict[str, list[Point]] = {}
    for result in results:
        for learner, found in result.curve("n", STEPS).points.items():
            points.setdefault(learner, []).extend(point for point in found if point.x == 2 ** _k(result))
    return Curve("n", STEPS, {learner: tuple(found) for learner, found in points.items() if found})


def _k(result: Result) -> int:
    (k,) = {task.k for task in result.study.tasks if isinstance(task, KPattern)}
    return k


def gradients(net: Net, last: int = LONGEST) -> dict[int, float]:
    """Theorem 12's exact expectation at n = 2^k, by n."""
    return {2**k: exact_gradient_sq(net, 2**k, k) for k in range(2, last + 1)}


def expected_plateaus(net: Net, last: int = LONGEST) -> dict[int, float]:
    """(1 - 0.9) / E ||grad L(0)||^2 at n = 2^k and the widths used here, by n: if the gradient stayed as it is."""
    return {2**k: (1 - LEFT) / expected_slope(net, 2**k, k, width(k)) for k in range(2, last + 1)}


def measured_plateaus(results: Results, net: Net) -> dict[int, tuple[float, ...]]:
    """The times of the seeds at n = 2^k, by n."""
    found = plateaus(results).values()
    return {
        int(point.x): tuple(RATES[int(point.x).bit_length() - 1] * steps for steps in point.values)
        for point in along_log_n(found).of(net)
    }


def measured(results: Results, net: Net) -> dict[int, Start]:
    """The gradients of the networks that were trained at n = 2^k."""
    found = {}
    for k, result in plateaus(results).items():
        seeds = len(result.conditions[0].seeds)
        if any(isinstance(task, KPattern) and task.n == 2**k for task in result.study.tasks):
            found[2**k] = measured_gradient(net, 2**k, k, width(k), seeds)
    return dict(sorted(found.items()))
