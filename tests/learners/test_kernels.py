"""Kernels against sampling, scikit-learn and autodiff; the solvers against the normal equations."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge as TheirRidge
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.svm import SVC

import separatrix as sx
from separatrix.learners import FCN, MLP, kernels
from separatrix.learners.base import Network
from separatrix.learners.kernels import arc_cosine
from separatrix.learners.kernels.arithmetic import solve_positive

RNG = np.random.default_rng(3)
X, Z = RNG.normal(size=(7, 6)), RNG.normal(size=(5, 6)) + 0.3


def test_gaussian_and_polynomial_agree_with_scikit_learn():
    ours = kernels.Gaussian(1.7).gram(X, Z)
    np.testing.assert_allclose(ours, RBF(1.7)(X, Z), rtol=1e-12)
    ours = kernels.Polynomial(5, offset=0.3, scale=0.2).gram(X, Z)
    np.testing.assert_allclose(ours, polynomial_kernel(X, Z, 5, 0.2, 0.3), rtol=1e-12)


def test_the_moments_of_relu_are_those_of_a_sample():
    p, q, c = 2.0, 0.5, -0.6
    uv = RNG.multivariate_normal([0, 0], [[p, c], [c, q]], size=400_000)
    K = arc_cosine.Covariance(np.array([[c]]), np.array([p]), np.array([q]))
    relu, on = np.maximum(uv, 0), uv > 0
    for exact, sample in [
        (arc_cosine.relu_covariance(K)[0, 0], relu.prod(axis=1)),
        (arc_cosine.relu_derivative_covariance(K)[0, 0], on.all(axis=1)),
        (arc_cosine.relu_mean(K.xx)[0], relu[:, 0]),
        (arc_cosine.relu_mean(K.zz)[0], relu[:, 1]),
    ]:
        assert abs(sample.mean() - exact) < 5 * sample.std() / np.sqrt(len(uv))


@pytest.mark.parametrize("p", [0.0, 0.3, 4.0])
def test_the_moments_of_relu_at_equal_opposite_and_zero_inputs(p):
    for sign, covariance, both in ((1, p / 2, 0.5), (-1, 0.0, 0.0)):
        K = arc_cosine.Covariance(np.array([[sign * p]]), np.array([p]), np.array([p]))
        np.testing.assert_allclose(arc_cosine.relu_covariance(K), [[covariance]], atol=1e-15)
        if p:
            np.testing.assert_allclose(arc_cosine.relu_derivative_covariance(K), [[both]], atol=1e-8)


class Wide(eqx.Module):
    """The network of WideReLU's docstring at a finite width."""

    weights: list[jax.Array]
    biases: list[jax.Array]
    scales: tuple[float, ...] = eqx.field(static=True)
    bias_scale: float = eqx.field(static=True)

    def __call__(self, x):
        for layer, (W, b, scale) in enumerate(zip(self.weights, self.biases, self.scales, strict=True)):
            x = (jax.nn.relu(x) if layer else x) @ (W * scale) + self.bias_scale * b
        return x[0]

    @classmethod
    def drawn(cls, widths, weight_variance, bias_variance):
        pairs = list(itertools.pairwise(widths))
        weights = [jnp.asarray(RNG.normal(size=pair)) for pair in pairs]
        biases = [jnp.asarray(RNG.normal(size=pair[1])) for pair in pairs]
        return cls(weights, biases, tuple(float(np.sqrt(weight_variance / a)) for a, _ in pairs), bias_variance**0.5)


