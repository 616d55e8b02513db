"""Conformance suites: what every task, learner and executor must do. Run them on your own.

>>> import separatrix as sx
>>> check_task(sx.tasks.KPattern(n=5, k=2))
>>> check_learner(sx.learners.LinearSVM(), sx.tasks.KPattern(n=5, k=2))
"""

from __future__ import annotations

import json
import math
import tempfile

import jax
import numpy as np

from separatrix.learners import Learner, Trained, as_learner
from separatrix.specs import describe, static_part, traced_values, with_values
from separatrix.studies.executors import Executor, InProcess
from separatrix.studies.queue import Queue
from separatrix.studies.store import Store
from separatrix.tasks import Task, stream
from separatrix.tasks.base import SPLITS
from separatrix.training import Cell, Procedure, train

_SIZE = 64
_SAMPLED = 4096
_SMALL = Procedure(max_steps=3, test_size=20, validation_size=20, evaluation="sample")


def check_task(task: Task) -> None:
    """Raise an ``AssertionError`` that says which rule of the interface the task breaks."""
    _check_spec(task)
    size = min(_SIZE, *(task.capacity(split) or _SIZE for split in SPLITS))
    for split in SPLITS:
        x, y = task.draw(0, size, split)
        assert x.shape == (size, *task.input_shape), f"x of {split} must have input_shape, got {x.shape[1:]}"
        assert y.shape == (size, *task.output_shape), f"y of {split} must have output_shape, got {y.shape[1:]}"
        assert np.issubdtype(x.dtype, np.floating), f"x must be real numbers, got {x.dtype}"
        assert x.dtype == y.dtype, "x and y must have one dtype"
        assert np.isfinite(x).all(), "x must be finite"
        assert np.isfinite(y).all(), "y must be finite"
        if task.kind == "classification":
            assert set(np.unique(y)) <= {-1.0, 1.0}, "labels must be -1 and 1"
        again, _ = task.draw(0, size, split)
        assert np.array_equal(x, again), "the same seed must give the same sample"
        shorter, _ = task.draw(0, max(size // 2, 1), split)
        assert np.array_equal(x[: len(shorter)], shorter), "a smaller sample must be the start of a larger one"
    train_x, test_x = (task.draw(0, size, split)[0] for split in ("train", "test"))
    assert not np.array_equal(train_x, test_x), "splits must be independent"
    if task.population_size is not None:
        _check_population(task)


def _inputs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x


def _products(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x[:, 1:] * x[:, :-1]


def _signed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x * y.reshape(len(y), -1)[:, :1]


def _check_population(task: Task) -> None:
    """The listed support is a distribution, and the sampler draws from it."""
    instance = task.instance(stream(0, "instance"), task.data())
    points = task.population(instance)
    assert len(points.x) == len(points.y) == len(points.p) == task.population_size, "population_size must be right"
    p = np.asarray(points.p, np.float64)
    assert (p >= 0).all(), "probabilities must not be negative"
    assert math.isclose(p.sum(), 1, rel_tol=1e-4), f"probabilities must sum to one, got {p.sum()}"
    x, y = task.draw(0, _SAMPLED)
    # means of functions that tell points apart: x itself, x y, and products of neighbours
    for name, of in {"x": _inputs, "x y": _signed, "products": _products}.items():
        flat = np.asarray(points.x, np.float64).reshape(len(p), -1)
        values = of(flat, np.asarray(points.y, np.float64))
        expected = p @ values
        spread = np.sqrt(np.maximum(p @ values**2 - expected**2, 0))
        sampled = of(x.reshape(_SAMPLED, -1).astype(np.float64), y.astype(np.float64)).mean(axis=0)
        wrong = np.abs(sampled - expected) > 6 * spread / math.sqrt(_SAMPLED) + 1e-6
        assert not wrong.any(), f"the sampler and the population must agree on the mean of {name}"


def _check_spec(spec: Task | Learner) -> None:
    """Plain data describes it, and its traced values can be set."""
    text = json.dumps(describe(spec), sort_keys=True)
    assert text == json.dumps(describe(spec), sort_keys=True), "its description must be the same every time"
    changed = with_values(spec, {path: value + 1 for path, value in traced_values(spec).items()})
    assert static_part(changed) == static_part(spec), "traced values must not be part of the program's shape"


def check_learner(learner: object, task: Task) -> None:
    """Raise an ``AssertionError`` that says which rule of the interface the learner breaks on this task."""
    adopted = as_learner(learner)
    assert adopted.label, "a learner must have a label"
    _check_spec(adopted)
    adopted.check(task.input_shape, task.output_shape)
    cells = [Cell(task, adopted, 16, seed, _SMALL) for seed in (0, 1)]
    records = [record for cell in cells for record in train([cell])]
    for record in records:
        assert record["status"] in ("ok", "diverged"), f"training failed: {record['message']}"
        if record["status"] == "ok":
            assert math.isfinite(record["test_error"]), "the test error must be finite"
    again = next(train([cells[0]]))
    assert again["test_error"] == records[0]["test_error"], "the same cell must give the same record"
    if isinstance(adopted, Trained):
        _check_initialisation(adopted, task)


def _check_initialisation(learner: Trained, task: Task) -> None:
    x, y = task.draw(0, 5)
    network = learner.build(jax.random.key(0), task.input_shape, task.output_shape)
    outputs = network(jax.numpy.asarray(x))
    assert outputs.shape == y.shape, f"outputs must have the shape of y, {y.shape}, got {outputs.shape}"
    one_by_one = np.concatenate([np.asarray(network(jax.numpy.asarray(x[i : i + 1]))) for i in range(5)])
    assert np.allclose(outputs, one_by_one, atol=1e-5), "an output must not depend on the other points of a batch"


def check_executor(executor: Executor) -> None:
    """Raise an ``AssertionError`` unless the executor stores, before it reports, what running here gives."""
    from separatrix.learners import LinearSVM
    from separatrix.tasks import PatternDetection

    task = PatternDetection(d=4, n=2)
    cells = [Cell(task, LinearSVM(), size, seed, _SMALL) for size in (8, 10) for seed in range(3)]
    with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
        list(InProcess().run(Queue(cells, InProcess().lanes), Store(here), lambda: None))
        reported = 0
        try:
            for report in executor.run(Queue(cells, executor.lanes), Store(there), lambda: None):
                reported += len(report.chunk.cells)
                stored = Store(there).statuses()
                assert all(cell.key in stored for cell in report.chunk.cells), (
                    "records must be stored before the report"
                )
        finally:
            executor.close()
        assert reported == len(cells), f"every cell must be reported once, got {reported} of {len(cells)}"
        expected, found = (Store(folder).frame().drop("seconds").sort("cell") for folder in (here, there))
        assert found.select(sorted(found.columns)).equals(expected.select(sorted(expected.columns))), (
            "records must not depend on where a cell is run"
        )
