"""Evidence, which is named numbers nested as a verdict's author liked, as titled rows of words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.report.words import number


@dataclass(frozen=True)
class Section:
    """Rows of a name and what was found, under a title."""

    title: str
    rows: list[tuple[str, str]]


def sections(evidence: Mapping[str, Any], title: str = "") -> list[Section]:
    """One section for the plain values, and one for each part that is evidence itself.

    >>> sections({"MLP": {"verdict": "supported", "means": {"10": -0.3}, "intervals": {"10": [-0.4, -0.2]}}})
    [Section(title='MLP', rows=[('verdict', 'supported'), ('at 10', '-0.3 [-0.4, -0.2]')])]
    """
    rows: list[tuple[str, str]] = []
    found: list[Section] = []
    for name, value in evidence.items():
        if name == "intervals" and "means" in evidence:
            continue
        if name == "means" and isinstance(value, Mapping):
            limits = evidence.get("intervals", {})
            rows += [(f"at {place}", _with_interval(mean, limits.get(place))) for place, mean in value.items()]
        elif isinstance(value, Mapping) and any(isinstance(item, Mapping | list) for item in value.values()):
            found += sections(value, f"{title}, {name}" if title else name)
        else:
            rows.append((name.replace("_", " "), words(value)))
    return ([Section(title, rows)] if rows else []) + found


def words(value: Any) -> str:
    """A value in words; an empty one is "none"."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {words(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(words(item) for item in value) or "none"
    return number(value)


def _with_interval(mean: Any, limits: Any) -> str:
    return f"{number(mean)} [{number(limits[0])}, {number(limits[1])}]" if limits else number(mean)
