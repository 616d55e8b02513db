"""Random features: a finite list of ReLU units that training leaves alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix.learners.kernels.arithmetic import Array, flat, on_device
from separatrix.learners.kernels.base import Kernel
from separatrix.rules import Choice, Real, Whole, enforce, parameter

WEIGHTS = ("gaussian", "sign", "ternary")


@dataclass(frozen=True)
class RandomReLU(Kernel):
    """phi(x) = relu(W x + b) / sqrt N in ``N`` random directions, ``depth`` times; the seed draws W and b.

    ``weights``: rows of W standard Gaussian, or uniform in {-1, 1}^d (``sign``) or {-1, 0, 1}^d (``ternary``, the first
    layer of Daniely & Malach). In the first layer b is Gaussian with deviation ``bias`` times the root of the
    mean squared weight (for ||x|| = 1 and bias 1, b is about as large as W x); further layers have none and Gaussian
    weights. More features of one seed begin with the fewer.
    """

    N: int = parameter(1000, Whole(1))
    bias: float = parameter(1.0, Real(0))
    weights: str = parameter("gaussian", Choice(*WEIGHTS))
    depth: int = parameter(1, Whole(1))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return "random ReLU features"

    def directions(self, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """W, a row a feature, and b, of the first layer."""
        generator = np.random.default_rng([seed, 0])
        drawn = generator.standard_normal((self.N, d + 1))
        W, b = drawn[:, :d], drawn[:, d] * self.bias
        if self.weights == "sign":
            return np.where(W > 0, 1.0, -1.0), b
        if self.weights == "ternary":
            third = 0.43072729929545744  # P(|standard Gaussian| < third) = 1/3
            return np.where(np.abs(W) < third, 0.0, np.sign(W)), b * math.sqrt(2 / 3)
        return W, b

    def features(self, x: Array, seed: int = 0) -> Array:
        a = flat(x)
        xp = a.__array_namespace__()
        W, b = self.directions(a.shape[1], seed)
        h = xp.maximum(a @ on_device(W).T + on_device(b), 0.0)
        for layer in range(1, self.depth):
            V = np.random.default_rng([seed, layer]).standard_normal((self.N, self.N)) * math.sqrt(2 / self.N)
            h = xp.maximum(h @ on_device(V).T, 0.0)
        return h / math.sqrt(self.N)

    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        left = self.features(x, seed)
        return left @ (left if z is x else self.features(z, seed)).T
