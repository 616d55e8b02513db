"""Section 8.2: W* by the network itself, its norm, and that no network does better."""

import math

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.learners.fixed_readout import readout
from separatrix.papers.residual import hand_made
from separatrix.papers.residual.hand_made import HandMade, least_norm, norm_factor, risk_of
from separatrix.papers.residual.theorems import section_8_2


@pytest.mark.parametrize(("d", "m"), [(6, 64), (6, 200), (40, 202), (100, 500)])
def test_w_star_by_the_network_on_the_whole_cube(d, m):
    made = HandMade.of(d, m, target=0.8, places=tuple(range(d - 6, d)))
    W = made.weights()
    generator = np.random.default_rng(0)
    z = generator.choice([-1.0, 1.0], (300, d))
    outputs = np.maximum(z / math.sqrt(d) @ W.T, 0) @ readout(m)
    assert outputs == pytest.approx(0.8 * z[:, -6:].prod(axis=1), abs=1e-9)
    assert np.linalg.norm(W) == pytest.approx(made.norm)
    assert made.norm == pytest.approx(0.8 * 16 * math.sqrt(6) / 3 * norm_factor(m) * math.sqrt(d))
    assert made.risk == pytest.approx(0.04)
    assert risk_of(W, made.places) == pytest.approx(0.04)


def test_the_export_makes_w_star_again():
    found = section_8_2(d=9, m=200, seed=4)
    export = found.measured["export"]
    W = np.zeros((200, 9))
    rows, signs = [], []
    for row, count, length in zip(export["rows"], export["copies"], export["lengths"], strict=True):
        rows += [[length * entry for entry in row]] * count
        signs += [math.prod(row)] * count
    order = np.argsort(-np.array(signs), kind="stable")
    W[:, export["places"]] = np.array(rows)[order]
    for target, norm, error in zip(export["targets"], found.measured["norms"], found.measured["errors"], strict=True):
        assert np.linalg.norm(target * W) / 3 == pytest.approx(norm)
        assert risk_of(target * W, tuple(export["places"])) == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("m", [200, 202, 254, 1000, 50_000])
@pytest.mark.parametrize("d", [6, 40, 100])
def test_the_stated_norms_at_every_width(d, m):
    found = section_8_2(d=d, m=m, version="printed")
    assert found.status == "holds"
    assert max(a - b for a, b in zip(found.measured["norms"], (9.7, 12.5, 13.8), strict=True)) < 1e-9
    assert max(a - b for a, b in zip(found.measured["errors"], (0.12, 0.037, 0.011), strict=True)) < 1e-12


def test_the_least_norm_is_attained_and_proved():
    for d in (6, 7):
        found = section_8_2(d=d, m=128, epsilon="1/100")
        assert found.status == "holds"
        assert found.measured["norms"][0] == pytest.approx(least_norm(0.01), rel=1e-12)
        assert found.measured["largest_correlation"] == pytest.approx(3 * math.sqrt(6) / 96, rel=1e-9)


def test_the_bound_is_above_random_directions():
    generator = np.random.default_rng(1)
    z = hand_made.SIGNS
    for _ in range(300):
        u = generator.normal(size=7) * generator.exponential(size=7)
        u /= np.linalg.norm(u)
        correlation = float(np.mean(hand_made.CHARACTERS * np.abs(z @ u[:6] + u[6]))) / 2
        assert abs(correlation) <= hand_made.LARGEST_CORRELATION + 1e-12
    u = np.ones(6) / math.sqrt(6)
    assert float(np.mean(hand_made.CHARACTERS * np.maximum(z @ u, 0))) == pytest.approx(hand_made.LARGEST_CORRELATION)


def test_a_smaller_norm_would_be_caught(monkeypatch):
    monkeypatch.setattr(hand_made, "LARGEST_CORRELATION", 0.07)
    assert section_8_2(epsilon=0.1).status == "violated"


def test_threshold_functions_are_all_there():
    assert [len(hand_made.self_dual_threshold_functions(n)) for n in (3, 4, 5, 6, 7)] == [2, 3, 7, 21, 135]


def test_bad_input():
    for given in ({"m": 65}, {"m": 62}, {"d": 5}):
        with pytest.raises(InputError, match="must be"):
            section_8_2(**given)
