"""Certificates: one theorem at given parameters, assumptions checked, both sides evaluated.

A theorem's function returns a :class:`Finding` (what was computed); the registry adds what is the
same for all (the claim, the parameters, the time) and makes it a :class:`Certificate`.

>>> finding = Finding(
...     measured={"value": Fraction(1, 3)},
...     bound={"value": Fraction(1, 2)},
...     checks=[at_most("value", Fraction(1, 3), Fraction(1, 2))],
...     method="exact",
... )
>>> finding.status, finding.slack
('holds', Fraction(1, 6))
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

Number = int | float | Fraction
Status = Literal["holds", "violated", "vacuous", "outside", "undecided"]
STATUSES: Mapping[Status, str] = {
    "holds": "every assumption and every inequality holds",
    "violated": "the assumptions hold and the statement does not",
    "vacuous": "true, but it says nothing at these parameters",
    "outside": "an assumption fails, so the statement claims nothing here",
    "undecided": "an estimate's interval contains the bound",
}


@dataclass(frozen=True)
class Assumption:
    """A premise of the statement: ``value`` against ``limit``, in the words of ``name``."""

    name: str
    value: Number | str
    limit: Number | str
    holds: bool


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence limits."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Check:
    """``left relation right``. ``slack`` is how far it is from failing, negative where it fails."""

    name: str
    left: Number | Interval
    relation: Literal["<=", ">=", "=="]
    right: Number
    tolerance: float = 0.0

    @property
    def slack(self) -> Number:
        left: Any = self.left.mean if isinstance(self.left, Interval) else self.left
        slack: Number
        if self.relation == "<=":
            slack = self.right - left
        elif self.relation == ">=":
            slack = left - self.right
        else:
            slack = -abs(left - self.right)
        return slack

    @property
    def holds(self) -> bool | None:
        """True or False, or None where an interval does not decide."""
        if not isinstance(self.left, Interval):
            return bool(self.slack >= -self.tolerance)
        certain, possible = self._limits(self.left)
        if certain:
            return True
        return None if possible else False

    def _limits(self, interval: Interval) -> tuple[bool, bool]:
        """Whether the relation holds for the whole interval, and for any of it."""
        low, high, right = interval.low, interval.high, self.right
        if self.relation == "<=":
            return high <= right, low <= right
        if self.relation == ">=":
            return low >= right, high >= right
        return False, low <= right <= high


def at_most(name: str, left: Number | Interval, right: Number, tolerance: float = 0.0) -> Check:
    return Check(name, left, "<=", right, tolerance)


def at_least(name: str, left: Number | Interval, right: Number, tolerance: float = 0.0) -> Check:
    return Check(name, left, ">=", right, tolerance)


def equal(name: str, left: Number | Interval, right: Number, tolerance: float = 0.0) -> Check:
    return Check(name, left, "==", right, tolerance)


def not_run(sizes: str, method: str) -> str:
    """Why a theorem about training was only evaluated: ``sizes`` are too large, or ``method`` is ``closed-form``."""
    why = f"{sizes} are too large" if method == "auto" else f"method is {method}"
    return f"only the bound is evaluated; nothing was run, as {why}"


@dataclass(frozen=True)
class Finding:
    """What a theorem's function computed.

    ``vacuous`` says why the statement is empty at these parameters (None where it is not), ``unchecked`` why its bound
    was only evaluated: nothing was measured that could decide, which contradicts nothing either.
    ``method`` names how the numbers were got: ``exact``, ``enumeration``, ``closed form``,
    ``estimate`` (with intervals), ``run`` (a real training), ``scaling`` (a fitted exponent).
    """

    measured: Mapping[str, Any]
    bound: Mapping[str, Any]
    checks: Sequence[Check]
    method: str
    assumptions: Sequence[Assumption] = ()
    vacuous: str | None = None
    notes: Sequence[str] = ()
    unchecked: str | None = None

    @property
    def slack(self) -> Number | None:
        """The smallest slack of all checks."""
        return min((check.slack for check in self.checks), default=None)

    @property
    def status(self) -> Status:
        if not all(assumption.holds for assumption in self.assumptions):
            return "outside"
        outcomes = [check.holds for check in self.checks]
        if False in outcomes:
            return "violated"
        if self.vacuous is not None:
            return "vacuous"
        return "undecided" if None in outcomes or self.unchecked is not None else "holds"


@dataclass(frozen=True)
class Certificate:
    """One theorem or lemma at given parameters, as ``certify`` prints it."""

    claim: str
    statement: str
    params: Mapping[str, Any]
    finding: Finding
    seconds: float
    status: Status = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", self.finding.status)

    @property
    def ok(self) -> bool:
        """Whether nothing that was checked contradicts the statement or is open: what ``--strict`` asks for."""
        only_evaluated = self.status == "undecided" and None not in (check.holds for check in self.finding.checks)
        return self.status in ("holds", "vacuous") or only_evaluated

    def to_json(self) -> dict[str, Any]:
        finding = self.finding
        return {
            "claim": self.claim,
            "statement": self.statement,
            "params": {name: plain(value) for name, value in self.params.items()},
            "assumptions": [
                {"name": a.name, "value": plain(a.value), "limit": plain(a.limit), "holds": a.holds}
                for a in finding.assumptions
            ],
            "measured": named_numbers(finding.measured),
            "bound": named_numbers(finding.bound),
            "checks": [
                {
                    "name": check.name,
                    "relation": check.relation,
                    "slack": plain(check.slack),
                    "holds": check.holds,
                }
                for check in finding.checks
            ],
            "slack": plain(finding.slack),
            "status": self.status,
            "vacuous": finding.vacuous,
            "unchecked": finding.unchecked,
            "method": finding.method,
            "notes": list(finding.notes),
            "seconds": self.seconds,
        }


def plain(value: Any) -> Any:
    """A value as JSON has it: no fractions, no NumPy, no infinities."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, str | bool | None):
        return value
    if isinstance(value, Interval):
        return {"mean": value.mean, "low": value.low, "high": value.high}
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else _as_float(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise TypeError(f"a certificate cannot hold a {type(value).__name__}")


def _as_float(value: Fraction) -> float:
    """The nearest float, zero where the fraction is below the smallest one."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def named_numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    """Named numbers; an exact rational also as the string ``p/q`` under ``NAME_exact``.

    >>> named_numbers({"p": Fraction(1, 4)})
    {'p': 0.25, 'p_exact': '1/4'}
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        found[name] = plain(value)
        if isinstance(value, Fraction):
            found[f"{name}_exact"] = f"{_digits(value.numerator)}/{_digits(value.denominator)}"
    return found


def _digits(number: int) -> str:
    """Decimal digits of any integer; ``str`` refuses more than a few thousand."""
    if number < 0:
        return f"-{_digits(-number)}"
    if number.bit_length() <= 8192:
        return str(number)
    low_digits = number.bit_length() * 3 // 20
    high, low = divmod(number, 10**low_digits)
    return _digits(high) + _digits(low).zfill(low_digits)
