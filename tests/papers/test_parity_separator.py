"""Lemmas 8, 9, 10 and Theorem 1: intervals against grids, the separator against plain networks, dimensions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers.parity import features, separator
from separatrix.papers.parity.neurons import Neuron, mixed, starting_bias
from separatrix.papers.parity.theorems import lemma_8, lemma_9, lemma_10, theorem_1


@pytest.mark.parametrize("cap", [None, 6])
@pytest.mark.parametrize(
    ("k", "r", "tolerance"), [(3, 1, "1/3"), (5, 5, "3/4"), (7, 7, "5/2"), (7, 1, "4"), (9, 3, "9")]
)
def test_slopes_against_a_grid(k, r, tolerance, cap):
    tolerance = Fraction(tolerance)
    s = np.linspace(-k, k, 40 * k + 1)
    target = np.minimum(np.maximum(r - s, 0), np.inf if cap is None else cap)
    grid = np.linspace(-9, 12, 2101)
    fits = [m for m in grid if np.abs(np.maximum(r - m * s, 0) - target).max() <= float(tolerance) + 1e-12]
    found = features.slopes(r, k, tolerance, cap)
    if found is None:
        assert fits == []
    else:
        assert fits[0] == pytest.approx(float(found[0]), abs=0.011)
        assert fits[-1] == pytest.approx(float(found[1]), abs=0.011)


@pytest.mark.parametrize("r", [-5, 1, 3])
def test_lemma_8_against_drawn_u(r):
    n, k, alpha, epsilon = 50, 5, 0.3, 0.4
    u = np.random.default_rng(r + 9).uniform(-n / k, n / k, 40_000)
    b = 1 / (8 * k)
    z = np.linspace(-k, k, 101)
    hinge = abs(r) / b * np.clip(alpha * np.outer(u, z) / n + b, 0, 6)
    close = np.abs(hinge - np.maximum(abs(r) - np.sign(r) * z, 0)).max(axis=1) <= epsilon
    p = float(lemma_8(n=n, k=k, r=r, alpha="3/10", epsilon="2/5").measured["probability"])
    assert abs(close.mean() - p) < 5 * math.sqrt(p / len(u))


def test_lemma_8_over_its_whole_range():
    for k, alpha in itertools.product((3, 7, 11), ("1/8", "3/16", "1/4", "1/2", "1")):
        for r in separator.knots(k):
            for epsilon in ("1/100", abs(r), k * abs(r)):
                found = lemma_8(k=k, r=r, alpha=alpha, epsilon=epsilon)
                assert found.status == "holds", (k, r, alpha, epsilon)
    assert lemma_8(alpha="1/9").status == "outside"
    assert lemma_8(epsilon=50).status == "outside"
    assert lemma_8(r=-3, version="printed").status == "outside"
    assert lemma_8(k=5, version="printed").status == "violated"
    with pytest.raises(InputError, match="r odd"):
        lemma_8(r=2)


def test_lemma_9_against_drawn_neurons():
    """Good neurons drawn one by one, their first step from the exact class, every x of the bits of A."""
    n, k, r, tolerance = 301, 3, -1, Fraction(2, 3)
    generator = np.random.default_rng(7)
    bits = np.array(list(itertools.product([1, -1], repeat=k)))
    target = np.maximum(1 + bits.sum(axis=1), 0)
    hits, drawn = 0, 4000
    for _ in range(drawn):
        w = generator.integers(-1, 2, n)
        if w[:k].sum():
            continue
        neuron = Neuron(
            n, k, int((w[:k] == 1).sum()), int((w[:k] == -1).sum()), int((w[k:] != 0).sum()), starting_bias(k)
        )
        u = generator.uniform(-n / k, n / k)
        slopes = u / n * np.array([float(mixed(neuron.relevant(int(entry)))) for entry in w[:k]])
        hinge = abs(r) * 8 * k * np.clip(bits @ slopes + 1 / (8 * k), 0, 6)
        hits += np.abs(hinge - target).max() <= tolerance
    p = features.success(n, k, r, tolerance)
    assert hits / drawn > p - 4 * math.sqrt(p / drawn)
    assert hits / drawn < p + 4 * math.sqrt(p / drawn) + 0.01
    found = lemma_9(n=n, k=k, r=r, epsilon="1/3")
    assert found.measured["probability"] == pytest.approx(p)
    assert found.status == "holds"
    assert lemma_9(k=7, r=-3, n=20_001, version="printed").status == "violated"


@pytest.mark.parametrize("k", range(3, 16, 2))
def test_lemma_10_identity_on_every_sum(k):
    """Floats on the whole cube of A's bits against the fractions, and the solution by least squares."""
    rs = np.arange(-k, k + 1, 2)
    s = np.arange(-k, k + 1, 2)
    matrix = np.maximum(np.abs(rs) - np.sign(rs) * s[:, None], 0) * (-1.0) ** ((k - rs) // 2)
    parity = (-1.0) ** ((k - s) // 2)
    solved = np.linalg.solve(matrix, parity)
    np.testing.assert_allclose([float(v) for v in separator.corrected_v(k).values()], solved, atol=1e-9)
    printed = matrix @ [float(v) for v in separator.printed_v(k).values()]
    np.testing.assert_allclose([float(g) for g in separator.combination(k, separator.printed_v(k))], parity * printed)
    assert min(parity * printed) < 0
    rank, solution = separator.rank_and_solution(k, separator.CAP)
    assert (rank, solution is None) == ((k + 1, False) if k < 5 else (k - 1, True))


def test_lemma_10():
    found = lemma_10(k=5)
    assert found.status == "holds"
    assert found.measured["margin"] == 1
    assert found.measured["margin_network"] >= 1
    assert found.measured["v"]["-5"] == found.measured["v"]["5"] == Fraction(-1, 2)
    printed = lemma_10(k=5, version="printed")
    assert printed.status == "violated"
    assert printed.measured["mismatches"] == 4
    assert lemma_10(k=5, activation="relu6").status == "violated"
    assert lemma_10(k=3, n=5185, q=50, version="printed").status == "violated"  # whatever q
    few = lemma_10(k=3, n=5185, q=50)
    assert few.status == "outside"
    assert any("no u*" in note for note in few.notes)
    assert lemma_10(k=17).status == "holds"


def plain_features(n, k, q, seed):
    """For each r the hinges, over the bits of A, of drawn neurons that are psi_r up to 1/(10k) after the first step."""
    generator = np.random.default_rng(seed)
    bits = np.array(list(itertools.product([1, -1], repeat=k)))
    total, b = bits.sum(axis=1), 1 / (8 * k)
    slopes, found = {}, {r: [] for r in separator.knots(k)}
    for _ in range(q):
        on = generator.integers(-1, 2, k)
        if on.sum():
            continue
        plus, J = int((on == 1).sum()), int(generator.binomial(n - k, 2 / 3))
        if (plus, J) not in slopes:
            neuron = Neuron(n, k, plus, plus, J, starting_bias(k))
            slopes[plus, J] = {w: float(mixed(neuron.relevant(w))) for w in neuron.entries}
        u = generator.uniform(-n / k, n / k)
        hidden = np.clip(bits @ (u / n * np.array([slopes[plus, J][int(w)] for w in on])) + b, 0, 6)
        for r, hinges in found.items():
            if np.abs(abs(r) / b * hidden - np.maximum(abs(r) - np.sign(r) * total, 0)).max() <= 1 / (10 * k):
                hinges.append(hidden)
    return bits.prod(axis=1), found


def test_separator_on_a_plain_network():
    """u* of neurons drawn one by one: margin 1 where it is doubled, below 1 as printed; J_r as large as in build."""
    n, k, q = 301, 3, 30_000
    v = separator.corrected_v(k)
    parity, found = plain_features(n, k, q, 3)
    used = min(map(len, found.values()))
    margin = parity * sum(
        separator.parity_of(r, k) * float(v[r]) * abs(r) * 8 * k / used * sum(hinges[:used])
        for r, hinges in found.items()
    )
    assert 0.5 <= margin.min() < 1 <= 2 * margin.min()
    made = separator.build(n, k, q, 3, v, 2)
    assert made is not None
    assert 1 <= made.margin < 2
    assert made.support == made.used * (k + 1)
    assert 0 < made.largest_feature <= 1
    for r, hinges in found.items():
        assert abs(len(hinges) - made.counts[r]) < 5 * math.sqrt(len(hinges) + made.counts[r])
    assert separator.build(n, k, 10, 3, v, 2) is None


def test_theorem_1():
    found = theorem_1(n=8, k=3)
    assert found.status == "holds"
    assert found.bound["dimension"] == 8
    assert found.bound["dimension_random"] == 4
    assert found.measured["norm_sq"] == 1
    assert found.measured["realised_by_psi_of_A"] == 1
    assert found.measured["realised_by_psi_of_another_A"] == 0
    assert theorem_1(n=5, k=3).status == "outside"
    assert theorem_1(n=3, k=3, parities=0).status == "outside"
    big = theorem_1(n=20_000, k=51)
    assert big.bound["dimension"] ** 2 >= math.comb(20_000, 51) > (big.bound["dimension"] - 1) ** 2
    with pytest.raises(InputError, match="at most n"):
        theorem_1(n=3, k=4)
