"""The networks of Brutzkus & Globerson, with a leading axis of points: convolution and pooling, and fully connected.

An architecture is the network's sizes and initialisation (a frozen dataclass); ``build`` makes the network.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.activations import ACTIVATIONS
from separatrix.learners.base import Architecture, Network, need_one_output
from separatrix.learners.maxpool import max_over_patches
from separatrix.rules import Choice, Real, Whole, enforce, parameter


class ConvPoolNet(Network):
    """Equation 1 of Brutzkus & Globerson: N(x) = sum_i a_i max_j relu(w_i . x[j]); w_i is column i of W."""

    W: Float[Array, "d k"]
    a: Float[Array, " k"]

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W",), ("a",))

    def features(self, x: Float[Array, "points n d"]) -> Float[Array, "points k"]:
        """z(x)_i = max_j relu(w_i . x[j])."""
        return max_over_patches(self.W, x)

    def __call__(self, x: Float[Array, "points n d"]) -> Float[Array, " points"]:
        return self.features(x) @ self.a


@dataclass(frozen=True)
class ConvPool(Architecture):
    """Convolution with filters that do not overlap, ReLU, max-pooling, a linear layer; k = ``channels``.

    ``initialisation``: ``uniform`` in +-1/sqrt(fan-in) for both layers (the usual one), or the paper's ``sphere``:
    each w_i uniform on the sphere of ``radius`` r and each a_i = +-1.
    """

    channels: int = parameter(500, Whole(1))
    initialisation: str = parameter("uniform", Choice("uniform", "sphere"))
    radius: float = parameter(1e-3, Real(above=0), traced=True)

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> ConvPoolNet:
        need_one_output(self, output_shape)
        if len(input_shape) != 2:
            raise InputError(f"ConvPool needs inputs of n patches in R^d, got the shape {input_shape}")
        d = input_shape[1]
        W_key, a_key = jax.random.split(key)
        if self.initialisation == "uniform":
            a = _uniform(a_key, (self.channels,), self.channels)
            return ConvPoolNet(_uniform(W_key, (d, self.channels), d), a)
        W = jax.random.normal(W_key, (d, self.channels))
        W = self.radius * W / jnp.linalg.norm(W, axis=0)
        return ConvPoolNet(W, jax.random.rademacher(a_key, (self.channels,), dtype=W.dtype))


class MLPNet(Network):
    """Dense layers with biases and an activation between them; inputs are flattened."""

    weights: list[Float[Array, "_fan_out _fan_in"]]
    biases: list[Float[Array, " _fan_out"]]
    activation: str = eqx.field(static=True)
    output_shape: tuple[int, ...] = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return tuple((f"weights.{layer}", f"biases.{layer}") for layer in range(len(self.weights)))

    def __call__(self, x: Float[Array, points * input]) -> Float[Array, points * outputs]:
        h = x.reshape(len(x), -1)
        for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            h = ACTIVATIONS[self.activation](h @ W.T + b)
        return (h @ self.weights[-1].T + self.biases[-1]).reshape(len(x), *self.output_shape)


@dataclass(frozen=True)
class MLP(Architecture):
    """A fully connected network with layers of ``hidden`` units, uniform in +-1/sqrt(fan-in) at the start.

    ``MLP.matching(other)`` has one hidden layer, as wide as gives the number of parameters of ``other``
    on the same task, as the baseline of Brutzkus & Globerson has.
    """

    hidden: tuple[int, ...] = (100,)
    activation: str = parameter("relu", Choice(*ACTIVATIONS))
    like: Architecture | None = None

    def __post_init__(self) -> None:
        enforce(self)
        object.__setattr__(self, "hidden", tuple(Whole(1).accept("hidden", width) for width in self.hidden))

    @classmethod
    def matching(cls, other: Architecture, activation: str = "relu") -> MLP:
        return cls((), activation, other)

    def widths(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> tuple[int, ...]:
        if self.like is None:
            return self.hidden
        inputs, outputs = math.prod(input_shape), math.prod(output_shape)
        target = self.like.parameter_count(input_shape, output_shape)
        return (max(1, round((target - outputs) / (inputs + 1 + outputs))),)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> MLPNet:
        sizes = (
            math.prod(input_shape),
            *self.widths(input_shape, output_shape),
            math.prod(output_shape),
        )
        weights, biases = [], []
        for layer, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
            W_key, b_key = jax.random.split(jax.random.fold_in(key, layer))
            weights.append(_uniform(W_key, (fan_out, fan_in), fan_in))
            biases.append(_uniform(b_key, (fan_out,), fan_in))
        return MLPNet(weights, biases, self.activation, output_shape)


def _uniform(key: PRNGKeyArray, shape: Sequence[int], fan_in: int) -> Array:
    limit = 1 / math.sqrt(fan_in)
    return jax.random.uniform(key, tuple(shape), minval=-limit, maxval=limit)
