"""The compiled program of a fleet: initialisation, every step, check and checkpoint.

A program trains a block of cells side by side. All that differs between them (rates, seeds, sample sizes, budgets)
is an argument, so one compilation serves the fleet. ``start`` makes the block's first state; ``advance`` runs
the training loop on to a given step, so that the caller can report progress and stop between calls without any
effect on the result; ``evaluate`` measures the trained networks on a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from separatrix.errors import InputError
from separatrix.learners import Network, Trained
from separatrix.learners.algorithms import Problem
from separatrix.learners.base import trained_part
from separatrix.learners.losses import LOSSES, error_of
from separatrix.specs import with_values
from separatrix.tasks import Task, stream
from separatrix.training.cell import Procedure
from separatrix.training.chunks import sum_over_examples
from separatrix.training.samples import Sample, Values, chosen

SLOTS = 32
RUNNING, STOPPED, DIVERGED = 0, 1, 2


class Trace(NamedTuple):
    """The history at the checkpoints; slots that were not reached hold step -1."""

    step: Int[Array, " slots"]
    train_loss: Float[Array, " slots"]
    train_error: Float[Array, " slots"]
    test_error: Float[Array, " slots"]


class State(NamedTuple):
    """A cell in training; ``train_loss`` and ``train_error`` are those of the last check, ``epoch`` what the current
    epoch drew.
    """

    params: PyTree[Array]
    memory: PyTree[Array]
    outcome: Int[Array, ""]
    stopped_at: Int[Array, ""]
    train_loss: Float[Array, ""]
    train_error: Float[Array, ""]
    slot: Int[Array, ""]
    next_checkpoint: Int[Array, ""]
    trace: Trace
    epoch: PyTree[Array] = ()


class Block(NamedTuple):
    """The states of the cells side by side and the step that they share."""

    step: Int[Array, ""]
    lanes: State


class Given(NamedTuple):
    """What a cell's training is given: its traced values, the arrays it leaves alone, its samples, and the data that
    epochs are made of, which all cells share.
    """

    values: Values
    fixed: PyTree[Array]
    train: Sample
    test: Sample
    shared: PyTree[Array] = ()


SIDE_BY_SIDE = Given(0, 0, 0, 0, None)  # type: ignore[arg-type]
"""The axes of a block's :class:`Given` along which its cells lie."""


