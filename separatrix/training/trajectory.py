"""The parameters of one training at every step: what a theorem about the dynamics is checked on."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree

from separatrix.errors import InputError
from separatrix.learners import Network
from separatrix.tasks import stream
from separatrix.training.blocks import Layout
from separatrix.training.cell import Cell
from separatrix.training.engine import numerics, program_for, shared_data, stacked, training_sample
from separatrix.training.program import SIDE_BY_SIDE, Given, Program, State
from separatrix.training.samples import Sample


@dataclass(frozen=True)
class Trajectory:
    """The trained arrays with a leading axis for the kept steps ``at``, in NumPy, and the sample they were trained on.

    ``instance`` is what the seed drew for the task: its patterns, its hidden target.
    """

    params: Network
    sample: Sample
    fixed: Network
    rest: Network
    at: tuple[int, ...]
    instance: PyTree

    def network(self, t: int) -> Network:
        """The network after t steps, for a t that was kept."""
        at_t = jax.tree.map(lambda array: array[self.at.index(t)], self.params)
        network: Network = eqx.combine(at_t, self.fixed, self.rest)
        return network


def follow(cell: Cell, steps: int, keep: Sequence[int] | None = None) -> Trajectory:
    """The cell's training for ``steps`` steps by the same program that trains fleets, without its stopping rules.

    Every step's parameters are kept, or those of the increasing steps ``keep``. The result is in the cell's
    precision; theorems take ``Procedure(precision="float64")``.
    """
    return follow_all([cell], steps, keep)[0]


def follow_all(cells: Sequence[Cell], steps: int, keep: Sequence[int] | None = None) -> list[Trajectory]:
    """The same for small cells of one fleet side by side, say for many seeds."""
    at = tuple(range(steps + 1)) if keep is None else tuple(keep)
    if not at or at[0] < 0 or at[-1] > steps or any(i >= j for i, j in itertools.pairwise(at)):
        raise InputError(f"keep must be increasing steps from 0 to {steps}, got {at}")
    if len({cell.fleet for cell in cells}) != 1:
        raise InputError("cells must be of one fleet to be followed together")
    cell, precision = cells[0], cells[0].procedure.precision
    with numerics(precision):
        values = stacked(cells, len(cells), precision)
        program = program_for(cell, Layout(len(cells), cell.bucket))
        train = training_sample(cells, values)
        fixed, state = program.start(values)
        given = Given(values, fixed, train, train, shared_data(cell))  # no step looks at a test sample
        params = _walk(program)(given, state, jnp.asarray((0, *at), jnp.int32))
        instances = [own.task.instance(stream(own.seed, "instance"), own.task.data()) for own in cells]
    kept, sample, alone = jax.tree.map(np.asarray, (params, train, fixed))
    found = []
    for lane, (own, instance) in enumerate(zip(cells, instances, strict=True)):
        size = own.judged or own.bucket
        params, drawn, fixed = jax.tree.map(lambda array, lane=lane: array[lane], (kept, tuple(sample), alone))
        drawn = Sample(*(array[:size] for array in drawn))
        found.append(Trajectory(params, drawn, fixed, program.rest, at, jax.tree.map(np.asarray, instance)))
    return found


@functools.lru_cache(maxsize=32)
def _walk(program: Program) -> Callable[[Given, State, Int[Array, " stops"]], PyTree]:
    """The parameters at each stop (the first stop, where the walk starts, left out), compiled once a program."""

    def one(given: Given, state: State, stops: Array) -> PyTree:
        def leg(state: State, ends: tuple[Array, Array]) -> tuple[State, PyTree]:
            state = jax.lax.fori_loop(*ends, lambda t, state: program.step(t, state, given), state)
            return state, state.params

        return jax.lax.scan(leg, state, (stops[:-1], stops[1:]))[1]

    return jax.jit(jax.vmap(one, in_axes=(SIDE_BY_SIDE, 0, None)))
