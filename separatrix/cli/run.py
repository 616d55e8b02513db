"""``separatrix run``: the studies of a user's file."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import click

from separatrix.cli.output import emit, json_option, only_result_on_stdout, store_option
from separatrix.cli.reproduce import carry_out, show, tell_failures, workers_option
from separatrix.cli.stores import usable
from separatrix.errors import InputError

if TYPE_CHECKING:
    from separatrix.studies.figures import Figure, Scale
    from separatrix.studies.study import Study

_UNNAMED = "study"
OWN_SCALE = "own"
"""In the place of a scale, for studies that have one size."""


@click.command("run")
@click.argument("file", metavar="FILE.py", type=click.Path())
@click.option("--x", default="train_size", show_default=True, help="The axis of the curve: train_size, or a field.")
@click.option("--y", default="test_error", show_default=True, help="What the curve shows: a column of the records.")
@store_option("The folder of records; what it has is not run again.")
@workers_option
@json_option
@click.pass_context
def command(ctx: click.Context, file: str, x: str, y: str, store: str, workers: int | None, as_json: bool) -> None:
    """Run every Study at the top level of FILE.py; print each curve and write its figure.

    \b
    import separatrix as sx
    study = sx.Study(
        task=sx.tasks.PatternDetection(d=20, n=10),
        learners=[sx.learners.ConvPool(channels=100), sx.learners.LinearSVM()],
        train_size=[10, 20, 40, 80],
        seeds=3,
    )

    With --json: one object like that of reproduce, or a list of them where the file has several studies.
    Interrupt it when you like: the same command goes on where it was. Exit code 1 where cells failed.
    """
    with only_result_on_stdout(as_json):
        studies = find_studies(load(file), file)
        kept = usable(store)
        own = cast("Scale", OWN_SCALE)
        done = [carry_out(_as_figure(study, x, y), own, kept, workers) for study in studies]
    if as_json:
        emit(done[0][0] if len(done) == 1 else [summary for summary, _ in done])
    else:
        for summary, _ in done:
            show(summary)
    if tell_failures([entry for _, failed in done for entry in failed]):
        ctx.exit(1)


command.hint = "give a Python file with a Study in it"  # type: ignore[attr-defined]


def load(file: str) -> ModuleType:
    """Import a user's file so that worker processes can have what it defines; its errors in one line."""
    import cloudpickle

    path = Path(file).resolve()
    if not path.is_file() or path.suffix != ".py":
        raise InputError(f"FILE.py must be a Python file that exists, got {file!r}")
    spec = importlib.util.spec_from_file_location(f"user_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    _make_neighbours_importable(path.parent)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a user's sys.exit() too
        sys.modules.pop(spec.name, None)
        raise InputError(f"{file}{_line_of(error, path)}: {type(error).__name__}: {error}") from None
    cloudpickle.register_pickle_by_value(module)
    return module


def _make_neighbours_importable(folder: Path) -> None:
    """Modules beside the file, here and in worker processes, as for ``python FILE.py``."""
    sys.path.insert(0, str(folder))
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def _line_of(error: BaseException, path: Path) -> str:
    """Where in the user's file it went wrong."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f", line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""


def find_studies(module: ModuleType, file: str) -> list[Study]:
    """The studies at a module's top level, in order, each under a name of its own."""
    from separatrix.studies.study import Study

    named = {name: value for name, value in vars(module).items() if isinstance(value, Study)}
    if "study" in vars(module) and "study" not in named:
        raise InputError(f"{file}: study must be a separatrix.Study, got a {type(module.study).__name__}")
    if not named:
        raise InputError(f"{file} must define a Study at its top level (study = sx.Study(...)), got none")
    stem = Path(file).stem
    found: dict[str, Study] = {}
    for variable, study in named.items():
        if any(study is other for other in found.values()):
            continue
        name = study.name if study.name != _UNNAMED else (stem if variable == "study" else f"{stem}-{variable}")
        name = name if name not in found else f"{name}-{variable}"
        found[name] = study
    return [study if study.name == name else replace(study, name=name) for name, study in found.items()]


def _as_figure(study: Study, x: str, y: str) -> Figure:
    """A figure without claims, so that a user's study takes the way that the papers' do."""
    from separatrix.studies.figures import Figure

    def draw(result: Any) -> Any:
        sizes = {condition.cell.train_size for condition in result.conditions}
        logarithmic = x == "train_size" and len(sizes) > 1
        return result.curve(x, y).plot(title=study.name, log_x=logarithmic)

    tasks = ", ".join(dict.fromkeys(type(task).__name__ for task in study.tasks))
    statement = f"{', '.join(dict.fromkeys(label for label, _ in study.labelled))} on {tasks}"
    return Figure(id=study.name, statement=statement, study=lambda _: study, draw=draw, claims=(), x=x, y=y)
