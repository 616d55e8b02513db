"""Rules that a parameter's value obeys, written where the parameter is and checked where it enters.

The same rules serve the fields of a task or learner (checked when it is made) and a theorem's
parameters (checked when ``certify`` is asked for it):

>>> @dataclass(frozen=True)
... class Ball:
...     dimension: int = parameter(3, Whole(1))
...     radius: float = parameter(1.0, Real(0), traced=True)
...     def __post_init__(self):
...         enforce(self)
>>> Ball(dimension=0)
Traceback (most recent call last):
separatrix.errors.InputError: dimension must be an integer of at least 1, got 0
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_type_hints

from separatrix.errors import InputError, unknown


class Rule(ABC):
    """What values a parameter may take."""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """The allowed values in words, to follow "must be"."""

    @abstractmethod
    def convert(self, value: Any) -> Any:
        """The value in its own type, or ``ValueError``/``TypeError``."""

    def accept(self, name: str, value: Any) -> Any:
        try:
            return self.convert(value)
        except (ValueError, TypeError, ZeroDivisionError, OverflowError):
            raise InputError(f"{name} must be {self.allowed}, got {value!r}") from None


def _within(low: Any, high: Any, above: Any, below: Any) -> str:
    parts = []
    if low is not None:
        parts.append(f"of at least {low}")
    if above is not None:
        parts.append(f"above {above}")
    if high is not None:
        parts.append(f"of at most {high}")
    if below is not None:
        parts.append(f"below {below}")
    return " and ".join(parts)


@dataclass(frozen=True)
class Whole(Rule):
    """An integer in [low, high]."""

    low: int | None = None
    high: int | None = None

    @property
    def allowed(self) -> str:
        return f"an integer {_within(self.low, self.high, None, None)}".rstrip()

    def convert(self, value: Any) -> int:
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, str):
            value = Fraction(value)
        if not isinstance(value, numbers.Number) or value != int(value):  # type: ignore[call-overload]
            raise ValueError
        result: int = int(value)  # type: ignore[call-overload]
        if (self.low is not None and result < self.low) or (self.high is not None and result > self.high):
            raise ValueError
        return result


@dataclass(frozen=True)
class Real(Rule):
    """A finite real number; ``exact`` keeps it as a fraction."""

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    exact: bool = False

    @property
    def allowed(self) -> str:
        words = _within(self.low, self.high, self.above, self.below)
        return f"a finite number {words}".rstrip()

    def convert(self, value: Any) -> float | Fraction:
        if isinstance(value, bool):
            raise TypeError
        number = Fraction(value) if isinstance(value, str | int | Fraction) else Fraction(float(value))
        if (
            (self.low is not None and number < self.low)
            or (self.high is not None and number > self.high)
            or (self.above is not None and number <= self.above)
            or (self.below is not None and number >= self.below)
        ):
            raise ValueError
        if self.exact:
            return number
        result = float(number)
        if not math.isfinite(result):
            raise ValueError
        return result


@dataclass(frozen=True)
class Choice(Rule):
    """One of a few names."""

    options: tuple[str, ...]

    def __init__(self, *options: str):
        object.__setattr__(self, "options", options)

    @property
    def allowed(self) -> str:
        return "one of " + ", ".join(self.options)

    def convert(self, value: Any) -> str:
        if value not in self.options:
            raise ValueError
        return str(value)

    def accept(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value not in self.options:
            raise unknown(name, value, self.options)
        return super().accept(name, value)


@dataclass(frozen=True)
class Maybe(Rule):
    """Either nothing or what another rule allows."""

    rule: Rule

    @property
    def allowed(self) -> str:
        return f"{self.rule.allowed}, or nothing"

    def convert(self, value: Any) -> Any:
        return None if value is None or value == "none" else self.rule.convert(value)


def parameter(default: Any, rule: Rule | None = None, *, traced: bool = False, added: bool = False) -> Any:
    """A dataclass field with a rule; ``traced`` when compiled programs take its value as an argument.

    Cells that differ in traced fields alone share one compiled program. ``added``: the field came later, and its
    default means what was done before; it is then left out of descriptions, so that older cells keep their keys.
    """
    return dataclasses.field(default=default, metadata={"rule": rule, "traced": traced, "added": added})


def enforce(spec: Any) -> None:
    """Check (and convert) every ruled field of a frozen dataclass; call it from ``__post_init__``."""
    for field in dataclasses.fields(spec):
        rule = field.metadata.get("rule")
        if rule is not None:
            object.__setattr__(spec, field.name, rule.accept(field.name, getattr(spec, field.name)))


def rules_of(function: Any) -> Mapping[str, Rule]:
    """The rules in the annotations of a function's parameters: ``n: Annotated[int, Whole(1)]``."""
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for name, hint in hints.items():
        rule = next((item for item in getattr(hint, "__metadata__", ()) if isinstance(item, Rule)), None)
        if rule is not None:
            found[name] = rule
    return found
