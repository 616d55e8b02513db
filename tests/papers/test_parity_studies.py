"""The parity studies: their plans, the verdicts on made-up results, the picture of the first step by autodiff."""

import math
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix import papers
from separatrix.learners import PairedFCN
from separatrix.learners.losses import LOSSES
from separatrix.papers.parity import claims, pictures
from separatrix.papers.parity.costs import FIXED_N, NETWORK, RANDOM_FEATURES, UNIFORM, Costs
from separatrix.studies.curve import Curve, Point
from separatrix.studies.figures import JointFigure
from separatrix.studies.intervals import mean_interval

STUDIES = [figure for figure in papers.figures("parity").values() if figure.plan("quick")]


@pytest.mark.parametrize("figure", STUDIES, ids=lambda figure: figure.id)
def test_the_studies_can_be_planned(figure):
    planned = [
        list(figure.studies(scale).values()) if isinstance(figure, JointFigure) else [figure.study(scale)]
        for scale in ("quick", "paper")
    ]
    labels = [{label for study in studies for label, _ in study.labelled} for studies in planned]
    assert {label.lstrip("0123456789 ") for label in labels[0]} == {label.lstrip("0123456789 ") for label in labels[1]}
    cells = [
        [cell for study in studies for condition in study.conditions() for cell in condition.all_cells()]
        for studies in planned
    ]
    assert len(cells[0]) < len(cells[1]) < 10_000
    assert len({cell.seed for cell in cells[0]}) >= 3


def test_the_first_step_is_that_of_autodiff():
    n, k, q, seed = 9, 3, 7, 4
    step = pictures.FirstStep.of(n, k, q, seed)
    with jax.enable_x64(True):
        points = sx.tasks.SparseParity(n=n, k=k, A=(1, 2, 3)).population(jnp.arange(3))
        with jax.enable_x64(False):
            drawn = PairedFCN(q, k).build(jax.random.key(seed), (n,), ())
        network = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), drawn)
        x = jnp.sign(points.x) / jnp.sqrt(jnp.asarray(n, jnp.float64))

        def loss(network):
            return jnp.sum(points.p * LOSSES["hinge"](network(x), points.y))

        slope = jax.grad(loss)(network)
    w, u = np.asarray(network.w[:q]), np.asarray(network.u[:q])
    order = np.argsort(np.abs(w[:, :k].sum(axis=1)), kind="stable")
    np.testing.assert_array_equal(step.before, w[order])
    np.testing.assert_allclose(step.after, (-np.sqrt(n) * np.asarray(slope.w[:q]) / u[:, None])[order], atol=1e-6)
    np.testing.assert_allclose(step.bias, (-np.asarray(slope.b[:q]) / u)[order], atol=1e-6)
    balanced = step.before[:, :k].sum(axis=1) == 0
    assert 0 < balanced.sum() < q
    assert (step.bias[balanced] == 0).all()
    assert (step.after[balanced][:, k:] == 0).all()


def made(errors, seeds=2):
    """A result whose errors are ``errors[k][label][x]``, the same for every seed but for a little."""
    spread = [1.0, 0.99, 1.01][:seeds]

    def curve(x="train_size", y=UNIFORM, where=None):
        chosen = errors[(where or {}).get("k", next(iter(errors)))]
        points = {
            label: tuple(
                Point(place, mean_interval([e * s for s in spread]), tuple(e * s for s in spread), tuple(range(seeds)))
                for place, e in by_size.items()
            )
            for label, by_size in chosen.items()
        }
        return Curve("train_size", y, points)

    study = SimpleNamespace(tasks=[sx.tasks.SparseParity(n=3 * k, k=k, scale="bits") for k in errors])
    return SimpleNamespace(curve=curve, study=study, conditions=[], records={})


def needing(need, sizes=(1, 4, 16, 64, 256, 1024, 4096)):
    """Errors that fall through the threshold between the last size below ``need`` and the first from there on."""
    return {size: 0.5 if size < need else 0.001 for size in sizes}


def verdict(id, result):
    (claim,) = [claim for figure in STUDIES for claim in figure.claims if claim.id == f"parity/{id}"]
    return claim.decide(result)


EXPONENTIAL, POWER = (lambda k: 4 ** (k - 1)), (lambda k: k**2)


