"""A worker process: takes chunks from its driver's pipe until the pipe closes.

Started as ``python -m separatrix.studies.worker PIPE CORE STORE``, so that a user's script needs no guard around its
main part.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection

_THREADS = "/proc/self/task"


def _initialise_jax_with_one_thread(core: int) -> None:
    """JAX sizes its thread pool by the cores it may use when it starts; afterwards all are allowed again, to every
    thread that was started meanwhile: else the workers of two runs on one machine would crowd on the same cores.
    """
    cores = sorted(os.sched_getaffinity(0)) if os.path.isdir(_THREADS) else []
    if cores:
        os.sched_setaffinity(0, {cores[core % len(cores)]})
    import jax

    from separatrix.training.cache import use_compilation_cache

    use_compilation_cache()
    jax.devices()
    if cores:
        for thread in os.listdir(_THREADS):
            os.sched_setaffinity(int(thread), cores)


def main(descriptor: int, core: int, folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    pipe = Connection(descriptor)
    _initialise_jax_with_one_thread(core)

    import cloudpickle

    from separatrix.studies.executors import WorkerError, run_chunk
    from separatrix.studies.store import Store, StoreError

    store = Store(folder)
    while True:
        try:
            message = pipe.recv_bytes()
        except (EOFError, ConnectionError):
            return
        try:
            answer: object = run_chunk(cloudpickle.loads(message), store)
        except StoreError as error:
            answer = error
        except Exception as error:
            answer = WorkerError(f"a worker could not take in its cells: {type(error).__name__}: {error}")
        try:
            pipe.send_bytes(cloudpickle.dumps(answer))
        except (BrokenPipeError, ConnectionError):
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