@pytest.mark.parametrize(
    ("widths", "weight_variance", "bias_variance"), [((30_000,), 2.0, 0.0), ((3000, 3000), 1.5, 0.4)]
)
def test_the_wide_limit_is_what_wide_networks_have(widths, weight_variance, bias_variance):
    depth = len(widths)
    network = Wide.drawn((6, *widths, 1), weight_variance, bias_variance)
    found = np.asarray(kernels.empirical_ntk(network, X, Z))
    exact = kernels.WideReLU(depth, "ntk", weight_variance, bias_variance).gram(X, Z)
    assert np.abs(found - exact).max() < 0.06 * np.abs(exact).max()
    # over the last layer's weights the outputs' covariance is the hidden layer's
    hidden = X
    for layer in range(depth):
        W, b = np.asarray(network.weights[layer]), np.asarray(network.biases[layer])
        hidden = np.maximum(hidden @ W * network.scales[layer] + network.bias_scale * b, 0)
    empirical = hidden @ hidden.T / hidden.shape[1]
    conjugate = kernels.WideReLU(depth, "conjugate", weight_variance, bias_variance).gram(X, X)
    nngp = kernels.WideReLU(depth, "nngp", weight_variance, bias_variance).gram(X, X)
    assert np.abs(empirical - conjugate).max() < 0.06 * np.abs(conjugate).max()
    np.testing.assert_allclose(nngp, weight_variance * conjugate + bias_variance, rtol=1e-12)


def test_random_features_tend_to_the_conjugate_kernel_and_grow_by_adding():
    few, many = kernels.RandomReLU(20, bias=0.7), kernels.RandomReLU(60_000, bias=0.7)
    # W x + b has variance ||x||^2 + bias^2
    exact = kernels.WideReLU(1, "conjugate", weight_variance=6, bias_variance=0.49).gram(X, Z)
    assert np.abs(many.gram(X, Z, seed=1) - exact).max() < 0.03 * np.abs(exact).max()
    np.testing.assert_allclose(
        few.features(X, 4) * np.sqrt(20),
        (kernels.RandomReLU(30, bias=0.7).features(X, 4) * np.sqrt(30))[:, :20],
        rtol=1e-12,
    )
    assert np.abs(few.features(X, 4) - few.features(X, 5)).max() > 0.01
    W, _ = kernels.RandomReLU(4000, weights="ternary").directions(5, 0)
    shares = [np.mean(value == W) for value in (-1.0, 0.0, 1.0)]
    np.testing.assert_allclose(shares, 1 / 3, atol=0.02)


def jacobian_kernel(network, x, z):
    """The kernel of all outputs from the full Jacobian, all of it at once: (x, outputs, z, outputs)."""
    with jax.enable_x64(True):
        network = jax.tree.map(lambda a: a.astype(jnp.float64) if eqx.is_inexact_array(a) else a, network)
        arrays, rest = eqx.partition(network, eqx.is_inexact_array)

        def output(arrays, point):
            made = eqx.combine(arrays, rest)
            return jnp.ravel(made(point[None])[0] if isinstance(network, Network) else made(point))

        @jax.jit
        def gradients(points):
            found = jax.vmap(lambda point: jax.jacrev(output)(arrays, point))(jnp.asarray(points))
            return [leaf.reshape(len(points), leaf.shape[1], -1) for leaf in jax.tree.leaves(found)]

        a, b = (jnp.concatenate(gradients(points), axis=2) for points in (x, z))
        return np.asarray(jnp.einsum("mop,nqp->monq", a, b))


class Odd(eqx.Module):
    """Parameters that enter once, twice, as a product, and through a residual branch."""

    first: eqx.nn.Linear
    branch: eqx.nn.Linear
    shared: jax.Array
    gain: jax.Array
    last: jax.Array

    def __call__(self, x):
        h = jax.nn.relu(self.first(x))
        h = h + jnp.tanh(self.branch(h)) * self.gain
        h = self.shared @ jnp.sin(self.shared @ h)
        return -0.5 * self.last @ h / 3


def odd():
    keys = jax.random.split(jax.random.key(2), 5)
    shapes = [(8, 8), (8,), (2, 8)]
    linear = [eqx.nn.Linear(6, 8, key=keys[0]), eqx.nn.Linear(8, 8, use_bias=False, key=keys[1])]
    return Odd(*linear, *(jax.random.normal(key, shape) / 2 for key, shape in zip(keys[2:], shapes, strict=True)))


