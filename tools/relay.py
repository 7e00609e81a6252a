"""A relay in front of a TCP server that counts the bytes in each direction."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tools.local_cluster import HOST


class Relay:
    """Bytes sent to and received from the server."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = parts.hostname, parts.port
        self.address = ""
        self.sent = 0
        self.received = 0

    async def serve(self, ready: threading.Event, done: asyncio.Event) -> None:
        """Relay until `done`."""
        server = await asyncio.start_server(self._relay, HOST, 0)
        self.address = "tcp://{}:{}".format(*server.sockets[0].getsockname())
        ready.set()
        await done.wait()
        server.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        await asyncio.gather(
            self._pump(reader, far_writer, "sent"), self._pump(far_reader, writer, "received")
        )

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: str) -> None:
        try:
            while data := await reader.read(1 << 16):
                setattr(self, count, getattr(self, count) + len(data))
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@contextmanager
def relay(target: str) -> Iterator[Relay]:
    """Provide a relay to the server at `target`, ``tcp://HOST:PORT``, in a separate thread."""
    passing, ready = Relay(target), threading.Event()
    loop, done = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(passing.serve(ready, done)))
    thread.start()
    ready.wait()
    try:
        yield passing
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()
