"""Training cells: fleets through their compiled programs, direct learners through their solvers.

``train`` takes cells of one fleet and yields a record a cell. What a record holds depends on its cell
alone: a block always has the number of lanes that its fleet prescribes (the last block is padded), and the
lengths of the calls into the program (about half a second each) do not touch the arithmetic.
"""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from separatrix.learners import Solver, Trained
from separatrix.specs import content_hash, static_part
from separatrix.tasks import Task
from separatrix.training.blocks import Layout, layout_for
from separatrix.training.cell import Cell
from separatrix.training.program import RUNNING, Block, Given, Program
from separatrix.training.records import failed_record, solver_record, trained_record
from separatrix.training.samples import Sample, Sampler

Record = dict[str, Any]
T = TypeVar("T")

_SEGMENT_SECONDS = 0.5
_KEPT = 64
_CACHE: OrderedDict[str, Any] = OrderedDict()


def kept(key: str, make: Callable[[], T]) -> T:
    """The program or sampler of this key, made once; the least recently used ones are let go."""
    if key not in _CACHE:
        _CACHE[key] = make()
        while len(_CACHE) > _KEPT:
            _CACHE.popitem(last=False)
    _CACHE.move_to_end(key)
    made: T = _CACHE[key]
    return made


@contextlib.contextmanager
def numerics(precision: str) -> Iterator[None]:
    """Training in this precision, with matrix products in full (no TF32 behind one's back)."""
    with jax.enable_x64(precision == "float64"), jax.default_matmul_precision("highest"):
        yield


def train(cells: Sequence[Cell], tick: Callable[[], None] = lambda: None) -> Iterator[Record]:
    """A record for each cell, in order; the cells must be of one fleet. ``tick`` is called along the way."""
    if not cells:
        return
    if isinstance(cells[0].learner, Solver):
        yield from (_guarded([cell], lambda cell=cell: [_solve(cell)])[0] for cell in cells)  # type: ignore[misc]
        return
    layout = layout_for(cells[0])
    width = layout.lanes
    for first in range(0, len(cells), width):
        block = list(cells[first : first + width])
        yield from _guarded(block, lambda block=block: _train_block(block, layout, tick))  # type: ignore[misc]


def _guarded(cells: list[Cell], work: Callable[[], list[Record]]) -> list[Record]:
    """The records, or records of failure: one bad cell must not take the others with it."""
    start = time.perf_counter()
    try:
        return work()
    except Exception as error:
        if len(cells) == 1:
            return [failed_record(cells[0], error, time.perf_counter() - start)]
        return [_guarded([cell], lambda cell=cell: list(train([cell])))[0] for cell in cells]  # type: ignore[misc]


def program_for(cell: Cell, layout: Layout) -> Program:
    """The fleet's program. Train sizes share its functions; JAX compiles ``advance`` once a bucket."""
    parts = [static_part(part) for part in (cell.task, cell.learner, cell.procedure)]
    learner = cell.learner
    assert isinstance(learner, Trained)
    key = content_hash(["program", layout.lanes, layout.chunk, cell.epoch_steps, *parts])
    return kept(key, lambda: Program(cell.task, learner, cell.procedure, layout.lanes, layout.chunk, cell.epoch_steps))


def sampler_for(task: Task, precision: str) -> Sampler:
    return kept(content_hash(["sampler", precision, static_part(task)]), lambda: Sampler(task))


def stacked(cells: Sequence[Cell], lanes: int, precision: str) -> dict[str, np.ndarray]:
    """The traced values of a block of cells, the last cell repeated until the block is full."""
    rows = [cell.traced() for cell in cells]
    rows += [rows[-1]] * (lanes - len(rows))
    real = np.dtype(precision)
    return {
        name: np.array([row[name] for row in rows], np.int32 if isinstance(rows[0][name], int) else real)
        for name in rows[0]
    }


def training_sample(cells: Sequence[Cell], values: dict[str, np.ndarray]) -> Sample:
    """What the cells of a block are trained on: their samples, or the population."""
    cell = cells[0]
    sampler = sampler_for(cell.task, cell.procedure.precision)
    if cell.procedure.epochs:  # what the training error is measured on; steps make their own examples
        assert cell.judged is not None
        return sampler.draw(values, "train", cell.judged, np.full(len(values["seed"]), cell.judged))
    if cell.train_size is None:
        return sampler.population(values)
    return sampler.draw(values, "train", cell.bucket, values["train_size"])


def shared_data(cell: Cell) -> Any:
    """The data that the steps of an epoch make examples of; nothing where the sample is drawn once."""
    return sampler_for(cell.task, cell.procedure.precision).shared if cell.procedure.epochs else ()


