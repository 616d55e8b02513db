"""The minimum that training the last layer, or the linearisation, tends to: against kernels, Jacobians and SGD."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix.learners import MLP, SGD, KernelRidge, LinearPart, ReLUNet, Trained
from separatrix.learners.kernels import EmpiricalNTK, empirical_ntk
from separatrix.learners.network import trained_part
from separatrix.learners.parts import part_of
from separatrix.tasks import stream
from separatrix.training import Cell, Procedure, train

TASK = sx.tasks.HierarchicalParity(k=3, p=2, q=2)
N, DECAY, SEED = 9, 0.05, 4
X, Y = TASK.draw(SEED, N)
NEW, _ = TASK.draw(SEED, 6, "test")


def of(architecture, part, decay=DECAY, **options):
    return LinearPart(architecture, part, decay, **options).fit(X, Y, SEED)


@pytest.mark.parametrize("part", ["last", "ntk"])
@pytest.mark.parametrize("architecture", [ReLUNet("3resnet", 7), ReLUNet("3layer", 5), MLP((6,))], ids=repr)
def test_it_is_ridge_regression_on_the_jacobian(architecture, part):
    """With the whole N k x P Jacobian of all outputs, by finite differences that are exact where f is linear."""
    with jax.enable_x64(False):
        made = part_of(architecture.build(stream(SEED, "initialise"), (6,), (3,)), part)
    with jax.enable_x64(True):
        made = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64) if hasattr(leaf, "dtype") else leaf, made)
        leaves, structure = jax.tree.flatten(trained_part(made))
        sizes = np.cumsum([leaf.size for leaf in leaves])[:-1]

        def outputs(theta, points):
            parts = [t.reshape(leaf.shape) for t, leaf in zip(np.split(theta, sizes), leaves, strict=True)]
            tree = jax.tree.unflatten(structure, [jnp.asarray(part) for part in parts])
            whole = jax.tree.map(lambda w, t: w if t is None else t, made, tree, is_leaf=lambda leaf: leaf is None)
            return np.asarray(whole(jnp.asarray(points, jnp.float64))).ravel()

        P = sum(leaf.size for leaf in leaves)
        zero = np.zeros(P)
        J = np.stack([outputs(unit, X) - outputs(zero, X) for unit in np.eye(P)], axis=1)
        theta = np.linalg.solve(2 / N * J.T @ J + DECAY * np.eye(P), 2 / N * J.T @ (Y.ravel() - outputs(zero, X)))
        fitted = of(architecture, part)
        np.testing.assert_allclose(fitted.predict(NEW).ravel(), outputs(theta, NEW), atol=1e-5)
    assert fitted.facts["norm"] == pytest.approx(np.linalg.norm(theta), rel=1e-3)


@pytest.mark.parametrize("kind", ["3resnet", "3layer", "2layer"])
def test_the_last_layer_alone_is_the_conjugate_kernel(kind):
    architecture = ReLUNet(kind, 12)
    kernel = EmpiricalNTK(architecture, (3,), "last")
    network = architecture.build(stream(SEED, "initialise"), (6,), (3,))
    h = np.asarray(network.features(jnp.asarray(X)), np.float64)
    K = kernel.gram(X, X, SEED)
    np.testing.assert_allclose(K, h @ h.T, rtol=1e-5)
    ridge = N * DECAY / 2 / (np.trace(K) / N)
    ours = KernelRidge(kernel, ridge, center=False).fit(X, Y, SEED).predict(NEW)
    np.testing.assert_allclose(of(architecture, "last").predict(NEW), ours, atol=1e-6)


def test_the_linearisation_is_the_joint_kernels_ridge():
    architecture = ReLUNet("3resnet", 12)
    network = architecture.build(stream(SEED, "initialise"), (6,), (3,))
    K, across = (np.asarray(empirical_ntk(network, points, X, joint=True)) for points in (X, NEW))
    start, start_new = (np.asarray(network(jnp.asarray(points)), np.float64).ravel() for points in (X, NEW))
    dual = np.linalg.solve(K + N * DECAY / 2 * np.eye(Y.size), Y.ravel() - start)
    np.testing.assert_allclose(of(architecture, "ntk").predict(NEW).ravel(), start_new + across @ dual, atol=1e-5)


@pytest.mark.parametrize("part", ["last", "ntk"])
def test_sgd_tends_to_it(part):
    """Whole-batch SGD with the same decay, long enough; records of the same cell's sample and start."""
    procedure = Procedure(max_steps=20_000, test_size=50, validation_size=20)
    algorithm = SGD(0.01, 0.9, DECAY, batch=N, epochs=8000, drop=1.0)
    cells = [
        Cell(TASK, learner, N, SEED, procedure)
        for learner in (
            Trained(ReLUNet("3resnet", 5), algorithm, "squared", part),
            LinearPart(ReLUNet("3resnet", 5), part, DECAY),
        )
    ]
    descended, exact = (next(iter(train([cell]))) for cell in cells)
    for name in ("train_error", "validation_error", "test_error"):
        assert exact[name] == pytest.approx(descended[name], rel=1e-3)


def test_one_that_did_not_end_is_not_to_be_trusted():
    fitted = of(ReLUNet("3resnet", 7), "ntk", 1e-6, iterations=2)
    assert "residual" in fitted.problem
    assert of(ReLUNet("3resnet", 7), "ntk", 1e-6).problem is None


def test_what_it_refuses():
    with pytest.raises(sx.InputError, match="unknown train"):
        LinearPart(ReLUNet(), "all")
    assert EmpiricalNTK(ReLUNet(), (3,)).label == "NTK of 3resnet"
    assert EmpiricalNTK(ReLUNet(), (3,), "last").label == "conjugate kernel of 3resnet"
