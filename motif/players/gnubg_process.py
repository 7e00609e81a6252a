"""Processes of gnubg that answer one query at a time and never outlive this process.

gnubg's command ``external 127.0.0.1:PORT`` makes it listen for queries. This is about fifty times as fast as
its command line or its Python interface, which wait 10 ms per query. The port is a free local one; on Linux
it stays reserved until gnubg binds it. If another program takes the port first, gnubg proceeds to its next
command, which is to quit, and is started again with another port. Its settings are in a temporary folder, so
that the user's settings do not affect play; the folder is deleted when gnubg has accepted the connection.

The process is killed when its object is deleted or this program ends, because gnubg would listen again when
the connection closes. If this process is killed, the system kills gnubg (on Linux, by SIGKILL when the other
end of its standard input closes; on other Unixes, by a shell that waits for this). gnubg runs in its own
session, so Ctrl-C does not reach it.

Players may be short-lived, for example in worker processes that receive a copy with each task, and starting
gnubg takes longer than hundreds of decisions. Processes therefore do not belong to players: a caller uses an
idle process or starts one. No two threads use the same process at the same time.
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
_MAX_READ = 4096
_LAST_WORDS = 2000
# Environment variables that would misdirect gnubg's own Python or open windows.
_NOT_FOR_GNUBG = ("PYTHON", "DISPLAY", "WAYLAND_DISPLAY")
_KILLER = 'read -r line; kill -9 "$0"'
"""Shell command that kills the given process when its standard input closes."""


class GnubgEndedError(PlayerError):
    """gnubg exited before answering."""


class _PortTakenError(GnubgEndedError):
    """gnubg could not listen and proceeded to its last command."""


class GnubgProcess:
    """A running gnubg; raises `PlayerError` if it cannot be started.

    `settings` are the commands that gnubg executes first.
    """

    def __init__(self, program: str, settings: tuple[str, ...]) -> None:
        _remove_left_folders()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            # Ports that failed stay reserved; otherwise the system would offer them again.
            with ExitStack() as ports:
                for _ in range(_PORTS_TO_TRY - 1):
                    with suppress(_PortTakenError):
                        self._start(program, settings, folder, ports.enter_context(_free_port()))
                        return
                self._start(program, settings, folder, ports.enter_context(_free_port()))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _start(self, program: str, settings: tuple[str, ...], folder: Path, port: int) -> None:
        """Start gnubg and connect; raises `_PortTakenError` if it quit because it could not listen."""
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - `_end` closes it
        held: list[Any] = [self._output]
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
        """Return gnubg's one-line answer.

        Raises `GnubgEndedError` if gnubg has exited, `PlayerError` if it does not answer; both end the
        process.
        """
        try:
            self._socket.sendall(question.encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                part = self._socket.recv(_MAX_READ)
                if not part:
                    raise ConnectionResetError
                answer += part
        except TimeoutError:
            self.end()
            raise PlayerError(
                f"gnubg did not answer {quoted(question)} within {self._socket.gettimeout():g} s"
            ) from None
        except OSError:
            raise self._ended(f"before answering {quoted(question)}") from None
        except BaseException:
            # For example after Ctrl-C: the answer would otherwise be read as the answer to the next query.
            self.end()
            raise
        return answer.decode("utf-8", "replace").strip()

    @property
    def living(self) -> bool:
        """Whether the process is still running."""
        return self._process.poll() is None

    def end(self) -> None:
        """Kill the process if it is still running."""
        self._end()

    def _connected(self, port: int) -> socket.socket:
        """Wait until gnubg listens, and return a connection."""
        limit = time.monotonic() + _SECONDS_TO_START
        while time.monotonic() < limit:
            caller = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            # If no program listens, the socket may be given the port itself and connect to itself.
            with suppress(OSError):
                caller.connect((_HOST, port))
                if caller.getsockname() != caller.getpeername():
                    caller.settimeout(_SECONDS_TO_ANSWER)
                    return caller
            caller.close()
            if self._process.poll() is not None:
                raise self._ended("at startup", or_port_taken=True)
            time.sleep(_SECONDS_BETWEEN_CALLS)
        raise PlayerError(f"gnubg did not start listening within {_SECONDS_TO_START:g} s")

    def _ended(self, when: str, *, or_port_taken: bool = False) -> GnubgEndedError:
        """Return the error for an exit, with the exit code and the last line of output."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(self._output.tell() - _LAST_WORDS, 0))
        lines = self._output.read().decode("utf-8", "replace").strip().splitlines()
        code = self._process.returncode
        self.end()
        words = f"; its last line was {plain_text(lines[-1].strip())}" if lines else ""
        kind = _PortTakenError if or_port_taken and code == 0 else GnubgEndedError
        return kind(f"gnubg exited with code {code} {when}{words}")


