r"""Lemmas C.2 and C.3: W* and V* near the start compute F, and alpha G of what the first layer computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.papers.residual.complexity import Phi, as_float, complexity_of
from separatrix.papers.residual.concept import unit
from separatrix.papers.residual.coupling import MARGIN, Fall, LargestWidth, grows_at_most, widths_up_to
from separatrix.papers.residual.existence import (
    Count,
    Dimension,
    Draws,
    Made,
    computed,
    extended,
    odd_part,
    of_all_lengths,
    on_unit_sphere,
)
from separatrix.papers.residual.network import with_bias
from separatrix.studies.growth import paired_exponent
from separatrix.theory.certificate import Assumption, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Floats, Positive, Seed, Share, Version
from separatrix.theory.results import result

ACCURACY = 0.01
"""Of h, well below what a finite m leaves."""


def worst_change(A: Floats, g0: Floats, values: Floats, budget: float) -> float:
    """The largest ||A (D - D_0) values|| that an adversary finds who changes signs of g0 at a cost of sum g0_j^2.

    He takes entries by gain over cost, towards each output and away from it.
    """
    cost, change = g0**2, np.where(g0 >= 0, -values, values)
    best = 0.0
    for direction in (*np.eye(len(A)), *-np.eye(len(A))):
        gain = (direction @ A) * change
        useful = np.flatnonzero(gain > 0)
        order = useful[np.argsort(-gain[useful] / np.maximum(cost[useful], 1e-300))]
        taken = order[np.cumsum(cost[order]) <= budget**2]
        best = max(best, float(np.linalg.norm(A[:, taken] @ change[taken])))
    return best


@dataclass(frozen=True)
class Pair:
    """A random F and G of Concept 2 at a random start of width m: W* and V* with A D_W0 W*(x,1) = F(x) nearly, and
    A D_V0 V*(z,1) = alpha G(z)."""

    F: Made
    G: Made
    alpha: float
    A: Floats
    W0: Floats
    V0: Floats
    W: Floats
    V: Floats

    @staticmethod
    def at_random_start(
        F: Made, G: Made, alpha: float, m: int, a: float, sigma_v: float, generator: np.random.Generator
    ) -> Pair:
        """For sigma_w = m^-a."""
        k, d = F.F.a.shape[0], F.F.w1.shape[2] - 1
        ones, g, v = (generator.normal(size=shape) for shape in ((k, m), (m, d + 1), (m, k + 1)))
        root = math.sqrt(m)
        W, V = F.weights(ones, g) / root, alpha * G.weights(ones, v) / root
        return Pair(F, G, alpha, ones / root, m**-a * g, sigma_v / root * v, W, V)

    def gaps(self, x: Floats, z: Floats) -> tuple[float, float]:
        """The root of the mean over x of ||A D_W0 W*(x,1) - F(x)||^2, and the largest over z of ||A D_V0 V*(z,1) -
        alpha G(z)|| / ||(z,1)||.
        """
        first = np.linalg.norm(computed(self.A, self.W0, self.W, x) - self.F.F(x), axis=1)
        second = np.linalg.norm(computed(self.A, self.V0, self.V, z) - self.alpha * self.G.F(z), axis=1)
        return float(np.sqrt(np.mean(first**2))), float((second / np.linalg.norm(extended(z), axis=1)).max())


def tilde(alpha: float, k: int, F: float, G: float) -> float:
    """alpha~ = alpha / (k (p_F C_s(F) + p_G C_s(G)))."""
    return alpha / (k * (F + G))


@result(
    "residual/lemma-c.2",
    "W*, V* exist with ||W*||_F <= tau_w/10 = O~(k p_F C_s(F)), ||V*||_F <= tau_v/10 = O~(alpha k p_G C_s(G)) "
    "(printed: alpha~ for alpha), E||A D_W0 W*(x,1) - F(x)||^2 <= alpha~^4 and ||A D_V0 V*(z,1) - alpha G(z)|| <= "
    "alpha~^2 ||(z,1)||.",
)
def lemma_c_2(
    phi: Phi = "sin",
    alpha: Share = 0.3,
    d: Dimension = 5,
    k: Count = 2,
    p: Count = 2,
    m: LargestWidth = 16384,
    draws: Draws = 12,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma C.2 of Allen-Zhu & Li, W* and V* by (E.3) and C_s at C* = 1, as scalings over five widths up to ``m``.

    Both errors must fall as m^(-1/2) (then they are below any alpha~^2 from some M on; at the largest m here they are
    ``error_F`` and ``error_G``), and the norms stay bounded: their exponents in m are at most 0, and
    ``norm_W_over_claimed``, ``norm_V_over_claimed`` are their sizes over k p C_s(F) and alpha k p C_s(G).

    As printed ||V*||_F is of the order of alpha~ k p_G C_s(G), where alpha~ = alpha/(k(p_F C_s(F) + p_G C_s(G))). But
    every V with the property has ||V||_F >= (alpha ||G(z)|| - alpha~^2 ||(z,1)||) / (||A||_2 ||(z,1)||), which does not
    fall as C_s(F) grows. By hand: k = 1 and G = 1 (phi = 1, w2 = (0, 1)); at z = 0 V must have ||V||_F >= (alpha -
    alpha~^2)/||A||_2, and alpha~ C_s(G) tends to 0. Table 1 has alpha.

    >>> lemma_c_2(m=1024, draws=3, version="printed").status
    'violated'
    """
    generator, widths = np.random.default_rng(seed), widths_up_to(m)
    found = {name: np.zeros((len(widths), draws)) for name in ("error_F", "error_G", "norm_W", "norm_V")}
    needed = 0.0
    for draw in range(draws):
        F, G = (Made.of(phi, n, k, p, ACCURACY, generator) for n in (d, k))
        x, z = on_unit_sphere(d, generator), of_all_lengths(k, generator)
        share = np.linalg.norm(G.F(z), axis=1) / np.linalg.norm(extended(z), axis=1)
        for at, width in enumerate(widths):
            pair = Pair.at_random_start(F, G, alpha, width, 0.25, 1.0, generator)
            values = (*pair.gaps(x, z), float(np.linalg.norm(pair.W)), float(np.linalg.norm(pair.V)))
            for name, value in zip(found, values, strict=True):
                found[name][at, draw] = value
        needed = max(needed, float(share.max()) / float(np.linalg.norm(pair.A, 2)))
    size = p * as_float(complexity_of(odd_part(phi), 1.0, 0.5).C_s)
    rates = {f"exponent_{name}": paired_exponent(widths, values) for name, values in found.items()}
    claimed = {name: -0.5 if "error" in name else 0.0 for name in rates}
    small = tilde(alpha, k, size, size)
    measured: dict[str, Any] = rates | {
        "error_F": float(np.mean(found["error_F"][-1])),
        "error_G": float(np.mean(found["error_G"][-1])),
        "alpha_tilde": small,
        "norm_W_over_claimed": float(found["norm_W"][-1].max()) / (k * size),
        "norm_V_over_claimed": float(found["norm_V"][-1].max()) / (alpha * k * size),
    }
    bound: dict[str, Any] = dict(claimed)
    checks = [grows_at_most(f"{name} in m", rate, claimed[name], "O~") for name, rate in rates.items()]
    if version == "printed":
        measured |= _printed_tau_v(alpha, k, size, needed)
        bound["exponent_norm_V_in_C_F"] = 0
        name = "exponent_norm_V_in_C_F"
        checks.append(
            at_most("least ||V*||_F over alpha~ k p_G C_s(G), exponent in C_s(F)", measured[name], MARGIN["O~"])
        )
    return Finding(measured, bound, checks, "scaling")


