"""Online gradient descent's regret on a given run and on random sequences of convex functions, and of others.

The two papers that have the theorem (see :mod:`.regret`) try it in the same way: :class:`Trial`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from separatrix.rules import Whole
from separatrix.theory.certificate import Check, at_least
from separatrix.theory.parameters import Floats
from separatrix.theory.regret import ROUNDING, Descent, Function, Sides, descend

Sequences = Annotated[int, Whole(0, 1000)]
Dimension = Annotated[int, Whole(1, 1000)]


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

    @property
    def check(self) -> Check:
        """No violation at any T and theta* (relative slack)."""
        name = f"{self.family}: least relative slack of {self.sequences} random sequences"
        return at_least(name, self.least_slack, 0, ROUNDING)


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


@dataclass(frozen=True)
class Trial:
    """Both sides of a run against each of several theta*, and of as long random ones: ``random`` has one for each
    family, ``concave`` what is not convex (None where no sequences are asked for).
    """

    own: Mapping[str, Sides]
    random: Sequence[Tried]
    concave: Tried | None

    @staticmethod
    def of(run: Descent, stars: Mapping[str, Floats], sequences: int, d: int, seed: int) -> Trial:
        """``sequences`` of each family, on R^``d``."""
        own = {name: run.against(star) for name, star in stars.items()}
        if not sequences:
            return Trial(own, [], None)
        generator, T = np.random.default_rng(seed), len(run.losses)
        random = [tried(family, generator, sequences=sequences, T=T, d=d) for family in FAMILIES]
        return Trial(own, random, tried("concave", generator, sequences=sequences, T=T, d=d, make=concave))

    @property
    def measured(self) -> dict[str, Any]:
        least = {name: float(sides.slack.min()) for name, sides in self.own.items()}
        tightest = min(least, key=lambda name: least[name])
        convexity = [float(sides.convexity.min()) for sides in self.own.values() if sides.convexity is not None]
        return {
            "least_slack": least[tightest],
            "tightest": tightest,
            "violations": sum(one.violations for one in self.random),
            "least_relative_slack": {one.family: one.least_slack for one in self.random},
            "concave_violations": self.concave.violations if self.concave else 0,
            "least_convexity": min(convexity),
        }

    @property
    def checks(self) -> list[Check]:
        found = [check for name, sides in self.own.items() for check in sides.checks(f"training against {name}")]
        return [*found, *(one.check for one in self.random)]

    @property
    def notes(self) -> list[str]:
        T = len(next(iter(self.own.values())).left)
        sequences, broken = (self.concave.sequences, self.concave.violations) if self.concave else (0, 0)
        return [
            f"training: every prefix of T = {T} functions; random: {sequences} sequences a family, every prefix, "
            "4 theta*",
            f"on non-convex f = -|<a,x>|, which the theorem leaves out, {broken} comparisons fail",
        ]
