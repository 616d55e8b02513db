"""Lemmas 8 and 9: the first layer hardly moves and the loss hardly changes, on a real run at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.papers.convolution.descent import Run, descend
from separatrix.papers.convolution.setting import (
    Bits,
    Law,
    MaybeExact,
    MaybeSigma,
    Pattern,
    Probability,
    Setting,
    Window,
    bounded,
    chosen_rate,
    nominal_c,
)
from separatrix.theory.activations import ACTIVATIONS
from separatrix.theory.along import ROUNDING, changes_of_loss, largest_ratio, tightest
from separatrix.theory.certificate import Check, Finding, at_most
from separatrix.theory.parameters import Count, Floats, MaybeCount, MaybePositive, Seed, Version
from separatrix.theory.results import result

SEEDS_TRIED = 64
COUNTEREXAMPLE = Setting(1, 1, 1, 10, 0.1, "++", None, "relu6", "biased", 1.0)
"""n = k = q = 1, always x = +1 and f = +1: the neuron's value grows above 1, and so does each step of u over eta."""


@result(
    "convolution/lemma-8",
    "After T steps from u = 0 a CNN's readout has ||u^(T,j)|| <= c eta T sqrt(q) (printed without c) and its first "
    "layer has moved by at most c eta^2 T^2 n sqrt(qk).",
)
def lemma_8(
    n: Bits = 6,
    k: Window = 3,
    q: Count = 325,
    T: Count = 100,
    g: Pattern = "parity",
    j: MaybeCount = None,
    activation: MaybeSigma = None,
    c: MaybeExact = None,
    eta: MaybePositive = None,
    distribution: Law = "uniform",
    p: Probability = 0.5,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 8 of Malach & Shalev-Shwartz, at every t = 0..T of a run of population gradient descent.

        ||u^(t,j)|| <= c eta t sqrt(q)            for every window j
        ||W^(t) - W^(0)|| <= c eta^2 t^2 n sqrt(qk)      (Frobenius)

    for |sigma| <= c, |sigma'| <= 1, u^(0) = 0 and the hinge loss: a step of u^(j) is eta E[l' sigma(W x_j + b)], at
    most eta c sqrt(q), and one of W is eta E sum_j l' (u^(j) sigma') x_j^T, at most eta sum_j ||u^(t,j)|| sqrt(k).
    Summing the second gives n - k + 1 windows and t(t-1)/2 for n and t^2: the ``tight`` bound.

    **As printed** the first bound has no c. That fails as soon as neurons exceed 1: ``version=printed`` shows it by
    default at n = k = q = 1, where x = +1 always, f = +1 and sigma is relu6 (c = 6). With an ``activation`` it looks at
    that run instead.

    ``n``, ``k``, ``q``, ``T``, ``g``, ``j`` (j*, the middle by default), ``c`` (the largest |sigma| by default) are the
    paper's; ``eta`` is Theorem 4's sqrt(n) / (sqrt(q) T) by default, but any will do. ``distribution``: ``uniform``
    bits, ``biased`` (P(x_i = 1) = ``p``) or ``markov`` (neighbours differ with probability ``p``).

    >>> found = lemma_8(n=3, k=2, q=8, T=5)
    >>> found.status, found.measured["drift_ratio"] < found.measured["drift_tight_ratio"] <= 1
    ('holds', True)
    """
    eta = chosen_rate(eta, n, q, T)
    setting = Setting(n, k, q, T, eta, g, j, activation or "clipped_relu", distribution, p, seed)
    notes = ["ratios are the largest over t = 1..T (and j) of the measured norm over its bound at that t"]
    if version == "printed" and activation is None:
        setting = _counterexample(seed)
        s = setting
        notes.append(
            f"seed {s.seed}: n = k = q = 1, x = +1 always, g = +, sigma = relu6, eta = {s.eta}: w = 1, so that "
        )
        notes[-1] += f"u grows by eta sigma(w), and w by eta u: u^(3) = {s.eta}(2 + 1 + {s.eta}^2) > 3 eta"
    sigma = ACTIVATIONS[setting.activation]
    bound_c = nominal_c(sigma, c)
    found = drift(descend(setting), math.inf if bound_c == math.inf else float(bound_c))
    first = 1.0 if version == "printed" else found.c
    measured: dict[str, Any] = {
        "norm_u": float(found.u[-1].max()),
        "drift": float(found.W[-1]),
        "norm_u_ratio": largest_ratio(found.u.max(axis=1), found.u_bound(first)),
        "drift_ratio": largest_ratio(found.W, found.W_bound),
        "drift_tight_ratio": largest_ratio(found.W, found.W_tight),
        "loss": float(found.run.losses[-1]),
        "largest_feature": found.largest_feature,
        "eta": setting.eta,
        "seed": setting.seed,
    }
    bound: dict[str, Any] = {
        "norm_u": float(found.u_bound(first)[-1]),
        "drift": float(found.W_bound[-1]),
        "drift_tight": float(found.W_tight[-1]),
        "norm_u_ratio": 1,
        "drift_ratio": 1,
        "drift_tight_ratio": 1,
    }
    checks = [
        found.check("||u^(t,j)||", found.u.max(axis=1), found.u_bound(first)),
        found.check("||W^(t) - W^(0)||", found.W, found.W_bound),
    ]
    if version == "corrected":
        checks.append(found.check("||W^(t) - W^(0)|| (tight)", found.W, found.W_tight))
    return Finding(measured, bound, checks, "run", bounded(sigma, bound_c), None, notes)


@result(
    "convolution/lemma-9",
    "For every readout u* the loss with the trained first layer differs from that with the initial one by at most "
    "c eta^2 T^2 n k sqrt(q) sum_j ||u*^(j)||.",
)
def lemma_9(
    n: Bits = 6,
    k: Window = 3,
    q: Count = 325,
    T: Count = 100,
    g: Pattern = "parity",
    j: MaybeCount = None,
    activation: MaybeSigma = None,
    c: MaybeExact = None,
    eta: MaybePositive = None,
    distribution: Law = "uniform",
    p: Probability = 0.5,
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 9 of Malach & Shalev-Shwartz, at every t = 0..T of a run and for several u*:

        |L(h_{u*, W^(t), b}) - L(h_{u*, W^(0), b})| <= c eta^2 t^2 n k sqrt(q) sum_j ||u*^(j)||

    Between the two stands ||W^(t) - W^(0)|| sqrt(k) sum_j ||u*^(j)||, checked too (``through_drift``). The u* tried:
    Lemma 6's, the trained u^(T), random ones of three sizes, and the *hardest* small one: where |h| < 1 the loss is
    linear, and the difference over ||u*|| is largest for u*^(j) along -E[f (sigma(W^(T) x_j + b) - sigma(W^(0) x_j +
    b))] at the window where that is largest. Arguments as in :func:`lemma_8`.

    >>> lemma_9(n=3, k=2, q=8, T=5).status
    'holds'
    """
    eta = chosen_rate(eta, n, q, T)
    setting = Setting(n, k, q, T, eta, g, j, activation or "clipped_relu", distribution, p, seed)
    sigma = ACTIVATIONS[setting.activation]
    bound_c = nominal_c(sigma, c)
    run = descend(setting)
    found = drift(run, float(bound_c))
    changes, limits, through = {}, {}, {}
    for name, u in _readouts(run, seed).items():
        size = float(np.sqrt(run.norm_sq(u)).sum())
        losses = run.losses_of(u)
        change = np.abs(losses - losses[0])
        changes[name] = np.where(change <= ROUNDING * losses.max(), 0, change)
        limits[name], through[name] = (norm * math.sqrt(k) * size for norm in (found.W_bound, found.W))
    measured = changes_of_loss(changes, limits, through)
    measured |= {"drift": float(found.W[-1]), "eta": setting.eta}
    per_norm = float(found.W_bound[-1]) * math.sqrt(k)
    bound = {"change_per_norm": per_norm, "change_ratio": 1, "through_drift": 1}
    checks = [
        at_most("largest change over its bound, all t and u*", measured["change_ratio"], 1, ROUNDING),
        at_most("largest change over ||W - W^(0)|| sqrt(k) ||u*||", measured["through_drift"], 1, 1e-6),
    ]
    notes = [
        "changes at T; ratios are the largest over t = 1..T",
        f"for Lemma 6's u* the bound is {per_norm * float(np.sqrt(run.norm_sq(run.u_star())).sum()):.3g} at T; it says "
        "something where that is below 1, the loss of h = 0",
    ]
    return Finding(measured, bound, checks, "run", bounded(sigma, bound_c), None, notes)


