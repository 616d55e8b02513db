"""The Walsh-Hadamard transform, and the hypercube in chunks.

One ordering everywhere: a point x of {+-1}^n has an index between 0 and 2^n - 1 whose bit i stands
for coordinate i, with bit 0 for x_i = +1 and bit 1 for x_i = -1; a subset S of the coordinates has
the index with bit i set where i is in S. The character is then

    chi_S(x) = prod_{i in S} x_i = (-1)^popcount(S & x)

and the transform of f is the sum of f(x) chi_S(x) over all x. Reference: R. O'Donnell, *Analysis of
Boolean Functions*, chapter 1.

>>> walsh_hadamard(np.array([5, 1, 1, 1]))  # f on (+,+), (-,+), (+,-), (-,-)
array([8, 4, 4, 4])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError

MOST_COORDINATES = 24
"""Enumeration stops here: 2^24 points."""


def walsh_hadamard(values: NDArray[Any]) -> NDArray[Any]:
    """Sum of ``values[x] * chi_S(x)`` over x, for every S, in n 2^n additions.

    Floats are transformed in float64. Integers stay exact: in int64 where the sums are sure to fit,
    as Python integers (object arrays) where they might not. Object arrays, of fractions say, stay
    objects. Applied twice it multiplies by 2^n.
    """
    size = values.size
    if values.ndim != 1 or size == 0 or size & (size - 1):
        raise InputError(f"values must be a vector whose length is a power of two, got shape {values.shape}")
    sums = _exact_enough(values)
    half = 1
    while half < size:
        pairs = sums.reshape(-1, 2, half)
        plus, minus = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = plus, minus
        half *= 2
    return sums


def _exact_enough(values: NDArray[Any]) -> NDArray[Any]:
    """A copy in a type in which the sums neither round integers nor overflow."""
    if values.dtype == object:
        return values.copy()
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind in "iu":
        largest = max(abs(int(values.max())), abs(int(values.min())))
        return values.astype(np.int64 if largest * values.size < 2**63 else object)
    return values.astype(np.float64)


def fourier_coefficients(values: NDArray[Any]) -> NDArray[np.float64]:
    """E over x of f(x) chi_S(x), for every S.

    >>> fourier_coefficients(np.array([1.0, -1.0, -1.0, 1.0]))  # x_0 x_1
    array([0., 0., 0., 1.])
    """
    return np.asarray(walsh_hadamard(values) / values.size, dtype=np.float64)


def levels(n: int) -> NDArray[np.uint8]:
    """The number of coordinates in each subset, in index order."""
    return np.bitwise_count(np.arange(1 << n, dtype=np.uint32))


def level_weights(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the squared coefficients over the subsets of each size 0..n.

    >>> level_weights(fourier_coefficients(np.array([1.0, 0.0, 0.0, 0.0])))  # AND: one quarter of all
    array([0.0625, 0.125 , 0.0625])
    """
    n = coefficients.size.bit_length() - 1
    return np.bincount(levels(n), weights=coefficients**2, minlength=n + 1).astype(np.float64)


def points(start: int, stop: int, n: int) -> NDArray[np.int8]:
    """The points with indices start..stop-1, one a row.

    >>> points(0, 4, 2).tolist()
    [[1, 1], [-1, 1], [1, -1], [-1, -1]]
    """
    index = np.arange(start, stop, dtype=np.uint32)[:, None]
    bits = (index >> np.arange(n, dtype=np.uint32)) & 1
    return (1 - 2 * bits.astype(np.int8)).astype(np.int8)


def hypercube(n: int, chunk: int = 1 << 14) -> Iterator[tuple[int, NDArray[np.int8]]]:
    """All of {+-1}^n in blocks: the index of a block's first point, and its points.

    >>> [(start, block.shape) for start, block in hypercube(3, chunk=4)]
    [(0, (4, 3)), (4, (4, 3))]
    """
    if not 0 <= n <= MOST_COORDINATES:
        raise InputError(f"n must be between 0 and {MOST_COORDINATES} to enumerate the hypercube, got {n}")
    for start in range(0, 1 << n, chunk):
        yield start, points(start, min(start + chunk, 1 << n), n)


def character(subset: int, block: NDArray[np.int8]) -> NDArray[np.int8]:
    """chi_S at each row of a block of points, S given by its index.

    >>> character(0b101, points(0, 8, 3)).tolist()
    [1, -1, 1, -1, -1, 1, -1, 1]
    """
    inside = [i for i in range(block.shape[1]) if subset >> i & 1]
    return np.asarray(np.prod(block[:, inside], axis=1, dtype=np.int8))


def inner_products(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """<w, x> for every x, in index order, in 2^n additions.

    >>> inner_products(np.array([3.0, 1.0]))
    array([ 4., -2.,  2., -4.])
    """
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums + weight, sums - weight])
    return sums
