"""The parity paper's first step: closed forms against enumeration, the engine's autodiff, and simulation over w."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix.learners import PairedFCN, Trained, TwoPhase
from separatrix.papers.parity import laws
from separatrix.papers.parity.neurons import (
    Neuron,
    Window,
    coefficient,
    floor_root,
    mass,
    mixed,
    moment,
    starting_bias,
)
from separatrix.papers.parity.theorems import lemma_3, lemma_4, lemma_5, lemma_6, lemma_7
from separatrix.tasks import SparseParity
from separatrix.theory.krawtchouk import krawtchouk_sum, krawtchouk_values
from separatrix.training.cell import Cell, Procedure
from separatrix.training.trajectory import follow


def counts(w, k):
    return int((w[:k] == 1).sum()), int((w[:k] == -1).sum()), int((w[k:] != 0).sum())


def cube(n, k):
    z = np.array(list(itertools.product([1, -1], repeat=n)))
    aligned = np.abs(z[:, :k].sum(axis=1)) == k
    return z, z[:, :k].prod(axis=1), (np.full(len(z), 0.5**n), np.where(aligned, 0.5 ** (n - k + 1), 0))


def slope(before, b, n):
    """sigma' of ReLU6, decided in integers: 0 < before + b sqrt n < 6 sqrt n."""

    def sign(s, c):  # of s + c sqrt n
        if s == 0 or c == 0 or (s > 0) == (c > 0):
            return np.sign(s) or np.sign(c)
        return np.sign(s) * np.sign(Fraction(s) ** 2 - c * c * n)

    return np.array([float(sign(int(s), b) > 0 > sign(int(s), b - 6)) for s in before])


@pytest.mark.parametrize("seed", range(8))
def test_first_step_is_the_enumerated_one(seed):
    generator = np.random.default_rng(seed)
    for _ in range(12):
        k = int(generator.choice([1, 2, 3, 5]))
        n = int(generator.integers(k, 10))
        w = generator.integers(-1, 2, n)
        b = Fraction(int(generator.integers(-20, 60)), int(generator.integers(1, 9)))
        z, f, parts = cube(n, k)
        active = slope(z @ w, b, n)
        hidden = np.clip(z @ w / math.sqrt(n) + float(b), 0, 6)
        neuron = Neuron(n, k, *counts(w, k), b)
        for which, p in enumerate(parts):
            if which and k % 2 == 0:
                continue  # f is 1 on both signs of the aligned half, which the closed form leaves to odd k
            gradient = (p * f * active) @ z
            closed = [neuron.relevant(int(w[j]))[which] if j < k else w[j] * neuron.irrelevant[which] for j in range(n)]
            np.testing.assert_allclose(np.array(closed, float), gradient, atol=1e-14)
            assert float(neuron.bias[which]) == pytest.approx((p * f * active).sum(), abs=1e-14)
            assert float(neuron.readout[which]) == pytest.approx((p * f * hidden).sum(), abs=1e-13)


def test_the_engine_takes_the_closed_forms_step():
    """Autodiff through the network on the whole population, asymmetric A, against Krawtchouk sums."""
    n, k, q = 8, 3, 12
    task = SparseParity(n=n, k=k, A=(2, 5, 8))
    learner = Trained(PairedFCN(q, k), TwoPhase.paper(n, k, q, 20), "hinge")
    procedure = Procedure(precision="float64", evaluation="population")
    path = follow(Cell(task, learner, None, 5, procedure), 1)
    w, b, u = path.params.w, path.params.b, path.params.u
    order = [1, 4, 7, 0, 2, 3, 5, 6]
    for i in range(2 * q):
        before = w[0, i, order].astype(int)
        neuron = Neuron(n, k, *counts(before, k), starting_bias(k))
        expected = [
            mixed(neuron.relevant(int(before[j]))) if j < k else before[j] * mixed(neuron.irrelevant) for j in range(n)
        ]
        scale = u[0, i] / math.sqrt(n)
        np.testing.assert_allclose(w[1, i, order], scale * np.array(expected, float), atol=1e-13)
        assert b[1, i] == pytest.approx(1 / 24 + u[0, i] * float(mixed(neuron.bias)), abs=1e-13)
        assert u[1, i] == pytest.approx(float(mixed(neuron.readout)), abs=1e-13)
        if neuron.S == 0:
            assert np.abs(w[1, i, order[k:]]).max() < 1e-13


