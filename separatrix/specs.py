"""What a frozen dataclass says, as plain data: its description, its hash, its traced values.

A cell is the description of a task, a learner and a procedure; its key is the hash of that description.
Fields declared with ``parameter(..., traced=True)`` are arguments of the compiled program, all
others are part of its shape, so a fleet is the set of cells with equal :func:`static_part`.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import inspect
import json
import types
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from separatrix.errors import InputError, unknown

T = TypeVar("T")


def describe(value: Any) -> Any:
    """Plain data (as JSON has it) that says all that matters of a value, the same in every process.

    >>> from separatrix.rules import parameter
    >>> @dataclasses.dataclass(frozen=True)
    ... class Ball:
    ...     radius: float = parameter(1.0)
    >>> describe(Ball(2.0))["radius"]
    2.0
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value
    if isinstance(value, np.generic):
        return describe(value.item())
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if _is_spec(value):
        return _identity(type(value)) | {name: describe(item) for name, item in _described_fields(value)}
    if isinstance(value, Mapping):
        return {str(name): describe(item) for name, item in sorted(value.items())}
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if hasattr(value, "__array__"):
        return _describe_array(np.asarray(value))
    if hasattr(value, "get_params"):  # a scikit-learn estimator
        return {"type": _qualified(type(value)), "params": describe(value.get_params(deep=False))}
    if callable(value) or dataclasses.is_dataclass(value):
        return _describe_callable(value)
    raise InputError(
        f"a task or learner must be made of numbers, names, arrays, functions and dataclasses, "
        f"got a {type(value).__name__}"
    )


def _identity(kind: type) -> dict[str, Any]:
    """One of our classes by its name; a user's also by its code, since that may change under the name."""
    if kind.__module__.startswith("separatrix."):
        return {"type": kind.__name__}
    return {"type": kind.__qualname__, "code": _source_digest(kind)}


def _describe_array(array: np.ndarray) -> dict[str, Any]:
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {"array": digest, "shape": list(array.shape), "dtype": str(array.dtype)}


def _qualified(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _describe_callable(value: Any) -> dict[str, Any]:
    """A function by its code and what it closes over; a module of Equinox by its leaves."""
    if isinstance(value, functools.partial):
        return {
            "partial": describe(value.func),
            "args": describe(value.args),
            "keywords": describe(value.keywords),
        }
    if isinstance(value, types.MethodType):
        return {"method": value.__name__, "of": describe(value.__self__)}
    if isinstance(value, type | types.FunctionType):
        return {"callable": value.__qualname__, "code": _source_digest(value)} | _closure(value)
    if dataclasses.is_dataclass(value):
        return _identity(type(value)) | {name: describe(item) for name, item, _ in _spec_fields(value)}
    return {"callable": _qualified(value if hasattr(value, "__qualname__") else type(value))}


def _source_digest(value: Any) -> str:
    try:
        source = inspect.getsource(value)
    except (OSError, TypeError):
        code = getattr(value, "__code__", None)
        source = repr((code.co_code, code.co_consts)) if code is not None else ""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _closure(value: Any) -> dict[str, Any]:
    cells = getattr(value, "__closure__", None) or ()
    defaults = getattr(value, "__defaults__", None) or ()
    found: dict[str, Any] = {}
    if cells:
        found["closure"] = [describe(cell.cell_contents) for cell in cells]
    if defaults:
        found["defaults"] = describe(defaults)
    return found


def content_hash(value: Any) -> str:
    """32 hexadecimal digits of the description's SHA-256."""
    text = json.dumps(describe(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _spec_fields(spec: Any) -> Iterator[tuple[str, Any, bool]]:
    for field in dataclasses.fields(spec):
        yield field.name, getattr(spec, field.name), bool(field.metadata.get("traced"))


def _described_fields(spec: Any) -> Iterator[tuple[str, Any]]:
    """All fields but those that were added later and have their default."""
    for field in dataclasses.fields(spec):
        value = getattr(spec, field.name)
        if not (field.metadata.get("added") and value == field.default):
            yield field.name, value


def _is_spec(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type) and not callable(value)


def traced_values(spec: Any, prefix: str = "") -> dict[str, float]:
    """The traced values of a spec and of the specs in its fields, by dotted path."""
    found: dict[str, float] = {}
    for name, value, traced in _spec_fields(spec):
        if traced:
            found[prefix + name] = value
        elif _is_spec(value):
            found |= traced_values(value, f"{prefix}{name}.")
    return found


def with_values(spec: T, values: Mapping[str, Any]) -> T:
    """A copy with the fields at these dotted paths set, unchecked: for values inside a program."""
    made = copy.copy(spec)
    nested: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        head, _, rest = path.partition(".")
        if rest:
            nested.setdefault(head, {})[rest] = value
        else:
            object.__setattr__(made, head, value)
    for head, below in nested.items():
        object.__setattr__(made, head, with_values(getattr(made, head), below))
    return made


def static_part(spec: T) -> Any:
    """The description without the traced values: equal for cells that share a program."""
    blank = with_values(spec, dict.fromkeys(traced_values(spec)))
    return describe(blank)


def replaced(spec: T, name: str, value: Any) -> T:
    """A checked copy with the field ``name`` set, wherever in the spec it lies; unknown names raise."""
    paths = _paths(spec)
    matches = [path for path in paths if path == name or path.rsplit(".", 1)[-1] == name]
    if not matches:
        raise unknown(f"field of {type(spec).__name__}", name, {path.rsplit(".", 1)[-1] for path in paths})
    if len(matches) > 1 and name not in matches:
        raise InputError(f"{name} is ambiguous in {type(spec).__name__}: {', '.join(matches)}")
    return _replace_at(spec, name if name in matches else matches[0], value)


def has_field(spec: Any, name: str) -> bool:
    return any(path == name or path.rsplit(".", 1)[-1] == name for path in _paths(spec))


def _replace_at(spec: Any, path: str, value: Any) -> Any:
    head, _, rest = path.partition(".")
    return dataclasses.replace(spec, **{head: _replace_at(getattr(spec, head), rest, value) if rest else value})


def _paths(spec: Any, prefix: str = "") -> list[str]:
    found = []
    for name, value, _ in _spec_fields(spec):
        found.append(prefix + name)
        if _is_spec(value):
            found += _paths(value, f"{prefix}{name}.")
    return found


def flat(spec: Any, prefix: str) -> dict[str, Any]:
    """A spec's simple fields as columns ``prefix.name`` (numbers, names, truth values)."""
    found: dict[str, Any] = {}
    for name, value, _ in _spec_fields(spec):
        if _is_spec(value):
            found |= flat(value, f"{prefix}.{name}")
        elif isinstance(value, bool | int | float | str):
            found[f"{prefix}.{name}"] = value
    return found
