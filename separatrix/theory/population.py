"""Population loss and gradients of a depth-two network on the uniform hypercube, by enumeration.

    h(x) = sum_i u_i sigma(<w_i, x> + b_i),      L = E_x max(1 - f(x) h(x), 0)

with x uniform on {+-1}^n, in float64, a block of points at a time so that n = 24 needs little memory.
Where f(x) h(x) = 1 the hinge has a kink; the subgradient taken there is the one from inside, -f(x), so that a
network with |h| <= 1 everywhere has the linear gradient that the convolution paper's Theorem 12 uses.

>>> from separatrix.theory.activations import activation
>>> network = Network(np.array([[1.0, 1.0]]), np.array([0.0]), np.array([0.5]), activation("relu"))
>>> gradients = hinge_gradients(network, lambda x: x[:, 0])
>>> gradients.loss, gradients.w, gradients.u
(0.75, array([[-0.125, -0.125]]), array([-0.5]))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.theory.activations import Activation
from separatrix.theory.walsh import hypercube

Array = NDArray[np.float64]
Target = Callable[[NDArray[np.int8]], NDArray[np.generic]] | NDArray[np.generic]
"""Labels: a function from a block of points (one a row) to +-1, or all 2^n of them in index order."""


@dataclass(frozen=True)
class Network:
    """Definition 2 of the convolution paper: ``w`` is (q, n), ``b`` and ``u`` are (q,)."""

    w: Array
    b: Array
    u: Array
    activation: Activation

    def __post_init__(self) -> None:
        if self.w.ndim != 2 or self.b.shape != self.w.shape[:1] or self.u.shape != self.w.shape[:1]:
            shapes = f"{self.w.shape}, {self.b.shape} and {self.u.shape}"
            raise InputError(f"w, b and u must have shapes (q, n), (q,) and (q,), got {shapes}")


@dataclass(frozen=True)
class Gradients:
    """The population loss, its gradients, and the largest |h| seen."""

    loss: float
    w: Array
    b: Array
    u: Array
    largest_output: float


def hinge_gradients(network: Network, target: Target, *, chunk: int = 1 << 12) -> Gradients:
    """The exact expectation over all 2^n points of the hinge loss and its gradients."""
    q, n = network.w.shape
    if not callable(target) and target.shape != (1 << n,):
        raise InputError(f"target must have {1 << n} labels, got shape {target.shape}")
    loss, largest = 0.0, 0.0
    gradient_w, gradient_b, gradient_u = np.zeros((q, n)), np.zeros(q), np.zeros(q)
    for start, block in hypercube(n, chunk):
        labels = target(block) if callable(target) else target[start : start + len(block)]
        y, x = np.asarray(labels, dtype=np.float64), block.astype(np.float64)
        before = x @ network.w.T + network.b
        hidden = network.activation.value(before)
        output = hidden @ network.u
        margin = 1 - y * output
        loss += float(np.maximum(margin, 0).sum())
        largest = max(largest, float(np.abs(output).max()))
        pull = np.where(margin >= 0, -y, 0.0)
        back = pull[:, None] * network.activation.derivative(before) * network.u
        gradient_w += back.T @ x
        gradient_b += back.sum(axis=0)
        gradient_u += pull @ hidden
    size = 1 << n
    return Gradients(loss / size, gradient_w / size, gradient_b / size, gradient_u / size, largest)


def parity(subset: NDArray[np.integer] | list[int]) -> Callable[[NDArray[np.int8]], NDArray[np.generic]]:
    """The target chi_S, S given by the positions in it.

    >>> parity([0, 2])(np.array([[1, 1, -1], [-1, 1, -1]], dtype=np.int8)).tolist()
    [-1, 1]
    """

    def labels(block: NDArray[np.int8]) -> NDArray[np.generic]:
        return np.asarray(np.prod(block[:, subset], axis=1, dtype=np.int8))

    return labels
