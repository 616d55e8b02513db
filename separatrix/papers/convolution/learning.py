"""Theorem 4: gradient descent on both layers of a CNN learns k-patterns; and the same for locally connected nets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from separatrix.errors import InputError
from separatrix.papers.convolution.bounds import Bound
from separatrix.papers.convolution.descent import Run, descend
from separatrix.papers.convolution.drift import drift
from separatrix.papers.convolution.setting import (
    Law,
    MaybeExact,
    MaybePattern,
    MaybeSigma,
    Probability,
    Setting,
    bounded,
    indicator,
    nominal_c,
    step_size,
    wide_enough,
)
from separatrix.rules import Maybe, Whole
from separatrix.theory.activations import ACTIVATIONS
from separatrix.theory.certificate import Assumption, Check, Finding, Interval, at_most
from separatrix.theory.parameters import How, MaybeCount, MaybeEpsilon, Seed, Share, Version
from separatrix.theory.results import result

MaybeBits = Annotated[int | None, Maybe(Whole(1, 10**18))]
MaybeWindow = Annotated[int | None, Maybe(Whole(1, 400))]
AFFORDABLE_STEPS, AFFORDABLE_WORK = 200_000, 1 << 27
AFFORDABLE_BITS, AFFORDABLE_WINDOW = 16, 8
TARGET = Fraction(1, 2)
"""What the bound is brought to where neither q, T nor epsilon say otherwise; the loss of h = 0 is 1."""
ROUNDING = 1e-9


@result(
    "convolution/theorem-4",
    "Gradient descent on both layers of a CNN with q > 2^(k+3) log(2^k/delta) filters and eta = sqrt(n)/(sqrt(q) T) "
    "has, with probability 1 - delta, an average loss of at most 2 c n^2 k^2 2^k/q + 2 (2^k k)^2/sqrt(qn) + c^2 n^1.5 "
    "sqrt(q)/T on any k-pattern and distribution (printed: eta = sqrt(n)/sqrt(qT), any bounded 1-Lipschitz sigma).",
)
def theorem_4(
    n: MaybeBits = None,
    k: MaybeWindow = None,
    q: MaybeCount = None,
    T: MaybeCount = None,
    c: MaybeExact = None,
    delta: Share = 0.05,
    epsilon: MaybeEpsilon = None,
    g: MaybePattern = None,
    j: MaybeCount = None,
    activation: MaybeSigma = None,
    distribution: Law = "uniform",
    p: Probability = 0.5,
    method: How = "auto",
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 4 of Malach & Shalev-Shwartz, and the chain of inequalities that leads to it, on a real run.

        1/T sum_t L(h^(t)) <= term_1 + term_2 + term_3
        term_1 = 2 c n^2 k^2 2^k / q    term_2 = 2 (2^k k)^2 / sqrt(qn)    term_3 = c^2 n^1.5 sqrt(q) / T

    ======================  =========================================================================
    n, k, q, T, c, delta    the paper's; n = 3, k = 2 by default, c the largest |sigma|, q and T such
                            that ``total`` is at most ``epsilon`` (1/2 if not given)
    ``epsilon``             asks for ``smallest_q``, the least q for which some T has total <= epsilon,
                            and ``smallest_T``, the least such T, by exact search; without it they are
                            those at which the bound says anything at all (total <= 1)
    ``g``, ``j``            the k-pattern (parity in the middle by default)
    ``distribution``        ``uniform``, ``biased`` (P(x_i = 1) = ``p``) or ``markov`` (flips with ``p``)
    ``method``              ``auto`` runs where that is affordable; ``closed-form`` never does
    ======================  =========================================================================

    The run is population gradient descent on both layers by the engine. Neurons of equal initial signs stay equal, so
    that 2^k classes are the whole network, whatever q (:mod:`.classes`). Measured against the proof, step by step:

        average loss <= average L(h_{u*, W^(t)}) + ||u*||^2 / (2 eta T) + eta average ||dL/du||^2     (Theorem 10)
        L(h_{u*, W^(t)}) <= term_1 (Lemmas 6, 9)    ||u*||^2 / (2 eta T) <= term_2    eta ||dL/du||^2 <= term_3

    Theorem 10 is about t = 0..T-1 (``average_loss_from_0``), the theorem about t = 1..T (``average_loss``): with one
    more step of it, eta/2 in the place of eta, and L(h^(0)) = 1, the same bound follows.

    **As printed** (``version=printed``) the step is sqrt(n)/sqrt(qT), with which the proof's last line is not the
    stated bound (though runs are no worse for it), and sigma need only be bounded and 1-Lipschitz: by default the
    counterexample n = k = 1, sigma = hard_tanh and g = 1, where dL/du = -E sigma(w x) = 0 at u = 0, so that nothing
    ever moves and the loss is 1.

    >>> found = theorem_4(method="closed-form", n=16, k=4, epsilon="1/10")
    >>> found.bound["smallest_q"], found.bound["smallest_T"] > 0
    (422047770, True)
    """
    if version == "printed" and (n, k, g, activation) == (None, None, None, None):
        n, k, g, activation = 1, 1, "++", "hard_tanh"
    asked = _Asked.of(n, k, q, T, c, delta, epsilon, g, j, activation, distribution, p, version, seed, shared=True)
    return _guarantee(asked, method)


