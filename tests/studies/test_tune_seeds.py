"""Hyperparameters chosen on fewer seeds than are reported."""

from dataclasses import replace

import pytest

import separatrix as sx
from separatrix.learners import ConvPool, LinearSVM, kernels
from separatrix.report.figures import _caption
from separatrix.studies.tuning import Condition

PLAN = sx.Study(
    task=sx.tasks.PatternDetection(d=6, n=3),
    learners=[ConvPool(12), LinearSVM()],
    train_size=[8, 16],
    seeds=4,
    tune={"learning_rate": [0.01, 0.1]},
    procedure=sx.Procedure(max_steps=40, test_size=50, validation_size=60),
    tune_seeds=2,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tuned")


@pytest.fixture(scope="module")
def result(folder):
    return PLAN.run(folder, workers=0)


def test_only_the_choice_is_run_at_every_seed(result):
    for condition in result.conditions:
        best = result.chosen(condition)
        for choice in condition.choices:
            ran = [cell.seed for cell in condition.cells(choice) if cell.key in result.records]
            assert ran == ([0, 1, 2, 3] if choice == best else [0, 1])
    assert result.counts["planned"] == result.counts["ran"] == 2 * (2 * 2 + 2) + 2 * 4
    assert all(point.seeds == (0, 1, 2, 3) for points in result.curve().points.values() for point in points)


def test_the_choice_is_that_of_the_first_seeds_alone(result, folder):
    first = replace(PLAN, seeds=2, tune_seeds=None).run(folder, workers=0)
    assert first.counts["ran"] == 0
    for condition, own in zip(result.conditions, first.conditions, strict=True):
        assert result.chosen(condition) == first.chosen(own)
    spoilt = {
        key: dict(record) | ({"validation_error": 0.0} if record["seed"] > 1 else {})
        for key, record in result.records.items()
    }
    assert [c.best(spoilt, "validation_error") for c in result.conditions] == list(
        map(result.chosen, result.conditions)
    )


def test_it_goes_on_where_it_was(result, folder):
    again = PLAN.run(folder, workers=0)
    assert (again.counts["ran"], again.counts["reused"]) == (0, result.counts["planned"])
    assert again.records == result.records
    more = replace(PLAN, seeds=5).run(folder, workers=0)
    assert more.counts["ran"] == len(PLAN.conditions())


def test_the_grid_still_extends_itself(tmp_path):
    rates = sx.grid(3e-4, 3e-3, per_decade=1, extensions=4)
    plan = replace(PLAN, learners=[ConvPool(12)], train_size=64, seeds=3, tune={"learning_rate": rates}, tune_seeds=1)
    found = plan.run(tmp_path, workers=0)
    tried = {dict(choice)["learning_rate"] for choice in found.conditions[0].choices}
    assert {3e-4, 3e-3, 3e-2} <= tried
    assert found.counts["planned"] == len(tried) + 2


def test_it_is_checked_and_told():
    with pytest.raises(
        sx.InputError, match="tune_seeds must be an integer of at least 1 and of at most 4, or nothing, got 5"
    ):
        replace(PLAN, tune_seeds=5)
    summary = {
        "cells": {"planned": 1, "diverged": 0, "failed": 0},
        "axes": {"x": "x", "y": "y"},
        "series": [{"n": 4}],
        "chosen": [{"learner": "a", "place": {"train_size": 8}, "values": {"learning_rate": 0.1}}],
        "scale": "quick",
        "select": "validation",
        "on_edge": [],
        "notes": "",
    }
    assert any("for each learner and place." in line for line in _caption(summary))
    assert any("on the first 2 seeds alone." in line for line in _caption(summary | {"tune_seeds": 2}))


@pytest.mark.parametrize(
    ("best", "edges"),
    [
        ({"degree": 1, "ridge": 0.1, "center": True}, []),  # there is no degree below 1, and nothing beyond true
        ({"degree": 2, "ridge": 1.0, "center": True}, ["ridge"]),
        ({"degree": 3, "ridge": 0.01, "center": False}, ["degree", "ridge"]),
    ],
)
def test_a_best_value_is_on_an_edge_where_there_might_be_more_beyond(best, edges):
    cell = sx.Cell(sx.tasks.KPattern(n=6, k=2), kernels.KernelRidge(kernels.Polynomial()), 20)
    grids = {"degree": (1, 2, 3), "ridge": (0.01, 0.1, 1.0), "center": (False, True)}
    condition = Condition.of("ours", cell, {name: sx.Grid(values) for name, values in grids.items()}, (0, 1))
    assert condition.on_edge(tuple(best.items())) == edges


def test_a_condition_is_named_by_what_tells_it_from_the_others(result):
    assert [result.named(condition) for condition in result.conditions] == [
        f"{label}, train size {size}" for label in ("ConvPool", "SVM") for size in (8, 16)
    ]
    alone = replace(
        PLAN, train_size=8, task=[sx.tasks.PatternDetection(d=6, n=n) for n in (3, 4)], learners=[ConvPool(12)]
    )
    made = replace(result, study=alone, conditions=alone.conditions())
    assert [made.place(condition) for condition in made.conditions] == [{"n": 3}, {"n": 4}]
