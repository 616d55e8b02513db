"""Stochastic gradient descent over epochs, and Algorithm 1 of Allen-Zhu & Li."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray, PyTree, UInt

from separatrix.errors import InputError
from separatrix.learners.algorithms import Algorithm, Problem
from separatrix.learners.network import at_path
from separatrix.rules import Real, Whole, enforce, parameter

_RATE = Real(above=0)
_ROUNDS = 16


@dataclass(frozen=True)
class SGD(Algorithm):
    """Minibatches without replacement in each epoch, momentum, weight decay, and a rate that drops once.

    As PyTorch's SGD, the default of Allen-Zhu & Li (section 8.1), with g_t the gradient of the batch's mean loss:

        v_{t+1} = mu v_t + g_t + lambda w_t,    w_{t+1} = w_t - eta v_{t+1}

    eta = ``learning_rate`` (divided by ``drop`` from epoch number ``drop_at`` x ``epochs`` on), mu = ``momentum``,
    lambda = ``weight_decay``. A cell's training ends after ``epochs`` of ceil(N / ``batch``) steps; the last batch of
    an epoch is what is left of the sample.
    """

    learning_rate: float = parameter(0.05, _RATE, traced=True)
    momentum: float = parameter(0.9, Real(0, below=1), traced=True)
    weight_decay: float = parameter(0.0, Real(0), traced=True)
    batch: int = parameter(50, Whole(1))
    epochs: int = parameter(800, Whole(1, 2**20), traced=True)
    drop: float = parameter(10.0, Real(above=0), traced=True)
    drop_at: float = parameter(0.5, Real(0, 1), traced=True)

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def examples_a_step(self) -> int:
        return self.batch

    def ends(self, size: int | Int[Array, ""]) -> Any:
        return self.epochs * -(-size // self.batch)

    def init(self, params: PyTree) -> PyTree:
        return jax.tree.map(jnp.zeros_like, params)

    def step(
        self, t: Int[Array, ""], params: PyTree, state: PyTree, problem: Problem, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        epoch, gradient = epoch_gradient(t, params, problem, self.batch)
        rate = self.learning_rate / jnp.where(epoch >= self.epochs * self.drop_at, self.drop, 1.0)
        state = jax.tree.map(lambda v, g, w: self.momentum * v + g + self.weight_decay * w, state, gradient, params)
        return jax.tree.map(lambda w, v: (w - rate * v).astype(w.dtype), params, state), state


@dataclass(frozen=True)
class Algorithm1(Algorithm):
    """Algorithm 1 of Allen-Zhu & Li: SGD on Obj = 1/2 ||y - out||^2, a fresh example a step, a rate a hidden layer.

        W_{t+1} = W_t - eta_w dObj(x_t, y_t) / dW,    V_{t+1} = V_t - eta_v dObj(x_t, y_t) / dV

    The loss ``squared`` is 2 Obj, so its gradient is halved. Each example of the sample is used once, so that T is
    the train size; the last layer A is not trained.
    """

    eta_w: float = parameter(0.01, _RATE, traced=True)
    eta_v: float = parameter(0.01, _RATE, traced=True)

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def examples_a_step(self) -> int:
        return 1

    def ends(self, size: int | Int[Array, ""]) -> Any:
        return size

    def init(self, params: PyTree) -> PyTree:
        return ()

    def step(
        self, t: Int[Array, ""], params: PyTree, state: PyTree, problem: Problem, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        if len(problem.layers) != 3:
            raise InputError("Algorithm 1 needs a network of three layers")
        gradient = problem.batch_gradient(params, jnp.minimum(t, problem.size - 1)[None])
        for names, rate in zip(problem.layers[:2], (self.eta_w, self.eta_v), strict=True):
            moved = [at_path(params, name) - rate / 2 * at_path(gradient, name) for name in names]
            params = _with(params, names, moved)
        return params, state


def _with(params: PyTree, names: Sequence[str], values: Sequence[Array]) -> PyTree:
    return eqx.tree_at(lambda tree: [at_path(tree, name) for name in names], params, values)


def epoch_gradient(t: Int[Array, ""], params: PyTree, problem: Problem, batch: int) -> tuple[Array, PyTree]:
    """The number of the epoch that step ``t`` lies in, and the gradient of the mean loss over the step's minibatch."""
    steps = -(-problem.size // batch)
    epoch, turn = t // steps, t % steps
    place = turn * batch + jnp.arange(batch)
    inside = place < problem.size
    chosen = shuffled(jnp.minimum(place, problem.size - 1), problem.size, problem.stream, epoch)
    weights = jnp.where(inside, 1 / jnp.minimum(batch, problem.size - turn * batch), 0.0)
    return epoch, problem.batch_gradient(params, chosen, weights.astype(problem.weights.dtype))


def shuffled(
    places: Int[Array, " batch"], size: int | Int[Array, ""], key: PRNGKeyArray, turn: int | Int[Array, ""] = 0
) -> Int[Array, " batch"]:
    """What stands at these places of permutation number ``turn`` of 0, ..., size - 1, without making the whole of it.

    The swap-or-not shuffle (Hoang, Morris, Rogaway, *An Enciphering Scheme Based on a Card Shuffle*, 2012): in each
    round the pairs x, K - x mod size are swapped or not by a hash of each. A place that was swapped once is uniform,
    so after 16 rounds all but 2^-16 of the places are. ``size`` may be traced, and a minibatch costs a few dozen
    integer operations an example where sorting would cost the whole sample.

    >>> sorted(shuffled(jnp.arange(7), 7, jax.random.key(3)).tolist())
    [0, 1, 2, 3, 4, 5, 6]
    """
    words = jax.random.key_data(key)
    number = _mixed(words[0] + jnp.asarray(turn).astype(jnp.uint32) * jnp.uint32(0x9E3779B9))
    rounds = jnp.arange(2 * _ROUNDS, dtype=jnp.uint32)
    keys = _mixed(_mixed(words[1] + rounds * jnp.uint32(0x9E3779B9)) ^ number)
    n = jnp.asarray(size).astype(jnp.uint32)
    shifts = keys[:_ROUNDS] % n
    x = places.astype(jnp.uint32)
    for shift, coin in zip(shifts, keys[_ROUNDS:], strict=True):
        partner = shift + n - x
        partner = jnp.where(partner >= n, partner - n, partner)
        heads = _mixed(jnp.maximum(x, partner) ^ coin) >> 31
        x = jnp.where(heads == 1, partner, x)
    return x.astype(places.dtype)


def _mixed(h: UInt[Array, "*shape"]) -> UInt[Array, "*shape"]:
    """The finaliser of MurmurHash3."""
    h = (h ^ (h >> 16)) * jnp.uint32(0x85EBCA6B)
    h = (h ^ (h >> 13)) * jnp.uint32(0xC2B2AE35)
    return h ^ (h >> 16)
