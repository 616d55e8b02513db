"""Population gradients against automatic differentiation and a direct sum."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.theory.activations import activation
from separatrix.theory.population import Network, hinge_gradients, parity
from separatrix.theory.walsh import points

JAX = {
    "relu": lambda z: jnp.maximum(z, 0),
    "relu6": lambda z: jnp.clip(z, 0, 6),
    "clipped_relu": lambda z: jnp.clip(z, 0, 1),
    "hard_tanh": lambda z: jnp.clip(z, -1, 1),
    "tanh": jnp.tanh,
    "erf": jax.lax.erf,
}


def skewed(n: int, q: int, name: str, scale: float) -> Network:
    generator = np.random.default_rng(7)
    return Network(
        generator.normal(0.3, 1, (q, n)),
        generator.normal(0.5, 1, q),
        scale * generator.normal(0.2, 1, q),
        activation(name),
    )


@pytest.mark.parametrize("scale", [0.05, 3.0])  # all margins active, and many inactive
@pytest.mark.parametrize("name", sorted(JAX))
def test_agrees_with_autodiff(name: str, scale: float) -> None:
    network = skewed(6, 4, name, scale)
    labels = np.where(np.arange(64) % 5 < 2, 1, -1)
    found = hinge_gradients(network, labels, chunk=10)
    with jax.enable_x64(True):
        x, y = jnp.asarray(points(0, 64, 6), dtype=float), jnp.asarray(labels, dtype=float)

        def loss(w, b, u):
            return jnp.mean(jnp.maximum(1 - y * (JAX[name](x @ w.T + b) @ u), 0))

        value, (w, b, u) = jax.value_and_grad(loss, argnums=(0, 1, 2))(network.w, network.b, network.u)
    assert found.loss == pytest.approx(float(value), rel=1e-12)
    assert found.w == pytest.approx(np.asarray(w), abs=1e-14)
    assert found.b == pytest.approx(np.asarray(b), abs=1e-14)
    assert found.u == pytest.approx(np.asarray(u), abs=1e-14)


def test_labels_and_functions_are_the_same_target() -> None:
    network = skewed(5, 3, "relu", 1.0)
    chi = parity([1, 3])
    by_function = hinge_gradients(network, chi, chunk=7)
    by_labels = hinge_gradients(network, chi(points(0, 32, 5)))
    assert np.allclose(by_function.w, by_labels.w, atol=1e-15)
    assert by_function.largest_output == by_labels.largest_output


def test_a_margin_of_exactly_one_still_pulls() -> None:
    network = Network(np.ones((1, 1)), np.zeros(1), np.ones(1), activation("hard_tanh"))
    assert hinge_gradients(network, parity([0])).u == pytest.approx([-1.0])


def test_shapes_are_checked() -> None:
    with pytest.raises(InputError, match="shapes"):
        Network(np.ones((2, 3)), np.ones(3), np.ones(2), activation("relu"))
    with pytest.raises(InputError, match="must have 8 labels"):
        hinge_gradients(skewed(3, 2, "relu", 1.0), np.ones(7))
