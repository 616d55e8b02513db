"""The store: atomic, tolerant of bad files, of repeated cells and of other versions' columns."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.studies import store as module
from separatrix.studies.store import Store, StoreError


def record(cell, status="ok", **columns):
    return {"cell": cell, "status": status, "test_error": 0.1, **columns}


def test_an_empty_store_reads_as_empty(tmp_path):
    assert Store(tmp_path / "none").frame().height == 0
    assert not (tmp_path / "none").exists()


def test_columns_may_be_missing_extra_or_of_another_type(tmp_path):
    store = Store(tmp_path)
    store.append([record("a", train_size=3)])
    store.append([record("b", extra="x")])
    store.append([record("c", train_size=None)])
    store.append([record("d", train_size=3.5)])
    store.append([record("e", train_size="many")])
    frame = store.frame().sort("cell")
    assert frame["cell"].to_list() == list("abcde")
    assert [float(v) for v in frame["train_size"].to_list()[:4:3]] == [3, 3.5]
    assert frame["train_size"].to_list()[4] == "many"
    assert frame["extra"].to_list() == [None, "x", None, None, None]


def test_a_torn_part_is_set_aside_and_the_others_stay(tmp_path):
    store = Store(tmp_path)
    store.append([record("a")])
    name = store.append([record("b")])
    path = store.parts / f"{name}.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(UserWarning, match="set aside"):
        assert store.frame()["cell"].to_list() == ["a"]
    assert store.frame()["cell"].to_list() == ["a"]
    assert path.with_suffix(".unreadable").exists()


def test_a_transient_error_sets_nothing_aside(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.append([record("a")])
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda self: (_ for _ in ()).throw(OSError(24, "Too many open files")))
        with pytest.raises(StoreError, match="Too many open files"):
            store.frame()
    assert store.frame().height == 1


def test_a_reader_during_a_compaction_sees_every_record(tmp_path, monkeypatch):
    """Another process merges the parts between the listing and the reading of one."""
    monkeypatch.setattr(module, "_COMPACT_ABOVE", 1)
    store = Store(tmp_path)
    for number in range(4):
        store.append([record(str(number))])
    read, compacted = Path.read_bytes, []

    def slow(self):
        if not compacted:
            compacted.append(True)
            Store(tmp_path).compact()
        return read(self)

    monkeypatch.setattr(Path, "read_bytes", slow)
    assert store.frame().height == 4


def test_a_result_takes_the_place_of_a_failure(tmp_path):
    store = Store(tmp_path)
    store.append([record("a", "failed")])
    store.append([record("a", "ok"), record("b", "diverged")])
    assert store.statuses() == {"a": "ok", "b": "diverged"}


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        store.append([record("a")])
    assert [path.name for path in store.parts.iterdir()] == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        Store(tmp_path / "file" / "store").append([record("a")])


def test_writers_side_by_side_lose_nothing(tmp_path):
    def write(first):
        for number in range(20):
            Store(tmp_path).append([record(f"{first}-{number}")])

    threads = [threading.Thread(target=write, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Store(tmp_path).frame().height == 80


def test_compaction_keeps_every_record(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_COMPACT_ABOVE", 5)
    store = Store(tmp_path)
    for number in range(8):
        store.append([record(str(number), "failed" if number == 3 else "ok", number=number)])
    before = store.frame().sort("cell")
    store.compact()
    assert len(list(store.parts.glob("*.parquet"))) == 1
    assert store.frame().sort("cell").equals(before)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["ok", "failed", "diverged"])), max_size=12))
def test_one_row_a_cell_whatever_was_written(tmp_path_factory, written):
    store = Store(tmp_path_factory.mktemp("store"))
    for number, (cell, status) in enumerate(written):
        store.append([record(cell, status, number=number), record(f"{cell}{number}")])
    found = store.statuses()
    assert set(found) == {cell for cell, _ in written} | {f"{cell}{n}" for n, (cell, _) in enumerate(written)}
    for cell, status in found.items():
        statuses = {s for c, s in written if c == cell}
        assert status in statuses or not statuses
        assert status != "failed" or statuses == {"failed"}
