"""``separatrix report``: the HTML atlas of a store."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from separatrix.cli.output import bytes_in_words, console, emit, json_option, only_result_on_stdout, store_option, text
from separatrix.cli.stores import existing


@click.command("report")
@store_option()
@click.option("--to", "target", metavar="FILE.html", help="Where to write it; report.html in the store by default.")
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
@json_option
def command(store: str, target: str | None, show: bool, as_json: bool) -> None:
    """Make one page of all that a store holds: verdicts, figures, certificates, and where they come from.

    The page is one file and needs no network. Certificates are those that "certify --store" kept; claims
    that nothing in the store decides are shown as not run.
    """
    folder = existing(store)
    path = Path(target) if target else folder / "report.html"
    with only_result_on_stdout(as_json):
        from separatrix.files import write_whole
        from separatrix.report.atlas import gather, render

        atlas = gather(folder)
        write_whole(path, render(atlas))
    counts = atlas.verdict_counts()
    size = path.stat().st_size
    if as_json:
        emit({"report": str(path), "bytes": size, "claims": counts})
    else:
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count) or "no claims"
        console().print(text(f"wrote {path} ({bytes_in_words(size)}): {told}"))
    if show:
        webbrowser.open(path.absolute().as_uri())
