"""What the workers of a test's cluster do."""

import os
import time

from motif.runtime.errors import PlayError


def napping(number, seconds=0.0):
    time.sleep(seconds)
    return number


def process_of(number, seconds=0.0):
    return napping(os.getpid(), seconds)


def refuse(number):
    raise PlayError(f"no roll: {number}")


def time_out(number):
    raise TimeoutError(f"of its own: {number}")


def leave_a_mark(folder, number, seconds):
    time.sleep(seconds)
    (folder / str(number)).touch()


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


def arrivals(shared, number, seconds):
    time.sleep(seconds)
    return os.getpid(), len(shared.load), Counted.arrivals
