"""Work for the workers of a test's cluster."""

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
    """Return the process of this call, after waiting for the given number of such calls."""
    folder.mkdir(exist_ok=True)
    (folder / f"met-{os.getpid()}").touch()
    wait_until(lambda: len(list(folder.glob("met-*"))) >= workers)
    return os.getpid()


def leave_a_mark(folder, number):
    """Leave a mark when the message comes; no call waits for the message before call 0 has been made."""
    if (folder / "mark-0").exists():
        wait_until((folder / "go").exists)
    (folder / f"mark-{number}").touch()


def calls_held(dask_worker):
    """Return the numbers of calls and of shared functions that a worker has received."""
    return len(dask_worker.state.tasks)


def wait_until(happened):
    limit = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > limit:
            raise TimeoutError("nobody comes")
        time.sleep(0.01)


class Counted:
    """An object of the given size that counts its arrivals in this process."""

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
