"""Studies: planning, running, resuming, tuning; what a user's mistakes answer."""

import math
import subprocess
import sys

import equinox as eqx
import jax
import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import separatrix as sx
from separatrix.learners import MLP, Adam, ConvPool, LinearSVM, Trained
from separatrix.studies.executors import InProcess
from separatrix.studies.store import Store

TASK = sx.tasks.PatternDetection(d=6, n=3)
PROCEDURE = sx.Procedure(max_steps=100, target_loss=0.05, test_size=100, validation_size=60)


def study(**changes):
    plan = {
        "task": TASK,
        "learners": [ConvPool(12), LinearSVM()],
        "train_size": [8, 16],
        "seeds": 2,
        "procedure": PROCEDURE,
    }
    return sx.Study(**plan | changes)


def test_a_study_runs_and_is_not_run_again(tmp_path):
    first = study().run(tmp_path, workers=0)
    assert first.counts["planned"] == first.counts["ran"] == 8
    assert first.counts["reused"] == 0
    again = study().run(tmp_path, workers=0)
    assert again.counts["ran"] == 0
    assert again.counts["reused"] == 8
    assert again.records == first.records


def test_a_larger_study_runs_what_is_new(tmp_path):
    study().run(tmp_path, workers=0)
    larger = study(train_size=[8, 16, 32], seeds=3).run(tmp_path, workers=0)
    assert larger.counts["reused"] == 8
    assert larger.counts["ran"] == 10


def test_curves_come_from_the_chosen_hyperparameters(tmp_path):
    result = study(learners=[ConvPool(12)], tune={"learning_rate": sx.grid(1e-2, 1e-1, per_decade=1)}).run(
        tmp_path, workers=0
    )
    frame = result.frame()
    assert set(frame["chosen"]) == {True, False}
    for point in result.curve().of("ConvPool"):
        rows = frame.filter(pl.col("chosen") & (pl.col("train_size") == point.x))
        assert sorted(rows["test_error"]) == sorted(point.values)
        assert point.summary.low <= point.summary.mean <= point.summary.high
        means = (
            frame.filter(pl.col("train_size") == point.x)
            .group_by("learner.algorithm.learning_rate")
            .agg(pl.col("validation_error").mean())
        )
        assert rows["validation_error"].mean() == pytest.approx(means["validation_error"].min())


def test_the_grid_extends_itself_from_its_edge(tmp_path):
    """Rates too small for the budget are the whole grid: it has to grow upwards."""
    result = study(
        learners=[ConvPool(12)], train_size=64, tune={"learning_rate": sx.grid(3e-4, 3e-3, per_decade=1, extensions=4)}
    ).run(tmp_path, workers=0)
    tried = set(result.frame()["learner.algorithm.learning_rate"])
    assert {3e-4, 3e-3, 3e-2} <= tried
    assert result.counts["planned"] == 2 * len(tried)


def test_population_and_axes(tmp_path):
    tasks = [sx.tasks.KPattern(n=n, k=2) for n in (4, 6)]
    learner = Trained(sx.learners.CNN(q=8, k=2), sx.learners.GradientDescent(0.3), loss="hinge")
    result = study(task=tasks, learners={"CNN": learner}, train_size=None).run(tmp_path, workers=0)
    assert [point.x for point in result.curve("n").of("CNN")] == [4, 6]
    assert math.isinf(result.curve(where={"n": 4}).of("CNN")[0].x)


def test_users_modules_and_estimators(tmp_path):
    def perceptron(key, input_shape, output_shape):
        return eqx.nn.Sequential(
            [eqx.nn.Lambda(lambda x: x.ravel()), eqx.nn.MLP(math.prod(input_shape), "scalar", 8, 1, key=key)]
        )

    fixed = eqx.nn.Sequential(
        [eqx.nn.Lambda(lambda x: x.ravel()), eqx.nn.MLP(18, "scalar", 8, 1, key=jax.random.key(0))]
    )
    result = study(learners=[perceptron, fixed, LogisticRegression()], train_size=16).run(tmp_path, workers=0)
    assert {row["status"] for row in result.records.values()} == {"ok"}
    assert set(result.curve().points) == {"perceptron", "Sequential", "LogisticRegression"}


def test_users_tasks(tmp_path):
    def sampler(key):
        x = jax.random.normal(key, (3,))
        return x, jax.numpy.sign(x[0])

    x = np.random.default_rng(0).normal(size=(100, 3))
    tasks = [sx.tasks.Sampled(sampler, (3,)), sx.tasks.Arrays(x, x[:, 0] > 0)]
    procedure = sx.Procedure(max_steps=50, test_size=20, validation_size=20)
    result = study(task=tasks, learners=[MLP((8,)), LinearSVM()], train_size=20, procedure=procedure).run(
        tmp_path, workers=0
    )
    assert {row["status"] for row in result.records.values()} == {"ok"}
    linear = result.frame().filter(pl.col("label") == "SVM")
    assert linear.height == 4
    assert linear["test_error"].mean() < 0.25


