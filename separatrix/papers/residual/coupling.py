r"""Lemma C.1 and Claim C.5: near the random start few signs change, and what the start itself contributes vanishes.

For a fixed x the pre-activations at the start are g0 = W0 (x, 1), and a W with ||W||_2 <= tau_w moves them by any
vector of length at most tau_w ||(x, 1)||. To change the sign of entry i costs |g0_i| of that length, so the largest
possible number of changes is exact: the largest s such that the s smallest g0_i^2 add up to at most tau_w^2 ||(x,
1)||^2. What the changed signs do to A D g0 is a knapsack: an adversary takes the entries by gain over cost; and it is
at most ||A D_0 g0|| + (largest sum of s squared columns of A)^(1/2) tau_w ||(x, 1)||.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from separatrix.papers.residual.network import ResNet, spectral, with_bias
from separatrix.rules import Real, Whole
from separatrix.studies.growth import growth_law
from separatrix.theory.certificate import Assumption, Check, Finding, Interval, at_most
from separatrix.theory.parameters import Floats, Positive, Seed
from separatrix.theory.results import result

Dimension = Annotated[int, Whole(1, 200)]
Outputs = Annotated[int, Whole(1, 20)]
LargestWidth = Annotated[int, Whole(512, 131_072)]
Draws = Annotated[int, Whole(3, 100)]
Fall = Annotated[float, Real(0.01, 0.49)]
"""a, for sigma_w = m^-a."""
MARGIN = {"O": 0.04, "O~": 0.1}
"""What a fitted exponent may exceed the claimed one by: O~ hides powers of log m, worth 1/log m each here."""
_DECADES = 5


def widths_up_to(m: int) -> list[int]:
    """Five widths, each half the next, up to m."""
    return [m >> shift for shift in reversed(range(_DECADES))]


def exponent(at: Sequence[float], samples: Sequence[Sequence[float]]) -> Interval:
    """The power of ``at`` that the samples grow with, and its interval."""
    return growth_law(list(at), [np.asarray(values) for values in samples], centre="mean").rate


def grows_at_most(name: str, found: Interval, claimed: float, hidden: str = "O~") -> Check:
    return at_most(f"{name} less what {hidden} hides", found, claimed + MARGIN[hidden])


@dataclass(frozen=True)
class Flips:
    """What the worst move of length ``budget`` does to A D g0, for g0 the pre-activations at the start."""

    count: int
    adversarial: float
    bound: float
    signs: Floats

    @staticmethod
    def of(A: Floats, g0: Floats, budget: float) -> Flips:
        cost = g0**2
        count = int(np.searchsorted(np.cumsum(np.sort(cost)), budget**2, side="right"))
        start = (g0 >= 0).astype(np.float64)
        base = A @ (start * g0)
        squares = np.sort((A**2).sum(axis=0))[::-1]
        bound = float(np.linalg.norm(base)) + math.sqrt(float(squares[:count].sum())) * budget
        best, signs = float(np.linalg.norm(base)), start
        # towards the start's own value and towards each output: the largest of these moves
        for direction in (base / max(float(np.linalg.norm(base)), 1e-300), *np.eye(len(A))):
            gain = (direction @ A) * np.where(g0 >= 0, -g0, g0)
            useful = np.flatnonzero(gain > 0)
            order = useful[np.argsort(-(gain[useful] / np.maximum(cost[useful], 1e-300)))]
            taken = order[np.cumsum(cost[order]) <= budget**2]
            changed = start.copy()
            changed[taken] = 1 - changed[taken]
            value = float(np.linalg.norm(A @ (changed * g0)))
            if value > best:
                best, signs = value, changed
        return Flips(count, best, bound, signs)


@result(
    "residual/lemma-c.1",
    "For all ||W||_2 <= tau_w, ||V||_2 <= tau_v: O((tau_w/sigma_w)^(2/3) m^(2/3)) and O((tau_v/sigma_v)^(2/3) m) signs "
    "change, A D_W W0 (x,1) = O~(tau_w (tau_w/sigma_w)^(1/3) m^(-1/6)), A D_{V,W} V0 = O~(tau_v "
    "(tau_v/sigma_v)^(1/3)), ||out_1|| = O(tau_w).",
)
def lemma_c_1(
    d: Dimension = 10,
    k: Outputs = 3,
    m: LargestWidth = 16384,
    a: Fall = 0.25,
    tau_w: Positive = 1.0,
    sigma_v: Positive = 1.0,
    ratio: Annotated[float, Real(above=0, high=1)] = 0.2,
    draws: Draws = 8,
    seed: Seed = 0,
) -> Finding:
    r"""Lemma C.1 of Allen-Zhu & Li, (a) to (g), as scalings, with the worst moves that :class:`Flips` finds.

    ``m``: the largest of five widths; ``a``: sigma_w = m^-a; ``ratio``: tau_v / sigma_v. The numbers of sign changes
    are exact maxima over all W (all V), the norms lie between the adversary's and a rigorous bound; both are fitted.
    Exponents in m for (a)-(d), in tau_v (at the largest m) for (d)-(g).

    ==========  =========================  =============================================================================
    exponents   claimed                    of
    ==========  =========================  =============================================================================
    (a)         2/3 + 2a/3                 largest number of sign changes, in m
    (b)         a/3 - 1/6                  ||A D_W W0 (x,1)||, in m; negative
    (c)         0                          ||out_1(x)||, in m
    (d)         1; 2/3                     largest number of sign changes in the second layer, in m; in tau_v
    (e), (f)    4/3                        ||A D_{V,W} V0 z|| / ||z||, ||A D_{V,W} V0||_2, in tau_v
    (g)         1                          ||A D_{V,W} (V0 + V) z|| / ||z||, in tau_v
    ==========  =========================  =============================================================================

    >>> lemma_c_1(m=2048, draws=3, a=0.4).status in ("holds", "undecided", "outside")
    True
    """
    widths, generator = widths_up_to(m), np.random.default_rng(seed)
    found: dict[str, list[list[float]]] = {}
    for width in widths:
        for _ in range(draws):
            _add(found, width, widths, first_layer(d, k, width, width**-a, tau_w, generator))
            _add(found, width, widths, second_layer(d, k, width, width**-a, sigma_v, ratio * sigma_v, generator))
    floor = (k / m) ** 0.375
    ratios = [float(r) for r in np.geomspace(max(floor, ratio / 8), 1.0 if ratio > 0.5 else 2 * ratio, 4)]
    moved: dict[str, list[list[float]]] = {}
    for r in ratios:
        for _ in range(draws):
            _add(moved, r, ratios, second_layer(d, k, m, m**-a, sigma_v, r * sigma_v, generator))
    claimed = {
        "a": (2 / 3 + 2 * a / 3, "O"),
        "b": (a / 3 - 1 / 6, "O~"),
        "b_bound": (a / 3 - 1 / 6, "O~"),
        "c": (0.0, "O"),
        "d": (1.0, "O"),
    }
    in_tau = {"d": 2 / 3, "e": 4 / 3, "e_bound": 4 / 3, "f": 4 / 3, "g": 1.0}
    measured: dict[str, Any] = {"widths": widths, "tau_v_over_sigma_v": ratios}
    checks = []
    for name, (power, hidden) in claimed.items():
        rate = exponent(widths, found[name])
        measured[f"exponent_{name}"] = rate
        checks.append(grows_at_most(f"exponent_{name} in m", rate, power, hidden))
    for name, power in in_tau.items():
        rate = exponent(ratios, moved[name])
        measured[f"exponent_{name}_tau"] = rate
        # the start's own sqrt(k) sigma_v / sqrt(m) does not depend on tau_v and flattens the fit
        checks.append(grows_at_most(f"exponent_{name} in tau_v", rate, power))
    for name, values in found.items():
        measured[f"largest_{name}"] = [max(own) for own in values]
    checks.append(at_most("largest number of sign changes, share of m at the largest", max(found["a"][-1]) / m, 1))
    bound: dict[str, Any] = {f"exponent_{name}": power for name, (power, _) in claimed.items()}
    bound |= {f"exponent_{name}_tau": power for name, power in in_tau.items()}
    return Finding(measured, bound, checks, "scaling", coupling_assumptions(widths, a, tau_w, ratio, k))


def _add(into: dict[str, list[list[float]]], at: float, places: Sequence[float], values: Mapping[str, float]) -> None:
    for name, value in values.items():
        into.setdefault(name, [[] for _ in places])[list(places).index(at)].append(value)


def first_layer(
    d: int, k: int, m: int, sigma_w: float, tau_w: float, generator: np.random.Generator
) -> dict[str, float]:
    """(a), (b), (c) at one random start and unit x."""
    net = ResNet.start(d, k, m, sigma_w, 1.0, generator)
    x = generator.normal(size=d)
    extended = with_bias(x / np.linalg.norm(x))
    budget = tau_w * float(np.linalg.norm(extended))
    g0 = net.W0 @ extended
    flips = Flips.of(net.A, g0, budget)
    # the largest output that a move along one direction of outputs makes, signs and all
    outputs = []
    for direction in np.eye(k):
        aim = direction @ net.A
        moved = g0 + budget * aim / np.linalg.norm(aim)
        outputs.append(float(np.linalg.norm(net.A @ np.maximum(moved, 0))))
    return {"a": max(flips.count, 1), "b": flips.adversarial, "b_bound": flips.bound, "c": max(outputs)}


def second_layer(
    d: int, k: int, m: int, sigma_w: float, sigma_v: float, tau_v: float, generator: np.random.Generator
) -> dict[str, float]:
    """(d) to (g) at one random start, a W of norm 1 and unit x."""
    net = ResNet.start(d, k, m, sigma_w, sigma_v, generator)
    x = generator.normal(size=d)
    x /= np.linalg.norm(x)
    net = net.moved(spectral(generator, net.W.shape, 1.0), net.V)
    z = with_bias(net.out1(x))
    size = float(np.linalg.norm(z))
    flips = Flips.of(net.A, net.V0 @ z, tau_v * size)
    largest = []
    for direction in np.eye(k):
        aim = direction @ net.A
        moved = net.V0 @ z + tau_v * size * aim / np.linalg.norm(aim)
        largest.append(float(np.linalg.norm(net.A @ np.maximum(moved, 0))) / size)
    return {
        "d": max(flips.count, 1),
        "e": flips.adversarial / size,
        "e_bound": flips.bound / size,
        "f": float(np.linalg.norm((net.A * flips.signs) @ net.V0, 2)),
        "g": max(largest),
    }


def coupling_assumptions(widths: Sequence[int], a: float, tau_w: float, ratio: float, k: int) -> list[Assumption]:
    """The ranges of Lemma C.1, at every width."""
    found = [Assumption("tau_w >= 1", tau_w, 1, tau_w >= 1)]
    low = max(m ** (1 / 8 + 0.001 - a) for m in widths)
    high = min(m ** (1 / 8 - 0.001 - a / 4) for m in widths)
    found.append(Assumption("tau_w >= m^(1/8 + 0.001) sigma_w", tau_w, low, tau_w >= low))
    found.append(Assumption("tau_w <= m^(1/8 - 0.001) sigma_w^(1/4)", tau_w, high, tau_w <= high))
    least = max((k / m) ** 0.375 for m in widths)
    found.append(Assumption("tau_v/sigma_v >= (k/m)^(3/8)", ratio, least, ratio >= least))
    found.append(Assumption("tau_v <= sigma_v", ratio, 1, ratio <= 1))
    return found


@result(
    "residual/claim-c.5",
    "For ||W||_F <= tau_w and ||V||_F <= tau_v, ||dObj/dW||_F <= ||y - out|| O(sigma_v + 1) and ||dObj/dV||_F <= "
    "||y - out|| O(tau_w + 1).",
)
def claim_c_5(
    d: Dimension = 10,
    k: Outputs = 3,
    m: LargestWidth = 4096,
    a: Fall = 0.25,
    tau_w: Positive = 1.0,
    draws: Draws = 5,
    seed: Seed = 0,
) -> Finding:
    r"""Claim C.5 of Allen-Zhu & Li. Over all y the ratios are norms, by the formula of Fact C.4:

        sup_y ||dObj/dW||_F / ||y - out|| = ||(x, 1)|| ||A D_{V,W} (V0 + V)(A D_W, 0) + A D_W||_2
        sup_y ||dObj/dV||_F / ||y - out|| = ||(out_1, 1)|| ||A D_{V,W}||_2

    The first is fitted in sigma_v (from 1 to 8 at the largest of five widths: exponent at most 1) and both in m (at
    most 0), the second also in tau_w, at random W and V of Frobenius norm tau_w and tau_v = sigma_v/4.

    >>> claim_c_5(m=1024, draws=3).status
    'holds'
    """
    widths, generator = widths_up_to(m), np.random.default_rng(seed)
    scales = [1.0, 2.0, 4.0, 8.0]

    def ratios(width: int, sigma_v: float, tau: float) -> tuple[float, float]:
        net = ResNet.start(d, k, width, width**-a, sigma_v, generator)
        W, V = generator.normal(size=net.W.shape), generator.normal(size=net.V.shape)
        net = net.moved(tau * W / np.linalg.norm(W), sigma_v / 4 * V / np.linalg.norm(V))
        x = generator.normal(size=d)
        x /= np.linalg.norm(x)
        to_W, to_V = net.sensitivities(x)
        last = float(np.linalg.norm(with_bias(net.out1(x))))
        return math.sqrt(2) * float(np.linalg.norm(to_W, 2)), last * float(np.linalg.norm(to_V, 2))

    by_m = [[ratios(width, 1.0, tau_w) for _ in range(draws)] for width in widths]
    by_sigma = [[ratios(m, sigma, tau_w)[0] for _ in range(draws)] for sigma in scales]
    by_tau = [[ratios(m, 1.0, tau_w * scale)[1] for _ in range(draws)] for scale in scales]
    rates = {
        "exponent_w_m": (exponent(widths, [[own[0] for own in values] for values in by_m]), 0.0),
        "exponent_v_m": (exponent(widths, [[own[1] for own in values] for values in by_m]), 0.0),
        "exponent_w_sigma_v": (exponent(scales, by_sigma), 1.0),
        "exponent_v_tau_w": (exponent(scales, by_tau), 1.0),
    }
    measured: dict[str, Any] = {name: rate for name, (rate, _) in rates.items()}
    measured["largest_ratio_w"] = max(own[0] for values in by_m for own in values) / 2
    measured["largest_ratio_v"] = max(own[1] for values in by_m for own in values) / (tau_w + 1)
    checks = [grows_at_most(name, rate, claimed, "O") for name, (rate, claimed) in rates.items()]
    bound = {name: claimed for name, (_, claimed) in rates.items()}
    return Finding(measured, bound, checks, "scaling", [Assumption("tau_w >= 1", tau_w, 1, tau_w >= 1)])
