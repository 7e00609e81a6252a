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
    _wait_until(lambda: len(list(folder.glob("met-*"))) >= workers)
    return os.getpid()


def leave_a_mark(folder, number):
    """The first call does so at once, the others a while after they have been given word."""
    if number > 0:
        _wait_until((folder / "go").exists)
        time.sleep(0.5)
    (folder / f"mark-{number}").touch()


def _wait_until(happened):
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
