"""Theorems 2 and 3: kernel methods and linear regression on features fail on the hard class."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.papers.residual.hard_class import BestRisks, Span, best_risks, check_size
from separatrix.papers.residual.spans import DOT_PRODUCT, KERNELS, DotProductSpan, ParitySpan, RandomSpan, TabulatedSpan
from separatrix.rules import Choice, Maybe, Whole
from separatrix.theory.certificate import Assumption, Check, Finding, Interval, at_least, at_most
from separatrix.theory.parameters import Floats, Positive, Seed, Share, Version
from separatrix.theory.results import result

Degree = Annotated[int, Whole(2, 40)]
_TABULATED = 18
SKETCH_D1 = 2001
"""The least d1 with C(d1, 2) >= 1000 d1."""


def guaranteed_fraction(dimension: int, k: int, targets: int) -> Fraction:
    """1 - dim/((1 - 1/(16k)) targets): at least this share is above alpha^2/16, whatever the functions are."""
    return 1 - Fraction(dimension) / (1 - Fraction(1, 16 * k)) / targets


def samples(d: int, N: int, seed: int) -> NDArray[np.int64]:
    """N uniform points of {+-1}^d (the x^(n) times sqrt d)."""
    return np.random.default_rng(seed).choice(np.array([1, -1], dtype=np.int64), (N, d))


@result(
    "residual/theorem-2",
    "With N <= C(d1, k)/1000 samples, every kernel regression function has a risk above alpha^2/16 on at least 99% "
    "of the targets of (7.1) (printed, in the sketch: half of it above alpha^2).",
)
def theorem_2(
    k: Degree = 4,
    d1: Annotated[int, Whole(2, 400)] = 24,
    d: Annotated[int | None, Maybe(Whole(2, 400))] = None,
    N: Annotated[int | None, Maybe(Whole(1, 5000))] = None,
    alpha: Share = 0.3,
    kernel: Annotated[str, Choice(*KERNELS)] = "gaussian",
    h: Positive = 1.0,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 2 of Allen-Zhu & Li for random samples X and a kernel: the best risk of every target, by projection.

    No training: the weights may depend on everything, so the best is the distance of the target to the span of the
    K(., x^(n)). ``N`` is C(d1, k)/1000 by default, ``d`` is d1 (the other coordinates are uniform too). Kernels of unit
    vectors: ``gaussian`` exp(-||x-y||^2/h), ``arc-cosine`` (degree 1), ``ntk`` (two ReLU layers), ``arcsin``,
    ``linear``, and ``random``, a Mercer kernel with random weights on the parities of sizes 0, 1, k.

    ``fraction_above`` is that of the projections, in float64 and in a basis that sorts by levels
    (:mod:`.level_basis`), so that smooth kernels lose no digits; ``risk_error`` is how far a risk may be off. Where
    float64 does not decide the rank of the span, they are intervals. ``fraction_certified`` counts only what the bound
    k alpha^2 (1 - c_S) decides (see :mod:`.hard_class`), which does not depend on the dot-product kernel; and
    ``fraction_guaranteed`` = 1 - N'/((1 - 1/(16k)) C(d1, k)) holds for any kernel and N' distinct samples, by counting.
    The class is of sets: an order of the outputs makes k! functions of each.

    ``version=printed`` asks for half the risk above alpha^2, as the sketch in section 3.1 does. Counterexample: k = 2,
    the linear kernel <x, y> and the samples 1 - 2 e_n, n = 1..d = 2001 <= C(2001, 2)/1000, a basis of R^d. The span is
    all linear functions, so every chi_i is learned, no chi_S is, and half the risk is exactly 2 alpha^2/2 = alpha^2.

    >>> found = theorem_2(d1=20, k=3)
    >>> found.status, found.measured["targets"], found.measured["fraction_above"]
    ('holds', 1140, 1.0)
    """
    targets, dimension = _class_size(k, d1, d)
    count = max(1, targets // 1000) if N is None else N
    check_size(d1, k, count)
    z = samples(dimension, count, seed)
    if kernel in DOT_PRODUCT:
        span: Span = DotProductSpan(kernel, z, d1, h)
    else:
        span = RandomSpan(z, d1, k, np.random.default_rng([seed, 1]))
    found = best_risks(span, k, alpha)
    premises = [
        Assumption("2 <= k <= d1 <= d", f"{k}, {d1}, {dimension}", "in order", True),
        Assumption("1000 N <= C(d1, k)", 1000 * count, targets, 1000 * count <= targets),
    ]
    more: dict[str, Any] = {"N": count, "distinct_samples": span.distinct}
    return _finding(found, span, k, alpha, targets, version, premises, more)


@result(
    "residual/theorem-3",
    "With D <= C(d1, k)/1000 features, every linear function of them has a risk above alpha^2/16 on at least 99% of "
    "the targets of (7.1) (printed, in the sketch: half of it above alpha^2).",
)
def theorem_3(
    k: Degree = 7,
    d1: Annotated[int, Whole(2, 400)] = 14,
    D: Annotated[int | None, Maybe(Whole(1, 5000))] = None,
    alpha: Share = 0.3,
    features: Annotated[str, Choice("relu", "cosine", "parities")] = "relu",
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 3 of Allen-Zhu & Li for a feature map phi: {+-1/sqrt d}^d -> R^D, d = d1, as :func:`theorem_2`.

    Features: random ``relu`` and ``cosine`` of <w, x> sqrt(d) + b with w ~ N(0, I/d), by enumeration of the cube (d1 at
    most 18); or the best there are, ``parities``: all chi_i as far as D goes, and then chi_S of size k, each of which
    gives one target away. ``D`` is C(d1, k)/1000 by default.

    >>> theorem_3(k=3, d1=20, features="parities", D=25).measured["fraction_above"] == 1 - 5 / 1140
    True
    """
    targets, _ = _class_size(k, d1, None)
    count = max(1, targets // 1000) if D is None else D
    check_size(d1, k, count)
    if features == "parities":
        span: Span = ParitySpan(d1, k, count)
    else:
        if d1 > _TABULATED:
            raise InputError(f"d1 must be at most {_TABULATED} for features that are tabulated on the cube, got {d1}")
        span = TabulatedSpan(random_features(features, d1, count, seed), d1)
    found = best_risks(span, k, alpha)
    premises = [Assumption("1000 D <= C(d1, k)", 1000 * count, targets, 1000 * count <= targets)]
    return _finding(found, span, k, alpha, targets, version, premises, {"D": count, "distinct_features": span.distinct})


def _class_size(k: int, d1: int, d: int | None) -> tuple[int, int]:
    dimension = d1 if d is None else d
    if not k <= d1 <= dimension:
        raise InputError(f"k, d1 and d must satisfy k <= d1 <= d, got {k}, {d1}, {dimension}")
    return math.comb(d1, k), dimension


def _finding(
    found: BestRisks,
    span: Span,
    k: int,
    alpha: float,
    targets: int,
    version: str,
    premises: list[Assumption],
    more: dict[str, Any],
) -> Finding:
    printed = version == "printed"
    threshold = 2 * alpha**2 if printed else alpha**2 / 16
    (surely, possibly), risk = found.above_limits(threshold), found.risk
    exactly = surely == possibly
    above = surely if exactly else Interval(found.above(threshold), surely, possibly)
    guaranteed = guaranteed_fraction(span.distinct, k, targets)
    measured: dict[str, Any] = {
        "fraction_above": above,
        "targets": targets,
        "fraction_certified": found.surely_above(threshold),
        "fraction_guaranteed": max(Fraction(0), guaranteed),
        "least_risk": _known(found, float(risk.min()), float(found.least.min())),
        "least_risk_certified": float(found.lower.min()),
        "mean_risk": _known(found, float(risk.mean()), float(found.least.mean())),
        "risk_error": found.error,
        "threshold": threshold,
        "leverage_sum": found.leverage_sum,
        "well_conditioned": found.sound and found.decided,
        "functions_of_the_class": targets * math.factorial(k),
    } | more
    bound: dict[str, Any] = {"fraction_above": 0.99, "leverage_sum": span.distinct}
    checks: list[Check] = [at_least("fraction_above", above, 0.99)]
    if found.sound:
        checks += [
            at_most("sum of c_S: the dimension, by counting", found.leverage_sum, span.distinct, 1e-6 * span.distinct),
        ]
    if found.sound and found.decided:
        checks.append(at_least("least of risk - lower bound", float((risk - found.lower).min()), 0, 1e-9 + found.error))
    notes = []
    if not found.decided:
        notes.append(
            "float64 does not decide the rank of the span: risks and fraction_above are known only within intervals"
        )
    if printed:
        sketch = half_risk_of_the_linear_kernel(alpha)
        measured["half_risk_linear_kernel_k_2"] = sketch
        checks.append(at_least("half the risk less alpha^2 (must be positive), k = 2", sketch - alpha**2, 1e-300))
        notes.append(
            f"k = 2, K(x, y) = <x, y>, samples 1 - 2 e_n (n = 1..{SKETCH_D1}): the span is all linear functions, E "
            "(x_i + alpha x_i x_j - x_i)^2 = alpha^2 for both outputs, and half of 2 alpha^2 is not above alpha^2"
        )
    else:
        checks.append(at_least("fraction_above less fraction_guaranteed", possibly - float(guaranteed), 0, 1e-12))
    return Finding(measured, bound, checks, "closed form", premises, notes=notes)


def _known(found: BestRisks, value: float, least: float) -> float | Interval:
    """A number where float64 decides the risks, and otherwise what it lies between."""
    return value if found.decided else Interval(value, least, found.most)


def half_risk_of_the_linear_kernel(alpha: float) -> float:
    """(1/2) k alpha^2 at k = 2: chi_i is learned and chi_S orthogonal to all linear functions."""
    return alpha**2


def random_features(kind: str, d1: int, count: int, seed: int) -> Floats:
    """relu or cos of <w, z> + b, w ~ N(0, I/d), b uniform, on all of {+-1}^d1, a column each."""
    generator = np.random.default_rng([seed, 2])
    w, b = generator.normal(size=(d1, count)) / math.sqrt(d1), generator.uniform(-1, 1, count)
    index = np.arange(1 << d1)
    z = b + np.zeros((1 << d1, count))
    for i in range(d1):  # walsh's order: bit i of the index is coordinate i
        z += np.where((index >> i) & 1, -1.0, 1.0)[:, None] * w[i]
    return np.maximum(z, 0) if kind == "relu" else np.cos(math.pi * z)
