"""Theorem 4.2: the constructed networks, against a plain evaluation of Equation 1."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from separatrix.papers import theorem
from separatrix.papers.pooling import expressivity
from separatrix.papers.pooling.theorems import theorem_4_2


def plain_output(points: np.ndarray, labels: tuple[int, ...], x: np.ndarray) -> Fraction:
    """N(x) pattern by pattern in fractions, straight from the proof."""
    size = len(points)
    alphas = [Fraction(sum(labels), size - 1) - labels[size - 1 - i] for i in range(size)]
    total = Fraction(0)
    for alpha, source in zip(alphas, points, strict=True):
        for sign in (1, -1):
            weight = max(sign * alpha, Fraction(0))
            total += sign * max(max(weight * list(source[:-1]).count(p), Fraction(0)) for p in x)
    return total


@pytest.mark.parametrize("n", [2, 3])
def test_every_labelling_by_hand(n: int) -> None:
    points = expressivity.shattered_points(n, np.arange(1 << (n - 1)) % 2)
    for labels in product([-1, 1], repeat=len(points)):
        assert tuple(plain_output(points, labels, x) for x in points) == labels


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_all_labellings_are_realised(n: int) -> None:
    finding = theorem_4_2(n=n)
    size = 2 ** (n - 1)
    assert finding.status == "holds"
    assert finding.measured == {
        "labellings_checked": 2**size,
        "labellings_realised": 2**size,
        "shattered": size,
    }


@pytest.mark.parametrize("n", [6, 10])
def test_random_labellings_and_the_proof_beyond(n: int) -> None:
    finding = theorem_4_2(n=n, labellings=20, seed=3)
    assert finding.measured["labellings_checked"] == finding.measured["labellings_realised"] == 20
    assert finding.measured["shattered"] == finding.bound["vc_dimension"] == 2 ** (n - 1)


def test_a_wrong_second_layer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = expressivity.second_layer
    monkeypatch.setattr(expressivity, "second_layer", lambda labels: right(labels[:, ::-1]))
    finding = theorem_4_2(n=4)
    assert finding.status == "violated"
    assert finding.measured["labellings_realised"] < 256
    assert finding.measured["shattered"] == 0


def test_points_outside_the_support_are_caught() -> None:
    points = expressivity.shattered_points(4, np.zeros(8, dtype=int))
    assert expressivity.in_support(points, 8)
    assert not expressivity.in_support(points, 7)
    twice = points.copy()
    twice[0, 0] = 1  # a second discriminative pattern
    assert not expressivity.in_support(twice, 8)
    points[1] = points[0]
    assert not expressivity.in_support(points, 8)


@pytest.mark.parametrize(
    ("case", "failing"),
    [({"n": 1}, "n >= 2"), ({"n": 3, "d": 7}, "d = 2n"), ({"n": 3, "l": 5}, "l = d patterns")],
)
def test_outside_its_assumptions(case: dict[str, int], failing: str) -> None:
    finding = theorem_4_2(**case)
    assert finding.status == "outside"
    assert failing in [a.name for a in finding.assumptions if not a.holds]


def test_is_found_by_its_id() -> None:
    assert theorem("pooling/theorem-4.2").certify(n="2").status == "holds"
