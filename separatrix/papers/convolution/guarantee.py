"""Theorem 4 at given parameters: its bound and, on a real run, the chain of inequalities of its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.errors import InputError
from separatrix.papers.convolution.bounds import Bound
from separatrix.papers.convolution.descent import Run, descend
from separatrix.papers.convolution.drift import drift
from separatrix.papers.convolution.setting import Setting, bounded, indicator, nominal_c, step_size, wide_enough
from separatrix.theory.activations import ACTIVATIONS
from separatrix.theory.certificate import Assumption, Check, Finding, at_most, not_run

AFFORDABLE_STEPS, AFFORDABLE_WORK = 200_000, 1 << 27
AFFORDABLE_BITS, AFFORDABLE_WINDOW = 16, 8
TARGET = Fraction(1, 2)
"""What the bound is brought to where neither q, T nor epsilon say otherwise; the loss of h = 0 is 1."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Asked:
    """The parameters with their defaults filled in."""

    n: int
    k: int
    q: int
    T: int
    c: Fraction | float
    delta: float
    epsilon: Fraction | None
    g: str
    j: int | None
    activation: str
    distribution: str
    p: float
    version: str
    seed: int
    shared: bool
    bound: Bound

    @staticmethod
    def of(
        n: int | None,
        k: int | None,
        q: int | None,
        T: int | None,
        c: Fraction | None,
        delta: float,
        epsilon: Fraction | None,
        g: str | None,
        j: int | None,
        activation: str | None,
        distribution: str,
        p: float,
        version: str,
        seed: int,
        shared: bool,
    ) -> Asked:
        bits = max(3, k or 0) if n is None else n
        window = min(2, bits) if k is None else k
        if window > bits:
            raise InputError(f"k must be at most n = {bits}, got {window}")
        if j is not None and j > bits - window + 1:
            raise InputError(f"j must be at most n - k + 1 = {bits - window + 1}, got {j}")
        name = activation or "clipped_relu"
        largest = nominal_c(ACTIVATIONS[name], c)
        bound = Bound(bits, window, largest if isinstance(largest, Fraction) else Fraction(1), shared)
        wanted = epsilon or TARGET
        width = bound.balanced(wanted)[0] if q is None else q
        steps = (bound.smallest_T(width, wanted) or _steps_for_last_term(bound, width)) if T is None else T
        return Asked(
            bits, window, width, steps, largest, delta, epsilon, g or "parity", j, name, distribution, p, version, seed,
            shared, bound,
        )  # fmt: skip

    @property
    def eta(self) -> float:
        return step_size(self.n, self.q, self.T, self.version)

    @property
    def affordable(self) -> bool:
        """Whether the run takes seconds."""
        if self.n > AFFORDABLE_BITS or self.k > AFFORDABLE_WINDOW or self.T > AFFORDABLE_STEPS:
            return False
        return self.q < 2**53 and self.setting.work <= AFFORDABLE_WORK

    @property
    def setting(self) -> Setting:
        return Setting(
            self.n, self.k, self.q, self.T, self.eta, self.g, self.j, self.activation, self.distribution, self.p,
            self.seed, self.shared, True,
        )  # fmt: skip


def _steps_for_last_term(bound: Bound, q: int) -> int:
    """The T that makes the last term 1/4, where no T makes the bound small."""
    return math.isqrt(math.ceil(16 * bound.c**4 * bound.n**3 * q)) + 1


def guarantee(asked: Asked, method: str) -> Finding:
    """The bound, its search and, where it is affordable, the run."""
    a, bound = asked, asked.bound
    terms = bound.terms(a.q, a.T) if isinstance(a.c, Fraction) else (math.inf,) * 3
    total = math.fsum(terms)
    wanted = Fraction(1) if a.epsilon is None else a.epsilon
    smallest = bound.smallest(wanted) if isinstance(a.c, Fraction) else (math.inf, math.inf)
    least = math.floor(wide_enough(a.k, a.q, a.delta).limit) + 1  # type: ignore[arg-type]
    bounds: dict[str, Any] = {
        "average_loss": total,
        "total": total,
        **{f"term_{i}": term for i, term in enumerate(terms, start=1)},
        "smallest_q": smallest[0],
        "smallest_T": smallest[1],
        "smallest_q_of_lemma_6": least,
        "epsilon": wanted,
        "eta": a.eta,
    }
    measured: dict[str, Any] = {"q": a.q, "T": a.T}
    notes = [
        f"n = {a.n}, k = {a.k}, g = {a.g}, sigma = {a.activation}, q = {a.q}, T = {a.T}",
        f"smallest_q, smallest_T: for a bound of at most {wanted}; q must exceed Lemma 6's limit as well",
    ]
    sigma = ACTIVATIONS[a.activation]
    premises = [*bounded(sigma, a.c), wide_enough(a.k, a.q, a.delta)]
    if a.version == "corrected":
        premises += indicator(sigma, a.k)
    checks: list[Check] = []
    unchecked = None
    if a.version == "printed":
        checks.append(_last_line(a, measured, notes))
    if method == "auto" and a.affordable:
        run = descend(a.setting)
        checks += _measured(a, run, terms, measured, bounds)
        premises.append(_half_full(run))
        if not a.shared:
            other = replace(a.bound, shared=True)
            measured["average_loss_cnn"] = float(descend(replace(a.setting, shared=True)).losses[1:].mean())
            bounds["total_cnn"] = other.total(a.q, a.T)
        how = "run"
    else:
        unchecked = not_run("n, k, q and T", method)
        how = "closed form"
    vacuous = "the bound is at least 1, the loss of h = 0" if total >= 1 else None
    return Finding(measured, bounds, checks, how, premises, vacuous, notes, unchecked)


