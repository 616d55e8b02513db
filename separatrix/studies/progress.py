"""Progress of long work: a bar on a terminal, plain lines in a log, nothing in a library."""

from __future__ import annotations

import contextlib
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any, TextIO

from separatrix.studies.queue import Report

_LINE_EVERY = 5.0


class Phase(ABC):
    """One stretch of work of a known length."""

    @abstractmethod
    def advance(self, report: Report) -> None: ...

    @abstractmethod
    def tick(self) -> None:
        """Called now and then while nothing has been reported."""


class Progress(ABC):
    @abstractmethod
    def phase(self, name: str, total: int, done: int) -> contextlib.AbstractContextManager[Phase]: ...


class _SilentPhase(Phase):
    def advance(self, report: Report) -> None:
        return

    def tick(self) -> None:
        return


class Silent(Progress):
    @contextlib.contextmanager
    def phase(self, name: str, total: int, done: int) -> Iterator[Phase]:
        yield _SilentPhase()


class _LinePhase(Phase):
    def __init__(self, out: TextIO, name: str, total: int, done: int):
        self._out, self._name, self._total, self._done, self._first = out, name, total, done, done
        self._begun = self._said = time.monotonic()
        self._troubles = Counter[str]()

    def advance(self, report: Report) -> None:
        self._done += len(report.chunk.cells)
        self._troubles += Counter({name: n for name, n in report.statuses.items() if name != "ok"})
        for message in report.messages:
            print(f"{self._name}: a cell failed: {message}", file=self._out, flush=True)
        if time.monotonic() - self._said >= _LINE_EVERY or self._done == self._total:
            self._say()

    def tick(self) -> None:
        return

    def _say(self) -> None:
        self._said = time.monotonic()
        rate = (self._done - self._first) / max(self._said - self._begun, 1e-9)
        left = (self._total - self._done) / rate if rate else float("inf")
        troubles = "".join(f", {count} {name}" for name, count in sorted(self._troubles.items()))
        print(
            f"{self._name}: {self._done}/{self._total} cells, {rate:.1f}/s, {left:.0f} s left{troubles}",
            file=self._out,
            flush=True,
        )


class Lines(Progress):
    """A line every few seconds, for logs."""

    def __init__(self, out: TextIO | None = None):
        self._out = out if out is not None else sys.stderr

    @contextlib.contextmanager
    def phase(self, name: str, total: int, done: int) -> Iterator[Phase]:
        yield _LinePhase(self._out, name, total, done)


class _BarPhase(Phase):
    def __init__(self, bar: Any, task: Any):
        self._bar, self._task = bar, task
        self._troubles = Counter[str]()

    def advance(self, report: Report) -> None:
        self._troubles += Counter({name: n for name, n in report.statuses.items() if name != "ok"})
        troubles = " ".join(f"{count} {name}" for name, count in sorted(self._troubles.items()))
        self._bar.update(self._task, advance=len(report.chunk.cells), troubles=troubles)
        for message in report.messages:
            self._bar.console.print(f"a cell failed: {message}", markup=False, style="red")

    def tick(self) -> None:
        self._bar.refresh()


class Bar(Progress):
    """A bar with the rate and the time left."""

    @contextlib.contextmanager
    def phase(self, name: str, total: int, done: int) -> Iterator[Phase]:
        from rich import progress
        from rich.console import Console

        columns = (
            progress.TextColumn("[bold]{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            _RateColumn(done),
            progress.TimeRemainingColumn(),
            progress.TextColumn("[yellow]{task.fields[troubles]}"),
        )
        with progress.Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(name, total=total, completed=done, troubles="")
            yield _BarPhase(bar, task)


def _RateColumn(first: int) -> Any:
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            elapsed = task.elapsed or 0
            rate = (task.completed - first) / elapsed if elapsed else 0
            return Text(f"{rate:.1f} cells/s", style="cyan")

    return Rate()


def for_terminal() -> Progress:
    """A bar where a person watches, lines where a file does."""
    return Bar() if sys.stderr.isatty() else Lines()
