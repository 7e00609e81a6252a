"""Ctrl-C and SIGTERM: what the process that was started does with them, and what its workers do.

A terminal sends SIGINT to every process of the group, and a supervisor may do so with SIGTERM.  Only
the process that was started decides what comes of it; workers go on until it calls them off, and end
by themselves when it is gone.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any

REQUESTS = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask for an end."""

_SECONDS_BETWEEN_LOOKS = 0.5


class StopRequest:
    """Whether an end has been asked for."""

    def __init__(self) -> None:
        self.made = False


@contextmanager
def stop_request(notice: str) -> Iterator[StopRequest]:
    """Let the first signal in the block only make the request; a second one raises `KeyboardInterrupt`.

    `notice` is said on a terminal at the first one.  Outside of the main thread, which alone hears
    signals, nothing changes.
    """
    request = StopRequest()

    def hear(number: int, frame: FrameType | None) -> None:
        if request.made:
            raise KeyboardInterrupt
        request.made = True
        with suppress(OSError, ValueError):
            if sys.stderr.isatty():
                # Not print, which may be under way in the code that the signal interrupts.
                os.write(sys.stderr.fileno(), f"\n{notice}\n".encode())

    with handled(REQUESTS, hear):
        yield request


@contextmanager
def handled(numbers: tuple[int, ...], handler: Any) -> Iterator[None]:
    """Let `handler` have those signals in the block, but for those that are ignored (as by ``nohup``)."""
    previous = {}
    if threading.current_thread() is threading.main_thread():
        previous = {number: signal.getsignal(number) for number in numbers}
    # None is a handler that Python does not know, and could not put back.
    previous = {n: before for n, before in previous.items() if before not in (None, signal.SIG_IGN)}
    try:
        for number in previous:
            signal.signal(number, handler)
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


@contextmanager
def starting_workers() -> Iterator[None]:
    """Let processes that are started in the block begin life deaf to signals, as `begin_worker` makes them.

    Otherwise one that comes while they import things kills them, with a traceback.  A program inherits
    which signals are blocked where it is started; here they are heard when the block is left.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started in the block it would let signals through again.
    resource_tracker.ensure_running()
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, REQUESTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def begin_worker(parent: int) -> None:
    """Called first in a worker process: hear no signals, and end when process `parent` has gone."""
    for number in REQUESTS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_without, args=(parent,), daemon=True).start()


def _end_without(parent: int) -> None:
    # Compiled work does not hold up this thread: kernels release Python's lock.
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
