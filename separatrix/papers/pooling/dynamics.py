"""Lemmas 5.3, 5.5, C.1, C.2, C.3 and Corollary 5.4: the first layer, on a real run at every step."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from separatrix.papers.pooling.first_layer import (
    SCAN,
    Floats,
    Run,
    Setting,
    Sign,
    assumptions,
    equation_14,
    equation_14_failure,
    features,
    first_failing_r,
    first_layer,
)
from separatrix.rules import Choice, Maybe, Real, Whole
from separatrix.theory.certificate import Check, Finding, at_least, at_most
from separatrix.theory.results import result

Dimension = Annotated[int, Whole(3)]
Count = Annotated[int, Whole(1)]
MaybeCount = Annotated[int | None, Maybe(Whole(1))]
MaybePatterns = Annotated[int | None, Maybe(Whole(3))]
MaybePositive = Annotated[float | None, Maybe(Real(above=0))]
Seed = Annotated[int, Whole(0, 2**31 - 1)]
Version = Annotated[str, Choice("corrected", "printed")]
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
    i, j, g = _least(ratio), _least(-others), _least(gap)
    where = {
        "projection": {"t": i[0] + 1, "filter": int(lucky[i[1]])},
        "other": {"t": j[0], "pattern": int(names[j[1]]), "filter": int(lucky[j[2]])},
        "gap": {"t": g[0], "filter": int(lucky[g[1]])},
    }
    return Detection(
        len(lucky), float(ratio.min()), float(slack.min()), float(others.max()), missed, float(gap.min()), where
    )


def _least(values: Floats) -> tuple[int, ...]:
    return tuple(int(place) for place in np.unravel_index(int(values.argmin()), values.shape))


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
        notes.append(_scan_note(failing))
    premises = assumptions(s) + (equation_14(run) if conditioned else [])
    return Finding(measured, bound, checks, "run", premises, vacuous, notes)


def _scan_note(failing: float | None) -> str:
    if failing is None:
        return f"tried r/eta_1 = {SCAN[0]:g}, ..., {SCAN[-1]:g} (theorem: 1/200) where cheap: none broke the conclusion"
    return f"of r/eta_1 = {SCAN[0]:g}, 10, 100, ... (theorem: 1/200) the conclusion first fails at {failing:g}"


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


@result("pooling/lemma-c.1", "At every step t <= T1 every filter has a norm of at most eta_1 (t + 1).")
def lemma_c_1(
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
    r"""Lemma C.1 of Brutzkus & Globerson: ||w_i^(t)|| <= eta_1 (t + 1) for 0 <= t <= T1 and all i.

    Its proof's steps are checked too: a gradient's norm is at most 1 (``largest_step``, in units of eta_1), and
    ||w_i^(t)|| <= r + eta_1 t follows (measured, with equality at t = 0). Arguments as in :func:`lemma_5_3`.

    >>> found = lemma_c_1(d=3, T1=10, n=3)
    >>> found.status, found.measured["largest_norm_ratio"] < 1
    ('holds', True)
    >>> lemma_c_1(d=3, T1=10, n=3, r=1.0).status
    'outside'
    """
    run = first_layer(Setting.of(d, n, l, k, m, T1, eta_1, r, seed))
    s = run.setting
    t = np.arange(s.T1 + 1)[:, None]

    def ratios(run: Run) -> Floats:
        return np.asarray(run.norms / (run.setting.eta_1 * (t + 1)))

    ratio = ratios(run)
    at = _least(-ratio)
    tight = run.norms / (s.r + s.eta_1 * t)
    step = float(run.steps.max()) / s.eta_1
    failing = first_failing_r(s, lambda other: bool(ratios(other).max() <= 1 + 1e-12))
    checks = [
        at_most("largest_norm_ratio: largest norm / (eta_1 (t + 1))", float(ratio.max()), 1),
        at_most("largest_step: largest gradient norm", step, 1),
    ]
    measured = {
        "largest_norm_ratio": float(ratio.max()),
        "largest_norm_over_r_plus_eta_t": float(tight.max()),
        "largest_step": step,
        "where": {"t": at[0], "filter": at[1]},
        "fails_at_r_over_eta_1": failing,
    }
    bound = {"largest_norm_ratio": 1, "largest_norm_over_r_plus_eta_t": 1, "largest_step": 1}
    return Finding(measured, bound, checks, "run", assumptions(s), notes=[_scan_note(failing)])


@result("pooling/lemma-c.2", "On every sample of S1 and at every step t <= T1 the network's output is at most 1/2.")
def lemma_c_2(
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
    r"""Lemma C.2 of Brutzkus & Globerson, and the chain of its proof at every t:

        |N[(W^(t), a^(0))](x)| <= k max_i ||w_i^(t)|| <= k eta_1 (t + 1) <= 1/2   for x in S_1

    The theorem's eta_1 makes the chain end at 1/4 already. Arguments as in :func:`lemma_5_3`.

    >>> found = lemma_c_2(d=3, T1=10, n=3)
    >>> found.status, found.measured["largest_output"] < 0.25
    ('holds', True)
    """
    run = first_layer(Setting.of(d, n, l, k, m, T1, eta_1, r, seed))
    s = run.setting
    sets = np.unique(run.present[: run.m1], axis=0)

    def outputs(run: Run) -> Floats:
        return np.stack([np.abs(features(products, sets) @ run.a) for products in run.products])

    output = outputs(run).max(axis=1)
    norms = s.k * run.norms.max(axis=1)
    chain = s.k * s.eta_1 * np.arange(1, s.T1 + 2)
    failing = first_failing_r(s, lambda other: bool(outputs(other).max() <= 0.5))
    measured = {
        "largest_output": float(output.max()),
        "k_times_largest_norm": float(norms.max()),
        "where": {"t": int(output.argmax())},
        "fails_at_r_over_eta_1": failing,
    }
    bound = {"largest_output": 0.5, "k_times_largest_norm": float(chain[-1])}
    checks = [
        at_most("largest_output", float(output.max()), 0.5),
        at_least("k max norm - |output|, least over t", float((norms - output).min()), 0),
        at_least("k eta_1 (t + 1) - k max norm, least over t", float((chain - norms).min()), 0),
        at_most("k eta_1 (T1 + 1)", float(chain[-1]), 0.5),
    ]
    return Finding(measured, bound, checks, "run", assumptions(s), notes=[_scan_note(failing)])


@result(
    "pooling/lemma-5.5",
    "At every step 1 <= t <= T1, for every input of the support, every filter and every place j <= n (printed: j <= "
    "d), the product x[j] . w_i is at most 2 eta_1 t.",
)
def lemma_5_5(
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
    r"""Lemma 5.5 of Brutzkus & Globerson: x[j] . w_i^(t) <= 2 eta_1 t for 1 <= t <= T1, 1 <= j <= n and all x.

    Over the whole support, exactly: the patterns that can be x[j] are o_1, ..., o_l (o_1 and o_2 alone where n = 1).
    As printed j runs to d, and an input has no place j > n (``version=printed`` with n < d). Arguments as in
    :func:`lemma_5_3`.

    >>> lemma_5_5(d=4, T1=5, n=3).status, lemma_5_5(d=4, T1=5, n=3, version="printed").status
    ('holds', 'violated')
    """
    run = first_layer(Setting.of(d, n, l, k, m, T1, eta_1, r, seed))
    s = run.setting
    possible = s.l if n > 1 else 2
    t = np.arange(1, s.T1 + 1)[:, None, None]

    def ratios(run: Run) -> Floats:
        return np.asarray(run.products[1:, :possible] / (2 * run.setting.eta_1 * t))

    ratio = ratios(run)
    at = _least(-ratio)
    places = d if version == "printed" else n
    failing = first_failing_r(s, lambda other: bool(ratios(other).max() <= 1))
    measured = {
        "largest_response_ratio": float(ratio.max()),
        "places": places,
        "where": {"t": at[0] + 1, "pattern": at[1] + 1, "filter": at[2]},
        "fails_at_r_over_eta_1": failing,
    }
    checks = [
        at_most("largest_response_ratio: largest x[j] . w / (2 eta_1 t)", float(ratio.max()), 1),
    ]
    if version == "printed":
        checks.append(at_most("places: j must be a place of x", places, n))
    notes = [_scan_note(failing)]
    if places > n:
        notes.append(f"an input has {n} places: x[{n + 1}], which the printed statement speaks of, does not exist")
    return Finding(measured, {"largest_response_ratio": 1, "places": n}, checks, "run", assumptions(s), notes=notes)
