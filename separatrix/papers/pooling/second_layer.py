"""Theorem 5.1: the second layer separates with a large margin, and Algorithm 1 finds such a separator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from separatrix.errors import InputError
from separatrix.papers.pooling.first_layer import (
    Dimension,
    MaybePatterns,
    Run,
    Setting,
    assumptions,
    equation_14,
    features,
    pattern_sets,
    run_of,
)
from separatrix.papers.pooling.margins import PROOF_CONSTANT, least_norm_separator
from separatrix.papers.pooling.scaling import scaling_of_the_error
from separatrix.rules import Whole
from separatrix.theory.certificate import Assumption, Check, Finding, at_least, at_most
from separatrix.theory.parameters import Count, Floats, MaybeCount, MaybePositive, Seed, Version
from separatrix.theory.results import result

SOLVER_TOLERANCE = 1e-6
DELTA = 0.05
MOST_FEATURES = 1 << 26
"""Entries of z over the whole support that are computed at most."""


@result(
    "pooling/theorem-5.1",
    "Layerwise gradient descent on the max-pooling network reaches zero loss on S2 and a test error of order "
    "sqrt(d/m): its features are separable with a squared margin norm of order d (corrected: l for "
    "d).",
)
def theorem_5_1(
    d: Dimension = 6,
    n: Count = 4,
    l: MaybePatterns = None,  # noqa: E741
    k: MaybeCount = None,
    m: Annotated[int, Whole(2)] = 100,
    T1: Count = 20,
    T2: Annotated[int, Whole(10)] = 3000,
    eta_1: MaybePositive = None,
    eta_2: MaybePositive = None,
    r: MaybePositive = None,
    runs: Annotated[int, Whole(0)] = 96,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 5.1 of Brutzkus & Globerson and part 3 of its proof, on a run of Algorithm 1 by the engine.

    With z(x)_i = max_j relu(w_i^(T1) . x[j]) and v*_i = +-80 d/(k eta_1 T1) on the lucky filters, 0 elsewhere:

        y v* . z(x) >= 1 for all x                     margin_v_star
        ||v*||^2 <= 2 80^2 d / (k eta_1^2 T1^2)        norm_v_star_sq   (measured over bound)
        ||z(x)||^2 <= 4 k eta_1^2 T1^2                 largest_z_sq     (measured over bound)
        ||v*||^2 max ||z(x)||^2 <= 51200 d             product_v_star

    on the whole support, set of patterns by set. Then a^(t) / ||a^(t)|| goes to the direction of a^, the least-norm
    separator of S_2 without bias (Soudry et al.: where S_2 is separable and eta_2 < 2 m_2 / sigma_max(Z)^2), the loss
    to zero; both are slow (the direction as 1/log t), so what was reached after ``T2`` steps is reported, with
    ``test_error`` of the trained network and ``test_error_limit`` of a^, exact.

    As ||z|| < 1/(2 sqrt k) here, no separator has a norm below 2 sqrt k (``least_norm``): section 5's sketch, in which
    ||v|| = O(sqrt(d/k)) and ||z|| = O(sqrt k), has other scales and the same product.

    Where l < d, Lemma 5.2 counts by l, and so must v*: d above is l, or d for ``version=printed``, whose norm bound
    then fails (from d = 6 on where l = 3, its default there). ``runs``: how many seeds the scaling of the error with m
    and d is fitted on, 0 to leave it out. Other arguments as in :func:`.dynamics.lemma_5_3`; ``eta_2`` is 7.9 k by
    default.

    >>> found = theorem_5_1(d=3, n=3, T1=10, T2=50, runs=0)
    >>> found.status, found.measured["test_error_limit"], found.measured["margin_v_star"] > 1
    ('holds', 0.0, True)
    """
    from separatrix.training.exact import exact_error
    from separatrix.training.trajectory import follow

    printed = version == "printed"
    setting = Setting.of(d, n, 3 if printed and l is None else l, k, m, T1, eta_1, r, seed)
    s = setting
    rate = 7.9 * s.k if eta_2 is None else eta_2
    cell = s.cell(rate)
    sets = cell.task.pattern_set_count  # type: ignore[attr-defined]
    if sets * s.k > MOST_FEATURES:
        raise InputError(
            f"n, l and k must leave at most {MOST_FEATURES} features on the whole support, got {sets} sets of patterns "
            f"times {s.k} filters; take fewer patterns l"
        )
    later = sorted({T1 + round(t) for t in np.geomspace(1, T2, 24)})
    path = follow(cell, T1 + T2, [*range(T1 + 1), *later])
    run = run_of(s, path, T1)
    last = run.products[-1]
    present, y, _ = pattern_sets(s.n, s.l)
    Z = features(last, present)
    size = float(np.max(np.sum(Z * Z, axis=1)))

    stated = s.d if printed else s.l
    scale = 1 / (s.k * s.eta_1**2 * s.T1**2)
    v = v_star(run, stated)
    norm_v = float(v @ v)
    second = SecondLayer.of(run, path.params.a[T1:], np.array([0, *(t - T1 for t in later)]))  # type: ignore[attr-defined]
    a_hat = second.a_hat
    measured: dict[str, Any] = {
        "margin_v_star": float((y * (Z @ v)).min()),
        "norm_v_star_sq": norm_v / (2 * 80**2 * stated * scale),
        "largest_z_sq": size * scale / 4,
        "product_v_star": norm_v * size,
        "least_norm": 1 / math.sqrt(size),
        "product": float(a_hat @ a_hat) * size,
        "margin_a_hat": float((y * (Z @ a_hat)).min()),
        "loss_start": float(second.losses[0]),
        "loss": float(second.losses[-1]),
        "loss_history": list(zip(second.times.tolist(), second.losses.tolist(), strict=True)),
        "angle_start": float(second.angles[0]),
        "angle": float(second.angles[-1]),
        "angle_history": list(zip(second.times.tolist(), second.angles.tolist(), strict=True)),
        "dual_gap": second.gap,
        "eta_2_limit": second.step_limit,
        "test_error": exact_error(cell.task, path.instance, path.network(T1 + T2)),  # type: ignore[arg-type]
        "test_error_limit": error_of(Z @ a_hat, s.n, s.l),
        "lucky_positive": len(run.lucky(1)),
        "lucky_negative": len(run.lucky(-1)),
        "smallest_m": smallest_m(stated),
    }
    bound: dict[str, Any] = {
        "margin_v_star": 1,
        "norm_v_star_sq": 1,
        "largest_z_sq": 1,
        "product_v_star": PROOF_CONSTANT * stated,
        "least_norm": 2 * math.sqrt(s.k),
        "product": PROOF_CONSTANT * stated,
        "probability": 1 - 4 * math.exp(-s.d) - 4 * math.exp(-s.m / 36),
        "eta_2": 8 * s.k,
    }
    checks = [
        at_least("margin_v_star", measured["margin_v_star"], 1),
        at_most("norm_v_star_sq over its bound", measured["norm_v_star_sq"], 1),
        at_most("largest_z_sq over its bound", measured["largest_z_sq"], 1),
        at_most("product_v_star over its bound", norm_v * size / bound["product_v_star"], 1),
        at_least("least_norm of a separator over 2 sqrt k", measured["least_norm"] / bound["least_norm"], 1),
        at_most("||a^||^2 over ||v*||^2", float(a_hat @ a_hat) / norm_v if norm_v else math.inf, 1),
        at_least("least margin of a^ on S2 (S2 is separable)", second.least_margin, 1, SOLVER_TOLERANCE),
        at_most("dual_gap: how far a^ may be from optimal, relative", second.gap, SOLVER_TOLERANCE),
        at_most("eta_2 over 2 m2 / sigma_max(Z)^2", rate / second.step_limit, 1),
        at_most("largest rise of the loss between kept steps", float(np.diff(second.losses).max()), 0),
        at_most("angle to a^ after T2 steps over that at the start", float(second.angles[-1] / second.angles[0]), 1),
    ]
    notes = [
        f"with the proof's constants and the margin bound of Shalev-Shwartz & Ben-David (26.13, delta = {DELTA}) the "
        f"error is bounded below 1 from m = {measured['smallest_m']} on; O(sqrt(d/m)) hides that",
        "both labels' margins are exact minima over all sets of patterns that an input can contain",
    ]
    method = "run"
    if runs:
        fitted = scaling_of_the_error(s.n, runs, s.seed)
        measured |= fitted.measured
        bound |= {"exponent_m": -0.5, "exponent_d": 0.5}
        checks += [
            at_most("exponent_m of the error", fitted.exponent_m, -0.5),
            at_most("exponent_d of the error", fitted.exponent_d, 0.5),
        ]
        notes += fitted.notes
        method = "scaling"
    premises = [
        *assumptions(s),
        Assumption("eta_2 < 8k", rate, 8 * s.k, rate < 8 * s.k),
        *equation_14(run),
    ]
    counts = lemma_5_2_counts(run, stated)
    if printed:
        checks += [Check(c.name, c.value, "<=" if "<=" in c.name else ">=", c.limit) for c in counts]  # type: ignore[arg-type]
    else:
        premises += counts
    vacuous = None if bound["probability"] > 0 else "the stated probability is not positive"
    return Finding(measured, bound, checks, method, premises, vacuous, notes)


