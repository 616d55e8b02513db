r"""Section 4: the complexities C_eps and C_s of a smooth function, and Example 4.1.

    C_eps(phi) = sum_i ((C*)^i + (sqrt(log(1/eps)) / sqrt(i)  C*)^i) |c_i|,    C_s(phi) = C* sum_i (i + 1) |c_i|

for phi(z) = sum_i c_i z^i, with C* a large constant (the paper: 10^4, say). The term i = 0 of C_eps is 2 |c_0|,
as (t / sqrt i)^i tends to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from separatrix.rules import Maybe, Real, Whole
from separatrix.theory.certificate import Check, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Version
from separatrix.theory.results import result
from separatrix.theory.series import Series, SeriesName, by_autodiff, series

Phi = Annotated[str, SeriesName()]
CStar = Annotated[float, Real(above=0, high=1e4)]
Epsilon = Annotated[float, Real(above=0, high=1)]
DIGITS = 30
PAPERS_C_STAR = 1e4
"""Section 4: "a sufficiently large constant (e.g., 10^4)"."""
_MOST_TERMS = 20_000
_LEAST_EPSILON = 1e-60
_SMALL = 0.1
"""Growth in 1/eps is looked at from this eps on."""


@dataclass(frozen=True)
class Complexity:
    """C_s and C_eps as mpmath numbers (they overflow floats at a large C*); infinite where the series diverges."""

    C_s: Any
    C_epsilon: Any

    @property
    def log10_C_epsilon(self) -> float:
        import mpmath

        return float(mpmath.log10(self.C_epsilon)) if self.C_epsilon > 0 else -math.inf

    def floats(self) -> dict[str, float]:
        return {"C_s": as_float(self.C_s), "C_epsilon": as_float(self.C_epsilon)}


def as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def complexity_of(phi: Series, C_star: float, epsilon: Any) -> Complexity:
    """C_s(phi) and C_eps(phi), to some 15 digits.

    >>> found = complexity_of(series("power:3"), 2.0, math.exp(-4))
    >>> float(found.C_s), round(float(found.C_epsilon), 9)  # 2 * 4; 2^3 + (2 * 2 / sqrt 3)^3
    (8.0, 20.316805743)
    """
    import mpmath

    with mpmath.workdps(DIGITS):
        C = mpmath.mpf(C_star)
        root = mpmath.sqrt(mpmath.log(1 / mpmath.mpf(epsilon))) * C

        def shrinking(i: int) -> Any:
            """(sqrt(log(1/eps)) C* / sqrt(i))^i."""
            return mpmath.mpf(1) if i == 0 else (root / mpmath.sqrt(i)) ** i

        C_s = C * _sum(phi, lambda i: mpmath.mpf(i + 1))
        if phi.degree is None and phi.radius <= C_star:
            return Complexity(C_s, mpmath.inf)
        powers = phi.absolute(C) if phi.absolute is not None else _sum(phi, lambda i: C**i)
        return Complexity(C_s, powers + _sum(phi, shrinking))


def _sum(phi: Series, weight: Any) -> Any:
    """sum_i weight(i) |c_i|, up to where the terms fall fast and are below all digits."""
    import mpmath

    total, last, quiet = mpmath.mpf(0), mpmath.mpf(0), 0
    for i in range(_MOST_TERMS if phi.degree is None else phi.degree + 1):
        c = phi.coefficient(i)
        if c == 0:
            continue
        term = weight(i) * abs(mpmath.mpf(c.numerator) / c.denominator)
        total += term
        quiet = quiet + 1 if term <= last and term <= total * mpmath.mpf(10) ** (2 - mpmath.mp.dps) else 0
        last = term
        if phi.degree is None and quiet >= 4:
            return total
    if phi.degree is None:
        raise OverflowError(f"the sum over the series of {phi.name} needs more than {_MOST_TERMS} terms")
    return total


def truncation_degree(phi: Series, epsilon: float) -> int:
    """The least D with sum_{i > D} |c_i| <= epsilon: an approximation to epsilon on all of [-1, 1].

    >>> [truncation_degree(series("tanh"), 10.0**-j) for j in (1, 2, 4)]
    [5, 11, 21]
    """
    if phi.degree is not None:
        return phi.degree
    import mpmath

    with mpmath.workdps(DIGITS + math.ceil(-math.log10(epsilon))):
        tail = _sum(phi, lambda i: mpmath.mpf(1))
        for i in range(_MOST_TERMS):
            c = phi.coefficient(i)
            tail -= abs(mpmath.mpf(c.numerator) / c.denominator)
            if tail <= epsilon:
                return i
    raise OverflowError(f"no truncation of {phi.name} below {_MOST_TERMS} terms reaches {epsilon}")


@result(
    "residual/complexity",
    "Example 4.1: C_s(phi) = O(1); C_eps(phi) = o(1/eps) for exp, sin, cos and polynomials; for tanh and sigmoid it is "
    "at most poly(1/eps) after truncation of the series at degree Theta(log 1/eps) (printed: and infinite without, "
    "once C* reaches the radius of convergence).",
)
def complexity(
    phi: Phi = "sin",
    C_star: CStar = 1.0,
    epsilon: Epsilon = 0.1,
    degree: Annotated[int | None, Maybe(Whole(0, 400))] = None,
    order: Annotated[int, Whole(0, 12)] = 5,
    version: Version = "corrected",
) -> Finding:
    r"""Section 4 and Example 4.1 of Allen-Zhu & Li.

    ``C_epsilon`` and ``C_s`` are those of the whole series, or of its terms up to ``degree`` where one is given;
    ``exp`` is e^z itself (``expm1`` is the example's e^z - 1). The Taylor coefficients are exact fractions, and those
    up to ``order`` are compared with automatic differentiation. The growth in 1/eps is the exponent
    log(C_eps^16 / C_eps^8) / log(1/eps^8), below 1 for o(1/eps); for tanh and sigmoid it is that of the series
    truncated to the error eps, which must not grow as eps falls above ``exponent_limit``: log(C*/r) / log r, or
    (C*/r)^2 / (2e) of the largest shrinking term, r being the radius. Both are looked at from eps = 0.1 on.

    ``version=printed`` leaves the truncation out: for tanh C_eps is infinite from C* = pi/2 on (the paper's is 10^4):
    |c_i| falls only as (2/pi)^i, so that the terms (C*)^i |c_i| do not tend to zero.

    >>> round(complexity(phi="sin").measured["C_s"], 12) == round(math.e, 12)
    True
    >>> complexity(phi="tanh", C_star=2, version="printed").status, complexity(phi="tanh", C_star=2).status
    ('violated', 'holds')
    """
    whole = series(phi)
    used = whole if degree is None else whole.truncated(degree)
    found = complexity_of(used, C_star, epsilon)
    gap = float(np.abs(by_autodiff(phi, order) - [float(c) for c in whole.coefficients(order)]).max())
    measured: dict[str, Any] = found.floats() | {
        "log10_C_epsilon": found.log10_C_epsilon,
        "coefficients": [str(c) for c in used.coefficients(order)],
        "autodiff_gap": gap,
        "radius": whole.radius,
    }
    checks = [equal("autodiff_gap", gap, 0, 1e-9)]
    notes = []
    if version == "printed":
        tanh = series("tanh").radius
        measured["radius_of_tanh"] = tanh
        checks.append(at_least("tanh: radius of convergence, less the paper's C* = 10^4", tanh - PAPERS_C_STAR, 0))
    finite = used.degree is not None or C_star < used.radius
    if version == "printed" or math.isinf(whole.radius) or used.degree is not None:
        checks.append(at_least("C_epsilon is finite: C* below the radius", 1 if finite else 0, 1))
        if finite and epsilon < 1:
            exponent = _growth(lambda eps: complexity_of(used, C_star, eps), min(epsilon, _SMALL))
            measured["exponent"] = exponent
            checks.append(at_most("exponent of C_epsilon in 1/eps", exponent, 1))
    else:
        at = truncation_degree(whole, epsilon)
        short = complexity_of(whole.truncated(at), C_star, epsilon)
        measured |= {"truncation_degree": at, **{f"{name}_truncated": v for name, v in short.floats().items()}}
        if epsilon < 1:
            checks += _polynomial_growth(whole, C_star, epsilon, measured)
    if not finite:
        notes.append(
            f"|c_i| falls as {1 / whole.radius:.4g}^i, so the terms (C*)^i |c_i| do not tend to 0 from C* = "
            f"{whole.radius:.4g} on: C_epsilon of the whole series is infinite"
        )
    bound = {"exponent": 1, "autodiff_gap": 0}
    return Finding(measured, bound, checks, "closed form", notes=notes)


def _growth(of: Any, epsilon: float) -> float:
    import mpmath

    far, near = (of(mpmath.mpf(epsilon) ** power).C_epsilon for power in (16, 8))
    return float(mpmath.log(far / near) / (8 * mpmath.log(1 / mpmath.mpf(epsilon)))) if near > 0 else 0.0


def _polynomial_growth(phi: Series, C_star: float, epsilon: float, measured: dict[str, Any]) -> list[Check]:
    """log C_eps / log(1/eps) of the truncated series at eps, eps^2, eps^4: bounded if it does not grow."""
    exponents, degrees = [], []
    for power in (1, 2, 4):
        eps = max(min(epsilon, _SMALL) ** power, min(epsilon, _LEAST_EPSILON))
        at = truncation_degree(phi, eps)
        cut = complexity_of(phi.truncated(at), C_star, eps)
        exponents.append(cut.log10_C_epsilon / -math.log10(eps))
        degrees.append(at / -math.log(eps))
    measured["exponents"] = exponents
    measured["degree_over_log"] = degrees
    share = C_star / phi.radius
    limit = max(0.0, math.log(share) / math.log(phi.radius), share**2 / (2 * math.e))
    measured["exponent_limit"] = limit
    return [
        at_most("exponent of the truncated C_epsilon at eps^4 over eps", exponents[-1], max(exponents[0], limit + 0.05))
    ]
