"""Limits in front of the application: origins, sizes of requests, and slow connections.

uvicorn alone waits forever for the rest of a request, and for a client that does not read its answer; the
protocol here ends slow connections.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, NoReturn

from fastapi import HTTPException
from pydantic_core import to_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from motif.serve.bodies import LARGE, problem
from motif.serve.lanes import CLIENT
from motif.serve.serve_settings import ServeSettings

_HOST = re.compile(r"(?:\[([^]:]*:[^]]*)\]|([^][:]*))(?::\d*)?", re.ASCII)
"""A Host header: an IPv6 address in brackets, or a name or IPv4 address, and the port."""
_SAFE = ("GET", "HEAD")
"""Methods that change nothing, besides OPTIONS."""
_COSTLY = (
    "/move",
    "/eval",
    "/api/v1/analyses",
    "/api/v1/diagram",
    "/api/v1/everything",
    "/api/v1/games",
    "/api/v1/history",
    "/api/v1/learn",
)
"""Beginnings of paths that compute although their method is safe."""
_OWN_SITE = (b"same-origin", b"none")
"""Sec-Fetch-Site of requests from the server's own pages and the address bar."""
_CONNECTION = "motif.connection"
"""Name of a request's connection in the state of its scope."""
_HEAD, _HEADERS = 1 << 15, 100
"""Maximum bytes of a request's line and headers, and maximum number of headers."""
_BODIES = 16
"""Bodies of the largest size that may be in memory at once; small ones are never refused."""
_PIPELINED = 16
"""Maximum number of unanswered requests of a connection."""
_PIPELINED_BODIES = 1 << 16
"""Maximum bytes of the bodies of pipelined requests of a connection, while they wait for their turn."""
_BODILESS = (*_SAFE, "DELETE", "OPTIONS")
"""Methods whose requests have no body: an unread one would hide that the client has left."""

_Base: Any = AutoHTTPProtocol


def refusal(status: int, message: str) -> HTTPException:
    """Return the error of a refused request, the rest of which is not read."""
    return HTTPException(status, message, {"connection": "close"})


