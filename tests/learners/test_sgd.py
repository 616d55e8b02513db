"""SGD over epochs against a loop in NumPy, Algorithm 1 by hand, and the shuffle that makes no permutation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix.learners import SGD, Algorithm1, ReLUNet, Trained
from separatrix.learners.sgd import shuffled
from separatrix.tasks import stream
from separatrix.training import Cell, Procedure, train
from separatrix.training.trajectory import follow

TASK = sx.tasks.HierarchicalParity(k=3, p=2, q=2)
EXACT = Procedure(precision="float64", test_size=20, validation_size=20)


@pytest.mark.parametrize("size", [1, 2, 5, 50, 437])
def test_the_shuffle_is_a_permutation_for_every_size_and_key(size):
    keys = jax.random.split(jax.random.key(size), 3)
    orders = jax.vmap(lambda key: shuffled(jnp.arange(size), size, key))(keys)
    assert (np.sort(orders, axis=1) == np.arange(size)).all()


def test_the_shuffle_is_close_to_uniform_in_places_and_pairs():
    n, draws = 7, 14_000
    key = jax.random.key(1)
    orders = np.asarray(jax.vmap(lambda turn: shuffled(jnp.arange(n), n, key, turn))(jnp.arange(draws)))
    for place, other in ((0, 1), (2, 6)):
        counts = np.zeros((n, n))
        np.add.at(counts, (orders[:, place], orders[:, other]), 1)
        assert (np.diag(counts) == 0).all()
        off = counts[~np.eye(n, dtype=bool)]
        chi_squared = ((off - draws / 42) ** 2 / (draws / 42)).sum()
        assert chi_squared < 41 + 5 * np.sqrt(2 * 41)


def gradients(network, x, y, factor):
    """The gradient of the mean of factor ||out - y||^2 for the ResNet with U = V A, written out in NumPy."""
    W, b1, V, b2, A = network
    z = x @ W.T + b1
    h = np.maximum(z, 0)
    out1 = h @ A.T
    s = out1 @ V.T + b2
    g = np.maximum(s, 0)
    d = 2 * factor * (out1 + g @ A.T - y) / len(x)
    ds = (d @ A) * (s > 0)
    d1 = d + ds @ V
    dz = (d1 @ A) * (z > 0)
    return [dz.T @ x, dz.sum(0), ds.T @ out1, ds.sum(0), d.T @ g + d1.T @ h]


def arrays(network, *at):
    return [np.asarray(getattr(network, name))[at] if at else getattr(network, name) for name in network_names]


network_names = ("W", "b1", "V", "b2", "A")


def test_sgd_is_pytorchs_with_batches_without_replacement():
    rate, decay, batch, epochs, N = 0.05, 0.01, 4, 4, 10
    learner = Trained(ReLUNet("3resnet", 5), SGD(rate, 0.9, decay, batch, epochs), "squared")
    path = follow(Cell(TASK, learner, N, 3, EXACT), 12)
    x, y = (np.asarray(part, np.float64) for part in path.sample[:2])
    theta = [np.array(leaf) for leaf in arrays(path.params, 0)]
    velocity = [np.zeros_like(w) for w in theta]
    for t in range(12):
        epoch, turn = divmod(t, 3)
        order = np.asarray(shuffled(jnp.arange(N), N, stream(3, "algorithm"), epoch))
        chosen = order[turn * batch : (turn + 1) * batch]
        assert len(chosen) == (4, 4, 2)[turn]
        found = gradients(theta, x[chosen], y[chosen], 1.0)
        velocity = [0.9 * v + g + decay * w for v, g, w in zip(velocity, found, theta, strict=True)]
        eta = rate / 10 if epoch >= 2 else rate
        theta = [w - eta * v for w, v in zip(theta, velocity, strict=True)]
        for ours, theirs in zip(arrays(path.params, t + 1), theta, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_training_ends_after_the_epochs():
    learner = Trained(ReLUNet("2layer", 4), SGD(0.01, batch=4, epochs=3), "squared")
    record = next(train([Cell(TASK, learner, 10, 0, Procedure(test_size=20, validation_size=20))]))
    assert record["steps"] == 9


def test_algorithm_1_uses_each_example_once_and_two_rates():
    learner = Trained(ReLUNet("3resnet", 5), Algorithm1(0.03, 0.02), "squared")
    path = follow(Cell(TASK, learner, 6, 1, EXACT), 6)
    x, y = (np.asarray(part, np.float64) for part in path.sample[:2])
    theta = [np.array(leaf) for leaf in arrays(path.params, 0)]
    for t in range(6):
        found = gradients(theta, x[t : t + 1], y[t : t + 1], 0.5)
        theta = [w - eta * g for w, eta, g in zip(theta, (0.03, 0.03, 0.02, 0.02, 0.0), found, strict=True)]
    for ours, theirs in zip(arrays(path.params, 6), theta, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    record = next(train([Cell(TASK, learner, 6, 1, EXACT)]))
    assert record["steps"] == 6
