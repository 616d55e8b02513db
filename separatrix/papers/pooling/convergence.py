"""Appendix A: with another initialisation and step size the second layer needs a number of steps linear in d."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from separatrix.papers.pooling.first_layer import Setting, assumptions, features, patterns_present
from separatrix.papers.pooling.margins import least_norm_separator, need_separable
from separatrix.papers.pooling.scaling import exponent
from separatrix.rules import Whole
from separatrix.theory.certificate import Finding, at_least, at_most
from separatrix.theory.parameters import Count, Floats, Seed
from separatrix.theory.results import result

DIMENSIONS = (4, 6, 8)
MOST_STEPS = 100_000


@result(
    "pooling/appendix-a",
    "From a = 0, on features of norm 1 and with the step sizes of Ji & Telgarsky, half of the maximum margin is "
    "reached after O(1/gamma^2) = O(d) steps (up to log m).",
)
def appendix_a(
    n: Annotated[int, Whole(2)] = 4,
    m: Annotated[int, Whole(8)] = 64,
    T1: Count = 10,
    runs: Annotated[int, Whole(2)] = 8,
    seed: Seed = 0,
) -> Finding:
    r"""Appendix A of Brutzkus & Globerson: logistic regression on z(x)/||z(x)||, for d = 4, 6, 8.

    The first layer is Algorithm 1's, ``T1`` steps on ``m``/2 samples of ``n`` patterns. The second layer's steps
    are normalised: with p_i = -y_i a . z_i, and psi the number whose logistic loss is the sum over S_2,

        a <- a + theta_t sum_i q_i y_i z_i,    q_i = l'(p_i) / l'(psi),   l'(p) = 1/(1 + exp(-p))

    where theta_t = 1/m_2 until that sum is at most l(0), then 1/2. The appendix names only "a certain learning rate
    schedule": this one is our reading of Ji & Telgarsky, in which psi is m_2-smooth at first and 2-smooth thereafter.

    ``iterations`` is the least t with min_i y_i a . z_i >= (gamma/2) ||a||, gamma the maximum margin of S_2 (no bias).
    Claimed as upper bound: iterations = O(d), so an exponent of at most 1; and gamma of order 1/sqrt(d) or more, an
    exponent of at least -1/2. ``runs`` seeds at each d.

    >>> found = appendix_a(runs=2, T1=2, m=16)
    >>> found.method, sorted(found.bound)
    ('scaling', ['exponent_gamma', 'exponent_iterations'])
    """
    reached = {d: _runs_at(d, n, m, T1, runs, seed) for d in DIMENSIONS}
    iterations = [np.array([float(path.iterations) for path in reached[d]]) for d in DIMENSIONS]
    gammas = [np.array([path.gamma for path in reached[d]]) for d in DIMENSIONS]
    in_iterations = exponent(DIMENSIONS, iterations, seed)
    in_gamma = exponent(DIMENSIONS, gammas, seed)
    every = [path for paths in reached.values() for path in paths]
    measured: dict[str, Any] = {
        "exponent_iterations": in_iterations,
        "exponent_gamma": in_gamma,
        "iterations": {d: float(found.mean()) for d, found in zip(DIMENSIONS, iterations, strict=True)},
        "gamma": {d: float(found.mean()) for d, found in zip(DIMENSIONS, gammas, strict=True)},
        "most_iterations_times_gamma_sq": max(path.iterations * path.gamma**2 for path in every),
        "margin_at_first_step": min(path.first for path in every),
    }
    last = Setting.of(DIMENSIONS[-1], n, None, None, m, T1, None, None, seed)
    return Finding(
        measured,
        {"exponent_iterations": 1, "exponent_gamma": -0.5},
        [
            at_most("exponent_iterations", in_iterations, 1),
            at_least("exponent_gamma", in_gamma, -0.5),
        ],
        "scaling",
        assumptions(last),
        notes=[
            f"{runs} runs at each d of {DIMENSIONS}, 95% bootstrap over runs; both claims are bounds, not orders",
            f"the least share of the maximum margin after one step was {measured['margin_at_first_step']:.3f}",
        ],
    )


@dataclass(frozen=True)
class Path:
    """Steps to half of the maximum margin ``gamma``, and the share of it after the first step."""

    iterations: int
    gamma: float
    first: float


def _runs_at(d: int, n: int, m: int, T1: int, runs: int, seed: int) -> list[Path]:
    from separatrix.training.trajectory import follow_all

    setting = replace(Setting.of(d, n, None, None, m, T1, None, None, seed), patterns="standard")
    cells = [replace(setting, seed=seed + run).cell() for run in range(runs)]
    found = []
    for path in follow_all(cells, T1, [T1]):
        products = path.instance @ path.params.W[-1]  # type: ignore[attr-defined]
        m1 = (m + 1) // 2
        Z = features(products, patterns_present(np.asarray(path.sample.x)[m1:], path.instance))
        found.append(steps_to_half(Z / np.linalg.norm(Z, axis=1, keepdims=True), np.asarray(path.sample.y)[m1:]))
    return found


def steps_to_half(Z: Floats, y: Floats) -> Path:
    """The normalised gradient descent of the appendix on rows of norm 1, until half of the maximum margin.

    It runs on the Gram matrix, as a = sum_i c_i y_i z_i all along.

    >>> steps_to_half(np.array([[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]]), np.array([1.0, 1.0, -1.0])).iterations
    1
    """
    rows = y[:, None] * Z
    _, first = np.unique(rows, axis=0, return_index=True)
    w, gap = least_norm_separator(Z[first], y[first])
    need_separable(gap)
    gamma = 1 / float(np.linalg.norm(w))
    gram = rows @ rows.T
    c = np.zeros(len(y))
    share = 0.0
    for t in range(1, MOST_STEPS + 1):
        p = -(gram @ c)
        total = float(np.logaddexp(0, p).sum())
        theta = 1 / len(y) if total > np.log(2) else 0.5
        c += theta / (1 + np.exp(-p)) / -np.expm1(-total)
        margins = gram @ c
        now = float(margins.min() / np.sqrt(c @ margins)) / gamma
        share = share if t > 1 else now
        if now >= 0.5:
            return Path(t, gamma, share)
    return Path(MOST_STEPS, gamma, share)
