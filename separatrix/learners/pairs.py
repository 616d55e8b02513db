"""The network of Daniely & Malach (section 2) and its gradient descent: one large regularised step, then small ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray, PyTree

from separatrix.errors import InputError
from separatrix.learners.algorithms import Algorithm, Problem
from separatrix.learners.base import Architecture
from separatrix.learners.depth_two import FCNNet
from separatrix.rules import Choice, Maybe, Real, Whole, enforce, parameter


@dataclass(frozen=True)
class PairedFCN(Architecture):
    """g(x) = sum_{i <= 2q} u_i sigma(<w_i, x> + b_i) with sigma = ReLU6, started in ``q`` pairs.

    For i <= q: w_i uniform in {-1, 0, 1}^n, b_i = 1/(8k), u_i uniform in [-n/k, n/k]. Neuron q + i is, with
    ``initialisation``:

    - ``corrected``: w_i, b_i, -u_i, so that g^(0) = 0 and the hinge loss starts with the gradient of -E[f g];
    - ``printed``: -w_i, -b_i, -u_i. As sigma(z) - (-sigma(-z)) is odd, a pair then adds up to
      u_i min(max(<w_i, x> + b_i, -6), 6), which is not 0, and inputs with y g > 1 start without a gradient.

    For inputs in {+-1/sqrt n}^n (``SparseParity``) and :class:`TwoPhase` on the hinge loss.
    """

    q: int = parameter(64, Whole(1))
    k: int = parameter(3, Whole(1))
    initialisation: str = parameter("corrected", Choice("corrected", "printed"))

    def __post_init__(self) -> None:
        enforce(self)

    def build(self, key: PRNGKeyArray, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> FCNNet:
        if output_shape != () or len(input_shape) != 1:
            raise InputError(f"PairedFCN needs inputs of n bits and one output, got {input_shape} and {output_shape}")
        n = input_shape[0]
        w_key, u_key = jax.random.split(key)
        w = jax.random.randint(w_key, (self.q, n), -1, 2).astype(float)
        u = jax.random.uniform(u_key, (self.q,), minval=-n / self.k, maxval=n / self.k)
        b = jnp.full((self.q,), 1 / (8 * self.k))
        sign = 1.0 if self.initialisation == "corrected" else -1.0
        w, b, u = (jnp.concatenate(pair) for pair in ((w, sign * w), (b, sign * b), (u, -u)))
        return FCNNet(w, b, u, "relu6")


class _NoMemory(NamedTuple):
    """Descent with a schedule remembers nothing between steps."""


@dataclass(frozen=True)
class TwoPhase(Algorithm):
    """theta <- theta - eta_t d/dtheta (L(g) + lambda_t R(g)), R = ||u||^2 + sum_i ||w_i||^2, on all layers together.

    The first step has ``eta1`` and ``lambda1`` (1 and 1/2: it replaces w by -dL/dw), all later ones ``eta`` and
    ``lambda_``. The biases ``unregularised`` move too, without a share in R; the paper's update lists only w and u, but
    its proof moves b. On the whole sample or the exact population; SGD with a ``batch``.
    """

    eta1: float = parameter(1.0, Real(above=0), traced=True)
    lambda1: float = parameter(0.5, Real(0), traced=True)
    eta: float = parameter(0.01, Real(above=0), traced=True)
    lambda_: float = parameter(0.0, Real(0), traced=True)
    batch: int | None = parameter(None, Maybe(Whole(1)))
    unregularised: tuple[str, ...] = ("b",)

    def __post_init__(self) -> None:
        enforce(self)

    @classmethod
    def paper(cls, n: int, k: int, q: int, T: int) -> TwoPhase:
        """Theorem 2's: eta = k^2 / (T sqrt q) and the largest lambda that it allows, k/n."""
        return cls(eta=k**2 / (T * math.sqrt(q)), lambda_=k / n)

    @property
    def warmup(self) -> Any:
        return 1

    @property
    def on_population(self) -> bool:
        return self.batch is None

    def init(self, params: PyTree) -> PyTree:
        return _NoMemory()

    def step(
        self, t: Int[Array, ""], params: PyTree, state: PyTree, problem: Problem, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        if self.batch is None:
            gradient = problem.gradient(params, problem.weights)
        else:
            gradient = problem.batch_gradient(params, jax.random.randint(key, (self.batch,), 0, problem.size))
        eta = jnp.where(t == 0, self.eta1, self.eta)
        decay = 2 * jnp.where(t == 0, self.lambda1, self.lambda_)

        def moved(path: tuple[Any, ...], p: Array, g: Array) -> Array:
            regularised = getattr(path[0], "name", None) not in self.unregularised
            step = g + decay * p if regularised else g
            return (p - eta * step).astype(p.dtype)

        return jax.tree_util.tree_map_with_path(moved, params, gradient), state
