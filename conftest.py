"""Strict tests: shapes and types are checked at run time, warnings are errors, nothing is cast silently."""

import os

os.environ.setdefault("JAX_PLATFORMS", os.environ.get("SEPARATRIX_TEST_PLATFORM", "cpu"))
os.environ.setdefault("SEPARATRIX_CACHE", os.path.join(os.path.dirname(__file__), ".pytest_cache", "separatrix"))

from hypothesis import settings
from jaxtyping import install_import_hook

import tests.typechecker  # noqa: F401 - the hook below names it

install_import_hook("separatrix", "tests.typechecker.check")

settings.register_profile("separatrix", deadline=None, derandomize="SEPARATRIX_TEST_SEED" not in os.environ)
settings.load_profile("separatrix")

from separatrix.training.cache import use_compilation_cache  # noqa: E402 - after the hook

use_compilation_cache()
