"""Arc-cosine kernels (Cho & Saul), and through them the kernels of infinitely wide ReLU networks.

For (u, v) Gaussian with mean 0, variances p and q and covariance c, at the angle theta = arccos(c / sqrt(p q)),

    E[relu(u) relu(v)]   = sqrt(p q) (sin theta + (pi - theta) cos theta) / (2 pi)      (degree 1)
    E[relu'(u) relu'(v)] = (pi - theta) / (2 pi)                                        (degree 0)
    E[relu(u)]           = sqrt(p / (2 pi))

Covariances are matrices over pairs of inputs, variances vectors over inputs. NumPy or JAX arrays alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from separatrix.learners.kernels.arithmetic import Array, flat
from separatrix.learners.kernels.base import Kernel
from separatrix.rules import Choice, Real, Whole, enforce, parameter

_ONE = 1 - 1e-15


class Covariance(NamedTuple):
    """Of a Gaussian field at the points x and z: between them, and the variances of each."""

    xz: Array
    xx: Array
    zz: Array


def angle(K: Covariance) -> Array:
    """theta between u and v; a right angle where a variance is 0. Rounding at theta = 0 (equal points) is cut off."""
    xp = K.xz.__array_namespace__()
    size = xp.sqrt(K.xx[:, None] * K.zz[None, :])
    cosine = xp.where(size > 0, K.xz / xp.where(size > 0, size, 1.0), 0.0)
    return xp.arccos(xp.clip(xp.where(cosine > _ONE, 1.0, cosine), -1.0, 1.0))


def relu_covariance(K: Covariance) -> Array:
    """E[relu(u) relu(v)] at every pair.

    >>> import numpy as np
    >>> one = np.ones(1)
    >>> float(relu_covariance(Covariance(np.ones((1, 1)), one, one))[0, 0])  # E relu(u)^2 = 1/2
    0.5
    """
    xp = K.xz.__array_namespace__()
    theta = angle(K)
    size = xp.sqrt(K.xx[:, None] * K.zz[None, :])
    return size * (xp.sin(theta) + (math.pi - theta) * xp.cos(theta)) / (2 * math.pi)


def relu_derivative_covariance(K: Covariance) -> Array:
    """E[relu'(u) relu'(v)] at every pair: the probability that both are positive."""
    return (math.pi - angle(K)) / (2 * math.pi)


def relu_mean(variance: Array) -> Array:
    """E[relu(u)] at every point."""
    return (variance / (2 * math.pi)) ** 0.5


def through_relu(K: Covariance, weight_variance: float = 1.0, bias_variance: float = 0.0) -> Covariance:
    """The covariance one layer up: of sum_j W_j relu(u_j) sqrt(weight_variance / width) + b sqrt(bias_variance)."""
    return Covariance(
        weight_variance * relu_covariance(K) + bias_variance,
        weight_variance * K.xx / 2 + bias_variance,
        weight_variance * K.zz / 2 + bias_variance,
    )


def of_inputs(x: Array, z: Array, weight_variance: float = 1.0, bias_variance: float = 0.0) -> Covariance:
    """The covariance of the first layer: weight_variance <x, z> / d + bias_variance, for inputs of d numbers."""
    a, b = flat(x), flat(z)
    factor = weight_variance / a.shape[1]
    return Covariance(
        factor * (a @ b.T) + bias_variance,
        factor * (a * a).sum(axis=1) + bias_variance,
        factor * (b * b).sum(axis=1) + bias_variance,
    )


KINDS = ("ntk", "nngp", "conjugate")


@dataclass(frozen=True)
class WideReLU(Kernel):
    """The kernels of a fully connected ReLU network with ``depth`` hidden layers of infinite width and one output,

        h_0 = x,   u_l = sqrt(weight_variance / d_l) W_l h_{l-1} + sqrt(bias_variance) b_l,   h_l = relu(u_l),

    W and b standard Gaussian, d_l the width of h_{l-1}, and u_{depth+1} the output. With S_l the covariance of u_l:

    ``nngp``: S_{depth+1}, of the output at the start;
    ``conjugate``: E[h h'] of a unit of the last hidden layer, the kernel of random features;
    ``ntk``: of the gradients with respect to all W and b,
    Theta_1 = S_1,  Theta_{l+1} = S_{l+1} + weight_variance Theta_l E[relu'(u_l) relu'(u_l')]  (elementwise).
    """

    depth: int = parameter(1, Whole(1))
    kind: str = parameter("ntk", Choice(*KINDS))
    weight_variance: float = parameter(2.0, Real(above=0))
    bias_variance: float = parameter(0.0, Real(0))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return {"ntk": "NTK", "nngp": "NNGP", "conjugate": "conjugate kernel"}[self.kind]

    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        S = of_inputs(x, z, self.weight_variance, self.bias_variance)
        theta = S.xz
        for layer in range(self.depth):
            if self.kind == "conjugate" and layer == self.depth - 1:
                return relu_covariance(S)
            above = through_relu(S, self.weight_variance, self.bias_variance)
            if self.kind == "ntk":
                theta = above.xz + self.weight_variance * theta * relu_derivative_covariance(S)
            S = above
        return theta if self.kind == "ntk" else S.xz
