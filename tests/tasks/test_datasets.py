"""Data sets: only what has the right digest gets its place, whatever the source gives and however it ends."""

import gzip
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import threading
import time

import numpy as np
import pytest

from separatrix.cli.entry import run
from separatrix.errors import InputError
from separatrix.tasks import datasets
from separatrix.tasks.datasets import DataError, DataFile, DataSet, Folder, Mirror, NpmPackage, Silent, Source
from separatrix.tasks.datasets.mnist import read_idx

CONTENTS = {"one-idx3-ubyte": bytes(range(200)) * 7, "two-idx1-ubyte": b"skewed" * 11, "three": b"\1"}
FILES = tuple(DataFile(name, len(body), hashlib.md5(body).hexdigest()) for name, body in CONTENTS.items())


class Given(Source):
    """Hands over these contents in order, then raises ``end``; counts how often it was asked."""

    def __init__(self, contents, end=None, label="given"):
        self.contents, self.end, self.asked, self._label = contents, end, [], label

    @property
    def label(self):
        return self._label

    def fetch(self, files, watch):
        self.asked.append([file.name for file in files])
        for file in files:
            if file.name in self.contents:
                yield file, self.contents[file.name]
        if self.end is not None:
            raise self.end


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def made(*sources):
    return DataSet("tiny", "three files", FILES, sources)


def there(found):
    return {path.name: path.read_bytes() for path in found.folder.iterdir()} if found.folder.is_dir() else {}


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


# The web -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def web():
    """A server on this machine that has the first two files, one of them not a gzip file."""
    bodies = {"/d/one-idx3-ubyte.gz": gzip.compress(CONTENTS["one-idx3-ubyte"]), "/d/two-idx1-ubyte.gz": b"<html>"}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = bodies.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/d/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def heard():
    class Heard(datasets.Watch):
        def __init__(self):
            self.said, self.counts = [], []

        def say(self, message):
            self.said.append(message)

        def advance(self, name, done, total):
            self.counts.append((name, done, total))

    return Heard()


def test_a_mirror_is_read_with_its_progress(web, heard):
    source = Mirror(web)
    assert list(source.fetch(FILES[:1], heard)) == [(FILES[0], CONTENTS["one-idx3-ubyte"])]
    name, done, total = heard.counts[-1]
    assert name == "one-idx3-ubyte.gz"
    assert done == total > 0


def test_a_mirrors_html_page_and_missing_file_are_not_data(web):
    page = made(Mirror(web))
    with pytest.raises(DataError, match="two-idx1-ubyte must have the md5"):
        page.get()
    assert list(there(page)) == ["one-idx3-ubyte"]
    with pytest.raises(DataError, match="HTTP status 404"):
        list(Mirror(web).fetch(FILES[2:], Silent()))


def test_a_mirror_that_does_not_answer(web):
    nobody = Mirror("http://127.0.0.1:9/d/")
    with pytest.raises(DataError, match="no connection"):
        list(nobody.fetch(FILES, Silent()))


# npm ---------------------------------------------------------------------------------------------------------------


def archive(*members):
    """A package: members are (name, content) or (name, link target, kind)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, body, *kind in members:
            about = tarfile.TarInfo(name)
            if kind:
                about.type, about.linkname = kind[0], body
                tar.addfile(about)
            else:
                about.size = len(body)
                tar.addfile(about, io.BytesIO(body))
    return packed.getvalue()


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """Sets what the npm client on the path does: write this archive, or run these lines of shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def does(packed=None, script=""):
        if packed is not None:
            (tmp_path / "kept.tgz").write_bytes(packed)
            copied = f"import shutil; shutil.copy({str(tmp_path / 'kept.tgz')!r}, 'p.tgz')"
            script = f'{sys.executable} -c "{copied}"'
        (folder / "npm").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "npm").chmod(0o755)

    return does


PACKAGE = NpmPackage("some-data", "1.0.0", "data")


