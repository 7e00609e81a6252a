"""A gnubg that runs, answers one question at a time, and never outlives this process.

gnubg's command ``external 127.0.0.1:PORT`` makes it listen and answer lines.  That is some fifty times as
quick as its command line or the Python inside it, which wait 10 ms for every question.  The port is a free
one of this machine alone; on Linux it stays reserved until gnubg has it, elsewhere somebody else may be
quicker.  Then gnubg goes on to its next command, which is to quit, and is started again with another port.  A
folder of its own, gone as soon as gnubg has answered the call, holds its settings, so that a user's own do
not change play.

How it ends: with this object or this program, by a signal that cannot be ignored, since gnubg listens again
when its caller has gone.  When this process is killed, the system does that (on Linux: what is at the other
end of gnubg's standard input has gone, of which the system sends word as SIGKILL), or on other Unixes a
shell that waits for that.  It has a session of its own and hears no Ctrl-C: what that means is decided here.

Players come and go, as in a worker process that is handed a copy for every piece of work; to start a
gnubg takes longer than hundreds of its decisions.  So they do not belong to players: a caller takes
one that waits, or starts one.  Each thread that asks at the same time has one to itself.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from motif.board.identifiers import quoted
from motif.runtime.errors import PlayerError, plain_text

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]
_PREFIX = "motif-gnubg-"
_HOST = "127.0.0.1"
_PORTS_TO_TRY = 5
_SECONDS_TO_START = 60.0
_SECONDS_TO_ANSWER = 120.0
_SECONDS_BETWEEN_CALLS = 0.002
_MOST_READ = 4096
_LAST_WORDS = 2000
# Only what leads gnubg astray: another Python's folders for the one inside it, and windows.
_NOT_FOR_GNUBG = ("PYTHON", "DISPLAY", "WAYLAND_DISPLAY")
_KILLER = 'read -r line; kill -9 "$0"'
"""What a shell does that kills the process of its first word once nobody can write to it any more."""


class GnubgEndedError(PlayerError):
    """gnubg has ended before it answered."""


class _PortTakenError(GnubgEndedError):
    """gnubg has gone on to its last command: it could not listen."""


class GnubgProcess:
    """One gnubg that runs; raises `PlayerError` when it cannot be started.

    `settings` are commands of its own that it carries out first.
    """

    def __init__(self, program: str, settings: tuple[str, ...]) -> None:
        _remove_left_folders()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            # Every port that was tried is held until one serves: it would be given out again.
            with ExitStack() as ports:
                for _ in range(_PORTS_TO_TRY - 1):
                    with suppress(_PortTakenError):
                        self._start(program, settings, folder, ports.enter_context(_free_port()))
                        return
                self._start(program, settings, folder, ports.enter_context(_free_port()))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _start(self, program: str, settings: tuple[str, ...], folder: Path, port: int) -> None:
        """Start it and call it; raises `_PortTakenError` when it has quit because it could not listen."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - `_end` closes it
        held: list[Any] = [self._said]
        self._process = _started(program, (*settings, f"external {_HOST}:{port}", "quit"), folder, held)
        processes = [*_killers(self._process.pid, held), self._process]
        self._end = weakref.finalize(self, _end, os.getpid(), processes, held)
        try:
            self._socket = self._connected(port)
        except BaseException:
            self.end()
            raise
        held.append(self._socket)

    def ask(self, question: str) -> str:
        """Return the one line that gnubg answers.

        Raises `GnubgEndedError` when it has ended, `PlayerError` when it says nothing; both end the process.
        """
        try:
            self._socket.sendall(question.encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                part = self._socket.recv(_MOST_READ)
                if not part:
                    raise ConnectionResetError
                answer += part
        except TimeoutError:
            self.end()
            raise PlayerError(
                f"gnubg has not answered within {self._socket.gettimeout():g} s to {quoted(question)}"
            ) from None
        except OSError:
            raise self._ended(f"before it answered {quoted(question)}") from None
        except BaseException:
            # Ctrl-C, say: the answer would be taken for that to the next question.
            self.end()
            raise
        return answer.decode("utf-8", "replace").strip()

    @property
    def living(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def end(self) -> None:
        """Kill it, if it has not ended; harmless when done twice."""
        self._end()

    def _connected(self, port: int) -> socket.socket:
        """Return a connection to gnubg, which takes a moment to start listening."""
        limit = time.monotonic() + _SECONDS_TO_START
        while time.monotonic() < limit:
            caller = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            # A caller that nobody hears may happen to have the port itself, and reach itself.
            with suppress(OSError):
                caller.connect((_HOST, port))
                if caller.getsockname() != caller.getpeername():
                    caller.settimeout(_SECONDS_TO_ANSWER)
                    return caller
            caller.close()
            if self._process.poll() is not None:
                raise self._ended("when it was started", or_port_taken=True)
            time.sleep(_SECONDS_BETWEEN_CALLS)
        raise PlayerError(f"gnubg has not begun to listen within {_SECONDS_TO_START:g} s")

    def _ended(self, when: str, *, or_port_taken: bool = False) -> GnubgEndedError:
        """Return the error to raise: with what code it ended, when, and its last words."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(self._said.tell() - _LAST_WORDS, 0))
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        code = self._process.returncode
        self.end()
        words = f"; its last words were {plain_text(lines[-1].strip())}" if lines else ""
        kind = _PortTakenError if or_port_taken and code == 0 else GnubgEndedError
        return kind(f"gnubg ended (exit code {code}) {when}{words}")


def _remove_left_folders() -> None:
    """Remove what processes that were killed while gnubg started have left."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _SECONDS_TO_START + _SECONDS_TO_ANSWER:
                shutil.rmtree(folder)


@contextmanager
def _free_port() -> Iterator[int]:
    """Provide the number of a port of this machine where nobody listens.

    In the block it is given to nobody else, on Linux, where two sockets may have a port as long as neither
    listens.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((_HOST, 0))
        port: int = holder.getsockname()[1]
        if not sys.platform.startswith("linux"):
            holder.close()
        yield port


def _started(
    program: str, commands: tuple[str, ...], folder: Path, held: list[Any]
) -> subprocess.Popen[bytes]:
    """gnubg, about to carry out `commands`; `held` comes to hold what must stay open while it lives."""
    reader, writer = os.pipe()
    held.append(os.fdopen(writer, "wb"))
    try:
        held[-1].write("\n".join([*commands, ""]).encode())
        held[-1].flush()
        process = subprocess.Popen(
            [program, "--tty", "--quiet", "--no-rc", f"--prefsdir={folder}"],
            stdin=reader,
            stdout=held[0],
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        _kill_without_writer(reader, process.pid)
    except OSError as error:
        for thing in held:
            thing.close()
        raise PlayerError(f"{program} cannot be started: {error.strerror}") from None
    finally:
        os.close(reader)
    return process


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_FOR_GNUBG)}
    return {**kept, "HOME": str(folder), "LC_ALL": "C"}


def _kill_without_writer(reader: int, process: int) -> None:
    """Have the system kill `process` when nobody can write any more to the pipe that `reader` reads."""
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(reader, fcntl.F_SETOWN, process)
        fcntl.fcntl(reader, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)


def _killers(process: int, held: list[Any]) -> list[subprocess.Popen[bytes]]:
    """Where the system does not kill `process` when this one is gone, a shell that does; else nobody."""
    if hasattr(fcntl, "F_SETSIG") or os.name != "posix":
        return []
    reader, writer = os.pipe()
    held.append(os.fdopen(writer, "wb"))
    words = ["/bin/sh", "-c", _KILLER, str(process)]
    try:
        return [subprocess.Popen(words, stdin=reader, start_new_session=True)]
    finally:
        os.close(reader)


def _end(owner: int, processes: list[subprocess.Popen[bytes]], held: list[Any]) -> None:
    # A process forked from the owner only lets go of its copies.
    if os.getpid() == owner:
        for process in processes:
            process.kill()
            process.wait()
    for thing in held:
        thing.close()


VARIABLE = "MOTIF_GNUBG"
"""The environment variable that names the program, where it is not found by itself."""
# Debian puts it into a folder for games that is not on everybody's PATH.
_GAMES_FOLDERS = os.pathsep.join(["/usr/games", "/usr/local/games", "/usr/local/bin", "/opt/homebrew/bin"])


def gnubg_path() -> str | None:
    """Return the program `VARIABLE` names, or else gnubg on the PATH or in a usual folder; None without one.

    Raises `PlayerError` when the variable names no program.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not (Path(named).is_file() and os.access(named, os.X_OK)):
            raise PlayerError(f"{VARIABLE}={named} is no program that can be started")
        return str(Path(named).resolve())
    return shutil.which("gnubg") or shutil.which("gnubg", path=_GAMES_FOLDERS)


def installed_gnubg() -> str:
    """`gnubg_path`, but raises `PlayerError`, saying how to get it, when it is not installed."""
    path = gnubg_path()
    if path is None:
        raise PlayerError(
            "gnubg is not installed (Debian, Ubuntu: apt install gnubg; others: www.gnu.org/software/gnubg); "
            f"where it lies in no usual folder, {VARIABLE}=/path/to/gnubg names it"
        )
    return path


SECONDS_TO_WAIT = 3.0
"""How long a gnubg lives on without questions."""


class _Waiting(NamedTuple):
    since: float
    kind: tuple[str, tuple[str, ...]]
    gnubg: GnubgProcess


class IdleProcesses:
    """Idle processes, and the clock that ends them."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def ask(self, program: str, settings: tuple[str, ...], question: str) -> str:
        """Return what the `program`, which has carried out the commands `settings`, answers to `question`.

        One that ends meanwhile is replaced once.  Raises `PlayerError` as `GnubgProcess` does.
        """
        with suppress(GnubgEndedError):
            return self._ask_one(program, settings, question)
        return self._ask_one(program, settings, question)

    def end(self, longer_than: float = 0.0) -> None:
        """End those that have waited for so many seconds or longer."""
        with self._lock:
            now = time.monotonic()
            due = [waiting for waiting in self._waiting if now - waiting.since >= longer_than]
            self._waiting = [waiting for waiting in self._waiting if waiting not in due]
        for waiting in due:
            waiting.gnubg.end()

    def _ask_one(self, program: str, settings: tuple[str, ...], question: str) -> str:
        gnubg = self._taken(program, settings) or GnubgProcess(program, settings)
        # After an error it has ended itself.
        answer = gnubg.ask(question)
        with self._lock:
            self._waiting.append(_Waiting(time.monotonic(), (program, settings), gnubg))
            self._set_timer()
        return answer

    def _taken(self, program: str, settings: tuple[str, ...]) -> GnubgProcess | None:
        """Return the last one that came to wait, if it lives, so that those which are not needed grow old."""
        with self._lock:
            for waiting in reversed(self._waiting):
                if waiting.kind == (program, settings):
                    self._waiting.remove(waiting)
                    if waiting.gnubg.living:
                        return waiting.gnubg
                    waiting.gnubg.end()
        return None

    def _set_timer(self) -> None:
        if self._timer is None and self._waiting:
            seconds = self._waiting[0].since + SECONDS_TO_WAIT - time.monotonic()
            self._timer = threading.Timer(max(seconds, 0.0), self._time_is_up)
            self._timer.daemon = True
            self._timer.start()

    def _time_is_up(self) -> None:
        self.end(SECONDS_TO_WAIT)
        with self._lock:
            self._timer = None
            self._set_timer()

    def _forget(self) -> None:
        """In a process just forked: what waits belongs to the parent, and the timer's thread stayed there."""
        self._lock = threading.Lock()
        self._timer = None
        self.end()


idle_processes = IdleProcesses()
"""The idle processes of this one."""
