"""How long a connection may do nothing: uvicorn's protocol, which ends those that are too slow.

uvicorn itself waits for ever for a request that has begun, and for a client that does not read its answer.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_Base: Any = AutoHTTPProtocol


class PatientProtocol(_Base):
    """Waits as long for the head of a request, and for answers to be read, as between two requests."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._wait(self._close_idle)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        super().data_received(data)
        if not self._is_idle():
            self._wait(None)
        elif self._timer is None:
            self._wait(self._close_idle)

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        super().pause_writing()
        self._wait(self.transport.abort)

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        super().resume_writing()
        self._wait(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._wait(None)
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _wait(self, then: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = then and self.loop.call_later(self.timeout_keep_alive, then)

    def _close_idle(self) -> None:
        if self._is_idle():
            self.transport.close()
