"""Theorem 12: a fully-connected network's first gradient on a k-parity is tiny."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from separatrix.errors import InputError
from separatrix.papers.convolution.initial_gradient import (
    Estimate,
    Moments,
    dual_moments,
    gaussian_estimate,
    series_moments,
    sign_moments,
)
from separatrix.rules import Choice, Maybe, Real, Whole
from separatrix.theory.activations import ACTIVATIONS, Activation, Clip
from separatrix.theory.certificate import Assumption, Check, Finding, Interval, at_most
from separatrix.theory.dual import DUALS
from separatrix.theory.parameters import Count, Version
from separatrix.theory.results import result

MOST_ENUMERATED = 20
COUNTEREXAMPLE = 6, 1, Fraction(1, 2)
COUNTEREXAMPLE_WORDS = "n = 6, k = 1, relu, b = 1/2"


@result(
    "convolution/theorem-12",
    "On the parity of k of n bits, a fully-connected network of q neurons with permutation-invariant weights "
    "has an initial gradient of expected squared norm at most q n min{1/C(n-1,k), 1/C(n-1,k-1)} in w and "
    "c^2 q / C(n,k) in u.",
)
def theorem_12(
    n: Annotated[int, Whole(1, 100_000)] = 128,
    k: Count = 7,
    q: Count = 1,
    b: Annotated[Fraction, Real(exact=True)] = Fraction(1, 2),
    activation: Annotated[str, Choice(*ACTIVATIONS)] = "clipped_relu",
    weights: Annotated[str, Choice("sign", "gaussian")] = "sign",
    c: Annotated[Fraction | None, Maybe(Real(above=0, exact=True))] = None,
    variance: Annotated[str, Choice("1/n", "1")] = "1/n",
    method: Annotated[str, Choice("auto", "closed-form", "estimate")] = "auto",
    samples: Annotated[int, Whole(2)] = 64,
    seed: Annotated[int, Whole(0)] = 0,
    version: Version = "corrected",
) -> Finding:
    r"""Theorem 12 of Malach & Shalev-Shwartz, both parts.

        E_w ||dL/dw||^2 <= q n min{C(n-1, k)^-1, C(n-1, k-1)^-1}
        E_w ||dL/du||^2 <= c^2 q C(n, k)^-1

    for f = chi_I, |I| = k, x uniform on {+-1}^n, h(x) = sum_i u_i sigma(<w_i, x> + b_i), |sigma| <= c,
    |sigma'| <= 1, |u_i| <= 1, |h| <= 1 and every w_i from one permutation-invariant distribution. Where
    C(n-1, k) = 0 (k = n) the minimum is over the other term.

    =============  =================================================================================
    paper          here
    =============  =================================================================================
    n, k, q, b_i   ``n``, ``k``, ``q`` neurons, the same ``b`` for all
    c              ``c``; by default the largest |sigma|, which for ``relu`` is over the support
    W              ``weights``: ``sign``, uniform in {+-1}^n, or ``gaussian``, N(0, ``variance`` I_n)
    u              the largest |u_i| = min(1, 1 / (q max |sigma|)), so that |h| <= 1. It may depend on w
                   through that maximum, which no permutation changes. The gradient in w scales with
                   u_i^2: ``measured`` has u_i = 1, and so is above that of every such readout
    =============  =================================================================================

    **A sharper bound.** With g = sigma'(<w, .> + b) the gradient's coordinates are Fourier coefficients of g
    at the sets I with one element removed or added. The expectation does not change when it is averaged over
    all k-sets I; each (k-1)-set then comes from n-k+1 of them and each (k+1)-set from k+1, so

        E ||dL/dw||^2 = [(n-k+1) W_{k-1} + (k+1) W_{k+1}] / C(n, k),     W_s = sum_{|S|=s} E g^(S)^2

    and Parseval, W_{k-1} + W_{k+1} <= E g^2 <= 1, gives ``gradient_w_sq_tight``, q max(n-k+1, k+1) / C(n, k);
    for k = n there is no (k+1)-set and it is q. The printed proof instead bounds every coordinate by the
    *minimum* of the two inverse binomials, which is right for one kind of coordinate and false for the
    other (it must be the maximum); ``version=printed`` checks that step too, here and at n = 6, k = 1 and relu with
    b = 1/2, where dL/dw_1 = -P(<w, x> + b > 0) = -42/64 for every sign vector w.

    Parseval alone gives q and q c^2: a bound no smaller than these is ``vacuous``.

    >>> found = theorem_12(n=4000, k=11)
    >>> found.status, float(found.measured["gradient_w_sq"]) < float(found.bound["gradient_w_sq_tight"])
    ('holds', True)
    >>> theorem_12(n=4, k=3).measured["gradient_w_sq"]
    Fraction(3, 16)
    >>> theorem_12(n=101, k=2, activation="relu", version="printed").status
    'violated'
    """
    if k > n:
        raise InputError(f"k must be an integer of at most n = {n}, got {k}")
    sigma = ACTIVATIONS[activation]
    sets = math.comb(n, k)
    limit = c if c is not None else _nominal_sup(sigma, n, b, weights)
    ways = (math.comb(n - 1, k), math.comb(n - 1, k - 1))
    printed_coordinate = min(Fraction(1, count) for count in ways if count)
    bound: dict[str, Any] = {
        "gradient_w_sq": q * n * printed_coordinate,
        "gradient_u_sq": limit**2 * Fraction(q, sets) if isinstance(limit, Fraction) else math.inf,
        "gradient_w_sq_tight": Fraction(q * (max(n - k + 1, k + 1) if k < n else 1), sets),
    }
    spread = Fraction(1, n) if variance == "1/n" else Fraction(1)
    found: Moments | Estimate
    if weights == "sign" and method != "estimate":
        found = sign_moments(n, k, b, sigma)
        how = "exact" if sigma.exact else "closed form"
    elif method != "estimate" and _by_dual(sigma, b, sets):
        found = dual_moments(n, k, spread, sigma)
        how = "closed form"
    elif isinstance(sigma, Clip) and method != "estimate":
        if not _fits_a_float(sets):
            raise InputError(f"k must be smaller or closer to n for Gaussian weights at n = {n}, got {k}")
        found = series_moments(n, k, b, spread, sigma)
        how = "closed form"
    else:
        _demand_estimable(n, weights, method)
        found = gaussian_estimate(n, k, float(b), float(spread), sigma, samples, seed)
        how = "estimate"
    measured, checks, notes = _compared(found, bound, n, k, q)
    if version == "printed" and isinstance(found, Moments):
        coordinate = max(found.inside, found.outside)
        measured["largest_coordinate_sq"] = coordinate
        bound["largest_coordinate_sq"] = printed_coordinate
        checks.append(at_most("each coordinate, as the proof has it", coordinate, printed_coordinate))
    if version == "printed":
        simple = sign_moments(*COUNTEREXAMPLE, ACTIVATIONS["relu"]).inside
        measured["counterexample_coordinate_sq"] = simple
        bound["counterexample_coordinate_sq"] = Fraction(1, COUNTEREXAMPLE[0] - 1)
        checks.append(at_most(f"the same at {COUNTEREXAMPLE_WORDS}", simple, bound["counterexample_coordinate_sq"]))
        notes.append(
            f"the theorem's statement is true; a step of its proof is not: at {COUNTEREXAMPLE_WORDS} the gradient in "
            "the pattern's one coordinate is -P(<w,x> + 1/2 > 0) = -42/64, and (42/64)^2 is above 1/C(5,1) = 1/5"
        )
    return Finding(
        measured=measured,
        bound=bound,
        checks=checks,
        method=how,
        assumptions=_assumptions(sigma, n, b, q, weights, limit),
        vacuous=_vacuous(bound, q, limit),
        notes=[*notes, *_kink_notes(sigma, n, b, weights)],
    )


def _nominal_sup(sigma: Activation, n: int, b: Fraction, weights: str) -> Fraction | float:
    if math.isfinite(sigma.sup):
        return Fraction(sigma.sup)
    return max(n + b, Fraction(0)) if weights == "sign" else math.inf


def _by_dual(sigma: Activation, b: Fraction, sets: int) -> bool:
    """The dual where there is no float64 series: more digits, but slower."""
    return sigma.name in DUALS and b == 0 and not (isinstance(sigma, Clip) and _fits_a_float(sets))


def _fits_a_float(sets: int) -> bool:
    """Whether moments of the order of 1 / C(n, k), and smaller, stay above the smallest float."""
    return sets < 10**200


def _demand_estimable(n: int, weights: str, method: str) -> None:
    if weights == "sign":
        raise InputError("method must be auto or closed-form for sign weights, got 'estimate'")
    closed = "a piecewise linear activation, or erf with b = 0,"
    if method == "closed-form":
        raise InputError(f"method closed-form needs {closed} for Gaussian weights")
    if n > MOST_ENUMERATED:
        raise InputError(
            f"n must be at most {MOST_ENUMERATED} for Gaussian weights ({closed} allows any n), got n = {n}"
        )


def _compared(
    found: Moments | Estimate, bound: Mapping[str, Any], n: int, k: int, q: int
) -> tuple[dict[str, Any], list[Check], list[str]]:
    """Both gradients against their bounds, at width q."""
    if isinstance(found, Estimate):
        at_width = {
            name: Interval(q * one.mean, q * one.low, q * one.high)
            for name, one in (("gradient_w_sq", found.gradient_w_sq), ("gradient_u_sq", found.gradient_u_sq))
        }
        measured: dict[str, Any] = {name: interval.mean for name, interval in at_width.items()}
        measured |= {f"{name}_interval": interval for name, interval in at_width.items()}
        left: Mapping[str, Any] = at_width
        notes = [
            "unbiased means over the sampled weights with 95% intervals; x and the k-sets enumerated",
            "float64: what is below 1e-30 is rounding, and its true value may be 0",
        ]
    else:
        values = {"gradient_w_sq": q * found.gradient_w_sq(n, k), "gradient_u_sq": q * found.readout}
        rounded = found.error > 0
        measured = {name: float(value) if rounded else value for name, value in values.items()}
        measured |= {f"{name}_log10": _log10(value) for name, value in values.items() if value > 0}
        left = {name: value + q * n * found.error for name, value in values.items()}
        notes = [_precision_note(found.error)] if rounded else []
    checks = [at_most(name, left[name], bound[name]) for name in ("gradient_w_sq", "gradient_u_sq")]
    checks.append(at_most("gradient_w_sq_tight", left["gradient_w_sq"], bound["gradient_w_sq_tight"]))
    return measured, checks, notes


def _log10(value: Fraction) -> float:
    """Also where the value itself is below the smallest float."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def _precision_note(error: Fraction) -> str:
    return (
        f"rounded: every second moment is within 10^{math.ceil(_log10(error))} of its value, which is added "
        "to the measured side of every check"
    )


