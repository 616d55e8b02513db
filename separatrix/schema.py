"""The columns of a record that every cell has, and what its status means: all that a reader of a store needs."""

from __future__ import annotations

from typing import Any

SCHEMA: dict[str, Any] = {
    "cell": str,
    "status": str,
    "message": str,
    "test_error": float,
    "test_size": int,
    "validation_error": float,
    "train_error": float,
    "train_loss": float,
    "norm": float,
    "steps": int,
    "seconds": float,
}
"""They may be empty; beside them a record has those of its task, learner and procedure."""

FINAL = ("ok", "diverged")
"""The statuses that are results; a ``failed`` cell is run again."""
