"""Theorem 2: gradient descent on both layers learns sparse parities; its bound, its proof's chain, and its runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from separatrix.errors import InputError
from separatrix.papers.parity.bounds import Bound
from separatrix.papers.parity.descent import LARGEST_BITS, MaybePlaces, Run, Setting, descend, descend_all, step_size
from separatrix.papers.parity.drift import bounds as drift_bounds
from separatrix.papers.parity.drift import moved
from separatrix.rules import Maybe, Real, Whole
from separatrix.studies.intervals import mean_interval
from separatrix.theory.certificate import Assumption, Check, Finding, Interval, at_most, equal, not_run
from separatrix.theory.parameters import How, MaybeEpsilon, Seed, Share, Version
from separatrix.theory.results import result

MaybeSize = Annotated[int | None, Maybe(Whole(1))]
AFFORDABLE_WORK = 1 << 25
AFFORDABLE_STEPS = 20_000
ROUNDING = 1e-9


@result(
    "parity/theorem-2",
    "After one large step and T small ones on both layers some g^(t) has, with probability 1 - delta, an error of at "
    "most O(k^10/q + k^8/sqrt q + q k/sqrt n + k^2 sqrt q/T) on D_A, for q >= Omega(k^7 log(k/delta)) and k <= "
    "O(n^(1/10)).",
)
def theorem_2(
    n: MaybeSize = None,
    k: Annotated[int | None, Maybe(Whole(3, 999))] = None,
    q: MaybeSize = None,
    T: MaybeSize = None,
    epsilon: MaybeEpsilon = None,
    delta: Share = 0.05,
    lambda_: Annotated[float | None, Maybe(Real(0, 0.5))] = None,
    A: MaybePlaces = None,
    seeds: Annotated[int, Whole(0, 32)] = 4,
    method: How = "auto",
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 2 of Daniely & Malach, its bound with unit constants and the chain of its proof on a real run.

        min_t P(sign g^(t) != f_A) <= term_1 + term_2 + term_3 + term_4 = total
        term_1 = k^10/q    term_2 = k^8/sqrt q    term_3 = q k/sqrt n    term_4 = k^2 sqrt q/T

    =====================  ==========================================================================
    n, k, q, T, delta, A   the paper's; T counts the first step. k is 3 by default (the theorem's least is
                           7, which the proof does not need), n = 8, q = 64, T = 200
    ``lambda_``            of the later steps, k/n by default, the largest that the theorem allows
    ``epsilon``            asks for ``smallest_q``, the least q for which some n and T have total <=
                           epsilon, with it the least n for which some T does (``smallest_n``), with
                           these the least T (``smallest_T``), by exact search; without it they are
                           those at which the bound says anything (total <= 1). With epsilon, n, q and T
                           are a cheaper choice where not given: a third of it for n and one for T
    ``seeds``              of the runs at q/4, q/2, q that measure how the least loss scales in q
    ``method``             ``auto`` runs where that is affordable; ``closed-form`` never does
    =====================  ==========================================================================

    The O hides factors: ``total_with_constants`` has those of the mended proof (:meth:`.bounds.Bound.proved`, which
    also gives ``smallest_q_with_constants``). Either way the bound is vacuous at every size that can be trained.

    So the chain is checked, step by step, for the run's own u*, the separator of least norm on the features of step 1
    (Lemma 10's event), with f_t(u) = L(g_u^(t)) + lambda ||u||^2 and G = max_t ||df_t/du||, for t = 1..T:

        P(sign g^(t) != f) <= L(g^(t))
        mean f_t(u^(t)) <= mean f_t(u*) + ||u*||^2/(2 eta T) + ||u^(1)|| mean ||grad|| + eta mean ||grad||^2    (Th. 11)
        f_t(u*) <= lambda ||u*||^2 + 2 ||u*|| sqrt(||u*||_0) (6 eta^2 T^2 + eta T k/sqrt n + eta T lambda n/k)  (L. 14)
        ||u^(1)|| <= sqrt(2q) k/sqrt n  (L. 12)        G <= sqrt(2q) (3 + 2 lambda max_t |u^(t)|)

    and the sum, ``from_u_star``. The proof's 36 eta q and 6 sqrt2 q k/sqrt n follow from this G, not from sigma <= 6
    as it says (2q features of 6 give 72 and 12): half of the labels are +1, so |E[f 1{f g < 1} sigma]| <= 3.

    ``printed``: the printed initialisation, with which g^(0) is not 0, as the proof of Lemma 12 says, and a part of
    D_A (``without_gradient``) starts with none.

    >>> found = theorem_2(k=7, epsilon="1/10", method="closed-form")
    >>> found.bound["smallest_q"], found.bound["total"] <= 1 / 10
    (3323298706462680, True)
    """
    k = (7 if version == "printed" else 3) if k is None else k
    if k % 2 == 0:
        raise InputError(f"k must be odd, got {k}")
    asked = _Asked.of(n, k, q, T, epsilon, delta, lambda_, A, version, seed)
    return _guarantee(asked, seeds, method)


