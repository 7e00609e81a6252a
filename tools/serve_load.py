"""Measure `serve http`: single evaluations, and positions in batches.

``python -m tools.serve_load docs/how-to/serve.md``

Server and client have one core each if there are two. The client keeps its connections open, sends a request
as soon as the previous one is answered, and checks only the status and the length of the answers.
"""

import argparse
import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from motif.analysis.evaluator_analysis import self_play_positions
from motif.board.identifiers import gnubg_ids
from motif.players import load
from tools.import_graph import ROOT
from tools.marked_page import write_region

REGION = "load"
_SEED = 7
_BATCH = 1000
_POSITIONS = 20_000
_CONNECTIONS = (1, 8, 64)
_TIMES = 5
_LISTENING = "listening on http://"
_END_OF_HEAD = b"\r\n\r\n"


class Load(NamedTuple):
    """Performance of a server under load."""

    requests: int
    seconds: float
    latencies: np.ndarray
    """Seconds from a request to its answer."""
    failures: int
    """Answers with a status other than 200."""
    processor_seconds: float
    """Processor time of the server."""

    @property
    def a_core(self) -> float:
        """Requests per second of processor time."""
        return self.requests / self.processor_seconds if self.processor_seconds else float("nan")

    @property
    def a_second(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    def percentile(self, percent: float) -> str:
        """Return a percentile of the latencies, in milliseconds."""
        return f"{1000 * float(np.percentile(self.latencies, percent)):.1f}"


class _Client(asyncio.Protocol):
    """A connection that sends a request as soon as the previous one is answered."""

    def __init__(self, requests: list[bytes], first: int, end: float) -> None:
        self._requests, self._next, self._end = requests, first, end
        self.latencies: list[float] = []
        self.failures = 0
        self._wanted = 0
        self._begun = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._begun, self._wanted = b"", 0
        self._started = time.perf_counter()
        self._transport.write(self._requests[self._next % len(self._requests)])
        self._next += 1

    def data_received(self, data: bytes) -> None:
        self._begun += data
        if not self._wanted:
            end = self._begun.find(_END_OF_HEAD)
            if end < 0:
                return
            head = self._begun[:end].lower()
            self.failures += not head.startswith(b"http/1.1 200")
            length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
            self._wanted = end + len(_END_OF_HEAD) + int(length)
        if len(self._begun) < self._wanted:
            return
        now = time.perf_counter()
        self.latencies.append(now - self._started)
        if now < self._end:
            self._ask()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


class Server(NamedTuple):
    """A server to measure."""

    port: int
    process: int

    def processor_seconds(self) -> float:
        """Return the server's processor time in seconds; 0 if unknown."""
        file = Path(f"/proc/{self.process}/stat")
        if not file.exists():
            return 0.0
        user, system = file.read_text("utf-8").rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def under_load(server: Server, requests: list[bytes], connections: int, seconds: float) -> Load:
    """Measure `server` with `connections` clients that send requests without a pause."""

    async def ask() -> Load:
        loop = asyncio.get_running_loop()
        computed = server.processor_seconds()
        started = time.perf_counter()
        clients = [
            _Client(requests, k * len(requests) // connections, started + seconds) for k in range(connections)
        ]
        for client in clients:
            await loop.create_connection(lambda client=client: client, "127.0.0.1", server.port)  # type: ignore[misc]
        await asyncio.gather(*(client.done for client in clients))
        took = time.perf_counter() - started
        latencies = np.array([latency for client in clients for latency in client.latencies])
        computed = server.processor_seconds() - computed
        return Load(len(latencies), took, latencies, sum(client.failures for client in clients), computed)

    return asyncio.run(ask())


def request(path: str, document: object) -> bytes:
    """Return the bytes of a POST request."""
    body = json.dumps(document).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def serving(core: int | None) -> Iterator[Server]:
    """Provide a server for the block, on one core if possible."""
    command = [sys.executable, "cli.py", "serve", "http", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if line.startswith(_LISTENING))
            if core is not None:
                for task in Path(f"/proc/{server.pid}/task").iterdir():
                    os.sched_setaffinity(int(task.name), {core})
            yield Server(int(line.rpartition(":")[2]), server.pid)
        finally:
            server.send_signal(signal.SIGTERM)


def batch_rates(ids: list[str]) -> tuple[float, float]:
    """Return positions per second of `evaluate --batch --json`, by wall clock and by processor time.

    Start-up is not included.
    """

    def seconds(count: int) -> tuple[float, float]:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "ids.txt"
            file.write_text("\n".join((ids * _TIMES)[:count]) + "\n", "utf-8")
            command = [sys.executable, "cli.py", "evaluate", "--batch", str(file), "--json", "--jobs", "1"]
            started, computed = time.perf_counter(), _computed_by_children()
            subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
            return time.perf_counter() - started, _computed_by_children() - computed

    seconds(1)
    count = _TIMES * len(ids)
    few, many = (np.array([seconds(n) for _ in range(2)]).min(axis=0) for n in (1, count))
    return tuple((count / (many - few)).tolist())


def _computed_by_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def measured(seconds: float) -> list[str]:
    """Return the table as Markdown."""
    ids = gnubg_ids(self_play_positions(load("pubeval"), _POSITIONS, None, seed=_SEED, jobs=1))
    single = [request("/api/v1/evaluate", {"id": identifier}) for identifier in ids]
    batches = [
        request("/api/v1/batches/evaluate", {"ids": ids[k : k + _BATCH]}) for k in range(0, len(ids), _BATCH)
    ]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[-1]})
    lines = [
        "| positions per request | connections | answers per second | positions per second | p50, ms "
        "| p99, ms | positions per second of processor time |",
        "|---|---|---|---|---|---|---|",
    ]
    with serving(cores[0] if len(cores) > 1 else None) as server:
        for what, requests, positions in (("one position", single, 1), (f"{_BATCH:,}", batches, _BATCH)):
            under_load(server, requests, 1, seconds / 4)
            for connections in _CONNECTIONS if positions == 1 else _CONNECTIONS[:2]:
                load_ = under_load(server, requests, connections, seconds)
                if load_.failures:
                    raise SystemExit(f"{load_.failures} of {load_.requests} requests were not answered")
                rate = load_.a_second
                figures = f"{rate:,.0f} | {rate * positions:,.0f}"
                times = f"{load_.percentile(50)} | {load_.percentile(99)}"
                core = f"{load_.a_core * positions:,.0f}"
                lines.append(f"| {what} | {connections} | {figures} | {times} | {core} |")
    rate, core_rate = batch_rates(ids)
    lines.append(f"| `evaluate --batch --json` | | | {rate:,.0f} | | | {core_rate:,.0f} |")
    others = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0
    version, count = platform.python_version(), len(cores) or os.cpu_count()
    lines += [
        "",
        f"One core for the server, {seconds:g} s each; Python {version}; load average",
        f"{others:.0f} on {count} cores. On a busy machine, use the last column, which does not count",
        "the time that the server waited.",
    ]
    return lines


def main() -> None:
    """Measure, print and, if a page is given, write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    lines = measured(options.seconds)
    print("\n".join(lines))
    if options.page is not None:
        write_region(options.page, REGION, lines)


if __name__ == "__main__":
    main()
