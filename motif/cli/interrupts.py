"""Interruption of commands by Ctrl-C, SIGTERM and SIGHUP within ten seconds.

A signal interrupts a command immediately, or lets it finish a step of a few seconds (`stop_request`).
Supervisors kill a process that has not ended after ten seconds.  Therefore a watch runs during each command:
when the time is up, it acts like a second signal, and if the command still runs, it ends the process.  The
watch is a thread, because Python runs signal handlers only between bytecodes, and long compiled work delays
them.
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
from motif.runtime.parallel import REQUESTS, TERMINATIONS, handled

INTERRUPTED = 130
"""Exit code of interrupted commands: 128 plus the number of SIGINT, as in shells."""
SECONDS_TO_STOP = 6.5
"""Seconds after the first signal until the watch acts like a second one."""
SECONDS_TO_LEAVE = 2.0
"""Seconds after the second signal until the watch ends the process."""


class Interrupted(Exception):  # noqa: N818
    """Interruption of long work by one of `REQUESTS`; the message says how to continue."""


def interrupted_line(said: str) -> str:
    """Return the last line of an interrupted command, without the name of the program."""
    return f"interrupted; {said}" if said else "interrupted"


@contextmanager
def resumable(how: str) -> Iterator[None]:
    """Raise `Interrupted` with a hint `how` to continue on a signal; add it to a `WorkerError`."""
    try:
        with interruptible(how):
            yield
    except KeyboardInterrupt as interrupt:
        raise Interrupted("; ".join(filter(None, (str(interrupt), how)))) from None
    except WorkerError as error:
        raise WorkerError(f"{error.problem}; {how}", *error.fields) from None


class _Watch:
    """A thread that ends a block, and finally the process, some seconds after a signal."""

    active: "_Watch | None" = None
    """The watch that receives signals."""

    def __init__(self) -> None:
        self.how = ""
        """Hint on how to continue."""
        self.has_to_save = False
        """Whether the block is interrupted again and again instead of ending the process."""
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> int:
        """Start to receive signals; return the previous file descriptor for them."""
        _Watch.active = self
        before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._thread.start()
        return before

    def end(self, before: int) -> None:
        """Stop the watch and restore the previous file descriptor for signals."""
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
            elif heard == 1 or self.has_to_save:
                _thread.interrupt_main(first)
            else:
                self._end_process()
            heard += 1
            if heard == 1:
                first = signal.Signals(content[0])
            if heard <= 2 or self.has_to_save:
                end = time.monotonic() + (SECONDS_TO_STOP if heard == 1 else SECONDS_TO_LEAVE)

    def _end_process(self) -> None:
        with suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), f"motif: {interrupted_line(self.how)}\n".encode())
        os._exit(INTERRUPTED)


@contextmanager
def interruptible(how: str = "", *, has_to_save: bool = False) -> Iterator[None]:
    """Let `TERMINATIONS` interrupt the block like Ctrl-C, and ensure that the process then ends in time.

    `how` is a hint on how to continue; nested blocks share one watch.  A block that has to save something is
    interrupted until it ends, but the process is not ended meanwhile.  One interruption may not be enough:
    Python drops exceptions in finalizers, such as those that run while kernels are compiled.
    """
    with handled(TERMINATIONS, signal.default_int_handler):
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if (watch := _Watch.active) is not None:
            before = watch.how, watch.has_to_save
            watch.how, watch.has_to_save = how or watch.how, has_to_save or watch.has_to_save
            try:
                yield
            finally:
                watch.how, watch.has_to_save = before
            return
        watch = _Watch()
        watch.how, watch.has_to_save = how, has_to_save
        heard_by = watch.begin()
        try:
            yield
        finally:
            watch.end(heard_by)
