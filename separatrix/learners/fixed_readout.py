"""The two-layer network of section 8.2 of Allen-Zhu & Li: its second layer is fixed, its first is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.base import Architecture, Network
from separatrix.rules import Real, Whole, enforce, parameter


class FixedReadoutNet(Network):
    """F(W; x) = a^T relu(W x); only W is trained."""

    W: Float[Array, "m d"]
    a: Float[Array, " m"]

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W",), ("a",))

    @property
    def frozen(self) -> tuple[str, ...]:
        return ("a",)

    def __call__(self, x: Float[Array, "points d"]) -> Float[Array, " points"]:
        return jax.nn.relu(x @ self.W.T) @ self.a


@dataclass(frozen=True)
class FixedReadout(Architecture):
    """``m`` neurons, a_i = 1/sqrt(m) for the first half of them and -1/sqrt(m) for the others; no biases.

    The rows of W start as N(0, scale^2 I/d), so ||W||_F starts near ``scale`` sqrt(m).
    """

    m: int = parameter(200, Whole(2))
    scale: float = parameter(1.0, Real(above=0), traced=True)

    def __post_init__(self) -> None:
        enforce(self)
        if self.m % 2:
            raise InputError(f"m must be even, got {self.m}")

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> FixedReadoutNet:
        if output_shape != () or len(input_shape) != 1:
            raise InputError(
                f"{self.label} takes a vector to one output, the task has shapes {input_shape} and {output_shape}"
            )
        d = input_shape[0]
        W = self.scale / math.sqrt(d) * jax.random.normal(key, (self.m, d))
        return FixedReadoutNet(W, jnp.asarray(readout(self.m), W.dtype))


def readout(m: int) -> np.ndarray:
    """a: exactly m/2 entries of each sign.

    >>> readout(4).tolist()
    [0.5, 0.5, -0.5, -0.5]
    """
    return np.repeat([1.0, -1.0], m // 2) / math.sqrt(m)
