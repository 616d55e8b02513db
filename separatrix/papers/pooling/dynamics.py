"""Lemmas 5.3 and C.3 and Corollary 5.4: lucky filters go on detecting, on a real run at every step."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.papers.pooling.first_layer import (
    Dimension,
    MaybePatterns,
    Run,
    Setting,
    Sign,
    assumptions,
    equation_14,
    equation_14_failure,
    first_failing_r,
    first_layer,
    scan_note,
    where_least,
)
from separatrix.theory.certificate import Check, Finding, at_least, at_most
from separatrix.theory.parameters import Count, MaybeCount, MaybePositive, Seed, Version
from separatrix.theory.results import result

NINTH = Fraction(1, 9)
TINY = sys.float_info.min
"""What is at least this is above zero."""
_SEEDS = 64


@dataclass(frozen=True)
class Detection:
    """The lucky filters of one label over a run; ``where`` says at which step and filter (pattern) each is reached."""

    filters: int
    projection: float
    projection_slack: float
    other: float
    misdetections: int
    least_gap: float
    where: Mapping[str, Mapping[str, int]]

    @property
    def holds(self) -> bool:
        return self.projection >= NINTH and self.projection_slack >= 0 and self.other <= 1 and not self.misdetections


def detection(run: Run, sign: Sign) -> Detection:
    """Lemma 5.3 (sign 1) or Corollary 5.4 (sign -1), measured in units of eta_1 (and r)."""
    s = run.setting
    own = 0 if sign == 1 else 1
    lucky = run.lucky(sign)
    if not len(lucky):
        return Detection(0, math.inf, math.inf, -math.inf, 0, math.inf, {})
    products = run.products[:, :, lucky]
    t = np.arange(s.T1 + 1)[:, None]
    mine = products[:, own]
    ratio = mine[1:] / (t[1:] * s.eta_1)
    slack = mine / s.eta_1 - t / 9
    others = np.delete(products, own, axis=1) / s.r
    seen = run.present[: run.m1][run.y[: run.m1] == sign]
    rivals = [j for j in range(s.l) if j != own and len(seen) and seen[:, j].any()]
    gap = (mine - np.maximum(products[:, rivals].max(axis=1, initial=0), 0)) / s.eta_1
    missed = int(np.sum(gap <= 0)) if len(seen) else 0
    names = np.delete(np.arange(s.l), own) + 1
    i, j, g = where_least(ratio), where_least(-others), where_least(gap)
    where = {
        "projection": {"t": i[0] + 1, "filter": int(lucky[i[1]])},
        "other": {"t": j[0], "pattern": int(names[j[1]]), "filter": int(lucky[j[2]])},
        "gap": {"t": g[0], "filter": int(lucky[g[1]])},
    }
    return Detection(
        len(lucky), float(ratio.min()), float(slack.min()), float(others.max()), missed, float(gap.min()), where
    )


def _detection_finding(
    run: Run, sign: Sign, probability: float | None, checks: list[Check], conditioned: bool = True
) -> Finding:
    """What Lemma 5.3, Corollary 5.4 and Lemma C.3 have in common."""
    s = run.setting
    found = detection(run, sign)
    own = "o1" if sign == 1 else "o2"
    failing = first_failing_r(s, lambda other: detection(other, sign).holds) if conditioned else None
    measured: dict[str, Any] = {
        f"projection_on_{own}": found.projection,
        "projection_slack": found.projection_slack,
        "largest_other_projection": found.other,
        "misdetections": found.misdetections,
        "least_gap": found.least_gap,
        "lucky_filters": found.filters,
        "where": found.where,
        "fails_at_r_over_eta_1": failing,
        "seed": s.seed,
    }
    bound: dict[str, Any] = {
        f"projection_on_{own}": NINTH,
        "projection_slack": 0,
        "largest_other_projection": 1,
        "misdetections": 0,
    }
    if probability is not None:
        bound["probability"] = probability
    checks = [
        at_least(f"projection_on_{own}: least o . w / (t eta_1) over t >= 1", found.projection, NINTH),
        at_least("projection_slack: least o . w / eta_1 - t/9 over all t", found.projection_slack, 0),
        at_most("largest_other_projection: largest o_j . w / r", found.other, 1),
        at_least("least_gap: least o . w - best rival in a sample, / eta_1, above 0", found.least_gap, TINY),
        *checks,
    ]
    vacuous = None
    if not found.filters:
        vacuous = "no filter is lucky"
    elif probability is not None and probability <= 0:
        vacuous = "the stated probability is not positive"
    notes = [f"o . w in units of eta_1, other products in units of r; all t = 0..{s.T1} of the engine's float64 run"]
    if conditioned:
        notes.append(scan_note(failing))
    premises = assumptions(s) + (equation_14(run) if conditioned else [])
    return Finding(measured, bound, checks, "run", premises, vacuous, notes)


@result(
    "pooling/lemma-5.3",
    "With probability at least 1 - 4 exp(-m/36) (printed: always), at every step t <= T1 a lucky positive filter has "
    "a product of at least t eta_1/9 with o_1 and at most r with every other pattern, and o_1 activates it most in "
    "every positive sample of S1.",
)
def lemma_5_3(
    d: Dimension = 5,
    n: Count = 4,
    l: MaybePatterns = None,  # noqa: E741
    k: MaybeCount = None,
    m: MaybeCount = None,
    T1: Count = 50,
    eta_1: MaybePositive = None,
    r: MaybePositive = None,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 5.3 of Brutzkus & Globerson. For 0 <= t <= T1 and i in W_0^+ and A^+:

        (1)  o_1 . w_i^(t) >= t eta_1 / 9
        (2)  o_j . w_i^(t) <= r  for j != 1
        (3)  p_i^(t)(x) = o_1    for all x in S_1^+

    given that each label is at least a third of S_1 (Equation 14), which has the probability that the lemma leaves
    out. ``version=printed`` states it for every sample: the counterexample is the first seed from ``seed`` on whose
    few samples (``m`` is then 4 by default) break it.

    ``d``, ``n``, ``l``, ``k``, ``m``, ``T1``, ``eta_1``, ``r`` are the paper's; left out, l = d, k = 8 d^3 + 1,
    m = 200, eta_1 = 1/(4k(T1+1)) and r = eta_1/200. ``fails_at_r_over_eta_1``: the first power of ten at which this
    run's conclusion fails.

    >>> found = lemma_5_3(d=3, T1=10, n=3)
    >>> found.status, found.measured["misdetections"], found.measured["projection_on_o1"] > 1/9
    ('holds', 0, True)
    """
    printed = version == "printed"
    size = (4 if printed else 200) if m is None else m
    setting = Setting.of(d, n, l, k, size, T1, eta_1, r, seed)
    run = first_layer(setting)
    if not printed:
        return _detection_finding(run, 1, 1 - 4 * math.exp(-size / 36), [])
    for other in range(seed, seed + _SEEDS):
        candidate = first_layer(replace(setting, seed=other))
        if not detection(candidate, 1).holds:
            run = candidate
            break
    return _detection_finding(run, 1, None, [], conditioned=False)


