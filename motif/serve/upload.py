"""Match files from clients, plain or in a form, read by a separate process.

The process has limits of time and memory, so that no file can block the server or use up its memory.
"""

import logging
import multiprocessing
import os
import signal
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from time import monotonic
from types import FrameType
from typing import Any, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from motif.board.game_record import MatchRecord, Turn
from motif.board.match_file import parse_match
from motif.runtime.errors import MotifError, RecordError, plain_text
from motif.runtime.parallel import begin_worker, starting_workers
from motif.runtime.progress import end_if_cancelled
from motif.serve.lanes import OverdueError

logging.getLogger("python_multipart").addHandler(logging.NullHandler())  # its warnings are in the answer
_FORM = "multipart/form-data"
_PARTS, _PART_HEAD = 16, 4096
"""Maximum number of parts of a form, and maximum bytes of a part's headers."""
_PIECE = 1 << 16
_MEMORY = 120_000_000
"""Bytes that reading may use."""
SHORT_MATCH = b" 1 point match\n\n Game 1\n Ann : 0  Bob : 0\n  1) 31: 8/5 6/5\n"
"""A match file, for warming up and as an example."""
_BETWEEN_LOOKS = 0.1
_WALL_CLOCK = 5
"""Time that reading may take on a busy machine, as a multiple of the processor's."""
_SECONDS_TO_BEGIN = 60


class Upload(NamedTuple):
    """A file from a client."""

    content_type: str
    """The request's header."""
    body: bytes
    name: str = "the record"
    """Name in messages of a file without a name."""
    in_base64: bool = False

    def file(self) -> tuple[str, bytes]:
        """Return name and content of the file: the first one of a form, or the whole body.

        Raises `RecordError` for a form without a file, a damaged one, and too many or too large parts.
        """
        if not self.content_type.lower().startswith(_FORM):
            try:
                return self.name, b64decode(self.body, validate=True) if self.in_base64 else self.body
            except ValueError:
                raise RecordError("content: invalid base64") from None
        form = _Form(self.content_type, self.body)
        if form.name is None:
            raise RecordError("the form has no file")
        return plain_text(form.name), bytes(form.content)


class _Form:
    """A form, which is read up to the end of its first file."""

    def __init__(self, content_type: str, body: bytes) -> None:
        _, options = parse_options_header(content_type.encode("latin-1", "replace"))
        boundary = options.get(b"boundary", b"")
        if not boundary:
            raise RecordError("the form has no boundary")
        self.name: str | None = None
        self.content = bytearray()
        self._is_read = False
        self._parts = self._head = 0
        self._header, self._value = bytearray(), bytearray()
        callbacks: Any = {
            "on_part_begin": self._begin,
            "on_header_field": partial(self._collect, self._header),
            "on_header_value": partial(self._collect, self._value),
            "on_header_end": self._end_header,
            "on_part_data": self._on_data,
            "on_part_end": self._end,
        }
        try:
            parser = MultipartParser(boundary, callbacks)
            for k in range(0, len(body), _PIECE):
                parser.write(body[k : k + _PIECE])
                if self._is_read:
                    return
        except FormParserError as error:
            raise RecordError(f"the form cannot be read: {plain_text(str(error))}") from None
        if self.name is not None:
            raise RecordError("the form ends within its file")

    def _begin(self) -> None:
        self._parts, self._head = self._parts + 1, 0
        if self._parts > _PARTS:
            raise RecordError(f"a form must have at most {_PARTS} parts")

    def _measure(self, size: int) -> None:
        self._head += size
        if self._head > _PART_HEAD:
            raise RecordError(f"the headers of a form's part must have at most {_PART_HEAD} bytes")

    def _collect(self, into: bytearray, data: bytes, start: int, end: int) -> None:
        self._measure(end - start)
        into += data[start:end]

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition" and self.name is None:
            _, options = parse_options_header(bytes(self._value))
            name = options.get(b"filename")
            self.name = None if name is None else name.decode("utf-8", "replace")
        self._measure(1)
        self._header.clear()
        self._value.clear()

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self.name is not None and not self._is_read:
            self.content += data[start:end]

    def _end(self) -> None:
        self._is_read = self.name is not None


