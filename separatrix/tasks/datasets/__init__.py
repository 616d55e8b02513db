"""Real data: where each set comes from, its digests, and its files in the cache folder.

A data set is a list of files with their digests and a list of sources, tried in order. To add one, write a module
like :mod:`.mnist` and name it in ``DATASETS``.
"""

from collections.abc import Mapping

from separatrix.tasks.datasets.cifar10 import CIFAR10, Cifar10, cifar10
from separatrix.tasks.datasets.files import DataSet
from separatrix.tasks.datasets.mnist import MNIST, Mnist, mnist
from separatrix.tasks.datasets.sources import (
    Archive,
    DataError,
    DataFile,
    Folder,
    Mirror,
    NpmPackage,
    Silent,
    Source,
    Watch,
)

DATASETS: Mapping[str, DataSet] = {found.name: found for found in (MNIST, CIFAR10)}

__all__ = [
    "CIFAR10",
    "DATASETS",
    "MNIST",
    "Archive",
    "Cifar10",
    "DataError",
    "DataFile",
    "DataSet",
    "Folder",
    "Mirror",
    "Mnist",
    "NpmPackage",
    "Silent",
    "Source",
    "Watch",
    "cifar10",
    "mnist",
]
