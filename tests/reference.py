"""The reference page, made from the code itself: ``python -m tests.reference`` writes docs/reference.md."""

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import click

from separatrix import papers
from separatrix.cli.group import COMMANDS, cli
from separatrix.cli.output import number

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
PUBLIC = (
    "separatrix",
    "separatrix.tasks",
    "separatrix.learners",
    "separatrix.learners.kernels",
    "separatrix.training",
    "separatrix.testing",
)

HEAD = """# Reference

Made from the code by `make reference`; a test holds the two together. The words are those of [design.md](design.md).
Every command that prints a result takes `--json`. Exit codes: 0 done, 1 the work ran and failed or a strict check
failed, 2 bad input.
"""


def first_paragraph(thing):
    """The start of a docstring in one line, as Markdown; nothing for what has none, or only a dataclass's own."""
    written = inspect.getdoc(thing) or ""
    if inspect.isclass(thing) and written.startswith(f"{thing.__name__}("):
        return ""
    line = " ".join(written.split("\n\n")[0].split())
    return re.sub(r":\w+:`[~.]*([^`]+)`", r"`\1`", line).replace("``", "`")


def public_names(module):
    """What a module exports, without modules and type aliases: name and thing."""
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    names = getattr(module, "__all__", [name for name in own if not name.startswith("_")])
    things = [(name, getattr(module, name)) for name in names]
    return [(name, thing) for name, thing in things if inspect.isroutine(thing) or inspect.isclass(thing)]


def escaped(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(head, rows):
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(map(escaped, row)) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def in_markdown(help):
    """A command's help, whose verbatim block (after a \\b, as click marks it) is its example."""
    parts = inspect.cleandoc(help).split("\b\n")
    if len(parts) == 1:
        return parts[0]
    example, _, rest = parts[1].partition("\n\n")
    return f"{parts[0].rstrip()}\n\n```python\n{example}\n```\n\n{rest}"


def told(name, command, level="###"):
    usage = " ".join(command.collect_usage_pieces(click.Context(command)))
    yield f"{level} separatrix {name}\n\n`separatrix {name} {usage}`\n\n{in_markdown(command.help or '')}\n"
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        yield table(("option", ""), [(f"`{', '.join(option.opts)}`", option.help or "") for option in options])
    for inner, one in getattr(command, "commands", {}).items():
        yield from told(f"{name} {inner}", one, "####")


def commands():
    for name in COMMANDS:
        yield from told(name, cli.get_command(click.Context(cli), name))


def results():
    for paper, title in papers.PAPERS.items():
        yield f"### {paper}\n\n{title}\n"
        yield table(
            ("`certify`", "statement", "parameters"),
            [
                (
                    f"`{id}`",
                    found.statement,
                    ", ".join(f"`{name}={number(value)}`" for name, value in found.defaults.items()),
                )
                for id, found in papers.theorems(paper).items()
            ],
        )
        rows = [(f"`{id}`", found.statement, len(found.claims)) for id, found in papers.figures(paper).items()]
        if rows:
            yield table(("`reproduce`", "shows", "claims"), rows)


def fields(kind):
    if not dataclasses.is_dataclass(kind):
        return ""
    return ", ".join(f"`{field.name}`" for field in dataclasses.fields(kind) if field.init)


def names():
    for name in PUBLIC:
        module = importlib.import_module(name)
        rows = [(f"`{key}`", first_paragraph(thing), fields(thing)) for key, thing in public_names(module)]
        yield f"### {name}\n\n{first_paragraph(module)}\n"
        yield table(("name", "is", "fields"), rows)


def page():
    parts = [HEAD, "## Commands\n", *commands(), "## Results and figures\n", *results(), "## Python\n", *names()]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
