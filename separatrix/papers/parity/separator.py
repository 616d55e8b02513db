"""Lemma 10: a separator u* of low norm on the features of the first step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.papers.parity.features import CAP, Odd, psi, slopes, success
from separatrix.papers.parity.laws import balanced, coefficients, masses, pairs
from separatrix.papers.parity.neurons import Window, starting_bias
from separatrix.papers.parity.relevant import LARGEST, MaybeSize
from separatrix.rules import Choice, Maybe, Whole
from separatrix.theory.certificate import Assumption, Check, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Floats, Seed, Share, Version
from separatrix.theory.results import result

MOST_NEURONS = 200_000_000
LARGEST_ON_CUBE = 15
_SOLVED_UP_TO = 31


def knots(k: int) -> list[int]:
    """-k, -k+2, ..., k: the r of the features, and the values of the sum over A."""
    return list(range(-k, k + 1, 2))


def parity_of(s: int, k: int) -> int:
    """f_A where the signs on A sum to s."""
    return -1 if (k - s) // 2 % 2 else 1


def corrected_v(k: int) -> dict[int, Fraction]:
    """The only v with sum_r (-1)^((k-r)/2) v_r psi_r = f_A: -2, and at |r| = k -3/2 (k = 3 mod 4) or -1/2 (k = 1 mod
    4).

    For psi_r with r > 0 (r < 0) is zero from r on (up to r), so f_A's second differences fix the inner ones.

    >>> [str(v) for v in corrected_v(5).values()]
    ['-1/2', '-2', '-2', '-2', '-2', '-1/2']
    """
    edge = Fraction(-3, 2) if k % 4 == 3 else Fraction(-1, 2)
    return {r: edge if abs(r) == k else Fraction(-2) for r in knots(k)}


def printed_v(k: int) -> dict[int, Fraction]:
    """1 at |r| = k, 2.5 at |r| = 1, otherwise 2."""
    return {r: Fraction(1) if abs(r) == k else Fraction(5, 2) if abs(r) == 1 else Fraction(2) for r in knots(k)}


def combination(k: int, v: Mapping[int, Fraction], cap: int | None = None) -> list[Fraction]:
    """f_A sum_r (-1)^((k-r)/2) v_r psi_r at every value of the sum over A, from -k on.

    >>> [str(margin) for margin in combination(3, printed_v(3))]
    ['4', '-3', '-3', '4']
    """
    return [
        parity_of(s, k) * sum((parity_of(r, k) * v[r] * psi(r, s, cap) for r in knots(k)), Fraction(0))
        for s in knots(k)
    ]


def rank_and_solution(k: int, cap: int | None) -> tuple[int, list[Fraction] | None]:
    """The rank of the features over the values of the sum, and the v that gives the parity if there is exactly one.

    >>> rank_and_solution(3, None)[1] == list(corrected_v(3).values()), rank_and_solution(5, CAP)
    (True, (4, None))
    """
    rows = [[parity_of(r, k) * psi(r, s, cap) for r in knots(k)] + [Fraction(parity_of(s, k))] for s in knots(k)]
    rank, size = 0, k + 1
    for column in range(size):
        pivot = next((i for i in range(rank, size) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        lead = rows[rank][column]
        rows[rank] = [value / lead for value in rows[rank]]
        for i in range(size):
            factor = rows[i][column]
            if i != rank and factor:
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank, [row[-1] for row in rows] if rank == size else None


@dataclass(frozen=True)
class Separator:
    """u* on the neurons of a drawn network: for each r as many of the neurons that are psi_r as the rarest has."""

    counts: Mapping[int, int]
    used: int
    margin: float
    norm: float
    support: int
    largest_feature: float


def build(n: int, k: int, q: int, seed: int, v: Mapping[int, Fraction], factor: int) -> Separator | None:
    """Draw q neurons, take their exact first step, collect J_r and evaluate g* on all bits of A.

    Only good neurons (sum over A of w = 0) are drawn one by one: their number among q is binomial. None where some r
    has no neuron.
    """
    generator = np.random.default_rng(seed)
    good = int(generator.binomial(q, float(balanced(k))))
    shares = np.array([float(pairs(k, a)) for a in range(k // 2 + 1)])
    counted = generator.multinomial(good, shares / shares.sum())
    a = np.repeat(np.arange(k // 2 + 1), counted)
    J = generator.binomial(n - k, 2 / 3, good)
    u = generator.uniform(-1, 1, good)  # in units of n/k
    window, b = Window.of(n, starting_bias(k)), float(starting_bias(k))
    first, last = int(J.min(initial=n)), int(J.max(initial=0))
    if not good:
        return None
    inside = masses(first, last, window)[J - first]
    alone = np.flatnonzero(2 * a == k - 1)  # one zero on A, at a place of its own
    sign = np.where(a[alone] % 2, -1.0, 1.0)
    extra = np.zeros(good)
    extra[alone] = sign * coefficients(k - 1, J[alone] + k - 1, window)
    place = generator.integers(0, k, good)
    # w_j^(1) z_j / sqrt n is slope * z_j, and at the place of a lone zero there is ``extra`` on top
    slope, more = u / (2 * k) * inside, u / (2 * k) * extra
    tolerance = Fraction(1, 10 * k)
    chosen: dict[int, NDArray[np.int64]] = {}
    for r in knots(k):
        interval = slopes(abs(r), k, tolerance)
        assert interval is not None
        low, high = map(float, interval)
        m = -r / b * slope
        slack = np.abs(r / b * more)
        chosen[r] = np.flatnonzero((m - slack >= low) & (m + slack <= high))
    counts = {r: len(found) for r, found in chosen.items()}
    used = min(counts.values())
    if used == 0:
        return None
    members = np.concatenate([chosen[r][:used] for r in knots(k)])
    weights = np.concatenate(
        [np.full(used, factor * parity_of(r, k) * float(v[r]) * abs(r) / (used * b)) for r in knots(k)]
    )
    margin, largest = _on_all_bits(k, slope[members], more[members], place[members], b, weights)
    norm = float(np.linalg.norm(weights))
    return Separator(counts, used, margin, norm, len(members), largest)


def _on_all_bits(
    k: int, slope: Floats, more: Floats, place: NDArray[np.int64], b: float, weights: Floats
) -> tuple[float, float]:
    """The least f_A g* over {+-1}^k, and the largest feature; off A the weights are exactly 0."""
    bits = 1.0 - 2.0 * ((np.arange(1 << k)[:, None] >> np.arange(k)) & 1)
    f, total = bits.prod(axis=1), bits.sum(axis=1)
    margin, largest = np.zeros(1 << k), 0.0
    for start in range(0, len(slope), 64):
        part = slice(start, start + 64)
        before = np.outer(total, slope[part]) + bits[:, place[part]] * more[part] + b
        hidden = np.clip(before, 0, CAP)
        largest = max(largest, float(hidden.max()))
        margin += hidden @ weights[part]
    return float((f * margin).min()), largest


@result(
    "parity/lemma-10",
    "A combination of the features psi_r is the parity, and with enough neurons some u* of norm "
    "O(k^5/sqrt q) separates "
    "all of D_A with margin 1 on the features of the first step.",
)
def lemma_10(
    n: MaybeSize = None,
    k: Odd = 7,
    q: Annotated[int | None, Maybe(Whole(1, MOST_NEURONS))] = None,
    delta: Share = 0.05,
    activation: Annotated[str, Choice("relu", "relu6")] = "relu",
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 10 of Daniely & Malach. The identity, on every value that the sum over A can take, in fractions:

        sum_r (-1)^((k-r)/2) v_r psi_r(x) = f_A(x),      psi_r = relu(|r| - sign(r) s),    r = -k, -k+2, ..., k

    ``margin`` is the least of f_A times the left side, ``mismatches`` counts the values at which its sign is wrong.
    ``corrected``: v_r = -2, and at |r| = k -3/2 where k = 3 mod 4, -1/2 where k = 1 mod 4, the only solution (found
    again by elimination up to k = 31). ``printed``: 1 at |r| = k, 5/2 at |r| = 1, else 2. ``activation=relu6`` cuts
    psi_r at 6: from k = 5 on the features then have rank below k + 1 and the parity is not in their span.

    Then u* on a network (up to k = 15): ``q`` neurons are drawn, the first step is taken exactly, J_r are neurons
    that are psi_r up to 1/(10k), as many for each r, and u*_i = 2 (-1)^((k-r)/2) v_r |r| / (|J_r| b). The 2 is the
    correction: sum_r |v_r| / (10k) of margin can be lost, so the printed u* has less than 1. ``margin_network`` is
    the least f_A g* over all x. The paper's q >= C k^7 log((k+1)/delta) comes from Hoeffding; by Chernoff's bound
    8 log((k+1)/delta)/p neurons do, for the exact probability p of the rarest r (the default q).

    >>> found = lemma_10(k=3, n=5185)
    >>> found.status, found.measured["margin"], found.measured["mismatches"], found.measured["margin_network"] >= 1
    ('holds', Fraction(1, 1), 0, True)
    >>> printed = lemma_10(k=3, n=5185, version="printed")
    >>> printed.status, printed.measured["margin"], printed.measured["mismatches"]
    ('violated', Fraction(-3, 1), 2)
    """
    if k % 2 == 0:
        raise InputError(f"k must be odd, got {k}")
    printed = version == "printed"
    cap = CAP if activation == "relu6" else None
    v = printed_v(k) if printed else corrected_v(k)
    margins = combination(k, v, cap)
    mismatches = sum(margin <= 0 for margin in margins)
    measured: dict[str, Any] = {
        "margin": min(margins),
        "mismatches": mismatches,
        "identity_failures": sum(margin != 1 for margin in margins),
        "v": {str(r): value for r, value in v.items()},
        "f_g": {str(s): margin for s, margin in zip(knots(k), margins, strict=True)},
    }
    bound: dict[str, Any] = {"margin": 1, "mismatches": 0}
    checks = [
        at_least("margin", min(margins), 1),
        equal("mismatches", mismatches, 0),
        equal("identity_failures", measured["identity_failures"], 0),
    ]
    notes = list(_by_hand(k, margins, cap)) if measured["identity_failures"] else []
    if k <= _SOLVED_UP_TO:
        rank, solution = rank_and_solution(k, cap)
        measured["rank"] = rank
        if solution is not None:
            measured["v_solved"] = dict(zip(map(str, knots(k)), solution, strict=True))
            checks.append(equal("v is the solution", Fraction(int(solution == list(v.values()))), 1))
        else:
            notes.append(f"cut at 6 the {k + 1} features have rank {rank}: the parity is not in their span")
    assumptions: list[Assumption] = []
    if k <= LARGEST_ON_CUBE:
        found = _network(n, k, q, delta, v, 1 if printed else 2, seed)
        measured |= found[0]
        bound |= found[1]
        checks += found[2]
        assumptions += [] if measured["identity_failures"] else found[3]  # no width mends the identity
        notes += found[4]
    else:
        notes.append(f"no network above k = {LARGEST_ON_CUBE}: its margin is taken over all 2^k bits of A")
    return Finding(measured, bound, checks, "exact", assumptions, notes=notes)


