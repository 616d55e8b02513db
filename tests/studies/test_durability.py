"""Kill, interrupt and resume: nothing reported is lost, nothing is run twice, and the bits are the same."""

import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

import separatrix as sx
from separatrix.studies.executors import Workers, _start_worker
from separatrix.studies.queue import Queue
from separatrix.studies.store import Store
from separatrix.training import Cell, Procedure

SCRIPT = """
import sys
import separatrix as sx
from separatrix.studies.progress import Lines

study = sx.Study(
    task=sx.tasks.PatternDetection(d=6, n=3),
    learners=[sx.learners.ConvPool(12), sx.learners.LinearSVM()],
    train_size=[8, 16, 24],
    seeds=40,
    procedure=sx.Procedure(max_steps=300, test_size=50, validation_size=50),
)
result = study.run(sys.argv[1], workers=int(sys.argv[2]), progress=Lines())
print(dict(result.counts))
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def start(script, store, workers):
    command = [sys.executable, str(script), str(store), str(workers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finish(process):
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return eval(out)


def wait_for_parts(store, count, process):
    for _ in range(1200):
        if len(list((store / "parts").glob("*.parquet"))) >= count:
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    raise AssertionError("no part was written")


def records(store):
    frame = Store(store).frame().drop("seconds").sort("cell")
    return frame.select(sorted(frame.columns))


def test_killed_and_resumed_is_the_same_to_the_bit(script, tmp_path):
    """kill -9 in the middle, once with one worker and once with two; then the rest; against an undisturbed run."""
    store = tmp_path / "killed"
    reported = 0
    for workers in (1, 2):
        process = start(script, store, workers)
        wait_for_parts(store, len(list((store / "parts").glob("*.parquet"))) + 2, process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        time.sleep(0.5)
        reported = Store(store).frame().height
        assert 0 < reported < 240
    counts = finish(start(script, store, 2))
    assert counts["planned"] == 240
    assert counts["reused"] >= reported
    assert counts["reused"] + counts["ran"] == 240

    undisturbed = tmp_path / "undisturbed"
    assert finish(start(script, undisturbed, 0)) == {"planned": 240, "ran": 240}
    assert records(store).equals(records(undisturbed))
    rows = pl.concat([pl.read_parquet(p, columns=["cell"]) for p in (undisturbed / "parts").glob("*.parquet")])
    assert rows.height == rows.unique().height == 240


def test_interrupted_by_ctrl_c(script, tmp_path):
    store = tmp_path / "store"
    process = start(script, store, 2)
    wait_for_parts(store, 1, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode != 0
    kept = Store(store).frame().height
    assert finish(start(script, store, 1))["reused"] >= kept > 0


def cells(count=6):
    task, procedure = sx.tasks.PatternDetection(d=4, n=2), Procedure(test_size=20, validation_size=20)
    return [Cell(task, sx.learners.LinearSVM(), 8, seed, procedure) for seed in range(count)]


def test_a_lost_worker_is_replaced_and_its_cells_run_again(tmp_path):
    store, executor = Store(tmp_path), Workers(1)
    executor._workers.append(_start_worker(0, store))
    executor._workers[0].process.kill()
    reports = list(executor.run(Queue(cells(), executor.lanes), store, lambda: None))
    executor.close()
    assert sum(len(report.chunk.cells) for report in reports) == 6
    assert set(store.statuses().values()) == {"ok"}


class Deadly:
    """An estimator that takes its process with it for one seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"random_state": self.random_state}

    def set_params(self, random_state):
        self.random_state = random_state
        return self

    def fit(self, x, y):
        if self.random_state == 3:
            os._exit(137)

    def predict(self, x):
        return x[:, 0]


def test_a_cell_that_kills_its_worker_is_a_failure_and_the_others_are_not(tmp_path):
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        wanted = [Cell(c.task, sx.learners.Estimator(Deadly()), 8, c.seed, c.procedure) for c in cells()]
        store, executor = Store(tmp_path), Workers(2)
        list(executor.run(Queue(wanted, executor.lanes), store, lambda: None))
        executor.close()
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    frame = store.frame()
    assert dict(zip(frame["seed"], frame["status"], strict=True)) == {
        seed: "failed" if seed == 3 else "ok" for seed in range(6)
    }
    assert "out of memory" in frame.filter(pl.col("seed") == 3)["message"][0]
