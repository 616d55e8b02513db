"""Where chunks are run: in this process, or in worker processes on this machine.

A worker stores a chunk's records before it reports, so that what was reported is on disk. Workers are fresh
processes (never forks: JAX and Polars hang after one), each with one thread for arithmetic, so the number of
workers decides the cores in use and cannot touch the results.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

import cloudpickle

from separatrix.rules import Whole
from separatrix.studies.queue import Chunk, Queue, Report
from separatrix.studies.store import Store, StoreError
from separatrix.training import Cell, train
from separatrix.training.blocks import layout_for
from separatrix.training.cache import use_compilation_cache
from separatrix.training.records import failed_record

_GRACE = 2.0


class WorkerError(RuntimeError):
    """A chunk could not be taken in or stored; not a failed cell, which is a record."""


class Executor(ABC):
    """Runs the chunks of a queue and reports each once its records are stored; ``close`` when all is done."""

    @abstractmethod
    def lanes(self, cell: Cell) -> int:
        """Cells side by side where this executor will run the cell."""

    @abstractmethod
    def run(self, queue: Queue, store: Store, tick: Callable[[], None]) -> Iterator[Report]: ...

    def close(self) -> None:
        """Let go of what is kept between runs."""
        return


def run_chunk(chunk: Chunk, store: Store, tick: Callable[[], None] = lambda: None) -> Report:
    """Train the cells of a chunk, store their records, then report."""
    start = time.perf_counter()
    records = list(train(chunk.cells, tick))
    store.append(records)
    messages = tuple(dict.fromkeys(record["message"] for record in records if record["status"] == "failed"))
    statuses = Counter(record["status"] for record in records)
    return Report(chunk, statuses, time.perf_counter() - start, messages)


class InProcess(Executor):
    """Chunks one after another in this process: for a GPU, which one process should hold, and for debugging."""

    def lanes(self, cell: Cell) -> int:
        return layout_for(cell).lanes if cell.compiled else 1

    def run(self, queue: Queue, store: Store, tick: Callable[[], None]) -> Iterator[Report]:
        use_compilation_cache()
        last = None
        while (chunk := queue.take(last)) is not None:
            last = chunk.fleet
            report = run_chunk(chunk, store, tick)
            queue.done(chunk, report.seconds)
            yield report


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    pipe: Connection
    chunk: Chunk | None = None
    last: str | None = None


class Workers(Executor):
    """``count`` worker processes with one core each, started for the first run and kept until ``close``.

    A lost worker is replaced and its cells run again, one by one.
    """

    def __init__(self, count: int):
        self.count = count
        self._workers: list[_Worker] = []

    def lanes(self, cell: Cell) -> int:
        return layout_for(cell).lanes if cell.compiled else 1

    def run(self, queue: Queue, store: Store, tick: Callable[[], None]) -> Iterator[Report]:
        workers = self._workers
        workers += [_start_worker(core, store) for core in range(len(workers), self.count)]
        for worker in workers:
            self._feed(worker, queue)
        while busy := {worker.pipe: core for core, worker in enumerate(workers) if worker.chunk}:
            for pipe in wait(list(busy), timeout=0.5):
                core = busy[pipe]  # type: ignore[index]
                report = self._receive(workers[core], queue, store)
                if workers[core].process.poll() is not None:
                    workers[core] = _start_worker(core, store)
                if report is not None:
                    yield report
                for worker in workers:
                    if worker.chunk is None:
                        self._feed(worker, queue)
            tick()

    def close(self) -> None:
        for worker in self._workers:
            _stop(worker)
        self._workers.clear()

    def _feed(self, worker: _Worker, queue: Queue) -> None:
        worker.chunk = queue.take(worker.last)
        if worker.chunk is not None:
            worker.last = worker.chunk.fleet
            with contextlib.suppress(ConnectionError):  # a worker that is gone shows when its answer is received
                worker.pipe.send_bytes(cloudpickle.dumps(worker.chunk))

    def _receive(self, worker: _Worker, queue: Queue, store: Store) -> Report | None:
        """The report of the worker's chunk; None where the worker was lost and the chunk is to be run again."""
        chunk = worker.chunk
        assert chunk is not None
        try:
            answer = cloudpickle.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            code = _stop(worker)
            if queue.retry_alone(chunk):
                return None
            reason = RuntimeError(f"the worker process ended with code {code} (out of memory?)")
            store.append([failed_record(cell, reason, 0.0) for cell in chunk.cells])
            return Report(chunk, Counter(failed=len(chunk.cells)), 0.0, (str(reason),))
        if isinstance(answer, WorkerError | StoreError):
            raise answer
        worker.chunk = None
        queue.done(chunk, answer.seconds)
        report: Report = answer
        return report


def _stop(worker: _Worker) -> int:
    """End a worker; the code it ended with, its own where it ended by itself."""
    worker.pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return worker.process.wait(timeout=_GRACE if worker.chunk is not None else 0.0)
    worker.process.kill()
    return worker.process.wait()


def _start_worker(core: int, store: Store) -> _Worker:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "separatrix.studies.worker", str(theirs.fileno()), str(core), str(store.folder)]
    # what the driver can import, its workers can: a user's modules beside the script are on its path alone
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
    theirs.close()
    return _Worker(process, Connection(ours.detach()))


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def executor_for(workers: int | None) -> Executor:
    """None chooses: a worker a core, or this process where there is a GPU. 0 is this process."""
    if workers is None:
        import jax

        if jax.default_backend() != "cpu":
            return InProcess()
        return Workers(available_cores())
    workers = Whole(0).accept("workers", workers)
    return Workers(workers) if workers else InProcess()