def _measured(
    a: Asked, run: Run, terms: tuple[float, ...], measured: dict[str, Any], bounds: dict[str, Any]
) -> list[Check]:
    """The average loss and every inequality of the proof, on the run."""
    T, eta = a.T, a.eta
    star = run.u_star()
    star_losses = run.losses_of(star)
    steps = np.diff(run.u, axis=0) / eta
    gradients = run.norm_sq(steps).sum(axis=1)
    moved = drift(run, float(a.c))
    parts = {
        "average_loss_of_u_star": float(star_losses[:T].mean()),
        "norm_u_star_sq_over_2_eta_T": float(run.norm_sq(star).sum() / (2 * eta * T)),
        "eta_average_gradient_sq": float(eta * gradients.mean()),
    }
    regret = sum(parts.values())
    measured |= {
        "average_loss": float(run.losses[1:].mean()),
        "average_loss_from_0": float(run.losses[:T].mean()),
        "final_loss": float(run.losses[-1]),
        "final_error": float(run.errors[-1]),
        "steps_to_half": _first(run.losses <= 0.5),
        **parts,
        "regret_bound": regret,
        "drift": float(moved.W[-1]),
        "norm_u_star_sq": float(run.norm_sq(star).sum()),
        "least_class": int(run.class_sizes.min()),
    }
    bounds |= {"norm_u_star_sq": 4 * (2**a.k * a.k) ** 2 / a.q, "drift": float(moved.W_bound[-1])}
    checks = [
        at_most("average_loss over t = 1..T", measured["average_loss"], bounds["total"]),
        at_most("average_loss over t = 0..T-1, by Theorem 10", measured["average_loss_from_0"], regret, ROUNDING),
    ]
    if a.version == "printed":
        return checks[:1]
    return [
        *checks,
        moved.check("||u^(t,j)||", moved.u.max(axis=1), moved.u_bound(moved.c)),
        moved.check("||W^(t) - W^(0)||", moved.W, moved.W_bound),
        at_most("largest loss of u* over t, by Lemmas 6 and 9", float(star_losses.max()), terms[0], ROUNDING),
        at_most("||u*||^2 / (2 eta T)", parts["norm_u_star_sq_over_2_eta_T"], terms[1], ROUNDING * terms[1]),
        at_most("eta times the largest ||dL/du||^2", float(eta * gradients.max()), terms[2], ROUNDING * terms[2]),
    ]


def _first(reached: Any) -> int | None:
    """The first t at which a loss is that small."""
    return int(np.argmax(reached)) if reached.any() else None


def _half_full(run: Run) -> Assumption:
    """Lemma 6's event, of probability at least 1 - delta."""
    s = run.setting
    least, limit = int(run.class_sizes.min()), Fraction(s.q, 2 ** (s.k + 1))
    return Assumption("the draw's least |J_z| >= q/2^(k+1)", least, limit, least >= limit)


def _last_line(a: Asked, measured: dict[str, Any], notes: list[str]) -> Check:
    """The proof's last line at the printed step size: 2c eta^2 T^2 n k^2 2^k + 2(2^k k)^2/(q eta T) + c^2 eta n q."""
    first, second, third = a.bound.terms(a.q, a.T)
    line = first * a.T + second / math.sqrt(a.T) + third * math.sqrt(a.T)
    measured["last_line"] = line
    notes.append(
        "with eta = sqrt(n)/sqrt(qT) the terms of the proof's last line are the stated ones times T, 1/sqrt(T), sqrt(T)"
    )
    total = a.bound.total(a.q, a.T)
    return at_most("the proof's last line at the printed step size", line, total, ROUNDING * total)
