"""Networks on strips: images that windows of the strip's height slide along (Malach & Shalev-Shwartz, section 6).

A window is ``width`` columns, that is width * height numbers that lie side by side once the strip is read column by
column; so a window is a piece of a vector, and one every ``stride`` columns is a row of a matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.activations import ACTIVATIONS
from separatrix.learners.base import Architecture, Network
from separatrix.rules import Choice, Whole, enforce, parameter


class StripNet(Network):
    """h(x) = sum_j <u^(j), sigma(W^(j) x[j] + b^(j))> + c over the windows x[j]; W^(j) = W where weights are shared."""

    W: Float[Array, "*window k q"]
    b: Float[Array, "*window q"]
    u: Float[Array, "windows q"]
    c: Float[Array, ""]
    activation: str = eqx.field(static=True)
    stride: int = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W", "b"), ("u", "c"))

    def __call__(self, x: Float[Array, "points height columns"]) -> Float[Array, " points"]:
        pieces = strip_windows(x, self.W.shape[-2] // x.shape[1], self.stride)
        rule = "jpk,kq->jpq" if self.W.ndim == 2 else "jpk,jkq->jpq"
        z = jnp.einsum(rule, pieces, self.W) + self.b.reshape(-1, 1, self.b.shape[-1])
        hidden = ACTIVATIONS[self.activation](z)
        return jnp.einsum("jpq,jq->p", hidden, self.u) + self.c


def strip_windows(
    x: Float[Array, "points height columns"], width: int, stride: int
) -> Float[Array, "windows points k"]:
    """Windows of ``width`` columns, one every ``stride`` columns, read column by column."""
    points, height, columns = x.shape
    count = (columns - width) // stride + 1
    vectors = jnp.moveaxis(x, 2, 0)  # columns, points, height
    shifted = [vectors[i : i + (count - 1) * stride + 1 : stride] for i in range(width)]
    return jnp.stack(shifted, axis=2).reshape(count, points, width * height)


@dataclass(frozen=True)
class _Sizes:
    windows: int
    k: int


@dataclass(frozen=True)
class StripCNN(Architecture):
    """One hidden layer of ``q`` filters of the strip's height and ``width`` columns, every ``stride`` columns.

    Each window has a readout of its own, as in Definition 1. Uniform in +-1/sqrt(fan-in) at the start, biases too.
    """

    q: int = parameter(1024, Whole(1))
    width: int = parameter(24, Whole(1))
    stride: int = parameter(8, Whole(1))
    activation: str = parameter("relu", Choice(*ACTIVATIONS))

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> StripNet:
        sizes = _sizes(self, input_shape, output_shape, self.width, self.stride)
        return _strip_net(key, (), sizes, self.q, self.activation, self.stride)


@dataclass(frozen=True)
class StripLCN(Architecture):
    """The same without shared weights (Definition 11): ``q`` filters for each window."""

    q: int = parameter(1024, Whole(1))
    width: int = parameter(24, Whole(1))
    stride: int = parameter(8, Whole(1))
    activation: str = parameter("relu", Choice(*ACTIVATIONS))

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> StripNet:
        sizes = _sizes(self, input_shape, output_shape, self.width, self.stride)
        return _strip_net(key, (sizes.windows,), sizes, self.q, self.activation, self.stride)


def _sizes(
    architecture: Architecture, input_shape: tuple[int, ...], output_shape: tuple[int, ...], width: int, stride: int
) -> _Sizes:
    if output_shape != () or len(input_shape) != 2:
        raise InputError(
            f"{architecture.label} takes strips (height, columns) to one output, got {input_shape} to {output_shape}"
        )
    height, columns = input_shape
    if width > columns:
        raise InputError(f"{architecture.label}'s width must be at most the strip's {columns} columns, got {width}")
    return _Sizes((columns - width) // stride + 1, width * height)


def _strip_net(
    key: PRNGKeyArray, shared: tuple[int, ...], sizes: _Sizes, q: int, activation: str, stride: int
) -> StripNet:
    """``shared`` is the leading shape of the first layer: nothing where windows share it."""
    W_key, b_key, u_key, c_key = jax.random.split(key, 4)

    def uniform(key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Array:
        return jax.random.uniform(key, shape, minval=-1, maxval=1) / math.sqrt(fan_in)

    fan_out = sizes.windows * q
    return StripNet(
        uniform(W_key, (*shared, sizes.k, q), sizes.k),
        uniform(b_key, (*shared, q), sizes.k),
        uniform(u_key, (sizes.windows, q), fan_out),
        uniform(c_key, (), fan_out),
        activation,
        stride,
    )
