"""Appendix A: general complexity, Concepts 1 and 2, Lemma A.2 and Fact A.3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from separatrix.papers.residual.complexity import CStar, Epsilon, Phi, as_float, complexity_of
from separatrix.rules import Real, Whole
from separatrix.theory.certificate import Assumption, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Floats, Seed, Version
from separatrix.theory.results import result
from separatrix.theory.series import Series, series

Dimension = Annotated[int, Whole(1, 1000)]
Count = Annotated[int, Whole(1, 100)]
SUFFICIENT_C_STAR = math.sqrt(math.e)
"""From here on C_eps(phi-) <= C_eps(phi) for every phi and eps (Lemma A.2)."""
_ORDER = 40
"""Degree at which a series is cut where it is evaluated on [-1, 1]."""


def unit(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Random unit vectors along the last axis."""
    drawn = generator.normal(size=shape)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=-1, keepdims=True))


def order_of(phi: Series) -> int:
    return _ORDER if phi.degree is None else phi.degree


@dataclass(frozen=True)
class GeneralFunction:
    """Definition A.1: F_r(x) = sum_i a_{r,i} phi(<w1_{r,i}, (x,1)> / ||(x,1)||) <w2_{r,i}, (x,1)>, from R^d to R^k.

    ``a`` (k x p) has entries in [-1, 1], ``w1`` and ``w2`` (k x p x (d+1)) unit vectors; phi has a constant and odd
    terms.
    """

    phi: Series
    a: Floats
    w1: Floats
    w2: Floats

    @staticmethod
    def random(phi: Series, d: int, k: int, p: int, generator: np.random.Generator) -> GeneralFunction:
        a = generator.uniform(-1, 1, (k, p))
        return GeneralFunction(phi, a, unit(generator, (k, p, d + 1)), unit(generator, (k, p, d + 1)))

    def __call__(self, x: Floats) -> Floats:
        """F at each row of x."""
        extended = np.column_stack([x, np.ones(len(x))])
        norms = np.linalg.norm(extended, axis=1)[:, None, None]
        z = np.einsum("nd,kpd->nkp", extended, self.w1) / norms
        outer = np.einsum("nd,kpd->nkp", extended, self.w2)
        return np.asarray(np.sum(self.a * self.phi.value(z, order_of(self.phi)) * outer, axis=2))

    def jacobians(self, x: Floats) -> Floats:
        """dF/dx at each row of x, n x k x d."""
        extended = np.column_stack([x, np.ones(len(x))])
        norms = np.linalg.norm(extended, axis=1)[:, None, None]
        z = np.einsum("nd,kpd->nkp", extended, self.w1) / norms
        outer = np.einsum("nd,kpd->nkp", extended, self.w2)
        order = order_of(self.phi)
        slopes = Series("phi'", lambda i: (i + 1) * self.phi.coefficient(i + 1)).value(z, max(order - 1, 0))
        inner = self.w1[None] / norms[..., None] - (z / norms**2)[..., None] * extended[:, None, None, :]
        full = self.phi.value(z, order)[..., None] * self.w2[None] + (outer * slopes)[..., None] * inner
        return np.asarray(np.einsum("kp,nkpd->nkd", self.a, full[..., :-1]))


@result(
    "residual/lemma-a.2",
    "A function of Concept 1 equals on the unit sphere one of general complexity (2p, C_s, C_eps): phi is split "
    "into its constant and odd terms and z times an odd function.",
)
def lemma_a_2(
    phi: Phi = "exp",
    C_star: Annotated[float, Real(above=0, high=200)] = 2.0,
    epsilon: Epsilon = 0.1,
    d: Dimension = 5,
    k: Count = 3,
    p: Count = 2,
    seed: Seed = 0,
) -> Finding:
    r"""Lemma A.2 of Allen-Zhu & Li.

    F_r(x) = sum_i a_{r,i} phi(<w_i, x> / sqrt 2), ||w_i|| = 1, on unit x, equals with z = <(w_i, 0), (x, 1)> / ||(x,
    1)||

        F'_r(x) = sum_i a_{r,i} [phi+(z) <(0, 1), (x, 1)> + phi-(z) / sqrt 2  <(w_i, 0), (x, 1)>]

    where phi = phi+ + z phi-, phi+ has the constant and the odd terms, phi- the even ones divided by z. The identity is
    checked at random unit x and w; the complexities of phi+ and phi- must be at most those of phi. For C_eps that needs
    C* >= sqrt(e), as (i/(i-1))^((i-1)/2) < sqrt(e) (the paper: "sufficiently large"): phi = z^2 has, at C* = 1 and
    eps = 0.1, C_eps(z^2) = 2.15 and C_eps(z) = 2.52.

    >>> lemma_a_2().status, lemma_a_2(phi="power:2", C_star=1).status
    ('holds', 'outside')
    """
    whole = series(phi)
    plus = whole.keeping("phi+", lambda i: i == 0 or i % 2 == 1)
    minus = whole.keeping("phi-", lambda i: i > 0 and i % 2 == 0, shift=1)
    generator = np.random.default_rng(seed)
    order = order_of(whole)
    a, w, x = generator.uniform(-1, 1, (k, p)), unit(generator, (p, d)), unit(generator, (50, d))
    extended, norm = x @ w.T, math.sqrt(2)
    z = extended / norm
    F = whole.value(z, order) @ a.T
    F_prime = (plus.value(z, order) + minus.value(z, order) / norm * extended) @ a.T
    parts = {"phi": whole, "phi_plus": plus, "phi_minus": minus}
    found = {name: complexity_of(part, C_star, epsilon) for name, part in parts.items()}
    measured: dict[str, Any] = {"largest_difference": float(np.abs(F - F_prime).max()), "terms": 2 * p}
    for name, value in found.items():
        measured |= {f"{key}_{name}": number for key, number in value.floats().items()}
    checks = [equal("largest_difference", measured["largest_difference"], 0, 1e-10)]
    for part in ("phi_plus", "phi_minus"):
        for name in ("C_s", "C_epsilon"):
            left, right = getattr(found[part], name), getattr(found["phi"], name)
            share = 0.0 if right == math.inf or left == 0 else as_float(left / right)
            checks.append(at_most(f"{name} of {part} over that of phi", share, 1, 1e-12))
    large = C_star >= SUFFICIENT_C_STAR
    premise = Assumption("C* >= sqrt(e): large enough for every phi and eps", C_star, SUFFICIENT_C_STAR, large)
    bound = {"C_s": measured["C_s_phi"], "C_epsilon": measured["C_epsilon_phi"], "terms": 2 * p}
    return Finding(measured, bound, checks, "closed form", [premise])


