"""How the error of Algorithm 1's limit falls with m and grows with d, and the fits of appendix A."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.papers.pooling.first_layer import Setting, features, pattern_sets, patterns_present
from separatrix.papers.pooling.margins import least_norm_separator, need_separable
from separatrix.studies.growth import growth_law
from separatrix.theory.certificate import Interval
from separatrix.theory.parameters import Floats

SIZES = (4, 6, 8)
DIMENSIONS = (4, 10)
STEPS = 4
Runs = tuple[Floats, NDArray[np.bool_]]


@dataclass(frozen=True)
class Scaling:
    exponent_m: Interval
    exponent_d: Interval
    measured: Mapping[str, Any]
    notes: Sequence[str]


def scaling_of_the_error(n: int, runs: int, seed: int) -> Scaling:
    """Exponents of the mean exact error of the limit a^, in m at the least d and in d at the least m."""
    errors = {
        (d, m): limit_errors(d, n, m, runs, seed)
        for d, m in dict.fromkeys([*((DIMENSIONS[0], m) for m in SIZES), *((d, SIZES[0]) for d in DIMENSIONS)])
    }
    in_m = exponent(SIZES, [errors[DIMENSIONS[0], m][0] for m in SIZES], seed)
    in_d = exponent(DIMENSIONS, [errors[d, SIZES[0]][0] for d in DIMENSIONS], seed)
    means = [
        {"d": d, "m": m, "error": float(found.mean()), "error_given_both_labels": _mean(found[both])}
        for (d, m), (found, both) in errors.items()
    ]
    constant = max(float(found.mean()) / (d / m) ** 0.5 for (d, m), (found, _) in errors.items())
    return Scaling(
        in_m,
        in_d,
        {"exponent_m": in_m, "exponent_d": in_d, "errors": means, "constant": constant},
        [
            f"scaling: exact errors of the limit a^, {runs} runs at each of m = {SIZES} and d = {DIMENSIONS}, "
            "95% bootstrap over runs; at such m the stated probability is not positive, and where it is hardly an "
            "error is left to fit: most of the error is that of the runs whose S2 (or S1) has one label only",
            "a mean of zero counts as half a run with error 1/2, which makes the fall look slower than it is",
        ],
    )


def limit_errors(d: int, n: int, m: int, runs: int, seed: int) -> Runs:
    """For each seed the exact test error of the limit of Algorithm 1, the hard-margin separator of S_2's features.

    And whether both S_1 and S_2 have both labels.
    """
    from separatrix.training.trajectory import follow_all

    first = replace(Setting.of(d, n, None, None, m, STEPS, None, None, seed), patterns="standard")
    cells = [replace(first, seed=seed + run).cell() for run in range(runs)]
    present, y, p = pattern_sets(n, d)
    errors, both = [], []
    for path in follow_all(cells, STEPS, [STEPS]):
        products = path.instance @ path.params.W[-1]  # type: ignore[attr-defined]
        m1, labels = (m + 1) // 2, np.asarray(path.sample.y)
        Z = features(products, patterns_present(np.asarray(path.sample.x)[m1:], path.instance))
        a_hat, gap = least_norm_separator(Z / np.linalg.norm(Z, axis=1).max(), labels[m1:])
        need_separable(gap)
        both.append(len(set(labels[:m1])) == len(set(labels[m1:])) == 2)
        errors.append(float(np.sum(p * ((features(products, present) @ a_hat > 0) != (y > 0)))))
    return np.array(errors), np.array(both)


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def exponent(at: Sequence[float], values: Sequence[Floats], seed: int) -> Interval:
    """The exponent of the mean in ``at``; a mean of zero counts as half a run with error 1/2.

    >>> exponent([1, 2, 4], [np.array([8.0, 8.0]), np.array([4.0, 4.0]), np.array([2.0, 2.0])], 0)
    Interval(mean=-1.0, low=-1.0, high=-1.0)
    """
    zero = 0.25 / min(len(sample) for sample in values)
    return growth_law(at, values, centre="mean", zero=zero, misfit_counts=False, seed=seed).rate
