r"""The empirical neural tangent kernel, sum over all parameters p of (df(x)/dp) (df(z)/dp), without the Jacobian.

Layer by layer, where a parameter enters as z = W h or z + b once in the forward pass (:mod:`.taps`):

    Theta(x, x') = sum over layers of (delta . delta') (h . h') + (delta . delta')

elementwise over the pairs of points; a convolution has such a sum over its windows. Every other parameter is taken by
its gradients, in blocks of points whose Jacobian fits a fixed room.

With k outputs there are two readings: the mean of their kernels (n x n), and the ``joint`` kernel of all outputs at all
points, (k n) x (k n), whose ridge regression is that of the network linearised at its start. They differ by terms that
vanish as the width grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from separatrix.learners.base import Architecture, Network, trained_part
from separatrix.learners.kernels.arithmetic import Array, flat, float64
from separatrix.learners.kernels.base import Kernel
from separatrix.learners.kernels.taps import Tapped
from separatrix.learners.parts import part_of
from separatrix.rules import Choice, enforce, parameter
from separatrix.tasks import stream

ROOM = 2**28
"""Bytes that a block of gradients may take."""


@dataclass(frozen=True)
class EmpiricalNTK(Kernel):
    """The tangent kernel of a network at its start: the one that the seed's own network would start from.

    ``outputs`` is the shape of what it puts out, and the kernel the mean over these. ``train``: over all parameters,
    or those of the hidden layers, or of the ``last`` alone, which makes it the conjugate kernel h(x) . h(x') of the
    last layer's inputs h (plus 1 where it has a bias).
    """

    architecture: Architecture
    outputs: tuple[int, ...] = ()
    train: str = parameter("all", Choice("all", "hidden", "last"), added=True)

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        name = self.architecture.label
        if self.train == "last":
            return f"conjugate kernel of {name}"
        return f"NTK of {name}" if self.train == "all" else f"NTK of {name} ({self.train})"

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        eqx.filter_eval_shape(self._start, jax.random.key(0), input_shape)

    def _start(self, key: Any, input_shape: tuple[int, ...]) -> Network:
        return part_of(self.architecture.build(key, input_shape, self.outputs), self.train)

    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        with jax.enable_x64(False):  # drawn as training draws it
            network = self._start(stream(seed, "initialise"), tuple(x.shape[1:]))
        found = empirical_ntk(network, x, None if z is x else z)
        return found if jax.default_backend() != "cpu" else np.asarray(found)


def empirical_ntk(
    network: Any, x: Array, z: Array | None = None, *, joint: bool = False, layerwise: bool = True
) -> Array:
    """Theta(x_i, z_j) of a :class:`Network` (called with a batch) or any Equinox module (called with one point).

    ``joint``: of every output with every output, the outputs of a point next to each other; otherwise the mean over
    the outputs. ``layerwise=False`` takes every parameter by its gradients.
    """
    with float64():
        arrays, rest = eqx.partition(doubled(network), eqx.is_inexact_array)
        trained = trained_part(network) if isinstance(network, Network) else arrays
        moving = jax.tree.map(lambda a, t: t is not None, arrays, trained, is_leaf=lambda a: a is None)
        free, fixed = eqx.partition(arrays, moving)
        leaves, structure = jax.tree.flatten(free)

        def forward(leaves: list[Any], point: Any) -> Any:
            made = eqx.combine(jax.tree.unflatten(structure, leaves), fixed, rest)
            out = made(point[None])[0] if isinstance(network, Network) else made(point)
            return jnp.ravel(out)

        points = jnp.asarray(x, jnp.float64)
        others = points if z is None else jnp.asarray(z, jnp.float64)
        tapped = Tapped(forward, leaves, points[0])
        loose = tapped.loose if layerwise else list(range(len(leaves)))
        total = 0.0
        if layerwise and tapped.used:
            total = total + _by_layers(tapped, leaves, points, None if z is None else others, joint)
        if loose:
            total = total + _by_blocks(forward, leaves, loose, points, others, joint)
        return total if joint else total / jax.eval_shape(forward, leaves, points[0]).shape[0]


def doubled(network: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf, network)


def _by_layers(tapped: Tapped, leaves: list[Any], x: Array, z: Array | None, joint: bool) -> Array:
    """The sum over the taps, whose h and delta are kept for all points: as many numbers as the network has units."""

    def parts(leaves: list[Any], point: Array) -> list[tuple[Any, Any]]:
        """h and delta at every used tap, delta with the outputs along its first axis."""
        held: list[Any] = []

        def output(added: list[Any]) -> tuple[Any, list[Any]]:
            out, taps = tapped.run(leaves, point, added)
            held[:] = taps
            return out, [taps[i].h for i in tapped.used]

        deltas, hs = jax.jacrev(output, has_aux=True)(tapped.zeros())
        return [
            (h, tap.factor * jax.vmap(tap.arrange)(deltas[i]))
            for i, h, tap in zip(tapped.used, hs, [held[i] for i in tapped.used], strict=True)
        ]

    @jax.jit
    def total(leaves: list[Any], x: Array, z: Array | None) -> Array:
        def of_points(points: Array) -> list[tuple[Any, Any]]:
            found = jax.vmap(parts, in_axes=(None, 0))(leaves, points)
            return [_apart(*tap) for tap in found] if joint else found

        left = of_points(x)
        right = left if z is None else of_points(z)
        return sum(_pairs(*own, *other) for own, other in zip(left, right, strict=True))

    return total(leaves, x, z)


def _apart(h: Array | None, delta: Array) -> tuple[Array | None, Array]:
    """Every output of a point as a point of its own."""
    outputs = delta.shape[1]
    return None if h is None else jnp.repeat(h, outputs, axis=0), delta.reshape(-1, 1, *delta.shape[2:])


def _pairs(h: Array | None, delta: Array, other_h: Array | None, other_delta: Array) -> Array:
    """sum over outputs of <gradient, gradient'> at every pair, from h (points, batch, free, contracted) and delta
    (points, outputs, batch, free, units); a bias has no h, and delta (points, outputs, units).
    """
    if h is None or other_h is None:
        return flat(delta) @ flat(other_delta).T
    if h.shape[1] == h.shape[2] == 1:
        return (flat(h) @ flat(other_h).T) * (flat(delta) @ flat(other_delta).T)
    batch, free, units = delta.shape[2:]
    if batch * free * free > units * h.shape[3] * batch:  # many windows of few numbers: the gradients are shorter
        gradient = jnp.einsum("mobfu,mbfc->mobuc", delta, h)
        other = gradient if other_h is h else jnp.einsum("mobfu,mbfc->mobuc", other_delta, other_h)
        return flat(gradient) @ flat(other).T
    total = jnp.zeros((len(h), len(other_h)))
    for b in range(batch):
        for f in range(free):
            for g in range(free):
                near = h[:, b, f] @ other_h[:, b, g].T
                total = total + near * (flat(delta[:, :, b, f]) @ flat(other_delta[:, :, b, g]).T)
    return total


def _by_blocks(
    forward: Callable[[list[Any], Any], Any],
    leaves: list[Any],
    loose: Sequence[int],
    x: Array,
    z: Array,
    joint: bool,
) -> Array:
    """The same from gradients, in blocks of points whose Jacobian fits the room."""

    def gradients(leaves: list[Any], point: Array) -> Array:
        def of(some: list[Any]) -> Any:
            every = list(leaves)
            for i, leaf in zip(loose, some, strict=True):
                every[i] = leaf
            return forward(every, point)

        found = jax.jacrev(of)([leaves[i] for i in loose])
        return jnp.concatenate([leaf.reshape(leaf.shape[0], -1) for leaf in found], axis=1)

    shape = jax.eval_shape(gradients, leaves, x[0]).shape

    @jax.jit
    def product(leaves: list[Any], a: Array, b: Array) -> Array:
        def of_points(points: Array) -> Array:
            found = jax.vmap(gradients, in_axes=(None, 0))(leaves, points)
            return found.reshape(-1, shape[1]) if joint else flat(found)

        return of_points(a) @ of_points(b).T

    numbers = int(np.prod(shape))
    size = max(1, ROOM // (8 * numbers))
    rows = [
        jnp.concatenate([product(leaves, x[i : i + size], z[j : j + size]) for j in range(0, len(z), size)], axis=1)
        for i in range(0, len(x), size)
    ]
    return jnp.concatenate(rows)
