"""Threads for the work of requests, in lanes: quick work never waits for slow work.

Work ends in its next `end_if_cancelled`, between two positions, when its client has left, when the server
stops, or when its budget is used up.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from threading import Event, Lock
from time import thread_time
from typing import Protocol, TypeVar

from motif.runtime.errors import MotifError
from motif.runtime.progress import stopped_by

_Result = TypeVar("_Result")


class BusyError(MotifError):
    """More simultaneous requests than the settings allow, or a server that is stopping."""


class WorkEndedError(MotifError):
    """Work that was cancelled before it was done."""


class WorkCancelledError(WorkEndedError):
    """Work that was cancelled because its client left."""


class OverdueError(WorkEndedError):
    """Work that ended early because it exceeded the budget of a request."""


class Client(Protocol):
    """The client of a request that is under way."""

    has_left: bool
    leaving: set[Callable[[], object]]
    """Functions to call when the client leaves."""


CLIENT: ContextVar[Client | None] = ContextVar("client", default=None)
"""The client whose request is being answered, or None outside a server."""


class Cancellation:
    """Ends work that is cancelled or overdue."""

    def __init__(self, seconds: float) -> None:
        """Make work overdue after `seconds` of a core."""
        self._seconds = seconds
        self._is_cancelled = Event()
        self._end = 0.0

    def cancel(self) -> None:
        """Let the work end in its next `end_if_cancelled`."""
        self._is_cancelled.set()

    def check(self) -> None:
        """Raise `WorkCancelledError` or `OverdueError` if the work must end; called by its thread."""
        if self._is_cancelled.is_set():
            raise WorkCancelledError("cancelled")
        if thread_time() > self._end:
            raise OverdueError(
                f"this took more than {self._seconds:g} s of computing, the budget of a request here: "
                "ask for fewer positions or trials, or with less lookahead"
            )

    def run(self, work: Callable[[], _Result]) -> _Result:
        """Do `work` in the current thread."""
        self._end = thread_time() + self._seconds
        self.check()
        with stopped_by(self.check):
            return work()


class Lane:
    """Threads with their queue."""

    def __init__(self, name: str, threads: int, waiting: int, seconds: float) -> None:
        """Allow at most `waiting` requests, each with `seconds` of a core."""
        self._threads = ThreadPoolExecutor(threads, name)
        self._most, self._seconds = waiting, seconds
        self._waiting = 0
        self._running = 0
        self._lock = Lock()
        self._stops: set[Cancellation] = set()

    async def do(self, work: Callable[[], _Result]) -> _Result:
        """Do `work` in a thread and return its result.

        Raises `BusyError` if too many requests are waiting or the server stops, `WorkCancelledError` if the
        client leaves, and `OverdueError` if the work takes too long.
        """
        if self._waiting >= self._most:
            raise BusyError(f"{self._waiting} requests are already waiting; try again later")
        stop = Cancellation(self._seconds)
        self._stops.add(stop)
        self._waiting += 1
        try:
            done = asyncio.get_running_loop().run_in_executor(self._threads, self._do, stop, work)
            return await while_wanted(done)
        finally:
            stop.cancel()
            self._stops.discard(stop)
            self._waiting -= 1

    def _do(self, stop: Cancellation, work: Callable[[], _Result]) -> _Result:
        with self._lock:
            self._running += 1
        try:
            return stop.run(work)
        finally:
            with self._lock:
                self._running -= 1

    @property
    def is_at_work(self) -> bool:
        """Whether a thread is busy, even with cancelled work."""
        return self._running > 0

    def close(self) -> None:
        """Cancel all work."""
        for stop in self._stops:
            stop.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)


async def while_wanted(done: "asyncio.Future[_Result]") -> _Result:
    """Return the result of `done`.

    Raises `WorkCancelledError` if the client leaves first, and `BusyError` if the server stops.
    """
    client = CLIENT.get()
    if client is None:
        return await done
    client.leaving.add(done.cancel)
    try:
        if client.has_left:
            done.cancel()
        return await done
    except asyncio.CancelledError:
        if client.has_left:
            raise WorkCancelledError("cancelled: the client has left") from None
        raise BusyError("the server is stopping; try again later") from None
    finally:
        client.leaving.discard(done.cancel)


class MemoryLimit:
    """A limit of memory, for which requests wait in order."""

    def __init__(self, size: int) -> None:
        self.size, self._taken = size, 0
        self._queue: list[tuple[int, asyncio.Future[None]]] = []

    def fits(self, amount: int) -> bool:
        """Return whether `amount` fits now."""
        return self._taken == 0 or self._taken + amount <= self.size

    async def take(self, amount: int) -> None:
        """Wait for room; an amount above the limit is admitted alone."""
        if not self._queue and self.fits(amount):
            self._taken += amount
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((amount, turn))
        try:
            await while_wanted(turn)
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.give_back(amount)
            elif (amount, turn) in self._queue:
                self._queue.remove((amount, turn))
            raise

    def give_back(self, amount: int) -> None:
        """Release `amount`."""
        self._taken -= amount
        while self._queue and (self._queue[0][1].done() or self.fits(self._queue[0][0])):
            amount, turn = self._queue.pop(0)
            if not turn.done():
                self._taken += amount
                turn.set_result(None)
