"""Theorem 11: online gradient descent's regret, on the sequence that training makes and on random convex ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.papers.parity.descent import (
    Bits,
    MaybeDecay,
    MaybePlaces,
    MaybeRate,
    Odd,
    Run,
    Setting,
    Steps,
    Width,
    descend,
)
from separatrix.theory.certificate import Finding, at_most
from separatrix.theory.convex_sequences import Dimension, Sequences, Trial
from separatrix.theory.parameters import Floats, Seed
from separatrix.theory.regret import ROUNDING
from separatrix.theory.results import result


@result(
    "parity/theorem-11",
    "Online gradient descent on convex f_1..f_T has an average value within ||theta*||^2 / (2 eta T) + ||theta_1|| "
    "times the mean ||grad|| + eta times the mean ||grad||^2 of any theta*'s.",
)
def theorem_11(
    n: Bits = 6,
    k: Odd = 3,
    q: Width = 32,
    T: Steps = 100,
    eta: MaybeRate = None,
    lambda_: MaybeDecay = None,
    A: MaybePlaces = None,
    sequences: Sequences = 20,
    d: Dimension = 4,
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 11 of Daniely & Malach (Theorem 10 of Malach & Shalev-Shwartz); both sides in :mod:`.theory.regret`.

    **In training**: f_t(u) = L(g_u^(t)) + lambda ||u||^2, convex in u, is what the steps after the first do to the
    readout: theta_t = u^(t) for t = 1..T, and theta_1 = u^(1) is not 0. (Theorem 2's proof sums over t = 2..T+1, where
    theta_1 is u^(2).) Compared, at every prefix, with u* = 0, the separator of least norm on the features of step 1,
    u^(T+1) - u^(1) = -eta sum g_t, the hardest for linear f_t, and three times that. ``update_error`` says that the
    engine's iterates are descent's with the gradients that are computed here.

    **Random**: ``sequences`` sequences of each family (linear, |<a,x> - y|, hinge, quadratic), T functions on R^``d``,
    random starts, step sizes and theta*; ``concave_violations`` counts the failures on f = -|<a,x>|, which is not
    convex and so not covered.

    The proof's loss of a factor is left out in the second check: eta/2 for eta. ``eta``, ``lambda_`` as in
    :func:`.drift.lemma_13`.

    >>> found = theorem_11(n=5, q=8, T=10, sequences=2)
    >>> found.status, found.measured["violations"], found.measured["update_error"] < 1e-12
    ('holds', 0, True)
    """
    run = descend(Setting.of(n, k, q, T, eta, lambda_, A, "corrected", seed))
    trial = Trial.of(run.readout, _stars(run), sequences, d, seed)
    shown = trial.own.get("separator", trial.own["0"])
    measured: dict[str, Any] = {
        "average": float(shown.left[-1]),
        "update_error": run.readout.update_error,
        "norm_theta_1": float(np.linalg.norm(run.u[1])),
        **trial.measured,
        "eta": run.setting.eta,
        "lambda": run.setting.lambda_,
    }
    bound = {"average": float(shown.right[-1]), "average_sharp": float(shown.sharp[-1]), "violations": 0}
    scale = run.setting.eta * float(run.features(1).max()) + 1e-300
    update = at_most("update_error over eta max sigma", measured["update_error"] / scale, 0, ROUNDING)
    return Finding(measured, bound, [update, *trial.checks], "run", notes=trial.notes)


def _stars(run: Run) -> dict[str, Floats]:
    """The u* to compare with."""
    moved = run.readout.displacement
    stars = {"0": np.zeros_like(moved), "u^(T+1) - u^(1)": moved, "three times that": 3 * moved}
    return stars if run.separator is None else {"separator": run.separator, **stars}
