"""Networks of convolution/fig3 and fig4 at the paper's scale: separatrix against plain PyTorch, in one run.

    python bench/sequences.py [--settings middle/FCN/5 far/CNN/7 ...] [--epochs 30] [--out bench/results/sequences.json]

Both sides train on MNIST with one thread each, and times are processor times, since neighbours on the machine slow
either down. The first weights, the shuffles and the test sequences are each side's own, so errors agree as far as two
seeds of one side do (2000 test sequences: a standard error of 0.011 at chance). Separatrix trains seed 0, PyTorch a
second seed where that is cheap; ratios are of the first. The time of separatrix has the compilation in it (but where
figure 4 finds the program of figure 3), and after each epoch the error on 2000 training sequences beside that on 2000
test sequences, which PyTorch measures alone.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import json
import platform
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import sequences_torch
import torch

from separatrix.papers.convolution.sequences import sequences
from separatrix.tasks.datasets import Mnist, mnist
from separatrix.tasks.digit_sequences import narrow
from separatrix.training import Cell, train

UNITS = 1024
SEEDS = {"FCN": 2, "CNN": 2, "LCN": 1}
"""Of PyTorch: two where it is cheap."""
SETTINGS = [f"middle/{kind}/{n}" for kind in ("FCN", "CNN", "LCN") for n in (5, 7, 11)] + ["far/FCN/7", "far/CNN/7"]


def cell_of(setting: str, epochs: int) -> Cell:
    """The figure's own cell of seed 0, with so many epochs."""
    places, kind, n = setting.split("/")
    study = sequences(places, "paper", name="bench/sequences")  # type: ignore[arg-type]
    cells = {
        (condition.label, condition.cell.task.n): condition.cell  # type: ignore[attr-defined]
        for condition in study.conditions()
    }
    cell = cells[kind, int(n)]
    return replace(cell, procedure=replace(cell.procedure, epochs=epochs))


def compare(setting: str, digits: tuple[sequences_torch.Digits, sequences_torch.Digits], epochs: int) -> dict[str, Any]:
    kind = setting.split("/")[1]
    cell = cell_of(setting, epochs)
    start = time.process_time()
    (record,) = train([cell])
    ours = time.process_time() - start
    start = time.process_time()
    list(train([cell_of(setting, 1)]))  # a program of its own, compiled like the other
    first = time.process_time() - start
    task: Any = cell.task
    errors, theirs = [], []
    for seed in range(SEEDS[kind]):
        start = time.process_time()
        along = sequences_torch.train(kind, task.n, task.apart, *digits, cell.procedure.test_size, UNITS, epochs, seed)
        theirs.append(time.process_time() - start)
        errors.append(along[-1])
    return {
        "test_error": {"separatrix": record["test_error"], "torch": errors},
        "core_seconds": {"separatrix": ours, "separatrix_one_epoch": first, "torch": theirs},
        "ratio": ratios(epochs, theirs[0], ours, first),
    }


def ratios(epochs: int, theirs: float, ours: float, first: float) -> dict[str, float]:
    """Of whole trainings, and of the epochs after the first, which leaves the compilation out."""
    later = {"later_epochs": theirs / epochs * (epochs - 1) / (ours - first)} if epochs > 1 else {}
    return {"training": theirs / ours} | later


def report(found: dict[str, Any], epochs: int) -> dict[str, Any]:
    seconds = [row["core_seconds"] for row in found.values()]
    totals = {
        "separatrix": sum(row["separatrix"] for row in seconds),
        "separatrix_one_epoch": sum(row["separatrix_one_epoch"] for row in seconds),
        "torch": sum(row["torch"][0] for row in seconds),
    }
    return {
        "epochs": epochs,
        "core_seconds_of_one_seed": totals,
        "ratio": ratios(epochs, totals["torch"], totals["separatrix"], totals["separatrix_one_epoch"]),
        "settings": found,
        "versions": {name: version(name) for name in ("separatrix", "jax", "torch")},
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(), "threads": 1},
    }


def checked(data: Mnist) -> tuple[sequences_torch.Digits, sequences_torch.Digits]:
    """The digits as PyTorch gets them; both sides' own code must make the same bytes of the images."""
    if not np.array_equal(sequences_torch.squeeze(data.test_images), narrow(data.test_images, "squeeze")):
        raise SystemExit("the two sides' narrow digits must be equal, got different bytes")
    return sequences_torch.standardised(*data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--settings", nargs="+", default=SETTINGS, help="PLACES/NETWORK/N of the figures")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    digits = checked(mnist())
    found: dict[str, Any] = {}
    for setting in given.settings:
        found[setting] = compare(setting, digits, given.epochs)
        print(setting, json.dumps(found[setting]), flush=True)
        if given.out:  # after every setting: an interrupted run keeps what it has
            given.out.parent.mkdir(parents=True, exist_ok=True)
            given.out.write_text(json.dumps(report(found, given.epochs), indent=1) + "\n")
