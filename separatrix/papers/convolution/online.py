"""Theorem 10: online gradient descent, on the sequence that training makes and on random convex ones."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from separatrix.papers.convolution.descent import Run, descend
from separatrix.papers.convolution.setting import Bits, Law, Pattern, Probability, Setting, Sigma, Window, step_size
from separatrix.rules import Whole
from separatrix.theory.certificate import Check, Finding, at_most
from separatrix.theory.parameters import Count, Floats, MaybeCount, MaybePositive, Seed
from separatrix.theory.regret import FAMILIES, ROUNDING, Sides, concave, family_checks, regret, tried
from separatrix.theory.results import result

TIE = 1e-12
"""A margin this near to 1 may be on either side of it in another order of summation."""


@result(
    "convolution/theorem-10",
    "Online gradient descent on convex f_1..f_T has an average value within ||theta*||^2 / (2 eta T) + ||theta_1|| "
    "times the mean ||grad|| + eta times the mean ||grad||^2 of any theta*'s.",
)
def theorem_10(
    n: Bits = 5,
    k: Window = 2,
    q: Count = 64,
    T: Count = 100,
    g: Pattern = "parity",
    j: MaybeCount = None,
    activation: Sigma = "clipped_relu",
    eta: MaybePositive = None,
    distribution: Law = "uniform",
    p: Probability = 0.5,
    sequences: Annotated[int, Whole(0, 1000)] = 20,
    d: Annotated[int, Whole(1, 1000)] = 4,
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 10 of Malach & Shalev-Shwartz (Theorem 11 of Daniely & Malach); both sides in :mod:`.theory.regret`.

    **In training**: f_t(u) = L(h_{u, W^(t-1), b}), convex in u, is what gradient descent on both layers does to the
    readout: theta_t = u^(t-1), theta_1 = u^(0) = 0. It is followed for ``T`` steps of a CNN (Theorem 4's initialisation
    and, by default, step size) and compared, at every prefix of the run, with u* = 0, Lemma 6's, u^(T) = -eta sum g_t,
    the hardest for linear f_t, and 3 u^(T). ``update_error`` says that the iterates are descent's on those f_t: the
    gradients are computed here, the iterates by the engine.

    **Random**: ``sequences`` sequences of each family (linear, |<a,x> - y|, hinge, quadratic), T functions on R^``d``,
    random starts, step sizes and theta*. ``concave_violations`` counts the failures on f = -|<a,x>|, which are not
    convex and so are not covered.

    The proof's loss of a factor is left out in the second check: eta/2 for eta (the textbook's).

    Other arguments as in :func:`.drift.lemma_8`.

    >>> found = theorem_10(n=3, k=2, q=8, T=10, sequences=2)
    >>> found.status, found.measured["violations"], found.measured["update_error"] < 1e-12
    ('holds', 0, True)
    """
    rate = step_size(n, q, T) if eta is None else eta
    run = descend(Setting(n, k, q, T, rate, g, j, activation, distribution, p, seed))
    gradients = _gradients(run)
    own = {name: training_sides(run, gradients, star) for name, star in _stars(run).items()}
    generator = np.random.default_rng(seed)
    found = [tried(family, generator, sequences=sequences, T=T, d=d) for family in FAMILIES if sequences]
    broken = tried("concave", generator, sequences=sequences, T=T, d=d, make=concave) if sequences else None
    tightest = min(own, key=lambda name: float(own[name].slack.min()))
    update = float(np.abs(np.diff(run.u, axis=0) + rate * gradients).max())
    measured: dict[str, Any] = {
        "average_loss": float(own["lemma 6"].left[-1]),
        "update_error": update,
        "least_slack": float(own[tightest].slack.min()),
        "tightest": tightest,
        "violations": sum(one.violations for one in found),
        "least_relative_slack": {one.family: one.least_slack for one in found},
        "concave_violations": broken.violations if broken else 0,
        "least_convexity": min(float(sides.convexity.min()) for sides in own.values() if sides.convexity is not None),
        "eta": rate,
    }
    bound: dict[str, Any] = {
        "average_loss": float(own["lemma 6"].right[-1]),
        "average_loss_sharp": float(own["lemma 6"].sharp[-1]),
        "violations": 0,
    }
    scale = rate * float(np.abs(run.features(0)).max()) + 1e-300
    checks: list[Check] = [at_most("update_error over eta max |sigma|", update / scale, 0, ROUNDING)]
    for name, sides in own.items():
        checks += sides.checks(f"training against {name}")
    checks += family_checks(found)
    notes = [
        f"training: every prefix of T = {T} functions; random: {sequences} sequences a family, every prefix, 4 theta*",
        f"on non-convex f = -|<a,x>|, which the theorem leaves out, {measured['concave_violations']} comparisons fail",
    ]
    return Finding(measured, bound, checks, "run", notes=notes)


def training_sides(run: Run, gradients: Floats, star: Floats) -> Sides:
    """Both sides for the readout's descent along a run, with theta_t = u^(t-1), t = 1..T."""
    T = len(gradients)

    def norms(u: Floats) -> Floats:
        return np.asarray(np.sqrt(run.norm_sq(u).sum(axis=-1)))

    star_losses = run.losses_of(star)[:T]
    distances = norms(run.u - star)
    found = regret(
        run.setting.eta,
        run.losses[:T],
        star_losses,
        norms(gradients),
        float(norms(run.u[0])),
        float(norms(star)),
        start_distance=float(distances[0]),
        end_distances=distances[1:],
    )
    inner = np.einsum("tji,tji,ji->t", gradients, star - run.u[:T], np.broadcast_to(run.counts, star.shape))
    return Sides(found.left, found.right, found.sharp, star_losses - run.losses[:T] - inner)


def _gradients(run: Run) -> Floats:
    """g_t at u^(t), t = 0..T-1; where a point sits on the hinge's kink, the subgradient that the engine took."""
    taken = -np.diff(run.u, axis=0) / run.setting.eta
    found = np.array([run.gradient_u(t, run.u[t]) for t in range(run.setting.T)])
    tied = [bool((np.abs(1 - run.y * run.outputs(t, run.u[t])) < TIE).any()) for t in range(run.setting.T)]
    found[tied] = taken[tied]
    return found


def _stars(run: Run) -> dict[str, Floats]:
    """The u* to compare with."""
    return {"0": np.zeros_like(run.u[0]), "lemma 6": run.u_star(), "u^(T)": run.u[-1], "3 u^(T)": 3 * run.u[-1]}
