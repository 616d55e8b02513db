"""The user's cache folder: compiled programs, data sets and what else is kept between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``$SEPARATRIX_CACHE``, or ``separatrix`` in the user's cache folder."""
    chosen = os.environ.get("SEPARATRIX_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "separatrix"
