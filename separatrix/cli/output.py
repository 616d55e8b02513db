"""What commands print: one JSON document, or tables for people; numbers, verdicts and statuses in one style."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from separatrix.cli.failed import PipeClosed
from separatrix.report.words import bytes_in_words, number, shortened
from separatrix.rules import Choice, Rule

if TYPE_CHECKING:
    from rich.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT_STORE = "separatrix-results"
"""As in ``separatrix.studies.study``, which takes long to import."""

STYLES: Mapping[str, str] = {
    "holds": "green",
    "supported": "green",
    "ok": "green",
    "violated": "bold red",
    "refuted": "bold red",
    "failed": "bold red",
    "bad": "bold red",
    "vacuous": "yellow",
    "outside": "yellow",
    "undecided": "yellow",
    "inconclusive": "yellow",
    "warn": "yellow",
    "not run": "dim",
}

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")


def store_option(text: str = "The folder of records.") -> Callable[[Command], Command]:
    """``--store``, with the same default everywhere."""
    return click.option(
        "--store", default=DEFAULT_STORE, show_default=True, metavar="DIR", envvar="SEPARATRIX_STORE", help=text
    )


class Ruled(click.ParamType[Any]):
    """A value that obeys one of separatrix's rules, so that what is wrong with it is said as everywhere else."""

    name = "value"

    def __init__(self, rule: Rule):
        self.rule = rule

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.rule.accept(param.name if param is not None and param.name else "value", value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        names = self.rule.options if isinstance(self.rule, Choice) else ()
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def emit(document: Any) -> None:
    """Print the one JSON document."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # an exact bound may have more digits than Python prints by default
    try:
        click.echo(json.dumps(document, indent=1, allow_nan=False))
    except BrokenPipeError:
        raise PipeClosed from None


@contextlib.contextmanager
def only_result_on_stdout(wanted: bool) -> Iterator[None]:
    """While active, whatever is printed (by worker processes and users' code too) goes to standard error."""
    if not wanted:
        yield
        return
    sys.stdout.flush()
    try:
        is_stdout = sys.stdout.fileno() == 1
    except (OSError, AttributeError, ValueError):
        is_stdout = False
    kept = os.dup(1) if is_stdout else None
    try:
        if kept is not None:
            os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


def console(*, stderr: bool = False) -> Console:
    """A console that lets a closed pipe be seen, and gives tables room where nobody watches."""
    from rich.console import Console as Base

    class Plain(Base):
        def on_broken_pipe(self) -> None:
            raise PipeClosed

    stream = sys.stderr if stderr else sys.stdout
    made = Plain(file=stream, highlight=False, soft_wrap=False)
    return made if made.is_terminal or os.environ.get("COLUMNS") else Plain(file=stream, highlight=False, width=110)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, right: Sequence[str] = (), title: str = "") -> Any:
    """A plain table; cells are text or rich's, numbers in ``right`` columns."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False)
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(cell if not isinstance(cell, str) else text(cell) for cell in row))
    return made


def text(words: str, style: str = "") -> Any:
    """Text as it is: nothing in it is markup."""
    from rich.text import Text

    return Text(words, style=style)


def worded(status: str) -> Any:
    """A status or verdict as a coloured word."""
    return text(status, STYLES.get(status, ""))


__all__ = [
    "DEFAULT_STORE",
    "STYLES",
    "Ruled",
    "bytes_in_words",
    "console",
    "emit",
    "json_option",
    "number",
    "only_result_on_stdout",
    "shortened",
    "store_option",
    "table",
    "text",
    "worded",
]
