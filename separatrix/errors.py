"""What can go wrong because of what a user wrote, said in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Bad input. The message names the thing, what was given and what is allowed."""


def unknown(kind: str, given: str, known: Iterable[str]) -> InputError:
    """The error for a name that does not exist, with the closest match.

    >>> str(unknown("paper", "pool", ["pooling", "parity"]))
    "unknown paper 'pool'; did you mean 'pooling'? (known: parity, pooling)"
    """
    names = sorted(known)
    matches = get_close_matches(given.lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean {matches[0]!r}?" if matches else ""
    listed = ", ".join(names) if len(names) <= 12 else ", ".join(names[:12]) + ", ..."
    return InputError(f"unknown {kind} {given!r}{hint} (known: {listed})")
