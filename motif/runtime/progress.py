"""Progress of long work: a bar on stderr after one second, and only on a terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
    """Called with the number of steps done since the last call."""

    def __call__(self, steps: int = 1, /) -> None:
        """Advance by `steps`."""


_QUIET_SECONDS = 1.0


@contextmanager
def progress(description: str, total: int) -> Iterator[Advance]:
    """Yield a function that advances a bar of `total` steps."""
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