class Guard:
    """An ASGI application that passes on requests that are neither forbidden nor too large.

    The Host header must have a name of the server, which prevents DNS rebinding.  Pages of other origins may
    not ask unless allowed to.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._names = settings.known_names
        self._origins = settings.origins
        self.most = settings.body
        """Maximum bytes of a body."""
        self.held = 0
        """Bytes of all bodies in memory."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = _headers(scope)
            self._check_host(headers)
            self._check_origin(scope, headers)
            self._check_body(scope["method"], headers)
        except HTTPException as error:
            await problem(error.status_code, error.detail, headers=error.headers)(scope, receive, send)
            return
        body = _Body(receive, self)
        CLIENT.set(scope.get("state", {}).get(_CONNECTION))
        try:
            await self._app(scope, body.receive, send)
        finally:
            body.forget()

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        name = _host_name(headers.get(b"host", b"").decode("latin-1"))
        if name in self._names:
            return
        try:
            ip_address(name)
        except ValueError:
            raise refusal(
                400, "unknown name in the Host header: --names lists the names of this server"
            ) from None

    def _check_origin(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Refuse requests of other origins that change or compute something.

        Browsers send the origin of the page, or at least mark a request as cross-site.  Programs do neither.
        """
        method = scope["method"]
        is_safe = method == "OPTIONS" or (method in _SAFE and not scope["path"].startswith(_COSTLY))
        if is_safe or "*" in self._origins:
            return
        origin = headers.get(b"origin") or _origin_of(headers.get(b"referer", b""))
        if origin is None:
            is_foreign = headers.get(b"sec-fetch-site", b"none") not in _OWN_SITE
        else:
            text = origin.decode("latin-1")
            own = text.partition("://")[2] == headers[b"host"].decode("latin-1")
            is_foreign = not own and text not in self._origins
        if is_foreign:
            raise refusal(403, "pages of other origins may not send requests to this server; see --cors")

    def _check_body(self, method: str, headers: dict[bytes, bytes]) -> None:
        text = headers.get(b"content-length", b"0")
        if method in _BODILESS and (b"transfer-encoding" in headers or text.strip(b"0")):
            raise refusal(400, f"a {method} request must have no body")
        if not text.isdigit() or len(text) > 19 or int(text) > self.most:
            raise _too_large(self.most)


class _Body:
    """A request's body, whose real size is limited."""

    def __init__(self, receive: Receive, guard: Guard) -> None:
        self._receive = receive
        self._guard = guard
        self._size = 0

    async def receive(self) -> Message:
        """Return the next part, or the message that the client has left."""
        message = await self._receive()
        size = len(message.get("body", b""))
        self._size += size
        self._guard.held += size
        if self._size > self._guard.most:
            raise _too_large(self._guard.most)
        if self._size >= LARGE and self._guard.held > _BODIES * self._guard.most:
            raise refusal(503, "too many large requests at the same time; try again later")
        return message

    def forget(self) -> None:
        self._guard.held -= self._size


def _origin_of(address: bytes) -> bytes | None:
    """Return the origin of an `address` in a Referer header, or None."""
    scheme, slashes, rest = address.partition(b"://")
    return scheme + slashes + rest.partition(b"/")[0] if slashes else None


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """Return headers by name; a repeated Host is empty."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        headers[name] = b"" if name == b"host" and name in headers else value
    return headers


def _host_name(host: str) -> str:
    """Return the name in a Host header in lower case, without its port; empty for an invalid header."""
    parts = _HOST.fullmatch(host)
    return (parts[1] or parts[2]).lower() if parts else ""


def _too_large(most: int) -> HTTPException:
    return refusal(413, f"a request must have at most {most} bytes")


class PatientProtocol(_Base):
    """A protocol with a time limit for sending a request, for reading its answer, and between requests.

    It is the `Client` of its requests, and limits their headers and their number, which uvicorn with
    httptools does not.  The answer to the last of too many pipelined requests closes the connection, and what
    follows that request is ignored; the client may send it again.

    uvicorn stops reading while pipelined requests or a large body wait, and does not notice then that the
    client leaves; the protocol here goes on reading, up to limits.
    """

    app_state: dict[str, object]
    _head = _count = _unparsed = 0
    _is_in_head = _has_heard = _is_too_large = _is_full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, _CONNECTION: self}  # which the scope of each request has
        self._unanswered: deque[Any] = deque()
        self.has_left = False
        self.leaving: set[Callable[[], object]] = set()
        self._reading: asyncio.TimerHandle | None = self._later(self._give_up)
        self._writing: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._is_full:
            return
        self._has_heard = False
        super().data_received(data)
        if self.transport.is_closing():
            return
        # The parser does not report an incomplete header, trailer or chunk extension, and keeps it.
        self._unparsed = 0 if self._has_heard else self._unparsed + len(data)
        if (self._head if self._is_in_head else 0) + self._unparsed > 2 * _HEAD:
            self._is_too_large = True
            self.send_400_response("")
            return
        if not self._is_waiting():
            self._reading = _cancelled(self._reading)
        elif self._reading is None:
            self._reading = self._later(self._give_up)

    def on_message_begin(self) -> None:
        """See `httptools.HttpRequestParser`."""
        while self._unanswered and self._unanswered[0].response_complete:
            self._unanswered.popleft()
        if len(self._unanswered) >= _PIPELINED:
            self._refuse_more()
        super().on_message_begin()
        self._head = self._count = 0
        self._is_in_head = self._has_heard = True

    def on_url(self, url: bytes) -> None:
        """See `httptools.HttpRequestParser`."""
        self._measure(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """See `httptools.HttpRequestParser`; trailers are headers, too."""
        self._has_heard = True
        self._count += 1
        self._measure(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """See `httptools.HttpRequestParser`."""
        self._is_in_head = False
        super().on_headers_complete()
        self._unanswered.append(self.cycle)
        if self.pipeline:
            self.flow.resume_reading()

    def on_body(self, body: bytes) -> None:
        """See `httptools.HttpRequestParser`."""
        self._has_heard = True
        super().on_body(body)
        if self.pipeline and sum(len(cycle.body) for cycle, _ in self.pipeline) > _PIPELINED_BODIES:
            self.pipeline.popleft()
            self._unanswered.pop()
            self.cycle = self._unanswered[-1]
            self.flow.resume_reading()
            self._refuse_more()

    def on_message_complete(self) -> None:
        """See `httptools.HttpRequestParser`."""
        self._has_heard = True
        super().on_message_complete()
        self.flow.resume_reading()

    def _refuse_more(self) -> NoReturn:
        """Ignore the current request and all later ones of this connection."""
        self._is_full = True
        self._unanswered[-1].keep_alive = False
        raise ValueError("too many requests before the first answer")

    def _measure(self, size: int) -> None:
        self._head += size
        if self._head > _HEAD or self._count > _HEADERS:
            self._is_too_large = True
            raise ValueError("the head of a request is too large")

    def send_400_response(self, message: str) -> None:
        """Answer an invalid HTTP request, with 431 if its head is too large; not one too many."""
        if self._is_full:
            return
        if not self._is_too_large:
            super().send_400_response(message)
            return
        body = to_json(
            {"message": f"a request must have at most {_HEADERS} headers, and {_HEAD} bytes of them"}
        )
        head = (
            "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

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
        self.has_left = True
        for call in tuple(self.leaving):
            call()
        # uvicorn itself notifies only the last of several pipelined requests.
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()

    def _is_waiting(self) -> bool:
        """Return whether the server waits for a request or the rest of one."""
        return self.cycle is None or bool(self.cycle.response_complete or self.cycle.more_body)

    def _later(self, then: Callable[[], None]) -> asyncio.TimerHandle:
        timer: asyncio.TimerHandle = self.loop.call_later(self.timeout_keep_alive, then)
        return timer

    def _give_up(self) -> None:
        self._reading = None
        if self._is_waiting():
            self.transport.abort()


def _cancelled(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None
