"""Readers in a separate process, so that no input can harm the process that tests.

There, crashes, hangs, warnings and excessive memory count as failures, each attributed to the input that
caused it.
"""

import contextlib
import multiprocessing
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from motif.runtime.errors import MotifError

Check = Callable[[Any, Path], None]
"""Function that reads an input, with a folder for its files; it raises `MotifError` to refuse the input."""

SECONDS_A_CASE = 4.0
"""Maximum processor seconds per input, which other work on the machine does not affect."""
SECONDS_TO_ANSWER = 300.0
"""Seconds after which a reader counts as hanging."""
SECONDS_TO_WARM_UP = 1200.0
"""Maximum seconds of a first call, which may compile kernels."""
MAX_MEMORY = 128 << 20
"""Maximum memory in bytes for reading one input of a few thousand bytes."""
ADDRESS_SPACE = 2 << 30
MAX_MESSAGE = 2000
_MAX_CASE = 20_000
"""Maximum number of characters shown of a faulty input."""


class Outcome(NamedTuple):
    accepted: int
    slowest: float
    """Seconds of the slowest case."""


class ReaderFault(AssertionError):  # noqa: N818
    """A reader did something that no reader may do."""


class ReaderProcess:
    """A process that is started when first needed, and again after a crash or a hang."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Any = None
        self._connection: Any = None
        self._valid: dict[Check, list[Any]] = {}
        self._warm: set[Check] = set()
        """Checks that the current process has already made."""

    def warm_up(self, check: Check, accepted: Sequence[Any]) -> None:
        """Have `check` accept all of `accepted`, with enough time to compile."""
        self._valid[check] = list(accepted)
        if self._process is None:
            self._start()
        self._answer(check, self._valid[check], SECONDS_TO_WARM_UP, warming_up=True)
        self._warm.add(check)

    def run(self, check: Check, cases: Sequence[Any]) -> Outcome:
        """Let the process read `cases`; raises `ReaderFault` for the first failure."""
        if check not in self._warm:
            self.warm_up(check, self._valid[check])
        return self._answer(check, list(cases), SECONDS_TO_ANSWER)

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._process = None
            self._warm.clear()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._folder), daemon=True)
        self._process.start()
        theirs.close()

    def _answer(self, check: Check, cases: list[Any], seconds: float, warming_up: bool = False) -> Outcome:
        self._connection.send((check, cases, warming_up))
        try:
            if not self._connection.poll(seconds):
                self.stop()
                raise ReaderFault(f"no answer within {seconds:g} seconds")
            answer = self._connection.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self.stop()
            raise ReaderFault(f"the reading process died with code {code}") from None
        if isinstance(answer, str):
            raise ReaderFault(answer)
        return answer


def _serve(connection: Connection, folder: Path) -> None:
    warnings.simplefilter("error")
    with contextlib.suppress(EOFError):
        while True:
            check, cases, warming_up = connection.recv()
            _limit_address_space(None if warming_up else ADDRESS_SPACE)
            connection.send(_run(check, cases, folder, warming_up))


def _run(check: Check, cases: list[Any], folder: Path, must_accept: bool) -> Outcome | str:
    seconds = SECONDS_TO_WARM_UP if must_accept else SECONDS_A_CASE
    accepted, slowest = 0, 0.0
    for case in cases:
        memory, started = peak_memory(), time.process_time()
        problem = None
        try:
            check(case, folder)
            accepted += 1
        except MotifError as error:
            problem = f"a valid input is refused: {error}" if must_accept else _message_fault(str(error))
        except BaseException:
            problem = traceback.format_exc()
        taken, grown = time.process_time() - started, peak_memory() - memory
        slowest = max(slowest, taken)
        if taken > seconds:
            problem = f"it took {taken:.1f} seconds"
        if grown > MAX_MEMORY:
            problem = f"it took {grown >> 20} MiB of memory"
        if problem is not None:
            return f"{check.__name__} on {repr(case)[:_MAX_CASE]}\n{problem}"
    return Outcome(accepted, slowest)


def _message_fault(message: str) -> str | None:
    if not message or "\n" in message or "\r" in message:
        return f"a message must be one line: {message!r}"
    if len(message) > MAX_MESSAGE:
        return f"a message of {len(message)} characters: {message[:200]!r}..."
    return None


def peak_memory() -> int:
    """Return the peak memory of the process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not getrusage, whose peak includes that of the parent process.
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _limit_address_space(room: int | None) -> None:
    """Limit further mapped memory to `room` bytes, so that a huge array is an error."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    sizes = Path("/proc/self/statm")
    if room is None or not sizes.exists():
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        return
    mapped = int(sizes.read_text().split()[0]) * resource.getpagesize()
    wanted = mapped + room
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