@dataclass(frozen=True)
class Drift:
    """||u^(t,j)|| (t, j) and ||W^(t) - W^(0)|| along a run, with Lemma 8's bounds at every t."""

    run: Run
    c: float
    u: Floats
    W: Floats

    @property
    def t(self) -> Floats:
        return np.arange(self.run.setting.T + 1, dtype=np.float64)

    def u_bound(self, c: float) -> Floats:
        s = self.run.setting
        return _times(c, s.eta * math.sqrt(s.q) * self.t)

    @property
    def W_bound(self) -> Floats:
        """Lemma 8's; without the factor n for the layers of a locally connected net, each by itself."""
        s = self.run.setting
        n = s.n if s.shared else 1
        return _times(self.c, s.eta**2 * n * math.sqrt(s.q * s.k) * self.t**2)

    @property
    def W_tight(self) -> Floats:
        s = self.run.setting
        windows = s.windows if s.shared else 1
        return _times(self.c, s.eta**2 * windows * math.sqrt(s.q * s.k) * self.t * (self.t - 1) / 2)

    def check(self, name: str, values: Floats, limits: Floats) -> Check:
        """The inequality where it is tightest, t = 0 aside (both sides are 0 there)."""
        return tightest(name, values[1:], limits[1:])

    @property
    def largest_feature(self) -> float:
        """max |sigma| over the patterns and neurons, at the end."""
        return float(np.abs(self.run.features(self.run.setting.T)).max())


