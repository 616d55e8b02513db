"""max_j relu(w_i . x[j]) with a gradient that touches the winning patch alone."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def max_over_patches(x: Float[Array, "points n d"], W: Float[Array, "k d"]) -> Float[Array, "points k"]:
    """The pooled response of every filter to every point."""
    return jax.nn.relu(jnp.einsum("pnd,kd->pnk", x, W).max(axis=1))
