"""Lemmas C.1, C.2 and 5.5: all filters and outputs stay small, on a real run at every step."""

from __future__ import annotations

import numpy as np

from separatrix.papers.pooling.first_layer import (
    Dimension,
    MaybePatterns,
    Run,
    Setting,
    assumptions,
    features,
    first_failing_r,
    first_layer,
    scan_note,
    where_least,
)
from separatrix.theory.certificate import Finding, at_least, at_most
from separatrix.theory.parameters import Count, Floats, MaybeCount, MaybePositive, Seed, Version
from separatrix.theory.results import result


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
    ||w_i^(t)|| <= r + eta_1 t follows (measured, with equality at t = 0). Arguments as in :func:`.dynamics.lemma_5_3`.

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
    at = where_least(-ratio)
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
    return Finding(measured, bound, checks, "run", assumptions(s), notes=[scan_note(failing)])


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

    The theorem's eta_1 makes the chain end at 1/4 already. Arguments as in :func:`.dynamics.lemma_5_3`.

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
    return Finding(measured, bound, checks, "run", assumptions(s), notes=[scan_note(failing)])


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
    :func:`.dynamics.lemma_5_3`.

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
    at = where_least(-ratio)
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
    notes = [scan_note(failing)]
    if places > n:
        notes.append(f"an input has {n} places: x[{n + 1}], which the printed statement speaks of, does not exist")
    return Finding(measured, {"largest_response_ratio": 1, "places": n}, checks, "run", assumptions(s), notes=notes)
