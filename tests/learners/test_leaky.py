"""Equation 8 by hand, and its second layer left alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import InputError
from separatrix.learners import LeakyFC, Trained
from separatrix.training import Cell, Procedure
from separatrix.training.trajectory import follow


def test_equation_8():
    network = LeakyFC(6, alpha=0.25).build(jax.random.key(1), (2, 3), ())
    x = np.random.default_rng(0).normal(size=(5, 2, 3)).astype(np.float32)
    W, a = np.asarray(network.W), np.asarray(network.a)
    outputs = [sum(a[i] * max(0.25 * W[i] @ p.ravel(), W[i] @ p.ravel()) for i in range(6)) for p in x]
    np.testing.assert_allclose(network(jnp.asarray(x)), outputs, rtol=1e-5)
    assert a.tolist() == pytest.approx([6**-0.5] * 3 + [-(6**-0.5)] * 3)
    with pytest.raises(InputError, match="k must be even, got 7"):
        LeakyFC(7)


def test_the_second_layer_stays():
    learner = Trained(LeakyFC(4), train="hidden")
    path = follow(Cell(sx.tasks.PatternDetection(d=4, n=2), learner, 20, 0, Procedure()), 5)
    moved = path.network(5).network
    assert np.asarray(moved.a).tolist() == [0.5, 0.5, -0.5, -0.5]
    assert float(moved.alpha) == pytest.approx(0.1)
    assert np.abs(np.asarray(moved.W) - np.asarray(path.network(0).network.W)).max() > 1e-3
