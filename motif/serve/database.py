"""SQLite files that any number of servers share, readable by this user alone.

One process at a time renames a damaged file and starts a new one, which all others then use.

References
----------
https://www.sqlite.org/wal.html, https://www.sqlite.org/howtocorrupt.html
"""

import os
import sqlite3
import stat
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from itertools import chain, count
from pathlib import Path
from threading import Lock
from typing import ClassVar, Concatenate, ParamSpec, TypeVar

from filelock import FileLock, Timeout

from motif.runtime.errors import FileError, MotifError, plain_text
from motif.runtime.files import make_folder, reason
from motif.runtime.layout import complain, counted, listed

MAX_WAIT = 5.0
"""Time to wait for other threads, and for another process that is writing."""
_SECONDS_TO_OPEN = 30.0
"""Time to wait for another server that opens, and perhaps replaces, a database."""
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")
_Store = TypeVar("_Store", bound="Database")


class StorageError(MotifError):
    """A store that cannot be read or written, for example because the disk is full."""


class NotStoredError(MotifError):
    """A game or an analysis that is not stored."""


class NoRoomError(MotifError):
    """No room for a new game, as all stored games are in progress, or for a new card."""


class _OpenFile:
    """The connection of a database and its open file."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self.file: tuple[int, int] | None = None
        """Its device and number."""

    def close(self) -> None:
        """Close the connection and roll back what was not committed."""
        connection, self.connection, self.file = self.connection, None, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


class _DamagedError(sqlite3.DatabaseError):
    """A damaged database that can still be opened."""


class Database:
    """A SQLite file in a folder; any number of threads and processes may use it.

    A subclass sets `KEPT`, the plural of what is stored, the `FILE` name, the `VERSION` of the `TABLES`, in
    SQL, and by the name of a table its `COLUMNS`, the key first, and what one `ROW` is.  Every method raises
    `StorageError` where the database cannot be read or written, or is locked for longer than `MAX_WAIT`.
    """

    KEPT: ClassVar[str]
    FILE: ClassVar[str]
    TABLES: ClassVar[str]
    COLUMNS: ClassVar[Mapping[str, str]]
    ROW: ClassVar[Mapping[str, str]]
    VERSION: ClassVar[int] = 1
    """Version of the tables: the file's ``user_version``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / self.FILE
        self._lock = Lock()
        self._open = _OpenFile()
        weakref.finalize(self, self._open.close)

    def _prepare(self, connection: sqlite3.Connection, version: int) -> None:
        """Make the tables of a new file, whose `version` is 0; raises `_DamagedError` for missing columns."""
        ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema")
        if version == 0 and tables == 0:
            connection.execute("BEGIN IMMEDIATE")
            for statement in self.TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self.VERSION}")
            connection.execute("COMMIT")
            return
        try:
            for table, columns in self.COLUMNS.items():
                connection.execute(f"SELECT {columns} FROM {table} LIMIT 0")
        except sqlite3.OperationalError as error:
            raise _DamagedError(str(error)) from None

    def is_there(self) -> bool:
        """Return whether anything was ever stored; if not, reading makes no file."""
        try:
            return self._open.connection is not None or self._path.exists()
        except OSError as error:
            raise StorageError(f"{self.KEPT} cannot be read: {reason(error)}") from None

    def rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Return the rows of `query`; none, and no file is made, if nothing was ever stored."""
        if not self.is_there():
            return []
        return self.done(lambda connection: connection.execute(query, values).fetchall(), "BEGIN")

    def done(self, work: Callable[[sqlite3.Connection], _Result], begin: str = "BEGIN IMMEDIATE") -> _Result:
        """Do `work` in a transaction; a damaged database is replaced first."""
        end = time.monotonic() + MAX_WAIT

        def attempt() -> _Result:
            with self._begun(begin, end) as connection:  # which is committed, or rolled back after an error
                return work(connection)

        with self._taken(), self._refusals():
            try:
                return attempt()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._open.close()  # to be examined when it is opened again
                return attempt()

    @contextmanager
    def _taken(self) -> Iterator[None]:
        """Hold the lock of this process's threads."""
        if not self._lock.acquire(timeout=MAX_WAIT):
            raise StorageError(f"the stored {self.KEPT} are in use; try again later")
        try:
            yield
        finally:
            self._lock.release()

    def _begun(self, begin: str, end: float) -> sqlite3.Connection:
        """Return a connection in a transaction to the present file, by the time `end`.

        The file may have been renamed or removed: whatever is written to the old one would be lost.
        """
        while True:
            connection = self._open.connection or self._connected()
            left = max(0, round(1000 * (end - time.monotonic())))
            connection.execute(f"PRAGMA busy_timeout = {left}")
            connection.execute(begin)
            if _file_at(self._path) == self._open.file:
                return connection
            self._open.close()

    def _connected(self) -> sqlite3.Connection:
        """Open the database; one process at a time creates and replaces it."""
        try:
            make_folder(self.folder.parent)
        except FileError:
            raise StorageError(f"{self.KEPT} cannot be stored: their folder cannot be created") from None
        with suppress(FileExistsError):
            self.folder.mkdir(mode=0o700)
        with self._alone(self.folder / f".{self.KEPT}.lock"):
            try:
                connection = self._opened()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                connection = self._renewed()
            self._open.connection, self._open.file = connection, _file_at(self._path)
            return connection

    def _renewed(self) -> sqlite3.Connection:
        """Rename the damaged database and start a new one with its readable part."""
        aside = free_path(self._path.with_name(f"{self._path.stem}.damaged{self._path.suffix}"))
        with _held(self._path):
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    self._path.with_name(self._path.name + suffix).rename(
                        aside.with_name(aside.name + suffix)
                    )
        connection = self._opened()
        found = []
        for table, columns in self.COLUMNS.items():
            rows = list(_rows_of(aside, table, columns))
            _insert_unknown(connection, table, columns, rows)
            found.append(counted(len(rows), self.ROW[table], table))
        what = f"{self._path} was damaged: it is now {aside.name}, and {listed(found)} of it could be read"
        complain(f"motif: {plain_text(what)}")
        return connection

    def _opened(self) -> sqlite3.Connection:
        """Return a connection to the database, which is created if missing.

        Raises `sqlite3.DatabaseError` for a damaged file or a different kind of database.
        """
        path = self._path
        # An existing file is not opened: closing it would release locks of this process's other connections.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode):  # another's file, to which a link leads, is left alone
            raise StorageError(f"{self.KEPT} cannot be stored: {path.name} is not a regular file")
        if facts.st_mode & 0o077:
            path.chmod(0o600)
        connection = sqlite3.connect(path, timeout=MAX_WAIT, isolation_level=None, check_same_thread=False)
        try:
            connection.row_factory, connection.text_factory = sqlite3.Row, lenient_text
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")  # what was answered survives a power failure
            ((version,),) = connection.execute("PRAGMA user_version")
            if version > self.VERSION:
                raise StorageError(f"the stored {self.KEPT} are from a newer version of motif")
            ((soundness,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
            if soundness != "ok":
                raise _DamagedError(soundness)
            self._prepare(connection, version)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        """Hold the lock at `path`."""
        lock = FileLock(
            path, timeout=_SECONDS_TO_OPEN, mode=0o600, thread_local=False, fallback_to_soft=False
        )
        try:
            lock.acquire()
        except Timeout:
            raise StorageError(
                f"{self.KEPT} cannot be opened: another server is using them; try again later"
            ) from None
        except NotImplementedError:
            raise StorageError(
                f"{self.KEPT} cannot be stored: the file system of their folder has no locks"
            ) from None
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Turn errors of SQLite and of the system into a `StorageError`, which names no path."""
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(f"{self.KEPT} cannot be read or written: {plain_text(str(error))}") from None
        except OSError as error:
            raise StorageError(f"{self.KEPT} cannot be read or written: {reason(error)}") from None


def in_transaction(
    method: Callable[Concatenate[_Store, sqlite3.Connection, _Arguments], _Result],
) -> Callable[Concatenate[_Store, _Arguments], _Result]:
    """Give a method of a `Database` its connection, for one transaction that changes something."""

    @wraps(method)
    def done(self: _Store, *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return self.done(lambda connection: method(self, connection, *arguments, **named))

    return done


def _rows_of(damaged: Path, table: str, columns: str) -> Iterator[tuple[object, ...]]:
    """Yield the readable rows of a damaged database, from its start and from its end.

    The first of the `columns` is the key.
    """
    seen = set()
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error):
            connection = sqlite3.connect(damaged, isolation_level=None)
            connection.text_factory = lenient_text
            try:
                for row in connection.execute(f"SELECT {columns} FROM {table} ORDER BY rowid {order}"):
                    if row[0] not in seen:
                        seen.add(row[0])
                        yield row
            finally:
                connection.close()


def _insert_unknown(
    connection: sqlite3.Connection, table: str, columns: str, rows: Sequence[tuple[object, ...]]
) -> None:
    """Insert those of `rows` whose keys are new."""
    marks = ", ".join("?" * len(columns.split(",")))
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", rows)
    connection.execute("COMMIT")


def lenient_text(octets: bytes) -> str:
    """Decode text of a row that may be damaged."""
    return octets.decode("utf-8", "replace")


@contextmanager
def _held(damaged: Path) -> Iterator[None]:
    """Lock a damaged database against writers, if it can still be locked.

    A process that waits to write then finds the file renamed.
    """
    if os.name != "posix":  # Windows renames no file that is open
        yield
        return
    connection = sqlite3.connect(damaged, timeout=MAX_WAIT, isolation_level=None)
    try:
        with suppress(sqlite3.Error):
            connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Return whether an error means that the file is damaged or not a database."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the details of an extended code
    return isinstance(error, _DamagedError) or code in _DAMAGE


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def free_path(path: Path) -> Path:
    """Return `path`, or a numbered name if it exists."""
    others = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(one for one in chain((path,), others) if not one.exists())