def _remove_left_folders() -> None:
    """Remove the folders of processes that were killed while gnubg was starting."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _SECONDS_TO_START + _SECONDS_TO_ANSWER:
                shutil.rmtree(folder)


@contextmanager
def _free_port() -> Iterator[int]:
    """Provide a free local port.

    On Linux the port stays reserved within the block: two sockets may share a port while neither listens.
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
    """Start gnubg with `commands`; `held` collects the objects that must stay open while it runs."""
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
        raise PlayerError(f"cannot start {program}: {error.strerror}") from None
    finally:
        os.close(reader)
    return process


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_FOR_GNUBG)}
    return {**kept, "HOME": str(folder), "LC_ALL": "C"}


def _kill_without_writer(reader: int, process: int) -> None:
    """Make the system kill `process` when the other end of the pipe `reader` closes."""
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(reader, fcntl.F_SETOWN, process)
        fcntl.fcntl(reader, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)


def _killers(process: int, held: list[Any]) -> list[subprocess.Popen[bytes]]:
    """Return a shell that kills `process` when this process ends, if the system does not do so."""
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
    # A forked process closes only its copies.
    if os.getpid() == owner:
        for process in processes:
            process.kill()
            process.wait()
    for thing in held:
        thing.close()


VARIABLE = "MOTIF_GNUBG"
"""Environment variable with the path of gnubg, if it is not found automatically."""
# Debian installs it in a folder for games that is not always on the PATH.
_GAMES_FOLDERS = os.pathsep.join(["/usr/games", "/usr/local/games", "/usr/local/bin", "/opt/homebrew/bin"])


def gnubg_path() -> str | None:
    """Return gnubg's path from `VARIABLE`, the PATH or a usual folder; None if it is not found.

    Raises `PlayerError` if the variable does not name an executable.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not (Path(named).is_file() and os.access(named, os.X_OK)):
            raise PlayerError(f"{VARIABLE}={named} is not an executable file")
        return str(Path(named).resolve())
    return shutil.which("gnubg") or shutil.which("gnubg", path=_GAMES_FOLDERS)


def installed_gnubg() -> str:
    """Return `gnubg_path`; raise `PlayerError` with instructions if gnubg is not installed."""
    path = gnubg_path()
    if path is None:
        raise PlayerError(
            "gnubg is not installed (Debian, Ubuntu: apt install gnubg; others: www.gnu.org/software/gnubg); "
            f"if it is in another folder, set {VARIABLE}=/path/to/gnubg"
        )
    return path


SECONDS_TO_WAIT = 3.0
"""Lifetime of an idle gnubg process."""


class _Waiting(NamedTuple):
    since: float
    kind: tuple[str, tuple[str, ...]]
    gnubg: GnubgProcess


class IdleProcesses:
    """Idle gnubg processes and the timer that ends them."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def ask(self, program: str, settings: tuple[str, ...], question: str) -> str:
        """Return the answer of `program`, initialised by `settings`, to `question`.

        Restarts gnubg once if it exits. Raises `PlayerError` like `GnubgProcess`.
        """
        with suppress(GnubgEndedError):
            return self._ask_one(program, settings, question)
        return self._ask_one(program, settings, question)

    def end(self, longer_than: float = 0.0) -> None:
        """End processes that have been idle for at least `longer_than` seconds."""
        with self._lock:
            now = time.monotonic()
            due = [waiting for waiting in self._waiting if now - waiting.since >= longer_than]
            self._waiting = [waiting for waiting in self._waiting if waiting not in due]
        for waiting in due:
            waiting.gnubg.end()

    def _ask_one(self, program: str, settings: tuple[str, ...], question: str) -> str:
        gnubg = self._taken(program, settings) or GnubgProcess(program, settings)
        # A process ends itself after an error.
        answer = gnubg.ask(question)
        with self._lock:
            self._waiting.append(_Waiting(time.monotonic(), (program, settings), gnubg))
            self._set_timer()
        return answer

    def _taken(self, program: str, settings: tuple[str, ...]) -> GnubgProcess | None:
        """Return the process that became idle last, so that surplus processes expire."""
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
        """Reset after a fork: idle processes and the timer belong to the parent."""
        self._lock = threading.Lock()
        self._timer = None
        self.end()


idle_processes = IdleProcesses()
"""The idle gnubg processes of this process."""
