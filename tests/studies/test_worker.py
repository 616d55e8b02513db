"""A worker has one thread for arithmetic, and is bound to no core."""

import os
import subprocess
import sys

import pytest

PROBE = """
import os
from separatrix.studies.worker import _initialise_jax_with_one_thread
allowed = os.sched_getaffinity(0)
_initialise_jax_with_one_thread(0)
threads = os.listdir("/proc/self/task")
assert len(threads) > 1
assert all(os.sched_getaffinity(int(thread)) == allowed for thread in threads)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are looked up in /proc")
def test_no_thread_stays_on_the_core_that_sized_the_pool():
    subprocess.run([sys.executable, "-c", PROBE], check=True)
