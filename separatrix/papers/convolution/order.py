"""Section 5 as a figure: k-patterns with the bits in an unknown order, and a search for the order by training CNNs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from separatrix.learners import Trained
from separatrix.learners.algorithms import GradientDescent
from separatrix.papers.convolution.separation import NETS, TARGET, width
from separatrix.papers.convolution.start_gradient import architecture
from separatrix.studies.curve import Curve, Point
from separatrix.studies.figures import JointFigure, Scale
from separatrix.studies.growth import GrowthLaw, growth_law
from separatrix.studies.intervals import mean_interval
from separatrix.studies.study import Study
from separatrix.studies.tuning import STEPS
from separatrix.studies.verdicts import LOWER, Claim, Verdict, alike, lower
from separatrix.tasks import KPattern, stream
from separatrix.training import Procedure
from separatrix.training.engine import numerics

if TYPE_CHECKING:
    import altair as alt

    from separatrix.studies.result import Result

Results = Mapping[str, "Result"]
NAME = "convolution/section-5-order"
KNOWN, UNKNOWN = "in order", "unknown order"
K, SEARCHED = 3, (2, 3)
RATE, STEPS_A_TRY = 3.0, 60
MARGIN = 0.05


def studies(scale: Scale) -> dict[str, Study]:
    """Both orders, and many CNNs each on an order of its seed, the tries of a search; at a rate that suits both nets.

    To look for the order is to train the network on the bits in one order after another. A try at an order of its own
    for the target is, relabelled, the target in an order of its own for the network, which is what a seed draws.
    """
    paper = scale == "paper"
    ns = (6, 8, 10, 12) if paper else (6, 8)
    orders = {name: _orders(scale, ns, name == UNKNOWN) for name in (KNOWN, UNKNOWN)}
    return orders | {search(k): _search(scale, k, (5, *ns) if paper else ns) for k in SEARCHED}


def search(k: int) -> str:
    return f"search, k = {k}"


def _orders(scale: Scale, ns: tuple[int, ...], shuffled: bool) -> Study:
    nets = {net: architecture(net, width(K), K) for net in NETS}
    return Study(
        task=[KPattern(n, K, shuffled=shuffled) for n in ns],
        learners={name: Trained(net, GradientDescent(RATE), "hinge") for name, net in nets.items()},
        train_size=None,
        seeds=10 if scale == "paper" else 5,
        procedure=_procedure(100),
        name=f"{NAME} ({scale})",
    )


def _search(scale: Scale, k: int, ns: tuple[int, ...]) -> Study:
    return Study(
        task=[KPattern(n, k, shuffled=True) for n in ns],
        learners={"CNN": Trained(architecture("CNN", width(k), k), GradientDescent(RATE), "hinge")},
        train_size=None,
        seeds=400 if scale == "paper" else 60,
        procedure=_procedure(STEPS_A_TRY),
        name=f"{NAME} ({scale})",
    )


def _procedure(steps: int) -> Procedure:
    return Procedure(max_steps=steps, target_loss=TARGET, check_every=1, evaluation="population", precision="float64")


def orders_served(n: int, k: int) -> float:
    """The chance that a random order has the k bits in one window: (n - k + 1) / C(n, k).

    >>> orders_served(8, 3) == 6 / 56
    True
    """
    return (n - k + 1) / math.comb(n, k)


def search_costs(result: Result) -> dict[int, list[int]]:
    """By n, how many orders each search tried: from one success to the next, along the seeds."""
    found = {}
    for point in result.curve("n", STEPS).of("CNN"):
        successes = [-1, *(try_ for try_, steps in enumerate(point.values) if math.isfinite(steps))]
        found[int(point.x)] = [after - before for before, after in itertools.pairwise(successes)]
    return found


def law(result: Result) -> GrowthLaw:
    """The mean number of tries ~ n^b."""
    costs = {n: tries for n, tries in search_costs(result).items() if tries}
    return growth_law(list(costs), list(costs.values()), centre="mean")


def both_orders(results: Results) -> Curve:
    """The errors in either order, as four learners; paired by seed."""
    points = {f"{net}, {order}": tuple(results[order].curve("n").of(net)) for net in NETS for order in (KNOWN, UNKNOWN)}
    return Curve("n", "test_error", points)


def _loses(results: Results) -> Verdict:
    return lower(both_orders(results), f"CNN, {KNOWN}", f"CNN, {UNKNOWN}")


def _does_not_care(results: Results) -> Verdict:
    return alike(both_orders(results), f"FCN, {KNOWN}", f"FCN, {UNKNOWN}", MARGIN)


def _search_is_no_help(results: Results) -> Verdict:
    laws = {k: law(results[search(k)]) for k in SEARCHED}
    first, last = (laws[k].rate for k in (SEARCHED[0], SEARCHED[-1]))
    tried = {
        search(k): {n: mean_interval(v).mean for n, v in search_costs(results[search(k)]).items() if v} for k in laws
    }
    evidence = {
        "exponents": {f"k = {k}": found.rate for k, found in laws.items()},
        "mean tries": tried,
        "expected tries": {search(k): {n: 1 / orders_served(n, k) for n in tried[search(k)]} for k in laws},
        "successes, tries": {search(k): _counts(results[search(k)]) for k in laws},
    }
    if last.low > first.high:
        return Verdict("supported", evidence)
    return Verdict("refuted" if last.high < first.low else "inconclusive", evidence)


def _counts(result: Result) -> dict[int, tuple[int, int]]:
    points = result.curve("n", STEPS).of("CNN")
    return {int(p.x): (sum(math.isfinite(steps) for steps in p.values), len(p.values)) for p in points}


def _only_windows_are_learnt(results: Results) -> Verdict:
    """Success is what the instance says: the tries that succeed are those whose bits fit into a window."""
    wrong, tries = 0, 0
    for k in SEARCHED:
        result = results[search(k)]
        for condition, point in zip(result.conditions, result.curve("n", STEPS).of("CNN"), strict=True):
            for seed, steps in zip(point.seeds, point.values, strict=True):
                tries += 1
                wrong += math.isfinite(steps) and not _fits(condition.cell.task, seed)
    evidence = {"tries": tries, "successes without a window": wrong}
    return Verdict("refuted" if wrong else "supported", evidence)


def _fits(task: Any, seed: int) -> bool:
    with numerics("float64"):
        bits = sorted(int(bit) for bit in task.instance(stream(seed, "instance"), ()).bits)
    return bits[-1] - bits[0] == task.k - 1


CLAIMS = (
    Claim(
        f"{NAME}-cnn-loses",
        "With the bits in an unknown order a CNN no longer learns k-patterns (k = 3)",
        f"CNN in order against CNN in an unknown order: {LOWER}",
        _loses,
    ),
    Claim(
        f"{NAME}-fcn-does-not-care",
        "A fully connected net assumes nothing of the order: its error is the same in both (k = 3)",
        f"paired differences over seeds, 95% intervals together over all n: supported if all lie within {MARGIN}",
        _does_not_care,
    ),
    Claim(
        f"{NAME}-search-grows",
        "No architecture search helps where the order is unknown: its cost is n^Omega(k)",
        "orders tried until a CNN learns ~ n^b: supported if the 95% interval of b at k = 3 lies above that at k = 2",
        _search_is_no_help,
    ),
    Claim(
        f"{NAME}-only-windows",
        "Under an order that puts the k bits into no window the CNN does not learn, whatever the training",
        "no try of the searches reaches the target unless the drawn order has the bits in one window; counted",
        _only_windows_are_learnt,
    ),
)


def draw(results: Results) -> alt.TopLevelMixin:
    """The errors in either order, and the cost of the searches beside what chance needs."""
    import altair as alt

    from separatrix.studies.charts import curve_chart

    left = curve_chart(
        both_orders(results),
        title=f"After training, k = {K}",
        x_title="bits n",
        y_title="error on all 2^n points",
        log_x=False,
        reference=0.5,
        interval="bars",
        width=300,
        height=280,
    )
    points, laws = {}, []
    for k in SEARCHED:
        found, tries = law(results[search(k)]).rate, search_costs(results[search(k)])
        name = f"k = {k}"
        points[name] = tuple(
            Point(n, mean_interval(v), tuple(map(float, v)), ()) for n, v in tries.items() if len(v) > 1
        )
        exact = {n: 1 / orders_served(n, k) for n in tries}
        points[f"{name}, by counting"] = tuple(Point(n, mean_interval([v]), (v,), ()) for n, v in exact.items())
        laws.append(
            f"{name}: n^{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}], at most {STEPS_A_TRY} steps a try"
        )
    right = curve_chart(
        Curve("n", "tries", points),
        title="A search: orders tried until one serves",
        subtitle=laws,
        x_title="bits n",
        y_title="CNNs trained",
        log_y=True,
        interval="bars",
        width=300,
        height=280,
    )
    title = alt.Title("k-patterns with the bits in an unknown order", fontSize=18, offset=12)
    sides = alt.hconcat(left, right, title=title, spacing=30)
    return sides.resolve_scale(color="independent", shape="independent")


FIGURE = JointFigure(
    id=NAME,
    statement="k-patterns with the bits in order and in an unknown order: the error of CNN and FCN against n, and the "
    "number of orders that a search tries until a CNN learns",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    x="n",
    notes="Population gradient descent in float64, clipped ReLU, equal numbers of parameters, hinge loss to 0.1. A "
    "parity gives a search no hint: at a wrong order the best CNN is h = 0, so that no way to search beats trying "
    "orders at random.",
)
