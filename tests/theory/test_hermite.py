"""The Hermite series against two-dimensional quadrature of the dual activation."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr

from separatrix.theory.activations import Clip, activation
from separatrix.theory.hermite import return_probabilities, second_moment
from separatrix.theory.krawtchouk import krawtchouk


def clip_mean(mean: np.ndarray, deviation: float, low: float, high: float) -> np.ndarray:
    """E of a clipped Gaussian."""
    if deviation == 0:
        return np.clip(mean, low, high)

    def relu_mean(t: np.ndarray) -> np.ndarray:
        return t * ndtr(t) + np.exp(-t * t / 2) / math.sqrt(2 * math.pi)

    return low + deviation * (relu_mean((mean - low) / deviation) - relu_mean((mean - high) / deviation))


def dual(rho: float, variance: float, b: float, sigma: Clip) -> float:
    deviation, low, high = math.sqrt(variance), sigma.low, min(sigma.high, 1e3)
    knots = [(low - b) / deviation, (high - b) / deviation]
    cuts = sorted({*np.linspace(-12, 12, 25), *(sign * t for t in knots for sign in (1, -1) if abs(t) < 12)})
    nodes, weights = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for left, right in pairwise(cuts):
        x = (left + right) / 2 + (right - left) / 2 * nodes
        mass = weights * (right - left) / 2 * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        spread = deviation * math.sqrt(max(0.0, 1 - rho * rho))
        inner = clip_mean(deviation * rho * x + b, spread, low, high)
        total += float(np.sum(mass * np.clip(deviation * x + b, low, high) * inner))
    return total


@pytest.mark.parametrize(("n", "variance", "b"), [(8, 8.0, 1.0), (7, 1.0, 0.3), (5, 2.0, -0.5)])
@pytest.mark.parametrize("name", ["relu", "relu6", "clipped_relu", "hard_tanh"])
def test_is_the_krawtchouk_sum_of_the_dual(name: str, n: int, variance: float, b: float) -> None:
    sigma = activation(name)
    assert isinstance(sigma, Clip)
    duals = [dual(1 - 2 * m / n, variance, b, sigma) for m in range(n + 1)]
    for s in range(n + 1):
        expected = sum(krawtchouk(m, s, n) * duals[m] for m in range(n + 1)) / 2**n
        assert second_moment(s, n, b, variance, sigma, False) == pytest.approx(expected, rel=1e-8, abs=1e-13)


def test_no_set_no_moment() -> None:
    sigma = activation("relu")
    assert isinstance(sigma, Clip)
    assert second_moment(-1, 4, 0.3, 1.0, sigma, True) == second_moment(5, 4, 0.3, 1.0, sigma, True) == 0


def test_return_probabilities_are_moments_of_the_mean() -> None:
    n = 6
    for j, walk in zip(range(9), return_probabilities(n), strict=False):
        for s in range(n + 1):
            moment = sum(krawtchouk(m, s, n) * (1 - 2 * m / n) ** j for m in range(n + 1)) / 2**n
            assert walk[s] == pytest.approx(moment, abs=1e-14)
