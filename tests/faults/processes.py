"""Real runs of the program in processes of their own, to be interrupted and killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 120.0


@contextmanager
def running(*words: object) -> Iterator[subprocess.Popen]:
    """The command in a session of its own, as a terminal starts it; whatever is left of it is killed."""
    command = [sys.executable, str(ROOT / "cli.py"), *map(str, words)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None or living(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def ending(process: subprocess.Popen) -> tuple[int, str, str]:
    """Exit code, stdout and stderr at the end of a process."""
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def done(*words: object) -> tuple[int, str, str]:
    """The same for a command that runs to its end."""
    with running(*words) as process:
        return ending(process)


def living(group: int) -> list[int]:
    """Processes of a group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of) == group and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def wait_until(happened: Callable[[], object], process: subprocess.Popen | None = None) -> None:
    """Wait for something, while `process` runs."""
    limit = time.monotonic() + PATIENCE
    while not happened():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.01)


def resource_tracker_silenced(text: str) -> str:
    """Standard error without what Python's resource tracker says when it cleans up after a kill."""
    return re.sub(r".*resource_tracker.*\n(?:  warnings\.warn\(\n)?", "", text)
