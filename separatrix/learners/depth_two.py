"""The networks of depth two on bits of Malach & Shalev-Shwartz: fully connected, convolutional, locally connected."""

from __future__ import annotations

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.activations import ACTIVATIONS
from separatrix.learners.base import Architecture, Network, need_one_output
from separatrix.rules import Choice, Whole, enforce, parameter


class FCNNet(Network):
    """Definition 2 of Malach & Shalev-Shwartz: h(x) = sum_i u_i sigma(<w_i, x> + b_i)."""

    w: Float[Array, "q n"]
    b: Float[Array, " q"]
    u: Float[Array, " q"]
    activation: str = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("w", "b"), ("u",))

    def __call__(self, x: Float[Array, "points n"]) -> Float[Array, " points"]:
        return ACTIVATIONS[self.activation](x @ self.w.T + self.b) @ self.u


class CNNNet(Network):
    """Definition 1: h(x) = sum_j <u^(j), sigma(W x_{j..j+k-1} + b)>, over the n - k + 1 windows."""

    W: Float[Array, "q k"]
    b: Float[Array, " q"]
    u: Float[Array, "windows q"]
    activation: str = eqx.field(static=True)
    bias_trained: bool = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W", "b"), ("u",))

    @property
    def frozen(self) -> tuple[str, ...]:
        return () if self.bias_trained else ("b",)

    def __call__(self, x: Float[Array, "points n"]) -> Float[Array, " points"]:
        hidden = ACTIVATIONS[self.activation](windows(x, self.W.shape[1]) @ self.W.T + self.b)
        return jnp.einsum("pjq,jq->p", hidden, self.u)


class LCNNet(Network):
    """Definition 11, a CNN whose windows do not share weights: sum_j <u^(j), sigma(W^(j) x_{j..} + b^(j))>."""

    W: Float[Array, "windows q k"]
    b: Float[Array, "windows q"]
    u: Float[Array, "windows q"]
    activation: str = eqx.field(static=True)
    bias_trained: bool = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W", "b"), ("u",))

    @property
    def frozen(self) -> tuple[str, ...]:
        return () if self.bias_trained else ("b",)

    def __call__(self, x: Float[Array, "points n"]) -> Float[Array, " points"]:
        z = jnp.einsum("pjk,jqk->pjq", windows(x, self.W.shape[2]), self.W) + self.b
        return jnp.einsum("pjq,jq->p", ACTIVATIONS[self.activation](z), self.u)


def windows(x: Float[Array, "points n"], k: int) -> Float[Array, "points windows k"]:
    """x_{j..j+k-1} for j = 1..n-k+1 (the last window too: see the paper's erratum)."""
    count = x.shape[1] - k + 1
    return x[:, jnp.arange(count)[:, None] + jnp.arange(k)]


INITIALISATIONS = ("gaussian", "paper", "bounded")


@dataclass(frozen=True)
class FCN(Architecture):
    """The fully connected network of depth two (Definition 2) with ``q`` neurons.

    ``initialisation``: ``gaussian``, w ~ N(0, 1/n) and u ~ N(0, 1/q), biases 0; ``bounded``, the same with every
    u_i = +-1/q, so that |h| <= max |sigma| (Theorem 12); or ``paper``, the analogue of the CNN's: w uniform in {+-1/n},
    b = 1/n - 1, u = 0. All are invariant to the bits' order.
    """

    q: int = parameter(64, Whole(1))
    activation: str = parameter("relu", Choice(*ACTIVATIONS))
    initialisation: str = parameter("gaussian", Choice(*INITIALISATIONS))

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> FCNNet:
        need_one_output(self, output_shape)
        n = _need_bits(self, input_shape)
        W, b, u = _depth_two(key, (self.q, n), (self.q,), (self.q,), self.initialisation)
        return FCNNet(W, b, u, self.activation)


@dataclass(frozen=True)
class CNN(Architecture):
    """The convolutional network of depth two (Definition 1): ``q`` filters of ``k`` bits, stride 1.

    ``initialisation``: ``gaussian``, W ~ N(0, 1/k), u ~ N(0, 1/(q windows)), b = 0; ``bounded``, the same with u in
    {+-1/(q windows)}; or ``paper`` (Theorem 4): W uniform in {+-1/k}, b = 1/k - 1 and not trained, u = 0.
    """

    q: int = parameter(64, Whole(1))
    k: int = parameter(4, Whole(1))
    activation: str = parameter("relu", Choice(*ACTIVATIONS))
    initialisation: str = parameter("gaussian", Choice(*INITIALISATIONS))

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> CNNNet:
        count = _window_count(self, input_shape, output_shape, self.k)
        W, b, u = _depth_two(key, (self.q, self.k), (self.q,), (count, self.q), self.initialisation)
        return CNNNet(W, b, u, self.activation, self.initialisation != "paper")


@dataclass(frozen=True)
class LCN(Architecture):
    """The locally connected network of depth two (Definition 11): ``q`` filters of ``k`` bits a window."""

    q: int = parameter(64, Whole(1))
    k: int = parameter(4, Whole(1))
    activation: str = parameter("relu", Choice(*ACTIVATIONS))
    initialisation: str = parameter("gaussian", Choice(*INITIALISATIONS))

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> LCNNet:
        count = _window_count(self, input_shape, output_shape, self.k)
        shapes = (count, self.q, self.k), (count, self.q), (count, self.q)
        W, b, u = _depth_two(key, *shapes, self.initialisation)
        return LCNNet(W, b, u, self.activation, self.initialisation != "paper")


def _depth_two(
    key: PRNGKeyArray,
    W_shape: tuple[int, ...],
    b_shape: tuple[int, ...],
    u_shape: tuple[int, ...],
    initialisation: str,
) -> tuple[Array, Array, Array]:
    W_key, u_key = jax.random.split(key)
    fan_in = W_shape[-1]
    if initialisation == "paper":
        W = jax.random.rademacher(W_key, W_shape, dtype=float) / fan_in
        return W, jnp.full(b_shape, 1 / fan_in - 1), jnp.zeros(u_shape)
    W = jax.random.normal(W_key, W_shape) / math.sqrt(fan_in)
    if initialisation == "bounded":
        return W, jnp.zeros(b_shape), jax.random.rademacher(u_key, u_shape, dtype=float) / math.prod(u_shape)
    return W, jnp.zeros(b_shape), jax.random.normal(u_key, u_shape) / math.sqrt(math.prod(u_shape))


def _need_bits(architecture: Architecture, input_shape: tuple[int, ...]) -> int:
    if len(input_shape) != 1:
        raise InputError(f"{architecture.label} needs inputs of n bits, got the shape {input_shape}")
    return input_shape[0]


def _window_count(
    architecture: Architecture, input_shape: tuple[int, ...], output_shape: tuple[int, ...], k: int
) -> int:
    need_one_output(architecture, output_shape)
    n = _need_bits(architecture, input_shape)
    if k > n:
        raise InputError(f"{architecture.label}'s k must be at most n = {n}, got {k}")
    return n - k + 1
