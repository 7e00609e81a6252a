"""How long work ends when it is interrupted: with one line that says what is done and how to go on."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from motif.runtime.parallel import REQUESTS, handled

INTERRUPTED = 130
"""The exit code: 128 and the number of SIGINT, as shells have it."""

_SECONDS_TO_LEAVE = 2.0


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C or SIGTERM in long work; the message says how to go on."""


def interrupted_line(said: str) -> str:
    """The last line of a command that was interrupted, without the program's name."""
    return f"interrupted; {said}"


@contextmanager
def resumable(how: str) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into `Interrupted`, which says `how` to go on.

    After a second one the program ends within seconds, whatever it is at.
    """
    try:
        with handled((signal.SIGTERM,), signal.default_int_handler), _at_once_after_two(how):
            yield
    except KeyboardInterrupt as interrupt:
        raise Interrupted("; ".join(filter(None, (str(interrupt), how)))) from None


@contextmanager
def _at_once_after_two(how: str) -> Iterator[None]:
    """End the process when two signals have come and the block has still not been left.

    Compiled work keeps Python's handlers waiting, but not the system's, which write to a pipe.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    left = threading.Event()
    watcher = threading.Thread(target=_watch, args=(reader, left, how), daemon=True)
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(previous)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _watch(reader: int, left: threading.Event, how: str) -> None:
    heard = 0
    while number := os.read(reader, 1):
        heard += number[0] in REQUESTS
        if heard >= 2 and not left.wait(_SECONDS_TO_LEAVE):
            with suppress(OSError):
                os.write(sys.stderr.fileno(), f"motif: {interrupted_line(how)}\n".encode())
            os._exit(INTERRUPTED)
