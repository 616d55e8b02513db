"""The compiled program of a fleet: sampling, initialisation, every step, check and checkpoint.

A program trains a block of cells side by side. All that differs between them (rates, seeds, sample sizes, budgets)
is an argument, so one compilation serves the fleet. ``start`` makes the block's data and state; ``advance``
runs the training loop on to a given step, so that the caller can report progress and stop between calls without
any effect on the result; ``finish`` evaluates the trained networks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from separatrix.learners import Network, Trained
from separatrix.learners.algorithms import Problem
from separatrix.learners.base import trained_part
from separatrix.learners.losses import LOSSES, error_of
from separatrix.specs import with_values
from separatrix.tasks import Split, Task, stream
from separatrix.training.cell import Cell, Procedure
from separatrix.training.chunks import mean_over_examples

SLOTS = 32
RUNNING, STOPPED, DIVERGED = 0, 1, 2


class Sample(NamedTuple):
    """Examples with weights that sum to one (zero on padding)."""

    x: Float[Array, "points *input"]
    y: Float[Array, "points *outputs"]
    w: Float[Array, " points"]


class Data(NamedTuple):
    """What a cell is trained and evaluated on, and the values it was made with."""

    train: Sample
    validation: Sample
    test: Sample
    values: Mapping[str, Array]
    fixed: PyTree[Array]


class Trace(NamedTuple):
    """The history at the checkpoints; slots that were not reached hold step -1."""

    step: Int[Array, " slots"]
    train_loss: Float[Array, " slots"]
    train_error: Float[Array, " slots"]
    test_error: Float[Array, " slots"]


class State(NamedTuple):
    """What changes as a cell trains."""

    params: PyTree[Array]
    memory: PyTree[Array]
    outcome: Int[Array, ""]
    stopped_at: Int[Array, ""]
    slot: Int[Array, ""]
    next_checkpoint: Int[Array, ""]
    trace: Trace


class Block(NamedTuple):
    """The states of the cells side by side and the step that they share."""

    step: Int[Array, ""]
    lanes: State


class _SampleProblem(Problem):
    """The training sample of one cell, as its algorithm sees it."""

    def __init__(self, program: Program, data: Data, loss: Callable[[PyTree, Array, Array], Array]):
        self.size = data.values["train_size"]
        self.weights = data.train.w
        self.layers = program.layers
        self._train, self._loss = data.train, loss

    def gradient(self, params: PyTree, weights: Float[Array, " points"]) -> PyTree:
        def objective(params: PyTree, x: Array, y: Array, w: Array) -> Array:
            return jnp.sum(w * self._loss(params, x, y))

        return mean_over_examples(jax.grad(objective), params, self._train.x, self._train.y, weights)

    def batch_gradient(self, params: PyTree, indices: Int[Array, " batch"]) -> PyTree:
        weights = jnp.full(indices.shape, 1 / indices.size, self._train.y.dtype)
        x, y = self._train.x[indices], self._train.y[indices]
        return jax.grad(lambda p: jnp.sum(weights * self._loss(p, x, y)))(params)


class Program:
    """The functions of one fleet, traced once each; ``traces`` counts how often."""

    def __init__(self, cell: Cell, lanes: int):
        learner = cell.learner
        assert isinstance(learner, Trained)
        self.task, self.learner, self.procedure = cell.task, learner, cell.procedure
        self.room, self.lanes = cell.bucket, lanes
        self.on_population = cell.train_size is None
        self.shared = self.task.data()
        shapes = eqx.filter_eval_shape(self._build, jax.random.key(0), self.learner)
        self.layers = shapes.layers
        self.traces = 0
        self.start = jax.jit(self._start)
        self.advance = jax.jit(self._advance, donate_argnums=1)
        self.finish = jax.jit(self._finish)

    # One cell -------------------------------------------------------------------------------------------------

    def _specs(self, values: Mapping[str, Array]) -> tuple[Task, Trained, Procedure]:
        """The task, learner and procedure of one cell, its traced values in place."""
        parts = []
        for name, spec in (("task", self.task), ("learner", self.learner), ("procedure", self.procedure)):
            chosen = {path.split(".", 1)[1]: v for path, v in values.items() if path.startswith(name + ".")}
            parts.append(with_values(spec, chosen))
        return tuple(parts)  # type: ignore[return-value]

    def _build(self, key: PRNGKeyArray, learner: Trained) -> Network:
        return learner.architecture.build(key, self.task.input_shape, self.task.output_shape)

    def _data(self, values: Mapping[str, Array], fixed: PyTree, shared: PyTree) -> Data:
        task, _, procedure = self._specs(values)
        seed = values["seed"]
        instance = task.instance(stream(seed, "instance"), shared)

        def drawn(split: Split, room: int, size: Any) -> Sample:
            x, y = task.sample(instance, split, stream(seed, split), room)
            return Sample(x, y, jnp.where(jnp.arange(room) < size, 1 / jnp.asarray(size, y.dtype), 0))

        population = None
        on_population = procedure.on_population(self.task)
        if self.on_population or on_population:
            points = task.population(instance)
            population = Sample(points.x, points.y, points.p / points.p.sum())
        train = population if self.on_population else drawn("train", self.room, values["train_size"])
        if on_population:
            validation = test = population
        else:
            validation = drawn("validation", procedure.validation_size, procedure.validation_size)
            test = drawn("test", procedure.test_size, procedure.test_size)
        assert train is not None and validation is not None and test is not None
        return Data(train, validation, test, values, fixed)

    def _initial(self, values: Mapping[str, Array]) -> tuple[PyTree, PyTree]:
        _, learner, _ = self._specs(values)
        network = self._build(stream(values["seed"], "initialise"), learner)
        params = trained_part(network)
        return params, eqx.filter(network, jax.tree.map(lambda p: p is None, params, is_leaf=lambda p: p is None))

    def _outputs(self, params: PyTree, data: Data, x: Array) -> Array:
        network: Network = eqx.combine(params, data.fixed)
        return network(x)

    def _loss(self, data: Data) -> Callable[[PyTree, Array, Array], Array]:
        loss = LOSSES[self.learner.loss]
        return lambda params, x, y: loss(self._outputs(params, data, x), y)

    def _evaluate(self, params: PyTree, data: Data, sample: Sample) -> tuple[Array, Array]:
        """The mean loss and the error on a sample."""
        loss, error = LOSSES[self.learner.loss], error_of(self.task.kind)

        def means(params: PyTree, x: Array, y: Array, w: Array) -> tuple[Array, Array]:
            outputs = self._outputs(params, data, x)
            # a padded example is finite or not: it must not reach the sum
            weigh = lambda values: jnp.sum(jnp.where(w > 0, w * values, 0))  # noqa: E731
            return weigh(loss(outputs, y)), weigh(error(outputs, y))

        found: tuple[Array, Array] = mean_over_examples(means, params, sample.x, sample.y, sample.w)
        return found

    def _step(self, t: Array, state: State, data: Data) -> State:
        _, learner, _ = self._specs(data.values)
        key = jax.random.fold_in(stream(data.values["seed"], "algorithm"), t)
        problem = _SampleProblem(self, data, self._loss(data))
        params, memory = learner.algorithm.step(t, state.params, state.memory, problem, key)
        return state._replace(params=params, memory=memory)

    def _check(self, t: Array, state: State, data: Data) -> State:
        """The stopping rules, after ``t`` steps."""
        _, learner, procedure = self._specs(data.values)
        loss, error = self._evaluate(state.params, data, data.train)
        diverged = ~(loss <= procedure.divergence)
        reached = (loss <= procedure.target_loss) | (error <= procedure.target_error)
        over = ((t >= learner.algorithm.warmup) & reached) | (t >= procedure.max_steps)
        outcome = jnp.where(diverged, DIVERGED, jnp.where(over, STOPPED, RUNNING))
        return state._replace(outcome=outcome, stopped_at=t)

    def _checkpoint(self, t: Array, state: State, data: Data) -> State:
        """The errors after ``t`` steps, into the next slot of the trace."""
        procedure = self._specs(data.values)[2]
        loss, error = self._evaluate(state.params, data, data.train)
        _, test_error = self._evaluate(state.params, data, data.test)
        found = Trace(t, loss, error, test_error)
        trace = jax.tree.map(lambda slots, value: slots.at[state.slot].set(value), state.trace, found)
        grown = jnp.ceil(t * procedure.checkpoint_ratio).astype(t.dtype)
        following = jnp.where(state.slot + 1 < SLOTS, jnp.maximum(grown, t + 1), jnp.iinfo(t.dtype).max)
        return state._replace(trace=trace, slot=state.slot + 1, next_checkpoint=following)

    # A block of cells -----------------------------------------------------------------------------------------

    def _start(self, values: Mapping[str, Array], shared: PyTree) -> tuple[Data, Block]:
        self.traces += 1

        def one(values: Mapping[str, Array]) -> tuple[Data, State]:
            params, fixed = self._initial(values)
            data = self._data(values, fixed, shared)
            learner = self._specs(values)[1]
            memory = learner.algorithm.init(params, _SampleProblem(self, data, self._loss(data)))
            zero = jnp.zeros((), jnp.int32)
            empty = jnp.zeros(SLOTS, data.train.y.dtype)
            trace = Trace(jnp.full(SLOTS, -1, jnp.int32), empty, empty, empty)
            state = State(params, memory, zero, zero, zero, zero + 1, trace)
            return data, self._checkpoint(zero, state, data)._replace(next_checkpoint=zero + 1)

        data, lanes = jax.vmap(one)(values)
        return data, Block(jnp.zeros((), jnp.int32), lanes)

    def _advance(self, data: Data, block: Block, until: Int[Array, ""]) -> Block:
        """Train every running cell of the block until the step ``until`` or its own end."""
        self.traces += 1

        def active(lanes: State) -> Bool[Array, " lanes"]:
            return lanes.outcome == RUNNING

        def only(mask: Array, new: State, old: State) -> State:
            if self.lanes == 1:  # a lane that has ended is not stepped: nothing to undo
                return new
            return jax.tree.map(lambda n, o: jnp.where(mask.reshape(-1, *[1] * (n.ndim - 1)), n, o), new, old)

        def when(due: Array, work: Callable[[Array, State, Data], State], t: Array, lanes: State) -> State:
            """``work`` on the due lanes; skipped altogether where none is."""
            return jax.lax.cond(
                jnp.any(due),
                lambda lanes: only(due, jax.vmap(work, in_axes=(None, 0, 0))(t, lanes, data), lanes),
                lambda lanes: lanes,
                lanes,
            )

        def body(block: Block) -> Block:
            running = active(block.lanes)
            lanes = only(running, jax.vmap(self._step, in_axes=(None, 0, 0))(block.step, block.lanes, data), block.lanes)
            t = block.step + 1
            lanes = when(running & (t == lanes.next_checkpoint), self._checkpoint, t, lanes)
            every, budget = data.values["procedure.check_every"], data.values["procedure.max_steps"]
            lanes = when(running & ((t % every == 0) | (t >= budget)), self._check, t, lanes)
            return Block(t, lanes)

        return jax.lax.while_loop(lambda block: (block.step < until) & active(block.lanes).any(), body, block)

    def _finish(self, data: Data, block: Block) -> dict[str, Array]:
        """The numbers of each cell's record."""
        self.traces += 1

        def one(state: State, data: Data) -> dict[str, Array]:
            train_loss, train_error = self._evaluate(state.params, data, data.train)
            _, validation_error = self._evaluate(state.params, data, data.validation)
            _, test_error = self._evaluate(state.params, data, data.test)
            norm_sq = sum((jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(state.params)), jnp.zeros(()))
            return {
                "outcome": state.outcome,
                "steps": state.stopped_at,
                "train_loss": train_loss,
                "train_error": train_error,
                "validation_error": validation_error,
                "test_error": test_error,
                "norm": jnp.sqrt(norm_sq),
            } | {f"trace_{name}": slots for name, slots in state.trace._asdict().items()}

        return jax.vmap(one)(block.lanes, data)


def stacked(cells: list[Cell], lanes: int, real: np.dtype) -> dict[str, np.ndarray]:
    """The traced values of a block of cells, the last one repeated until the block is full."""
    rows = [cell.traced() for cell in cells]
    rows += [rows[-1]] * (lanes - len(rows))
    return {
        name: np.array([row[name] for row in rows], np.int32 if isinstance(rows[0][name], int) else real)
        for name in rows[0]
    }
