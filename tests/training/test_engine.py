"""The engine: results depend on the cell alone, programs are compiled once, stopping rules do what they say."""

import dataclasses

import jax
import numpy as np
import pytest

import separatrix as sx
from separatrix.learners import MLP, Adam, ConvPool, Estimator, GradientDescent, Layerwise, LinearSVM, Trained
from separatrix.training import Cell, Procedure, train
from separatrix.training.blocks import Layout, layout_for
from separatrix.training.engine import program_for
from separatrix.training.trajectory import follow

TASK = sx.tasks.PatternDetection(d=6, n=3, l=5, noise="ball", r=0.3)
PROCEDURE = Procedure(max_steps=60, target_loss=0.05, test_size=50, validation_size=40)
LEARNERS = {
    "adam": Trained(ConvPool(16), Adam(0.05)),
    "momentum": Trained(MLP((9,)), GradientDescent(0.3, momentum=0.5, weight_decay=1e-3)),
    "minibatch": Trained(MLP((9,)), GradientDescent(0.3, batch=4)),
    "layerwise": Trained(ConvPool(16, initialisation="sphere"), Layerwise(T1=20, eta1=0.5, eta2=1.0)),
    "svm": LinearSVM(),
}


def cells(learner, sizes=(7, 12), seeds=3):
    return [Cell(TASK, learner, size, seed, PROCEDURE) for size in sizes for seed in range(seeds)]


def results(records):
    return {record["cell"]: {k: v for k, v in record.items() if k != "seconds"} for record in records}


def by_fleet(wanted):
    fleets = {}
    for cell in wanted:
        fleets.setdefault(cell.fleet, []).append(cell)
    return fleets


def run(wanted):
    return results(record for fleet in by_fleet(wanted).values() for record in train(fleet))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_cell_does_not_depend_on_its_neighbours_or_their_order(name):
    wanted = cells(LEARNERS[name])
    together = run(wanted)
    alone = {}
    for cell in reversed(wanted):
        alone |= run([cell])
    assert together == alone
    assert {(record["status"], record["message"]) for record in together.values()} == {("ok", "")}


def test_lanes_do_not_change_the_trained_networks():
    """Side by side or one by one: equal up to rounding (a fleet's layout is fixed, so its bits are too)."""
    cell = cells(LEARNERS["adam"])[0]
    errors = []
    for lanes in (1, 4):
        layout = Layout(lanes, 1000)
        program = program_for(cell, layout)
        assert program.lanes == lanes
        from separatrix.training.engine import _train_block

        errors.append(_train_block([cell], layout, lambda: None)[0])
    assert errors[0]["steps"] == errors[1]["steps"]
    assert errors[0]["train_loss"] == pytest.approx(errors[1]["train_loss"], rel=1e-4)


def test_chunks_of_examples_do_not_change_the_gradient():
    cell = dataclasses.replace(cells(LEARNERS["adam"])[-1], train_size=64)
    from separatrix.training.engine import _train_block

    whole, chunked = (_train_block([cell], Layout(1, chunk), lambda: None)[0] for chunk in (1000, 8))
    assert whole["steps"] == chunked["steps"]
    assert whole["train_loss"] == pytest.approx(chunked["train_loss"], rel=1e-3)


def test_a_sweep_over_traced_values_is_compiled_once():
    wanted = [
        Cell(
            dataclasses.replace(TASK, r=r),
            Trained(ConvPool(8), Adam(rate, weight_decay=decay)),
            size,
            seed,
            dataclasses.replace(PROCEDURE, max_steps=steps),
        )
        for r, rate, decay, size, seed, steps in [
            (0.1, 0.1, 0.0, 11, 0, 20),
            (0.2, 0.01, 0.1, 12, 5, 30),
            (0.3, 0.02, 0.2, 11, 9, 10),
        ]
    ]
    assert len({cell.fleet for cell in wanted}) == 1
    program = program_for(wanted[0], layout_for(wanted[0]))
    list(train(wanted[:1]))
    compiled = program.advance._cache_size(), program.traces
    list(train(wanted[1:]))
    assert (program.advance._cache_size(), program.traces) == compiled


def test_another_size_is_another_program():
    small, large = (Cell(TASK, LEARNERS["adam"], size, 0, PROCEDURE) for size in (10, 20))
    assert small.fleet != large.fleet
    assert small.key != large.key


