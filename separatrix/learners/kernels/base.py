"""Kernels: what a linear method sees of a pair of inputs. Frozen dataclasses, evaluated in float64."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from separatrix.learners.kernels.arithmetic import Array, flat
from separatrix.rules import Real, Whole, enforce, parameter


class Kernel(ABC):
    """K(x, z); a random one (features, a network at its start) is drawn by the seed."""

    @property
    @abstractmethod
    def label(self) -> str: ...

    @abstractmethod
    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        """The matrix K(x_i, z_j), for points along the first axis."""

    def features(self, x: Array, seed: int = 0) -> Array | None:
        """phi(x_i) with K(x, z) = <phi(x), phi(z)>, a row each; None where the kernel has no list of features."""
        return None

    def check(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...]) -> None:
        """Raise an ``InputError`` where the kernel does not fit a task's shapes."""
        return


@dataclass(frozen=True)
class Linear(Kernel):
    """<x, z> + ``offset``: the inputs as they are; the offset lets the intercept be learnt.

    >>> import numpy as np
    >>> Linear(offset=1.0).gram(np.eye(2), np.eye(2)).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    offset: float = parameter(0.0, Real(0))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return "linear"

    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        return flat(x) @ flat(z).T + self.offset

    def features(self, x: Array, seed: int = 0) -> Array:
        xp = x.__array_namespace__()
        return xp.hstack([flat(x), xp.full((len(x), 1), self.offset**0.5, dtype=x.dtype)])


@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(-||x - z||^2 / (2 bandwidth^2)).

    >>> import numpy as np
    >>> Gaussian(bandwidth=2.0).gram(np.zeros((1, 3)), np.ones((1, 3))).round(6).tolist()  # exp(-3/8)
    [[0.687289]]
    """

    bandwidth: float = parameter(1.0, Real(above=0))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return "Gaussian kernel"

    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        a, b = flat(x), flat(z)
        xp = a.__array_namespace__()
        squared = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2 * (a @ b.T)
        return xp.exp(-xp.maximum(squared, 0.0) / (2 * self.bandwidth**2))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(scale <x, z> + offset)^degree.

    >>> import numpy as np
    >>> Polynomial(degree=3, offset=1.0).gram(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0]])).tolist()
    [[8.0]]
    """

    degree: int = parameter(3, Whole(1))
    offset: float = parameter(1.0, Real(0))
    scale: float = parameter(1.0, Real(above=0))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        return "polynomial kernel"

    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        return (self.scale * (flat(x) @ flat(z).T) + self.offset) ** self.degree
