"""The entry point: runs the command and makes one line, and an exit code, of whatever goes wrong."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

import click

from separatrix.cli.failed import PipeClosed, WorkFailed
from separatrix.cli.group import cli
from separatrix.errors import InputError, unknown

DONE, FAILED, BAD_INPUT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    warnings.showwarning = _show_warning
    try:
        code = run(args)
        sys.stdout.flush()
    except (BrokenPipeError, PipeClosed):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PIPE_CLOSED
    sys.exit(code)


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        code = cli.main(args=None if args is None else list(args), prog_name="separatrix", standalone_mode=False)
        return int(code) if isinstance(code, int) else DONE
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except InputError as error:
        return _say(str(error), BAD_INPUT)
    except click.ClickException as error:
        return _say(_in_one_line(error), BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted; run the same command again to go on", INTERRUPTED)
    except MemoryError:
        return _say("out of memory", FAILED)
    except WorkFailed as error:
        return _say(str(error), FAILED)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _say(_about_files(error), FAILED)
    except RuntimeError as error:
        if type(error).__name__ != "StoreError":  # its module is heavy, and loaded if it was raised
            raise
        return _say(str(error), FAILED)


def _say(message: str, code: int) -> int:
    print(f"separatrix: {' '.join(message.split())}", file=sys.stderr)
    return code


def _in_one_line(error: click.ClickException) -> str:
    """Click's complaint in the form of ours."""
    if isinstance(error, click.NoSuchOption):
        known = [name for parameter in error.ctx.command.params for name in parameter.opts] if error.ctx else []
        return str(unknown("option", error.option_name, [*(name for name in known if name.startswith("--")), "--help"]))
    if isinstance(error, click.MissingParameter) and error.param is not None and error.ctx is not None:
        name = error.param.make_metavar(error.ctx) if error.param.param_type_name == "argument" else error.param.opts[0]
        hint = getattr(error.ctx.command, "hint", None) or f"see separatrix {error.ctx.info_name} --help"
        return f"{name.strip('{}[]')} is missing; {hint}"
    message = error.format_message().rstrip(".")
    return message[:1].lower() + message[1:]


def _about_files(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "the disk is full; what was stored stays, and the same command goes on from there"
    where = f": {error.filename}" if error.filename else ""
    return f"{(error.strerror or str(error)).lower()}{where}"


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    print(f"separatrix: warning: {' '.join(str(message).split())}", file=sys.stderr)