def v_star(run: Run, d: int) -> Floats:
    """+-80 d / (k eta_1 T1) on the lucky filters, with their label's sign."""
    s = run.setting
    v = np.zeros(s.k)
    v[run.lucky(1)] = 80 * d / (s.k * s.eta_1 * s.T1)
    v[run.lucky(-1)] = -80 * d / (s.k * s.eta_1 * s.T1)
    return v


def lemma_5_2_counts(run: Run, d: int) -> list[Assumption]:
    """The event of Lemma 5.2: k/4d <= both numbers of lucky filters <= k/d."""
    low, high = Fraction(run.setting.k, 4 * d), Fraction(run.setting.k, d)
    counts = {"+": len(run.lucky(1)), "-": len(run.lucky(-1))}
    words = "k/4l", "k/l"
    found = [Assumption(f"lucky{sign} >= {words[0]}", count, low, count >= low) for sign, count in counts.items()]
    return found + [Assumption(f"lucky{s} <= {words[1]}", count, high, count <= high) for s, count in counts.items()]


def error_of(outputs: Floats, n: int, l: int) -> float:  # noqa: E741
    """P(sign of the output != y) over the support, from the outputs on ``pattern_sets(n, l)``."""
    _, y, p = pattern_sets(n, l)
    return float(np.sum(p * ((outputs > 0) != (y > 0))))


