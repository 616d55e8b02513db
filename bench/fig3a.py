"""The paper-scale sweep of pooling/fig3a: separatrix against plain PyTorch, on the same data, in one run.

    python bench/fig3a.py [--seeds 5] [--out bench/results/fig3a.json]

Both sides train every (network, train size, rate, seed) of the figure's first grid by full-batch Adam with the same
stopping rule (mean loss at most 1e-3, checked every 10 steps, at most 20,000 steps) on both cores. PyTorch runs as
``fig3a_torch.py`` has it, in threads or in processes, whichever is faster on a slice of the sweep. The time of
separatrix is the whole command's: worker start, sampling, compilation (cold: none kept from before; warm:
programs kept on disk), training, checkpoints, validation and storage. PyTorch is given its data for nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import separatrix as sx
from separatrix.learners import Trained
from separatrix.papers.pooling.figures import FIGURES

Keyed = dict[tuple[str, int, float, int], dict[str, Any]]


def sweep(seeds: int) -> sx.Study:
    """The networks of the figure with the grid as it stands (extensions depend on results, so they are left out)."""
    study = next(figure for figure in FIGURES if figure.id == "pooling/fig3a").study("paper")
    networks = {label: learner for label, learner in study.labelled if isinstance(learner, Trained)}
    tune = {name: sx.Grid(grid.values) for name, grid in study.tune.items()}
    return dataclasses.replace(study, learners=networks, seeds=seeds, tune=tune)


def run_separatrix(study: sx.Study, programs: str, workers: int) -> tuple[float, Keyed]:
    os.environ["SEPARATRIX_CACHE"] = programs
    with tempfile.TemporaryDirectory() as store:
        start = time.perf_counter()
        result = study.run(store, workers=workers)
        seconds = time.perf_counter() - start
    rows = result.frame().iter_rows(named=True)
    keyed = {(r["label"], r["train_size"], r["learner.algorithm.learning_rate"], r["seed"]): r for r in rows}
    return seconds, keyed


def torch_cells(study: sx.Study) -> dict[tuple[str, int, float, int], Any]:
    """The same cells for PyTorch, with the same samples."""
    import fig3a_torch

    cells = {}
    for condition in study.conditions():
        task, size = condition.cell.task, condition.cell.train_size
        assert size is not None
        learner = condition.cell.learner
        assert isinstance(learner, Trained)
        for choice in condition.choices:
            rate = dict(choice)["learning_rate"]
            for seed in condition.seeds:
                x, y = task.draw(seed, size)
                x_test, y_test = task.draw(seed, study.procedure.test_size, "test")
                given: dict[str, Any] = {
                    "x": x,
                    "y": y,
                    "x_test": x_test,
                    "y_test": y_test,
                    "learning_rate": rate,
                    "target_loss": study.procedure.target_loss,
                    "max_steps": study.procedure.max_steps,
                    "check_every": study.procedure.check_every,
                    "seed": seed,
                }
                if condition.label == "ConvPool":
                    made = fig3a_torch.train_convpool, given | {"channels": learner.architecture.channels}
                else:
                    hidden = learner.architecture.widths(task.input_shape, ())[0]
                    made = fig3a_torch.train_mlp, given | {"hidden": hidden}
                cells[condition.label, size, rate, seed] = made
    return cells


def compare(seeds: int, workers: int) -> dict[str, Any]:
    import fig3a_torch

    study = sweep(seeds)
    cells = torch_cells(study)
    rates = sorted({rate for _, _, rate, _ in cells})
    piece = [cell for (_, _, rate, seed), cell in cells.items() if rate == rates[len(rates) // 2] and seed == 0]
    slices = {}
    for mode in ("processes", "threads"):
        start = time.perf_counter()
        fig3a_torch.run_cells(piece, mode, workers)  # type: ignore[arg-type]
        slices[mode] = time.perf_counter() - start
    best = min(slices, key=lambda mode: slices[mode])

    with tempfile.TemporaryDirectory() as programs:
        cold, _ = run_separatrix(study, programs, workers)
        start = time.perf_counter()
        outcomes = fig3a_torch.run_cells(list(cells.values()), best, workers)  # type: ignore[arg-type]
        theirs = time.perf_counter() - start
        warm, ours = run_separatrix(study, programs, workers)

    return {
        "cells": len(cells),
        "seeds": seeds,
        "workers": workers,
        "seconds": {"torch": theirs, "separatrix_cold": cold, "separatrix_warm": warm},
        "ratio": {"cold": theirs / cold, "warm": theirs / warm},
        "torch_mode": best,
        "torch_slices_seconds": slices,
        "by_network_and_size": by_size(ours, dict(zip(cells, outcomes, strict=True))),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
    }


def by_size(ours: Keyed, theirs: Keyed) -> list[dict[str, Any]]:
    """Where the time goes, and that the results agree: seconds of training, steps and errors."""
    rows = []
    for label, size in dict.fromkeys((label, size) for label, size, _, _ in theirs):
        keys = [key for key in theirs if key[:2] == (label, size)]
        seconds = [sum(side[key]["seconds"] for key in keys) for side in (theirs, ours)]
        rows.append(
            {
                "network": label,
                "train_size": size,
                "core_seconds": {"torch": seconds[0], "separatrix": seconds[1], "ratio": seconds[0] / seconds[1]},
                "steps": {
                    "torch": sum(theirs[key]["steps"] for key in keys),
                    "separatrix": sum(ours[key]["steps"] for key in keys),
                },
                "mean_test_error": {
                    "torch": float(np.mean([theirs[key]["test_error"] for key in keys])),
                    "separatrix": float(np.mean([ours[key]["test_error"] for key in keys])),
                },
            }
        )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = compare(given.seeds, given.workers)
    text = json.dumps(found, indent=1)
    print(text)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text + "\n")