@result(
    "pooling/corollary-5.4",
    "With probability at least 1 - 4 exp(-d) - 4 exp(-m/36), at every step t <= T1 a lucky negative filter has a "
    "product of at least t eta_1/9 with o_2 and at most r with every other pattern, and o_2 activates it most in "
    "every negative sample of S1.",
)
def corollary_5_4(
    d: Dimension = 5,
    n: Count = 4,
    l: MaybePatterns = None,  # noqa: E741
    k: MaybeCount = None,
    m: Count = 200,
    T1: Count = 50,
    eta_1: MaybePositive = None,
    r: MaybePositive = None,
    seed: Seed = 0,
) -> Finding:
    r"""Corollary 5.4 of Brutzkus & Globerson: Lemma 5.3 with the labels exchanged. For i in W_0^- and A^-:

        (1)  o_2 . w_i^(t) >= t eta_1 / 9        (2)  o_j . w_i^(t) <= r  for j != 2
        (3)  p_i^(t)(x) = o_2  for all x in S_1^-

    Arguments as in :func:`lemma_5_3`.

    >>> found = corollary_5_4(d=4, n=3, T1=5)
    >>> found.status, found.measured["misdetections"], found.measured["projection_on_o2"] > 1/9
    ('holds', 0, True)
    """
    run = first_layer(Setting.of(d, n, l, k, m, T1, eta_1, r, seed))
    return _detection_finding(run, -1, 1 - 4 * math.exp(-d) - 4 * math.exp(-m / 36), [])


@result(
    "pooling/lemma-c.3",
    "Each label is at least a third of S1 (printed: m1/3) with probability at least 1 - 4 exp(-m/36), and then the "
    "lucky positive filters are as Lemma 5.3 says.",
)
def lemma_c_3(
    d: Dimension = 5,
    n: Count = 4,
    l: MaybePatterns = None,  # noqa: E741
    k: MaybeCount = None,
    m: Count = 200,
    T1: Count = 50,
    eta_1: MaybePositive = None,
    r: MaybePositive = None,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma C.3 of Brutzkus & Globerson, from which Lemma 5.3 follows.

    Equation 14, |S_1^+|/m_1 >= 1/3 and |S_1^-|/m_1 >= 1/3, fails with a probability that is summed exactly here and is
    at most 4 exp(-m/36) by Hoeffding's inequality. As printed, with m_1/3 for 1/3, it fails always (m_1 > 3):
    ``version=printed``. Arguments as in :func:`lemma_5_3`.

    >>> lemma_c_3(d=3, T1=10, n=3).status, lemma_c_3(d=3, T1=10, n=3, version="printed").status
    ('holds', 'violated')
    """
    run = first_layer(Setting.of(d, n, l, k, m, T1, eta_1, r, seed))
    limit = Fraction(run.m1, 3) if version == "printed" else Fraction(1, 3)
    failure = equation_14_failure(run.m1, limit)
    check = at_most("equation_14_failure", failure, 4 * math.exp(-m / 36))
    found = _detection_finding(run, 1, 1 - 4 * math.exp(-m / 36), [check])
    measured = {**found.measured, "equation_14_failure": float(failure)}
    return replace(found, measured=measured, bound={**found.bound, "equation_14_failure": 4 * math.exp(-m / 36)})
