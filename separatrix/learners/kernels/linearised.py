"""A network linearised at its start, solved exactly: both readings of "the NTK" for several outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from separatrix.errors import InputError
from separatrix.learners.base import Architecture, Fitted, Network, Solver
from separatrix.learners.kernels.arithmetic import Array, float64, in_numpy, on_device, solve_positive
from separatrix.learners.kernels.tangent import doubled, empirical_ntk
from separatrix.learners.parts import Linearised, part_of
from separatrix.rules import Choice, Real, enforce, parameter
from separatrix.tasks import stream

_BLOCK = 4096
READINGS = ("joint", "mean")
LARGEST = 30_000
"""Rows of the kernel: 7.2 GB in float64."""


@dataclass(frozen=True)
class LinearisedRidge(Solver):
    r"""Ridge regression of the network's linearisation at the start that the seed draws, f_0 its outputs there:

        f(x) = f_0(x) + Theta(x, X) (Theta(X, X) + ridge s I)^-1 (y - f_0(X)),  s the mean of Theta's diagonal

    ``outputs="joint"``: Theta is the kernel of the N k outputs, and f is what gradient descent on
    ``Trained(..., "squared", "ntk")`` tends to for a weight decay of 2 ridge s / N. ``"mean"``: the mean of the k
    outputs' kernels serves each of them, k problems of size N. Both tend to the same as the width grows.
    """

    architecture: Architecture
    ridge: float = parameter(1e-6, Real(0))
    outputs: str = parameter("joint", Choice(*READINGS))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return f"{self.architecture.label} (NTK, {self.outputs})"

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        self.architecture.parameter_count(input_shape, output_shape)

    def fit(self, x: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
        joint, rows = self.outputs == "joint", y.size if self.outputs == "joint" else len(y)
        if rows > LARGEST:
            raise InputError(f"the kernel must have at most {LARGEST} rows, got {rows}")
        with jax.enable_x64(False):  # drawn as training draws it
            network = self.architecture.build(stream(seed, "initialise"), x.shape[1:], y.shape[1:])
        with float64():
            network = doubled(network)
            points = jnp.asarray(x, jnp.float64)
            wanted = on_device(y.reshape(len(y), -1)) - on_device(network(points).reshape(len(y), -1))
            K = on_device(empirical_ntk(network, points, joint=joint))
            s = float(K.trace() / rows)
            solved = solve_positive(K, self.ridge * s, wanted.reshape(rows, -1))
            dual = jnp.asarray(solved.s)
            of_new = _displaced(network, points, dual) if joint else _by_kernel(network, points, dual)

        def predict(new: np.ndarray) -> np.ndarray:
            blocks = [new[first : first + _BLOCK] for first in range(0, len(new), _BLOCK)]
            with float64():
                found = [in_numpy(of_new(jnp.asarray(block, jnp.float64))) for block in blocks]
            return np.concatenate(found).reshape(len(new), *y.shape[1:])

        return Fitted(predict, dict(solved.facts), solved.problem)


def _displaced(network: Network, points: Array, dual: Array) -> Callable[[Array], Array]:
    """The linearised network at the displacement J(X)^T dual, J the gradients at the start."""
    start = part_of(network, "ntk")
    assert isinstance(start, Linearised)

    def outputs(displacement: Network) -> Array:
        return Linearised(displacement, network)(points)

    values, pull = jax.vjp(outputs, start.displacement)
    return Linearised(pull(dual.reshape(values.shape))[0], network)


def _by_kernel(network: Network, points: Array, dual: Array) -> Callable[[Array], Array]:
    def of_new(new: Array) -> Array:
        moved = empirical_ntk(network, new, points) @ dual
        return network(new).reshape(moved.shape) + moved

    return of_new