def test_printed_pairs_do_not_start_at_zero():
    import jax

    x = jax.numpy.asarray(list(itertools.product([0.5, -0.5], repeat=4)))
    nets = {start: PairedFCN(5, 3, start).build(jax.random.key(1), (4,), ()) for start in ("corrected", "printed")}
    assert np.abs(nets["corrected"](x)).max() < 1e-6
    w, b, u = (np.asarray(part)[:5] for part in (nets["printed"].w, nets["printed"].b, nets["printed"].u))
    pairs = np.clip(x @ w.T + b, -6, 6) @ u
    np.testing.assert_allclose(nets["printed"](x), pairs, atol=1e-5)
    assert np.abs(pairs).max() > 0.1


def test_sums_of_krawtchouk_values():
    for n, s in [(1, 0), (1, 1), (6, 0), (7, 3), (9, 9), (12, 5)]:
        partial = np.cumsum(list(krawtchouk_values(s, n)))
        assert [krawtchouk_sum(t, s, n) for t in range(-2, n + 3)] == [
            0,
            0,
            *partial.tolist(),
            partial[-1],
            partial[-1],
        ]


def test_windows_are_exact_at_squares():
    assert floor_root(Fraction(-7, 3), 9) == -7
    assert floor_root(Fraction(2), 10**40 + 1) == 2 * 10**20
    assert Window.of(16, Fraction(-1, 4)) == Window(2, 24)
    assert Window.of(16, Fraction(6)) == Window(-23, -1)


@pytest.mark.parametrize(("m", "lo", "hi"), [(0, -1, 4), (1, 0, 3), (5, -2, 3), (9, 1, 20), (6, 4, 2)])
def test_laws_of_sums(m, lo, hi):
    window = Window(lo, hi)
    z = np.array(list(itertools.product([1, -1], repeat=m))).reshape(2**m, m)
    inside = (z.sum(axis=1) >= lo) & (z.sum(axis=1) <= hi)
    assert mass(m, window) == Fraction(int(inside.sum()), 2**m)
    for s in range(m + 1):
        character = z[:, :s].prod(axis=1)
        assert coefficient(s, m, window) == Fraction(int((inside * character).sum()), 2**m)
        assert moment(s, m, window) == Fraction(int((inside * character * z.sum(axis=1)).sum()), 2**m)


def test_float_laws_are_the_exact_ones():
    window = Window(-3, 40)
    np.testing.assert_allclose(laws.masses(3, 300, window), [float(mass(J, window)) for J in range(3, 301)], rtol=1e-11)
    np.testing.assert_allclose(laws.masses(5000, 5001, window)[1], float(mass(5001, window)), rtol=1e-10)
    m = np.arange(6, 400)
    for s in (1, 4, 7):
        exact = np.array([float(coefficient(s, int(i), window)) for i in m])
        np.testing.assert_allclose(laws.coefficients(s, m, window), exact, rtol=1e-7, atol=1e-17)
    for s, size in ((6, 1003), (3, 2500)):
        exact = float(coefficient(s, size, window))
        assert math.exp(laws.log_square(s, size, window) / 2) == pytest.approx(abs(exact), rel=1e-8)


def test_probabilities_over_w_are_frequencies():
    """Lemmas 3, 4 and 7 against drawn w, by enumeration of the cube."""
    n, k, drawn = 9, 3, 3000
    generator = np.random.default_rng(4)
    z, f, (uniform, _) = cube(n, k)
    w = generator.integers(-1, 2, (drawn, n))
    before = w @ z.T / math.sqrt(n) + 1 / 24
    active = (before > 0) & (before < 6)
    gradient = np.abs((active * f * uniform) @ z) / math.sqrt(n)
    bias = np.abs((active * f) @ uniform)
    root = math.sqrt(math.comb(n - 1, k))

    def agrees(frequency, probability):
        probability = float(probability)
        assert abs(frequency - probability) < 5 * math.sqrt(max(probability * (1 - probability), 1e-9) / drawn)

    for c in (Fraction(1, 20), Fraction(1, 5), Fraction(1, 2)):
        found = lemma_3(n=n, k=k, c=c).measured
        agrees((gradient[:, k] <= float(c) / root).mean(), found["probability"])
        agrees((bias <= float(c) / root).mean(), found["probability_bias"])
        both = np.maximum(gradient[:, k:].max(axis=1), bias)
        agrees((both <= float(c) * (n - 1) / root / 8).mean(), lemma_4(n=n, k=k, C=c / 8).measured["probability"])
    assert found["rms"] == pytest.approx(math.sqrt((gradient[:, k] ** 2).mean()), rel=0.1)
    good = (w[:, :k].sum(axis=1) == 0) & ((w[:, k:] != 0).sum(axis=1) >= (n - k) / 3)
    agrees(good.mean(), lemma_7(n=n, k=k).measured["probability"])
    assert float(laws.balanced(5)) == pytest.approx(51 / 243)


