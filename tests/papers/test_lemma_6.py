"""Lemma 6: every g at every window against the network itself, exact probabilities against enumeration, what fails."""

import itertools
import json
import math
from fractions import Fraction

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.learners import CNN
from separatrix.papers import theorem
from separatrix.papers.convolution.occupancy import all_at_least, chance_below, least_covering
from separatrix.papers.convolution.separability import _distances, _drawn_signs, _kernel, _wrong
from separatrix.papers.convolution.theorems import lemma_6
from separatrix.tasks.base import stream
from separatrix.tasks.bits import hypercube
from separatrix.theory.activations import activation
from separatrix.training.engine import numerics


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (3, 3), (5, 4)])
def test_every_g_at_every_window(n, k):
    found = lemma_6(n=n, k=k, seed=n)
    assert found.status == "holds"
    assert found.measured["mismatches"] == 0
    assert found.measured["checked"] == 2 ** (2**k) * (n - k + 1) * 2**n
    assert found.measured["norm_u_star_sq"] <= found.bound["norm_u_star_sq"]


def test_the_network_itself_is_f():
    """The Equinox network with u* put in, at every x, window and g."""
    n, k, q, seed = 4, 2, 141, 5
    signs = _drawn_signs(n, k, q, seed)
    sizes = np.bincount(signs, minlength=4)
    with numerics("float64"):
        network = CNN(q, k, "clipped_relu", "paper").build(stream(seed, "initialise"), (n,), ())
        W = np.asarray(network.W)
        assert (hypercube(2)[signs] / 2 == W).all()
        x = hypercube(n)
        for j, table in itertools.product(range(3), itertools.product([1, -1], repeat=4)):
            g = np.array(table)
            u = np.zeros((3, q))
            u[j] = k * g[signs] / sizes[signs]
            h = np.asarray(eqx.tree_at(lambda net: net.u, network, jnp.asarray(u))(jnp.asarray(x)))
            f = g[(x[:, j] < 0) * 2 + (x[:, j + 1] < 0)]
            np.testing.assert_allclose(h, f, atol=1e-12)
            assert np.sum(u**2) == pytest.approx(sum(4 / size for size in sizes))
    measured = lemma_6(n=n, k=k, q=q, seed=seed).measured
    assert measured["norm_u_star_sq"] == sum(Fraction(4, int(size)) for size in sizes)


def test_by_linearity_for_larger_k():
    found = lemma_6(n=9, k=5, g="all")
    assert found.status == "holds"
    assert found.measured["checked"] == 2**32 * 5 * 2**9
    assert any("linear" in note for note in found.notes)
    assert lemma_6(n=7, k=2, g="majority", j=2).measured["checked"] == 2**7
    json.dumps(theorem("convolution/lemma-6").certify(n=4096, k=2).to_json())


@pytest.mark.parametrize(("q", "k", "least"), [(5, 1, 2), (6, 2, 1), (7, 1, 3), (9, 1, 4), (3, 2, 1), (4, 1, 0)])
def test_occupancy_by_enumeration(q, k, least):
    words = itertools.product(range(2**k), repeat=q)
    good = sum(all(word.count(z) >= least for z in range(2**k)) for word in words)
    assert all_at_least(q, k, least) == Fraction(good, 2 ** (k * q))


def test_occupancy_in_floats_is_that_in_fractions(monkeypatch):
    from separatrix.papers.convolution import occupancy

    for q, k, least in ((60, 2, 8), (200, 3, 15), (39, 3, 1)):
        exact = float(all_at_least(q, k, least))
        monkeypatch.setattr(occupancy, "EXACT_UP_TO", 0)
        assert all_at_least(q, k, least) == pytest.approx(exact, rel=1e-11)
        monkeypatch.undo()
    tail = sum(math.comb(20, i) * 3 ** (20 - i) for i in range(4)) / 4**20
    assert chance_below(20, 2, Fraction(7, 2)) == pytest.approx(tail, rel=1e-12)
    q = least_covering(2, 0.05)
    assert all_at_least(q, 2, 1) >= Fraction(95, 100) > all_at_least(q - 1, 2, 1)


