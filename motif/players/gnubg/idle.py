"""The gnubgs of this process, each of which waits a while for its next question.

Players come and go, as in a worker process that is handed a copy for every piece of work; to start a
gnubg takes longer than hundreds of its decisions.  So they do not belong to players: whoever asks takes
one that waits, or starts one.  Each thread that asks at the same time has one to itself.
"""

import os
import threading
import time
from typing import NamedTuple

from motif.players.gnubg.process import GnubgEndedError, GnubgProcess

SECONDS_TO_WAIT = 3.0
"""How long a gnubg lives on without questions."""


class _Waiting(NamedTuple):
    since: float
    kind: tuple[str, tuple[str, ...]]
    gnubg: GnubgProcess


class IdleProcesses:
    """Those that wait, and the clock that ends them."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def ask(self, program: str, settings: tuple[str, ...], question: str) -> str:
        """What the `program`, which has carried out the commands `settings`, answers to `question`.

        One that ends meanwhile is replaced once.  Raises `PlayerError` as `GnubgProcess` does.
        """
        try:
            return self._ask_one(program, settings, question)
        except GnubgEndedError:
            return self._ask_one(program, settings, question)

    def end(self, longer_than: float = 0.0) -> None:
        """End those that have waited for so many seconds or longer."""
        with self._lock:
            now = time.monotonic()
            due = [waiting for waiting in self._waiting if now - waiting.since >= longer_than]
            self._waiting = [waiting for waiting in self._waiting if waiting not in due]
        for waiting in due:
            waiting.gnubg.end()

    def _ask_one(self, program: str, settings: tuple[str, ...], question: str) -> str:
        gnubg = self._taken(program, settings) or GnubgProcess(program, settings)
        # After an error it has ended itself.
        answer = gnubg.ask(question)
        with self._lock:
            self._waiting.append(_Waiting(time.monotonic(), (program, settings), gnubg))
            self._set_timer()
        return answer

    def _taken(self, program: str, settings: tuple[str, ...]) -> GnubgProcess | None:
        """The last one that came to wait, if it lives, so that those which are not needed grow old."""
        with self._lock:
            for waiting in reversed(self._waiting):
                if waiting.kind == (program, settings):
                    self._waiting.remove(waiting)
                    if waiting.gnubg.living:
                        return waiting.gnubg
                    waiting.gnubg.end()
        return None

    def _set_timer(self) -> None:
        if self._timer is None and self._waiting:
            seconds = self._waiting[0].since + SECONDS_TO_WAIT - time.monotonic()
            self._timer = threading.Timer(max(seconds, 0.0), self._time_is_up)
            self._timer.daemon = True
            self._timer.start()

    def _time_is_up(self) -> None:
        self.end(SECONDS_TO_WAIT)
        with self._lock:
            self._timer = None
            self._set_timer()

    def _forget(self) -> None:
        """In a process just forked: what waits belongs to the parent, and the timer's thread stayed there."""
        self._lock = threading.Lock()
        self._timer = None
        self.end()


idle_processes = IdleProcesses()
"""Those of this process."""
