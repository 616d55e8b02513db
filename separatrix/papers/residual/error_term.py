r"""Claims C.6 and C.7: the gradient points from (W, V) to (W*, V*), up to an error of the order alpha^2.

With C = A D_{V,W} (V0 + V), less its last column where it meets (., 0), and o = out_1,

    Err = f(W* - W; x) + g(V* - V; x) - (H(x) - out(x))
        = C (F - o + a + v1, 0) + a + b + alpha (G(o) - G(F)) + v1 + v2,
    a = A D_W W*(x,1) - F,  b = A D_{V,W} V*(o,1) - alpha G(o),  v1 = A D_W W0 (x,1),  v2 = A D_{V,W} V0 (o,1)

and a, b, v1, v2 vanish as m grows. What remains is R = C (F - o, 0) + alpha (G(o) - G(F)), with ||R|| <= (||C|| + alpha
L_G) ||F - o|| and ||C|| = O~(tau_v) = O~(alpha).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.papers.residual.complexity import Phi, as_float, complexity_of
from separatrix.papers.residual.concept import GeneralFunction
from separatrix.papers.residual.coupling import MARGIN, Fall, LargestWidth, grows_at_most, widths_up_to
from separatrix.papers.residual.existence import Count, Dimension, Draws, Made, odd_part, on_unit_sphere
from separatrix.papers.residual.existence_near_start import ACCURACY, Pair
from separatrix.papers.residual.network import ResNet, with_bias
from separatrix.studies.growth import paired_exponent
from separatrix.theory.certificate import Assumption, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Floats, Seed, Share, Version
from separatrix.theory.results import result

_FALLS = (1.0, 0.7, 0.5, 0.35)
_INPUTS = 8


@dataclass(frozen=True)
class Terms:
    """Norms at one x. ``chain``, ``chain_7``: the bounds on Err and on F - out_1 by the triangle inequality."""

    err: float
    remaining: float
    vanishing: float
    base_error: float
    risk: float
    gain: float
    identity_gap: float
    chain: float
    chain_7: float

    @staticmethod
    def at(pair: Pair, net: ResNet, x: Floats, constants: tuple[float, float, float]) -> Terms:
        """For ``constants`` L_G, B_F and B_{F o G}, ``net`` at (W, V) with the start of ``pair``."""
        alpha, (L_G, B_F, B_FG) = pair.alpha, constants
        F, o, out = pair.F.F(x[None])[0], net.out1(x), net.out(x)
        H, z = F + alpha * pair.G.F(F[None])[0], with_bias(o)
        err = net.f(pair.W - net.W, x) + net.g(pair.V - net.V, x) - (H - out)
        first, second = net.A * net.on_W(x), net.A * net.on_V(x)
        C = second @ (net.V0 + net.V)
        a = first @ (pair.W @ with_bias(x)) - F
        b = second @ (pair.V @ z) - alpha * pair.G.F(o[None])[0]
        v1, v2 = first @ (net.W0 @ with_bias(x)), second @ (net.V0 @ z)
        moved = alpha * (pair.G.F(o[None])[0] - pair.G.F(F[None])[0])
        remaining = C[:, :-1] @ (F - o) + moved
        whole = C[:, :-1] @ (F - o + a + v1) + a + b + moved + v1 + v2
        size = {name: float(np.linalg.norm(value)) for name, value in (("a", a), ("b", b), ("v1", v1), ("v2", v2))}
        gain, inner = float(np.linalg.norm(C, 2)), float(np.linalg.norm(C[:, :-1], 2))
        base, risk = float(np.linalg.norm(F - o)), float(np.linalg.norm(H - out))
        chain = (inner + alpha * L_G) * base + (1 + inner) * (size["a"] + size["v1"]) + size["b"] + size["v2"]
        chain_7 = (risk + gain * (B_F + 1) + alpha * B_FG) / (1 - gain) if gain < 1 else math.inf
        return Terms(
            float(np.linalg.norm(err)),
            float(np.linalg.norm(remaining)),
            float(np.linalg.norm(err - remaining)),
            base,
            risk,
            gain,
            float(np.linalg.norm(err - whole)),
            chain,
            chain_7,
        )


def near_solution(pair: Pair, generator: np.random.Generator) -> ResNet:
    """W* moved by 2 alpha and V* by ||V*||_F in Frobenius norm, towards random linear maps, so that outputs move."""
    k = len(pair.A)

    def aimed(columns: int, norm: float) -> Floats:
        move = pair.A.T @ generator.normal(size=(k, columns))
        return np.asarray(norm * move / np.linalg.norm(move))

    W = pair.W + aimed(pair.W.shape[1], 2 * pair.alpha)
    V = pair.V + aimed(k + 1, float(np.linalg.norm(pair.V)))
    return ResNet(pair.A, pair.W0, pair.V0, W, V)


def constants_of(pair: Pair, size: float) -> tuple[float, float, float]:
    """L_G by Fact A.3; B_F and B_{F o G} on the unit sphere: sqrt(k) p C_s ||(., 1)||."""
    k = len(pair.A)
    L_G = math.sqrt(k) * size
    B_F = L_G * math.sqrt(2)
    return L_G, B_F, L_G * math.hypot(B_F, 1)


@result(
    "residual/claim-c.6",
    "f(W* - W; x) + g(V* - V; x) = H(x) - out(x) + Err with E||Err||^2 <= O(tau_v + alpha L_G)^2 E||H - out||^2 + "
    "O(alpha~^2 + tau_v^2 (1 + B_F) + alpha tau_v L_G (B_F + 1))^2; in its proof B_{F o G} <= sqrt(k) p_G C_s(G) (B_F "
    "+ 1) (printed: sqrt(k) p_F C_s(F) B_F).",
)
def claim_c_6(
    phi: Phi = "sin",
    alpha: Share = 0.2,
    d: Dimension = 5,
    k: Count = 2,
    p: Count = 1,
    m: LargestWidth = 16384,
    a: Fall = 0.25,
    draws: Draws = 6,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Claim C.6 of Allen-Zhu & Li: the chain of inequalities at every x, and the powers of alpha and m in it.

    (W, V) lies near (W*, V*) of Lemma C.2, so that F - out_1 is of the order of alpha and what vanishes. Err is the sum
    in the module's docstring (``identity_gap``) and at most what the triangle inequality makes of it
    (``err_over_chain``), L_G being Fact A.3's. ||R|| / ||F - out_1|| = O(tau_v + alpha L_G) has the exponent 1 in alpha
    at least, from ``alpha`` to 0.35 ``alpha`` at the largest of five widths. Err - R falls as m^(a/3 - 1/6) at least
    (Lemmas C.1 to C.3), for sigma_w = m^-a.

    In the proof B_{F o G} = sup ||G(F(x))|| is bounded. By Fact A.3 (corrected) it is at most sqrt(k) p_G C_s(G) (B_F +
    1); the print has sqrt(k) p_F C_s(F) B_F. By hand: F = 0 and G = 1, k = 1: 1 <= 0 is false.

    >>> claim_c_6(m=1024, draws=3, version="printed").status
    'violated'
    """
    generator, widths = np.random.default_rng(seed), widths_up_to(m)
    own, alphas = odd_part(phi), [alpha * fall for fall in _FALLS]
    size = p * as_float(complexity_of(own, 1.0, 0.5).C_s)
    ratio, rest = np.zeros((len(alphas), draws)), np.zeros((len(widths), draws))
    identity = chain = over_F = 0.0
    for draw in range(draws):
        F, G = (Made.of(phi, n, k, p, ACCURACY, generator) for n in (d, k))
        x, moves = on_unit_sphere(d, generator), int(generator.integers(2**31))
        values = F.F(x)
        B_F = float(np.linalg.norm(values, axis=1).max())
        over_F = max(over_F, float(np.linalg.norm(G.F(values), axis=1).max()) / (math.sqrt(k) * size * (B_F + 1)))
        for at, width in enumerate(widths):
            found = _terms(F, G, alpha, width, a, size, x, moves)
            rest[at, draw] = _root_mean([one.vanishing for one in found])
            identity = max(identity, *(one.identity_gap for one in found))
            chain = max(chain, *(one.err / one.chain for one in found))
        for at, small in enumerate(alphas):
            found = _terms(F, G, small, m, a, size, x, moves)
            ratio[at, draw] = _root_mean([one.remaining for one in found]) / _root_mean(
                [one.base_error for one in found]
            )
    in_alpha, in_m = paired_exponent(alphas, ratio), paired_exponent(widths, rest)
    measured: dict[str, Any] = {
        "exponent_alpha": in_alpha,
        "exponent_m": in_m,
        "identity_gap": identity,
        "err_over_chain": chain,
        "remaining_over_base_error": ratio.mean(axis=1),
        "vanishing_part": rest.mean(axis=1),
        "B_FG_over_bound": over_F,
    }
    bound: dict[str, Any] = {
        "exponent_alpha": 1,
        "exponent_m": a / 3 - 1 / 6,
        "err_over_chain": 1,
        "B_FG_over_bound": 1,
    }
    checks = [
        equal("identity_gap", identity, 0, 1e-9),
        at_most("err_over_chain", chain, 1, 1e-9),
        at_least("exponent_alpha, plus what O~ hides", in_alpha, 1 - MARGIN["O~"]),
        grows_at_most("exponent_m", in_m, a / 3 - 1 / 6, "O~"),
        at_most("B_{F o G} over sqrt(k) p_G C_s(G) (B_F + 1)", over_F, 1),
    ]
    if version == "printed":
        measured["B_FG_of_F_0_G_1"] = _of_zero(d)
        bound["B_FG_of_F_0_G_1"] = 0
        checks.append(
            at_most("B_{F o G} for F = 0, G = 1: at most sqrt(k) p_F C_s(F) B_F", measured["B_FG_of_F_0_G_1"], 0)
        )
    return Finding(measured, bound, checks, "scaling")


