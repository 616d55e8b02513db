"""What commands ask of a store on disk."""

from __future__ import annotations

from collections import Counter
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


def overview(store: Store) -> dict[str, Any]:
    """The counts that ``status`` prints, by plan and in all."""
    frame = store.frame()
    columns = (frame[name].to_list() for name in ("cell", "status", "message"))
    records = {cell: (status, message or "") for cell, status, message in zip(*columns, strict=True)}
    plans = [_plan(plan, records) for plan in store.read_plans()]
    planned = {cell for plan in store.read_plans() for cell in plan["cells"]}
    files = [path for path in store.folder.rglob("*") if path.is_file()]
    return {
        "store": str(store.folder),
        "records": len(records),
        "unplanned": sum(cell not in planned for cell in records),
        "bytes": sum(path.stat().st_size for path in files),
        "unreadable": sum(path.suffix == ".unreadable" for path in files),
        "plans": plans,
    }


def failures(store: Store, plan: str) -> list[dict[str, Any]]:
    """The distinct messages of a plan's failed cells, the most frequent first."""
    found = [entry["messages"] for entry in overview(store)["plans"] if entry["name"] == plan]
    return found[0] if found else []


def _plan(plan: dict[str, Any], records: dict[str, tuple[str, str]]) -> dict[str, Any]:
    here = [records[cell] for cell in plan["cells"] if cell in records]
    statuses = Counter(status for status, _ in here)
    messages = Counter(message for status, message in here if status == "failed")
    done = statuses["ok"] + statuses["diverged"]
    return {
        "name": plan["name"],
        "planned": len(plan["cells"]),
        "done": done,
        "diverged": statuses["diverged"],
        "failed": statuses["failed"],
        "left": len(plan["cells"]) - done,
        "messages": [{"message": message, "count": count} for message, count in messages.most_common()],
    }