def smallest_m(d: int) -> int:
    """The m from which 2B/sqrt(m_2) + (1 + B) sqrt(2 ln(2/delta)/m_2) < 1, with B^2 = 51200 d and m_2 = m/2.

    >>> smallest_m(4)
    9133762
    """
    B = math.sqrt(PROOF_CONSTANT * d)
    return 2 * (math.floor((2 * B + (1 + B) * math.sqrt(2 * math.log(2 / DELTA))) ** 2) + 1)


@dataclass(frozen=True)
class SecondLayer:
    """Algorithm 1's second layer at the kept ``times``, against a^, the hard-margin separator of S_2 without bias."""

    a_hat: Floats
    gap: float
    least_margin: float
    step_limit: float
    times: Any
    losses: Floats
    angles: Floats

    @staticmethod
    def of(run: Run, a: Floats, times: Any) -> SecondLayer:
        present, y = run.present[run.m1 :], run.y[run.m1 :]
        Z = features(run.products[-1], present)
        _, first = np.unique(np.column_stack([present, y > 0]), axis=0, return_index=True)
        size = float(np.linalg.norm(Z, axis=1).max())
        w, gap = least_norm_separator(Z[first] / size, y[first])
        margins = y * (a @ Z.T)
        cosines = a @ w / (np.linalg.norm(a, axis=1) * np.linalg.norm(w))
        return SecondLayer(
            w / size,
            max(0.0, gap / float(w @ w / 2)),
            float((y * (Z @ w)).min() / size),
            float(2 * len(y) / np.linalg.norm(Z, 2) ** 2),
            times,
            np.asarray(np.logaddexp(0, -margins).mean(axis=1)),
            np.asarray(np.degrees(np.arccos(np.clip(cosines, -1, 1)))),
        )