@pytest.mark.parametrize(
    "network",
    [
        MLP((8, 5), "tanh").build(jax.random.key(1), (6,), (3,)),
        sx.learners.LCN(4, 3, "tanh").build(jax.random.key(1), (6,), ()),
        odd(),
    ],
    ids=["three outputs", "locally connected", "odd"],
)
def test_the_tangent_kernel_layer_by_layer_is_the_jacobians(network, monkeypatch):
    monkeypatch.setattr(kernels.tangent, "ROOM", 2000)  # blocks of a point or two
    wanted = jacobian_kernel(network, X, Z)
    outputs = wanted.shape[1]
    mean, joint = (np.asarray(kernels.empirical_ntk(network, X, Z, joint=joint)) for joint in (False, True))
    np.testing.assert_allclose(mean, np.einsum("mono->mn", wanted) / outputs, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(joint, wanted.reshape(outputs * len(X), -1), rtol=1e-10, atol=1e-12)


def test_what_enters_once_is_taken_layer_by_layer():
    from separatrix.learners.kernels.taps import Tapped

    def loose(network):
        arrays, rest = eqx.partition(network, eqx.is_inexact_array)
        leaves, structure = jax.tree.flatten(arrays)

        def forward(leaves, point):
            made = eqx.combine(jax.tree.unflatten(structure, leaves), rest)
            return made(point[None])[0] if isinstance(network, Network) else made(point)

        return Tapped(forward, leaves, jnp.asarray(X[0], jnp.float32)).loose

    for network in (MLP((8, 5)).build(jax.random.key(1), (6,), ()), eqx.nn.MLP(6, 2, 8, 2, key=jax.random.key(4))):
        assert loose(network) == []
    # leaves in order: first weight, first bias, branch, shared (used twice), gain (a factor), last
    assert loose(odd()) == [3, 4]


def test_frozen_parameters_have_no_part():
    network = sx.learners.CNN(3, 2, initialisation="paper").build(jax.random.key(1), (6,), ())
    every = sx.learners.depth_two.CNNNet(network.W, network.b, jnp.ones_like(network.u), "relu", True)
    frozen = sx.learners.depth_two.CNNNet(network.W, network.b, jnp.ones_like(network.u), "relu", False)
    a, b = (np.asarray(kernels.empirical_ntk(made, X)) for made in (every, frozen))
    assert np.abs(a - b).max() > 0.1
    np.testing.assert_allclose(a, jacobian_kernel(every, X, X)[:, 0, :, 0], rtol=1e-10)


def test_the_tangent_kernel_is_of_the_network_that_the_seed_starts_from():
    task, architecture = sx.tasks.KPattern(n=6, k=2), FCN(4)
    x, _ = task.draw(0, 5)
    network = architecture.build(sx.tasks.stream(9, "initialise"), (6,), ())
    found = kernels.EmpiricalNTK(architecture).gram(x, x, seed=9)
    np.testing.assert_allclose(found, np.asarray(kernels.empirical_ntk(network, x)), rtol=1e-12)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)


