"""Ctrl-C and SIGTERM: how commands are interrupted, and that they end within ten seconds of it.

A signal interrupts a command where it is, or lets it finish what takes a few seconds (`stop_request`).  A
supervisor kills what has not ended after ten, so there is a watch beside each command: when the time is over
it does what a second signal does, and if that is not enough it ends the process.  Python calls handlers only
between its own steps, which compiled work keeps waiting; the watch is a thread, and the system wakes it.
"""

import _thread
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from motif.runtime.errors import WorkerError
from motif.runtime.parallel import REQUESTS, handled

INTERRUPTED = 130
"""The exit code: 128 and the number of SIGINT, as shells have it."""
SECONDS_TO_STOP = 6.5
"""After the first signal; then comes what a second one does."""
SECONDS_TO_LEAVE = 2.0
"""After the second one; then the process ends, whatever it is at."""


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C or SIGTERM in long work; the message says how to go on."""


def interrupted_line(said: str) -> str:
    """Return the last line of a command that was interrupted, without the program's name."""
    return f"interrupted; {said}" if said else "interrupted"


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM interrupt the block as Ctrl-C does, and see to it that the process then ends in time."""
    with handled((signal.SIGTERM,), signal.default_int_handler), _watched(""):
        yield


@contextmanager
def resumable(how: str) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into `Interrupted`, which says `how` to go on; so does a `WorkerError`."""
    try:
        with handled((signal.SIGTERM,), signal.default_int_handler), _watched(how):
            yield
    except KeyboardInterrupt as interrupt:
        raise Interrupted("; ".join(filter(None, (str(interrupt), how)))) from None
    except WorkerError as error:
        raise WorkerError(f"{error.problem}; {how}", *error.fields) from None


class _Watch:
    """Ends a block, and at last the process, when too much time has gone by since a signal."""

    active: "_Watch | None" = None
    """The one that hears signals now."""

    def __init__(self) -> None:
        self.how = ""
        """How to go on."""
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> int:
        """Hear signals; returns what heard them before."""
        _Watch.active = self
        before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._thread.start()
        return before

    def end(self, before: int) -> None:
        """Let `before` hear them again."""
        _Watch.active = None
        signal.set_wakeup_fd(before)
        self._writer.close()
        self._thread.join()
        self._reader.close()

    def _run(self) -> None:
        first, heard, end = signal.SIGINT, 0, float("inf")
        while True:
            left = None if heard == 0 else max(0.0, end - time.monotonic())
            if select.select([self._reader], [], [], left)[0]:
                content = self._reader.recv(1)
                if not content:
                    return
                if content[0] not in REQUESTS:
                    continue
            elif heard == 1:
                _thread.interrupt_main(first)
            else:
                self._end_process()
            heard += 1
            if heard == 1:
                first = signal.Signals(content[0])
            if heard <= 2:
                end = time.monotonic() + (SECONDS_TO_STOP, SECONDS_TO_LEAVE)[heard - 1]

    def _end_process(self) -> None:
        with suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), f"motif: {interrupted_line(self.how)}\n".encode())
        os._exit(INTERRUPTED)


@contextmanager
def _watched(how: str) -> Iterator[None]:
    """Let a watch, which says `how` to go on, be kept over the block; one for blocks within blocks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if (watch := _Watch.active) is not None:
        before, watch.how = watch.how, how or watch.how
        try:
            yield
        finally:
            watch.how = before
        return
    watch = _Watch()
    watch.how = how
    heard_by = watch.begin()
    try:
        yield
    finally:
        watch.end(heard_by)