@result(
    "convolution/theorem-4-lcn",
    "Theorem 4 for locally connected nets: without weight sharing the same holds, and the first term is n times "
    "smaller, 2 c n k^2 2^k/q.",
)
def theorem_4_lcn(
    n: MaybeBits = None,
    k: MaybeWindow = None,
    q: MaybeCount = None,
    T: MaybeCount = None,
    c: MaybeExact = None,
    delta: Share = 0.05,
    epsilon: MaybeEpsilon = None,
    g: MaybePattern = None,
    j: MaybeCount = None,
    activation: MaybeSigma = None,
    distribution: Law = "uniform",
    p: Probability = 0.5,
    method: How = "auto",
    seed: Seed = 0,
) -> Finding:
    r"""Section 3.1 of Malach & Shalev-Shwartz ("it is easy to verify"), worked out in ``docs/convolution-lcn.md``.

    Each window has weights W^(j) of its own, q filters each, and is moved by its own readout alone:

        ||W^(j,T) - W^(j,0)|| <= c eta^2 T^2 sqrt(qk)
        |L(h_{u*, W^(T)}) - L(h_{u*, W^(0)})| <= c eta^2 T^2 k sqrt(q) sum_j ||u*^(j)||

    each without Lemma 8's and 9's factor n. With the same step size the average loss is at most

        2 c n k^2 2^k / q + 2 (2^k k)^2 / sqrt(qn) + c^2 n^1.5 sqrt(q) / T

    and Lemma 6 is needed for the window of the pattern only, with the same q. ``average_loss_cnn`` and ``total_cnn``
    are the CNN's at the same q and T. Arguments as in :func:`theorem_4`.

    >>> theorem_4_lcn(method="closed-form", n=16, k=4, epsilon="1/10").bound["smallest_q"]
    419594225
    """
    asked = _Asked.of(n, k, q, T, c, delta, epsilon, g, j, activation, distribution, p, "corrected", seed, shared=False)
    return _guarantee(asked, method)


@dataclass(frozen=True)
class _Asked:
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
    ) -> _Asked:
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
        return _Asked(
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


def _guarantee(asked: _Asked, method: str) -> Finding:
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
        unknown = Interval(math.nan, 0.0, math.inf)
        checks.append(at_most("average_loss, not run at this size", unknown, total))
        notes.append("not run: n, k, q and T are too large, or method is closed-form; only the bound is evaluated")
        how = "closed form"
    vacuous = "the bound is at least 1, the loss of h = 0" if total >= 1 else None
    return Finding(measured, bounds, checks, how, premises, vacuous, notes)


def _measured(
    a: _Asked, run: Run, terms: tuple[float, ...], measured: dict[str, Any], bounds: dict[str, Any]
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


def _last_line(a: _Asked, measured: dict[str, Any], notes: list[str]) -> Check:
    """The proof's last line at the printed step size: 2c eta^2 T^2 n k^2 2^k + 2(2^k k)^2/(q eta T) + c^2 eta n q."""
    first, second, third = a.bound.terms(a.q, a.T)
    line = first * a.T + second / math.sqrt(a.T) + third * math.sqrt(a.T)
    measured["last_line"] = line
    notes.append(
        "with eta = sqrt(n)/sqrt(qT) the terms of the proof's last line are the stated ones times T, 1/sqrt(T), sqrt(T)"
    )
    total = a.bound.total(a.q, a.T)
    return at_most("the proof's last line at the printed step size", line, total, ROUNDING * total)