@dataclass(frozen=True)
class _Asked:
    """The parameters with their defaults filled in."""

    n: int
    k: int
    q: int
    T: int
    epsilon: Fraction | None
    delta: float
    lambda_: float
    A: tuple[int, ...] | None
    version: str
    seed: int

    @staticmethod
    def of(
        n: int | None, k: int, q: int | None, T: int | None, epsilon: Fraction | None, delta: float,
        lambda_: float | None, A: tuple[int, ...] | None, version: str, seed: int,
    ) -> _Asked:  # fmt: skip
        width, size, steps = (64, 8, 200) if epsilon is None else Bound.unit(k).balanced(epsilon)
        n, q, T = max(size, k + 1) if n is None else n, width if q is None else q, steps if T is None else T
        if k > n:
            raise InputError(f"k must be at most n = {n}, got {k}")
        decay = min(float(Fraction(k, n)), 0.5) if lambda_ is None else lambda_
        return _Asked(n, k, q, T, epsilon, delta, decay, A, version, seed)

    @property
    def affordable(self) -> bool:
        """Whether the run takes seconds."""
        if self.n > LARGEST_BITS or not 2 <= self.T <= AFFORDABLE_STEPS or self.q > AFFORDABLE_WORK:
            return False
        return 2**self.n * 2 * self.q * self.T <= AFFORDABLE_WORK

    @property
    def setting(self) -> Setting:
        eta = step_size(self.k, self.q, self.T)
        return Setting(self.n, self.k, self.q, self.T, eta, self.lambda_, self.A, self.version, self.seed)