def _printed_tau_v(alpha: float, k: int, size: float, needed: float) -> dict[str, Any]:
    """What any V needs over what is printed, as C_s(F) grows and all else stays."""
    factors = [1.0, 10.0, 100.0, 1000.0]
    ratios = []
    for factor in factors:
        small = tilde(alpha, k, factor * size, size)
        ratios.append((alpha * needed - small**2) / (small * k * size))
    slope = float(np.polyfit(np.log(factors[1:]), np.log(ratios[1:]), 1)[0])
    return {"norm_V_needed_over_printed": ratios, "exponent_norm_V_in_C_F": slope}


@result(
    "residual/lemma-c.3",
    "For all ||W||_2 <= tau_w, ||V||_2 <= tau_v: E||A D_W W*(x,1) - F||^2 = O(alpha~^4), ||A D_{V,W} V*(z,1) - alpha "
    "G(z)|| <= (alpha~^2 + O(tau_v (tau_v/sigma_v)^(1/3))) ||(z,1)|| (printed: alpha~ G), and E||A D_W (W* - W)(x,1) - "
    "(F - out_1)||^2 = O(alpha~^4).",
)
def lemma_c_3(
    phi: Phi = "sin",
    alpha: Share = 0.3,
    d: Dimension = 5,
    k: Count = 2,
    p: Count = 1,
    m: LargestWidth = 16384,
    a: Fall = 0.25,
    tau_w: Positive = 1.0,
    draws: Draws = 20,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma C.3 of Allen-Zhu & Li as scalings, for an adversary who changes signs (:func:`worst_change`).

    sigma_w = m^-``a``, ||W||_2 <= ``tau_w``. What (a) adds to Lemma C.2 is A (D_W - D_W0) W*(x,1), which is O~(tau_w
    (tau_w/sigma_w)^(1/3) m^(-1/6)): exponent a/3 - 1/6 in m at most. What (b) adds is A (D_{V,W} - D_{V0,W}) V*(z,1),
    with the exponent 1/3 in tau_v/sigma_v for a V* that stays (at the largest m). (c) adds A D_W W0 (x,1) to (a), which
    ``residual/lemma-c.1`` (b) has; ``identity_gap``: that A D_W (W* - W)(x,1) - (F - out_1) is their sum.

    As printed (b) has alpha~ G for alpha G (and no bracket). At V = 0 and large m the left side is (alpha - alpha~)
    ||G(z)||, and the right side alpha~^2 ||(z,1)||, the rest being as small as one likes for a large sigma_v. By hand:
    k = 1, G = 1, C_s(F) = C_s(G) = 1, alpha = 1/2, so that alpha~ = 1/4, and z = 0: 1/4 > 1/16.

    >>> lemma_c_3(m=1024, draws=3, version="printed").status
    'violated'
    """
    generator, widths = np.random.default_rng(seed), widths_up_to(m)
    ratios = [0.05, 0.1, 0.2, 0.4]
    first, second = np.zeros((len(widths), draws)), np.zeros((len(ratios), draws))
    identity = excess = 0.0
    size = p * as_float(complexity_of(odd_part(phi), 1.0, 0.5).C_s)
    small = tilde(alpha, k, size, size)
    for draw in range(draws):
        F, G = (Made.of(phi, n, k, p, ACCURACY, generator) for n in (d, k))
        x, z = with_bias(unit(generator, (d,))), with_bias(unit(generator, (k,)))
        for at, width in enumerate(widths):
            pair = Pair.at_random_start(F, G, alpha, width, a, 1.0, generator)
            first[at, draw] = worst_change(pair.A, pair.W0 @ x, pair.W @ x, tau_w * math.sqrt(2))
            W = tau_w * unit(generator, (width * (d + 1),)).reshape(width, d + 1)
            identity = max(identity, _identity_gap(pair, W, x))
        reach = float(np.linalg.norm(pair.V @ z))
        for at, ratio in enumerate(ratios):
            second[at, draw] = worst_change(pair.A, pair.V0 @ z, pair.V @ z, ratio * math.sqrt(2)) / reach
        value = computed(pair.A, pair.V0, pair.V, z[None, :-1])[0] - small * G.F(z[None, :-1])[0]
        excess = max(excess, float(np.linalg.norm(value)) / (small**2 * math.sqrt(2)))
    in_m, in_tau = paired_exponent(widths, first), paired_exponent(ratios, second)
    measured: dict[str, Any] = {
        "exponent_a": in_m,
        "exponent_b_tau": in_tau,
        "change_a": float(np.mean(first[-1])),
        "change_b": second.mean(axis=1),
        "tau_v_over_sigma_v": ratios,
        "identity_gap": identity,
        "alpha_tilde": small,
    }
    bound: dict[str, Any] = {"exponent_a": a / 3 - 1 / 6, "exponent_b_tau": 1 / 3, "identity_gap": 0}
    checks = [
        grows_at_most("exponent_a in m", in_m, a / 3 - 1 / 6, "O~"),
        at_least("exponent_b in tau_v, plus what O~ hides", in_tau, 1 / 3 - MARGIN["O~"]),
        equal("identity_gap", identity, 0, 1e-10),
    ]
    if version == "printed":
        measured["printed_b_over_its_bound"] = excess
        bound["printed_b_over_its_bound"] = 1
        checks.append(at_most("||A D V*(z,1) - alpha~ G(z)|| over alpha~^2 ||(z,1)||, V = 0", excess, 1))
    return Finding(measured, bound, checks, "scaling", [Assumption("tau_w >= 1", tau_w, 1, tau_w >= 1)])


def _identity_gap(pair: Pair, W: Floats, x: Floats) -> float:
    """A D_W (W* - W)(x,1) - (F - out_1) against (A D_W W*(x,1) - F) + A D_W W0 (x,1)."""
    on = (pair.W0 + W) @ x >= 0
    F = pair.F.F(x[None, :-1])[0]
    out1 = pair.A @ (on * ((pair.W0 + W) @ x))
    left = pair.A @ (on * ((pair.W - W) @ x)) - (F - out1)
    return float(np.linalg.norm(left - (pair.A @ (on * (pair.W @ x)) - F) - pair.A @ (on * (pair.W0 @ x))))
