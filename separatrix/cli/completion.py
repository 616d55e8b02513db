"""Shell completion: the script to load, and the ids of theorems and figures, remembered between calls."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from separatrix.errors import unknown
from separatrix.files import write_whole

SHELLS = ("bash", "zsh", "fish")
_LOAD = {
    "bash": '# in ~/.bashrc: eval "$(separatrix completion bash)"',
    "zsh": '# in ~/.zshrc: eval "$(separatrix completion zsh)"',
    "fish": "# once: separatrix completion fish > ~/.config/fish/completions/separatrix.fish",
}
KIND_NAMES = ("tasks", "learners", "claims", "figures", "theorems")


@click.command("completion")
@click.argument("shell", metavar="|".join(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands, options and ids in your shell.

    \b
    bash   eval "$(separatrix completion bash)"      in ~/.bashrc
    zsh    eval "$(separatrix completion zsh)"       in ~/.zshrc
    fish   separatrix completion fish > ~/.config/fish/completions/separatrix.fish
    """
    from separatrix.cli.group import cli

    made = get_completion_class(shell) if shell in SHELLS else None
    if made is None:
        raise unknown("shell", shell, SHELLS)
    click.echo(_LOAD[shell])
    click.echo(made(cli, {}, "separatrix", "_SEPARATRIX_COMPLETE").source())


class Ids(click.ParamType[str]):
    """An id, completed from those that there are; what is wrong with it is said by the command."""

    name = "id"

    def __init__(self, known: Callable[[], list[str]]):
        self._known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(id) for id in self._known() if id.startswith(incomplete)]


def remembered(kind: str) -> list[str]:
    """The ids of this kind, from the cache folder unless the papers' files have changed since."""
    import separatrix.papers
    from separatrix.cache import cache_folder

    source = Path(separatrix.papers.__file__).parent
    newest = max(int(path.stat().st_mtime) for path in source.rglob("*.py"))
    path = cache_folder() / "ids" / f"{kind}.json"
    try:
        kept = json.loads(path.read_text())
        if kept["newest"] == newest and kept["source"] == os.fspath(source):
            return list(kept["ids"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    ids = list(getattr(separatrix.papers, kind)())
    with contextlib.suppress(OSError):
        write_whole(path, json.dumps({"newest": newest, "source": os.fspath(source), "ids": ids}))
    return ids


choices_option = Ids(lambda: list(KIND_NAMES))
theorem_id = Ids(lambda: remembered("theorems"))
figure_id = Ids(lambda: remembered("figures"))