def test_below_the_bound_it_fails():
    found = lemma_6(n=4, k=3, q=12, seed=1)
    assert found.status == "outside"
    assert found.measured["success_probability"] < 0.95
    assert found.measured["empty_classes"] > 0
    # every g, window and x whose pattern is an empty class
    assert found.measured["mismatches"] == found.measured["empty_classes"] * 2**8 * 2 * 2
    assert found.measured["smallest_q_covering"] > 12


@pytest.mark.parametrize("name", ["clipped_relu", "relu", "relu6", "hard_tanh", "tanh", "erf"])
def test_activations(name):
    """The proof's u* is right for those that see a pattern in full and nothing else, and for no other."""
    found = lemma_6(n=4, k=2, activation=name)
    good = name in ("clipped_relu", "relu", "relu6")
    assert (found.status == "holds") is good
    assert (found.measured["mismatches"] == 0) is good
    assert found.status in ("holds", "outside")


def test_the_kernel_is_the_network():
    """h at z by the definition, neuron after neuron, for an activation that is not an indicator."""
    k, sizes = 3, np.array([3, 1, 2, 4, 2, 0, 5, 1])
    sigma = activation("hard_tanh")
    signs = np.repeat(np.arange(8), sizes)
    cube = hypercube(3)
    g = np.array([1, -1, -1, 1, 1, 1, -1, 1])
    u = k * g[signs] / sizes[signs]
    h = sigma.value(cube @ cube[signs].T / k + 1 / k - 1) @ u
    kernel = _kernel(sigma, k)
    np.testing.assert_allclose((g * (sizes > 0)) @ kernel[_distances(k)], h, atol=1e-12)
    assert _wrong(kernel, g[None], sizes) == np.sum(np.abs(h - g) > 1e-9)


def test_printed_windows_and_activations_have_counterexamples():
    assert lemma_6(n=5, k=2, j=3, version="printed").status == "holds"
    assert lemma_6(n=5, k=2, j=4, version="printed").status == "violated"
    assert lemma_6(version="printed").measured["windows_without_readout"] == 1
    affine = lemma_6(n=5, k=3, j=1, activation="affine", version="printed")
    assert affine.status == "violated"
    assert affine.measured["unreached_g"] == 256 - 8  # the affine +-1 functions of 3 bits: +-1, +-x_i
    zero = lemma_6(n=5, k=2, j=1, activation="zero", version="printed")
    assert zero.measured["unreached_g"] == 16
    odd = lemma_6(n=3, k=1, j=1, activation="hard_tanh", version="printed")
    assert (odd.status, odd.measured["unreached_g"], odd.measured["example_g"]) == ("violated", 2, "++")


def test_the_least_norm_readout_by_quadratic_programming():
    """tanh at k = 3: the parity is in the span, but only with a norm above the bound."""
    found = lemma_6(n=3, k=3, g="parity", activation="tanh", version="printed")
    signs = _drawn_signs(3, 3, found.measured["q"], 0)
    features = np.tanh(hypercube(3) @ hypercube(3)[signs].T / 3 + 1 / 3 - 1)
    parity = hypercube(3).prod(axis=1)
    u = np.linalg.pinv(features) @ parity
    np.testing.assert_allclose(features @ u, parity, atol=1e-9)
    assert found.measured["example_norm_sq"] == pytest.approx(u @ u, rel=1e-6)
    assert u @ u > float(found.bound["norm_u_star_sq"])


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"n": 2, "k": 3}, "k must be at most n = 2"),
        ({"n": 5, "k": 3, "j": 4}, "j must be at most n - k \\+ 1 = 3"),
        ({"k": 2, "g": "+-+"}, "g must have 2\\^k = 4 signs, got 3"),
        ({"g": "paritty"}, "unknown g 'paritty'"),
        ({"delta": 1}, "delta must be"),
        ({"n": 20, "k": 9, "version": "printed"}, "k must be at most 8 for version printed"),
        ({"activation": "gelu"}, "unknown activation 'gelu'"),
    ],
)
def test_bad_input_is_named(case, words):
    with pytest.raises(InputError, match=words):
        lemma_6(**case)
