"""``separatrix certify``: one theorem at given parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from separatrix.cli.completion import theorem_id
from separatrix.cli.failed import WorkFailed
from separatrix.cli.output import console, emit, json_option, number, only_result_on_stdout, table, text, worded
from separatrix.errors import InputError

_LONGEST = 200
_LARGEST_EXPONENT = 5000


@click.command("certify")
@click.argument("result", metavar="PAPER/RESULT", type=theorem_id)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter; numbers may be written as 1/2."
)
@click.option(
    "--strict", is_flag=True, help="Exit with 1 unless the statement holds, is vacuous or was only evaluated."
)
@click.option(
    "--store", metavar="DIR", help="Also keep the certificate in this store, for the report (in certificates/)."
)
@json_option
@click.pass_context
def command(
    ctx: click.Context, result: str, settings: tuple[str, ...], strict: bool, store: str | None, as_json: bool
) -> None:
    """Check one theorem or lemma: its assumptions one by one, both sides of its inequalities, a status.

    Every parameter has a default, so that PAPER/RESULT alone shows something true. The status is one of
    holds, violated, vacuous (true, but it says nothing), outside (an assumption fails, so that the
    statement claims nothing) and undecided (an estimate's interval contains the bound, or the bound was
    only evaluated, at a size that is not run).
    """
    from separatrix import papers
    from separatrix.theory.certificate import STATUSES

    given = parameters(settings)
    with only_result_on_stdout(as_json):
        found = papers.theorem(result)
        try:
            certificate = found.certify(**given)
        except (OverflowError, RecursionError) as error:
            raise WorkFailed(f"{result} cannot be computed at these parameters: {error}") from None
    document = certificate.to_json()
    if store is not None:
        from separatrix.report.certificates import keep

        keep(Path(store), document)
    if as_json:
        emit(document)
    else:
        show(document, STATUSES[certificate.status], set(given))
    if strict and not certificate.ok:
        ctx.exit(1)


command.hint = "separatrix list theorems shows what there is, e.g. certify pooling/theorem-4.2"  # type: ignore[attr-defined]


def parameters(settings: Sequence[str]) -> dict[str, str]:
    """The values of ``--set``, as text for the theorem's rules."""
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name, value = name.strip(), value.strip()
        if not (equals and name and value):
            raise InputError(f"--set must be NAME=VALUE, got {setting!r}")
        if name in found:
            raise InputError(f"--set must name each parameter once, got {name} twice")
        exponent = re.search(r"[eE][+-]?(\d+)$", value)
        if len(value) > _LONGEST or (exponent and int(exponent.group(1)) > _LARGEST_EXPONENT):
            raise InputError(f"{name} must be a number of reasonable length, got {value[:40]!r}")
        found[name] = value
    return found


def show(document: Mapping[str, Any], meaning: str, given: set[str]) -> None:
    """The certificate for a person: the statement, the status in a line, and the numbers."""
    out = console()
    out.print(text(document["claim"], "bold"))
    out.print(text(document["statement"]))
    line = worded(document["status"])
    reasons = {"vacuous": document["vacuous"], "undecided": document["unchecked"]}
    line.append(f": {reasons.get(document['status']) or meaning}", style="")
    out.print()
    out.print(line)
    listed = ", ".join(f"{name}={number(value)}" for name, value in document["params"].items() if value is not None)
    out.print(text(f"at {listed}" if listed else "without parameters", "dim"))
    if document["assumptions"]:
        rows = [[a["name"], number(a["value"]), number(a["limit"]), _held(a["holds"])] for a in document["assumptions"]]
        out.print(table(["assumption", "value", "limit", ""], rows, right=["value", "limit"]))
    measured, bound = document["measured"], document["bound"]
    names = [name for name in dict.fromkeys([*measured, *bound]) if not _is_exact_twin(name, measured, bound)]
    rows = [[name, _side(measured, name), _side(bound, name)] for name in names]
    out.print(table(["quantity", "measured", "bound"], rows, right=["measured", "bound"]))
    if document["checks"]:
        rows = [[c["name"], c["relation"], number(c["slack"]), _held(c["holds"])] for c in document["checks"]]
        out.print(table(["check", "is", "slack", ""], rows, right=["slack"]))
    notes = list(document["notes"])
    if document["unchecked"] and document["status"] != "undecided":
        notes.append(document["unchecked"])
    for note in notes:
        out.print(text(f"note: {note}", "dim"))
    out.print(text(f"method: {document['method']}; {document['seconds']:.2g} s", "dim"))


def _held(holds: bool | None) -> Any:
    word, style = {True: ("holds", "green"), False: ("fails", "bold red"), None: ("undecided", "yellow")}[holds]
    return text(word, style)


def _is_exact_twin(name: str, *sides: Mapping[str, Any]) -> bool:
    return any(name.endswith("_exact") and name.removesuffix("_exact") in side for side in sides)


def _side(values: Mapping[str, Any], name: str) -> str:
    return number(values[name], values.get(f"{name}_exact")) if name in values else ""
