"""separatrix: which learner learns which task, at what cost, and which theorem says so.

>>> import separatrix as sx
>>> study = sx.Study(
...     task=sx.tasks.PatternDetection(d=8, n=3),
...     learners=[sx.learners.ConvPool(channels=20), sx.learners.LinearSVM()],
...     train_size=[10, 20],
...     seeds=2,
... )
>>> len(study.conditions())
4
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix import learners, papers, tasks, theory, training
    from separatrix.errors import InputError
    from separatrix.papers import theorem
    from separatrix.studies.grid import Grid, grid
    from separatrix.studies.result import Result
    from separatrix.studies.store import Store
    from separatrix.studies.study import Study
    from separatrix.training import Cell, Procedure

_MODULES = ("learners", "papers", "tasks", "theory", "training")
_NAMES = {
    "Cell": "training",
    "Grid": "studies.grid",
    "InputError": "errors",
    "Procedure": "training",
    "Result": "studies.result",
    "Store": "studies.store",
    "Study": "studies.study",
    "grid": "studies.grid",
    "theorem": "papers",
}

__all__ = [
    "Cell",
    "Grid",
    "InputError",
    "Procedure",
    "Result",
    "Store",
    "Study",
    "grid",
    "learners",
    "papers",
    "tasks",
    "theorem",
    "theory",
    "training",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used: ``import separatrix`` alone costs nothing."""
    if name in _MODULES:
        return importlib.import_module(f"separatrix.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"separatrix.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'separatrix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