@pytest.mark.parametrize(
    ("linear", "network", "outcomes"),
    [
        (EXPONENTIAL, POWER, ("supported", "supported", "supported")),
        (POWER, EXPONENTIAL, ("refuted", "refuted", "refuted")),
        (lambda k: 16, lambda k: 16, ("inconclusive", "inconclusive", "inconclusive")),
    ],
)
def test_growth_in_k(linear, network, outcomes):
    sizes = [2**i for i in range(13)]
    errors = {
        k: {NETWORK: needing(network(k), sizes), "NTK": needing(linear(k), sizes), "worse": needing(math.inf, sizes)}
        for k in (1, 3, 5, 7)
    }
    result = made(errors)
    names = ("samples-exponential", "network-samples-polynomial", "network-needs-fewer-samples")
    found = [verdict(name, result) for name in names]
    assert tuple(v.outcome for v in found) == outcomes
    assert Costs(result, "train_size").limits["NTK"][7] == 4096


def test_costs_of_several_studies_are_compared():
    """As in study-features, where networks and features have studies of their own, and another one for each k."""
    found = {
        f"{label} {k}": made({k: {label: needing(need(k))}})
        for label, need in ((NETWORK, POWER), (RANDOM_FEATURES, EXPONENTIAL), (FIXED_N, lambda k: 1))
        for k in (1, 3, 5, 7)
    }
    assert verdict("features-exponential", found).outcome == "supported"
    assert verdict("features-exponential-at-one-n", found).outcome == "inconclusive"
    assert verdict("neurons-fewer-than-features", found).outcome == "supported"  # not against those of another n
    assert pictures.size_and_cost(found, ("N", "q"), "", "").to_dict()["vconcat"]


def test_what_was_not_reached_is_told():
    errors = {k: {NETWORK: needing(k), "NTK": needing(64**k)} for k in (1, 3, 5, 7)}
    found = verdict("samples-exponential", made(errors))
    assert found.outcome == "inconclusive"  # reached at k = 1 alone
    assert "two places" in found.evidence["missing"]


@pytest.mark.parametrize(("end", "outcome"), [(0.001, "supported"), (0.3, "refuted")])
def test_verdicts_at_the_largest_sample(end, outcome):
    result = made({5: {NETWORK: {256: 0.4, 1024: end}, "NTK": {256: 0.45, 1024: 0.4}}}, seeds=3)
    result.study.tasks = result.study.tasks[:1]
    assert verdict("network-learns", result).outcome == outcome
    found = verdict("network-below-best-linear", result)
    assert (found.outcome, found.evidence["best_linear"]) == (outcome, "5/32")
    alone = verdict("uniform-alone-network-fails", result)
    assert alone.outcome == {"supported": "refuted", "refuted": "supported"}[outcome]
    assert verdict("linear-methods-fail", result).outcome == "supported"


@pytest.mark.parametrize(
    ("without", "half", "outcome"),
    [(0.4, 0.01, "supported"), (0.2, 0.4, "refuted"), (0.01, 0.01, "refuted"), (0.3, 0.3, "inconclusive")],
)
def test_the_verdict_on_the_second_component(without, half, outcome):
    result = made({5: {f"{NETWORK}, Adam": {0.0: without, 0.5: half}}}, seeds=3)
    found = verdict("second-component-helps-adam", result)
    assert found.outcome == outcome
    small = [weight for weight, error in ((0.0, without), (0.5, half)) if error == 0.01]
    assert found.evidence[f"{NETWORK}, Adam"]["small_at"] == small


def test_the_luckiest_choice_of_a_linear_method_is_what_counts():
    """Not the one that validation chose: any that was tried, by its error on the test sample."""
    task = sx.tasks.SparseParity(n=6, k=3, scale="bits")
    cell = sx.Cell(task, sx.learners.kernels.KernelRidge(), 40, 0)
    condition = sx.studies.tuning.Condition.of("NTK", cell, {"ridge": sx.Grid((0.1, 1.0, 10.0))}, (0, 1))
    rows = {}
    for choice, errors in zip(condition.choices, [(0.3, 0.3), (0.04, 0.06), (0.0, None)], strict=True):
        for one, error in zip(condition.cells(choice), errors, strict=True):
            rows[one.key] = {UNIFORM: error}
    result = SimpleNamespace(conditions=[condition], records=rows)
    assert claims.least_of_all_tried(result, "NTK", 40, UNIFORM) == pytest.approx(0.05)


def test_the_chart_of_costs_shows_what_was_not_reached():
    errors = {k: {NETWORK: needing(4), "NTK": needing(10 * 8**k)} for k in (1, 3, 5)}
    chart = pictures.cost_chart(Costs(made(errors), "train_size"), "samples")
    rows = [layer.data.values for layer in chart.layer]
    assert {(row["learner"], row["k"], row["cost"]) for row in rows[3]} == {("NTK", 5, 4096), ("NTK", 3, 4096)}
    assert [row["k"] for row in rows[2] if row["learner"] == "NTK"] == [1]
    assert chart.to_dict()["layer"]
