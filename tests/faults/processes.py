"""Real runs of the program in separate processes, to be interrupted and killed."""

import importlib
import json
import operator
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from motif.runtime.progress import ON_COMPILING

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 600.0
"""Seconds that only a hanging process exceeds, even on a busy machine and when kernels are compiled."""


class Stop:
    """A named point at which the processes of a command wait for `go`; `folder` is for messages.

    `point` is a function of the program or of Python, ``package.module:name``, which stops when it is called
    for the `number`-th time in a process, before it does anything; or a word, and processes with this word on
    their command line stop when they start. See ``points/sitecustomize.py``.  A `patient` command waits for
    its work after a first signal, however slow the machine is.
    """

    def __init__(self, folder: Path, point: str, number: int = 1, *, patient: bool = False) -> None:
        module, _, name = point.partition(":")
        if name:
            assert callable(operator.attrgetter(name)(importlib.import_module(module)))
        folder.mkdir()
        self._folder = folder
        path = [str(Path(__file__).parent / "points"), *filter(None, [os.environ.get("PYTHONPATH")])]
        stop = {"folder": str(folder.resolve()), "point": point, "number": number, "patient": patient}
        self.environment = {"PYTHONPATH": os.pathsep.join(path), "MOTIF_STOP": json.dumps(stop)}

    @property
    def reached(self) -> int:
        """The number of processes that have reached the point."""
        return len(self.numbers)

    @property
    def numbers(self) -> list[int]:
        """The ids of the processes that have reached the point."""
        return [int(path.name.partition("-")[2]) for path in self._folder.glob("reached-*")]

    @property
    def heard(self) -> int:
        """The number of signals that handlers of the program have received."""
        return len(list(self._folder.glob("heard-*")))

    def go(self) -> None:
        """Let the waiting processes continue; processes that reach the point later only report it."""
        (self._folder / "go").touch()


@contextmanager
def running(*words: object, stop: Stop | None = None, stdin: int | None = None) -> Iterator[subprocess.Popen]:
    """Run a command in a separate session, as in a terminal; kill the remaining processes at the end."""
    command = [sys.executable, str(ROOT / "cli.py"), *map(str, words)]
    process = subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **(stop.environment if stop else {})},
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None or living(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def ending(process: subprocess.Popen) -> tuple[int, str, str]:
    """Wait for a process to end; return its exit code, stdout and stderr."""
    out, err = process.communicate(timeout=PATIENCE)
    err = err.replace(f"{ON_COMPILING}\n", "")  # the tests do not depend on the kernel cache
    return process.returncode, out, err


def done(*words: object) -> tuple[int, str, str]:
    """Run a command to its end; return its exit code, stdout and stderr."""
    with running(*words) as process:
        return ending(process)


def living(group: int) -> list[int]:
    """Return the processes of a group that have not ended."""
    return list(_processor_seconds(group))


def work_on(process: subprocess.Popen, seconds: float = 1.0) -> None:
    """Wait until the command and its workers have used this many more seconds of processor time."""
    before = _processor_seconds(process.pid)

    def used() -> float:
        now = _processor_seconds(process.pid)
        return sum(spent - before.get(member, 0.0) for member, spent in now.items())

    wait_until(lambda: used() >= seconds, process)


def _processor_seconds(group: int) -> dict[int, float]:
    """Return the processor seconds of each living process of a group, by process number."""
    seconds = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            ticks = int(fields[11]) + int(fields[12])
            seconds[int(path.parent.name)] = ticks / os.sysconf("SC_CLK_TCK")
    return seconds


def wait_until(happened: Callable[[], object], process: subprocess.Popen | None = None) -> None:
    """Wait until a condition is true, while `process` runs."""
    limit = time.monotonic() + PATIENCE
    while not happened():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.01)
