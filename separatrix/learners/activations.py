"""Activations by name. The derivative is 0 at every kink, as in ``separatrix.theory.activations``, which has the exact
(rational) counterparts that theorems use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Activation = Callable[[Float[Array, "..."]], Float[Array, "..."]]


def _clipped(low: float, high: float) -> Activation:
    """z cut to [low, high]; plain ``jnp.clip`` would have half a derivative at its ends."""

    @jax.custom_jvp
    def clipped(z: Array) -> Array:
        return jnp.clip(z, low, high)

    @clipped.defjvp
    def derivative(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
        (z,), (dz,) = primals, tangents
        inside = (z > low) & (z < high)
        return clipped(z), jnp.where(inside, dz, jnp.zeros_like(dz))

    return clipped


ACTIVATIONS: Mapping[str, Activation] = {
    "relu": jax.nn.relu,
    "relu6": _clipped(0.0, 6.0),
    "clipped_relu": _clipped(0.0, 1.0),
    "hard_tanh": _clipped(-1.0, 1.0),
    "tanh": jnp.tanh,
    "erf": jax.scipy.special.erf,
}
