"""Lemmas 13 and 14: the first layer stays close, and the loss of any readout hardly changes, at every t of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.papers.parity.descent import (
    Bits,
    MaybeDecay,
    MaybePlaces,
    MaybeRate,
    Odd,
    Run,
    Setting,
    Steps,
    Width,
    descend,
    hinge,
)
from separatrix.papers.parity.neurons import TOP
from separatrix.theory.along import ROUNDING, changes_of_loss, largest_ratio, tightest
from separatrix.theory.certificate import Assumption, Check, Finding, at_most
from separatrix.theory.parameters import Floats, Seed
from separatrix.theory.results import result


@result(
    "parity/lemma-13",
    "Along the descent |u_i^(t)| <= 6 eta t + k/sqrt n, ||w_i^(t) - w_i^(1)|| <= 6 eta^2 t^2 + eta t k/sqrt n + "
    "2 eta t lambda n/k and |b_i^(t) - b_i^(1)| <= 6 eta^2 t^2 + eta t k/sqrt n.",
)
def lemma_13(
    n: Bits = 8,
    k: Odd = 3,
    q: Width = 64,
    T: Steps = 200,
    eta: MaybeRate = None,
    lambda_: MaybeDecay = None,
    A: MaybePlaces = None,
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 13 of Daniely & Malach, for every neuron at every t = 1..T of a run of population gradient descent.

        |u_i^(t)| <= 6 eta t + k/sqrt n
        ||w_i^(t) - w_i^(1)|| <= 6 eta^2 t^2 + eta t k/sqrt n + 2 eta t lambda n/k
        |b_i^(t) - b_i^(1)| <= 6 eta^2 t^2 + eta t k/sqrt n

    (The statement shows no plus before its last term and one t too many; its proof has this.) A step moves u by at most
    6 eta, w by eta |u| + 2 eta lambda ||w^(1)||, b by eta |u|. As half of the labels are +1 (k is odd) and 0 <= sigma
    <= 6, u moves by 3 eta at most and b by eta |u| / 2. Summed, with s = t - 1 steps, this gives the ``tight`` sides

        3 eta s + k/sqrt n,    v + 2 eta s lambda max_i ||w_i^(1)||,    v/2,    v = 3/2 eta^2 s (s - 1) + eta s k/sqrt n

    ``ratio`` s are the largest over t and i of a left side over its right. The algorithm as listed does not move b;
    the proof does, and so does the run. ``eta`` is k^2 / (T sqrt q) and ``lambda_`` k/n by default (Theorem 2's; the
    largest lambda that it allows); T counts the first step.

    >>> found = lemma_13(n=5, q=8, T=20)
    >>> found.status, max(found.measured["w_ratio"], found.measured["b_ratio"]) < found.measured["u_ratio"] <= 1
    ('holds', True)
    """
    setting = Setting.of(n, k, q, T, eta, lambda_, A, "corrected", seed)
    run = descend(setting)
    sides, tight = moved(run), bounds(setting, _largest_w(run))
    measured: dict[str, Any] = {}
    bound: dict[str, Any] = {}
    checks: list[Check] = []
    for name, left in sides.items():
        right = bounds(setting)[name]
        measured |= {
            name: float(left[-1]),
            f"{name}_ratio": largest_ratio(left, right),
            f"{name}_tight_ratio": largest_ratio(left, tight[name]),
        }
        bound |= {name: float(right[-1]), f"{name}_ratio": 1, f"{name}_tight_ratio": 1}
        checks += [tightest(name, left, right), tightest(f"{name} (tight)", left, tight[name])]
    measured |= {
        "largest_w1": _largest_w(run),
        "largest_feature": max(float(run.features(t).max()) for t in {1, T}),
        "eta": setting.eta,
        "lambda": setting.lambda_,
    }
    bound |= {"largest_w1": n / k, "largest_feature": TOP}
    checks.append(at_most("||w_i^(1)|| <= n/k", measured["largest_w1"], n / k))
    notes = ["u, w, b: the largest |u_i|, ||w_i - w_i^(1)||, |b_i - b_i^(1)| at t = T"]
    return Finding(measured, bound, checks, "run", _rates(setting), notes=notes)


def _rates(setting: Setting) -> list[Assumption]:
    return [
        Assumption("eta in [0, 1/2]", setting.eta, 0.5, setting.eta <= 0.5),
        Assumption("lambda in [0, 1/2]", setting.lambda_, 0.5, setting.lambda_ <= 0.5),
    ]


def _largest_w(run: Run) -> float:
    return float(np.linalg.norm(run.W[1], axis=1).max())


def moved(run: Run) -> dict[str, Floats]:
    """The largest |u_i^(t)|, ||w_i^(t) - w_i^(1)|| and |b_i^(t) - b_i^(1)| over i, for t = 1..T."""
    return {
        "u": np.abs(run.u[1:]).max(axis=1),
        "w": np.linalg.norm(run.W[1:] - run.W[1], axis=2).max(axis=1),
        "b": np.abs(run.b[1:] - run.b[1]).max(axis=1),
    }


