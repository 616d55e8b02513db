"""The convolutional network on images, against XLA's convolution and windowed maximum."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.learners import ImageCNN, RMSProp, Trained
from separatrix.learners.images import convolution, halved
from separatrix.papers.convolution.photographs import BUDGETS, WIDTHS, architecture
from separatrix.tasks import Sampled
from separatrix.testing import check_learner


@pytest.mark.parametrize(("channels", "side"), [(3, 3), (2, 5), (4, 1)])
def test_a_convolution_against_that_of_xla(channels, side):
    x = jax.random.normal(jax.random.key(0), (2, 8, 6, channels))
    W = jax.random.normal(jax.random.key(1), (side * side * channels, 5))
    kernel = W.reshape(side, side, channels, 5)

    def other(W):
        return jax.lax.conv_general_dilated(
            x, W.reshape(kernel.shape), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest"
        )

    assert np.allclose(convolution(x, W), other(W), atol=1e-4)
    ours, theirs = (jax.grad(lambda W, f=f: jnp.sum(jnp.sin(f(W))))(W) for f in (lambda W: convolution(x, W), other))
    assert np.allclose(ours, theirs, atol=1e-3)


def test_pooling_against_a_windowed_maximum():
    x = jax.random.normal(jax.random.key(0), (3, 6, 4, 2))

    def other(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    assert np.array_equal(halved(x), other(x))
    ours, theirs = (jax.grad(lambda x, f=f: jnp.sum(jnp.sin(f(x))))(x) for f in (halved, other))
    assert np.array_equal(ours, theirs)


def test_the_network_is_its_layers():
    net = ImageCNN(width=3, depth=4).build(jax.random.key(0), (8, 16, 2), (5,))
    x = jax.random.normal(jax.random.key(1), (4, 8, 16, 2))
    h = x
    for W, b in zip(net.kernels, net.biases, strict=True):
        h = halved(jnp.maximum(convolution(h, W) + b, 0))
    assert np.allclose(net(x), h.reshape(4, -1) @ net.readout + net.offset, atol=1e-5)
    assert h.shape == (4, 1, 2, 3)


def test_conforms():
    def sampler(key):
        x = jax.random.normal(key, (4, 4, 2))
        return x, jnp.where(x.sum() > 0, 1.0, -1.0)

    check_learner(Trained(ImageCNN(width=3, depth=3), RMSProp(batch=4)), Sampled(sampler, (4, 4, 2)))


def test_the_widths_of_figure_1_are_the_greatest_within_their_budgets():
    for (kind, depth), widths in WIDTHS.items():
        for width, budget in zip(widths, BUDGETS, strict=True):
            count, above = (
                architecture(kind, depth, each).parameter_count((32, 32, 3), (10,)) for each in (width, width + 1)
            )
            assert 0.9 * budget < count <= budget < above


def test_what_does_not_fit_is_said():
    with pytest.raises(InputError, match=r"multiples of 8, got \(28, 28, 1\)"):
        ImageCNN(depth=4).build(jax.random.key(0), (28, 28, 1), (10,))
    with pytest.raises(InputError, match="side must be odd, got 4"):
        ImageCNN(side=4)
