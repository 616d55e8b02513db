"""The registry of theorems and lemmas: a typed function each, found by ``PAPER/RESULT``.

>>> from typing import Annotated
>>> from separatrix.rules import Whole
>>> from separatrix.theory.certificate import Finding, at_most
>>> @result("example/square", "a square is at most its bound", register=False)
... def square(n: Annotated[int, Whole(0)] = 3, bound: Annotated[int, Whole()] = 10) -> Finding:
...     return Finding({"n_sq": n * n}, {"n_sq": bound}, [at_most("n_sq", n * n, bound)], "exact")
>>> square.certify(n="4").status
'violated'
>>> square.certify(bond=4)
Traceback (most recent call last):
separatrix.errors.InputError: unknown parameter of example/square ...; did you mean 'bound'? (known: bound, n)
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.errors import unknown
from separatrix.rules import Rule, rules_of
from separatrix.theory.certificate import Certificate, Finding


@dataclass(frozen=True)
class Result:
    """A theorem, lemma or algorithm's guarantee, as a function from parameters to a finding."""

    id: str
    statement: str
    compute: Callable[..., Finding]

    def __post_init__(self) -> None:
        """Look like the function: to ``help``, and to what runs the examples in docstrings."""
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            object.__setattr__(self, name, getattr(self.compute, name))
        object.__setattr__(self, "__wrapped__", self.compute)

    @property
    def paper(self) -> str:
        return self.id.split("/", 1)[0]

    @property
    def defaults(self) -> dict[str, Any]:
        return {name: p.default for name, p in inspect.signature(self.compute).parameters.items()}

    @property
    def rules(self) -> Mapping[str, Rule]:
        return rules_of(self.compute)

    def __call__(self, **params: Any) -> Finding:
        return self.certify(**params).finding

    def certify(self, **params: Any) -> Certificate:
        """Check the parameters against their rules, fill in the defaults, compute."""
        values = self.defaults
        rules = self.rules
        for name in params:
            if name not in values:
                raise unknown(f"parameter of {self.id}", name, values)
        values |= {name: rules[name].accept(name, value) for name, value in params.items()}
        start = time.perf_counter()
        finding = self.compute(**values)
        return Certificate(self.id, self.statement, values, finding, time.perf_counter() - start)


_RESULTS: dict[str, Result] = {}


def result(id: str, statement: str, *, register: bool = True) -> Callable[[Callable[..., Finding]], Result]:
    """Make a function a :class:`Result`; every parameter needs a rule and a default."""

    def wrap(compute: Callable[..., Finding]) -> Result:
        made = Result(id, statement, compute)
        missing = set(made.defaults) - set(made.rules)
        if missing or inspect.Parameter.empty in made.defaults.values():
            raise TypeError(f"{id}: every parameter needs a rule and a default (no rule: {sorted(missing)})")
        if register:
            _RESULTS[id] = made
        return made

    return wrap


def registered() -> Mapping[str, Result]:
    """What has been imported so far; ``separatrix.papers`` imports all."""
    return _RESULTS
