"""Progress of long work: a bar, a notice about compilation, and a stopwatch that excludes compilation.

The bar and the notice appear on stderr after one second, the bar only on a terminal that can erase it.
With `heard_by` a function receives the progress instead.  Work that is cancelled ends in the next
`end_if_cancelled`.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Timer
from typing import Protocol, TypeVar

from motif.runtime.layout import complain


class Advance(Protocol):
    """Function that advances a progress bar."""

    def __call__(self, steps: int = 1, /) -> None:
        """Advance by `steps`."""


_QUIET_SECONDS = 1.0
_ROOM = 3
"""Columns of a terminal that the bar leaves free."""
Listener = Callable[[str, int, int], None]
"""Function of a description, the number of steps done and the total number of steps."""
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)
_Value = TypeVar("_Value")


@contextmanager
def during(variable: ContextVar[_Value], value: _Value) -> Iterator[None]:
    """Give a context variable a `value` in the block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def heard_by(listener: Listener) -> AbstractContextManager[None]:
    """Report progress in the block to `listener` instead of the terminal; its exceptions end the work."""
    return during(_listener, listener)


def stopped_by(check: Callable[[], None]) -> AbstractContextManager[None]:
    """Let every `end_if_cancelled` in the block call `check`, whose exceptions end the work."""
    return during(_check, check)


def end_if_cancelled() -> None:
    """End the work here if it has been cancelled.

    Call it between steps of work that may take more than a few tenths of a second.
    """
    if (check := _check.get()) is not None:
        check()


@contextmanager
def progress(description: str, total: int) -> Iterator[Advance]:
    """Show a bar of `total` steps and yield the function that advances it.

    Progress in the block shows no bar of its own on a terminal.
    """
    if (listener := _listener.get()) is not None:
        yield _told_to(listener, description, total)
        return
    if not sys.stderr.isatty():
        yield lambda steps=1: None
        return
    from rich.console import Console, RenderableType
    from rich.constrain import Constrain
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    console = Console(stderr=True)
    if not console.is_interactive:  # the terminal cannot erase the bar
        yield lambda steps=1: None
        return
    half = Column(max_width=console.width // 2, no_wrap=True)

    class Bar(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            # In a full line, the ^C of the terminal would go to the next line, and the bar would stay.
            for renderable in super().get_renderables():
                yield Constrain(renderable, console.width - _ROOM)

    bar = Bar(
        TextColumn("{task.description}", table_column=half),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=True,  # notices appear above the bar
    )
    task = bar.add_task(description, total=total)
    # A timer starts the bar, because the first step may take minutes.
    timer = Timer(_QUIET_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        with heard_by(lambda *news: None):
            yield lambda steps=1: bar.advance(task, steps)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _told_to(listener: Listener, description: str, total: int) -> Advance:
    done = 0

    def advance(steps: int = 1) -> None:
        nonlocal done
        done += steps
        end_if_cancelled()
        listener(description, done, total)

    listener(description, done, total)
    return advance


SECONDS_OF_A_HINT, SECONDS_OF_ALL = 10, 90
"""Approximate seconds to compile the kernels of a first hint, and all kernels, on two idle cores."""
ON_COMPILING = (
    "motif: compiling kernels, once for this machine and version: about "
    f"{SECONDS_OF_A_HINT} s for a first hint, {SECONDS_OF_ALL} s for all of motif (`motif warm`)"
)
ON_COMPILING_BY_NUMBA = (
    "motif: compiling kernels, once for this machine and version: about a minute for a first hint"
)
"""The same for stock kernels; see `motif.compiler.choice`."""
Span = tuple[float, float]
"""Begin and end in seconds of the monotonic clock, which all processes of a machine share."""


def say_that_kernels_compile() -> None:
    """Print the notice about compilation on stderr."""
    from motif.compiler.choice import STOCK, way

    complain(ON_COMPILING_BY_NUMBA if way() == STOCK else ON_COMPILING)


class Compilation:
    """Compilations of kernels by this process and its workers, announced once they have taken a second."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        """Finished compilations; those of workers may overlap."""
        self.is_said = False
        """Whether to print nothing more."""
        self.say: Callable[[], None] = say_that_kernels_compile
        """Prints the notice; workers replace it."""
        self._depth = 0
        self._began = 0.0
        self._own = 0.0
        self._timer: Timer | None = None

    def begin(self) -> None:
        """Note that a compilation begins, perhaps within another one."""
        self._depth += 1
        if self._depth > 1:
            return
        self._began = time.monotonic()
        if not self.is_said:
            self._timer = Timer(max(0.0, _QUIET_SECONDS - self._own), self.announce)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Note that the latest compilation has ended."""
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
        """Note a compilation, or a wait for one, for the duration of the block."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def announce(self) -> None:
        """Print the notice, once."""
        if not self.is_said:
            self.is_said = True
            self.say()

    def seconds(self, start: float, end: float) -> float:
        """Return the seconds of compilation between two times."""
        under_way = [(self._began, end)] if self._depth else []
        total, last = 0.0, start
        for first, past in sorted([*self.spans, *under_way]):
            first, past = max(first, last), min(past, end)
            if first < past:
                total, last = total + past - first, past
        return total


COMPILATION = Compilation()
"""Compilations of this process and its workers."""


class Stopwatch:
    """A stopwatch that starts when it is created and pauses while kernels are compiled."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """Elapsed seconds without compilation."""
        now = time.monotonic()
        return now - self._start - COMPILATION.seconds(self._start, now)
