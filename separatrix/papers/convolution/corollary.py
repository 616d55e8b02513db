"""Corollary 5: how q and T must grow with n and epsilon at k = log2 n, exactly, against what the paper says."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Annotated, Any

from separatrix.errors import InputError
from separatrix.papers.convolution.bounds import Bound
from separatrix.rules import Real, Whole
from separatrix.theory.certificate import Check, Finding, Interval, at_most
from separatrix.theory.parameters import Share, Version
from separatrix.theory.results import result

POWERS = {"printed": (2, 1), "corrected": (4, 2)}
"""Of log n, in q and in T."""
LAST = 3
"""The doublings of k whose slopes make the interval."""


@result(
    "convolution/corollary-5",
    "At k = log2 n Theorem 4's bound is at most epsilon with q = O(epsilon^-2 n^3 log^4 n) and T = O(epsilon^-2 n^3 "
    "log^2 n) (printed: log^2 n and log n).",
)
def corollary_5(
    k: Annotated[int, Whole(2, 256)] = 8,
    k_max: Annotated[int, Whole(16, 4096)] = 512,
    a: Annotated[int, Whole(1, 8)] = 1,
    c: Annotated[Fraction, Real(above=0, high=1e6, exact=True)] = Fraction(1),
    epsilon: Annotated[Fraction, Real(low=1e-9, high=1, exact=True)] = Fraction(1, 10),
    constant: Annotated[int, Whole(1, 10**9)] = 100,
    delta: Share = 0.05,
    version: Version = "corrected",
) -> Finding:
    r"""Corollary 5 of Malach & Shalev-Shwartz, of Theorem 4's bound at n = 2^k and n up to 2^``k_max``.

    With 2^k = n the second term of the bound is 2 n^2 k^2 / sqrt(qn) = 2 k epsilon / sqrt(C) at the printed
    q = C epsilon^-2 n^3 k^2: whatever the constant C, it exceeds epsilon from k = sqrt(C)/2 on, and no T helps.
    Solved for q it asks for 4 epsilon^-2 n^3 k^4, and then the third for a T of the order of epsilon^-2 n^3 k^2:

        q = 16 max(1, c) epsilon^-2 n^3 log2(n)^4      T = 16 c^2 max(1, sqrt(c)) epsilon^-2 n^3 log2(n)^2

    make the bound at most epsilon at every k tried (``largest_total``). ``exponent_q`` is the slope, over the last
    doublings of k, of the exact least q over n^3, as a power of log n; ``exponent_T`` that of the least T over n^3 at
    four times that q. ``constant`` is the C of the printed q and T; ``counterexample_k`` the first k at which it fails.

    ``a``: k = a log2 n (n = 2^(k/a)). "k = O(log n)" allows any a, but the powers of n depend on it: q is of the order
    of n^(4a-1) and T of n^(2a+1), which is n^3 for a = 1 alone (``version=printed`` has n^3 for all). ``samples`` is
    the paper's epsilon^-2 n k q log(nkq/delta), with constant 1, at the first k.

    >>> found = corollary_5(k_max=64)
    >>> found.status, round(found.measured["exponent_q"].mean, 2), round(found.measured["exponent_T"].mean, 2)
    ('holds', 4.0, 2.0)
    >>> corollary_5(k_max=64, version="printed").measured["counterexample_k"]
    5
    """
    if k_max < 8 * k or k % a:
        raise InputError(f"k_max must be at least 8 k = {8 * k}, and k a multiple of a = {a}, got k_max = {k_max}")
    ks = [k << doubling for doubling in range((k_max // k).bit_length())]
    powers = POWERS[version]
    of_n = (3, 3) if version == "printed" else (4 * a - 1, 2 * a + 1)
    slopes_q, slopes_T, power = _slopes(ks, a, c, epsilon, of_n)
    measured: dict[str, Any] = {
        "exponent_q": _interval(slopes_q),
        "exponent_T": _interval(slopes_T),
        "power_of_n": power,
        "slopes_q": slopes_q,
        "slopes_T": slopes_T,
    }
    bound: dict[str, Any] = {"exponent_q": powers[0], "exponent_T": powers[1], "power_of_n": of_n[0]}
    checks: list[Check] = [
        at_most(f"power of log n in the least q / n^{of_n[0]}", measured["exponent_q"], powers[0]),
        at_most(f"power of log n in the least T / n^{of_n[1]}", measured["exponent_T"], powers[1]),
    ]
    notes = [
        f"k = {', '.join(map(str, ks))}; slopes are exact, and their spread over the last {LAST} doublings is shown"
    ]
    if version == "printed":
        checks += _printed(measured, c, epsilon, constant, a, notes)
    else:
        checks.append(_corrected(measured, ks, a, c, epsilon))
    n, q, _ = _corrected_choice(k, a, c, epsilon)
    measured["samples"] = float(n * k * q / epsilon**2) * math.log(n * k * q / delta)
    return Finding(measured, bound, checks, "scaling", notes=notes)


def _bound(k: int, a: int, c: Fraction) -> Bound:
    return Bound(2 ** (k // a), k, c)


def _slopes(
    ks: list[int], a: int, c: Fraction, epsilon: Fraction, of_n: tuple[int, int]
) -> tuple[list[float], list[float], float]:
    """Slopes of log q and log T, less the powers ``of_n``, in log k, and the last slope of log(q/k^4) in log n."""
    q_of, T_of = {}, {}
    for k in ks:
        bound = _bound(k, a, c)
        q_of[k] = bound.smallest_q(epsilon)
        T = bound.smallest_T(4 * q_of[k], epsilon)
        assert T is not None
        T_of[k] = T
    pairs = list(itertools.pairwise(ks))

    def slopes(values: dict[int, int], power: int) -> list[float]:
        logs = {k: _log2(values[k]) - power * (k // a) for k in ks}
        return [round(float(logs[later] - logs[k]) / math.log2(later / k), 12) for k, later in pairs]

    k, later = pairs[-1]
    steeper = float(_log2(q_of[later]) - _log2(q_of[k])) - 4 * math.log2(later / k)
    return slopes(q_of, of_n[0]), slopes(T_of, of_n[1]), steeper / (later // a - k // a)


def _log2(value: int) -> Fraction:
    """The logarithm with its whole part exact, so that powers of two cancel without rounding."""
    bits = max(value.bit_length() - 64, 0)
    return bits + Fraction(math.log2(value >> bits))


def _interval(slopes: list[float]) -> Interval:
    """The last slope, and the range of the last few."""
    some = slopes[-LAST:]
    return Interval(slopes[-1], min(some), max(some))


def _corrected_choice(k: int, a: int, c: Fraction, epsilon: Fraction) -> tuple[int, int, int]:
    """n and the q and T that serve at k = log2 n."""
    n = 2 ** (k // a)
    wide = max(Fraction(1), c)
    q = math.ceil(16 * wide * n ** (4 * a - 1) * k**4 / epsilon**2)
    return n, q, math.ceil(16 * c**2 * Fraction(math.sqrt(wide)) * n ** (2 * a + 1) * k**2 / epsilon**2)


def _corrected(measured: dict[str, Any], ks: list[int], a: int, c: Fraction, epsilon: Fraction) -> Check:
    """The bound at the corrected q and T, at every k."""
    totals = []
    for k in ks:
        _, q, T = _corrected_choice(k, a, c, epsilon)
        totals.append(_bound(k, a, c).total(q, T) / float(epsilon))
    measured["largest_total_over_epsilon"] = max(totals)
    return at_most("the bound at the corrected q and T over epsilon, every k", max(totals), 1)


def _printed(
    measured: dict[str, Any], c: Fraction, epsilon: Fraction, constant: int, a: int, notes: list[str]
) -> list[Check]:
    """The bound at the printed q, T = constant times what is printed, at the first k where even T = infinity fails."""
    k = a
    while True:
        n = 2 ** (k // a)
        q = math.ceil(constant * n**3 * Fraction(k, a) ** 2 / epsilon**2)
        bound = _bound(k, a, c)
        if not bound.reachable(q, epsilon) and k >= 2 * a:
            break
        k += a
    T = math.ceil(constant * n**3 * Fraction(k, a) / epsilon**2)
    total = bound.total(q, T)
    measured |= {"counterexample_k": k, "counterexample_total": total, "counterexample_q": q, "counterexample_T": T}
    notes.append(
        f"C = {constant}: at k = {k}, n = 2^{k // a}, q = C epsilon^-2 n^3 log2(n)^2 = {q} the first two terms are "
        f"{sum(bound.terms(q, T)[:2]):.4g}, above epsilon = {float(epsilon):g}; a larger C fails at a larger k"
    )
    return [at_most(f"the bound at the printed q and T, C = {constant}, k = {k}", total, float(epsilon))]
