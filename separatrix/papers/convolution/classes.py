"""A convolutional network of any width, as the few neurons that its initialisation can tell apart.

Theorem 4 starts with w_i uniform in {+-1/k}^k, b_i = 1/k - 1 and u = 0, so all neurons with the same signs z start
alike, have the same gradients and stay alike: q neurons are 2^k *classes* of N_z neurons each. With v_z = sqrt(N_z) u_z
and D_z = sqrt(N_z) (w_z - w_z^(0)) as the parameters,

    h(x) = sum_j sum_z sqrt(N_z) v_z^(j) sigma(<w_z^(0) + D_z / sqrt(N_z), x_{j..j+k-1}> + b)

gradient descent at the same step size is the network's own, step by step, and ||v^(j)||, ||D|| are its ||u^(j)||,
||W - W^(0)|| (Frobenius). So population descent costs the same at q = 10^12 as at 10. In the locally connected net each
window has classes of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.learners import CNN, LCN, Architecture, Network
from separatrix.learners.activations import ACTIVATIONS
from separatrix.learners.depth_two import windows
from separatrix.rules import Choice, Whole, enforce, parameter
from separatrix.tasks.bits import hypercube

DRAWN_UP_TO = 1 << 16
"""Up to this many weights the classes are counted in the network that a seed draws; above, their numbers are drawn."""


class ClassNet(Network):
    """v and D are trained; ``counts`` (a row for all windows, or one each) and ``signs`` are what the draw left."""

    D: Float[Array, "layers classes k"]
    v: Float[Array, "windows classes"]
    counts: Float[Array, "layers classes"]
    signs: Float[Array, "classes k"]
    activation: str = eqx.field(static=True)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        return (("D",), ("v",))

    @property
    def frozen(self) -> tuple[str, ...]:
        return ("counts", "signs")

    def __call__(self, x: Float[Array, "points n"]) -> Float[Array, " points"]:
        k = self.signs.shape[1]
        root = jnp.sqrt(self.counts)
        w = self.signs / k + self.D / jnp.maximum(root, 1)[:, :, None]
        w = jnp.broadcast_to(w, (self.v.shape[0], *w.shape[1:]))
        z = jnp.einsum("pjk,jck->pjc", windows(x, k), w) + (1 / k - 1)
        return jnp.einsum("pjc,jc->p", ACTIVATIONS[self.activation](z), root * self.v)


@dataclass(frozen=True)
class Classes(Architecture):
    """The CNN (or, not ``shared``, the LCN) of Theorem 4 with ``q`` filters of ``k`` bits, as 2^k classes."""

    q: int = parameter(64, Whole(1))
    k: int = parameter(4, Whole(1, 12))
    activation: str = parameter("relu", Choice(*ACTIVATIONS))
    shared: bool = True

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> ClassNet:
        (n,) = input_shape
        places = n - self.k + 1
        layers = 1 if self.shared else places
        signs = jnp.asarray(hypercube(self.k))
        counts = self._counts(key, input_shape, output_shape, layers)
        D = jnp.zeros((layers, 2**self.k, self.k))
        return ClassNet(D, jnp.zeros((places, 2**self.k)), counts, signs, self.activation)

    def _counts(
        self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...], layers: int
    ) -> Float[Array, "layers classes"]:
        """N_z of the network that the same seed draws, or numbers of the same law where it would be large."""
        if layers * self.q * self.k > DRAWN_UP_TO:
            law = jnp.full((layers, 2**self.k), 0.5**self.k)
            return jax.random.multinomial(key, jnp.asarray(float(self.q)), law, shape=law.shape)
        kind = CNN if self.shared else LCN
        drawn = kind(self.q, self.k, self.activation, "paper").build(key, input_shape, output_shape)
        place = jnp.asarray(2 ** np.arange(self.k - 1, -1, -1))
        numbers = ((drawn.W < 0) @ place).reshape(layers, self.q)
        return jax.nn.one_hot(numbers, 2**self.k, dtype=float).sum(axis=1)
