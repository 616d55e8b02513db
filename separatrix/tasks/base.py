"""What a task is: a distribution over (x, y), drawn example by example inside compiled programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Literal, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from separatrix.errors import InputError

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


class Population(NamedTuple):
    """A finite support with its probabilities: what an expectation over the task is a sum over."""

    x: Float[Array, points * shape]
    y: Float[Array, points * outputs]
    p: Float[Array, " points"]


class Task(ABC):
    """A distribution over (x, y); subclasses are frozen dataclasses.

    A seed first draws the ``instance`` (what the task leaves open: the patterns, the hidden target),
    then its examples. Example number ``index`` depends on the instance, the key and the index alone, so a
    sample of 20 begins with the sample of 10 of the same seed, and learners are compared on the same data.
    """

    @property
    @abstractmethod
    def input_shape(self) -> tuple[int, ...]: ...

    @property
    def output_shape(self) -> tuple[int, ...]:
        """``()`` for a binary label in {-1, +1}; otherwise the shape of a real-valued target."""
        return ()

    @property
    def kind(self) -> Literal["classification", "regression"]:
        return "classification"

    def parts(self) -> Mapping[str, Task]:
        """Tasks with the same instances, by name, on whose test distributions the error is recorded as well (in the
        column ``test_error.NAME``): the components of a mixture, say."""
        return {}

    def prepare(self) -> None:
        """Called before the first cell of a run; raises an ``InputError`` where something is missing (a data set)."""
        return

    def data(self) -> PyTree[Array]:
        """Arrays that all instances share (a data set), loaded once; most tasks need none."""
        return ()

    @abstractmethod
    def instance(self, key: PRNGKeyArray, data: PyTree[Array]) -> PyTree[Array]: ...

    @abstractmethod
    def example(
        self, instance: PyTree[Array], split: Split, index: Array, key: PRNGKeyArray
    ) -> tuple[Array, Array]: ...

    def capacity(self, split: Split) -> int | None:
        """How many examples a split has; None where the task draws without end."""
        return None

    @property
    def epoch_size(self) -> int | None:
        """How many examples a pass over the training data has; None where the task draws without end."""
        return self.capacity("train")

    def epoch(self, key: PRNGKeyArray) -> PyTree[Array]:
        """What one pass over the training data draws for all of its examples: a new order, say."""
        return ()

    def epoch_example(
        self, instance: PyTree[Array], epoch: PyTree[Array], index: Array, key: PRNGKeyArray
    ) -> tuple[Array, Array]:
        """Example number ``index`` of the pass that drew ``epoch``; where nothing else is said, a new example."""
        return self.example(instance, "train", index, key)

    @property
    def population_size(self) -> int | None:
        """The number of points of the support; None where it is infinite or not enumerated."""
        return None

    def population(self, instance: PyTree[Array]) -> Population:
        raise InputError(f"{type(self).__name__} has no enumerated population")

    def sample(
        self, instance: PyTree[Array], split: Split, key: PRNGKeyArray, size: int, first: int | Array = 0
    ) -> tuple[Float[Array, size * shape], Float[Array, size * outputs]]:
        """``size`` examples of a split, from number ``first`` on."""

        def one(index: Array) -> tuple[Array, Array]:
            return self.example(instance, split, index, jax.random.fold_in(key, index))

        return jax.vmap(one)(first + jax.numpy.arange(size))

    def draw(self, seed: int, size: int, split: Split = "train") -> tuple[np.ndarray, np.ndarray]:
        """A sample as NumPy arrays: the same one that a cell of this seed is trained or tested on."""
        key = stream(seed, "instance")
        instance = self.instance(key, self.data())
        x, y = self.sample(instance, split, stream(seed, split), size)
        return np.asarray(x), np.asarray(y)


_STREAMS = ("instance", "train", "validation", "test", "initialise", "algorithm", "epoch")


def stream(seed: int | Array | np.ndarray, name: str | int | Array) -> PRNGKeyArray:
    """The independent random stream of a seed for one purpose, by name or number."""
    return jax.random.fold_in(jax.random.key(seed), stream_number(name) if isinstance(name, str) else name)


def stream_number(name: str) -> int:
    return _STREAMS.index(name)
