"""Networks of residual/fig2a and residual/controls: separatrix against plain PyTorch, on the same data, in one run.

    python bench/fig2a.py [--epochs 800] [--seeds 2] [--rates 0.05] [--decays 0.005 0.01] [--out FILE]

Both sides train every (network, rate, decay, seed) at N = 500 and width 100 on one core. The initial weights and the
order of the minibatches are each side's own, and near the edge of divergence a training is chaotic, so errors agree
in level and in order, not one by one. The time of separatrix is the whole study's in this process, with compilation.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import fig2a_torch
import numpy as np
import torch

import separatrix as sx
from separatrix.learners import SGD, ReLUNet, Trained
from separatrix.papers.residual.figures import PROCEDURE

NETS = {
    "ResNet, U = VA": ("3resnet", True),
    "ResNet, free U": ("3resnet", False),
    "no skip, U = VA": ("3layer", True),
    "no skip, free U": ("3layer", False),
    "two layers": ("2layer", None),
}
N, WIDTH = 500, 100


def compare(epochs: int, seeds: int, rates: list[float], decays: list[float], folder: str) -> dict[str, Any]:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])  # before either side makes its threads
    torch.set_num_threads(1)
    task = sx.tasks.HierarchicalParity()
    algorithm = SGD(batch=fig2a_torch.BATCH, epochs=epochs)
    study = sx.Study(
        task=task,
        learners={
            name: Trained(ReLUNet(kind, WIDTH, narrow), algorithm, "squared") for name, (kind, narrow) in NETS.items()
        },
        train_size=N,
        seeds=seeds,
        tune={"learning_rate": rates, "weight_decay": decays},
        procedure=PROCEDURE,
        name="bench/fig2a",
    )
    start = time.process_time()
    rows = study.run(folder, workers=0).frame().to_dicts()
    ours = time.process_time() - start
    found: dict[str, dict[str, list[float]]] = {}
    theirs = 0.0
    for row in rows:
        rate, decay = (row[f"learner.algorithm.{name}"] for name in ("learning_rate", "weight_decay"))
        kind, narrow = NETS[row["label"]]
        data = *task.draw(row["seed"], N), *task.draw(row["seed"], PROCEDURE.test_size, "test")
        net = (2 if kind == "2layer" else 3, kind == "3resnet", bool(narrow))
        start = time.process_time()
        error = fig2a_torch.train(*data, net, WIDTH, rate, decay, epochs, row["seed"])
        theirs += time.process_time() - start
        place = found.setdefault(f"{row['label']}, rate {rate:g}, decay {decay:g}", {"separatrix": [], "torch": []})
        place["separatrix"].append(np.inf if row["test_error"] is None else row["test_error"])
        place["torch"].append(error)
    return {
        "trainings": len(rows),
        "epochs": epochs,
        "core_seconds": {"torch": theirs, "separatrix": ours},
        "ratio": theirs / ours,
        "test_errors": found,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--epochs", type=int, default=800)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.05])
    parser.add_argument("--decays", type=float, nargs="+", default=[0.005, 0.01])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["SEPARATRIX_CACHE"] = f"{folder}/programs"
        found = compare(given.epochs, given.seeds, given.rates, given.decays, f"{folder}/store")
    text = json.dumps(found, indent=1)
    print(text)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text + "\n")
