"""HTTP servers with real sockets, in a thread of the tests' process."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from motif.serve.serve_settings import ServeSettings

ROOT = Path(__file__).resolve().parent.parent.parent
OPENING = "4HPwATDgc/ABMA"
RACE = "dPexAAB07zMAAA"
QUICK = ServeSettings(port=0, player="pubeval")
"""Nobody waits long for PubEval."""


def damage_the_middle(database: Path) -> bytes:
    """Overwrite one page in the middle of a database; return what the file now contains."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(database.read_bytes())
    middle = len(content) // page // 2 * page
    content[middle : middle + page] = b"\xff" * page
    database.write_bytes(content)
    return bytes(content)


@contextmanager
def started(*options: str, player: str = "pubeval") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a separate process, and its address."""
    command = [sys.executable, str(ROOT / "cli.py"), "serve", "http", "--port", "0", "--player", player]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if line.startswith("listening on "))
            yield server, line.split()[-1]
        finally:
            server.kill()


@contextmanager
def running(settings: ServeSettings, loop: str = "auto") -> Iterator[httpx.Client]:
    """A client of a server that runs within the block, in an event loop of that kind."""
    pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
    from motif.serve import http

    app = http.create_app(settings)
    config = http.configuration(lambda: app, settings)
    config.loop = loop
    server = http.uvicorn.Server(config)
    with http.listening(settings) as listener:
        listener.listen()
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            host, port = listener.getsockname()
            with httpx.Client(base_url=f"http://{host}:{port}", timeout=120, trust_env=False) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def client() -> Iterator[httpx.Client]:
    """A client of a server started with only the option for the player."""
    with running(QUICK) as asking:
        yield asking


@pytest.fixture(scope="session")
def judge() -> Iterator[httpx.Client]:
    """A client of a server started without options."""
    with running(ServeSettings(port=0)) as asking:
        yield asking
