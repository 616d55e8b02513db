"""Losses and errors, example by example.

A binary label is in {-1, +1} and sign(0) = -1, as the papers assume; a regression's error is the squared
distance summed over its outputs, without a factor 1/2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

PerExample = Callable[[Float[Array, "points *outputs"], Float[Array, "points *outputs"]], Float[Array, " points"]]


def hinge(output: Float[Array, " points"], y: Float[Array, " points"]) -> Float[Array, " points"]:
    """max(1 - y h(x), 0)."""
    return jax.nn.relu(1 - y * output)


def logistic(output: Float[Array, " points"], y: Float[Array, " points"]) -> Float[Array, " points"]:
    """log(1 + exp(-y h(x)))."""
    return jax.nn.softplus(-y * output)


def squared(output: Float[Array, points * outputs], y: Float[Array, points * outputs]) -> Float[Array, " points"]:
    """||h(x) - y||^2, summed over the outputs."""
    return jnp.square(output - y).reshape(len(y), -1).sum(axis=1)


def mistakes(output: Float[Array, " points"], y: Float[Array, " points"]) -> Float[Array, " points"]:
    """1 where sign(h(x)) is not y."""
    return ((output > 0) != (y > 0)).astype(output.dtype)


LOSSES: Mapping[str, PerExample] = {"hinge": hinge, "logistic": logistic, "squared": squared}


def error_of(kind: Literal["classification", "regression"]) -> PerExample:
    """What a record calls the error of a task of this kind."""
    return mistakes if kind == "classification" else squared
