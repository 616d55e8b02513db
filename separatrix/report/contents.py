"""What a store holds, in counts: the table of ``status`` and of the atlas."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.studies.store import Store


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
