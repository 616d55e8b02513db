"""A plain convolutional network on colour images, for comparisons with fully connected ones of the same depth."""

from __future__ import annotations

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.errors import InputError
from separatrix.learners.activations import ACTIVATIONS
from separatrix.learners.base import Architecture, Network
from separatrix.rules import Choice, Whole, enforce, parameter


class ImageCNNNet(Network):
    """Convolutions with an activation, some followed by max-pooling, and a linear readout of all that is left."""

    kernels: list[Float[Array, "_window _fan_out"]]
    biases: list[Float[Array, " _fan_out"]]
    readout: Float[Array, "features classes"]
    offset: Float[Array, " classes"]
    activation: str = eqx.field(static=True)
    pooled: tuple[int, ...] = eqx.field(static=True)
    output_shape: tuple[int, ...] = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        hidden = ((f"kernels.{i}", f"biases.{i}") for i in range(len(self.kernels)))
        return (*hidden, ("readout", "offset"))

    def __call__(self, x: Float[Array, "points rows columns colours"]) -> Float[Array, points * outputs]:
        for layer, (W, b) in enumerate(zip(self.kernels, self.biases, strict=True), start=1):
            x = ACTIVATIONS[self.activation](convolution(x, W) + b)
            if layer in self.pooled:
                x = halved(x)
        return (x.reshape(len(x), -1) @ self.readout + self.offset).reshape(len(x), *self.output_shape)


def convolution(
    x: Float[Array, "points rows columns channels"], W: Float[Array, "window q"]
) -> Float[Array, "points rows columns q"]:
    """W^T times the square window around each pixel, zeros beyond the edge; a window is read row by row.

    As one matrix product over shifted copies: XLA's own convolution is up to twice as fast by itself, and many times
    slower inside the loop of a compiled training (``bench/convolutions.py``).
    """
    points, rows, columns, channels = x.shape
    side = math.isqrt(W.shape[0] // channels)
    edge = side // 2
    padded = jnp.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    shifted = [padded[:, i : i + rows, j : j + columns] for i in range(side) for j in range(side)]
    windows = jnp.concatenate(shifted, axis=3).reshape(-1, W.shape[0])
    return (windows @ W).reshape(points, rows, columns, -1)


def halved(x: Float[Array, "points rows columns q"]) -> Float[Array, "points fewer_rows fewer_columns q"]:
    """The greatest of each 2 x 2 pixels; by pairs, whose gradient is far faster than that of a window's maximum."""
    x = jnp.maximum(x[:, ::2], x[:, 1::2])
    return jnp.maximum(x[:, :, ::2], x[:, :, 1::2])


@dataclass(frozen=True)
class ImageCNN(Architecture):
    """``depth`` layers: convolutions of ``width`` filters of ``side`` x ``side`` pixels at stride 1, then a readout.

    Max-pooling of 2 x 2 follows the first and the last convolution and one between them (as many of the three as there
    are). Uniform in +-1/sqrt(fan-in) at the start, biases too.
    """

    width: int = parameter(64, Whole(1))
    depth: int = parameter(4, Whole(2))
    side: int = parameter(3, Whole(1))
    activation: str = parameter("relu", Choice(*ACTIVATIONS))

    def __post_init__(self) -> None:
        enforce(self)
        if self.side % 2 == 0:
            raise InputError(f"side must be odd, got {self.side}")

    @property
    def pooled(self) -> tuple[int, ...]:
        """The convolutions that max-pooling follows.

        >>> ImageCNN(depth=2).pooled, ImageCNN(depth=4).pooled, ImageCNN(depth=6).pooled
        ((1,), (1, 2, 3), (1, 3, 5))
        """
        last = self.depth - 1
        return tuple(int(layer) for layer in np.linspace(1, last, min(3, last)))

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> ImageCNNNet:
        shrink = 2 ** len(self.pooled)
        if len(input_shape) != 3 or any(side % shrink for side in input_shape[:2]):
            raise InputError(
                f"{self.label} of depth {self.depth} takes images (rows, columns, colours) whose sides are multiples "
                f"of {shrink}, got {input_shape}"
            )
        rows, columns, colours = input_shape

        def uniform(layer: int, fan_in: int, fan_out: int) -> tuple[Array, Array]:
            W_key, b_key = jax.random.split(jax.random.fold_in(key, layer))
            limit = 1 / math.sqrt(fan_in)
            return tuple(  # type: ignore[return-value]
                jax.random.uniform(key, shape, minval=-limit, maxval=limit)
                for key, shape in ((W_key, (fan_in, fan_out)), (b_key, (fan_out,)))
            )

        fan_ins = [self.side**2 * channels for channels in (colours, *[self.width] * (self.depth - 2))]
        hidden = [uniform(layer, fan_in, self.width) for layer, fan_in in enumerate(fan_ins)]
        left = rows * columns // shrink**2 * self.width
        readout, offset = uniform(self.depth - 1, left, math.prod(output_shape))
        kernels, biases = (list(each) for each in zip(*hidden, strict=True))
        return ImageCNNNet(kernels, biases, readout, offset, self.activation, self.pooled, output_shape)
