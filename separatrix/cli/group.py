"""The commands by name; each one's module is imported when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from separatrix.errors import unknown

COMMANDS: Mapping[str, tuple[str, str]] = {
    "list": ("listing", "What there is: tasks, learners, claims, figures, theorems."),
    "certify": ("certify", "Check one theorem at given parameters."),
    "reproduce": ("reproduce", "Run a paper's figure, draw it and decide its claims."),
    "run": ("run", "Do the same for a study of your own, in a Python file."),
    "status": ("status", "What a store holds, what is left, what failed and why."),
    "export": ("export", "Write all records to one Parquet or CSV file."),
    "report": ("report", "Make the HTML atlas of a store."),
    "doctor": ("doctor", "What is right with this machine and what is not."),
    "completion": ("completion", "Print the script that completes commands in your shell."),
}

WELCOME = """\
separatrix: which learner learns which task, at what cost, and which theorem says so.

Try one of these:

  separatrix certify pooling/theorem-4.2          check a theorem, in a second
  separatrix reproduce pooling/fig3a              run a figure, small, and decide its claims
  separatrix report --open                        read all that was found, as a page
  separatrix list                                 see what else there is

separatrix --help shows every command."""


class LazyGroup(click.Group):
    """A group that knows its commands' names and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"separatrix.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise unknown("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in COMMANDS.items()])


def _show_version(ctx: click.Context, _: click.Parameter, wanted: Any) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"separatrix {version('separatrix')}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    name="separatrix",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="The version.")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Which learner learns which task, at what cost, and which theorem says so.

    Every command that prints a result takes --json. Exit codes: 0 done; 1 the work ran and failed, or a strict
    check failed; 2 bad input.
    """
    if ctx.invoked_subcommand is None:
        click.echo(WELCOME)
