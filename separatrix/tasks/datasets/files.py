"""A data set's files in the cache folder: got, checked, and only then put in their places."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from separatrix.cache import cache_folder
from separatrix.errors import InputError
from separatrix.files import write_whole
from separatrix.tasks.datasets.sources import DataError, DataFile, Folder, Silent, Source, Watch

Status = Literal["verified", "damaged", "absent"]
_ABANDONED_SECONDS = 10.0


def md5(content: bytes | bytearray | memoryview) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class DataSet:
    """Files and where they come from; ``sources`` are tried in order until every file is there."""

    name: str
    about: str
    files: Sequence[DataFile]
    sources: Sequence[Source]

    @property
    def folder(self) -> Path:
        return cache_folder() / "data" / self.name

    def path(self, file: DataFile) -> Path:
        return self.folder / file.name

    def status(self, file: DataFile) -> Status:
        """Whether the cached file has the content that it must have."""
        try:
            if self.path(file).stat().st_size != file.size:
                return "damaged"
            return "verified" if md5(self.path(file).read_bytes()) == file.md5 else "damaged"
        except FileNotFoundError:
            return "absent"

    def require(self) -> None:
        """Raise an ``InputError`` that says what to do unless every file is there and right."""
        for file in self.files:
            status = self.status(file)
            if status == "absent":
                raise InputError(
                    f"the data set {self.name} is not on this machine; run: separatrix data get {self.name}"
                )
            if status == "damaged":
                raise InputError(f"{self.path(file)} is damaged; run: separatrix data get {self.name}")

    def get(self, given: Path | None = None, watch: Watch | None = None) -> dict[str, str]:
        """Have every file in the cache, from the folder ``given`` or from the sources; where each came from, by name.

        A file is put in its place whole, once its digest is right, so that an interruption leaves the others as they
        are and the next call fetches only what is missing. Files that were damaged are fetched again.
        """
        shown = watch if watch is not None else Silent()
        statuses = {file: self.status(file) for file in self.files}
        origins = {file.name: "cache" for file, status in statuses.items() if status == "verified"}
        for file, status in statuses.items():
            if status == "damaged":
                shown.say(f"{self.path(file)} is damaged and is fetched again")
        try:
            if given is not None:
                self._take_from(given, origins, shown)
            else:
                self._take_from_sources(origins, shown)
        finally:
            self._clear_up()
        return {file.name: origins[file.name] for file in self.files}

    def _take_from_sources(self, origins: dict[str, str], shown: Watch) -> None:
        reasons: list[str] = []
        for source in self.sources:
            if not self._missing(origins):
                break
            shown.say(f"trying {source.label}")
            try:
                self._take(source, origins, reasons, shown)
            except DataError as error:
                reasons.append(f"{source.label}: {error}")
                shown.say(reasons[-1])
        if missing := self._missing(origins):
            raise DataError(
                f"{self.name} could not be had ({'; '.join(reasons)}); download {_listed(missing)} elsewhere "
                f"and run: separatrix data get {self.name} --from DIR"
            )

    def _take(self, source: Source, origins: dict[str, str], wrong: list[str], watch: Watch) -> None:
        """Place what a source has and is right; ``wrong`` gets what was not, in words."""
        for file, content in source.fetch(self._missing(origins), watch):
            found = md5(content)
            if len(content) != file.size or found != file.md5:
                wrong.append(f"{source.label}: {file.name} must have the md5 {file.md5}, got {found}")
                watch.say(wrong[-1])
                continue
            write_whole(self.path(file), content)
            origins[file.name] = source.label

    def _take_from(self, given: Path, origins: dict[str, str], watch: Watch) -> None:
        if not given.is_dir():
            raise InputError(f"--from must be a folder that exists, got {str(given)!r}")
        folder = Folder(given)
        wrong: list[str] = []
        self._take(folder, origins, wrong, watch)
        if wrong:
            raise InputError(f"{wrong[0]} (of what is in the file, uncompressed)")
        missing = self._missing(origins)
        unreadable = [found for file in missing if (found := folder.find(file))]
        if unreadable:
            raise InputError(f"{unreadable[0]} must be a whole gzip file or a plain one, got a broken one")
        if missing:
            raise InputError(f"--from must be a folder that holds {_listed(missing)}, plain or .gz, got {str(given)!r}")

    def _missing(self, origins: dict[str, str]) -> list[DataFile]:
        return [file for file in self.files if file.name not in origins]

    def _clear_up(self) -> None:
        """Remove what killed downloads left; what was touched just now is somebody else's at work."""
        for left in self.folder.glob(".*.tmp"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                    left.unlink()


def _listed(files: Sequence[DataFile]) -> str:
    return ", ".join(file.name for file in files)
