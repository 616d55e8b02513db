"""``separatrix status``: what a store holds and what is left."""

from __future__ import annotations

from typing import Any

import click

from separatrix.cli.output import (
    bytes_in_words,
    console,
    emit,
    json_option,
    only_result_on_stdout,
    store_option,
    table,
    text,
)
from separatrix.cli.stores import existing


@click.command("status")
@store_option()
@json_option
def command(store: str, as_json: bool) -> None:
    """What a store holds, what is left, what failed and why.

    A diverged training is a result and counts as done; a failed one is run again by the command that planned
    it, and counts as left.
    """
    folder = existing(store)
    from separatrix.report.contents import overview
    from separatrix.studies.store import Store

    with only_result_on_stdout(as_json):
        found = overview(Store(folder))
    if as_json:
        emit(found)
        return
    out = console()
    out.print(text(f"{store}: {found['records']} records, {bytes_in_words(found['bytes'])}", "bold"))
    if found["unreadable"]:
        out.print(text(f"{found['unreadable']} parts could not be read and were set aside (*.unreadable)", "bold red"))
    if found["unplanned"]:
        out.print(text(f"{found['unplanned']} records belong to no plan", "dim"))
    if not found["plans"]:
        out.print("no plans yet: reproduce or run a study")
        return
    numbers = ["planned", "done", "diverged", "failed", "left"]
    rows = [[plan["name"], *(_count(plan, name) for name in numbers)] for plan in found["plans"]]
    out.print(table(["plan", *numbers], rows, right=numbers))
    for plan in found["plans"]:
        for entry in plan["messages"]:
            out.print(text(f"{plan['name']}: {entry['count']} failed: {entry['message']}", "red"))


def _count(plan: dict[str, Any], name: str) -> Any:
    style = {"failed": "bold red", "diverged": "yellow", "left": "cyan"}.get(name, "") if plan[name] else "dim"
    return text(str(plan[name]), style)
