"""CIFAR-10 as a task: which of ten classes a small colour photograph shows (Malach & Shalev-Shwartz, figure 1)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt8

from separatrix.rules import Choice, Whole, enforce, parameter
from separatrix.tasks.base import Split, Task
from separatrix.tasks.datasets import Cifar10, cifar10
from separatrix.tasks.datasets.cifar10 import CLASSES

TRAINING, TEST = 50_000, 10_000
"""Images of CIFAR-10; the test images follow the training images."""


class Images(NamedTuple):
    """All images, training images first, with the training pixels' moments in [0, 1], colour by colour."""

    pixels: UInt8[Array, "images 32 32 3"]
    labels: UInt8[Array, " images"]
    mean: Float[Array, " colours"]
    std: Float[Array, " colours"]


@dataclass(frozen=True)
class Photographs(Task):
    """x is an image of CIFAR-10, 32 x 32 pixels in three colours; y is +1 at its class and -1 at the nine others.

    ``held_out``: how many of the last training images are kept for validation; with none, validation images are
    training images and no ground for a choice. ``scaling``: pixels in [0, 1] (``unit``), or these minus the mean and
    over the standard deviation of their colour (``standardised``). An epoch is
    a new order of the training images.
    """

    held_out: int = parameter(5000, Whole(0, TRAINING - 1))
    scaling: str = parameter("standardised", Choice("unit", "standardised"))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (32, 32, 3)

    @property
    def output_shape(self) -> tuple[int, ...]:
        return (len(CLASSES),)

    def capacity(self, split: Split) -> int:
        train = TRAINING - self.held_out
        return {"train": train, "validation": self.held_out or train, "test": TEST}[split]

    def prepare(self) -> None:
        cifar10()

    def data(self) -> Images:
        return _images(cifar10)

    def instance(self, key: PRNGKeyArray, data: Images) -> Images:
        return data

    def epoch(self, key: PRNGKeyArray) -> Int[Array, " images"]:
        """The order of the training images."""
        return jax.random.permutation(key, self.capacity("train"))

    def epoch_example(
        self, instance: Images, epoch: Array, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, "32 32 3"], Float[Array, " classes"]]:
        return self._labelled(instance, epoch[index])

    def example(
        self, instance: Images, split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Float[Array, "32 32 3"], Float[Array, " classes"]]:
        first = {"train": 0, "validation": TRAINING - self.held_out if self.held_out else 0, "test": TRAINING}[split]
        return self._labelled(instance, first + index)

    def _labelled(self, instance: Images, which: Array) -> tuple[Float[Array, "32 32 3"], Float[Array, " classes"]]:
        x = instance.pixels[which].astype(float) / 255
        if self.scaling == "standardised":
            x = (x - instance.mean.astype(x.dtype)) / instance.std.astype(x.dtype)
        own = jnp.arange(len(CLASSES)) == instance.labels[which]
        return x, jnp.where(own, 1, -1).astype(x.dtype)


@functools.lru_cache(maxsize=1)
def _images(load: Callable[[], Cifar10]) -> Images:
    """The images on the device, as bytes: 184 MB, once a process however many tasks use them."""
    found = load()
    pixels = np.concatenate([found.train_images, found.test_images])
    labels = np.concatenate([found.train_labels, found.test_labels])
    # moments from the counts of the 256 levels: exact, and without 600 MB of real numbers
    counts = np.stack([np.bincount(found.train_images[..., colour].ravel(), minlength=256) for colour in range(3)])
    levels = np.arange(256) / 255
    mean = counts @ levels / counts.sum(axis=1)
    std = np.sqrt(counts @ levels**2 / counts.sum(axis=1) - mean**2)
    return Images(*map(jnp.asarray, (pixels, labels, mean.astype(np.float32), std.astype(np.float32))))
