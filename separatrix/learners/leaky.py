"""Equation 8 of Brutzkus & Globerson: the fully connected network that section 6's bound is about."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.base import Architecture, Network, need_one_output
from separatrix.rules import Real, Whole, enforce, parameter


class LeakyFCNet(Network):
    """N_FC(x) = sum_i a_i psi(w_i . x) with psi(z) = max(alpha z, z); inputs are flattened."""

    W: Float[Array, "k inputs"]
    a: Float[Array, " k"]
    alpha: Float[Array, ""]

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W",), ("a",))

    @property
    def frozen(self) -> tuple[str, ...]:
        return ("alpha",)

    def __call__(self, x: Float[Array, points * input]) -> Float[Array, " points"]:
        z = x.reshape(len(x), -1) @ self.W.T
        return jnp.maximum(self.alpha * z, z) @ self.a


@dataclass(frozen=True)
class LeakyFC(Architecture):
    """One hidden layer of ``k`` leaky ReLUs of slope ``alpha`` below zero, no biases.

    The rows of W start uniform in +-1/sqrt(inputs); a_i = 1/sqrt(k) for half of the neurons and -1/sqrt(k) for the
    others. ``Trained(LeakyFC(k), ..., train="hidden")`` leaves a as it is, as the theorem of Brutzkus et al. (2018)
    does that section 6 applies.
    """

    k: int = parameter(100, Whole(2))
    alpha: float = parameter(0.1, Real(0, below=1), traced=True)

    def __post_init__(self) -> None:
        enforce(self)
        if self.k % 2:
            raise InputError(f"k must be even, got {self.k}")

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> LeakyFCNet:
        need_one_output(self, output_shape)
        inputs = math.prod(input_shape)
        W = jax.random.uniform(key, (self.k, inputs), minval=-1, maxval=1) / math.sqrt(inputs)
        a = jnp.repeat(jnp.array([1.0, -1.0], W.dtype), self.k // 2) / math.sqrt(self.k)
        return LeakyFCNet(W, a, jnp.asarray(self.alpha, W.dtype))
