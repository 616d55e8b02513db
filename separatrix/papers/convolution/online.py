"""Theorem 10: online gradient descent, on the sequence that training makes and on random convex ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.papers.convolution.descent import Run, descend
from separatrix.papers.convolution.setting import Bits, Law, Pattern, Probability, Setting, Sigma, Window, chosen_rate
from separatrix.theory.certificate import Finding, at_most
from separatrix.theory.convex_sequences import Dimension, Sequences, Trial
from separatrix.theory.parameters import Count, Floats, MaybeCount, MaybePositive, Seed
from separatrix.theory.regret import ROUNDING, Descent
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
    sequences: Sequences = 20,
    d: Dimension = 4,
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
    run = descend(Setting(n, k, q, T, chosen_rate(eta, n, q, T), g, j, activation, distribution, p, seed))
    readout = readout_of(run)
    trial = Trial.of(readout, _stars(run), sequences, d, seed)
    shown = trial.own["lemma 6"]
    measured: dict[str, Any] = {
        "average_loss": float(shown.left[-1]),
        "update_error": readout.update_error,
        **trial.measured,
        "eta": run.setting.eta,
    }
    bound = {"average_loss": float(shown.right[-1]), "average_loss_sharp": float(shown.sharp[-1]), "violations": 0}
    scale = run.setting.eta * float(np.abs(run.features(0)).max()) + 1e-300
    update = at_most("update_error over eta max |sigma|", measured["update_error"] / scale, 0, ROUNDING)
    return Finding(measured, bound, [update, *trial.checks], "run", notes=trial.notes)


def readout_of(run: Run) -> Descent:
    """The readout's descent, windows side by side: theta_t = u^(t-1), f_t(u) = L(h_{u, W^(t-1), b}), t = 1..T."""
    T, shape = run.setting.T, run.u.shape[1:]

    def at(theta: Floats) -> Floats:
        return run.losses_of(theta.reshape(shape))[:T]

    return Descent(run.setting.eta, run.u.reshape(T + 1, -1), _gradients(run).reshape(T, -1), run.losses[:T], at)


def _gradients(run: Run) -> Floats:
    """g_t at u^(t), t = 0..T-1; where a point sits on the hinge's kink, the subgradient that the engine took."""
    taken = -np.diff(run.u, axis=0) / run.setting.eta
    found = np.array([run.gradient_u(t, run.u[t]) for t in range(run.setting.T)])
    tied = [bool((np.abs(1 - run.y * run.outputs(t, run.u[t])) < TIE).any()) for t in range(run.setting.T)]
    found[tied] = taken[tied]
    return found


def _stars(run: Run) -> dict[str, Floats]:
    """The u* to compare with."""
    last = run.u[-1].ravel()
    return {"0": np.zeros_like(last), "lemma 6": run.u_star().ravel(), "u^(T)": last, "3 u^(T)": 3 * last}
