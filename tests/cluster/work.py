"""What the workers of a test's cluster do."""

import os
import time

from motif.runtime.errors import PlayError
from tools.local_cluster import PATIENCE


def napping(number, seconds=0.0):
    time.sleep(seconds)
    return number


def process_of(number, seconds=0.0):
    return napping(os.getpid(), seconds)


def refuse(number):
    raise PlayError(f"no roll: {number}")


def time_out(number):
    raise TimeoutError(f"of its own: {number}")


def met(folder, workers):
    """The process of this call, which waits until so many have come to such calls."""
    folder.mkdir(exist_ok=True)
    (folder / f"met-{os.getpid()}").touch()
    wait_until(lambda: len(list(folder.glob("met-*"))) >= workers)
    return os.getpid()


def leave_a_mark(folder, number):
    """As soon as there is word, for which nobody waits before the call 0 has been made."""
    if (folder / "mark-0").exists():
        wait_until((folder / "go").exists)
    (folder / f"mark-{number}").touch()


def calls_held(dask_worker):
    """How many calls, and functions that they share, a worker has before it."""
    return len(dask_worker.state.tasks)


def wait_until(happened):
    limit = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > limit:
            raise TimeoutError("nobody comes")
        time.sleep(0.01)


class Counted:
    """Knows how often it has arrived in this process; weighs what it is told."""

    arrivals = 0

    def __init__(self, size):
        self.load = os.urandom(size)

    def __getstate__(self):
        return self.load

    def __setstate__(self, load):
        Counted.arrivals += 1
        self.load = load


def arrivals(shared, folder):
    return met(folder, 2), len(shared.load), Counted.arrivals
