r"""What training the last layer, or the linearisation, of a network tends to: its minimum, found at once.

Both are linear in what is trained, f(x; theta) = f(x; 0) + J(x) theta for all outputs together, so that gradient
descent with weight decay c on the mean squared loss tends to the minimum of a quadratic, whose gradient vanishes where

    ((2 / N) J' J + c I) theta = (2 / N) J' (y - f(X; 0)).

This is ridge regression with the conjugate or the tangent kernel J J' of the size N k (k outputs), with the ridge
N c / 2. Conjugate gradients solve it with products J v and J' u alone, which cost as much as a step of training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from separatrix.learners.base import Architecture, Fitted, Solver
from separatrix.learners.kernels.arithmetic import float64
from separatrix.learners.network import Network, trained_part
from separatrix.learners.parts import part_of
from separatrix.rules import Choice, Real, Whole, enforce, parameter
from separatrix.tasks import stream

_EXACT = 1e-8
_TRUSTED = 1e-4


@dataclass(frozen=True)
class LinearPart(Solver):
    """argmin over theta of (1/N) sum_i ||f(x_i; theta) - y_i||^2 + (c/2) ||theta||^2, c = ``weight_decay``, in float64.

    ``train``: ``last`` (theta is the last layer, on the features of the start: the conjugate kernel) or ``ntk``
    (theta is the displacement in the network linearised at its start). The start is that of the seed's own network.
    For ``ntk`` this is ridge regression with the joint kernel of :func:`.tangent.empirical_ntk`, without its matrix.
    Facts: the relative ``residual`` of the linear system and ||theta||.
    """

    architecture: Architecture
    train: str = parameter("ntk", Choice("last", "ntk"))
    weight_decay: float = parameter(1e-3, Real(0))
    iterations: int = parameter(5000, Whole(1))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return f"{self.architecture.label} ({self.train}, exact)"

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        eqx.filter_eval_shape(self._start, jax.random.key(0), input_shape, output_shape)

    def _start(self, key: Any, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> Network:
        return part_of(self.architecture.build(key, input_shape, output_shape), self.train)

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        with jax.enable_x64(False):  # drawn as training draws it
            network = self._start(stream(seed, "initialise"), x.shape[1:], y.shape[1:])
        with float64():
            moving = trained_part(network)
            still = jax.tree.map(lambda a, t: a if t is None else None, network, moving, is_leaf=lambda a: a is None)
            still = jax.tree.map(lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf, still)
            zero = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, jnp.float64), moving)
            sample = jnp.asarray(x, jnp.float64), jnp.asarray(y, jnp.float64)
            theta, residual = _minimum(zero, still, *sample, jnp.float64(self.weight_decay), self.iterations)
            facts = {"residual": float(residual), "norm": float(_norm(theta))}

        def predict(new: np.ndarray) -> np.ndarray:
            with float64():
                return np.asarray(_outputs(theta, still, jnp.asarray(new, jnp.float64)))

        said = f"residual {facts['residual']:.2g} after {self.iterations} iterations; allow more, or more weight decay"
        return Fitted(predict, facts, None if facts["residual"] <= _TRUSTED else said)


@eqx.filter_jit
def _outputs(theta: Network, still: Network, points: Any) -> Any:
    return eqx.combine(theta, still)(points)


@eqx.filter_jit
def _minimum(zero: Network, still: Network, x: Any, y: Any, c: Any, iterations: int) -> tuple[Network, Any]:
    """theta, and the relative residual of its system."""
    base, J = jax.linearize(lambda theta: _outputs(theta, still, x), zero)
    transposed = jax.linear_transpose(J, zero)

    def back(errors: Any) -> Any:
        (found,) = transposed(2 / len(x) * errors)
        return found

    def system(theta: Any) -> Any:
        return jax.tree.map(lambda g, w: g + c * w, back(J(theta)), theta)

    wanted = back(y - base)
    theta, _ = jax.scipy.sparse.linalg.cg(system, wanted, tol=_EXACT, maxiter=iterations)
    left = jax.tree.map(jnp.subtract, wanted, system(theta))
    return theta, _norm(left) / jnp.maximum(_norm(wanted), 1e-300)


def _norm(tree: Any) -> Any:
    return jnp.sqrt(sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(tree)))
