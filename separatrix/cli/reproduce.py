"""``separatrix reproduce``: a paper's figure, from plan to verdicts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from separatrix.cli.completion import figure_id
from separatrix.cli.failed import WorkFailed
from separatrix.cli.output import (
    Ruled,
    console,
    emit,
    json_option,
    number,
    only_result_on_stdout,
    store_option,
    table,
    text,
    worded,
)
from separatrix.cli.stores import failures, usable
from separatrix.errors import InputError
from separatrix.rules import Choice, Whole

if TYPE_CHECKING:
    from separatrix.studies.figures import Scale, Shown
    from separatrix.studies.store import Store

workers_option = click.option(
    "--workers",
    type=Ruled(Whole(0)),
    metavar="N",
    help="Worker processes, of one core each; 0 is this process. Without it: one a core, or this process on a GPU.",
)


@click.command("reproduce")
@click.argument("figure", metavar="PAPER/FIGURE", type=figure_id)
@click.option(
    "--scale",
    type=Ruled(Choice("quick", "paper")),
    metavar="quick|paper",
    default="quick",
    show_default=True,
    help="A minute or two on two cores, or the paper's sizes.",
)
@store_option("The folder of records; what it has is not run again.")
@workers_option
@json_option
@click.pass_context
def command(ctx: click.Context, figure: str, scale: str, store: str, workers: int | None, as_json: bool) -> None:
    """Run what the store lacks of a figure, draw it, and decide its claims.

    Interrupt it when you like: the same command goes on where it was. Exit code 1 where cells failed.
    """
    from separatrix import papers

    with only_result_on_stdout(as_json):
        found = papers.figure(figure)
        summary, failed = carry_out(found, cast("Scale", scale), usable(store), workers)
    if as_json:
        emit(summary)
    else:
        show(summary)
    if tell_failures(failed):
        ctx.exit(1)


command.hint = "separatrix list figures shows what there is, e.g. reproduce pooling/fig3a"  # type: ignore[attr-defined]


def carry_out(
    figure: Shown, scale: Scale, store: Store, workers: int | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figure's summary, and the distinct messages of its failed cells."""
    from separatrix.studies.figures import reproduce
    from separatrix.studies.progress import for_terminal

    plan = figure.plan(scale)
    try:
        summary = reproduce(figure, scale, store, workers=workers, progress=for_terminal())
    except InputError as error:
        failed = failures(store, plan) if plan else []
        if not failed:
            raise
        tell_failures(failed)
        raise WorkFailed(f"the figure cannot be drawn from what is left: {error}") from None
    return summary, failures(store, plan) if plan and summary["cells"]["failed"] else []


def tell_failures(failed: Sequence[Mapping[str, Any]]) -> bool:
    """Say how many cells failed and why, on standard error; whether any did."""
    if not failed:
        return False
    total = sum(entry["count"] for entry in failed)
    print(f"separatrix: {total} cells failed; the same command runs them again", file=sys.stderr)
    for entry in failed:
        print(f"separatrix:   {entry['count']} x {entry['message']}", file=sys.stderr)
    return True


def show(summary: Mapping[str, Any]) -> None:
    """The summary for a person: the curve's table, the verdicts, the files."""
    from separatrix.studies.figures import shortened

    out = console()
    cells = summary["cells"]
    out.print(text(f"{summary['figure']} ({summary['scale']})", "bold"))
    out.print(text(summary["statement"]))
    out.print(
        text(
            f"{cells['planned']} cells: {cells['reused']} from the store, {cells['ran']} ran, "
            f"{cells['diverged']} diverged, {cells['failed']} failed; {summary['seconds']:.1f} s",
            "dim",
        )
    )
    for panel in dict.fromkeys(row.get("panel", "") for row in summary["series"]):
        if panel:
            out.print(panel, markup=False)
        rows = [row for row in summary["series"] if row.get("panel", "") == panel]
        out.print(curve_table(rows, summary["axes"]))
    if summary["on_edge"]:
        out.print(text(f"note: the best value is on the edge of its grid: {shortened(summary['on_edge'])}", "yellow"))
    if summary["claims"]:
        rows = [[worded(claim["verdict"]), claim["id"], claim["statement"]] for claim in summary["claims"]]
        out.print(table(["verdict", "claim", "statement"], rows))
    out.print(text("figure: " + "  ".join(summary["figure_files"])))


def curve_table(series: Sequence[Mapping[str, Any]], axes: Mapping[str, str]) -> Any:
    """A row for each place, a column for each learner: mean and interval."""
    learners = list(dict.fromkeys(row["learner"] for row in series))
    places = list(dict.fromkeys(row["x"] for row in sorted(series, key=lambda row: float(row["x"]))))
    cells = {(row["x"], row["learner"]): _interval(row) for row in series}
    rows = [[number(x), *(cells.get((x, name), "") for name in learners)] for x in places]
    counts = sorted({row["n"] for row in series})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "no"
    title = f"{axes['y']}: mean over {seeds} seeds [95% interval]"
    return table([axes["x"], *learners], rows, right=[axes["x"], *learners], title=title)


def _interval(row: Mapping[str, Any]) -> str:
    if row["n"] < 2 and isinstance(row["low"], str):
        return number(row["mean"])
    return f"{number(row['mean'])} [{number(row['low'])}, {number(row['high'])}]"