def drift(run: Run, c: float) -> Drift:
    """The norms of a run; of the layers of a locally connected net, the one that moves most."""
    return Drift(run, c, run.readout_norms, np.asarray(run.drifts.max(axis=1)))


def _times(c: float, values: Floats) -> Floats:
    """c times the values, where an infinite c times 0 is 0."""
    return np.where(values > 0, math.inf, 0.0) if math.isinf(c) else np.asarray(c * values)


def _readouts(run: Run, seed: int) -> dict[str, Floats]:
    """The u* that Lemma 9 is tried with."""
    generator = np.random.default_rng(seed)
    shape = run.u.shape[1:]
    T = run.setting.T
    size = float(np.abs(run.u_star()).max())
    random = {f"random {scale:g}": scale * size * generator.normal(size=shape) for scale in (0.01, 1, 100)}
    moved = run.features(T) - run.features(0)
    pull = run.p * run.y
    seen = np.array([np.bincount(row, weights=pull, minlength=2**run.setting.k) for row in run.place])
    slope = -np.einsum("jz,jzi->ji", seen, np.broadcast_to(moved, (len(seen), *moved.shape[1:])))
    hardest = np.zeros(shape)
    window = int(np.argmax(np.linalg.norm(slope, axis=1)))
    length = float(np.linalg.norm(slope[window]))
    hardest[window] = slope[window] * (size / length if length else 0)
    return {"lemma 6": run.u_star(), "trained": run.u[-1], **random, "hardest": hardest}


def _counterexample(seed: int) -> Setting:
    """The first seed from the given one on whose single weight is +1."""
    for other in range(seed, seed + SEEDS_TRIED):
        setting = replace(COUNTEREXAMPLE, seed=other)
        if descend(setting).W[0].item() > 0:
            return setting
    raise AssertionError(f"{SEEDS_TRIED} fair signs were all -1")