class Program:
    """The functions of one fleet; ``traces`` counts how often Python ran through them."""

    def __init__(
        self, task: Task, learner: Trained, procedure: Procedure, lanes: int, chunk: int, epoch_steps: int = 0
    ):
        self.task, self.learner, self.procedure, self.lanes, self.chunk = task, learner, procedure, lanes, chunk
        self.epoch_steps = epoch_steps
        skeleton = eqx.filter_eval_shape(self._build, jax.random.key(0), learner)
        self.layers: tuple[tuple[str, ...], ...] = skeleton.layers
        self.rest = eqx.filter(skeleton, lambda leaf: not isinstance(leaf, jax.ShapeDtypeStruct))
        self.traces = 0
        self.start = jax.jit(jax.vmap(self._start))
        self.advance = jax.jit(self._advance, donate_argnums=1)
        self.evaluate = jax.jit(jax.vmap(self._evaluate))

    # One cell -------------------------------------------------------------------------------------------------

    def _build(self, key: PRNGKeyArray, learner: Trained) -> Network:
        return learner.build(key, self.task.input_shape, self.task.output_shape)

    def _learner(self, values: Values) -> Trained:
        return with_values(self.learner, chosen(values, "learner"))

    def _procedure(self, values: Values) -> Procedure:
        return with_values(self.procedure, chosen(values, "procedure"))

    def outputs(self, params: PyTree, fixed: PyTree, x: Array) -> Array:
        network: Network = eqx.combine(params, fixed, self.rest)
        return network(x)

    def _start(self, values: Values) -> tuple[PyTree, State]:
        self.traces += 1
        learner = self._learner(values)
        arrays = eqx.filter(self._build(stream(values["seed"], "initialise"), learner), eqx.is_array)
        params = trained_part(arrays)
        fixed = jax.tree.map(lambda a, p: a if p is None else None, arrays, params, is_leaf=lambda a: a is None)
        real = jax.tree.leaves(params)[0].dtype
        zero, nothing, empty = jnp.zeros((), jnp.int32), jnp.zeros((), real), jnp.zeros(SLOTS, real)
        trace = Trace(jnp.full(SLOTS, -1, jnp.int32), empty, empty, empty)
        memory = learner.algorithm.init(params)
        epoch = self.epoch(values, zero)[0] if self.epoch_steps else ()
        return fixed, State(params, memory, zero, zero, nothing, nothing, zero, zero, trace, epoch)

    def _evaluate(self, params: PyTree, fixed: PyTree, sample: Sample) -> tuple[Array, Array]:
        """The mean loss and the error on a sample."""
        self.traces += 1
        loss, error = LOSSES[self.learner.loss], error_of(self.task.kind)

        def sums(params: PyTree, x: Array, y: Array, w: Array) -> tuple[Array, Array]:
            outputs = self.outputs(params, fixed, x)
            return _weighted(loss(outputs, y), w), _weighted(error(outputs, y), w)

        found: tuple[Array, Array] = sum_over_examples(sums, params, sample, self.chunk)
        return found

    def epoch(self, values: Values, number: Array) -> tuple[PyTree[Array], PRNGKeyArray]:
        """What an epoch draws, and the key of its examples."""
        order, examples = jax.random.split(jax.random.fold_in(stream(values["seed"], "epoch"), number))
        return self.task.epoch(order), examples

    def step(self, t: Array, state: State, given: Given) -> State:
        key = jax.random.fold_in(stream(given.values["seed"], "algorithm"), t)
        algorithm = self._learner(given.values).algorithm
        problem: Problem = _Problem(self, given)
        if self.epoch_steps:
            number, place = jnp.divmod(t, self.epoch_steps)
            # the condition is the same for all cells side by side, so nothing is drawn but where an epoch begins
            drawn = jax.lax.cond(place == 0, lambda: self.epoch(given.values, number)[0], lambda: state.epoch)
            state, problem = state._replace(epoch=drawn), _Epoch(self, given, drawn, number)
        params, memory = algorithm.step(t, state.params, state.memory, problem, key)
        return state._replace(params=params, memory=memory)

    def _limit(self, values: Values) -> Array:
        """The step at which training ends at the latest: the procedure's, or the algorithm's own end."""
        steps = jnp.asarray(values["procedure.max_steps"])
        end = self._learner(values).algorithm.ends(jnp.asarray(values["train_size"]))
        return steps if end is None else jnp.minimum(steps, end)

    def _check(self, t: Array, state: State, given: Given) -> State:
        """The stopping rules, after ``t`` steps."""
        procedure, algorithm = self._procedure(given.values), self._learner(given.values).algorithm
        loss, error = self._evaluate(state.params, given.fixed, given.train)
        diverged = ~(loss <= procedure.divergence)
        reached = (loss <= procedure.target_loss) | (error <= procedure.target_error)
        over = ((t >= algorithm.warmup) & reached) | (t >= self._limit(given.values))
        outcome = jnp.where(diverged, DIVERGED, jnp.where(over, STOPPED, RUNNING)).astype(t.dtype)
        return state._replace(outcome=outcome, stopped_at=t, train_loss=loss, train_error=error)

    def _checkpoint(self, t: Array, state: State, given: Given) -> State:
        """The errors after ``t`` steps, into the next slot of the trace."""
        loss, error = self._evaluate(state.params, given.fixed, given.train)
        _, test_error = self._evaluate(state.params, given.fixed, given.test)
        found = Trace(t, loss, error, test_error)
        trace = jax.tree.map(lambda slots, value: slots.at[state.slot].set(value), state.trace, found)
        ratio = self._procedure(given.values).checkpoint_ratio
        following = jnp.maximum(jnp.ceil(t * ratio).astype(t.dtype), t + 1)
        if self.epoch_steps:
            following = t + self.epoch_steps * -(-self.procedure.epochs // (SLOTS - 1))
        following = jnp.where(state.slot + 1 < SLOTS, following, np.iinfo(t.dtype).max)
        return state._replace(trace=trace, slot=state.slot + 1, next_checkpoint=following)

    # A block of cells -----------------------------------------------------------------------------------------

    def _advance(self, given: Given, block: Block, until: Int[Array, ""]) -> Block:
        """Train every running cell of the block until the step ``until`` or its own end."""
        self.traces += 1
        limits = jax.vmap(self._limit)(given.values)
        every = jnp.asarray(given.values["procedure.check_every"])

        def active(lanes: State) -> Bool[Array, " lanes"]:
            return lanes.outcome == RUNNING

        def on(due: Array, work: Callable[[Array, State, Given], State], t: Array, lanes: State) -> State:
            """``work`` on the due lanes; the others stay as they are."""
            worked = jax.vmap(work, in_axes=(None, 0, SIDE_BY_SIDE))(t, lanes, given)
            if self.lanes == 1:
                return worked
            return jax.tree.map(
                lambda new, old: jnp.where(due.reshape(-1, *[1] * (new.ndim - 1)), new, old), worked, lanes
            )

        def when(due: Array, work: Callable[[Array, State, Given], State], t: Array, lanes: State) -> State:
            """The same, skipped altogether where no lane is due."""
            return jax.lax.cond(due.any(), lambda lanes: on(due, work, t, lanes), lambda lanes: lanes, lanes)

        def body(block: Block) -> Block:
            """Steps up to the next check or checkpoint of a running lane; between them there is nothing to decide."""
            t, lanes = block
            running = active(lanes)
            lanes = when(running & (t == lanes.next_checkpoint), self._checkpoint, t, lanes)
            checks = jnp.minimum((t // every + 1) * every, jnp.maximum(limits, t + 1))
            events = jnp.minimum(checks, jnp.where(lanes.next_checkpoint > t, lanes.next_checkpoint, checks))
            end = jnp.minimum(until, jnp.where(running, events, until).min())
            lanes = jax.lax.fori_loop(t, end, lambda t, lanes: on(running, self.step, t, lanes), lanes)
            due = running & ((end % every == 0) | (end >= limits))
            return Block(end, when(due, self._check, end, lanes))

        return jax.lax.while_loop(lambda block: (block.step < until) & active(block.lanes).any(), body, block)


class _Problem(Problem):
    """The training sample of one cell, as its algorithm sees it."""

    def __init__(self, program: Program, given: Given):
        self.size = jnp.asarray(given.values["train_size"])
        self.weights = given.train.w
        self.layers = program.layers
        self.stream = stream(given.values["seed"], "algorithm")
        self._train, self._chunk = given.train, program.chunk
        self._gradient = _gradient(program, given)

    def gradient(self, params: PyTree, weights: Float[Array, " points"]) -> Any:
        return sum_over_examples(self._gradient, params, self._train._replace(w=weights), self._chunk)

    def batch_gradient(
        self, params: PyTree, indices: Int[Array, " batch"], weights: Float[Array, " batch"] | None = None
    ) -> Any:
        if weights is None:
            weights = jnp.full(indices.shape, 1 / indices.size, self._train.y.dtype)
        return self._gradient(params, self._train.x[indices], self._train.y[indices], weights)


class _Epoch(Problem):
    """The training examples of an epoch, made when a step asks for them."""

    def __init__(self, program: Program, given: Given, drawn: PyTree, number: Array):
        self.size = jnp.asarray(given.values["train_size"])
        self.layers = program.layers
        self.stream = stream(given.values["seed"], "algorithm")
        self._steps, self._chunk, self._drawn = program.epoch_steps, program.chunk, drawn
        self._task = with_values(program.task, chosen(given.values, "task"))
        self._instance = self._task.instance(stream(given.values["seed"], "instance"), given.shared)
        self._key = program.epoch(given.values, number)[1]
        self._gradient = _gradient(program, given)

    def gradient(self, params: PyTree, weights: Float[Array, " points"]) -> Any:
        raise InputError("epochs are passes in minibatches; the algorithm must take a batch")

    def batch(self, t: Int[Array, ""], size: int, key: PRNGKeyArray) -> Int[Array, " batch"]:
        return (t % self._steps) * size + jnp.arange(size)

    def batch_gradient(
        self, params: PyTree, indices: Int[Array, " batch"], weights: Float[Array, " batch"] | None = None
    ) -> Any:
        def one(index: Array) -> tuple[Array, Array]:
            key = jax.random.fold_in(self._key, index)
            return self._task.epoch_example(self._instance, self._drawn, index, key)

        x, y = jax.vmap(one)(indices)
        if weights is None:
            weights = jnp.full(indices.shape, 1 / indices.size, y.dtype)
        return sum_over_examples(self._gradient, params, Sample(x, y, weights), self._chunk)


def _gradient(program: Program, given: Given) -> Callable[[PyTree, Array, Array, Array], PyTree]:
    """The gradient in the parameters of sum_i w_i loss(x_i, y_i)."""
    loss = LOSSES[program.learner.loss]

    def objective(params: PyTree, x: Array, y: Array, w: Array) -> Array:
        return _weighted(loss(program.outputs(params, given.fixed, x), y), w)

    return jax.grad(objective)


def _weighted(values: Float[Array, " points"], w: Float[Array, " points"]) -> Float[Array, ""]:
    """sum w v, where a value of no weight (padding) does not count even if it is not finite."""
    return jnp.sum(jnp.where(w > 0, w * values, 0))