def test_an_npm_package_is_read(npm):
    npm(archive(("package/index.js", b"run()"), *((f"package/data/{name}", body) for name, body in CONTENTS.items())))
    found = made(PACKAGE)
    assert set(found.get().values()) == {"npm package some-data 1.0.0"}
    assert there(found) == CONTENTS


def test_a_malicious_archive_writes_nothing(npm, tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(CONTENTS["three"])
    one = CONTENTS["one-idx3-ubyte"]
    npm(
        archive(
            ("../../evil", b"evil"),
            (str(tmp_path / "evil"), b"evil"),
            ("package/data/../../../evil", b"evil"),
            ("package/data", str(tmp_path), tarfile.SYMTYPE),
            ("package/data/three", str(outside), tarfile.SYMTYPE),
            ("package/data/two-idx1-ubyte", "/etc/hostname", tarfile.LNKTYPE),
            ("package/data/one-idx3-ubyte", one[:-1] + b"?"),
            ("package/data/one-idx3-ubyte", one),
        )
    )
    before = {path for path in tmp_path.rglob("*") if "cache" not in path.parts}
    with pytest.raises(DataError, match="could not be had"):
        made(PACKAGE).get()
    assert {path for path in tmp_path.rglob("*") if "cache" not in path.parts} == before
    assert there(made()) == {"one-idx3-ubyte": one}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'npm error code ENOTFOUND' >&2; exit 1", "npm failed: code ENOTFOUND"),
        ("echo 'npm ERR! code E404' >&2; exit 1", "npm failed: code E404"),
        ("exit 0", "npm failed: it gave no reason"),
        ("echo not a tar file > p.tgz", "its archive cannot be read: not a tar archive\\)"),
    ],
)
def test_npm_that_fails(npm, script, message):
    npm(script=script)
    with pytest.raises(DataError, match=message):
        made(PACKAGE).get()


def test_a_package_that_is_cut_off(npm):
    npm(archive(("package/data/one-idx3-ubyte", CONTENTS["one-idx3-ubyte"]))[:-60])
    with pytest.raises(DataError, match="its archive cannot be read"):
        made(PACKAGE).get()


def test_npm_that_is_not_there_is_said(npm):
    with pytest.raises(DataError, match="npm is not installed"):
        made(PACKAGE).get()


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


# The command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    source = Given(CONTENTS)
    monkeypatch.setattr(datasets, "DATASETS", {"tiny": made(source)})
    return source


def test_data_get_and_list(tiny, capsys):
    assert run(["data", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["status"] == "absent"
    assert run(["data", "get", "tiny", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "verified"
    assert found["origins"]["three"] == "given"
    made().path(FILES[0]).write_bytes(b"")
    assert run(["data", "list"]) == 0
    assert "damaged" in capsys.readouterr().out
    made().path(FILES[0]).unlink()
    assert run(["data"]) == 0
    assert "incomplete" in capsys.readouterr().out


def test_data_get_without_a_network_exits_with_1(tiny, capsys):
    tiny.contents, tiny.end = {}, DataError("no connection")
    assert run(["data", "get", "tiny"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("separatrix: tiny could not be had (given: no connection)")
    assert last.endswith("--from DIR")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["get", "tini"], "did you mean 'tiny'"),
        (["got"], "did you mean 'get'"),
        (["get"], "NAME is missing; separatrix data list shows"),
        (["get", "tiny", "--from", "nowhere-at-all"], "--from must be a folder that exists, got 'nowhere-at-all'"),
    ],
)
def test_bad_input_is_one_line(tiny, capsys, args, message):
    assert run(["data", *args]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_figure_without_its_data_says_how_to_get_them(capsys, tmp_path):
    for figure in ("pooling/fig3c", "pooling/fig5"):
        assert run(["reproduce", figure, "--store", str(tmp_path / "store")]) == 2
        assert capsys.readouterr().err.splitlines() == [
            "separatrix: the data set mnist is not on this machine; run: separatrix data get mnist"
        ]


def test_a_folder_looks_up_no_other_name(tmp_path):
    (tmp_path / "three.txt").write_bytes(b"\1")
    assert Folder(tmp_path).find(FILES[2]) is None
