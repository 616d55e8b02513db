"""Figures 1, 4a, 4b: the studies, the frontier, and verdicts on made-up runs."""

import math
from types import SimpleNamespace

import pytest

from separatrix import papers
from separatrix.papers.residual import minimal_norm
from separatrix.papers.residual.minimal_norm import STATED, frontier, least_found, study


@pytest.mark.parametrize(("id", "scale"), [("fig1", "quick"), ("fig4a", "quick"), ("fig4b", "paper")])
def test_the_studies_can_be_planned(id, scale):
    planned = papers.figure(f"residual/{id}").study(scale)
    cells = [cell for condition in planned.conditions() for cell in condition.all_cells()]
    assert len(cells) == (112 if scale == "paper" else 16)
    assert {cell.train_size for cell in cells} <= {5000, 50_000}
    assert len({cell.fleet for cell in cells}) == (4 if scale == "paper" else 2)


def test_figures_1_and_4a_share_their_cells():
    keys = [
        {cell.key for condition in papers.figure(id).study("quick").conditions() for cell in condition.all_cells()}
        for id in ("residual/fig1", "residual/fig4a")
    ]
    assert keys[0] == keys[1]
    assert study("paper", 40, 5000, 50, 400, 3, "x").procedure.max_steps >= 400 * 100


def made(*points):
    return [{"norm": norm, "train_error": train, "test_error": test} for norm, train, test in points]


def test_the_frontier():
    points = made((9.0, 0.1, 0.9), (9.5, 0.2, 0.5), (2.0, 0.3, 1.1), (2.5, 0.3, 0.4))
    assert frontier(points, "train_error") == [(0.1, 9.0), (0.3, 2.0)]
    assert frontier(points, "test_error") == [(0.4, 2.5), (1.1, 2.0)]
    assert least_found(points, "train_error", 0.25) == 9.0
    assert least_found(points, "train_error", 0.05) is None


@pytest.mark.parametrize(
    ("points", "outcome"),
    [
        (made((300.0, 0.1, 1.0), (20.0, 0.9, 1.0)), "supported"),
        (made((61.0, 0.119, 0.3)), "refuted"),
        (made((10.0, 0.5, 0.5)), "inconclusive"),
    ],
)
def test_the_verdict_on_norms(monkeypatch, points, outcome):
    monkeypatch.setattr(minimal_norm, "runs", lambda result: points)
    claim = next(claim for claim in papers.figure("residual/fig4a").claims if claim.id.endswith("norm"))
    verdict = claim.decide(SimpleNamespace(status_counts=lambda: {"diverged": 1}))
    assert verdict.outcome == outcome
    assert verdict.evidence["training error at most 0.12"]["by hand"] == pytest.approx(STATED[0][0] * math.sqrt(40))


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ([(0.8, 0.9), (0.7, 0.8)], "supported"),
        ([(0.8, 0.9), (0.5, 0.6)], "refuted"),
        ([(0.8, 0.9), (0.7, 0.6)], "inconclusive"),
        ([], "inconclusive"),
    ],
)
def test_the_verdict_on_test_errors(monkeypatch, errors, outcome):
    found = [{"norm": 1.0, "train_error": 0.5, "validation_error": one, "test_error": other} for one, other in errors]
    monkeypatch.setattr(minimal_norm, "runs", lambda result: found)
    result = SimpleNamespace(curve=lambda x: SimpleNamespace(points={}), on_edge=list)
    claim = next(claim for claim in papers.figure("residual/fig4a").claims if claim.id.endswith("test-error"))
    assert claim.decide(result).outcome == outcome
