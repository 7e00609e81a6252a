"""A dask cluster of real processes on this machine, as `dask scheduler` and `dask worker` start them."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tools.import_graph import ROOT

HOST = "127.0.0.1"
PATIENCE = 300
"""A timeout that only a hanging process exceeds, even on a busy machine."""
_IDLE = "600s"
"""Seconds after which abandoned processes end."""


class Machines:
    """A scheduler and its workers, each in its own process, with their files in `folder`."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        contact = folder / "scheduler.json"
        words = ("--port", "0", "--scheduler-file", str(contact), "--idle-timeout", _IDLE)
        self.scheduler = self._started("scheduler", words, environment)
        self.address = self._address(contact)

    def add_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start one more worker, with one thread."""
        words = (self.address, "--nthreads", "1", "--no-nanny", "--local-directory", str(self._folder))
        self.workers.append(self._started("worker", words, environment))
        return self.workers[-1]

    def wait_for_workers(self) -> None:
        """Wait until the scheduler knows every living worker."""
        for number, worker in enumerate(self.workers, 1):
            log = self._folder / f"worker-{number}.log"
            self._wait(partial(_is_registered, log), worker, log)

    def end(self) -> None:
        """Kill every process and wait until it has ended."""
        everyone = [*self.workers, self.scheduler]
        for process in everyone:
            process.kill()
        for process in everyone:
            process.wait()

    def _started(
        self, kind: str, words: tuple[str, ...], environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, *words, "--host", HOST, "--no-dashboard"]
        number = len(self.workers) + (kind == "worker")
        with open(self._folder / f"{kind}-{number}.log", "wb") as log:
            return subprocess.Popen(
                command,
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
                stdout=log,
                stderr=log,
                start_new_session=True,  # no Ctrl-C from the terminal
            )

    def _address(self, contact: Path) -> str:
        addresses: list[str] = []

        def is_written() -> bool:
            with suppress(OSError, ValueError):  # missing or incomplete
                addresses.append(json.loads(contact.read_text("utf-8"))["address"])
            return bool(addresses)

        self._wait(is_written, self.scheduler, self._folder / "scheduler-0.log")
        return addresses[0]

    def _wait(self, happened: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path) -> None:
        """Wait for `process` to start; kill everything if it does not."""
        limit = time.monotonic() + PATIENCE
        while not happened():
            if time.monotonic() > limit or process.poll() is not None:
                self.end()
                raise RuntimeError(log.read_text("utf-8"))
            time.sleep(0.05)


def _is_registered(log: Path) -> bool:
    return "Registered to:" in log.read_text("utf-8")


@contextmanager
def machines(workers: int, **environment: str) -> Iterator[Machines]:
    """Provide a scheduler, with `environment`, and `workers` workers, all killed at the end of the block."""
    with tempfile.TemporaryDirectory() as folder:
        started = Machines(Path(folder), **environment)
        try:
            for _ in range(workers):
                started.add_worker()
            started.wait_for_workers()
            yield started
        finally:
            started.end()