def _guarantee(a: _Asked, seeds: int, method: str) -> Finding:
    """The bound, its searches and, where it is affordable, the run."""
    unit, proved = Bound.unit(a.k), Bound.proved(a.k)
    terms, total = unit.terms(a.q, a.n, a.T), unit.total(a.q, a.n, a.T)
    wanted = Fraction(1) if a.epsilon is None else a.epsilon
    smallest = unit.smallest(wanted)
    bound: dict[str, Any] = {
        "total": total,
        **{f"term_{i}": term for i, term in enumerate(terms, start=1)},
        **dict(zip(("smallest_q", "smallest_n", "smallest_T"), smallest, strict=True)),
        "epsilon": wanted,
        "total_with_constants": proved.total(a.q, a.n, a.T),
        "smallest_q_with_constants": proved.smallest_q(wanted),
        "smallest_q_of_lemma_10": _width_of_lemma_10(a.k, a.delta),
    }
    measured: dict[str, Any] = {"n": a.n, "k": a.k, "q": a.q, "T": a.T}
    premises = [Assumption("lambda <= k/n", a.lambda_, a.k / a.n, a.lambda_ <= a.k / a.n * (1 + ROUNDING))]
    notes = [f"smallest_q, smallest_n, smallest_T: for a bound of at most {wanted}, with unit constants"]
    checks: list[Check] = []
    unchecked = None
    if method == "auto" and a.affordable:
        run = descend(a.setting)
        bound |= {"eta": run.setting.eta, "lambda": a.lambda_}
        checks = _measured(run, total, measured, bound, notes)
        if seeds:
            measured |= _scaling(a.setting, seeds)
            notes.append("slope_loss_q: of log(least loss) in log q over q/4, q/2, q, its interval over the seeds")
        how = "run"
    else:
        least = bound["smallest_q_of_lemma_10"]
        if total < 1:  # otherwise it is true without them
            premises += [
                Assumption("q >= 2 1120^2 k^7 log((k+1)/delta)  (Lemma 10)", a.q, least, a.q >= least),
                Assumption("n >= (240 k^4)^2  (Lemma 9)", a.n, (240 * a.k**4) ** 2, a.n >= (240 * a.k**4) ** 2),
            ]
        unchecked = not_run("n, q and T", method)
        how = "closed form"
    if a.version == "printed":
        premises.append(Assumption("k >= 7", a.k, 7, a.k >= 7))
        constant = Fraction(a.n, 8 * a.k**2)
        checks.append(equal("g^(0) of a pair with w = 0 and u = n/k", constant, 0))
        notes.append("check by hand: neurons (0, b, u) and (0, -b, -u), b = 1/(8k), u = n/k, add up to u b = n/(8 k^2)")
    vacuous = "an error is at most 1; the bound is not below it" if total >= 1 else None
    return Finding(measured, bound, checks, how, premises, vacuous, notes, unchecked)


def _width_of_lemma_10(k: int, delta: float) -> int:
    """2 1120^2 k^7 log((k+1)/delta), rounded up: Hoeffding's inequality for every |J_r|."""
    return math.ceil(2 * 1120**2 * k**7 * Fraction(math.log((k + 1) / delta)))


def _measured(
    run: Run,
    total: float,
    measured: dict[str, Any],
    bound: dict[str, Any],
    notes: list[str],
) -> list[Check]:
    """What the run did, and every inequality of the proof."""
    losses, errors = run.losses[1:], run.errors[1:]
    measured |= {
        "error": float(errors.min()),
        "error_at": int(errors.argmin()) + 1,
        "final_error": float(errors[-1]),
        "least_loss": float(losses.min()),
        "average_loss": float(losses.mean()),
    }
    checks = [at_most("error of the best g^(t), t = 1..T", measured["error"], total)]
    start = run.outputs(0, run.u[0])
    measured |= {"without_gradient": float(run.p @ (run.y * start >= 1))}
    if run.setting.version == "printed":
        worst = int(np.abs(start).argmax())
        notes.append(
            f"check by hand: each pair adds u clip(<w, x> + b, -6, 6) to g^(0), all of them {start[worst]:.4f} "
            f"at x = {_signs(run.x[worst])} / sqrt n"
        )
        return [*checks, equal("max |g^(0)|", float(np.abs(start).max()), 0, ROUNDING)]
    star = run.separator
    if star is None or run.setting.eta > 0.5:
        notes.append("chain not checked: no u* has margin 1 on the features of step 1, or eta is above Lemma 13's 1/2")
        return checks
    notes.append("with this eta and lambda u moves by distance_moved; on the features of step 1 it needs norm_u_star")
    return [*checks, *_chain(run, star, measured, bound)]


def _signs(x: Any) -> str:
    return "".join("+" if bit > 0 else "-" for bit in x)


