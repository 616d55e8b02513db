r"""Online gradient descent's regret, both sides of it, on a given sequence and at every length of it.

For convex f_1, f_2, ... and theta_{t+1} = theta_t - eta g_t with g_t a (sub)gradient of f_t at theta_t, for every
theta* and every T (Theorem 10 of Malach & Shalev-Shwartz, Theorem 11 of Daniely & Malach),

    1/T sum_{t<=T} f_t(theta_t) <= 1/T sum_{t<=T} f_t(theta*) + ||theta*||^2 / (2 eta T)
                                   + ||theta_1|| 1/T sum_{t<=T} ||g_t|| + eta 1/T sum_{t<=T} ||g_t||^2

The two papers' proofs lose a factor: expanding ||theta_{t+1} - theta*||^2 gives the identity

    sum <theta_t - theta*, g_t> = (||theta_1 - theta*||^2 - ||theta_{T+1} - theta*||^2) / (2 eta) + eta/2 sum ||g_t||^2

so that eta/2 stands where they have eta, and the first two terms may be (||theta_1 - theta*||^2 - ...) / (2 eta T):
``sharp``. Convexity is used once, f_t(theta*) >= f_t(theta_t) + <g_t, theta* - theta_t>: ``convexity`` is by how much
that holds, and where it fails (non-convex f_t) the inequality may fail too.

>>> from separatrix.theory.convex_sequences import absolute
>>> run = descend(absolute(np.random.default_rng(0), T=50, d=3), theta_1=np.ones(3), eta=0.1)
>>> sides = run.against(np.zeros(3))
>>> bool((sides.slack >= 0).all()), bool((sides.sharp <= sides.right).all())
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.theory.certificate import Check, at_most
from separatrix.theory.parameters import Floats

ROUNDING = 1e-9
"""Relative to the larger side: what float64 sums may lose."""


@dataclass(frozen=True)
class Function:
    """One f_t: its value, and one of its (sub)gradients."""

    value: Callable[[Floats], float]
    gradient: Callable[[Floats], Floats]


@dataclass(frozen=True)
class Sides:
    """Both sides for every T = 1, 2, ..., and ``sharp``, the right-hand side without what the proof loses."""

    left: Floats
    right: Floats
    sharp: Floats
    convexity: Floats | None = None

    @property
    def slack(self) -> Floats:
        return self.right - self.left

    @property
    def worst(self) -> int:
        """The T of the least slack."""
        return int(self.slack.argmin()) + 1

    @property
    def tolerance(self) -> float:
        """Rounding allowed at the worst T."""
        at = self.worst - 1
        return ROUNDING * float(max(abs(self.left[at]), abs(self.right[at]), 1e-300))

    @property
    def holds(self) -> bool:
        return bool(self.slack.min() >= -self.tolerance)

    def checks(self, name: str) -> list[Check]:
        """The inequality where it is nearest to failing, over all T, and the sharp one at the last T."""
        at = self.worst - 1
        last = ROUNDING * max(abs(float(self.left[-1])), abs(float(self.sharp[-1])), 1e-300)
        return [
            at_most(
                f"{name}: regret at its worst T = {at + 1}", self.left[at].item(), self.right[at].item(), self.tolerance
            ),
            at_most(f"{name}: the same with eta/2, at the last T", self.left[-1].item(), self.sharp[-1].item(), last),
        ]


def regret(
    eta: float,
    losses: Floats,
    star_losses: Floats,
    gradient_norms: Floats,
    start_norm: float,
    star_norm: float,
    *,
    start_distance: float | None = None,
    end_distances: Floats | None = None,
) -> Sides:
    """Both sides from norms alone: f_t(theta_t), f_t(theta*), ||g_t||, ||theta_1||, ||theta*||.

    With ``start_distance`` ||theta_1 - theta*|| and ``end_distances`` ||theta_{t+1} - theta*|| the sharp side is the
    identity's, otherwise it only has eta/2.
    """
    T = np.arange(1, len(losses) + 1)
    squares = np.cumsum(gradient_norms**2)
    pull = start_norm * np.cumsum(gradient_norms)
    base = np.cumsum(star_losses)
    right = (base + star_norm**2 / (2 * eta) + pull + eta * squares) / T
    if start_distance is None:
        sharp = (base + star_norm**2 / (2 * eta) + pull + eta / 2 * squares) / T
    else:
        left_over = np.zeros(len(losses)) if end_distances is None else end_distances
        sharp = (base + (start_distance**2 - left_over**2) / (2 * eta) + eta / 2 * squares) / T
    return Sides(np.cumsum(losses) / T, right, sharp)


@dataclass(frozen=True)
class Descent:
    """A run of online gradient descent: theta_1..theta_{T+1}, the g_t, the f_t(theta_t), and the f_t themselves."""

    eta: float
    theta: Floats
    gradients: Floats
    losses: Floats
    at: Callable[[Floats], Floats]
    """All f_t at one point."""

    @property
    def update_error(self) -> float:
        """The largest entry of theta_{t+1} - (theta_t - eta g_t): zero where these are descent's iterates."""
        return float(np.abs(np.diff(self.theta, axis=0) + self.eta * self.gradients).max())

    @property
    def displacement(self) -> Floats:
        """-eta sum g_t = theta_{T+1} - theta_1, the theta* that is hardest for linear f_t."""
        return np.asarray(self.theta[-1] - self.theta[0])

    def against(self, star: Floats) -> Sides:
        """Both sides for one theta*."""
        norms = np.linalg.norm(self.gradients, axis=1)
        distances = np.linalg.norm(self.theta - star, axis=1)
        star_losses = self.at(star)
        found = regret(
            self.eta,
            self.losses,
            star_losses,
            norms,
            float(np.linalg.norm(self.theta[0])),
            float(np.linalg.norm(star)),
            start_distance=float(distances[0]),
            end_distances=distances[1:],
        )
        tangent = self.losses + np.einsum("td,td->t", self.gradients, star - self.theta[:-1])
        return Sides(found.left, found.right, found.sharp, star_losses - tangent)


def descend(functions: Sequence[Function], theta_1: Floats, eta: float) -> Descent:
    """theta_{t+1} = theta_t - eta grad f_t(theta_t).

    >>> square = Function(lambda x: float(x @ x), lambda x: 2 * x)
    >>> descend([square, square], np.array([1.0]), 0.25).theta.tolist()
    [[1.0], [0.5], [0.25]]
    """
    theta, gradients, losses = [np.asarray(theta_1, dtype=np.float64)], [], []
    for f in functions:
        losses.append(f.value(theta[-1]))
        gradients.append(f.gradient(theta[-1]))
        theta.append(theta[-1] - eta * gradients[-1])
    return Descent(
        eta,
        np.array(theta),
        np.array(gradients),
        np.array(losses),
        lambda point: np.array([f.value(point) for f in functions]),
    )
