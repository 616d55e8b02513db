"""The wide ResNet's kernels against sampling and wide networks."""

import numpy as np
import pytest

from separatrix.learners import ReLUNet, kernels
from separatrix.learners.kernels import WideReLU, WideReLUNet
from separatrix.tasks import stream

RNG = np.random.default_rng(4)
X, Z = RNG.normal(size=(4, 5)) * np.array([[0.2], [0.7], [1.0], [2.0]]), RNG.normal(size=(3, 5)) + 0.3
NETS = [("2layer", False), ("3layer", False), ("3layer", True), ("3resnet", False), ("3resnet", True)]


def relu(z):
    return np.maximum(z, 0)


def finite(net, narrow, arrays, x, z, train="all"):
    """The tangent kernel of a network with one output from its gradients, written out by hand."""
    W, b1, V, b2, A = (arrays.get(name) for name in ("W", "b1", "V", "b2", "A"))

    def gradients(x):
        u1 = x @ W.T + b1
        h, on1 = relu(u1), (u1 > 0).astype(float)
        skip = net != "3layer"
        last, back = h * skip, np.repeat(A * skip, len(x), axis=0)
        parts = []
        if net != "2layer":
            below = h @ A.T if narrow else h
            u2 = below @ V.T + b2
            delta = A * (u2 > 0)
            last = last + relu(u2)
            parts += [(delta, below), (delta, np.ones((len(x), 1)))]
            to_below = delta @ V
            back = back + (to_below @ A if narrow else to_below)
            if narrow:
                last = last + to_below * h
        parts += [(back * on1, x), (back * on1, np.ones((len(x), 1)))]
        return parts, last

    (ours, last), (theirs, other) = gradients(x), gradients(z)
    hidden = sum((a @ c.T) * (b @ d.T) for (a, b), (c, d) in zip(ours, theirs, strict=True))
    return {"all": hidden + last @ other.T, "hidden": hidden, "last": last @ other.T}[train]


def draw(generator, narrow, m, d=5):
    shapes = {"W": (m, d), "b1": (m,), "V": (m, 1 if narrow else m), "b2": (m,), "A": (1, m)}
    return {name: generator.normal(size=shape) / np.sqrt(m) for name, shape in shapes.items()}


@pytest.mark.parametrize(("net", "narrow"), NETS)
def test_wide_networks_tend_to_the_limit_as_the_root_of_the_width(net, narrow):
    x, z, generator = X / 2, Z / 2, np.random.default_rng(1)
    exact = WideReLUNet(net, narrow).gram(x, z)
    widths, gaps = [60, 200, 600], []
    for m in widths:
        found = [finite(net, narrow, draw(generator, narrow, m), x, z) for _ in range(30)]
        gaps.append(np.sqrt(np.mean([(one - exact) ** 2 for one in found])))
    rate = np.polyfit(np.log(widths), np.log(gaps), 1)[0]
    assert -0.62 < rate < -0.38
    assert gaps[-1] < 0.1 * np.abs(exact).max()


@pytest.mark.parametrize(("net", "narrow"), [("3resnet", False), ("3resnet", True)])
def test_the_network_by_hand_is_the_librarys(net, narrow):
    made = ReLUNet(net, 6, narrow).build(stream(2, "initialise"), (5,), ())
    arrays = {name: np.asarray(getattr(made, name), float) for name in ("W", "b1", "V", "b2", "A")}
    found = kernels.EmpiricalNTK(ReLUNet(net, 6, narrow)).gram(X, Z, 2)
    np.testing.assert_allclose(found, finite(net, narrow, arrays, X, Z), rtol=1e-5)


def test_the_moments_are_those_of_a_sample():
    w, c, b, n = 0.5, 2.0, 0.3, 400_000
    x, z = X[2:3], Z[:1]
    points = np.concatenate([x, z])
    S1 = w * points @ points.T + b
    u1 = RNG.multivariate_normal([0, 0], S1, size=n)
    h = relu(u1)
    K_h = h.T @ h / n
    u2 = RNG.multivariate_normal([0, 0], c * K_h + b, size=n)
    both = h + relu(u2)
    conjugate = both.prod(axis=1)
    P1, P2 = np.mean((u1 > 0).all(axis=1)), np.mean((u2 > 0).all(axis=1))
    hidden = (c * K_h[0, 1] + b) * P2 + S1[0, 1] * P1 * (1 + c * P2)
    made = [WideReLUNet("3resnet", False, part, w, c, b).gram(x, z)[0, 0] for part in ("last", "hidden", "all")]
    assert abs(made[0] - conjugate.mean()) < 5 * conjugate.std() / np.sqrt(n)
    assert made[1] == pytest.approx(hidden, rel=0.01)
    assert made[2] == pytest.approx(made[0] + made[1])


@pytest.mark.parametrize(("net", "depth"), [("2layer", 1), ("3layer", 2)])
def test_without_biases_the_fully_connected_ones_are_known(net, depth):
    for train, kind in (("all", "ntk"), ("last", "conjugate")):
        ours = WideReLUNet(net, False, train, input_variance=0.2, bias_variance=0.0).gram(X, Z)
        np.testing.assert_allclose(ours, WideReLU(depth, kind, 1.0, 0.0).gram(X, Z), rtol=1e-12)


def test_with_the_bottleneck_the_third_layer_is_not_seen():
    """All that is left of it: constants, and the mean of h."""
    two, three = (WideReLUNet(net, train="hidden").gram(X, Z) for net in ("2layer", "3resnet"))
    np.testing.assert_allclose(three - two, 0.5)
    last = WideReLUNet("3resnet", train="last").gram(X, Z) - WideReLUNet("2layer", train="last").gram(X, Z)
    means = [np.sqrt((np.sum(points**2, axis=1) + 1) / (2 * np.pi)) for points in (X, Z)]
    np.testing.assert_allclose(last, 0.5 + np.add.outer(*means) / np.sqrt(2 * np.pi))
