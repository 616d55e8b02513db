r"""Algorithm 1 as Theorem 1 runs it: the risk along real trainings on the hard class, at alpha after alpha.

With delta proportional to alpha^4, eta_w to delta, eta_v to eta_w and T to 1/delta^2, as the theorem asks, the mean of
the risks of the T steps must fall at least as alpha^4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from separatrix.learners import Algorithm1, Architecture, Network, Trained
from separatrix.learners.residual import ThreeLayerNet
from separatrix.rules import Real, Whole, enforce, parameter
from separatrix.tasks import HardInstance
from separatrix.theory.parameters import Floats
from separatrix.training import Cell, Procedure
from separatrix.training.trajectory import Trajectory, follow_all

_STOPS = 40


@dataclass(frozen=True)
class SectionSix(Architecture):
    """Section 6's learner, U = V A: A ~ N(0, 1/m), W0 and b1 ~ N(0, sigma_w^2), V0 and b2 ~ N(0, sigma_v^2/m)."""

    width: int = parameter(200, Whole(1))
    sigma_w: float = parameter(0.25, Real(above=0))
    sigma_v: float = parameter(1.0, Real(above=0))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return "3resnet (section 6)"

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> ThreeLayerNet:
        m, d, k = self.width, math.prod(input_shape), math.prod(output_shape)
        of_W, of_V, of_A = jax.random.split(key, 3)
        W0 = self.sigma_w * jax.random.normal(of_W, (m, d + 1))
        V0 = self.sigma_v / math.sqrt(m) * jax.random.normal(of_V, (m, k + 1))
        A = jax.random.normal(of_A, (k, m)) / math.sqrt(m)
        return ThreeLayerNet(W0[:, :-1], W0[:, -1], V0[:, :-1], V0[:, -1], A, None, True, True, output_shape)


@dataclass(frozen=True)
class Risks:
    """Of the trainings at one alpha, a number a seed: the mean of E||H - out||^2 over the T steps, and at their end."""

    alpha: float
    T: int
    average: Floats
    final: Floats


def trainings(
    d: int, k: int, alphas: Sequence[float], learner: SectionSix, rates: Sequence[tuple[float, float]],
    steps: Sequence[int], seeds: int, seed: int,
) -> list[Risks]:  # fmt: skip
    """Algorithm 1 with the rates (eta_w, eta_v) for so many steps at each alpha; all in one compiled program.

    The risk is exact, over the 2^d inputs, at 40 steps in geometric progression, and linear in between.
    """
    found = []
    for alpha, (eta_w, eta_v), T in zip(alphas, rates, steps, strict=True):
        cells = [
            Cell(
                HardInstance(d, k, alpha),
                Trained(learner, Algorithm1(eta_w, eta_v), "squared", "hidden"),
                max(steps),
                seed + run,
                Procedure(max_steps=max(steps)),
            )
            for run in range(seeds)
        ]
        at = _stops(T)
        paths = follow_all(cells, T, at)
        risks = np.array([_risks(cell, path) for cell, path in zip(cells, paths, strict=True)])
        average = np.trapezoid(risks, at, axis=1) / T
        found.append(Risks(alpha, T, average, risks[:, -1]))
    return found


def _stops(T: int) -> list[int]:
    """0, ..., T in about geometric progression; always as many, so that one program serves every T."""
    inner = np.unique(np.geomspace(1, T, _STOPS).round().astype(int)).tolist()
    missing = (t for t in range(2, T) if t not in set(inner))
    return sorted([0, *inner, *(t for t, _ in zip(missing, range(_STOPS - len(inner)), strict=False))])


def _risks(cell: Cell, path: Trajectory) -> Floats:
    """E||H - out||^2 over the cube after each of the kept steps."""
    population = cell.task.population(jnp.asarray(path.instance))
    y = np.asarray(population.y, np.float64)
    outputs = (np.asarray(_outputs(path.network(t), population.x)) for t in path.at)
    return np.array([np.mean(np.sum((y - out) ** 2, axis=1)) for out in outputs])


@eqx.filter_jit
def _outputs(network: Network, x: Array) -> Array:
    return network(x)
