"""The max-pool with a gradient of its own, against automatic differentiation of the plain expression."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.learners.maxpool import max_over_patches


def plain(W, x):
    return jax.nn.relu(jnp.einsum("pnd,dk->pnk", x, W)).max(axis=1)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_values_and_gradient(n):
    """A single patch too: XLA leaves out the start of a reduction over one."""
    generator = np.random.default_rng(n)
    W = jnp.asarray(generator.normal(size=(4, 6)), jnp.float32)
    W = W.at[:, 0].set([-1, 0, 0, 0])
    x = jnp.asarray(generator.normal(size=(9, n, 4)), jnp.float32)
    x = x.at[:, :, 0].set(abs(x[:, :, 0]))  # never positive for the first filter
    weights = jnp.asarray(generator.normal(size=(9, 6)), jnp.float32)
    assert not plain(W, x)[:, 0].any()
    for function in (max_over_patches, jax.jit(max_over_patches)):
        np.testing.assert_allclose(function(W, x), plain(W, x), atol=1e-5)
        found, expected = (jax.grad(lambda W, f=f: jnp.sum(weights * f(W, x)))(W) for f in (function, plain))
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_tie_goes_to_the_first_patch_and_a_response_of_zero_to_none():
    W = jnp.array([[1.0, 0.0], [1.0, 1.0]])
    x = jnp.array([[[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [[-1.0, 0.0], [-2.0, 0.0], [-1.0, 0.0]]])
    assert max_over_patches(W, x).tolist() == [[2.0, 2.0], [0.0, 0.0]]
    gradient = jax.grad(lambda W: max_over_patches(W, x).sum())(W)
    assert gradient.T.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_what_is_not_a_number_shows():
    x = jnp.array([[[1.0], [jnp.nan], [2.0]]])
    assert jnp.isnan(max_over_patches(jnp.ones((1, 1)), x)).all()
