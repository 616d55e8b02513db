"""Pattern detection with handwritten digits (Brutzkus & Globerson, section 7 and figure 5)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt8

from separatrix.errors import InputError
from separatrix.rules import Choice, Whole, enforce, parameter
from separatrix.tasks.base import SPLITS, Split, Task
from separatrix.tasks.datasets import Mnist, mnist

VALIDATION_IMAGES = 10_000
"""The last of the training images: those that validation examples are made of."""

_PIXELS = 28 * 28
_MEAN, _STD = 0.1306604762738429, 0.30810780385646264
"""Of the pixels of the 60000 training images, in [0, 1]."""


class Digits(NamedTuple):
    """Images, and their indices in groups: split s's images of digit c are ``order[starts[s, c]:][:counts[s, c]]``."""

    images: UInt8[Array, "images pixels"]
    order: Int[Array, " images"]
    starts: Int[Array, "splits digits"]
    counts: Int[Array, "splits digits"]


@dataclass(frozen=True)
class DigitDetection(Task):
    """x = (x[1], ..., x[n]) with x[j] in R^784 an image of a digit; a 3 (y = 1) or a 5 (y = -1) at a random place.

    The n - 1 others are spurious: each a digit drawn uniformly from the eight that remain, then an image drawn
    uniformly from the images of this digit. No image is shared between splits: training examples are made of
    MNIST's first 50000 training images, validation examples of the last 10000, test examples of the 10000 test images.

    ``positive``, ``negative``: the two digits to tell apart. ``scaling``: pixels in [0, 1] (``unit``), or these minus
    the mean and over the standard deviation of all training pixels (``standardised``).
    """

    n: int = parameter(4, Whole(1))
    positive: int = parameter(3, Whole(0, 9))
    negative: int = parameter(5, Whole(0, 9))
    scaling: str = parameter("unit", Choice("unit", "standardised"))

    def __post_init__(self) -> None:
        enforce(self)
        if self.positive == self.negative:
            raise InputError(f"negative must be another digit than positive, got {self.negative} for both")

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.n, _PIXELS)

    def prepare(self) -> None:
        mnist()

    def data(self) -> Digits:
        return _digits(mnist)

    def instance(self, key: PRNGKeyArray, data: Digits) -> Digits:
        return data

    def example(
        self, instance: Digits, split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, "n d"], Float[Array, ""]]:
        # remainders of 32-bit words: uniform over the images of a digit to 1 part in 2^19
        words = jax.random.bits(key, (2 + 2 * self.n,))
        negative = (words[0] % 2).astype(int)
        spurious = jnp.array([digit for digit in range(10) if digit not in (self.positive, self.negative)])
        digits = spurious[(words[2 : 2 + self.n] % spurious.size).astype(int)]
        wanted = jnp.array([self.positive, self.negative])[negative]
        digits = digits.at[(words[1] % self.n).astype(int)].set(wanted)
        group = SPLITS.index(split)
        first, count = instance.starts[group, digits], instance.counts[group, digits]
        which = instance.order[first + (words[2 + self.n :] % count.astype(words.dtype)).astype(first.dtype)]
        x = instance.images[which].astype(float) / 255
        if self.scaling == "standardised":
            x = (x - _MEAN) / _STD
        return x, (1 - 2 * negative).astype(x.dtype)


@functools.lru_cache(maxsize=1)
def _digits(load: Callable[[], Mnist]) -> Digits:
    """The data on the device, as bytes: 55 MB, once a process however many tasks use them."""
    found = load()
    images = np.concatenate([found.train_images, found.test_images]).reshape(-1, _PIXELS)
    labels = np.concatenate([found.train_labels, found.test_labels]).astype(np.int32)
    for_training = len(found.train_labels)
    split = np.repeat([0, 1, 2], [for_training - VALIDATION_IMAGES, VALIDATION_IMAGES, len(found.test_labels)])
    order = np.lexsort((labels, split)).astype(np.int32)
    count = np.zeros((len(SPLITS), 10), np.int32)
    np.add.at(count, (split, labels), 1)
    first = (np.cumsum(count) - count.ravel()).reshape(count.shape).astype(np.int32)
    return Digits(*(jnp.asarray(array) for array in (images, order, first, count)))
