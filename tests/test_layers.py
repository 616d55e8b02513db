"""Dependencies point downward only."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import separatrix

ROOT = Path(separatrix.__file__).parent
LAYERS = (
    ("cli",),
    ("report",),
    ("testing",),
    ("papers",),
    ("studies",),
    ("theory",),
    ("training",),
    ("learners",),
    ("tasks",),
    ("specs",),
    ("rules",),
    ("errors", "cache", "files", "schema"),
)
"""From the top down: a module may import its own layer and those below it."""

LEVEL = {name: len(LAYERS) - level for level, names in enumerate(LAYERS) for name in names}


def imports(path):
    """The separatrix modules that a file imports, anywhere in it; those for the type checker alone do not count."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("separatrix."):
            yield node.module
        elif isinstance(node, ast.ImportFrom) and node.module == "separatrix":
            yield from (f"separatrix.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("separatrix."))


def files():
    return [path for path in sorted(ROOT.rglob("*.py")) if path.parent != ROOT or path.stem in LEVEL]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downward(path):
    layer = path.relative_to(ROOT).with_suffix("").parts[0]
    for module in imports(path):
        below = module.split(".")[1]
        assert below in LEVEL, f"{module} belongs to no layer"
        assert LEVEL[below] <= LEVEL[layer], f"{layer} must not import {module}"


def test_papers_do_not_import_each_other():
    for path in (ROOT / "papers").rglob("*.py"):
        own = path.relative_to(ROOT / "papers").parts[0]
        for module in imports(path):
            parts = module.split(".")
            if parts[1] == "papers" and len(parts) > 2:
                assert own == "__init__.py" or parts[2] == own, f"{path.name} of {own} imports {module}"


def test_every_top_level_module_has_a_layer():
    found = {module.name for module in pkgutil.iter_modules([str(ROOT)])}
    assert found - {"__main__"} <= set(LEVEL)
    for name in separatrix.__all__:
        assert getattr(separatrix, name) is not None
    with pytest.raises(AttributeError):
        importlib.import_module("separatrix").nothing  # noqa: B018 - the access is the test


def test_importing_the_package_imports_nothing_heavy():
    heavy = ("jax", "polars", "sklearn", "altair", "numpy")
    code = f"import sys, separatrix; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
