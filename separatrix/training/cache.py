"""Where things are kept between runs: compiled programs and data, under the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``$SEPARATRIX_CACHE``, or ``separatrix`` in the user's cache folder."""
    chosen = os.environ.get("SEPARATRIX_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "separatrix"


def use_compilation_cache() -> None:
    """Let JAX keep compiled programs on disk, so that a second run starts at once."""
    import jax

    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "programs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
