"""The store: a folder of Parquet parts, appended atomically, that anything can read.

A part is written to a temporary file, synced and renamed, under a name that is the hash of its cells' keys. So
no part is ever torn, writers need no lock, and a chunk that is run twice overwrites itself with the same.
Parts are read one by one: one that cannot be read is set aside and the others stay usable.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from separatrix.files import write_whole
from separatrix.schema import FINAL, SCHEMA
from separatrix.specs import content_hash

FORMAT = "1"
_COMPACT_ABOVE = 256
_LISTINGS = 20


class StoreError(RuntimeError):
    """The store's folder cannot be used; the message says why."""


class Store:
    """Records on disk."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.parts = self.folder / "parts"
        self.plans = self.folder / "plans"

    def append(self, records: Sequence[Mapping[str, Any]]) -> str:
        """Write records as one part, durably; its name."""
        name = content_hash(sorted(str(record["cell"]) for record in records))
        self._write_part(name, pl.DataFrame([dict(record) for record in records], infer_schema_length=None))
        return name

    def frame(self) -> pl.DataFrame:
        """All records, one row a cell: a result takes the place of a failure, and repeats are dropped."""
        frames = [frame for _, frame in self._read_parts()]
        if not frames:
            return pl.DataFrame(schema=dict(SCHEMA))
        rank = pl.when(pl.col("status").is_in(FINAL)).then(0).otherwise(1)
        rows = _together(frames).with_columns(rank.alias("_rank")).sort("_rank", maintain_order=True)
        return rows.unique("cell", keep="first", maintain_order=True).drop("_rank")

    def statuses(self) -> dict[str, str]:
        """The status of every cell that has a record."""
        frame = self.frame()
        return dict(zip(frame["cell"].to_list(), frame["status"].to_list(), strict=True))

    def save_plan(self, plan: str, name: str, cells: Sequence[str], facts: Mapping[str, Any]) -> None:
        """Keep what the study of this name plans, so that ``status`` can say what is left; ``plan`` identifies it."""
        text = json.dumps({"name": name, "cells": list(cells), **facts})
        self._write(self.plans / f"{plan}.json", text)

    def read_plans(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted(self.plans.glob("*.json"))]

    def compact(self) -> None:
        """Merge the parts into one where they are many. A reader at the same time may see both, not neither."""
        read = self._read_parts()
        if len(read) <= _COMPACT_ABOVE:
            return
        frame = self.frame()
        name = content_hash(sorted(frame["cell"].to_list()))
        self._write_part(name, frame)
        for path, _ in read:
            if path.stem != name:
                path.unlink(missing_ok=True)

    def _write_part(self, name: str, frame: pl.DataFrame) -> None:
        buffer = io.BytesIO()
        frame.write_parquet(buffer, metadata={"separatrix_format": FORMAT})
        self._write(self.parts / f"{name}.parquet", buffer.getvalue())

    def _write(self, path: Path, content: bytes | str) -> None:
        try:
            write_whole(path, content)
        except OSError as error:
            raise StoreError(f"the store {self.folder} cannot be written: {error.strerror or error}") from error

    def _read_parts(self) -> list[tuple[Path, pl.DataFrame]]:
        """Every part. Where one vanishes meanwhile, merged into another by a compaction, all are listed again."""
        for _ in range(_LISTINGS):
            try:
                return [(path, frame) for path in sorted(self.parts.glob("*.parquet")) for frame in self._read(path)]
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreError(f"the store {self.folder} cannot be read: {error.strerror or error}") from error
        raise StoreError(f"the store {self.folder} cannot be read: its parts keep changing")

    def _read(self, path: Path) -> Iterator[pl.DataFrame]:
        """The part's records, or none where its content is no Parquet: it is then set aside, with a warning."""
        content = path.read_bytes()
        try:
            yield pl.read_parquet(io.BytesIO(content))
        except pl.exceptions.PolarsError as error:
            aside = path.with_suffix(".unreadable")
            path.rename(aside)
            warnings.warn(f"{path.name} cannot be read and was set aside as {aside.name}: {error}", stacklevel=4)


def _together(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One frame from parts whose columns differ in presence or type; a clash of types becomes text."""
    try:
        return pl.concat(frames, how="diagonal_relaxed")
    except (pl.exceptions.SchemaError, pl.exceptions.ComputeError):
        wanted = {column: kind for frame in frames for column, kind in frame.schema.items() if kind != pl.Null}
        clashing = [
            column
            for column in wanted
            if len({frame.schema[column] for frame in frames if column in frame.columns} - {pl.Null()}) > 1
        ]
        texts = [frame.with_columns(pl.col(set(clashing) & set(frame.columns)).cast(pl.String)) for frame in frames]
        return pl.concat(texts, how="diagonal_relaxed")
