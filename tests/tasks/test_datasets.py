"""Data sets: only what has the right digest gets its place, whatever the source gives and however it ends."""

import gzip
import os
import time

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.tasks.datasets import DataError, Folder
from separatrix.tasks.datasets.mnist import read_idx
from tests.three_files import CONTENTS, FILES, Given, made, there


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_CACHE", str(tmp_path / "cache"))


def test_files_are_placed_once_and_then_taken_from_the_cache():
    source = Given(CONTENTS)
    found = made(source)
    assert [found.status(file) for file in FILES] == ["absent"] * 3
    assert set(found.get().values()) == {"given"}
    assert there(found) == CONTENTS
    found.require()
    assert set(found.get().values()) == {"cache"}
    assert len(source.asked) == 1


@pytest.mark.parametrize("harm", ["flip", "cut", "grow"])
def test_a_damaged_file_is_noticed_and_fetched_again(harm):
    source = Given(CONTENTS)
    found = made(source)
    found.get()
    path = found.path(FILES[0])
    body = bytearray(path.read_bytes())
    if harm == "flip":
        body[137] ^= 1
    path.write_bytes({"flip": body, "cut": body[:-1], "grow": body + b"x"}[harm])
    assert found.status(FILES[0]) == "damaged"
    with pytest.raises(InputError, match="is damaged; run: separatrix data get tiny"):
        found.require()
    assert found.get() == {"one-idx3-ubyte": "given", "two-idx1-ubyte": "cache", "three": "cache"}
    assert source.asked[1] == ["one-idx3-ubyte"]
    assert there(found) == CONTENTS


def test_what_is_wrong_is_never_placed_and_the_next_source_is_tried():
    wrong = CONTENTS | {"two-idx1-ubyte": b"skewed" * 10 + b"skewer"}
    found = made(Given(wrong, label="bad"), Given(CONTENTS, label="good"))
    assert found.get() == {"one-idx3-ubyte": "bad", "two-idx1-ubyte": "good", "three": "bad"}
    assert there(found) == CONTENTS


def test_nothing_reachable_is_one_line_that_says_what_to_do():
    found = made(Given({}, DataError("no connection"), "a.example"), Given({"three": b"\2"}, label="b.example"))
    with pytest.raises(DataError) as caught:
        found.get()
    message = str(caught.value)
    assert "\n" not in message
    for words in (
        "a.example: no connection",
        "b.example: three must have the md5",
        "data get tiny --from DIR",
        "one-idx3",
    ):
        assert words in message
    assert there(found) == {}


@pytest.mark.parametrize("end", [DataError("cut off"), KeyboardInterrupt()])
def test_an_interrupted_download_leaves_whole_files_only_and_goes_on(end):
    first = Given({"one-idx3-ubyte": CONTENTS["one-idx3-ubyte"]}, end)
    with pytest.raises(type(end)):
        made(first).get()
    assert there(made()) == {"one-idx3-ubyte": CONTENTS["one-idx3-ubyte"]}
    second = Given(CONTENTS)
    made(second).get()
    assert second.asked == [["two-idx1-ubyte", "three"]]


def test_a_full_disk_leaves_nothing_behind(monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        made(Given(CONTENTS)).get()
    assert there(made()) == {}


# A folder ----------------------------------------------------------------------------------------------------------


def test_files_from_a_folder_plain_zipped_or_spelt_with_a_dot(tmp_path):
    (tmp_path / "one.idx3-ubyte").write_bytes(CONTENTS["one-idx3-ubyte"])
    (tmp_path / "two-idx1-ubyte.gz").write_bytes(gzip.compress(CONTENTS["two-idx1-ubyte"]))
    (tmp_path / "three").write_bytes(CONTENTS["three"])
    found = made(Given({}, DataError("the web must not be asked")))
    assert set(found.get(tmp_path).values()) == {str(tmp_path)}
    assert there(found) == CONTENTS


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("two-idx1-ubyte", b"other", "two-idx1-ubyte must have the md5 .*, got"),
        ("two-idx1-ubyte.gz", gzip.compress(b"other"), "two-idx1-ubyte must have the md5 .*, got"),
        ("two-idx1-ubyte.gz", gzip.compress(CONTENTS["two-idx1-ubyte"])[:-9], "two-idx1-ubyte.gz must be a whole gzip"),
        ("two-idx1-ubyte.gz", gzip.compress(bytes(10**7)), "two-idx1-ubyte must have the md5"),
        ("something", b"", "must be a folder that holds two-idx1-ubyte, plain or .gz, got"),
    ],
    ids=["another file", "zipped", "cut off", "too long", "not there"],  # zipped bytes hold the time
)
def test_a_folder_with_wrong_files_is_bad_input(tmp_path, name, body, message):
    for right in ("one-idx3-ubyte", "three"):
        (tmp_path / right).write_bytes(CONTENTS[right])
    (tmp_path / name).write_bytes(body)
    with pytest.raises(InputError, match=message):
        made().get(tmp_path)
    assert "two-idx1-ubyte" not in there(made())


def test_the_broken_file_is_the_one_that_is_named(tmp_path):
    """Also where another one is not there at all."""
    (tmp_path / "three.gz").write_bytes(gzip.compress(CONTENTS["three"])[:-9])
    with pytest.raises(InputError, match=r"three\.gz must be a whole gzip file"):
        made().get(tmp_path)


def test_what_a_killed_download_left_is_cleared_up():
    found = made(Given(CONTENTS))
    found.folder.mkdir(parents=True)
    for name, age in (("abandoned", 60), ("at-work", 0)):
        half = found.folder / f".three.{name}.tmp"
        half.write_bytes(b"half")
        os.utime(half, (time.time() - age, time.time() - age))
    found.get()
    assert set(there(found)) == {*CONTENTS, ".three.at-work.tmp"}


def test_a_folder_that_is_not_there_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="--from must be a folder that exists"):
        made().get(tmp_path / "nowhere")


def test_a_folder_looks_up_no_other_name(tmp_path):
    (tmp_path / "three.txt").write_bytes(b"\1")
    assert Folder(tmp_path).find(FILES[2]) is None


# The idx format ----------------------------------------------------------------------------------------------------


def test_idx_files_are_mapped(tmp_path):
    path = tmp_path / "a-idx3-ubyte"
    path.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 5, 250, 7, 0, 1, 9]))
    found = read_idx(path)
    assert found.tolist() == [[[5], [250], [7]], [[0], [1], [9]]]
    assert isinstance(found, np.memmap)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with nothing"),
        (bytes([0, 0, 13, 1, 0, 0, 0, 1, 5]), "idx file of unsigned bytes, got one that begins with 00000d01"),
        (bytes([0, 0, 8, 2, 0, 0, 0, 1]), "idx file of unsigned bytes"),
        (bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 6]), "must hold 3 bytes after its head, got 2"),
    ],
)
def test_idx_files_that_are_broken(tmp_path, content, message):
    path = tmp_path / "b"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_idx(path)
