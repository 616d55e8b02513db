"""Theorem 1: what its user must choose (table 1), the risk promised, and how Algorithm 1's risk falls with alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from separatrix.errors import InputError
from separatrix.papers.residual.complexity import CStar, as_float, complexity_of
from separatrix.papers.residual.coupling import MARGIN
from separatrix.rules import Real, Whole
from separatrix.studies.growth import paired_exponent
from separatrix.theory.certificate import Assumption, Finding, Interval, at_least, at_most
from separatrix.theory.parameters import MaybePositive, Positive, Seed
from separatrix.theory.results import result
from separatrix.theory.series import series

if TYPE_CHECKING:
    from separatrix.papers.residual.descent import Risks

FALL = 0.83
"""Each alpha over the one before."""
ALPHAS = 4
FROZEN = 1e-20
"""A rate at which V does not move."""


@dataclass(frozen=True)
class Concept:
    """What Theorem 1 asks to be known of H = F + alpha G(F): ``C_F``, ``C_G`` are C_s(F), C_s(G); ||F(x)|| <= B_F."""

    k: int
    p_F: int
    C_F: float
    p_G: int
    C_G: float
    B_F: float

    @staticmethod
    def hard_class(d: int, k: int, C_star: float = 1.0) -> Concept:
        """(7.1), F as it is (section D.4 scales it to length 1): F_i(x) = sqrt(d) x_i = sqrt(2d) <e_i / sqrt 2, x>,

        y_1 ... y_k = 1/(k! 2^k) sum over s in {+-1}^k of prod(s) <s, y>^k,    s = sqrt(2k) v, ||v|| = 1 / sqrt 2
        """
        line = as_float(complexity_of(series("power:1"), C_star, 0.5).C_s)
        power = as_float(complexity_of(series(f"power:{k}"), C_star, 0.5).C_s)
        G = (2 * k) ** (k / 2) / (math.factorial(k) * 2**k)
        return Concept(k, 1, math.sqrt(2 * d) * line, 2**k, G * power, math.sqrt(k))

    @property
    def F(self) -> float:
        """k p_F C_s(F)."""
        return self.k * self.p_F * self.C_F

    @property
    def G(self) -> float:
        """k p_G C_s(G)."""
        return self.k * self.p_G * self.C_G


@dataclass(frozen=True)
class Choices:
    """Table 1 and the rates of Theorem 1, with 1 for every constant and every power of log m that O~ and Theta~ hide.

    A user chooses delta >= ``least_delta``, m, sigma_w and sigma_v; the rest follows.

    >>> made = Choices(Concept.hard_class(d=8, k=2), alpha=0.01, m=10**6)
    >>> made.tau_w, round(made.tau_v, 4), made.tau_w_range(sigma_w=0.02)[0] < made.tau_w
    (16.0, 0.12, True)
    """

    concept: Concept
    alpha: float
    m: int
    OPT: float = 0.0

    @property
    def largest_alpha(self) -> float:
        """1 / (k p_G C_s(G))."""
        return 1 / self.concept.G

    @property
    def least_delta(self) -> float:
        """OPT + alpha^4 (k p_G C_s(G))^4 (1 + B_F)^2."""
        return self.OPT + (self.alpha * self.concept.G) ** 4 * (1 + self.concept.B_F) ** 2

    @property
    def sigma_w_range(self) -> tuple[float, float]:
        return self.m ** (0.01 - 0.5), self.m**-0.01

    @property
    def sigma_v_range(self) -> tuple[float, float]:
        return 1.0, self.m ** (0.375 - 0.01)

    @property
    def tau_w(self) -> float:
        """k p_F C_s(F), at least 1."""
        return max(1.0, self.concept.F)

    @property
    def tau_v(self) -> float:
        """alpha k p_G C_s(G)."""
        return self.alpha * self.concept.G

    def tau_w_range(self, sigma_w: float) -> tuple[float, float]:
        return self.m ** (1 / 8 + 0.001) * sigma_w, self.m ** (1 / 8 - 0.001) * sigma_w**0.25

    def tau_v_range(self, sigma_v: float) -> tuple[float, float]:
        return sigma_v * (self.concept.k / self.m) ** 0.375, sigma_v

    @staticmethod
    def eta_w(delta: float) -> float:
        return min(1.0, delta)

    def eta_v(self, delta: float) -> float:
        """eta_w (tau_v / tau_w)^2."""
        return self.eta_w(delta) * (self.tau_v / self.concept.F) ** 2

    def T(self, delta: float) -> float:
        """(k p_F C_s(F))^2 / min(1, delta^2)."""
        return self.concept.F**2 / min(1.0, delta**2)

    @property
    def log10_smallest_m(self) -> float:
        """From where on some sigma_w leaves room for tau_w: (tau_w / m^0.124)^4, the least that tau_w_range allows, is
        at most m^-0.01 from m = tau_w^(4/0.486) on (and then at most tau_w / m^0.126 too, as tau_w >= 1).
        """
        return math.log10(self.tau_w) * 4 / 0.486

    def table(self, delta: float, sigma_w: float, sigma_v: float) -> dict[str, Any]:
        return {
            "delta": delta,
            "least_delta": self.least_delta,
            "largest_alpha": self.largest_alpha,
            "tau_w": self.tau_w,
            "tau_v": self.tau_v,
            "sigma_w_range": self.sigma_w_range,
            "sigma_v_range": self.sigma_v_range,
            "tau_w_range": self.tau_w_range(sigma_w),
            "tau_v_range": self.tau_v_range(sigma_v),
            "eta_w": self.eta_w(delta),
            "eta_v": self.eta_v(delta),
            "T": self.T(delta),
            "log10_smallest_m": self.log10_smallest_m,
        }


@result(
    "residual/theorem-1",
    "With delta >= OPT + Theta~(alpha^4 (k p_G C_s(G))^4 (1 + B_F)^2), eta_w = Theta~(min(1, delta)), eta_v = eta_w "
    "Theta~((alpha p_G C_s(G) / (p_F C_s(F)))^2) and T = Theta~((k p_F C_s(F))^2 / min(1, delta^2)) samples, the mean "
    "over the steps of Algorithm 1 of E||H - out||^2 is O(delta): O~(alpha^4) for OPT = 0.",
)
def theorem_1(
    d: Annotated[int, Whole(2, 14)] = 8,
    k: Annotated[int, Whole(2, 4)] = 2,
    alpha: Annotated[float, Real(above=0, high=0.5)] = 0.4,
    m: Annotated[int, Whole(10, 5000)] = 200,
    a: Annotated[float, Real(0, 1)] = 0.25,
    sigma_v: Positive = 1.0,
    C_star: CStar = 1.0,
    delta: MaybePositive = None,
    eta: Positive = 0.05,
    steps: Annotated[int, Whole(50, 20_000)] = 500,
    runs: Annotated[int, Whole(2, 50)] = 6,
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 1 of Allen-Zhu & Li on the hard class (7.1), y = H(x) (OPT = 0): real trainings by Algorithm 1.

    ``alpha`` is the largest of four, each 0.83 times the one before. ``table`` has what table 1 and the theorem ask for
    at the smallest of them (``delta``: ``least_delta`` unless given), all hidden constants 1; ``log10_smallest_m`` says
    from which m on its ranges leave room for tau_w. The trainings take the theorem's powers with constants that can be
    afforded: eta_w = ``eta`` at the largest alpha and T = ``steps``, then eta_w ~ alpha^4, eta_v ~ alpha^2 eta_w (equal
    at the largest alpha) and T ~ alpha^-8; sigma_w = m^-a. Risks are exact, over the cube.

    The exponent is built into this schedule: a risk that falls with eta_w t has a mean of about 1/(eta_w T) ~ alpha^4,
    whether G is learned or not, as ``first_layer_alone`` shows. What the runs do test is the end, ``learned``. And the
    bound itself, ``risk``, is vacuous where it is not below ``risk_of_zero`` = k (1 + alpha^2).

    ``exponent`` is that of the mean over the steps, claimed to be at least 4; beside it ``exponent_final`` of the risk
    at the end, and both with V at its start (``first_layer_alone``), as a control. ``learned``: the risk at the end at
    the smallest alpha over k alpha^2, which is what F alone leaves.

    The bound says more than "F is learned" only below ``alpha_of_interest``: where alpha^4 (k p_G C_s(G))^4 (1 + B_F)^2
    is below k alpha^2, again with 1 for what Theta~ hides.

    >>> theorem_1(d=2, m=10, steps=50, runs=2).bound["exponent"]
    4
    """
    from separatrix.papers.residual.descent import SectionSix, trainings

    if k > d:
        raise InputError(f"k must be at most d = {d}, got {k}")
    concept, sigma_w = Concept.hard_class(d, k, C_star), m**-a
    alphas = [alpha * FALL**i for i in range(ALPHAS)]
    least = Choices(concept, alphas[-1], m)
    chosen = least.least_delta if delta is None else delta
    ratio = [one / alpha for one in alphas]
    T = [round(steps * r**-8) for r in ratio]
    learner = SectionSix(m, sigma_w, sigma_v)
    whole, control = (
        trainings(d, k, alphas, learner, [(eta * r**4, moved * eta * r**6) for r in ratio], T, runs, seed)
        for moved in (1.0, FROZEN)
    )
    rates = exponents(whole)
    learned = float(whole[-1].final.mean()) / (k * alphas[-1] ** 2)
    alone, zero = exponents(control), k * (1 + alphas[-1] ** 2)
    measured: dict[str, Any] = rates | {
        "learned": learned,
        "alphas": alphas,
        "T": T,
        "average_risk": [float(own.average.mean()) for own in whole],
        "average_risk_over_alpha_4": [float(own.average.mean()) / own.alpha**4 for own in whole],
        "final_risk": [float(own.final.mean()) for own in whole],
        "first_layer_alone": alone | {"final_risk": [float(own.final.mean()) for own in control]},
        "risk_of_zero": zero,
        "table": least.table(chosen, sigma_w, sigma_v),
        "alpha_of_interest": math.sqrt(k) / (concept.G**2 * (1 + concept.B_F)),
    }
    checks = [
        at_least("exponent of the mean risk in alpha, plus what O~ hides", rates["exponent"], 4 - MARGIN["O~"]),
        at_most("risk at the end over that of F alone", learned, 1),
    ]
    low, high = least.sigma_w_range
    ended, enough = float(whole[0].final.mean()), k * alpha**2 / 2
    premises = [
        Assumption("m^-0.49 <= sigma_w <= m^-0.01", sigma_w, f"[{low:.3g}, {high:.3g}]", low <= sigma_w <= high),
        Assumption("sigma_v <= m^0.365", sigma_v, least.sigma_v_range[1], sigma_v <= least.sigma_v_range[1]),
        Assumption(
            "eta T large enough: risk at the end <= k alpha^2/2 at the largest alpha", ended, enough, ended <= enough
        ),
    ]
    notes = [
        "the exponent is built into eta_w ~ alpha^4 and T ~ alpha^-8: the mean over the steps is mostly that of the "
        "first ones, before F is learned, which falls as 1/(eta_w T) ~ alpha^4; with V frozen, so that G is ignored, "
        f"it is {alone['exponent'].mean:.3g}. What tests G is the risk at the end, far below",
        f"at unit constants table 1 wants m of at least 10^{least.log10_smallest_m:.3g}, and the bound is below the "
        f"risk of F alone for alpha below {measured['alpha_of_interest']:.3g}",
    ]
    vacuous = None
    if chosen >= zero:
        average = measured["average_risk"][-1]
        vacuous = (
            f"at unit constants the bound is {chosen:.3g}; the risk of zero is {zero:.3g}, the measured {average:.3g}"
        )
    bound = {"exponent": 4, "risk": chosen, "learned": 1}
    return Finding(measured, bound, checks, "scaling", premises, vacuous, notes)


def exponents(found: Sequence[Risks]) -> dict[str, Interval]:
    """Of the mean risk and of that at the end; a run keeps its start and its target from alpha to alpha."""
    alphas = [own.alpha for own in found]
    return {
        "exponent": paired_exponent(alphas, np.array([own.average for own in found])),
        "exponent_final": paired_exponent(alphas, np.array([own.final for own in found])),
    }