def test_a_regression(tmp_path):
    def sampler(key):
        x = jax.random.normal(key, (3,))
        return x, x[:2]

    result = study(
        task=sx.tasks.Sampled(sampler, (3,), (2,), "regression"),
        learners=[Trained(MLP((8,)), Adam(0.02), loss="squared")],
        train_size=64,
        procedure=sx.Procedure(max_steps=400),
    ).run(tmp_path, workers=0)
    assert result.curve().of("MLP")[0].summary.mean < 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_size": 0}, "train_size must be an integer of at least 1, got 0"),
        ({"seeds": 0}, "seeds must be an integer of at least 1, got 0"),
        ({"train_size": None, "learners": [LinearSVM()]}, "trained on samples"),
        ({"train_size": None, "task": sx.tasks.KPattern(n=30), "learners": [MLP()]}, "no population to train on"),
        ({"learners": [ConvPool(3), ConvPool(4)]}, "ConvPool twice"),
        ({"learners": []}, "at least one"),
        ({"learners": [3]}, "a learner must be"),
        ({"learners": [sx.learners.CNN()]}, "needs inputs of n bits"),
        ({"tune": {"learning_rte": [0.1]}}, "did you mean 'learning_rate'"),
        ({"tune": {"learning_rate": [-1.0]}}, "learning_rate must be a finite number above 0, got -1.0"),
        ({"tune": {"learning_rate": [math.nan]}}, "finite"),
        ({"select": "tset"}, "did you mean 'test'"),
        ({"seeds": [1, 1]}, "seeds must not repeat"),
        ({"seeds": []}, "seeds must not be empty"),
        ({"train_size": [8, 8]}, "train_size must not repeat"),
        (
            {"learners": [Trained(ConvPool(3, initialisation="sphere"), sx.learners.Layerwise(T1=500))]},
            "max_steps must be above",
        ),
    ],
)
def test_bad_plans_are_refused_before_anything_runs(changes, message, tmp_path):
    with pytest.raises(sx.InputError, match=message.replace("(", r"\(")):
        study(**changes).run(tmp_path / "store", executor=InProcess())
    assert not (tmp_path / "store").exists()


def test_wrong_types_are_refused_in_words():
    """In a process of its own: here the types are checked before separatrix sees them."""
    script = """
import separatrix as sx
plan = {"task": sx.tasks.PatternDetection(), "learners": [sx.learners.ConvPool(3)], "train_size": 8}
for changes in ({"seeds": "many"}, {"tune": {"learning_rate": "a"}}, {"tune": None}, {"procedure": {}}, {"task": "x"}):
    try:
        sx.Study(**plan | changes)
    except sx.InputError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    words = ("seeds must be an integer", "learning_rate must be", "tune must map", "procedure must be", "task must be")
    assert len(said) == len(words)
    assert all(line.startswith(word) for line, word in zip(said, words, strict=True)), said


def test_failed_cells_are_told_and_run_again(tmp_path):
    """Data that no plane separates, and a solver that may not take a second step."""
    noisy = sx.tasks.PatternDetection(d=6, n=3, noise="ball", r=3.0)
    plan = study(task=noisy, learners={"SVM": LinearSVM(max_iterations=1)}, train_size=100)
    result = plan.run(tmp_path, workers=0)
    assert result.status_counts() == {"failed": 2}
    assert all("max_iterations" in row["message"] for row in result.records.values())
    assert result.curve().points == {}
    assert plan.run(tmp_path, workers=0).counts["ran"] == 2


def test_records_can_be_read_without_separatrix(tmp_path):
    result = study().run(tmp_path, workers=0)
    frame = pl.concat(
        [pl.read_parquet(path) for path in (tmp_path / "parts").glob("*.parquet")], how="diagonal_relaxed"
    )
    assert sorted(frame["cell"]) == sorted(result.records)
    assert Store(tmp_path).frame().height == frame.height


def test_a_grid_stays_within_what_its_field_allows(tmp_path):
    """The best momentum may be the greatest tried; 1 is not a momentum."""
    learner = Trained(ConvPool(12), sx.learners.GradientDescent(1e-3))
    plan = study(learners=[learner], train_size=16, tune={"momentum": sx.grid(0.1, 0.9, per_decade=2)})
    assert max(plan.run(tmp_path, workers=0).frame()["learner.algorithm.momentum"]) < 1


def test_choices_that_diverge_are_not_chosen(tmp_path):
    """Of three rates two always diverge: the third is taken, though it lies on the edge."""
    learner = Trained(MLP((9,)), sx.learners.GradientDescent(0.1), loss="squared")
    plan = study(learners=[learner], train_size=16, tune={"learning_rate": [1e-3, 1e8, 1e9]})
    result = plan.run(tmp_path, workers=0)
    assert result.chosen(result.conditions[0]) == (("learning_rate", 1e-3),)


def test_conditions_that_share_a_place_are_not_mixed(tmp_path):
    result = study(task=[TASK, sx.tasks.PatternDetection(d=6, n=4)], learners=[LinearSVM()]).run(tmp_path, workers=0)
    with pytest.raises(sx.InputError, match="several conditions"):
        result.curve()
    assert [point.x for point in result.curve(where={"n": 4}).of("SVM")] == [8, 16]


def test_two_studies_of_one_name_keep_their_plans(tmp_path):
    study().run(tmp_path, workers=0)
    study(train_size=[8, 32]).run(tmp_path, workers=0)
    assert len(Store(tmp_path).read_plans()) == 2
