"""Exact errors over the sets of patterns, against the whole support and against samples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.learners import MLP, ConvPool
from separatrix.learners.networks import ConvPoolNet
from separatrix.studies.intervals import proportion
from separatrix.tasks import PatternDetection
from separatrix.tasks.base import stream
from separatrix.training.engine import numerics
from separatrix.training.exact import exact_error


def network_and_patterns(task, seed, channels=7):
    """A network that is right on many inputs and wrong on others."""
    instance = np.asarray(task.instance(stream(seed, "instance"), ()))
    generator = np.random.default_rng(seed)
    W = generator.normal(size=(channels, task.count)).astype(instance.dtype) @ instance
    a = np.sign(W @ instance[0] - W @ instance[1]).astype(instance.dtype)
    if seed % 2:
        a = -a
    return ConvPoolNet(jnp.asarray(W.T), jnp.asarray(a)), instance


@pytest.mark.parametrize(("d", "n", "l"), [(6, 4, None), (7, 3, 5), (5, 1, None), (4, 6, 3)])
def test_agrees_with_the_whole_support(d, n, l):  # noqa: E741
    task = PatternDetection(d, n, l)
    seen = set()
    for seed in range(5):
        network, instance = network_and_patterns(task, seed)
        points = task.population(jnp.asarray(instance))
        wrong = (np.asarray(network(points.x)) > 0) != (np.asarray(points.y) > 0)
        expected = float(np.sum(np.asarray(points.p, dtype=np.float64) * wrong))
        assert exact_error(task, instance, network) == pytest.approx(expected, abs=1e-6)
        seen.add(round(expected, 6))
    assert len(seen) > 1


def test_agrees_with_a_sample_where_the_support_is_large():
    task = PatternDetection(12, 10)
    assert task.population_size is None
    network, instance = network_and_patterns(task, 2, 40)
    x, y = task.draw(2, 4000, "test")
    wrong = int(np.sum((np.asarray(network(jnp.asarray(x))) > 0) != (y > 0)))
    low, high = proportion(wrong, 4000, 0.999)
    assert low <= exact_error(task, instance, network) <= high
    assert 0 < wrong < 4000


def test_in_float64_too():
    task = PatternDetection(6, 4)
    with numerics("float64"):
        instance = np.asarray(task.instance(stream(1, "instance"), ()))
        network = ConvPool(50).build(jax.random.key(0), task.input_shape, ())
    assert instance.dtype == np.float64
    assert 0 <= exact_error(task, instance, network) <= 1


def test_a_network_that_sees_places_is_refused():
    task = PatternDetection(5, 4)
    instance = np.asarray(task.instance(stream(0, "instance"), ()))
    network = MLP((8,)).build(jax.random.key(1), task.input_shape, ())
    with pytest.raises(InputError, match="set of patterns alone"):
        exact_error(task, instance, network)


def test_noise_is_refused():
    task = PatternDetection(5, 4, noise="ball")
    network, instance = network_and_patterns(task, 0)
    with pytest.raises(InputError, match="free of noise"):
        exact_error(task, instance, network)
