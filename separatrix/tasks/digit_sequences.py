"""Sequences of handwritten digits (Malach & Shalev-Shwartz, section 6): the label is the parity of three of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree, UInt8

from separatrix.errors import InputError
from separatrix.rules import Choice, Whole, enforce, parameter
from separatrix.tasks.base import Split, Task
from separatrix.tasks.datasets import Mnist, mnist

HEIGHT, WIDTH = 24, 8
"""Of one digit in a sequence."""
TRAINING, TEST = 60_000, 10_000
"""Images of MNIST; the test images follow the training images."""


class Strips(NamedTuple):
    """The narrow digits, training images first, with the moments of the training images' pixels in [0, 1]."""

    images: UInt8[Array, "images 24 8"]
    odd: UInt8[Array, " images"]
    mean: Float[Array, ""]
    std: Float[Array, ""]


@dataclass(frozen=True)
class DigitSequences(Task):
    """n digits of MNIST side by side, 24 x 8 pixels each; the label is the parity of the sum of three of them.

    The three are the middle digit and those ``apart`` places to its left and right: 1 is figure 3 (the middle three),
    (n - 1) / 2 is figure 4 (first, middle and last: :meth:`far`). y = +1 where the sum is even, as the product of the
    digits' signs is in the theory.

    What the paper leaves open: ``fit``, how 28 x 28 pixels become 24 x 8: the centre 24 x 24 with three columns
    averaged to one (``squeeze``), or two columns averaged to one and the centre cut out (``crop``, which loses the
    sides of wide digits). ``scaling``: pixels in [0, 1] (``unit``), or these minus the mean and over the standard
    deviation of the training pixels (``standardised``). ``composition``: an epoch's sequences are cut from one new
    shuffle of all training digits (``cut``, 60000 / n of them, each digit used once), or each place has a shuffle of
    its own (``independent``, 60000 sequences). ``held_out``: how many of the last training images are kept for
    validation; with none (the paper's 60000), validation sequences are made of training images and are no ground for a
    choice.

    Test and validation sequences (and training sequences where the sample is drawn once) are of digits drawn
    uniformly and independently; test sequences are made of the 10000 test images alone.
    """

    n: int = parameter(7, Whole(3))
    apart: int = parameter(1, Whole(1), traced=True)
    fit: str = parameter("squeeze", Choice("squeeze", "crop"))
    scaling: str = parameter("standardised", Choice("unit", "standardised"))
    composition: str = parameter("cut", Choice("cut", "independent"))
    held_out: int = parameter(0, Whole(0, 50_000))

    def __post_init__(self) -> None:
        enforce(self)
        if self.apart > (self.n - 1) // 2:
            raise InputError(f"apart must be at most (n - 1) / 2 = {(self.n - 1) // 2}, got {self.apart}")

    @classmethod
    def far(cls, n: int, **options: str | int) -> DigitSequences:
        """The first, the middle and the last digit decide (figure 4)."""
        return cls(n, (n - 1) // 2, **options)  # type: ignore[arg-type]

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (HEIGHT, WIDTH * self.n)

    @property
    def _training_images(self) -> int:
        return TRAINING - self.held_out

    @property
    def epoch_size(self) -> int:
        return self._training_images // self.n if self.composition == "cut" else self._training_images

    def prepare(self) -> None:
        mnist()

    def data(self) -> Strips:
        return _strips(mnist, self.fit)

    def instance(self, key: PRNGKeyArray, data: Strips) -> Strips:
        return data

    def epoch(self, key: PRNGKeyArray) -> Int[Array, "epoch_size n"]:
        """Which images each of the epoch's sequences is made of."""
        count = self._training_images
        if self.composition == "cut":
            return jax.random.permutation(key, count)[: self.epoch_size * self.n].reshape(-1, self.n)
        return jax.vmap(lambda key: jax.random.permutation(key, count), out_axes=1)(jax.random.split(key, self.n))

    def epoch_example(
        self, instance: Strips, epoch: PyTree[Array], index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, "rows columns"], Float[Array, ""]]:
        return self._sequence(instance, epoch[index])

    def example(
        self, instance: Strips, split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, "rows columns"], Float[Array, ""]]:
        train = self._training_images
        first, end = {
            "train": (0, train),
            "validation": (train if self.held_out else 0, TRAINING),
            "test": (TRAINING, TRAINING + TEST),
        }[split]
        # remainders of 32-bit words: uniform over the images to 1 part in 2^16
        words = jax.random.bits(key, (self.n,)) % (end - first)
        return self._sequence(instance, first + words.astype(int))

    def _sequence(
        self, instance: Strips, which: Int[Array, " n"]
    ) -> tuple[Float[Array, "rows columns"], Float[Array, ""]]:
        middle = (self.n - 1) // 2
        deciding = which[middle + self.apart * jnp.arange(-1, 2)]
        x = jnp.moveaxis(instance.images[which], 0, 1).reshape(self.input_shape).astype(float) / 255
        if self.scaling == "standardised":
            x = (x - instance.mean.astype(x.dtype)) / instance.std.astype(x.dtype)
        odd = instance.odd[deciding].astype(int).sum() % 2
        return x, (1 - 2 * odd).astype(x.dtype)


@functools.lru_cache(maxsize=2)
def _strips(load: Callable[[], Mnist], fit: str) -> Strips:
    """The narrow digits on the device, as bytes: 13 MB, once a process however many tasks use them."""
    found = load()
    labels = np.concatenate([found.train_labels, found.test_labels])
    images = narrow(np.concatenate([found.train_images, found.test_images]), fit)
    training = images[: len(found.train_labels)] / 255
    moments = np.float32(training.mean()), np.float32(training.std())
    return Strips(jnp.asarray(images), jnp.asarray((labels % 2).astype(np.uint8)), *map(jnp.asarray, moments))


def narrow(images: np.ndarray, fit: str) -> np.ndarray:
    """28 x 28 pixels as 24 x 8, in bytes (see :class:`DigitSequences`)."""
    centre = images[:, 2:26]
    if fit == "squeeze":
        columns = centre[:, :, 2:26].reshape(len(images), HEIGHT, WIDTH, 3)
    else:
        columns = centre[:, :, 6:22].reshape(len(images), HEIGHT, WIDTH, 2)
    return columns.mean(axis=3, dtype=np.float32).round().astype(np.uint8)
