"""A stop at a named point, imported by every Python process of a command under test at start.

``tests.faults.processes.Stop`` puts this folder on the path, and sets the stop in ``MOTIF_STOP`` as JSON. The
program itself does not know about it.
"""

import functools
import importlib.util
import json
import os
import signal
import sys
import time
from pathlib import Path

MAX_SECONDS = 3600.0
"""Seconds after which a waiting process ends, in case the tests themselves were killed."""


class Import:
    """A finder that finds one module normally, and changes it once it exists."""

    def __init__(self, module: str, change) -> None:
        self.module, self.change = module, change

    def find_spec(self, name, path=None, target=None):
        """Return the spec of the module with the change after its execution."""
        if name != self.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_change(module):
            execute(module)
            self.change(module)

        spec.loader.exec_module = execute_and_change
        return spec


def when_imported(module: str, change) -> None:
    """Call `change` with a module, now or when it has been imported."""
    if module in sys.modules:
        change(sys.modules[module])
    else:
        sys.meta_path.insert(0, Import(module, change))


class Point:
    """A function, ``package.module:name``, or a word of the command line of processes that stop at start.

    The call with that `number` in a process, and each later one, waits for the file ``go``.
    """

    def __init__(self, folder: str, point: str, number: int) -> None:
        self.folder, self.number, self.calls = Path(folder), number, 0
        self.module, _, self.name = point.partition(":")

    def begin(self) -> None:
        """Stop here, or arrange for the function to stop when it is called."""
        if self.name:
            when_imported(self.module, self._change)
        elif any(self.module in word for word in sys.orig_argv[1:]):
            self.come()

    def come(self) -> None:
        """Report that this process has reached the point, and wait."""
        self.calls += 1
        if self.calls < self.number:
            return
        (self.folder / f"reached-{os.getpid()}").touch()
        limit = time.monotonic() + MAX_SECONDS
        while not (self.folder / "go").exists():
            if time.monotonic() > limit:
                os._exit(1)
            time.sleep(0.01)

    def _change(self, module) -> None:
        *owners, name = self.name.split(".")
        owner = functools.reduce(getattr, owners, module)
        real = getattr(owner, name)

        # It keeps its name, so that workers unpickle the stopping version.
        @functools.wraps(real)
        def stopping(*arguments, **options):
            self.come()
            return real(*arguments, **options)

        setattr(owner, name, stopping)


class Heard:
    """A signal handler that reports its calls."""

    calls = 0

    def __init__(self, folder: Path, real) -> None:
        self.folder, self.real = folder, real

    def __call__(self, number, frame):
        """Handle one signal."""
        try:
            return self.real(number, frame)
        finally:
            Heard.calls += 1
            (self.folder / f"heard-{Heard.calls}").touch()


def announce_handlers(folder: Path) -> None:
    """Make each handler set from now on report its calls."""
    real = signal.signal

    def announced(number, handler):
        return real(number, handler if isinstance(handler, Heard) or not callable(handler)
                    else Heard(folder, handler))  # fmt: skip

    signal.signal = announced


if "MOTIF_STOP" in os.environ:
    _stop = json.loads(os.environ["MOTIF_STOP"])
    if _stop.pop("patient"):
        when_imported("motif.cli.interrupts", lambda module: setattr(module, "SECONDS_TO_STOP", MAX_SECONDS))
    _point = Point(**_stop)
    announce_handlers(_point.folder)
    _point.begin()