def test_lemmas_3_and_4():
    assert lemma_3().status == lemma_4().status == "holds"
    assert lemma_3(c=1).status == "vacuous"
    assert lemma_3(n=20_001, k=5, c=2).method == "closed form"
    assert lemma_4(n=300).status == "outside"
    assert lemma_4(n=51, k=5).status == "vacuous"


@pytest.mark.parametrize(
    ("n", "k", "a", "b"), [(9, 3, 1, "1/24"), (501, 7, 2, "-1/3"), (40, 9, 4, "5"), (7, 5, 0, "0")]
)
def test_lemma_5_is_an_equality(n, k, a, b):
    found = lemma_5(n=n, k=k, plus=a, minus=a, b=b)
    assert found.status == "holds"
    assert found.slack == 0
    assert lemma_5(n=n, k=k, plus=a + 1, minus=a, b=b).status == "outside"


def test_lemma_5_is_more_than_the_paper_says():
    """On the uniform half too, and for unbalanced weights with a zero on A; without a zero it fails."""
    assert lemma_5(n=21, k=5, plus=3, minus=1).measured["uniform"] == 0
    assert lemma_5(n=21, k=5, plus=3, minus=2).measured["uniform"] != 0


def test_lemma_6_on_every_h_of_a_small_cube():
    """The largest difference over all 2^(2^3) functions h of three bits, by enumeration."""
    n, k = 7, 3
    z, _, parts = cube(n, k)
    p = (parts[0] + parts[1]) / 2
    w, b = np.array([1, 0, -1, 1, 1, 0, -1]), Fraction(3, 2)
    active = slope(z @ w, b, n)
    rest = z[:, k:] @ w[k:] / math.sqrt(n) + 1.5
    phi = p @ ((rest > k / math.sqrt(n)) & (rest < 6 - k / math.sqrt(n)))
    code = ((z[:, :k] < 0) @ [4, 2, 1]).astype(int)
    differences = [
        abs(p @ (np.array(h)[code] * active) - p @ np.array(h)[code] * phi)
        for h in itertools.product([1, -1], repeat=8)
    ]
    found = lemma_6(n=n, k=k, plus=1, minus=1, J=3, b=b)
    assert float(found.measured["phi"]) == pytest.approx(phi)
    assert float(found.measured["difference"]) == pytest.approx(max(differences))


def test_lemma_6_with_one_relevant_bit():
    """f = x_j, so sqrt n x_j f = 1 on both halves of D_A; here sigma' = 1 everywhere."""
    found = lemma_6(n=6, k=1, plus=0, minus=0, J=1, b="3/2")
    assert (found.measured["phi"], found.measured["difference_relevant"]) == (1, 0)


def test_lemma_6_printed_edges_miss_a_piece():
    printed = lemma_6(version="printed")
    assert (printed.status, printed.measured["difference"]) == ("violated", Fraction(13, 32))
    same = {"n": 4, "k": 3, "plus": 3, "minus": 0, "J": 1, "b": "13/2"}
    assert lemma_6(**same).bound["edges"] == 1
    assert lemma_6(**same).status == "vacuous"
    assert lemma_6(J=0).status == "outside"


def test_lemma_7():
    found = lemma_7(k=3)
    assert found.status == "holds"
    assert found.measured["C2"] == found.measured["C3"] == 0
    assert lemma_7(k=3, n=201).status == "outside"
    printed = lemma_7(version="printed")
    assert printed.status == "violated"
    # off by u phi / (2 sqrt n) at u = n/k
    assert printed.measured["C1"] == pytest.approx(math.sqrt(153_665) / 28, rel=0.02)
