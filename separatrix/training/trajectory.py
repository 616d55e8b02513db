"""The parameters of one training at every step: what a theorem about the dynamics is checked on."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from separatrix.learners import Network
from separatrix.training.blocks import Layout
from separatrix.training.cell import Cell
from separatrix.training.engine import numerics, program_for, samples, stacked
from separatrix.training.program import Given, Program, State
from separatrix.training.samples import Sample


@dataclass(frozen=True)
class Trajectory:
    """The trained arrays with a leading axis t = 0, ..., T, in NumPy, and the sample they were trained on."""

    params: Network
    sample: Sample
    fixed: Network
    rest: Network

    def network(self, t: int) -> Network:
        """The network after t steps."""
        at_t = jax.tree.map(lambda array: array[t], self.params)
        network: Network = eqx.combine(at_t, self.fixed, self.rest)
        return network


def follow(cell: Cell, steps: int) -> Trajectory:
    """The cell's training for ``steps`` steps by the same program that trains fleets, without its stopping rules.

    The result is in the cell's precision; theorems take ``Procedure(precision="float64")``.
    """
    with numerics(cell.procedure.precision):
        values = stacked([cell], 1, cell.procedure.precision)
        program = program_for(cell, Layout(1, cell.bucket))
        train, _, test = samples([cell], values)
        fixed, state = program.start(values)
        given = Given(values, fixed, train, test)
        params = _steps(program, given, state, steps)
    first: PyTree = jax.tree.map(lambda array: np.asarray(array[0]), (params, train, fixed))
    stacked_params, sample, alone = first
    size = cell.bucket if cell.train_size is None else cell.train_size
    return Trajectory(stacked_params, Sample(*(array[:size] for array in sample)), alone, program.rest)


def _steps(program: Program, given: Given, state: State, steps: int) -> PyTree:
    def one(given: Given, state: State) -> PyTree:
        def step(state: State, t: jax.Array) -> tuple[State, PyTree]:
            following = program.step(t, state, given)
            return following, following.params

        _, after = jax.lax.scan(step, state, jnp.arange(steps))
        return jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), state.params, after)

    return jax.jit(jax.vmap(one))(given, state)
