"""Where a network's parameters meet its inputs, found in the program of its forward pass.

The gradient with respect to a matrix W of a layer z = W h is delta h^T, delta = d output / d z, and the gradient with
respect to a bias is delta: two short vectors, not an array of W's size. A *tap* is such a place, a ``dot_general`` or
an ``add`` that takes a parameter as it is (transposed, reshaped, times a constant). :class:`Tapped` runs the program of
one example, records h at every tap, and adds to every z a variable that is zero, whose derivative is delta. A
parameter that is used in any other way, or twice, is ``loose``: it has no taps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

_CALLS = ("pjit", "jit", "closed_call", "core_call", "remat", "checkpoint")


class View(NamedTuple):
    """A parameter as it stands: each of its numbers once, times ``factor``, or copied along the axes ``copied``."""

    leaf: int
    factor: float
    value: Any
    copied: frozenset[int] = frozenset()


class Tap(NamedTuple):
    """A place where the parameter ``leaf`` enters alone.

    ``h`` is (batch, free, contracted), and delta becomes (batch, free, units) by ``arrange``, so that the gradient
    is ``factor`` times the sum of delta h^T over the free axis; for a bias ``h`` is None and delta becomes (units,).
    """

    leaf: int
    factor: float
    h: Any
    arrange: Callable[[Any], Any]


class Tapped:
    """The forward pass ``function(leaves, x)`` of one example, with its taps."""

    def __init__(self, function: Callable[[list[Any], Any], Any], leaves: Sequence[Any], x: Any):
        self.program: ClosedJaxpr = jax.make_jaxpr(function)(list(leaves), x)
        taps: list[Tap] = []
        escaped: set[int] = set()

        def found(leaves: list[Any], x: Any) -> tuple[Any, list[Any]]:
            run = _Run(self.program, None)
            out = run(leaves, x)
            taps[:], escaped_here = run.taps, run.escaped
            escaped.update(escaped_here)
            return out, run.zeros

        _, shapes = jax.eval_shape(found, list(leaves), x)
        self.shapes = [tuple(shape.shape) for shape in shapes]
        self.dtype = leaves[0].dtype
        uses = Counter(tap.leaf for tap in taps)
        single = {leaf for leaf, count in uses.items() if count == 1}
        self.loose = [i for i in range(len(leaves)) if i in escaped or (uses[i] and i not in single)]
        self.used = [i for i, tap in enumerate(taps) if tap.leaf not in self.loose]

    def zeros(self) -> list[Any]:
        return [jnp.zeros(shape, self.dtype) for shape in self.shapes]

    def run(self, leaves: list[Any], x: Any, added: list[Any]) -> tuple[Any, list[Tap]]:
        """The output with ``added`` at the taps, and the taps."""
        run = _Run(self.program, added)
        return run(leaves, x), run.taps


class _Run:
    """One pass through the program, with what is added."""

    def __init__(self, program: ClosedJaxpr, added: list[Any] | None):
        self.program, self.added = program, added
        self.taps: list[Tap] = []
        self.zeros: list[Any] = []
        self.escaped: set[int] = set()

    def __call__(self, leaves: list[Any], x: Any) -> Any:
        views = [View(i, 1.0, leaf) for i, leaf in enumerate(leaves)]
        (out,) = self._evaluate(self.program.jaxpr, self.program.consts, [*views, x])
        return self._plain(out)

    def _plain(self, value: Any) -> Any:
        """The array; a view that is used as one has escaped."""
        if isinstance(value, View):
            self.escaped.add(value.leaf)
            return value.value
        return value

    def _evaluate(self, jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        known: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *inputs], strict=True))

        def read(variable: Any) -> Any:
            return variable.val if isinstance(variable, Literal) else known[variable]

        for equation in jaxpr.eqns:
            values = [read(variable) for variable in equation.invars]
            known.update(zip(equation.outvars, self._apply(_Equation(jaxpr, equation), values), strict=True))
        return [read(variable) for variable in jaxpr.outvars]

    def _apply(self, equation: _Equation, values: list[Any]) -> list[Any]:
        name = equation.name
        views = [isinstance(value, View) for value in values]
        if any(views):
            if name in _CALLS:
                inner = equation.params.get("jaxpr") or equation.params["call_jaxpr"]
                jaxpr, consts = (inner.jaxpr, inner.consts) if isinstance(inner, ClosedJaxpr) else (inner, ())
                return self._evaluate(jaxpr, consts, values)
            if sum(views) == 1:
                made = self._through(equation, values, views.index(True))
                if made is not None:
                    return [made]
        return equation.of([self._plain(value) for value in values])

    def _through(self, equation: _Equation, values: list[Any], place: int) -> Any:
        """A view of a view, a tapped value, or None where this primitive is neither."""
        name = equation.name
        view: View = values[place]
        if name in ("transpose", "reshape", "squeeze", "broadcast_in_dim", "convert_element_type", "neg", "copy"):
            return _moved(equation, view)
        if name in ("mul", "div"):
            other = values[1 - place]
            constant = isinstance(other, int | float | np.ndarray | np.generic) and np.ndim(other) == 0
            if not constant or (name == "div" and place == 1):
                return None
            factor = float(other) if name == "mul" else 1 / float(other)
            return view._replace(factor=view.factor * factor, value=view.value * factor)
        if name in ("add", "add_any") and np.shape(values[1 - place]) == view.value.shape:
            copied = tuple(sorted(view.copied))
            return self._tap(view, None, values[1 - place] + view.value, lambda delta: delta.sum(axis=copied).ravel())
        if name == "dot_general" and not view.copied:
            return self._product(equation, values, place)
        return None

    def _product(self, equation: _Equation, values: list[Any], place: int) -> Any:
        contracted, batched = equation.params["dimension_numbers"]
        view, other = values[place], values[1 - place]
        its, own = (contracted[1 - place], contracted[place]), (batched[1 - place], batched[place])
        (z,) = equation.of([view.value if i == place else other for i in range(2)])
        free = [axis for axis in range(other.ndim) if axis not in its[0] and axis not in own[0]]
        sizes = [math.prod(other.shape[axis] for axis in axes) for axes in (own[0], free, its[0])]
        h = other.transpose(*own[0], *free, *its[0]).reshape(sizes)
        batch, frees = len(own[0]), len(free)
        units = z.ndim - batch - frees

        def arrange(delta: Any) -> Any:
            """The result's axes are batch, left, right: bring the other operand's free ones before the units."""
            if place == 0:  # the parameter is on the left
                order = [*range(batch), *range(batch + units, z.ndim), *range(batch, batch + units)]
                delta = delta.transpose(order)
            return delta.reshape(sizes[0], sizes[1], -1)

        return self._tap(view, h, z, arrange)

    def _tap(self, view: View, h: Any, z: Any, arrange: Callable[[Any], Any]) -> Any:
        number = len(self.taps)
        self.taps.append(Tap(view.leaf, view.factor, h, arrange))
        self.zeros.append(jnp.zeros_like(z))
        return z if self.added is None else z + self.added[number]


class _Equation:
    """One line of a program, which can be run alone."""

    def __init__(self, jaxpr: Jaxpr, equation: Any):
        self.jaxpr, self.equation = jaxpr, equation
        self.name: str = equation.primitive.name
        self.params: dict[str, Any] = equation.params

    def of(self, values: Sequence[Any]) -> list[Any]:
        """Its results at these values (of its literals too)."""
        given = dict(zip(map(id, self.equation.invars), zip(self.equation.invars, values, strict=True), strict=True))
        free = [pair for pair in given.values() if not isinstance(pair[0], Literal)]
        alone = self.jaxpr.replace(
            constvars=[], invars=[variable for variable, _ in free], outvars=self.equation.outvars, eqns=[self.equation]
        )
        return list(jaxpr_as_fun(ClosedJaxpr(alone, []))(*[value for _, value in free]))


def _moved(equation: _Equation, view: View) -> View | None:
    """The view after a primitive that only moves its numbers; None where it does more."""
    name, params = equation.name, equation.params
    (value,) = equation.of([view.value])
    if name == "transpose":
        copied = frozenset(i for i, axis in enumerate(params["permutation"]) if axis in view.copied)
        return View(view.leaf, view.factor, value, copied)
    if name == "broadcast_in_dim":
        kept = params["broadcast_dimensions"]
        from_axis = {to: axis for axis, to in enumerate(kept)}
        spread = {
            to
            for to, size in enumerate(value.shape)
            if (to not in from_axis and size > 1)
            or (to in from_axis and (from_axis[to] in view.copied or view.value.shape[from_axis[to]] != size))
        }
        return View(view.leaf, view.factor, value, frozenset(spread))
    if name == "neg":
        return View(view.leaf, -view.factor, value, view.copied)
    if name == "convert_element_type":
        return View(view.leaf, view.factor, value, view.copied) if value.dtype == view.value.dtype else None
    if name == "copy":
        return View(view.leaf, view.factor, value, view.copied)
    return None if view.copied else View(view.leaf, view.factor, value)
