"""max_j relu(w_i . x[j]) with a gradient that touches the winning patch alone.

Two choices here are measured (``bench/``): filters are columns, so that the product and its transpose both run at
the machine's matmul rate, and value and place of the maximum are reduced together, three times as fast as
automatic differentiation of the maximum.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

Scores = Float[Array, "points k"]


def _winners(W: Float[Array, "d k"], x: Float[Array, "points n d"]) -> tuple[Scores, Int[Array, "points k"]]:
    """The pooled responses and which patch won; -1 where no response is positive."""
    scores = jnp.einsum("pnd,dk->pnk", x, W)
    patch = lax.broadcasted_iota(jnp.int32, scores.shape, 1)

    def better(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
        (v, i), (w, j) = left, right
        # the lowest index wins ties, whatever the order of the reduction; a NaN wins over all, so that it shows
        take = (w > v) | ((w == v) & (j < i)) | (w != w)
        return jnp.where(take, w, v), jnp.where(take, j, i)

    # a reduction may leave out its start (XLA does for a single patch), so this one is neutral and the ReLU comes after
    start = jnp.array(-jnp.inf, scores.dtype), jnp.array(-1, jnp.int32)
    best, winner = lax.optimization_barrier(lax.reduce((scores, patch), start, better, (1,)))
    silent = best <= 0
    return jnp.where(silent, 0, best), jnp.where(silent, -1, winner)


@jax.custom_vjp
def max_over_patches(W: Float[Array, "d k"], x: Float[Array, "points n d"]) -> Scores:
    """max_j relu(w_i . x[j]) for the columns w_i of W; not differentiable in x."""
    return _winners(W, x)[0]


def _forward(W: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    best, winner = _winners(W, x)
    return best, (winner, x)


def _backward(residuals: tuple[Array, Array], cotangent: Array) -> tuple[Array, None]:
    """dL/dw_i = sum over points of dL/dz_i times the winning patch, if any won."""
    winner, x = residuals
    cotangent = lax.optimization_barrier(cotangent)  # else it is computed again for every patch
    patch = lax.broadcasted_iota(jnp.int32, (1, x.shape[1], 1), 1)
    at_winner = jnp.where(winner[:, None] == patch, cotangent[:, None], 0)
    return jnp.einsum("pnk,pnd->dk", at_winner, x), None


max_over_patches.defvjp(_forward, _backward)
