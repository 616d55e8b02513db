"""The experiments of section 8.1: what they plan, what they share, and their verdicts on made-up errors."""

import math
from types import SimpleNamespace

import pytest

from separatrix import papers
from separatrix.learners import LinearPart, Trained
from separatrix.papers.residual.sides import KERNELS, THRESHOLD
from separatrix.studies.curve import Curve, Point
from separatrix.studies.intervals import mean_interval


def planned(id, scale="paper"):
    return papers.figure(f"residual/{id}").study(scale).conditions()


def test_figure_2_trains_three_networks_and_solves_six_kernel_methods():
    conditions = planned("fig2a")
    assert len(conditions) == 9 * 5
    assert {c.label for c in conditions if isinstance(c.cell.learner, LinearPart)} == set(KERNELS)
    for condition in conditions:
        names = {"weight_decay"} | ({"learning_rate"} if isinstance(condition.cell.learner, Trained) else set())
        assert set(condition.grids) == names
        assert (condition.tune_seeds, len(condition.seeds), condition.cell.train_size) == (2, 10, 500)
    trained = [c.cell.learner for c in conditions if isinstance(c.cell.learner, Trained)]
    assert {learner.algorithm.epochs for learner in trained} == {800}


def test_figures_share_what_they_have_in_common():
    cells = {
        id: {c.key for x in planned(id) for c in x.all_cells()} for id in ("fig2a", "fig3a", "controls", "samples")
    }
    choices = 2 * 2 * 5
    assert len(cells["fig2a"] & cells["fig3a"]) == 3 * choices  # beta = 1 at three widths
    assert len(cells["fig2a"] & cells["controls"]) == 2 * choices  # the ResNet and the three-layer network
    assert len(cells["samples"] & cells["controls"]) == 8 * choices  # both, two sizes, two parts


def made(**errors):
    """A result whose learners have these errors, a seed each, by place."""
    points = {
        label.replace("_", " "): tuple(
            Point(x, mean_interval(values), tuple(values), tuple(range(len(values)))) for x, values in places.items()
        )
        for label, places in errors.items()
    }
    curve = Curve("width", "test_error", points)
    return SimpleNamespace(
        curve=lambda *axis, **where: curve, conditions=[], records={}, on_edge=list, study=SimpleNamespace(tasks=[])
    )


def nine(resnet, three=(2.0, 2.1, 2.2), kernel=(16.0, 16.1, 16.2)):
    kernels = {label: {50: kernel} for label in KERNELS}
    return made(
        **{"3resnet (all)": {50: resnet}, "3layer (all)": {50: three}, "2layer (all)": {50: (2.0, 2.1)}, **kernels}
    )


def decided(figure, claim, result):
    found = next(c for c in papers.figure(f"residual/{figure}").claims if c.id == f"residual/{claim}")
    return found.decide(result)


@pytest.mark.parametrize(
    ("resnet", "three", "outcome"),
    [
        ((0.1, 0.2, 0.3), (2.0, 2.1, 2.2), "supported"),
        ((0.1, 2.0, 0.1), (2.0, 2.1, 2.2), "inconclusive"),  # some seeds learn
        ((0.1, 0.2, 0.3), (0.2, 2.0, 2.1), "inconclusive"),  # another method learns at one seed
        ((0.1, 0.2, 0.3), (0.2, 0.3, 0.2), "refuted"),
        ((2.0, 2.1, 2.2), (2.0, 2.1, 2.2), "refuted"),
    ],
)
def test_the_only_method_that_learns(resnet, three, outcome):
    verdict = decided("fig2a", "fig2a-only-resnet", nine(resnet, three))
    assert verdict.outcome == outcome
    below = sum(value < THRESHOLD for value in resnet)
    told = verdict.evidence["methods"]["3resnet (all)"]["seeds_below"]
    assert told == ({"50": f"{below} of 3"} if below else {})


def test_how_far_kernels_fall_behind():
    far = nine((0.1, 0.2, 0.3))
    assert decided("fig2a", "fig2a-kernels-fall-behind", far).outcome == "supported"
    near = nine((2.0, 2.1, 2.2), kernel=(3.0, 3.1, 3.2))
    assert decided("fig2a", "fig2a-kernels-fall-behind", near).outcome == "inconclusive"
    assert decided("kernels", "kernels-do-not-learn", far).outcome == "refuted"  # as there is a network among them
    assert decided("kernels", "kernels-do-not-learn", made(a={50: (16.0, 16.1)})).outcome == "supported"


def by_beta(**errors):
    """A result of figure 3, with these errors by beta."""
    points = {float(beta[1:]): (Point(50.0, mean_interval(v), v, (0, 1, 2)),) for beta, v in errors.items()}
    tasks = [SimpleNamespace(beta=beta) for beta in points]
    return SimpleNamespace(
        study=SimpleNamespace(tasks=tasks),
        curve=lambda axis, where: Curve("width", "test_error", {"3resnet": points[where["beta"]]}),
    )


@pytest.mark.parametrize(
    ("half", "fifth", "outcome"),
    [
        ((0.1, 0.2, 0.3), (2.0, 2.1, 2.2), "supported"),
        ((0.1, 0.2, 2.3), (2.0, 2.1, 2.2), "inconclusive"),
        ((2.0, 2.1, 2.2), (2.0, 2.1, 2.2), "refuted"),
        ((0.1, 0.2, 0.3), (0.2, 0.3, 0.2), "refuted"),
    ],
)
def test_what_beta_decides(half, fifth, outcome):
    """Whatever happens at beta = alpha = 0.3."""
    for third in ((0.1, 0.2, 0.3), (2.0, 2.1, 2.2)):
        errors = {"b1": (0.1, 0.2, 0.1), "b0.5": half, "b0.3": third, "b0.2": fifth}
        verdict = decided("fig3a", "fig3a-base-signal-needed", by_beta(**errors))
        assert verdict.outcome == outcome
        assert verdict.evidence["at beta = alpha"]["best"][0] == pytest.approx(sum(third) / 3)


def test_a_diverged_training_learned_nothing():
    above = made(a={50: (16.0, 16.1, math.inf)}, b={50: (math.inf, math.inf)})
    assert decided("kernels", "kernels-do-not-learn", above).outcome == "supported"
    assert decided("kernels", "kernels-do-not-learn", made(a={50: (0.1, 0.11, math.inf)})).outcome == "inconclusive"
    assert decided("fig2a", "fig2a-only-resnet", nine((0.1, 0.11, math.inf))).outcome == "inconclusive"


def test_skip_or_bottleneck():
    errors = {
        "ResNet, U = VA (all)": {500: (0.4, 0.1, 1.4, 0.1)},
        "ResNet, free U (all)": {500: (2.2, 2.1, 2.15, 2.2)},
        "no skip, U = VA (all)": {500: (0.1, 0.05, 0.9, 0.02)},
        "no skip, free U (all)": {500: (2.0, 2.05, 2.0, 2.04)},
    }
    names = ("bottleneck-helps-resnet", "bottleneck-helps-plain", "skip-helps-bottleneck", "skip-helps-free")
    outcomes = [decided("controls", f"controls-{name}-all", made(**errors)).outcome for name in names]
    assert outcomes == ["supported", "supported", "inconclusive", "refuted"]
