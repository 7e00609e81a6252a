"""What stands before the application: who may ask, how much, and how long a connection may do nothing.

uvicorn itself waits for ever for the rest of a request, and for a client that does not read its answer: its
protocol here ends connections that are too slow.
"""

import asyncio
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from fastapi import HTTPException
from pydantic_core import to_json
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from motif.serve.serve_settings import ServeSettings

_FORM, _JSON = b"application/x-www-form-urlencoded", b"application/json"
"""What curl calls a body where it is told nothing, and what it is here: no route takes forms of that type."""
_SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing, and start nothing that costs much."""

_Base: Any = AutoHTTPProtocol


def refusal(status: int, message: str) -> HTTPException:
    """The error of a request that is not answered; what its client still sends is not worth reading."""
    return HTTPException(status, message, {"connection": "close"})


class Guard:
    """An ASGI application that hands to another one what is neither forbidden nor too large.

    A name in the Host header must be one of the server's: otherwise a page elsewhere could have its own name
    lead to this machine (DNS rebinding) and read the answers.  A page of another origin may not send anything
    either, unless it was allowed to.
    """

    def __init__(self, app: Any, settings: ServeSettings) -> None:
        self._app = app
        self._settings = settings
        self._names = settings.known_names
        self._origins = settings.origins

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = _headers(scope)
            self._check_host(headers)
            self._check_origin(scope, headers)
            self._check_length(headers)
        except HTTPException as error:
            await _refuse(send, error)
            return
        if headers.get(b"content-type") == _FORM:
            lines = [(name, _JSON if name == b"content-type" else value) for name, value in scope["headers"]]
            scope = {**scope, "headers": lines}
        await self._app(scope, _Body(receive, self._settings).receive, send)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        name = _host_name(headers.get(b"host", b"").decode("latin-1"))
        if name in self._names:
            return
        try:
            ip_address(name)
        except ValueError:
            raise refusal(400, "this server is not called what the Host header says; see --names") from None

    def _check_origin(self, scope: Any, headers: dict[bytes, bytes]) -> None:
        origin = headers.get(b"origin")
        if origin is None or scope["method"] in _SAFE or "*" in self._origins:
            return
        text = origin.decode("latin-1")
        own = text.partition("://")[2] == headers[b"host"].decode("latin-1")
        if not own and text not in self._origins:
            raise refusal(403, "pages of other origins may not ask this server; see --cors")

    def _check_length(self, headers: dict[bytes, bytes]) -> None:
        text = headers.get(b"content-length", b"0")
        if not text.isdigit() or len(text) > 19 or int(text) > self._settings.body:
            raise _too_large(self._settings)


class _Body:
    """A request's body, which may not be too large, whatever was announced."""

    def __init__(self, receive: Any, settings: ServeSettings) -> None:
        self._receive = receive
        self._settings = settings
        self._size = 0

    async def receive(self) -> Any:
        """The next part of it, or the news that the client has gone."""
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > self._settings.body:
            raise _too_large(self._settings)
        return message


def _headers(scope: Any) -> dict[bytes, bytes]:
    """Headers by their names, which come in small letters; a repeated Host is no host."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        headers[name] = b"" if name == b"host" and name in headers else value
    return headers


def _host_name(host: str) -> str:
    """The name in a Host header, without its port, in small letters."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _too_large(settings: ServeSettings) -> HTTPException:
    return refusal(413, f"a request has {settings.body} bytes at most")


async def _refuse(send: Any, error: HTTPException) -> None:
    body = to_json({"message": error.detail})
    headers = {"content-type": "application/json", "content-length": str(len(body)), **(error.headers or {})}
    lines = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": error.status_code, "headers": lines})
    await send({"type": "http.response.body", "body": body})


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
