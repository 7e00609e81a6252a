"""Says on a terminal that kernels are being compiled, when that takes more than a second."""

import sys
from threading import Timer
from typing import Any

from numba.core import event

_QUIET_SECONDS = 1.0
_MESSAGE = "motif: compiling kernels, once for this machine and version ..."


class _Announcer(event.Listener):
    """Hears numba begin and end each compilation; those of callees lie within their callers'."""

    def __init__(self) -> None:
        self._depth = 0
        self._timer: Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1 and not self._said and sys.stderr.isatty():
            self._timer = Timer(_QUIET_SECONDS, self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _say(self) -> None:
        self._said = True
        print(_MESSAGE, file=sys.stderr, flush=True)


def announce_compilation() -> None:
    """Listen to numba from now on."""
    event.register("numba:compile", _Announcer())
