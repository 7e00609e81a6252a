"""Progress of long work: a bar, a word on what is compiled, and a stopwatch that leaves compiling out.

All is said on stderr, and only after one second; the bar on a terminal alone.  With `heard_by` a function
hears of the steps instead.  Work that may be called off, as a server's, ends at the next `checkpoint`.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Timer
from typing import Protocol

from motif.runtime.layout import wrapped


class Advance(Protocol):
    """Called with the number of steps done since the last call."""

    def __call__(self, steps: int = 1, /) -> None:
        """Advance by `steps`."""


_QUIET_SECONDS = 1.0
Listener = Callable[[str, int, int], None]
"""Called with what is done, how many steps of it are, and how many there are in all."""
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let `listener` hear of all progress in the block, in place of a terminal.

    What it raises ends the work.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def stopped_by(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` at every checkpoint in the block; what it raises ends the work."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def checkpoint() -> None:
    """Let long work end here if it has been called off.

    Called between the parts of whatever may take more than a few tenths of a second.
    """
    if (check := _check.get()) is not None:
        check()


@contextmanager
def progress(description: str, total: int) -> Iterator[Advance]:
    """Yield a function that advances a bar of `total` steps."""
    if (listener := _listener.get()) is not None:
        yield _told_to(listener, description, total)
        return
    if not sys.stderr.isatty():
        yield lambda steps=1: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task(description, total=total)
    started = time.monotonic()
    visible = False

    def advance(steps: int = 1) -> None:
        nonlocal visible
        if not visible and time.monotonic() - started > _QUIET_SECONDS:
            bar.start()
            visible = True
        bar.advance(task, steps)

    try:
        yield advance
    finally:
        if visible:
            bar.stop()


def _told_to(listener: Listener, description: str, total: int) -> Advance:
    done = 0

    def advance(steps: int = 1) -> None:
        nonlocal done
        done += steps
        checkpoint()
        listener(description, done, total)

    listener(description, done, total)
    return advance


SECONDS_OF_A_HINT, SECONDS_OF_ALL = 15, 60
"""How long it takes, about, to compile what a first hint needs, and every kernel, on two idle cores.

Measured for version 0.1.0 with an empty cache and rounded up: ``motif hint`` 12 s, ``motif warm`` 94 s of
processor time, which two cores share."""
ON_COMPILING = (
    "motif: compiling kernels, once for this machine and version: about "
    f"{SECONDS_OF_A_HINT} s for a first hint, {SECONDS_OF_ALL} s for all of motif (`motif warm`)"
)
ON_COMPILING_BY_NUMBA = (
    "motif: compiling kernels, once for this machine and version: about a minute for a first hint"
)
"""The same for kernels that are not linked; see `motif.compiler.choice`."""
Span = tuple[float, float]
"""When something began and ended, in seconds of the clock that all processes of a machine share."""


def say_that_kernels_compile() -> None:
    """Say so on stderr, whatever that is."""
    with suppress(OSError, ValueError):  # a stderr that nobody reads any more, or that was closed
        line = ON_COMPILING_BY_NUMBA if os.environ.get("MOTIF_COMPILER") == "numba" else ON_COMPILING
        print(wrapped(line, sys.stderr), file=sys.stderr, flush=True)


class Compilation:
    """When kernels were compiled, by this process and by its workers; said once, after a second of it."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        """Those that have ended; spans of workers may overlap."""
        self.is_said = False
        """Nothing more is said."""
        self.say: Callable[[], None] = say_that_kernels_compile
        """How it is said: a worker has its own way."""
        self._depth = 0
        self._began = 0.0
        self._own = 0.0
        self._timer: Timer | None = None

    def begin(self) -> None:
        """Hear that the compiler begins; what a kernel calls may be compiled within that."""
        self._depth += 1
        if self._depth > 1:
            return
        self._began = time.monotonic()
        if not self.is_said:
            self._timer = Timer(max(0.0, _QUIET_SECONDS - self._own), self.announce)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Hear that the compiler has ended what it began last."""
        self._depth -= 1
        if self._depth > 0:
            return
        now = time.monotonic()
        self._own += now - self._began
        self.spans.append((self._began, now))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Something is compiled, or waited for, in the block."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def announce(self) -> None:
        """Say that kernels are being compiled, unless that was said."""
        if not self.is_said:
            self.is_said = True
            self.say()

    def seconds(self, start: float, end: float) -> float:
        """How long something was compiled between two moments."""
        under_way = [(self._began, end)] if self._depth else []
        total, last = 0.0, start
        for first, past in sorted([*self.spans, *under_way]):
            first, past = max(first, last), min(past, end)
            if first < past:
                total, last = total + past - first, past
        return total


COMPILATION = Compilation()
"""That of this process."""


class Stopwatch:
    """Runs from where it is made, and stands still while kernels are compiled, here or by a worker."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """What it shows."""
        now = time.monotonic()
        return now - self._start - COMPILATION.seconds(self._start, now)