@result(
    "residual/fact-a.3",
    "A function of general complexity (p, C_s, C_eps) has ||F(x)|| <= sqrt(k) p C_s ||(x, 1)|| (printed: ||x||) and is "
    "sqrt(k) p C_s-Lipschitz.",
)
def fact_a_3(
    phi: Phi = "sin",
    C_star: CStar = 1.0,
    d: Dimension = 5,
    k: Count = 3,
    p: Count = 4,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Fact A.3 of Allen-Zhu & Li, at random functions and points of very different lengths.

    The proof bounds |F_r(x)| by p sup|phi| ||(x,1)|| and the gradient of one term by |phi| + |phi'| (it says 2|phi'|;
    the projection in it has norm at most 1), both at most sum_i (i+1)|c_i| = C_s / C*: with C* = 1 already they hold.
    The Lipschitz constant is measured as the largest spectral norm of the Jacobian, in closed form. phi is taken
    without its even terms from degree 2 on, as Definition A.1 asks.

    As printed the first bound is C_s ||x||: it is 0 at x = 0, where a function with w1 = w2 = (0, 1) has the
    value phi(1) (phi = z, p = k = 1: F(0) = 1).

    >>> fact_a_3().status, fact_a_3(version="printed").status
    ('holds', 'violated')
    """
    own = series(phi).keeping(phi, lambda i: i == 0 or i % 2 == 1)
    generator = np.random.default_rng(seed)
    F = GeneralFunction.random(own, d, k, p, generator)
    lengths = np.repeat([0.0, 1e-3, 0.1, 1.0, 10.0, 1e3], 40)[:, None]
    x = lengths * unit(generator, (len(lengths), d))
    C_s = as_float(complexity_of(own, C_star, 0.5).C_s)
    constant = math.sqrt(k) * p * C_s
    values = np.linalg.norm(F(x), axis=1)
    printed = version == "printed"
    sizes = np.linalg.norm(x if printed else np.column_stack([x, np.ones(len(x))]), axis=1)
    lipschitz = float(np.linalg.norm(F.jacobians(x), 2, axis=(1, 2)).max())
    sharpest = math.sqrt(k) * p * sum(abs(float(c)) for c in own.coefficients(order_of(own)))
    axis = np.zeros((1, 1, d + 1))
    axis[..., -1] = 1
    at_zero = float(GeneralFunction(series("power:1"), np.ones((1, 1)), axis, axis)(np.zeros((1, d)))[0, 0])
    measured: dict[str, Any] = {
        "C_s": C_s,
        "largest_value_ratio": float((values / np.where(sizes > 0, sizes, 1)).max()),
        "value_at_0": float(values[0]),
        "value_at_0_of_phi_z": at_zero,
        "lipschitz": lipschitz,
        "sup_bound_used": sharpest,
    }
    bound = {"largest_value_ratio": constant, "lipschitz": constant, "value_at_0": 0.0 if printed else constant}
    checks = [
        at_least("sqrt(k) p C_s size - ||F(x)||, least over x", float((constant * sizes - values).min()), 0),
        at_most("lipschitz", lipschitz, constant),
    ]
    if printed:
        checks.append(at_most("||F(0)|| for phi = z, p = k = 1, w1 = w2 = (0, 1)", at_zero, 0))
    premise = Assumption("C* >= 1", C_star, 1, C_star >= 1)
    return Finding(measured, bound, checks, "closed form", [premise])
