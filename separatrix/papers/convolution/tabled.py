"""A convolutional network on the cube as a table for each window: the same function of x in {+-1}^n, and far cheaper.

A window of k bits shows one of 2^k patterns z, so that h(x) = sum_j A_j(x_{j..j+k-1}), A_j(z) = <u^(j), sigma(Wz + b)>:
q filters cost 2^k rows and not 2^n. Training is the network's own, to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.learners import CNN, Architecture, Network
from separatrix.learners.activations import ACTIVATIONS
from separatrix.learners.depth_two import CNNNet, windows
from separatrix.tasks.bits import hypercube


class TabledNet(Network):
    """The network's tables, looked up at every window."""

    net: CNNNet

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(f"net.{name}" for name in layer) for layer in self.net.layers)

    @property
    def frozen(self) -> tuple[str, ...]:
        return tuple(f"net.{name}" for name in self.net.frozen)

    def __call__(self, x: Float[Array, "points n"]) -> Float[Array, " points"]:
        W, b, u = self.net.W, self.net.b, self.net.u
        k = W.shape[1]
        patterns = jnp.asarray(hypercube(k), W.dtype)
        tables = ACTIVATIONS[self.net.activation](patterns @ W.T + b) @ u.T
        place = jnp.asarray(2 ** np.arange(k - 1, -1, -1))
        shown = (windows(x, k) < 0).astype(place.dtype) @ place
        return jnp.einsum("pjz,zj->p", (shown[..., None] == jnp.arange(2**k)).astype(W.dtype), tables)


@dataclass(frozen=True)
class Tabled(Architecture):
    """A CNN, for tasks whose inputs are bits in {-1, +1}."""

    architecture: CNN

    @property
    def label(self) -> str:
        return self.architecture.label

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> TabledNet:
        return TabledNet(self.architecture.build(key, input_shape, output_shape))
