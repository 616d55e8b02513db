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

>>> from separatrix.theory.regret import Descent, absolute, descend
>>> run = descend(absolute(np.random.default_rng(0), T=50, d=3), theta_1=np.ones(3), eta=0.1)
>>> sides = run.against(np.zeros(3))
>>> bool((sides.slack >= 0).all()), bool((sides.sharp <= sides.right).all())
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.theory.certificate import Check, at_least, at_most
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


# Random sequences ---------------------------------------------------------------------------------------------------


def linear(generator: np.random.Generator, T: int, d: int) -> list[Function]:
    """f(theta) = <a, theta>, a Gaussian: nothing is lost to convexity."""
    return [
        Function(lambda theta, a=a: float(a @ theta), lambda theta, a=a: a)  # type: ignore[misc]
        for a in generator.normal(size=(T, d))
    ]


def absolute(generator: np.random.Generator, T: int, d: int) -> list[Function]:
    """f(theta) = |<a, theta> - y|, with a kink."""
    return [
        Function(
            lambda theta, a=a, y=y: abs(float(a @ theta - y)),  # type: ignore[misc]
            lambda theta, a=a, y=y: np.sign(a @ theta - y) * a,  # type: ignore[misc]
        )
        for a, y in zip(generator.normal(size=(T, d)), generator.normal(size=T), strict=True)
    ]


def hinge(generator: np.random.Generator, T: int, d: int) -> list[Function]:
    """f(theta) = max(0, 1 - y <a, theta>), y a random sign."""
    signs = generator.choice([-1.0, 1.0], T)
    return [
        Function(
            lambda theta, r=r: max(0.0, 1 - float(r @ theta)),  # type: ignore[misc]
            lambda theta, r=r: -r * float(r @ theta < 1),  # type: ignore[misc]
        )
        for r in signs[:, None] * generator.normal(size=(T, d))
    ]


def quadratic(generator: np.random.Generator, T: int, d: int) -> list[Function]:
    """f(theta) = ||A theta - y||^2 / 2 with A of about half the rank; unbounded gradients."""
    half = max(1, d // 2)
    matrices = generator.normal(size=(T, half, d)) / np.sqrt(d)
    return [
        Function(
            lambda theta, A=A, y=y: float(np.sum((A @ theta - y) ** 2)) / 2,  # type: ignore[misc]
            lambda theta, A=A, y=y: A.T @ (A @ theta - y),  # type: ignore[misc]
        )
        for A, y in zip(matrices, generator.normal(size=(T, half)), strict=True)
    ]


def concave(generator: np.random.Generator, T: int, d: int) -> list[Function]:
    """f(theta) = -|<a, theta>|, not convex: for what breaks without convexity."""
    return [
        Function(
            lambda theta, a=a: -abs(float(a @ theta)),  # type: ignore[misc]
            lambda theta, a=a: -np.sign(a @ theta) * a,  # type: ignore[misc]
        )
        for a in generator.normal(size=(T, d))
    ]


FAMILIES: Mapping[str, Callable[[np.random.Generator, int, int], list[Function]]] = {
    "linear": linear,
    "absolute": absolute,
    "hinge": hinge,
    "quadratic": quadratic,
}
"""Convex ones; ``concave`` is beside them."""


@dataclass(frozen=True)
class Tried:
    """The least slack over random sequences of one family, all T and several theta*, and how convex they were."""

    family: str
    sequences: int
    least_slack: float
    least_sharp_slack: float
    least_convexity: float
    violations: int


def tried(
    family: str,
    generator: np.random.Generator,
    *,
    sequences: int,
    T: int,
    d: int,
    eta: float | None = None,
    make: Callable[[np.random.Generator, int, int], list[Function]] | None = None,
) -> Tried:
    """Random sequences with a random start and step size, against 0, the displacement, and random theta*.

    >>> found = tried("hinge", np.random.default_rng(1), sequences=3, T=20, d=2)
    >>> found.violations, found.least_slack > 0
    (0, True)
    """
    draw = FAMILIES[family] if make is None else make
    slack = sharp = convexity = np.inf
    violations = 0
    for _ in range(sequences):
        step = float(10 ** generator.uniform(-3, 0)) if eta is None else eta
        start = generator.normal(size=d) * generator.choice([0.0, 1.0, 10.0])
        run = descend(draw(generator, T, d), start, step)
        for star in (np.zeros(d), run.displacement, *(generator.normal(size=(2, d)) * 3)):
            sides = run.against(star)
            assert sides.convexity is not None
            scale = np.maximum(np.maximum(np.abs(sides.left), np.abs(sides.right)), 1e-300)
            slack = min(slack, float((sides.slack / scale).min()))
            sharp = min(sharp, float(((sides.sharp - sides.left) / scale).min()))
            convexity = min(convexity, float(sides.convexity.min()))
            violations += int(np.sum(sides.slack < -ROUNDING * scale))
    return Tried(family, sequences, slack, sharp, convexity, violations)


def family_checks(found: Sequence[Tried]) -> list[Check]:
    """For each family: no violation at any T and theta* (relative slack)."""
    return [
        at_least(
            f"{one.family}: least relative slack of {one.sequences} random sequences", one.least_slack, 0, ROUNDING
        )
        for one in found
    ]