def _terms(F: Made, G: Made, alpha: float, m: int, a: float, size: float, x: Floats, moves: int) -> list[Terms]:
    """At the rows of x; the start depends on ``moves`` and m alone."""
    generator = np.random.default_rng([moves, m])
    pair = Pair.at_random_start(F, G, alpha, m, a, 1.0, generator)
    net = near_solution(pair, generator)
    return [Terms.at(pair, net, own, constants_of(pair, size)) for own in x[:_INPUTS]]


def _root_mean(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _of_zero(d: int) -> float:
    """sup ||G(F(x))|| for F = 0 (all a are 0) and G = 1 (phi = 1 and w2 = (0, 1)), k = 1."""
    from separatrix.theory.series import series

    def along_one(n: int, a: float, power: int) -> GeneralFunction:
        axis = np.zeros((1, 1, n + 1))
        axis[..., -1] = 1
        return GeneralFunction(series(f"power:{power}"), np.full((1, 1), a), axis, axis)

    F, G = along_one(d, 0.0, 1), along_one(1, 1.0, 0)
    return float(np.abs(G(F(np.eye(d)))).max())


@result(
    "residual/claim-c.7",
    "If tau_v <= 1/polylog(m): ||out_1(x) - F(x)|| <= 2 ||out(x) - H(x)|| + O~(tau_v (B_F + 1) + alpha B_{F o G}).",
)
def claim_c_7(
    phi: Phi = "sin",
    alpha: Share = 0.1,
    d: Dimension = 5,
    k: Count = 2,
    p: Count = 1,
    m: LargestWidth = 8192,
    a: Fall = 0.25,
    draws: Draws = 6,
    seed: Seed = 0,
) -> Finding:
    r"""Claim C.7 of Allen-Zhu & Li with ``gain`` = ||A D_{V,W} (V0 + V)||_2 in the place of O~(tau_v):

        ||out_1 - F|| <= (||out - H|| + gain (B_F + 1) + alpha B_{F o G}) / (1 - gain)

    at every x, which is the claim where the gain is at most 1/2. B_F and B_{F o G} are Fact A.3's bounds.

    >>> claim_c_7(m=1024, draws=3).status
    'holds'
    """
    generator = np.random.default_rng(seed)
    size = p * as_float(complexity_of(odd_part(phi), 1.0, 0.5).C_s)
    found: list[Terms] = []
    for _ in range(draws):
        F, G = (Made.of(phi, n, k, p, ACCURACY, generator) for n in (d, k))
        found += _terms(F, G, alpha, m, a, size, on_unit_sphere(d, generator), int(generator.integers(2**31)))
    gain = max(one.gain for one in found)
    measured = {
        "largest_ratio": max(one.base_error / one.chain_7 for one in found),
        "gain": gain,
        "base_error": _root_mean([one.base_error for one in found]),
        "risk": _root_mean([one.risk for one in found]),
    }
    checks = [at_most("||out_1 - F|| over its bound, largest", measured["largest_ratio"], 1)]
    premise = Assumption("gain <= 1/2: tau_v is small", gain, 0.5, gain <= 0.5)
    return Finding(measured, {"largest_ratio": 1}, checks, "run", [premise])
