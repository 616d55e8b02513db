"""Lemmas 3, 4 and 5: the coordinates outside A and the bias get almost no gradient, good neurons none at all."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

from separatrix.errors import InputError
from separatrix.papers.parity.laws import EXACT_LAW_UP_TO, exceeds, law_of_nonzeros, log_square, shown
from separatrix.papers.parity.neurons import Neuron, Window, over_root, starting_bias
from separatrix.rules import Maybe, Real, Whole
from separatrix.theory.certificate import Assumption, Check, Finding, at_least, at_most, equal
from separatrix.theory.results import result

Size = Annotated[int, Whole(1, 100_000)]
Degree = Annotated[int, Whole(1, 99)]
Bias = Annotated[Fraction | None, Maybe(Real(exact=True))]
Factor = Annotated[Fraction, Real(above=0, exact=True)]


@result(
    "parity/lemma-3",
    "On the uniform distribution the gradient of an irrelevant coordinate, and of the bias, is at most "
    "c / sqrt C(n-1, k) with probability at least 1 - 1/c over w.",
)
def lemma_3(n: Size = 101, k: Degree = 5, b: Bias = None, c: Factor = Fraction(10)) -> Finding:
    r"""Lemma 3 of Daniely & Malach, for one j outside A, x uniform on {+-1/sqrt n}^n and sigma' of ReLU6:

        P_w(|E x_j f sigma'(<w, x> + b)| <= c / sqrt C(n-1, k)) >= 1 - 1/c       (and without x_j)

    The expectation is, up to its sign, a coefficient of degree k + 1 (k) of a symmetric function of the m nonzero
    entries, and exactly 0 unless w has no zero on A and j (on A). So the probability over w is a sum over m, exact.
    ``rms`` is the root of E_w (E x_j f sigma')^2, which the proof bounds by 1 / sqrt C(n-1, k) (|x_j| <= 1).

    ``b`` is 1/(8k) by default.

    >>> found = lemma_3(n=21, k=3, c=2)
    >>> found.status, found.measured["probability"] > found.bound["probability"]
    ('holds', True)
    """
    _demand_room(n, k, 1)
    bias = starting_bias(k) if b is None else b
    window, ways = Window.of(n, bias), math.comb(n - 1, k)
    limit = Fraction(c * c, ways)
    checks: list[Check] = []
    measured: dict[str, Any] = {}
    for name, s, divisor in (("", k + 1, n), ("_bias", k, 1)):
        failing, square = _over_w(n, s, window, limit * divisor)
        probability, rms = 1 - failing, math.sqrt(square / divisor)
        measured |= {f"probability{name}": shown(probability), f"rms{name}": rms}
        checks.append(at_least(f"probability{name}", probability, 1 - 1 / c))
        checks.append(at_most(f"rms{name}", rms, 1 / math.sqrt(ways), tolerance=1e-9 / math.sqrt(ways)))
    gradient = float(c) / math.sqrt(ways)
    return Finding(
        measured=measured | {"zero_probability": shown(1 - Fraction(2, 3) ** (k + 1))},
        bound={"probability": 1 - 1 / c, "gradient": gradient, "rms": 1 / math.sqrt(ways)},
        checks=checks,
        method=_method(n),
        vacuous=_nothing_said(n, c, gradient),
        notes=["the gradient is exactly 0 unless w has no zero on A and at j: zero_probability"],
    )


def _demand_room(n: int, k: int, spare: int) -> None:
    if n < k + spare:
        raise InputError(f"n must be at least k + {spare} = {k + spare}, got {n}")


def _nothing_said(n: int, c: Fraction, gradient: float) -> str | None:
    if c <= 1:
        return "a probability of at least 1 - 1/c <= 0 says nothing; take c > 1"
    if gradient >= 1 / math.sqrt(n):
        return f"|E x_j f sigma'| <= E|x_j| = {1 / math.sqrt(n):.3g} in any case; the bound is {gradient:.3g}"
    return None


def _method(n: int) -> str:
    return "exact" if n <= EXACT_LAW_UP_TO else "closed form"


def _over_w(n: int, s: int, window: Window, square: Fraction) -> tuple[Fraction, float]:
    """P_w(coefficient^2 > square) and E_w coefficient^2, of the coefficient at a given set of s places."""
    failing, total = Fraction(0), 0.0
    for m, weight in law_of_nonzeros(n - s):
        total += float(weight) * math.exp(log_square(s, s + m, window))
        if exceeds(s, s + m, window, square):
            failing += weight
    inside = Fraction(2, 3) ** s
    return inside * failing, float(inside) * total


@result(
    "parity/lemma-4",
    "On the uniform distribution the gradients of all irrelevant coordinates and of the bias are at most "
    "C (n-1) / sqrt C(n-1, k) at once with probability at least 1 - 1/C over w.",
)
def lemma_4(n: Size = 301, k: Degree = 7, b: Bias = None, C: Factor = Fraction(37)) -> Finding:
    r"""Lemma 4 of Daniely & Malach: the union bound over Lemma 3, for odd n and k.

    All j outside A with w_j != 0 have the same |E x_j f sigma'|, which depends on the number m of nonzero entries, and
    it is 0 unless w has no zero on A: the probability is again a sum over m. ``b`` is 1/(8k) by default; Lemma 7 uses
    C = 14 sqrt k.

    >>> found = lemma_4(n=51, k=5, C=20)
    >>> found.status, float(1 - found.measured["probability"]) < 1 / 20
    ('vacuous', True)
    """
    _demand_room(n, k, 1)
    bias = starting_bias(k) if b is None else b
    window, ways = Window.of(n, bias), math.comb(n - 1, k)
    square = Fraction(C * C * (n - 1) ** 2, ways)
    failing = Fraction(0)
    for m, weight in law_of_nonzeros(n - k):
        off = m > 0 and exceeds(k + 1, k + m, window, square * n)
        if off or exceeds(k, k + m, window, square):
            failing += weight
    probability = 1 - Fraction(2, 3) ** k * failing
    gradient = float(C) * (n - 1) / math.sqrt(ways)
    return Finding(
        measured={"probability": shown(probability), "zero_probability": shown(1 - Fraction(2, 3) ** k)},
        bound={"probability": 1 - 1 / C, "gradient": gradient},
        checks=[at_least("probability", probability, 1 - 1 / C)],
        method=_method(n),
        assumptions=[
            Assumption("k odd", k, "odd", k % 2 == 1),
            Assumption("n odd", n, "odd", n % 2 == 1),
        ],
        vacuous=_nothing_said(n, C, gradient),
        notes=[
            "all these gradients are exactly 0 unless w has no zero on A: zero_probability",
            "for k odd and sum over A of w = 0 there is such a zero, so good neurons have equality (lemma-5)",
        ],
    )


@result(
    "parity/lemma-5",
    "A neuron whose weights sum to zero over A has no gradient at all in the irrelevant coordinates and "
    "the bias on the "
    "second component, and, k being odd, on the uniform one neither.",
)
def lemma_5(
    n: Size = 10_001,
    k: Degree = 7,
    plus: Annotated[int, Whole(0)] = 3,
    minus: Annotated[int, Whole(0)] = 3,
    J: Annotated[int | None, Maybe(Whole(0))] = None,
    b: Bias = None,
) -> Finding:
    r"""Lemma 5 of Daniely & Malach, exactly: for sum_{j in A} w_j = 0, any b, and j outside A

        E_{D^(2)} x_j f sigma'(<w, x> + b) = 0        E_{D^(2)} f sigma'(<w, x> + b) = 0

    and, better than printed, the same on D^(1) and so on D_A: k is odd, so one of the w_j, j in A, is 0, sigma' does
    not depend on that bit, and the parity averages to 0. Both equalities are checked as rational numbers.

    ``plus`` and ``minus`` count the +1 and -1 of w on A, ``J`` the nonzero entries off A (the rest's mean by
    default). With plus != minus the lemma claims nothing, and the numbers show what the balance is worth.

    >>> lemma_5(n=15, k=3, plus=1, minus=1).measured["aligned"], lemma_5(n=15, k=3, plus=2, minus=1).status
    (Fraction(0, 1), 'outside')
    """
    _demand_room(n, k, 1)
    spread = (2 * (n - k) + 1) // 3 if J is None else J
    if plus + minus > k or spread > n - k:
        raise InputError(
            f"plus + minus must be at most k = {k} and J at most n - k = {n - k}, got {plus + minus} and {spread}"
        )
    neuron = Neuron(n, k, plus, minus, spread, starting_bias(k) if b is None else b)
    uniform, aligned = neuron.irrelevant
    uniform_bias, aligned_bias = neuron.bias
    measured: dict[str, Any] = {
        "aligned": shown(aligned),
        "aligned_bias": shown(aligned_bias),
        "uniform": shown(uniform),
        "uniform_bias": shown(uniform_bias),
        "x_j_aligned": float(over_root(aligned, n)),
        "relevant": float(sum(neuron.relevant(neuron.entries[0])) / 2),
        "J": spread,
    }
    checks = [
        equal("E f z_j sigma' on D(2)", aligned, Fraction(0)),
        equal("E f sigma' on D(2)", aligned_bias, Fraction(0)),
        equal("E f z_j sigma' on D(1)", uniform, Fraction(0)),
        equal("E f sigma' on D(1)", uniform_bias, Fraction(0)),
    ]
    return Finding(
        measured=measured,
        bound={"aligned": 0, "aligned_bias": 0, "uniform": 0, "uniform_bias": 0},
        checks=checks,
        method="exact",
        assumptions=[
            Assumption("k odd", k, "odd", k % 2 == 1),
            Assumption("sum over A of w = 0", neuron.S, 0, neuron.S == 0),
        ],
        notes=[
            "z_j = sqrt(n) x_j; the values for j with w_j = 1 (w_j = -1: negated; w_j = 0: zero)",
            "n odd is not needed",
            "the paper's w in {1, 0, 1}^n is {-1, 0, 1}^n",
        ],
    )