def read_upload(upload: Upload, most_rolls: int) -> tuple[str, MatchRecord]:
    """Return name and record of the match in an `upload`; raises `RecordError`, also for too many rolls."""
    name, content = upload.file()
    record = parse_match(content, name)
    rolls = rolls_of(record)
    if rolls > most_rolls:
        raise RecordError(f"{name}: a match must have at most {most_rolls} rolls, not {rolls}")
    return name, record


def rolls_of(record: MatchRecord) -> int:
    """Count the rolls of a match."""
    return sum(isinstance(action, Turn) for game in record.games for action in game.actions)


class _SlowFileError(BaseException):
    """Raised by the clock of `_outcome` in the middle of reading, where only that function catches it."""


class UploadReader:
    """The process that reads uploads, started for the first one."""

    def __init__(self, seconds: int, most_rolls: int) -> None:
        """Allow `seconds` of the processor per file."""
        self._seconds, self._most_rolls = seconds, most_rolls
        self._process: Any = None
        self._pipe: Any = None
        self._lock = Lock()

    def read(self, upload: Upload) -> tuple[str, MatchRecord]:
        """Return the name and record of the match file in `upload`; not thread-safe.

        Raises the errors of `read_upload`, `RecordError` where reading takes too much memory, and
        `OverdueError`.
        """
        try:
            self._begin()
            self._pipe.send((upload, self._most_rolls, self._seconds))
            answer = self._answer(_WALL_CLOCK * self._seconds)
        except (EOFError, OSError):
            self.close()
            raise RecordError("this file takes too much memory to read") from None
        except BaseException:
            self.close()
            raise
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _answer(self, seconds: int) -> Any:
        end = monotonic() + seconds
        while not self._pipe.poll(_BETWEEN_LOOKS):
            end_if_cancelled()
            if monotonic() > end:
                raise _overdue(self._seconds)
        return self._pipe.recv()

    def _begin(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        self.close()
        spawning = multiprocessing.get_context("spawn")
        with self._lock:
            self._pipe, other = spawning.Pipe()
            self._process = spawning.Process(target=_read_all, args=(other, os.getpid()), daemon=True)
            with starting_workers():
                self._process.start()
            other.close()
        self._answer(_SECONDS_TO_BEGIN)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.join()
                self._pipe.close()
                self._process = None


def _read_all(pipe: Any, parent: int) -> None:
    """Answer uploads from the `pipe`, in the process."""
    begin_worker(parent)
    # The process keeps nothing, and ends with the server, however that ends.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
    # Load and compile everything before time and memory are measured.
    read_upload(Upload("", SHORT_MATCH), 1)
    _limit_memory(_MEMORY)
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            upload, most_rolls, seconds = pipe.recv()
            pipe.send(_outcome(upload, most_rolls, seconds))


def _outcome(upload: Upload, most_rolls: int, seconds: float) -> tuple[str, MatchRecord] | Exception:
    try:
        with _clock(seconds):
            return read_upload(upload, most_rolls)
    except _SlowFileError:
        return _overdue(seconds)
    except MotifError as error:
        return type(error)(str(error))
    except (MemoryError, RecursionError) as error:
        return RecordError(f"this file cannot be read: {type(error).__name__}")
    except Exception as error:
        return error


def _overdue(seconds: float) -> OverdueError:
    return OverdueError(f"reading this match file takes longer than {seconds} s, the limit")


@contextmanager
def _clock(seconds: float) -> Iterator[None]:
    """Raise `_SlowFileError` in the block after `seconds` of the processor, if the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _SlowFileError

    signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_memory(more: int) -> None:
    """Limit this process to `more` bytes of memory than it has, if the system can."""
    try:
        import resource

        with open("/proc/self/status", encoding="ascii") as status:
            line = next(line for line in status if line.startswith("VmData:"))
    except (ImportError, OSError, StopIteration):
        return
    limit = int(line.split()[1]) * 1024 + more
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