def test_stopping_rules():
    def record(**changes):
        procedure = dataclasses.replace(PROCEDURE, max_steps=400, target_loss=0.0, **changes)
        return next(train([Cell(TASK, LEARNERS["adam"], 12, 0, procedure)]))

    budget = record()
    loss = record(**{"target_loss": 0.1} if False else {}, target_error=0.0)
    assert budget["steps"] == 400
    assert loss["steps"] < 400
    assert loss["train_error"] == 0.0
    assert loss["steps"] % PROCEDURE.check_every == 0
    assert budget["curve_step"] == [0, 1, 4, 16, 64, 256]


def test_target_loss_is_met():
    found = next(train([Cell(TASK, LEARNERS["adam"], 12, 0, dataclasses.replace(PROCEDURE, max_steps=5000))]))
    assert found["steps"] < 5000
    assert found["train_loss"] <= PROCEDURE.target_loss


def test_divergence_is_a_record_with_a_hint():
    wild = Trained(MLP((9,)), GradientDescent(1e9), loss="squared")
    found = next(train([Cell(TASK, wild, 12, 0, PROCEDURE)]))
    assert found["status"] == "diverged"
    assert found["test_error"] is None
    assert "smaller rate" in found["message"]


def test_a_failing_cell_does_not_take_the_others_with_it():
    class Moody:
        def __init__(self, random_state=None):
            self.random_state = random_state

        def get_params(self, deep=True):
            return {"random_state": self.random_state}

        def set_params(self, random_state):
            self.random_state = random_state
            return self

        def fit(self, x, y):
            if self.random_state == 1:
                raise ValueError("not today")

        def predict(self, x):
            return np.ones(len(x))

    found = list(train([Cell(TASK, Estimator(Moody()), 12, seed, PROCEDURE) for seed in range(3)]))
    assert [record["status"] for record in found] == ["ok", "failed", "ok"]
    assert "not today" in found[1]["message"]


def test_population_descent_and_exact_errors():
    """On the exact population the sample plays no part: only the initialisation's seed is left."""
    task = sx.tasks.KPattern(n=6, k=2)
    learner = Trained(sx.learners.CNN(q=16, k=2), GradientDescent(0.5), loss="hinge")
    procedure = Procedure(max_steps=300, target_error=0.0, precision="float64")
    found = next(train([Cell(task, learner, None, 0, procedure)]))
    assert found["test_error"] == found["train_error"] == 0.0
    assert found["test_size"] is None


def test_layerwise_moves_one_layer_at_a_time():
    """Algorithm 1: a stands still for T1 steps, then W does."""
    procedure = dataclasses.replace(PROCEDURE, precision="float64")
    path = follow(Cell(TASK, LEARNERS["layerwise"], 12, 0, procedure), 30)
    assert np.ptp(path.params.a[:21], axis=0).max() == 0
    assert np.ptp(path.params.W[20:], axis=0).max() == 0
    assert np.ptp(path.params.W[:21], axis=0).max() > 0
    assert np.ptp(path.params.a[20:], axis=0).max() > 0


def test_layerwise_step_is_the_formula():
    """One step by NumPy: W - eta1 dL_1/dW on S_1, the first ceil(m/2) examples."""
    m = 7
    procedure = dataclasses.replace(PROCEDURE, precision="float64")
    path = follow(Cell(TASK, LEARNERS["layerwise"], m, 0, procedure), 1)
    x, y, _ = path.sample
    W, a = path.params.W[0], path.params.a[0]
    x1, y1 = x[:4], y[:4]
    scores = np.maximum(x1 @ W, 0)
    outputs = scores.max(axis=1) @ a
    slope = -y1 / (1 + np.exp(y1 * outputs)) / len(y1)
    gradient = np.zeros_like(W)
    for point in range(4):
        for i in range(W.shape[1]):
            winner = scores[point, :, i].argmax()
            if scores[point, winner, i] > 0:
                gradient[:, i] += slope[point] * a[i] * x1[point, winner]
    np.testing.assert_allclose(path.params.W[1], W - 0.5 * gradient, rtol=1e-12, atol=1e-15)


def test_trajectory_is_the_training():
    """``follow`` and ``train`` run the same steps."""
    learner = LEARNERS["momentum"]
    procedure = dataclasses.replace(PROCEDURE, max_steps=10, target_loss=0.0, precision="float64")
    cell = Cell(TASK, learner, 12, 3, procedure)
    record = next(train([cell]))
    last = follow(cell, 10).network(10)
    norm = np.sqrt(sum(np.sum(np.square(leaf)) for leaf in jax.tree.leaves([last.weights, last.biases])))
    assert record["steps"] == 10
    assert record["norm"] == pytest.approx(norm, rel=1e-12)
