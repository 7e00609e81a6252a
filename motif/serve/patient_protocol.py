"""How long a connection may do nothing: uvicorn's protocol, which ends those that are too slow.

uvicorn itself waits for ever for the rest of a request, and for a client that does not read its answer.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_Base: Any = AutoHTTPProtocol


class PatientProtocol(_Base):
    """Waits as long for a request to be complete, and for its answer to be read, as between two requests."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._reading: asyncio.TimerHandle | None = self._later(self._give_up)
        self._writing: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        super().data_received(data)
        if not self._is_waiting():
            self._reading = _cancelled(self._reading)
        elif self._reading is None:
            self._reading = self._later(self._give_up)

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        super().pause_writing()
        self._writing = self._later(self.transport.abort)

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        super().resume_writing()
        self._writing = _cancelled(self._writing)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._reading, self._writing = _cancelled(self._reading), _cancelled(self._writing)
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        """Whether a request, or the rest of one, is to come."""
        return self.cycle is None or bool(self.cycle.response_complete or self.cycle.more_body)

    def _later(self, then: Callable[[], None]) -> asyncio.TimerHandle:
        timer: asyncio.TimerHandle = self.loop.call_later(self.timeout_keep_alive, then)
        return timer

    def _give_up(self) -> None:
        self._reading = None
        if self._is_waiting():
            self.transport.abort()


def _cancelled(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """What is left of `timer`: nothing."""
    if timer is not None:
        timer.cancel()
    return None
