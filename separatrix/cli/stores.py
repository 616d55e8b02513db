"""What commands ask of a store on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import InputError

if TYPE_CHECKING:
    from separatrix.studies.store import Store

_MARKS = ("parts", "plans", "figures", "certificates")


def existing(folder: str) -> Path:
    """A store's folder, which must be there."""
    path = Path(folder)
    if not path.exists():
        raise InputError(f"store must be a folder that exists, got {folder!r}; reproduce and run make one")
    if not path.is_dir() or not any((path / mark).is_dir() for mark in _MARKS):
        raise InputError(f"store must be a folder with {' or '.join(_MARKS[:2])} in it, got {folder!r}")
    return path


def usable(folder: str) -> Store:
    """A store to write to; it need not exist yet, but nothing else may stand in its place."""
    from separatrix.studies.store import Store

    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise InputError(f"store must be a folder, got the file {folder!r}")
    return Store(path)


def failures(store: Store, plan: str) -> list[dict[str, Any]]:
    """The distinct messages of a plan's failed cells, the most frequent first."""
    from separatrix.report.contents import overview

    return [message for entry in overview(store)["plans"] if entry["name"] == plan for message in entry["messages"]]
