"""The gradient at the start: measured on networks that are trained, and Theorem 12's exact expectation at any n.

Both for one neuron with |u_i| = 1 and w_i ~ N(0, 1/n), or N(0, 1/k) for a filter of k bits. Where |h| <= 1 the hinge
loss is linear, and a filter's gradient comes from the pattern's window alone: the CNN's is the FCN's on n = k bits.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from separatrix.learners import CNN, FCN, Network
from separatrix.learners.losses import LOSSES
from separatrix.papers.convolution.initial_gradient import Moments, series_moments
from separatrix.papers.convolution.tabled import Tabled, TabledNet
from separatrix.studies.intervals import Summary, mean_interval
from separatrix.tasks import KPattern, stream
from separatrix.tasks.base import Population
from separatrix.theory.activations import ACTIVATIONS, Clip
from separatrix.training.engine import numerics

Net = Literal["CNN", "FCN"]
ACTIVATION = "clipped_relu"
"""It is what both theorems ask for: |sigma| <= 1, |sigma'| <= 1, sigma(1/k) = 1/k and 0 on the negative."""


def architecture(net: Net, q: int, k: int, initialisation: str = "bounded") -> Tabled | FCN:
    """A network of q filters of k bits, or of q neurons: on n bits both have q (n + 2) numbers, all biases counted."""
    return Tabled(CNN(q, k, ACTIVATION, initialisation)) if net == "CNN" else FCN(q, ACTIVATION, initialisation)


def exact_gradient_sq(net: Net, n: int, k: int) -> float:
    """E ||dL/dw_i||^2.

    >>> exact_gradient_sq("CNN", 8, 3) == exact_gradient_sq("CNN", 100, 3) > exact_gradient_sq("FCN", 8, 3)
    True
    """
    bits = k if net == "CNN" else n
    return float(_moments(bits, k).gradient_w_sq(bits, k))


def expected_slope(net: Net, n: int, k: int, q: int) -> float:
    """E ||grad L||^2 of all weights and readouts that a seed draws with |u_i| = 1 over their number (biases left out).

    It is how fast gradient descent lowers the loss at first.
    """
    readouts = q * (n - k + 1) if net == "CNN" else q
    return q * (exact_gradient_sq(net, n, k) / readouts**2 + float(_moments(k if net == "CNN" else n, k).readout))


@functools.cache
def _moments(bits: int, k: int) -> Moments:
    sigma = ACTIVATIONS[ACTIVATION]
    assert isinstance(sigma, Clip)
    return series_moments(bits, k, Fraction(0), Fraction(1, bits), sigma)


@dataclass(frozen=True)
class Start:
    """Over seeds: the mean over neurons of ||dL/dw_i||^2 / u_i^2 where |u_i| is 1 over their number, in float64; and
    the largest ||g - g'|| / ||g|| with a Gaussian u, g' the gradient in w that float32 gives. (With the first u float32
    makes hardly an error: the sums are of few bits.)
    """

    gradient_sq: Summary
    values: tuple[float, ...]
    float32_error: float


@functools.cache
def measured_gradient(net: Net, n: int, k: int, q: int, seeds: int) -> Start:
    """By automatic differentiation of the population's hinge loss on all 2^n points."""
    values, errors = [], []
    for seed in range(seeds):
        with numerics("float64"):
            task = KPattern(n, k)
            bounded, usual = (
                architecture(net, q, k, start).build(stream(seed, "initialise"), (n,), ())
                for start in ("bounded", "gaussian")
            )
            population = task.population(task.instance(stream(seed, "instance"), task.data()))
        readouts = q * (n - k + 1) if net == "CNN" else q
        scaled = readouts * _gradient_w(bounded, population, "float64")
        values.append(float(np.mean(np.sum(np.square(scaled), axis=1))))
        exact, rounded = (_gradient_w(usual, population, precision) for precision in ("float64", "float32"))
        errors.append(float(np.linalg.norm(exact - rounded) / np.linalg.norm(exact)))
    return Start(mean_interval(values), tuple(values), max(errors))


def _gradient_w(network: Network, population: Population, precision: str) -> np.ndarray:
    """dL/dw, a row a neuron, of the network rounded to this precision, in its arithmetic."""
    with numerics(precision):
        x, y, p = (part.astype(precision) for part in population)

        def loss(network: Network) -> Array:
            return jnp.sum(p * LOSSES["hinge"](network(x), y))

        network = jax.tree.map(lambda leaf: leaf.astype(precision) if eqx.is_array(leaf) else leaf, network)
        g = eqx.filter_grad(loss)(network)
        return np.asarray(g.net.W if isinstance(g, TabledNet) else g.w, np.float64)