def _assumptions(
    sigma: Activation, n: int, b: Fraction, q: int, weights: str, limit: Fraction | float
) -> list[Assumption]:
    """The premises, over all of {+-1}^n and every w the distribution can give."""
    largest: Fraction | float = sigma.sup
    steepest: Fraction | float = sigma.derivative_sup
    if weights == "sign":
        support = [b + n - 2 * m for m in range(n + 1)]
        largest = max(abs(value) for value in sigma.exact_values(support, 60))
        steepest = max(abs(value) for value in sigma.exact_derivatives(support, 60))
    readout = min(Fraction(1), 1 / (q * Fraction(largest))) if 0 < largest < math.inf else Fraction(1)
    bounded = math.isfinite(largest)
    output = q * readout * Fraction(largest) if bounded else "u_i = 1 / (q max |sigma|) for each w"
    return [
        Assumption("|sigma| <= c", largest, limit, bounded and largest <= limit),
        Assumption("|sigma'| <= 1", steepest, 1, steepest <= 1),
        Assumption("|u_i| <= 1", readout, 1, readout <= 1),
        Assumption("|h| <= 1", output, 1, isinstance(output, str) or output <= 1),
        Assumption("permutation-invariant weights", weights, "independent and alike", True),
    ]


def _vacuous(bound: Mapping[str, Any], q: int, limit: Fraction | float) -> str | None:
    """Why a printed bound says no more than Parseval does for any target."""
    trivial = {"gradient_w_sq": q, "gradient_u_sq": q * limit**2}
    empty = [name for name, value in trivial.items() if bound[name] >= value > 0]
    if not empty:
        return None
    return f"Parseval alone bounds {' and '.join(empty)} as well as the theorem (by q, and by q c^2)"


def _kink_notes(sigma: Activation, n: int, b: Fraction, weights: str) -> list[str]:
    if weights != "sign":
        return []
    met = [kink for kink in sigma.kinks if abs(kink - b) <= n and (kink - b - n) % 2 == 0]
    return [f"pre-activations meet the kink at {kink}, where sigma' is taken as 0" for kink in met]
