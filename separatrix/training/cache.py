"""JAX's compiled programs, kept in the cache folder between runs."""

from __future__ import annotations

from separatrix.cache import cache_folder

__all__ = ["cache_folder", "use_compilation_cache"]


def use_compilation_cache() -> None:
    """Let JAX keep compiled programs on disk, so that a second run starts at once."""
    import jax

    jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "programs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