def _chain(run: Run, star: Any, measured: dict[str, Any], bound: dict[str, Any]) -> list[Check]:
    """The proof's inequalities for this u*, and their sum."""
    s, sides = run.setting, run.readout.against(star)
    moves = drift_bounds(s)
    norm, start = float(np.linalg.norm(star)), float(np.linalg.norm(run.u[1]))
    gradients = np.linalg.norm(run.gradients, axis=1)
    largest_gradient = math.sqrt(2 * s.q) * (3 + 2 * s.lambda_ * float(moved(run)["u"].max()))
    parts = {
        "lambda_norm_u_star_sq": s.lambda_ * norm**2,
        "lemma_14": norm * math.sqrt(np.count_nonzero(star)) * float(moves["w"][-1] + moves["b"][-1]),
        "norm_u_star_sq_over_2_eta_T": norm**2 / (2 * s.eta * s.T),
        "norm_u1_times_G": math.sqrt(2 * s.q) * s.k / math.sqrt(s.n) * _G(s),
        "eta_G_sq": s.eta * _G(s) ** 2,
    }
    star_values = run.regularised(star)
    measured |= {
        "average_of_u_star": float(star_values.mean()),
        "regret_bound": float(sides.right[-1]),
        "norm_u_star": norm,
        "norm_u_star_over_k5_root_q": norm * math.sqrt(s.q) / s.k**5,
        "distance_moved": float(np.linalg.norm(run.u[-1] - run.u[1])),
        "support_u_star": int(np.count_nonzero(star)),
        "norm_u1": start,
        "G": float(gradients.max()),
        "G_sq_over_q": float((gradients**2).max() / s.q),
    }
    bound |= {**parts, "from_u_star": math.fsum(parts.values()), "norm_u1": math.sqrt(2 * s.q) * s.k / math.sqrt(s.n)}
    bound |= {"G": _G(s), "G_sq_over_q": _G(s) ** 2 / s.q, "G_sq_over_q_printed": 36}
    limit = parts["lambda_norm_u_star_sq"] + parts["lemma_14"]
    return [
        at_most("error - loss, the largest over t", float((run.errors - run.losses)[1:].max()), 0),
        at_most("least loss <= average of f_t(u^(t))", measured["least_loss"], float(sides.left[-1])),
        *sides.checks("Theorem 11 against u*"),
        at_most("f_t(u*) at every t", float(star_values.max()), limit, ROUNDING * limit),
        at_most("||u^(1)||", start, bound["norm_u1"]),
        at_most("G <= sqrt(2q) (3 + 2 lambda max |u|)", measured["G"], largest_gradient),
        at_most("the sum: average of f_t(u^(t))", float(sides.left[-1]), bound["from_u_star"]),
    ]


def _G(s: Setting) -> float:
    """sqrt(2q) (3 + 2 lambda (3 eta T + k/sqrt n))."""
    return math.sqrt(2 * s.q) * (3 + 2 * s.lambda_ * (3 * s.eta * s.T + s.k / math.sqrt(s.n)))


def _scaling(setting: Setting, seeds: int) -> dict[str, Any]:
    """The least loss and error of runs at q/4, q/2 and q, by seed, and the slope of the loss."""
    s = setting
    widths = sorted({max(1, s.q // 4), max(1, s.q // 2), s.q})
    runs = {q: descend_all(replace(s, q=q, eta=step_size(s.k, q, s.T)), range(s.seed, s.seed + seeds)) for q in widths}
    least = np.array([[float(run.losses[1:].min()) for run in runs[q]] for q in widths])
    found: dict[str, Any] = {
        "least_loss_by_q": {str(q): float(row.mean()) for q, row in zip(widths, least, strict=True)},
        "error_by_q": {str(q): float(np.mean([run.errors[1:].min() for run in runs[q]])) for q in widths},
    }
    if len(widths) > 1 and seeds > 1:
        slopes = np.polyfit(np.log(widths), np.log(least), 1)[0]
        over = mean_interval(slopes.tolist())
        found["slope_loss_q"] = Interval(over.mean, over.low, over.high)
    return found
