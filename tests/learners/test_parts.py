"""Training a part of any network, and its linearisation, against what moved and against finite differences."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix import learners as L
from separatrix.learners import SGD, ReLUNet, Trained
from separatrix.learners.network import at_path
from separatrix.learners.parts import PARTS, part_of
from separatrix.training import Cell, Procedure
from separatrix.training.trajectory import follow

TASK = sx.tasks.HierarchicalParity(k=3, p=2, q=2)
BITS = sx.tasks.KPattern(n=6, k=2)
SHAPES = {"3resnet": (True, True), "3layer": (False, False)}


@pytest.mark.parametrize(
    ("architecture", "task"),
    [
        (ReLUNet("3resnet", 6), TASK),
        (ReLUNet("3layer", 6, bottleneck=True), TASK),
        (ReLUNet("2layer", 6), TASK),
        (L.MLP((5, 4)), TASK),
        (L.CNN(3, 2, initialisation="paper"), BITS),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_only_the_part_moves_and_every_network_starts_as_itself(architecture, task):
    network = architecture.build(jax.random.key(0), task.input_shape, task.output_shape)
    x, _ = task.draw(0, 4)
    for part in PARTS:
        made = part_of(network, part)
        np.testing.assert_allclose(made(jnp.asarray(x)), network(jnp.asarray(x)), rtol=1e-6)
        moved = L.network.trained_part(made)
        inner = {"all": moved, "ntk": getattr(moved, "displacement", None)}.get(part) or moved.network
        names = [name for layer in network.layers for name in layer if name not in network.frozen]
        last = set(network.layers[-1])
        expected = {name for name in names if part in ("all", "ntk") or (name in last) == (part == "last")}
        assert {name for name in names if at_path(inner, name) is not None} == expected


def test_a_network_without_layers_cannot_be_trained_in_part():
    with pytest.raises(sx.InputError, match="names two layers"):
        Trained(
            L.custom.as_learner(eqx.nn.MLP(6, "scalar", 4, 1, key=jax.random.key(3))).architecture, train="last"
        ).check((6,), ())


def test_hidden_training_leaves_the_last_layer_and_moves_the_others():
    learner = Trained(ReLUNet("3resnet", 6), SGD(0.05, batch=5, epochs=3), "squared", "hidden")
    path = follow(Cell(TASK, learner, 10, 0, Procedure(test_size=5, validation_size=5)), 4)
    network = path.network(4).network
    start = path.network(0).network
    assert np.array_equal(network.A, start.A)
    assert all(not np.array_equal(getattr(network, name), getattr(start, name)) for name in ("W", "b1", "V", "b2"))


@pytest.mark.parametrize("kind", ["3resnet", "3layer", "2layer"])
def test_the_linearisation_is_the_derivative(kind):
    with jax.enable_x64(True):
        network = ReLUNet(kind, 7).build(jax.random.key(2), (5,), (3,))
        x = jax.random.normal(jax.random.key(3), (4, 5))
        linear = part_of(network, "ntk")
        keys = iter(jax.random.split(jax.random.key(4), 10))
        step = jax.tree.map(lambda leaf: jax.random.normal(next(keys), leaf.shape), linear.displacement)
        moved = eqx.tree_at(lambda net: net.displacement, linear, step)(x)
        h = 1e-6
        ends = [
            jax.tree.map(lambda w, s, sign=sign: w + sign * h * s, eqx.filter(network, eqx.is_array), step)
            for sign in (1, -1)
        ]
        up, down = (eqx.combine(end, network)(x) for end in ends)
        np.testing.assert_allclose(moved - network(x), (up - down) / (2 * h), rtol=1e-6, atol=1e-8)


def test_the_mlps_last_layer_is_its_last():
    network = L.MLP((4,)).build(jax.random.key(0), (3,), ())
    assert network.layers == (("weights.0", "biases.0"), ("weights.1", "biases.1"))
