"""The three-layer ResNet of Allen-Zhu & Li and the networks that it is compared with."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.learners.base import Architecture
from separatrix.learners.network import Network
from separatrix.rules import Choice, Whole, enforce, parameter

NETS = ("3resnet", "3layer", "2layer")


class TwoLayerNet(Network):
    """out(x) = A relu(W x + b1)."""

    W: Float[Array, "m d"]
    b1: Float[Array, " m"]
    A: Float[Array, "k m"]
    output_shape: tuple[int, ...] = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W", "b1"), ("A",))

    def features(self, x: Float[Array, points * input]) -> Float[Array, "points m"]:
        return jax.nn.relu(x.reshape(len(x), -1) @ self.W.T + self.b1)

    def __call__(self, x: Float[Array, points * input]) -> Float[Array, points * outputs]:
        return (self.features(x) @ self.A.T).reshape(len(x), *self.output_shape)


class ThreeLayerNet(Network):
    """Equation (2.1): out(x) = A (h + relu(U h + b2)), h = relu(W x + b1); the h in the sum is the skip.

    With ``bottleneck`` U = V A (section 6), so that the second layer sees the outputs out1 = A h alone, through V;
    otherwise U is a free m x m matrix, and ``V`` holds it. ``inner``, if there is one, is the A of V A, left alone.
    """

    W: Float[Array, "m d"]
    b1: Float[Array, " m"]
    V: Float[Array, "m _inner"]
    b2: Float[Array, " m"]
    A: Float[Array, "k m"]
    inner: Float[Array, "k m"] | None
    skip: bool = eqx.field(static=True)
    bottleneck: bool = eqx.field(static=True)
    output_shape: tuple[int, ...] = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("W", "b1"), ("V", "b2"), ("A",))

    @property
    def frozen(self) -> tuple[str, ...]:
        return ("inner",)

    def untied(self) -> ThreeLayerNet:
        """U = V A keeps the A of the start."""
        return dataclasses.replace(self, inner=self.A if self.bottleneck else None)

    def features(self, x: Float[Array, points * input]) -> Float[Array, "points m"]:
        """What the last layer sees: h + g with the skip, g without, g = relu(U h + b2)."""
        h = jax.nn.relu(x.reshape(len(x), -1) @ self.W.T + self.b1)
        below = h @ (self.A if self.inner is None else self.inner).T if self.bottleneck else h
        g = jax.nn.relu(below @ self.V.T + self.b2)
        return h + g if self.skip else g

    def __call__(self, x: Float[Array, points * input]) -> Float[Array, points * outputs]:
        return (self.features(x) @ self.A.T).reshape(len(x), *self.output_shape)


@dataclass(frozen=True)
class ReLUNet(Architecture):
    """``kind``: ``3resnet`` (with the skip), ``3layer`` or ``2layer`` (fully connected), of ``width`` m.

    ``bottleneck``: U = V A, for a network of three layers; None is the paper's choice, with it for the ResNet and
    without for the fully connected one. Every entry of W, V (or U), A and of b1, b2 starts as N(0, 1/m): section 8.1
    prints N(1, 1/m), with which the output would be of the order of m^(3/2).
    """

    kind: str = parameter("3resnet", Choice(*NETS))
    width: int = parameter(100, Whole(1))
    bottleneck: bool | None = None

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def narrow(self) -> bool:
        """Whether U = V A."""
        return self.kind == "3resnet" if self.bottleneck is None else self.bottleneck

    @property
    def label(self) -> str:
        return self.kind

    def build(
        self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]
    ) -> TwoLayerNet | ThreeLayerNet:
        m, d, k = self.width, math.prod(input_shape), math.prod(output_shape)
        shapes = {"W": (m, d), "b1": (m,), "V": (m, k if self.narrow else m), "b2": (m,), "A": (k, m)}
        if self.kind == "2layer":
            shapes = {name: shapes[name] for name in ("W", "b1", "A")}
        made = _gaussian(key, shapes, m)
        if self.kind == "2layer":
            return TwoLayerNet(made["W"], made["b1"], made["A"], output_shape)
        return ThreeLayerNet(
            **made, inner=None, skip=self.kind == "3resnet", bottleneck=self.narrow, output_shape=output_shape
        )


def _gaussian(key: PRNGKeyArray, shapes: Mapping[str, tuple[int, ...]], m: int) -> dict[str, Array]:
    """Arrays of N(0, 1/m), drawn at once: quicker to compile than one by one."""
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    drawn = jax.random.normal(key, (sum(sizes.values()),)) / math.sqrt(m)
    ends = dict(zip(sizes, itertools.accumulate(sizes.values()), strict=True))
    return {name: drawn[ends[name] - sizes[name] : ends[name]].reshape(shape) for name, shape in shapes.items()}