def _by_hand(k: int, margins: Sequence[Fraction], cap: int | None) -> list[str]:
    where, worst = max(zip(knots(k), margins, strict=True), key=lambda pair: (abs(pair[1] - 1), -abs(pair[0])))
    return [
        f"check by hand: where the signs on A sum to {where}, f_A = {parity_of(where, k)} and the combination is "
        f"{worst * parity_of(where, k)}{' (psi_r cut at 6)' if cap else ''}; at the sum -1 it is {margins[k // 2]} f_A"
    ]


def _network(
    n: int | None, k: int, q: int | None, delta: float, v: Mapping[int, Fraction], factor: int, seed: int
) -> tuple[dict[str, Any], dict[str, Any], list[Check], list[Assumption], list[str]]:
    """u* on a drawn network, against the lemma's bounds with the constants of its proof."""
    n = 64 * k**4 + 1 if n is None else n
    if not k + 3 <= n <= LARGEST:
        raise InputError(f"n must be an integer of at least k + 3 = {k + 3} and of at most {LARGEST}, got {n}")
    rarest = min(success(n, k, r, Fraction(1, 10 * k)) for r in (1, k))
    needed = math.ceil(8 * math.log((k + 1) / delta) / rarest) if rarest else MOST_NEURONS + 1
    width = min(needed, MOST_NEURONS) if q is None else q
    made = build(n, k, width, seed, v, factor)
    enough = Assumption("q >= 8 log((k+1)/delta)/p", width, needed, width >= needed)
    measured: dict[str, Any] = {"q": width, "p": rarest, "p_printed": 1 / (1120 * k**3.5)}
    if made is None:
        return measured, {}, [], [enough], ["some r has no neuron among the q drawn: no u*"]
    lost = float(sum(abs(value) for value in v.values())) / (10 * k)
    norm_limit = factor * float(max(map(abs, v.values()))) * 8 * k**2 * math.sqrt((k + 1) / made.used)
    measured |= {
        "margin_network": made.margin,
        "norm_u_star": made.norm,
        "norm_u_star_over_k5_root_q": made.norm * math.sqrt(width) / k**5,
        "support": made.support,
        "largest_feature": made.largest_feature,
        "neurons_for_r": {str(r): count for r, count in made.counts.items()},
    }
    bound = {"margin_network": 1, "margin_lost_before_doubling": lost, "norm_u_star": norm_limit, "largest_feature": 1}
    checks = [
        at_least("margin_network", made.margin, 1.0),
        at_most("norm_u_star", made.norm, norm_limit, tolerance=1e-9 * norm_limit),
        at_most("largest_feature", made.largest_feature, 1.0),
    ]
    return measured, bound, checks, [enough], ["w off A is exactly 0 after the step, so all x are the 2^k bits of A"]
