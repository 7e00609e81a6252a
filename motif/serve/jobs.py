"""Long work that somebody waits for: heard of while it goes on, and called off when nobody does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from secrets import token_hex
from threading import Event
from typing import Any

from motif.runtime.errors import MotifError
from motif.runtime.progress import heard_by

Record = dict[str, Any]


class CalledOffError(MotifError):
    """Work ended before it was done, because somebody wanted that."""


class Job:
    """One piece of work, done by a thread."""

    def __init__(self, work: Callable[[], Record]) -> None:
        """Made in the event loop, before a thread runs it."""
        self.id = token_hex(8)
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._is_called_off = Event()
        self._news = asyncio.Event()
        self._latest: Record | None = None
        self._end: asyncio.Future[Record] = self._loop.create_future()
        # Whoever waits for it may have gone.
        self._end.add_done_callback(lambda end: end.exception())

    def call_off(self) -> None:
        """Let it end at its next step."""
        self._is_called_off.set()

    def run(self) -> None:
        """Do the work; for a thread."""
        try:
            with heard_by(self._hear):
                result = self._work()
        except BaseException as error:  # whatever it is, somebody waits for it
            self._tell(self._fail, error)
        else:
            self._tell(self._finish, result)

    def _hear(self, what: str, done: int, total: int) -> None:
        if self._is_called_off.is_set():
            raise CalledOffError("called off")
        self._tell(self._note, {"what": what, "done": done, "total": total})

    def _tell(self, function: Callable[[Any], None], news: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, news)
        except RuntimeError:
            self.call_off()  # the loop has ended

    def _note(self, progress: Record) -> None:
        self._latest = progress
        self._news.set()

    def _finish(self, result: Record) -> None:
        if not self._end.done():
            self._end.set_result(result)
        self._news.set()

    def _fail(self, error: BaseException) -> None:
        if not self._end.done():
            self._end.set_exception(error)
        self._news.set()

    async def events(self) -> AsyncIterator[Record]:
        """What is heard of it: its ID, the latest progress now and then, at last its result or an error.

        Who stops listening calls it off.
        """
        try:
            yield {"job": self.id}
            while not self._end.done():
                await self._news.wait()
                self._news.clear()
                if self._latest is not None and not self._end.done():
                    latest, self._latest = self._latest, None
                    yield {"progress": latest}
            try:
                yield {"result": self._end.result()}
            except MotifError as error:
                yield {"error": str(error)}
            except Exception as error:
                yield {"error": f"internal error: {type(error).__name__}"}
        finally:
            self.call_off()

    async def result(self, has_gone: Callable[[], Any], seconds_between_looks: float = 0.5) -> Record:
        """What it has come to; it is called off as soon as `has_gone`, awaited, says that nobody waits."""
        try:
            while True:
                done, _ = await asyncio.wait([self._end], timeout=seconds_between_looks)
                if done:
                    return self._end.result()
                if await has_gone():
                    raise CalledOffError("called off")
        finally:
            self.call_off()
