"""The networks of the papers, each as its paper writes it, with a leading axis of points.

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
from separatrix.learners.base import Architecture, Network
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
        _need_binary(self, output_shape)
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
        _need_binary(self, output_shape)
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


def _uniform(key: PRNGKeyArray, shape: Sequence[int], fan_in: int) -> Array:
    limit = 1 / math.sqrt(fan_in)
    return jax.random.uniform(key, tuple(shape), minval=-limit, maxval=limit)


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


def _need_binary(architecture: Architecture, output_shape: tuple[int, ...]) -> None:
    if output_shape != ():
        raise InputError(f"{architecture.label} has one output, the task wants the shape {output_shape}")


def _need_bits(architecture: Architecture, input_shape: tuple[int, ...]) -> int:
    if len(input_shape) != 1:
        raise InputError(f"{architecture.label} needs inputs of n bits, got the shape {input_shape}")
    return input_shape[0]


def _window_count(
    architecture: Architecture, input_shape: tuple[int, ...], output_shape: tuple[int, ...], k: int
) -> int:
    _need_binary(architecture, output_shape)
    n = _need_bits(architecture, input_shape)
    if k > n:
        raise InputError(f"{architecture.label}'s k must be at most n = {n}, got {k}")
    return n - k + 1
