"""A client that leaves is noticed, whatever it has sent: its work must not go on."""

import asyncio
import json

import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from motif.serve import http
from motif.serve.guard import Guard
from motif.serve.lanes import CLIENT
from tests.serve.conftest import QUICK

HOST = b"Host: localhost\r\n"
PING = b"GET /ping HTTP/1.1\r\n" + HOST + b"\r\n"
SECONDS = 20


def post(size, path=b"/work"):
    return b"POST %s HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (path, HOST, size, b"x" * size)


class Work:
    """An application whose every answer takes until its client leaves, or the test lets it end."""

    def __init__(self):
        self.has_begun, self.ends = asyncio.Event(), asyncio.Event()
        self.bodies = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        size, more = 0, scope["method"] == "POST"
        while more:
            message = await receive()
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        self.bodies.append(size)
        client = CLIENT.get()
        client.leaving.add(self.ends.set)
        self.has_begun.set()
        await asyncio.wait_for(self.ends.wait(), SECONDS)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


async def served(then):
    """Run `then(work, reader, writer)` with a connection to a server."""
    work = Work()
    server = http.uvicorn.Server(http.configuration(lambda: Guard(work, QUICK), QUICK))
    with http.listening(QUICK) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        try:
            while not server.started:
                await asyncio.sleep(0.01)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            try:
                await then(work, reader, writer)
            finally:
                writer.close()
        finally:
            server.should_exit = True
            await serving


async def send(writer, data, size=50_000):
    """Send `data` in packets of at most `size` bytes that arrive one by one."""
    for start in range(0, len(data), size):
        writer.write(data[start : start + size])
        await writer.drain()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        pytest.param(post(10), b"", id="one request"),
        pytest.param(post(300_000), b"", id="a large body"),
        pytest.param(post(10), PING, id="another request"),
        pytest.param(post(300_000), post(10) + PING, id="two more"),
        pytest.param(post(10), post(60_000), id="another with a body"),
        pytest.param(post(10), post(300_000) + PING, id="another with a large body"),
        pytest.param(post(10), post(40_000) * 3 + PING, id="several bodies that are large together"),
        pytest.param(post(10), PING * 40 + b"nonsense", id="too many"),
        pytest.param(post(10), post(300_000)[:100_000], id="half of another"),
    ],
)
def test_a_client_that_leaves_is_noticed(first, later):
    async def then(work, reader, writer):
        await send(writer, first)
        await asyncio.wait_for(work.has_begun.wait(), SECONDS)
        await send(writer, later)
        assert not work.ends.is_set()
        writer.close()
        await asyncio.wait_for(work.ends.wait(), SECONDS / 2)
        assert len(work.bodies) == 1

    asyncio.run(served(then))


@pytest.mark.parametrize(
    ("later", "answered"),
    [
        (post(60_000) + PING, [10, 60_000, 0]),
        (PING + post(300_000) + PING, [10, 0]),
        (post(40_000) * 3 + PING, [10, 40_000]),
    ],
)
def test_pipelined_requests_wait_for_their_turn_up_to_a_limit(later, answered):
    """After the limit the connection closes with the last answer; before it, it stays open."""

    async def then(work, reader, writer):
        await send(writer, post(10))
        await asyncio.wait_for(work.has_begun.wait(), SECONDS)
        await send(writer, later)
        work.ends.set()
        answers = b""
        while answers.count(b"HTTP/1.1 200") < len(answered) or not answers.endswith(b"\r\n\r\n"):
            answers += await asyncio.wait_for(reader.read(1 << 16), SECONDS)
        assert work.bodies == answered
        is_whole = len(answered) == 3
        assert (b"connection: close" in answers) != is_whole
        if not is_whole:
            assert await asyncio.wait_for(reader.read(), SECONDS) == b""

    asyncio.run(served(then))


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "head", [b"Content-Length: 5\r\n\r\nhello", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]
)
def test_a_body_that_nobody_reads_is_refused(method, head):
    async def then(work, reader, writer):
        writer.write(method.encode() + b" /api/v1/players HTTP/1.1\r\n" + HOST + head)
        answer = await asyncio.wait_for(reader.read(), SECONDS)
        assert answer.startswith(b"HTTP/1.1 400")
        body = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert body == {"message": f"a {method} request must have no body"}
        assert work.bodies == []

    asyncio.run(served(then))