@pytest.mark.parametrize("kernel", [kernels.Gaussian(1.3), kernels.RandomReLU(4), kernels.RandomReLU(40)])
def test_ridge_regression_of_several_outputs_agrees_with_scikit_learn(kernel):
    y, ridge = RNG.normal(size=(7, 3)), 0.02
    ours = kernels.KernelRidge(kernel, ridge, center=False).fit(X, y, seed=2)
    K = kernel.gram(X, X, 2)
    theirs = TheirRidge(alpha=ridge * np.trace(K) / 7, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(ours.predict(Z), theirs.predict(kernel.gram(Z, X, 2)), rtol=1e-7, atol=1e-10)
    regular = K if kernel != kernels.RandomReLU(4) else kernel.features(X, 2).T @ kernel.features(X, 2)
    regular = regular + ridge * np.trace(K) / 7 * np.eye(len(regular))
    assert ours.facts["condition"] == pytest.approx(np.linalg.cond(regular, 1), rel=0.5)
    assert ours.facts["residual"] < 1e-10
    assert ours.problem is None


def test_a_centred_fit_moves_with_the_labels():
    y = RNG.normal(size=7)
    learner = kernels.KernelRidge(kernels.Gaussian(), 0.1)
    here, there = (learner.fit(X, labels, 0).predict(Z) for labels in (y, y + 5))
    np.testing.assert_allclose(there, here + 5)
    assert here.shape == (5,)


@pytest.mark.parametrize("kernel", [kernels.Gaussian(1.3), kernels.RandomReLU(4), kernels.RandomReLU(40)])
def test_a_population_counts_its_points_by_their_probabilities(kernel):
    """As a sample that has each point as often as it is probable, with the ridge as large beside the larger sum."""
    y, often, ridge = RNG.normal(size=7), np.array([1, 2, 1, 3, 1, 1, 2]), 0.02
    learner = kernels.KernelRidge(kernel, ridge)
    repeated = kernels.KernelRidge(kernel, ridge * often.sum() / 7)
    sample = repeated.fit(X.repeat(often, axis=0), y.repeat(often), 2)
    weights = np.append(often, 0) / often.sum()
    population = learner.fit_population(np.vstack([X, Z[:1]]), np.append(y, 9.0), weights, 2)
    np.testing.assert_allclose(population.predict(Z), sample.predict(Z), rtol=1e-7)
    assert sample.facts.keys() == population.facts.keys()


def test_a_singular_kernel_gives_the_shortest_solution_and_says_so():
    doubled, y = np.vstack([X, X]), np.tile(RNG.normal(size=7), 2)
    fitted = kernels.KernelRidge(kernels.Gaussian(2.0), ridge=0.0).fit(doubled, y, 0)
    assert fitted.facts["rank"] == 7
    assert fitted.problem is None
    np.testing.assert_allclose(fitted.predict(X), y[:7], rtol=1e-6)
    indefinite = solve_positive(np.diag([1.0, -0.5]), 0.0, np.ones((2, 1)))
    assert "indefinite" in indefinite.problem
    broken = solve_positive(np.diag([1.0, np.nan]), 0.0, np.ones((2, 1)))
    assert "not finite" in broken.problem


def test_jax_arrays_give_the_same_numbers():
    y = np.sign(RNG.normal(size=7))
    with jax.enable_x64(True):
        for kernel in (kernels.Gaussian(1.3), kernels.WideReLU(2, "ntk", bias_variance=0.1), kernels.WideReLUNet()):
            found = jax.jit(lambda x, z, kernel=kernel: kernel.gram(x, z))(jnp.asarray(X), jnp.asarray(Z))
            np.testing.assert_allclose(found, kernel.gram(X, Z), rtol=1e-12)
        K = kernels.Gaussian().gram(X, X)
        here, there = (solve_positive(A, 1e-3, b[:, None]) for A, b in ((K, y), (jnp.asarray(K), jnp.asarray(y))))
        np.testing.assert_allclose(here.s, there.s, rtol=1e-9)
        assert here.facts["condition"] == pytest.approx(there.facts["condition"], rel=1e-6)


def test_the_svm_is_scikit_learns_and_certifies_itself():
    x = RNG.normal(size=(60, 4))
    y = np.where(x[:, 0] * x[:, 1] + 0.3 * RNG.normal(size=60) > 0, 1.0, -1.0)
    fitted = kernels.KernelSVM(kernels.Gaussian(0.9), penalty=3.0).fit(x, y, 0)
    theirs = SVC(C=3.0, gamma=1 / (2 * 0.9**2), tol=1e-4).fit(x, y)
    np.testing.assert_allclose(fitted.predict(x), theirs.decision_function(x), atol=5e-3)
    assert 0 <= fitted.facts["duality_gap"] < 1e-2
    assert fitted.facts["support_vectors"] == pytest.approx(len(theirs.support_), abs=2)
    assert fitted.problem is None


def test_the_margin_is_that_of_the_separator():
    y = np.array([1.0, 1, 1, 1, -1, -1, -1])
    fitted = kernels.KernelRidge(kernels.Linear(1.0), 1e-8, center=False).fit(X[:, :6], y, 0)
    phi = np.hstack([X, np.ones((7, 1))])
    w = np.linalg.solve(phi.T @ phi + 1e-8 * np.mean((phi**2).sum(1)) * np.eye(7), phi.T @ y)
    expected = (y * (phi @ w)).min() / np.linalg.norm(w) / np.sqrt(np.mean((phi**2).sum(1)))
    assert fitted.facts["margin"] == pytest.approx(expected, rel=1e-4)


def test_svms_refuse_several_outputs():
    with pytest.raises(sx.InputError, match="one output"):
        kernels.KernelSVM().check((4,), (3,))
