"""Certificates that a store keeps, one file for each result and set of parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from separatrix.files import write_whole
from separatrix.specs import content_hash

VERDICTS: Mapping[str, str] = {"violated": "refuted", "holds": "supported", "vacuous": "vacuous"}
"""What a certificate's status says of the claim, the strongest first; the other statuses leave it open."""


def keep(folder: Path, certificate: Mapping[str, Any]) -> Path:
    """Put a certificate (as ``certify --json`` prints it) in the store; the same parameters replace themselves."""
    document = {
        "certificate": certificate,
        "version": version("separatrix"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    named = [certificate["claim"], certificate["params"]]
    name = f"{str(certificate['claim']).replace('/', '-')}-{content_hash(named)[:12]}.json"
    return write_whole(folder / "certificates" / name, json.dumps(document, indent=1))


def kept(folder: Path) -> list[dict[str, Any]]:
    """The certificates of a store, each with the ``version`` and ``date`` that made it under ``made``."""
    found = []
    for path in sorted((folder / "certificates").glob("*.json")):
        document = json.loads(path.read_text())
        found.append(document["certificate"] | {"made": {"version": document["version"], "date": document["date"]}})
    return found


def is_printed(certificate: Mapping[str, Any]) -> bool:
    """Whether it is of the statement as printed, where that differs from the corrected one."""
    return bool(certificate["params"].get("version") == "printed")


def verdict_of(certificates: Sequence[Mapping[str, Any]]) -> str:
    """What the certificates of one result's corrected statement say together.

    >>> verdict_of([{"status": "vacuous"}, {"status": "holds"}]), verdict_of([]), verdict_of([{"status": "outside"}])
    ('supported', 'not run', 'inconclusive')
    """
    if not certificates:
        return "not run"
    statuses = {certificate["status"] for certificate in certificates}
    return next((verdict for status, verdict in VERDICTS.items() if status in statuses), "inconclusive")
