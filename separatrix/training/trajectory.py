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
from separatrix.training.engine import numerics, program_for, samples, stacked
from separatrix.training.program import Given, Program, State
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
    at = tuple(range(steps + 1)) if keep is None else tuple(keep)
    if not at or at[0] < 0 or at[-1] > steps or any(i >= j for i, j in itertools.pairwise(at)):
        raise InputError(f"keep must be increasing steps from 0 to {steps}, got {at}")
    with numerics(cell.procedure.precision):
        values = stacked([cell], 1, cell.procedure.precision)
        program = program_for(cell, Layout(1, cell.bucket))
        train, _, test = samples([cell], values)
        fixed, state = program.start(values)
        given = Given(values, fixed, train, test)
        params = _walk(program)(given, state, jnp.asarray((0, *at), jnp.int32))
        instance = cell.task.instance(stream(cell.seed, "instance"), cell.task.data())
    first: PyTree = jax.tree.map(lambda array: np.asarray(array[0]), (params, train, fixed))
    stacked_params, sample, alone = first
    size = cell.bucket if cell.train_size is None else cell.train_size
    own = jax.tree.map(np.asarray, instance)
    return Trajectory(stacked_params, Sample(*(array[:size] for array in sample)), alone, program.rest, at, own)


@functools.lru_cache(maxsize=32)
def _walk(program: Program) -> Callable[[Given, State, Int[Array, " stops"]], PyTree]:
    """The parameters at each stop (the first stop, where the walk starts, left out), compiled once a program."""

    def one(given: Given, state: State, stops: Array) -> PyTree:
        def leg(state: State, ends: tuple[Array, Array]) -> tuple[State, PyTree]:
            state = jax.lax.fori_loop(*ends, lambda t, state: program.step(t, state, given), state)
            return state, state.params

        return jax.lax.scan(leg, state, (stops[:-1], stops[1:]))[1]

    return jax.jit(jax.vmap(one, in_axes=(0, 0, None)))
