"""Sums over examples, in chunks whose activations fit the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

from separatrix.training.samples import Sample

Work = Callable[[PyTree, Array, Array, Array], PyTree]


def sum_over_examples(work: Work, params: PyTree, sample: Sample, chunk: int) -> Any:
    """``work(params, x, y, w)``, which must be a sum over examples, added up over chunks of about ``chunk``."""
    room = sample.w.shape[0]
    count = chunks_of(room, chunk)
    if count == 1:
        return work(params, *sample)
    each = -(-room // count)

    def split(array: Array, mode: str) -> Array:
        padded = jnp.pad(array, [(0, count * each - room)] + [(0, 0)] * (array.ndim - 1), mode=mode)
        return padded.reshape(count, each, *array.shape[1:])

    # padding repeats a true example, without weight: zeros may have no gradient (a norm has none at 0)
    parts = Sample(split(sample.x, "edge"), split(sample.y, "edge"), split(sample.w, "constant"))
    first = jax.tree.map(lambda part: part[0], parts)
    zero = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(work, params, *first))

    def add(total: PyTree, part: Sample) -> tuple[PyTree, None]:
        return jax.tree.map(jnp.add, total, work(params, *part)), None

    return jax.lax.scan(add, zero, parts)[0]


def chunks_of(room: int, chunk: int) -> int:
    """The number of chunks: the least that are small enough, or one that divides ``room`` if it is not far.

    >>> chunks_of(1280, 50), chunks_of(1000, 40), chunks_of(1009, 100), chunks_of(60, 40)
    (32, 25, 11, 1)
    """
    if room < 2 * chunk:
        return 1
    least = -(-room // chunk)
    return next((count for count in range(least, 2 * least) if room % count == 0), least)
