"""``separatrix doctor``: what is right with this machine and what is not."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

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
    worded,
)

_LITTLE, _VERY_LITTLE = 2 * 10**9, 2 * 10**8


@dataclass(frozen=True)
class Line:
    """One thing looked at; ``bad`` keeps separatrix from working, ``warn`` may."""

    name: str
    state: Literal["ok", "warn", "bad"]
    found: str
    advice: str = ""


@click.command("doctor")
@store_option("The store to look at.")
@json_option
@click.pass_context
def command(ctx: click.Context, store: str, as_json: bool) -> None:
    """Devices, threads, versions, data, cache and store: what is right and what is not.

    Exit code 1 if something is broken.
    """
    with only_result_on_stdout(as_json):
        lines = [line for check in CHECKS for line in _guarded(check)]
        lines += _guarded(lambda: _store(Path(store)))
    broken = [line.name for line in lines if line.state == "bad"]
    warned = [line.name for line in lines if line.state == "warn"]
    if broken:
        verdict = f"broken: {', '.join(broken)}"
    else:
        verdict = f"works; look at: {', '.join(warned)}" if warned else "all is well"
    if as_json:
        emit({"checks": [asdict(line) for line in lines], "verdict": verdict, "ok": not broken})
    else:
        out = console()
        out.print(table(["", "what", "found"], [[worded(line.state), line.name, _told(line)] for line in lines]))
        out.print(text(verdict, "bold red" if broken else "bold yellow" if warned else "bold green"))
    if broken:
        ctx.exit(1)


def _told(line: Line) -> str:
    return f"{line.found} ({line.advice})" if line.advice else line.found


def _guarded(check: Callable[[], Iterator[Line]]) -> Iterator[Line]:
    """A check that itself breaks is a finding, not a crash."""
    try:
        yield from check()
    except Exception as error:
        name = getattr(check, "__name__", "check").strip("_")
        yield Line(name, "bad", f"{type(error).__name__}: {error}".splitlines()[0])


def _python() -> Iterator[Line]:
    good = sys.version_info >= (3, 11)
    yield Line(
        "Python", "ok" if good else "bad", f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    )


def _packages() -> Iterator[Line]:
    """Every package that separatrix depends on, without its extras."""
    import re

    needed = [re.split(r"[^\w.-]", line)[0] for line in requires("separatrix") or [] if "extra ==" not in line]
    found, missing = [f"separatrix {version('separatrix')}"], []
    for name in needed:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Line("packages", "bad", f"missing: {', '.join(missing)}", "install separatrix again")
    else:
        yield Line("packages", "ok", ", ".join(found))


def _devices() -> Iterator[Line]:
    import jax
    import jax.numpy as jnp

    devices = jax.devices()
    total = float(jax.jit(jnp.sum)(jnp.arange(100.0)))
    names = ", ".join(f"{device.platform}:{device.id} {device.device_kind}".strip() for device in devices)
    yield Line("devices", "ok" if total == 4950 else "bad", names)


def _threads() -> Iterator[Line]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [
        f"{name}={os.environ[name]}" for name in ("OMP_NUM_THREADS", "XLA_FLAGS", "JAX_PLATFORMS") if name in os.environ
    ]
    yield Line("threads", "ok", ", ".join([f"{cores} of {os.cpu_count()} cores usable", *limits]))


def _blas() -> Iterator[Line]:
    import numpy as np

    config = np.show_config(mode="dicts")
    blas = (config or {}).get("Build Dependencies", {}).get("blas", {})
    yield Line("BLAS", "ok", f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip())


def _charts() -> Iterator[Line]:
    import vl_convert

    specification = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}
    svg = vl_convert.vegalite_to_svg(specification)
    yield Line("figures", "ok" if "<svg" in svg else "bad", "a chart was drawn without a network")


def _cache() -> Iterator[Line]:
    from separatrix.cache import cache_folder

    folder = cache_folder()
    state, problem = _writable(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
    advice = "" if state == "ok" else "set SEPARATRIX_CACHE to a folder that can be written"
    yield Line("cache", state, f"{folder}, {bytes_in_words(size)}{problem}", advice)
    data = folder / "data"
    sets = sorted(path.name for path in data.iterdir()) if data.is_dir() else []
    yield Line("data", "ok", ", ".join(sets) if sets else "no data sets kept; none is needed for the synthetic tasks")


def _store(folder: Path) -> Iterator[Line]:
    state, problem = _writable(folder)
    there = "" if folder.is_dir() else ", not there yet"
    yield Line("store", state, f"{folder}{there}{problem}", "" if state == "ok" else "choose another with --store")
    free = shutil.disk_usage(_nearest(folder)).free
    size: Literal["ok", "warn", "bad"] = "bad" if free < _VERY_LITTLE else "warn" if free < _LITTLE else "ok"
    yield Line("disk", size, f"{bytes_in_words(free)} free beside the store")


def _writable(folder: Path) -> tuple[Literal["ok", "bad"], str]:
    """Whether a file can be made in the folder, or in the nearest one above it that is there."""
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)) as file:
            file.write(b"separatrix")
    except OSError as error:
        return "bad", f", cannot be written: {error.strerror}"
    return "ok", ""


def _nearest(folder: Path) -> Path:
    path = folder.absolute()
    while not path.exists():
        path = path.parent
    return path


CHECKS = (_python, _packages, _devices, _threads, _blas, _charts, _cache)
