"""``separatrix export``: all records in one file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import click

from separatrix.cli.output import console, emit, json_option, only_result_on_stdout, store_option, text
from separatrix.cli.stores import existing
from separatrix.errors import InputError

SUFFIXES = (".parquet", ".csv")


@click.command("export")
@click.option("--to", "target", required=True, metavar="FILE.parquet|FILE.csv", help="The file to write.")
@store_option()
@json_option
def command(target: str, store: str, as_json: bool) -> None:
    """Write all records to one file, one row a cell, with the cell's key in the column "cell".

    In CSV, columns of lists (the errors along the way) are JSON text.
    """
    path = Path(target)
    if path.suffix not in SUFFIXES:
        raise InputError(f"--to must end in {' or '.join(SUFFIXES)}, got {target!r}")
    if not path.parent.is_dir():
        raise InputError(f"--to must be in a folder that exists, got {target!r}")
    folder = existing(store)
    from separatrix.files import write_whole
    from separatrix.studies.store import Store

    with only_result_on_stdout(as_json):
        frame = Store(folder).frame()
        content = io.BytesIO()
        if path.suffix == ".csv":
            flat_lists(frame).write_csv(content)
        else:
            frame.write_parquet(content)
        write_whole(path, content.getvalue())
    if as_json:
        emit({"file": str(path), "rows": frame.height, "columns": frame.columns})
    else:
        console().print(text(f"wrote {frame.height} rows and {frame.width} columns to {path}"))


def flat_lists(frame: Any) -> Any:
    """The frame with each list as JSON text."""
    import polars as pl

    from separatrix.theory.certificate import plain

    def as_json(values: Any) -> str | None:
        return None if values is None else json.dumps(plain(list(values)))

    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns(
        pl.Series(name, [as_json(values) for values in frame[name].to_list()], dtype=pl.String) for name in nested
    )