def samples(cells: Sequence[Cell], values: dict[str, np.ndarray]) -> tuple[Sample, Sample, Sample]:
    """What the cells of a block are trained, validated and tested on."""
    cell, lanes = cells[0], len(values["seed"])
    sampler = sampler_for(cell.task, cell.procedure.precision)

    def fresh(split: Any, size: int) -> Sample:
        return sampler.draw(values, split, size, np.full(lanes, size))

    train = training_sample(cells, values)
    if cell.procedure.on_population(cell.task):
        trained_on_it = cell.train_size is None and not cell.procedure.epochs
        population = train if trained_on_it else sampler.population(values)
        return train, population, population
    procedure = cell.procedure
    return train, fresh("validation", procedure.validation_size), fresh("test", procedure.test_size)


def part_samples(cells: Sequence[Cell], lanes: int) -> dict[str, Sample]:
    """Test samples (or the populations) of the parts of the cells' tasks."""
    precision, found = cells[0].procedure.precision, {}
    for name in cells[0].task.parts():
        tasks = [cell.task.parts()[name] for cell in cells]
        values = stacked([replace(cell, task=task) for cell, task in zip(cells, tasks, strict=True)], lanes, precision)
        sampler, procedure = sampler_for(tasks[0], precision), cells[0].procedure
        if procedure.on_population(tasks[0]):
            found[name] = sampler.population(values)
        else:
            found[name] = sampler.draw(values, "test", procedure.test_size, np.full(lanes, procedure.test_size))
    return found


def _train_block(cells: list[Cell], layout: Layout, tick: Callable[[], None]) -> list[Record]:
    start = time.perf_counter()
    procedure = cells[0].procedure
    with numerics(procedure.precision):
        values = stacked(cells, layout.lanes, procedure.precision)
        program = program_for(cells[0], layout)
        train, validation, test = samples(cells, values)
        fixed, state = program.start(values)
        given = Given(values, fixed, train, test, shared_data(cells[0]))
        block = _run(program, given, Block(jnp.zeros((), jnp.int32), state), tick)
        _, validation_error = program.evaluate(block.lanes.params, fixed, validation)
        _, test_error = program.evaluate(block.lanes.params, fixed, test)
        part_errors = {
            name: program.evaluate(block.lanes.params, fixed, sample)[1]
            for name, sample in part_samples(cells, layout.lanes).items()
        }
        norms = jax.vmap(_norm)(block.lanes.params)
        state = block.lanes._replace(params=None, memory=None, epoch=None)
        found = jax.device_get((state, validation_error, test_error, part_errors, norms))
    seconds = (time.perf_counter() - start) / len(cells)
    records = []
    for lane, cell in enumerate(cells):
        own, validated, tested, of_parts, norm = jax.tree.map(lambda array, lane=lane: array[lane], found)
        errors = float(validated), float(tested), {name: float(error) for name, error in of_parts.items()}
        records.append(trained_record(cell, layout, own, *errors, float(norm), seconds))
    return records


def _norm(params: Any) -> jax.Array:
    return jnp.sqrt(sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(params)))


def _run(program: Program, given: Given, block: Block, tick: Callable[[], None]) -> Block:
    """Advance until every cell of the block has ended, in segments of about half a second."""
    until, segment = 0, 64
    while True:
        until = min(until + segment, 2**31 - 1)
        begun = time.perf_counter()
        block = program.advance(given, block, np.int32(until))
        if not (np.asarray(block.lanes.outcome) == RUNNING).any():
            return block
        if time.perf_counter() - begun < _SEGMENT_SECONDS:
            segment *= 2
        tick()


def _solve(cell: Cell) -> Record:
    """Train and evaluate a direct learner, in NumPy, on the same samples as the networks of this seed."""
    assert isinstance(cell.learner, Solver)
    start = time.perf_counter()
    with numerics(cell.procedure.precision):
        values = stacked([cell], 1, cell.procedure.precision)
        drawn, of_parts = jax.device_get((samples([cell], values), part_samples([cell], 1)))
    train, validation, test = ([np.asarray(array)[0] for array in sample] for sample in drawn)
    if cell.train_size is None:
        x, y, weights = train
        fitted = cell.learner.fit_population(x, y, weights, cell.seed)
    else:
        x, y = train[0][: cell.train_size], train[1][: cell.train_size]
        weights = np.full(len(y), 1 / len(y))
        fitted = cell.learner.fit(x, y, cell.seed)

    def error(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
        outputs = np.asarray(fitted.predict(x), dtype=np.float64)
        if cell.task.kind == "classification":
            wrong = (outputs > 0) != (y > 0)
        else:
            wrong = np.square(outputs.reshape(y.shape) - y).reshape(len(y), -1).sum(axis=1)
        return float(np.sum(wrong * w.astype(np.float64)))

    part_errors = {name: error(*(np.asarray(array)[0] for array in sample)) for name, sample in of_parts.items()}
    errors = error(x, y, weights), error(*validation), error(*test), part_errors
    return solver_record(cell, fitted, *errors, time.perf_counter() - start)