def bounds(setting: Setting, largest_w: float | None = None) -> dict[str, Floats]:
    """Lemma 13's right sides for t = 1..T; the sums themselves where the largest ||w_i^(1)|| is given."""
    s = setting
    t = np.arange(1, s.T + 1, dtype=np.float64)
    start = s.k / math.sqrt(s.n)
    if largest_w is None:
        b = 6 * s.eta**2 * t**2 + s.eta * t * start
        return {"u": 6 * s.eta * t + start, "w": b + 2 * s.eta * t * s.lambda_ * s.n / s.k, "b": b}
    steps = t - 1
    v = 1.5 * s.eta**2 * steps * (steps - 1) + s.eta * steps * start
    return {"u": 3 * s.eta * steps + start, "w": v + 2 * s.eta * steps * s.lambda_ * largest_w, "b": v / 2}


@result(
    "parity/lemma-14",
    "For every readout u* and every x the hinge loss with the first layer of step t differs from that of step 1 by at "
    "most 2 ||u*||_2 sqrt(||u*||_0) (6 eta^2 t^2 + eta t k/sqrt n + eta t lambda n/k).",
)
def lemma_14(
    n: Bits = 8,
    k: Odd = 3,
    q: Width = 64,
    T: Steps = 200,
    eta: MaybeRate = None,
    lambda_: MaybeDecay = None,
    A: MaybePlaces = None,
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 14 of Daniely & Malach, at every x of the cube and every t = 1..T of a run, for several u*:

        |l(g_{u*}^(t)(x), y) - l(g_{u*}^(1)(x), y)|
            <= ||u*||_2 sqrt(||u*||_0) max_i (||w_i^(t) - w_i^(1)|| + |b_i^(t) - b_i^(1)|)      (``through_drift``)
            <= 2 ||u*||_2 sqrt(||u*||_0) (6 eta^2 t^2 + eta t k/sqrt n + eta t lambda n/k)

    The u* tried: the separator of least norm on the features of step 1 (what Lemma 10 builds where n is large), the
    trained u^(T), random ones, and the readout of the one neuron whose feature changes most, small enough for the loss
    to be linear. Arguments as in :func:`lemma_13`.

    >>> lemma_14(n=5, q=8, T=20).status
    'holds'
    """
    setting = Setting.of(n, k, q, T, eta, lambda_, A, "corrected", seed)
    run = descend(setting)
    stars = _readouts(run, seed)
    limit, sides = bounds(setting), moved(run)
    sizes = {name: float(np.linalg.norm(u)) * math.sqrt(np.count_nonzero(u)) for name, u in stars.items()}
    measured = changes_of_loss(
        _changes(run, stars),
        {name: (limit["w"] + limit["b"]) * size for name, size in sizes.items()},
        {name: (sides["w"] + sides["b"]) * size for name, size in sizes.items()},
    )
    measured |= {"eta": setting.eta, "lambda": setting.lambda_}
    per_size = float((limit["w"] + limit["b"])[-1])
    checks = [
        at_most("largest change over its bound, all x, t and u*", measured["change_ratio"], 1, ROUNDING),
        at_most("largest change over that by the measured drift", measured["through_drift"], 1, 1e-6),
    ]
    notes = ["changes are the largest over x, at T; the ratios over t = 1..T as well"]
    if run.separator is None:
        notes.append("the features of step 1 have no separator of margin 1")
    bound = {"change_per_size": per_size, "change_ratio": 1, "through_drift": 1}
    return Finding(measured, bound, checks, "run", _rates(setting), notes=notes)


def _changes(run: Run, readouts: Mapping[str, Floats]) -> dict[str, Floats]:
    """max_x |l(g_{u*}^(t)) - l(g_{u*}^(1))| for t = 1..T and each u*; differences below rounding are 0."""
    stars = np.stack(list(readouts.values()), axis=1)
    first = hinge(run.y[:, None] * (run.features(1) @ stars))
    noise = ROUNDING * (1 + np.abs(stars).sum(axis=0))
    found = []
    for t in range(1, run.setting.T + 1):
        change = np.abs(hinge(run.y[:, None] * (run.features(t) @ stars)) - first).max(axis=0)
        found.append(np.where(change <= noise, 0, change))
    return dict(zip(readouts, np.array(found).T, strict=True))


def _readouts(run: Run, seed: int) -> dict[str, Floats]:
    """The u* that Lemma 14 is tried with."""
    generator = np.random.default_rng(seed)
    width = run.u.shape[1]
    feature = np.abs(run.features(run.setting.T) - run.features(1)).max(axis=0)
    lone = np.zeros(width)
    lone[int(feature.argmax())] = 0.1
    sparse = generator.normal(size=width) * (generator.random(width) < 0.1)
    stars = {
        "trained": run.u[-1],
        "random": generator.normal(size=width),
        "random, a tenth": sparse,
        "one neuron": lone,
    }
    return stars if run.separator is None else {"separator": run.separator, **stars}
