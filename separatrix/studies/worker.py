"""A worker process: takes chunks from its driver's pipe until the pipe closes.

Started as ``python -m separatrix.studies.worker PIPE CORE STORE``, so that a user's script needs no guard around its
main part.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection


def _initialise_jax_with_one_thread(core: int) -> None:
    """JAX sizes its thread pool by the cores it may use when it starts; afterwards all are allowed again."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})
    import jax

    from separatrix.training.cache import use_compilation_cache

    use_compilation_cache()
    jax.devices()
    os.sched_setaffinity(0, cores)


def main(descriptor: int, core: int, folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    pipe = Connection(descriptor)
    _initialise_jax_with_one_thread(core)

    import cloudpickle

    from separatrix.studies.executors import run_chunk
    from separatrix.studies.store import Store

    store = Store(folder)
    while True:
        try:
            chunk = cloudpickle.loads(pipe.recv_bytes())
        except (EOFError, ConnectionError):
            return
        try:
            answer: object = run_chunk(chunk, store)
        except Exception as error:
            answer = error
        try:
            pipe.send_bytes(cloudpickle.dumps(answer))
        except (BrokenPipeError, ConnectionError):
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
