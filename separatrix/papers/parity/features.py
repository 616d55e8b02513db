r"""Lemmas 8 and 9: after the first step a good neuron implements psi_r, a hinge of the sum over A.

A good neuron's (|r|/b) sigma is relu(|r| - m s) of the sum s of the signs on A (for r > 0; for r < 0 of -s), with
the slope m = -|r| alpha u / (b n): uniform on [-8 alpha |r|, 8 alpha |r|] as u is on [-n/k, n/k]. It is psi_r where
m = 1. For a tolerance the slopes that do form an interval, so probabilities are ratios of lengths.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from separatrix.errors import InputError
from separatrix.papers.parity.laws import bulk, coefficients, law_of_nonzeros, masses, pairs
from separatrix.papers.parity.neurons import Window, starting_bias
from separatrix.papers.parity.relevant import LARGEST, MaybeSize
from separatrix.rules import Maybe, Real, Whole
from separatrix.theory.certificate import Assumption, Finding, at_least
from separatrix.theory.parameters import Count, Floats, Version
from separatrix.theory.results import result

CAP = 6
Odd = Annotated[int, Whole(3, 99)]
MaybeKnot = Annotated[int | None, Maybe(Whole())]
MaybeTolerance = Annotated[Fraction | None, Maybe(Real(above=0, exact=True))]


def psi(r: int, s: int | Fraction, cap: int | None = None) -> Fraction:
    """relu(|r| - sign(r) s), cut at ``cap`` where there is one.

    >>> psi(3, -1), psi(-3, -1), psi(5, -5, cap=6)
    (Fraction(4, 1), Fraction(2, 1), Fraction(6, 1))
    """
    value = Fraction(max(abs(r) - s if r > 0 else abs(r) + s, 0))
    return value if cap is None else min(value, Fraction(cap))


def slopes(r: int, k: int, tolerance: Fraction, cap: int | None = None) -> tuple[Fraction, Fraction] | None:
    """The m with |relu(r - m s) - psi_r(s)| <= tolerance for all real s in [-k, k], r > 0; None where there are none.

    Between the knots of psi_r, and where it equals the tolerance, both inequalities are linear in s.

    >>> slopes(3, 3, Fraction(1, 3)), slopes(7, 7, Fraction(1, 2), cap=6)
    ((Fraction(8, 9), Fraction(10, 9)), None)
    """
    meets = Fraction(r) - tolerance  # psi_r >= tolerance up to here
    knots = {Fraction(-k), Fraction(0), Fraction(k), Fraction(r), meets} | ({Fraction(r - cap)} if cap else set())
    below: list[Fraction] = []
    above: list[Fraction] = []
    active = meets > -k and (cap is None or cap > tolerance)
    for s in sorted(knot for knot in knots if -k <= knot <= k):
        target = psi(r, s, cap)
        limits = [(target + tolerance, 1)]  # r - m s <= target + tolerance
        if active and s <= meets:
            limits.append((target - tolerance, -1))  # r - m s >= target - tolerance
        for limit, sense in limits:
            if s == 0:
                if sense * (r - limit) > 0:
                    return None
            elif (s > 0) == (sense > 0):
                below.append((r - limit) / s)
            else:
                above.append((r - limit) / s)
    low, high = max(below), min(above)
    return (low, high) if low <= high else None


def chance(interval: tuple[Fraction, Fraction] | None, reach: Fraction) -> Fraction:
    """P(m in the interval) for m uniform on [-reach, reach]."""
    if interval is None:
        return Fraction(0)
    low, high = max(interval[0], -reach), min(interval[1], reach)
    return max(high - low, Fraction(0)) / (2 * reach)


@result(
    "parity/lemma-8",
    "With probability at least epsilon/(8 k^2) over u the hinge of a good neuron is phi_r up to epsilon on [-k, k].",
)
def lemma_8(
    n: Count = 10_001,
    k: Odd = 7,
    r: MaybeKnot = None,
    alpha: Annotated[Fraction, Real(above=0, exact=True)] = Fraction(1, 4),
    epsilon: MaybeTolerance = None,
    version: Version = "corrected",
) -> Finding:
    r"""Lemma 8 of Daniely & Malach, exactly: for b = 1/(8k), u uniform on [-n/k, n/k] and phi_r(z) = relu(|r| -
    sign(r) z),

        P(| (|r|/b) sigma(alpha u z / n + b) - phi_r(z) | <= epsilon for all z in [-k, k]) >= epsilon / (8 k^2)

    ``corrected``: phi_r is a plain ReLU, epsilon <= k |r|, and alpha in [1/8, 1] (the paper asks for 1/4; for alpha
    <= 1/2 the half of the interval of u that lies on the near side of u* suffices). ``printed``: phi_r is ReLU6 as
    every sigma of the paper, and epsilon <= k r: its cut at 6 is out of the neuron's reach from k = 5 on.

    ``r`` is k by default and ``epsilon`` 1/(10k), as in Lemma 10.

    >>> lemma_8().measured["probability"], lemma_8().bound["probability"]
    (Fraction(1, 6860), Fraction(1, 27440))
    >>> lemma_8(version="printed").status, lemma_8(k=3, version="printed").status
    ('violated', 'holds')
    """
    knot = k if r is None else r
    _demand_knot(k, knot)
    tolerance = Fraction(1, 10 * k) if epsilon is None else epsilon
    printed = version == "printed"
    interval = slopes(abs(knot), k, tolerance, CAP if printed else None)
    reach = 8 * alpha * abs(knot)
    probability = chance(interval, reach)
    limit = tolerance / (8 * k * k)
    widest = k * knot if printed else k * abs(knot)
    least = Fraction(1, 4) if printed else Fraction(1, 8)
    return Finding(
        measured={
            "probability": probability,
            "u_star": -starting_bias(k) * n / (alpha * knot),
            "slopes": interval,
        },
        bound={"probability": limit},
        checks=[at_least("probability", probability, limit)],
        method="exact",
        assumptions=[
            Assumption("alpha in its range", alpha, f"[{least}, 1]", least <= alpha <= 1),
            Assumption("epsilon <= k r" if printed else "epsilon <= k |r|", tolerance, widest, tolerance <= widest),
        ],
        notes=[
            "slopes: the m = -|r| alpha u / (b n) that do; the neuron itself is never cut at 6, as alpha + b < 6",
            *(_why_not(k, abs(knot)) if printed and interval is None else ()),
        ],
    )


def _demand_knot(k: int, r: int) -> None:
    if k % 2 == 0 or r % 2 == 0 or abs(r) > k:
        raise InputError(f"k must be odd and r odd with |r| <= k, got k = {k} and r = {r}")


def _why_not(k: int, r: int) -> list[str]:
    if r > CAP:
        return [
            f"check by hand: at z = 0 the left is (|r|/b) sigma(b) = {r} for every u, but phi_r(0) = min({r}, 6) = 6"
        ]
    return [
        f"check by hand, r > 0: at z = -1 the slope must be near 1 (phi_r = {min(r + 1, 6)}), at z = -{k} the value "
        f"{r} + {k} m must be near 6"
    ]


def success(n: int, k: int, r: int, tolerance: Fraction) -> float:
    """P over (w, u) that a good neuron is psi_r up to ``tolerance`` for all x: a lower limit for all neurons.

    Good: sum over A of w = 0. Where w has one zero j on A, w_j^(1) has another size, and the tolerance is less by the
    most that this can matter.
    """
    window = Window.of(n, starting_bias(k))
    first, last = bulk(n - k)
    inside = masses(first, last, window)
    off = np.abs(coefficients(k - 1, np.arange(first, last + 1) + k - 1, window))
    law = dict(law_of_nonzeros(n - k))
    p_J = np.array([float(law[J]) for J in range(first, last + 1)])
    reach = 4 * inside * abs(r)  # 8 alpha |r| with alpha = inside / 2
    found = 0.0
    whole = slopes(abs(r), k, tolerance)
    assert whole is not None
    for a in range(k // 2 + 1):
        if 2 * a < k - 1:
            shares = _chances(*whole, reach)
        else:
            worst = float(max(map(abs, whole))) * float((off / inside).max(initial=0.0, where=inside > 0))
            less = slopes(abs(r), k, tolerance - Fraction(worst)) if worst < tolerance else None
            shares = np.zeros(len(reach)) if less is None else _chances(*less, reach)
        found += float(pairs(k, a)) * float(p_J @ shares)
    return found


def _chances(low: Fraction, high: Fraction, reach: Floats) -> Floats:
    length = np.minimum(float(high), reach) - np.maximum(float(low), -reach)
    return np.asarray(np.divide(np.maximum(length, 0), 2 * reach, out=np.zeros(len(reach)), where=reach > 0))


def out_of_reach(r: int, k: int, cap: int) -> Fraction:
    """How far every affine function of x is at least from psi_r cut at ``cap`` where that is positive, r > 0: half of
    the largest gap between the concave psi_r and its chord over the values of the sum.

    >>> out_of_reach(7, 7, 6), out_of_reach(3, 3, 6)
    (Fraction(4, 3), Fraction(0, 1))
    """
    sums = [s for s in range(-k, k + 1, 2) if psi(r, s, cap) > 0]
    first, last = sums[0], sums[-1]
    if first == last:
        return Fraction(0)
    rise = (psi(r, last, cap) - psi(r, first, cap)) / (last - first)
    return max(psi(r, s, cap) - psi(r, first, cap) - rise * (s - first) for s in sums) / 2


@result(
    "parity/lemma-9",
    "With probability at least epsilon/(112 k^2.5) over (w, u), a neuron after the first step is psi_r up to 2 epsilon "
    "for all x.",
)
def lemma_9(
    n: MaybeSize = None,
    k: Odd = 7,
    r: MaybeKnot = None,
    epsilon: MaybeTolerance = None,
    version: Version = "corrected",
) -> Finding:
    r"""Lemma 9 of Daniely & Malach: for psi_r(x) = relu(|r| - sign(r) sqrt n sum_{j in A} x_j),

        P(| (|r|/b^(0)) sigma(<w^(1), x> + b^(1)) - psi_r(x) | <= 2 epsilon for all x) >= epsilon / (112 k^2.5)

    ``probability`` counts good neurons alone (sum over A of w = 0), whose first step is known in closed form, over
    the laws of w on A, |J| and u: what all neurons together reach is at least this. ``printed``: psi_r is cut at 6;
    where half the gap of that concave function to its chord is above 2 epsilon no neuron at all can follow it,
    whatever (w, u).

    The lemma's k <= c epsilon^(1/4) n^(1/8) has an unknown c: the probability itself is the check. ``n`` is 64 k^4 + 1
    by default, ``r`` is k and ``epsilon`` 1/(10k).

    >>> found = lemma_9(n=5185, k=3)
    >>> found.status, found.measured["probability"] > 10 * found.bound["probability"]
    ('holds', True)
    >>> lemma_9(version="printed").status
    'violated'
    """
    n = 64 * k**4 + 1 if n is None else n
    knot = k if r is None else r
    _demand_knot(k, knot)
    if not k + 3 <= n <= LARGEST:
        raise InputError(f"n must be an integer of at least k + 3 = {k + 3} and of at most {LARGEST}, got {n}")
    tolerance = Fraction(1, 10 * k) if epsilon is None else epsilon
    limit = float(tolerance) / (112 * k**2.5)
    probability = success(n, k, knot, 2 * tolerance)
    measured: dict[str, float | Fraction] = {"probability": probability}
    notes = ["a lower limit: what neurons that are not good add is left out"]
    if version == "printed":
        gap = out_of_reach(abs(knot), k, CAP)
        measured |= {"least_error_of_any_neuron": gap}
        if gap > 2 * tolerance and tolerance < 1:  # psi_r is at least 2 where it is positive
            measured["probability"] = probability = 0.0
            notes = [
                f"check by hand: (|r|/b) sigma is affine in x where it is positive, and psi_r = min(|r| - s, 6) for s "
                f"= "
                f"{-k}, {2 - k}, ... is {gap} or more from every affine function"
            ]
    return Finding(
        measured=measured,
        bound={"probability": limit},
        checks=[at_least("probability", probability, limit)],
        method="closed form",
        assumptions=[
            Assumption("n >= 9 log 7", n, 17.52, n >= 18),
            Assumption("epsilon <= k |r|", tolerance, k * abs(knot), tolerance <= k * abs(knot)),
        ],
        notes=notes,
    )
