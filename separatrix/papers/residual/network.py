r"""The learner of section 6, as the proofs write it, at one input, in NumPy and float64.

    out_1(x) = A D_W (W0 + W)(x, 1),    out(x) = out_1(x) + A D_{V,W} (V0 + V)(out_1(x), 1)

with A in R^{k x m}, W0, W in R^{m x (d+1)}, V0, V in R^{m x (k+1)}; D_W and D_{V,W} are the diagonal 0/1 matrices of
the signs of (W0 + W)(x, 1) and (V0 + V)(out_1(x), 1). A_ij ~ N(0, 1/m), W0_ij ~ N(0, sigma_w^2), V0_ij ~ N(0,
sigma_v^2/m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from separatrix.rules import Whole
from separatrix.theory.certificate import Finding, equal
from separatrix.theory.parameters import Floats, Positive, Seed
from separatrix.theory.results import result

Dimension = Annotated[int, Whole(1, 1000)]
Outputs = Annotated[int, Whole(1, 100)]
Width = Annotated[int, Whole(1, 200_000)]


def with_bias(x: Floats) -> Floats:
    """(x, 1)."""
    return np.append(x, 1.0)


@dataclass(frozen=True)
class ResNet:
    """The start (A, W0, V0) and the trained part (W, V)."""

    A: Floats
    W0: Floats
    V0: Floats
    W: Floats
    V: Floats

    @staticmethod
    def start(d: int, k: int, m: int, sigma_w: float, sigma_v: float, generator: np.random.Generator) -> ResNet:
        """Section 6's random start, with W = V = 0."""
        A = generator.normal(size=(k, m)) / math.sqrt(m)
        W0 = sigma_w * generator.normal(size=(m, d + 1))
        V0 = sigma_v / math.sqrt(m) * generator.normal(size=(m, k + 1))
        return ResNet(A, W0, V0, np.zeros_like(W0), np.zeros_like(V0))

    def moved(self, W: Floats, V: Floats) -> ResNet:
        return replace(self, W=W, V=V)

    def on_W(self, x: Floats) -> Floats:
        """The diagonal of D_W."""
        return np.asarray(((self.W0 + self.W) @ with_bias(x) >= 0).astype(np.float64))

    def out1(self, x: Floats) -> Floats:
        return np.asarray(self.A @ (self.on_W(x) * ((self.W0 + self.W) @ with_bias(x))))

    def on_V(self, x: Floats) -> Floats:
        """The diagonal of D_{V,W}."""
        return np.asarray(((self.V0 + self.V) @ with_bias(self.out1(x)) >= 0).astype(np.float64))

    def out(self, x: Floats) -> Floats:
        h = self.out1(x)
        return np.asarray(h + self.A @ (self.on_V(x) * ((self.V0 + self.V) @ with_bias(h))))

    def f(self, W: Floats, x: Floats) -> Floats:
        """f(W'; x) = A D_{V,W} (V0 + V)(A D_W W'(x, 1), 0) + A D_W W'(x, 1)."""
        inner = self.A @ (self.on_W(x) * (W @ with_bias(x)))
        return np.asarray(self.A @ (self.on_V(x) * ((self.V0 + self.V) @ np.append(inner, 0.0))) + inner)

    def g(self, V: Floats, x: Floats) -> Floats:
        """g(V'; x) = A D_{V,W} V'(out_1(x), 1)."""
        return np.asarray(self.A @ (self.on_V(x) * (V @ with_bias(self.out1(x)))))

    def gradients(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """dObj/dW and dObj/dV of Obj = ||y - out(x)||^2 / 2, from the formula of Fact C.4."""
        to_W, to_V = self.sensitivities(x)
        error = y - self.out(x)
        return -np.outer(error @ to_W, with_bias(x)), -np.outer(error @ to_V, with_bias(self.out1(x)))

    def sensitivities(self, x: Floats) -> tuple[Floats, Floats]:
        """The matrices (k x m) that take W'(x, 1) to f(W'; x) and V'(out_1(x), 1) to g(V'; x)."""
        first, second = self.A * self.on_W(x), self.A * self.on_V(x)
        return (second @ (self.V0 + self.V)[:, :-1]) @ first + first, second


def spectral(generator: np.random.Generator, shape: tuple[int, int], norm: float) -> Floats:
    """A random matrix whose singular values all equal ``norm``: the farthest move in every direction."""
    drawn = generator.normal(size=shape)
    left, _, right = np.linalg.svd(drawn, full_matrices=False)
    return np.asarray(norm * (left @ right))


@result(
    "residual/fact-c.4",
    "<dObj(W, V; (x, y)), (-W', -V')> = <y - out(x), f(W'; x) + g(V'; x)> with f = A D_{V,W} (V0 + V)(A D_W W'(x, "
    "1), 0) + A D_W W'(x, 1) and g = A D_{V,W} V'(out_1(x), 1).",
)
def fact_c_4(
    d: Dimension = 7,
    k: Outputs = 3,
    m: Annotated[int, Whole(1, 5000)] = 50,
    sigma_w: Positive = 0.5,
    sigma_v: Positive = 1.0,
    inputs: Annotated[int, Whole(1, 100)] = 5,
    seed: Seed = 0,
) -> Finding:
    r"""Fact C.4 of Allen-Zhu & Li against automatic differentiation in float64, at random W, V, W', V', x and y.

    Beside the products along (W', V') the whole gradients are compared, and the products with a central difference of
    the loss; where a ReLU changes sign within the step the difference is left out (``differences`` says how many were
    used).

    >>> fact_c_4(d=2, k=1, m=5, inputs=2).status
    'holds'
    """
    import jax
    import jax.numpy as jnp

    generator = np.random.default_rng(seed)
    net = ResNet.start(d, k, m, sigma_w, sigma_v, generator)
    net = net.moved(
        generator.normal(size=net.W.shape) / math.sqrt(m), generator.normal(size=net.V.shape) / math.sqrt(m)
    )
    product_gap = gradient_gap = difference_gap = largest = 0.0
    used = 0

    def objective(W: Any, V: Any, A: Any, W0: Any, V0: Any, x: Any, y: Any) -> Any:
        h = A @ jax.nn.relu((W0 + W) @ jnp.append(x, 1.0))
        out = h + A @ jax.nn.relu((V0 + V) @ jnp.append(h, 1.0))
        return jnp.sum((y - out) ** 2) / 2

    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(objective, argnums=(0, 1)))
        for _ in range(inputs):
            x, y = generator.normal(size=d) / math.sqrt(d), generator.normal(size=k)
            W_, V_ = generator.normal(size=net.W.shape), generator.normal(size=net.V.shape)
            given = [jnp.asarray(array) for array in (net.W, net.V, net.A, net.W0, net.V0, x, y)]
            dW, dV = (np.asarray(array) for array in gradient(*given))
            left = -float(np.sum(dW * W_) + np.sum(dV * V_))
            right = float((y - net.out(x)) @ (net.f(W_, x) + net.g(V_, x)))
            own_W, own_V = net.gradients(x, y)
            product_gap = max(product_gap, abs(left - right) / max(abs(left), 1e-6))
            scale = max(float(np.abs(dW).max()), float(np.abs(dV).max()), 1e-6)
            gap = max(float(np.abs(dW - own_W).max()), float(np.abs(dV - own_V).max()))
            gradient_gap = max(gradient_gap, gap / scale)
            largest = max(largest, abs(left))
            step = 1e-6
            ahead, behind = (net.moved(net.W + s * W_, net.V + s * V_) for s in (step, -step))
            if all(
                np.array_equal(a.on_W(x), net.on_W(x)) and np.array_equal(a.on_V(x), net.on_V(x))
                for a in (ahead, behind)
            ):
                losses = [float(np.sum((y - a.out(x)) ** 2)) / 2 for a in (ahead, behind)]
                slope = -(losses[0] - losses[1]) / (2 * step)
                difference_gap = max(difference_gap, abs(slope - right) / max(abs(right), 1e-2))
                used += 1
    measured = {
        "product_gap": product_gap,
        "gradient_gap": gradient_gap,
        "difference_gap": difference_gap,
        "differences": used,
        "largest_product": largest,
    }
    checks = [
        equal("product_gap, relative", product_gap, 0, 1e-8),
        equal("gradient_gap, relative", gradient_gap, 0, 1e-9),
        equal("difference_gap, relative", difference_gap, 0, 1e-4),
    ]
    return Finding(measured, {"product_gap": 0, "gradient_gap": 0, "difference_gap": 0}, checks, "closed form")
