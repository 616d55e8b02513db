"""``separatrix list``: what there is."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import click

from separatrix.cli.completion import choices_option
from separatrix.cli.output import console, emit, json_option, number, only_result_on_stdout, table, text

Row = dict[str, Any]


@click.command("list")
@click.argument("kind", required=False, metavar="[tasks|learners|claims|figures|theorems]", type=choices_option)
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """What there is; without an argument, everything in short.

    With --json, a list of objects with at least id, paper and statement, where id is what certify and
    reproduce take; without a KIND, an object of such lists.
    """
    from separatrix.errors import unknown

    if kind is not None and kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    with only_result_on_stdout(as_json):
        found = {name: KINDS[name]() for name in ([kind] if kind else KINDS)}
    if as_json:
        emit(found[kind] if kind else found)
        return
    out = console()
    for name, rows in found.items():
        _show(out, name, rows, short=kind is None)
    if kind is None:
        out.print("separatrix list theorems shows their statements; --json shows everything.", style="dim")


def theorems() -> list[Row]:
    from separatrix import papers
    from separatrix.theory.certificate import plain

    return [
        {
            "id": id,
            "paper": found.paper,
            "statement": found.statement,
            "parameters": {
                name: {"default": plain(found.defaults[name]), "allowed": rule.allowed}
                for name, rule in found.rules.items()
            },
        }
        for id, found in papers.theorems().items()
    ]


def figures() -> list[Row]:
    from separatrix import papers

    return [
        {
            "id": id,
            "paper": found.paper,
            "statement": found.statement,
            "claims": [claim.id for claim in found.claims],
            "scales": ["quick", "paper"],
        }
        for id, found in papers.figures().items()
    ]


def claims() -> list[Row]:
    from separatrix import papers

    return [
        {
            "id": id,
            "paper": found.paper,
            "statement": found.statement,
            "criterion": found.criterion,
            "kind": found.kind,
            "test": found.test,
        }
        for id, found in papers.claims().items()
    ]


def tasks() -> list[Row]:
    from separatrix import tasks as module

    return _classes(module, module.Task)


def learners() -> list[Row]:
    from separatrix import learners as module

    return _classes(module, module.Architecture, module.Learner)


KINDS: Mapping[str, Callable[[], list[Row]]] = {
    "tasks": tasks,
    "learners": learners,
    "claims": claims,
    "figures": figures,
    "theorems": theorems,
}


def _classes(module: Any, *bases: type) -> list[Row]:
    """The concrete classes of a module that are one of ``bases``, with their fields."""
    found = []
    for name in module.__all__:
        kind = getattr(module, name)
        if not (inspect.isclass(kind) and issubclass(kind, bases)) or inspect.isabstract(kind):
            continue
        fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        rules = {field.name: field.metadata.get("rule") for field in fields}
        found.append(
            {
                "id": name,
                "paper": None,
                "statement": " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split()),
                "parameters": {field: getattr(rule, "allowed", "any") for field, rule in rules.items()},
            }
        )
    return found


def _show(out: Any, name: str, rows: list[Row], *, short: bool) -> None:
    if not rows:
        out.print(text(f"{name}: none yet\n", "dim"))
        return
    if short:
        out.print(text(f"{name} ({len(rows)})", "bold"))
        out.print(text(f"  {', '.join(row['id'] for row in rows)}\n"))
        return
    id_of = {"theorems": "certify takes", "figures": "reproduce takes"}.get(name, "name")
    more = {"theorems": "parameters", "claims": "tested by", "figures": "claims"}.get(name, "parameters")
    out.print(
        table([id_of, "statement", more], [[text(row["id"], "bold"), row["statement"], _more(row)] for row in rows])
    )


def _more(row: Row) -> str:
    if "test" in row:
        return f"{row['kind']} {row['test']}" if row["test"] != row["id"] else str(row["kind"])
    if "claims" in row:
        return ", ".join(row["claims"])
    if row["paper"] is None:
        return ", ".join(row["parameters"])
    return ", ".join(f"{name}={number(about['default'])}" for name, about in row["parameters"].items())
