"""Numbers and sizes as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def number(value: Any, exact: str | None = None) -> str:
    """A number as people read it.

    >>> number(0.1875, "3/16"), number(12345678), number(1e-30), number(None), number(2**40000)
    ('0.1875 = 3/16', '1.235e+07', '1e-30', '-', 'about 10^12041')
    """
    if exact is not None and 3 <= len(exact) <= 24 and not exact.endswith("/1"):
        return f"{number(value)} = {exact}"
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if abs(value) < 10**7:
            return str(value)
        digits = math.floor(abs(value).bit_length() * math.log10(2))
        return f"{float(value):.4g}" if digits < 300 else f"about {'-' if value < 0 else ''}10^{digits}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {number(item)}" for name, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return shortened([number(item) for item in value])
    return str(value)


def shortened(items: Sequence[str], most: int = 8) -> str:
    """A list in brackets, its middle left out where it is long."""
    shown = list(items) if len(items) <= most else [*items[: most - 2], f"... {len(items)} in all"]
    return f"[{', '.join(shown)}]"


def bytes_in_words(size: float) -> str:
    """A size on disk.

    >>> bytes_in_words(512), bytes_in_words(20_480), bytes_in_words(3 * 2**30)
    ('512 B', '20 kB', '3.2 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit in ("B", "kB") else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError
