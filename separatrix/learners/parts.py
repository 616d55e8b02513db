"""One option for every network: train all of it, its hidden layers, its last layer, or its linearisation."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from separatrix.errors import InputError
from separatrix.learners.network import Network, trained_part

PARTS = ("all", "hidden", "last", "ntk")


def part_of(network: Network, train: str) -> Network:
    """The network of which training moves only the part ``train``; the function is the same (but for ``ntk``).

    ``all``: every trained array. ``hidden``: all but the last layer's, which keep their random start. ``last``: those
    of the last layer alone, on the features as they are at the start (the conjugate kernel; see ``Network.untied``).
    ``ntk``: all, in the network linearised at its start, which is regression with the neural tangent kernel.
    """
    if train == "all":
        return network
    if train == "ntk":
        start = trained_part(network)
        return Linearised(jax.tree.map(_like_zero, start), network)
    if len(network.layers) < 2:
        raise InputError(f"train={train!r} needs a network that names two layers or more")
    *hidden, last = network.layers
    if train == "last":
        network = network.untied()
    fixed = last if train == "hidden" else tuple(name for layer in hidden for name in layer)
    return PartTrained(network, tuple(dict.fromkeys((*network.frozen, *fixed))))


def _like_zero(leaf: Any) -> Any:
    return jnp.zeros(leaf.shape, leaf.dtype)


class PartTrained(Network):
    """A network of which some arrays keep their start."""

    network: Network
    fixed: tuple[str, ...] = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(f"network.{name}" for name in layer) for layer in self.network.layers)

    @property
    def frozen(self) -> tuple[str, ...]:
        return tuple(f"network.{name}" for name in self.fixed)

    def __call__(self, x: Float[Array, points * input]) -> Float[Array, points * outputs]:
        return self.network(x)


class Linearised(Network):
    """f(x; theta_0) + <d/dtheta f(x; theta_0), displacement>, linear in the displacement, which starts at zero.

    Weight decay acts on the displacement, so that gradient descent with decay c on a mean squared loss over N examples
    tends to ridge regression with the tangent kernel and the ridge N c / 2.
    """

    displacement: Network
    start: Network

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(f"displacement.{name}" for name in layer) for layer in self.start.layers)

    @property
    def frozen(self) -> tuple[str, ...]:
        return ("start",)

    def __call__(self, x: Float[Array, points * input]) -> Float[Array, points * outputs]:
        moving = trained_part(self.start)
        still = eqx.filter(self.start, lambda leaf: not eqx.is_inexact_array(leaf))
        held = jax.tree.map(
            lambda whole, moved: whole if moved is None else None, self.start, moving, is_leaf=lambda leaf: leaf is None
        )

        def at(theta: Network) -> Array:
            network: Network = eqx.combine(theta, held, still)
            return network(x)

        value, change = jax.jvp(at, (moving,), (self.displacement,))
        return value + change
