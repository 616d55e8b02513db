"""Losses and errors, example by example.

A binary label is in {-1, +1} and sign(0) = -1, as the papers assume; one of several classes is a row of labels, +1 at
the class and -1 elsewhere, and the answer is the class of the largest output, the first of equal ones. A regression's
error is the squared distance summed over its outputs, without a factor 1/2.
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


def cross_entropy(output: Float[Array, "points classes"], y: Float[Array, "points classes"]) -> Float[Array, " points"]:
    """-log softmax(h(x))_c for the class c, the one whose y is +1."""
    return jax.nn.logsumexp(output, axis=1) - jnp.where(y > 0, output, 0).sum(axis=1)


def mistakes(output: Float[Array, points * outputs], y: Float[Array, points * outputs]) -> Float[Array, " points"]:
    """1 where sign(h(x)) is not y, or the largest output is not that of the class."""
    if output.ndim == 1:
        return ((output > 0) != (y > 0)).astype(output.dtype)
    return (output.argmax(axis=1) != y.argmax(axis=1)).astype(output.dtype)


LOSSES: Mapping[str, PerExample] = {
    "hinge": hinge,
    "logistic": logistic,
    "squared": squared,
    "cross_entropy": cross_entropy,
}
LABELS: Mapping[str, int] = {"hinge": 0, "logistic": 0, "cross_entropy": 1}
"""How many axes the labels of a loss have, where it matters."""


def error_of(kind: Literal["classification", "regression"]) -> PerExample:
    """What a record calls the error of a task of this kind."""
    return mistakes if kind == "classification" else squared
