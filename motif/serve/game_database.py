"""The database in which the server keeps games: one SQLite file that any number of servers share.

A row is a game: its document, which only `motif.serve.game_store` reads, and its revision, which every
change raises by one.  A change names the revision that it was made at, in the condition of one ``UPDATE``:
of all changes of a game at one revision, by whatever threads, processes and servers, one succeeds.

A database that is damaged is set aside under another name, and what can be read of it goes into a new one.
Files of games, as earlier versions kept them, are taken in once and moved to the folder ``imported``.

References
----------
https://www.sqlite.org/wal.html, https://www.sqlite.org/howtocorrupt.html
"""

import json
import os
import re
import sqlite3
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from filelock import FileLock, Timeout

from motif.runtime.errors import FileError, MotifError, plain_text
from motif.runtime.files import make_folder, reason

DATABASE = "games.sqlite3"
"""Name of the file in the folder of games."""
IMPORTED = "imported"
"""Name of the folder in it for the files of earlier versions."""
IDLE_DAYS = 30
"""Days without a change, after which a game in progress may make room for a new one."""

_ID = re.compile(r"[A-Za-z0-9_-]{12}")
_VERSION = 1
"""Of the tables; stands in the file as its ``user_version``."""
_LARGEST_FILE = 16_000_000
"""Bytes of a file of an earlier version; a thousand games have about two million."""
_SECONDS_TO_WAIT = 30.0
"""For another process that is writing."""
_NANOSECONDS = 10**9
_NANOSECONDS_A_DAY = 86_400 * _NANOSECONDS
_COLUMNS = "id, revision, document, is_over, changed"
_TABLE = """CREATE TABLE games (
    id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    document TEXT,
    is_over INTEGER,
    changed INTEGER NOT NULL
)"""
"""``is_over`` is NULL where nobody has looked yet; ``changed`` counts nanoseconds since 1970."""
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

_Result = TypeVar("_Result")


class UnknownGame(MotifError):  # noqa: N818
    """A game that is not kept, or not any more."""


class GameWentOn(MotifError):  # noqa: N818
    """A decision at a revision that is not the game's any more."""

    def __init__(self) -> None:
        super().__init__(
            "this game has gone on elsewhere, in another tab or window: this page shows how it was"
        )


class NoRoomError(MotifError):
    """A new game where all that are kept are in progress."""


class StorageError(MotifError):
    """Games that cannot be read or written at the moment: a full disk, say, or a folder that is read-only."""


class GameRow(NamedTuple):
    """One game as the database has it."""

    id: str
    revision: int
    document: str
    """JSON, unless it is damaged."""


class _OpenFile:
    """The connection of a database, while there is one, and the file that it has open."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self.file: tuple[int, int] | None = None
        """Its device and number."""

    def close(self) -> None:
        """Close the connection; what was not committed is undone."""
        connection, self.connection, self.file = self.connection, None, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


class _DamagedError(sqlite3.DatabaseError):
    """A database that can be opened, but is not sound."""


class GameDatabase:
    """The games in a folder; any number of threads and processes may use it.

    Parameters
    ----------
    folder : Path
        Where the database lies, made with the mode 0700 when the first game is kept.
    most : int
        Number of games that are kept.  A new game beyond it takes the place of a game that is over, the one
        changed longest ago; where there is none, of a game in progress that nobody has changed for
        `IDLE_DAYS`.

    Every method raises `StorageError` where the database cannot be read or written.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._path = folder / DATABASE
        self._lock = Lock()
        self._open = _OpenFile()
        weakref.finalize(self, self._open.close)

    def insert(self, game: str, document: str, is_over: bool) -> int:
        """Keep a new game.

        Returns
        -------
        int
            Its revision.

        Raises
        ------
        NoRoomError
            Where so many games are in progress that none may go.
        """

        def work(connection: sqlite3.Connection) -> int:
            self._make_room(connection)
            row = (game, 1, document, is_over, time.time_ns())
            connection.execute(f"INSERT INTO games ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)
            return 1

        return self._write(work)

    def read(self, game: str) -> GameRow:
        """Give the row of a game; raises `UnknownGame`."""
        _check_id(game)
        rows = self._read("SELECT id, revision, document FROM games WHERE id = ?", (game,))
        if not rows:
            raise UnknownGame("this game is not kept any more, or never was")
        return GameRow(*rows[0])

    def update(self, game: str, revision: int, document: str, is_over: bool) -> int:
        """Change a game that is at `revision`.

        Returns
        -------
        int
            Its new revision.

        Raises
        ------
        GameWentOn
            Where it is at another revision.
        UnknownGame
            Where it is not kept any more.
        """

        def work(connection: sqlite3.Connection) -> int:
            changed = connection.execute(
                "UPDATE games SET revision = revision + 1, document = ?, is_over = ?, changed = ? "
                "WHERE id = ? AND revision = ?",
                (document, is_over, time.time_ns(), game, revision),
            )
            if changed.rowcount == 1:
                return revision + 1
            if connection.execute("SELECT 1 FROM games WHERE id = ?", (game,)).fetchone():
                raise GameWentOn
            raise UnknownGame("this game is not kept any more")

        return self._write(work)

    def delete(self, game: str) -> None:
        """Keep a game no longer; raises `UnknownGame`."""
        _check_id(game)

        def work(connection: sqlite3.Connection) -> int:
            return connection.execute("DELETE FROM games WHERE id = ?", (game,)).rowcount

        if not self._is_there() or not self._write(work):
            raise UnknownGame("this game is not kept any more, or never was")

    def ids(self) -> list[str]:
        """List all games, the one changed last first."""
        return [game for game, _ in self.changes()]

    def changes(self) -> list[tuple[str, int]]:
        """List all games, the one changed last first, with the time in seconds since 1970."""
        rows = self._read("SELECT id, changed FROM games ORDER BY changed DESC")
        return [(str(game), changed // _NANOSECONDS) for game, changed in rows]

    def delete_all(self) -> int:
        """Keep no game; return how many there were."""
        if not self._is_there():
            return 0
        return self._write(lambda connection: connection.execute("DELETE FROM games").rowcount)

    def unsettled(self, most: int) -> list[GameRow]:
        """Give up to `most` games that may be over or not, the one changed longest ago first."""
        rows = self._read(
            "SELECT id, revision, document FROM games WHERE is_over IS NULL ORDER BY changed LIMIT ?", (most,)
        )
        return [GameRow(*row) for row in rows]

    def settle(self, games: dict[str, bool]) -> None:
        """Note of some games whether they are over, unless that is known by now."""

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE games SET is_over = ? WHERE id = ? AND is_over IS NULL",
                [(is_over, game) for game, is_over in games.items()],
            )

        self._write(work)

    def _make_room(self, connection: sqlite3.Connection) -> None:
        """Delete as many games as need be for one more."""
        ((kept,),) = connection.execute("SELECT count(*) FROM games")
        idle_since = time.time_ns() - IDLE_DAYS * _NANOSECONDS_A_DAY
        for condition, values in (("is_over", ()), ("changed < ?", (idle_since,))):
            excess = kept + 1 - self._most
            if excess > 0:
                kept -= connection.execute(
                    f"DELETE FROM games WHERE id IN (SELECT id FROM games WHERE {condition} "
                    "ORDER BY changed LIMIT ?)",
                    (*values, excess),
                ).rowcount
        if kept >= self._most:
            raise NoRoomError(f"{kept} games are in progress already: finish or remove one first")

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[tuple]:
        """Return what `query` gives; nothing where no game was ever kept, and then no file is made."""
        if not self._is_there():
            return []
        return self._done(lambda connection: connection.execute(query, values).fetchall(), "BEGIN")

    def _write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return self._done(work, "BEGIN IMMEDIATE")

    def _is_there(self) -> bool:
        try:
            return self._open.connection is not None or self._path.exists() or any(self._old_files())
        except OSError as error:
            raise StorageError(f"games cannot be read: {reason(error)}") from None

    def _done(self, work: Callable[[sqlite3.Connection], _Result], begin: str) -> _Result:
        """Do `work` in a transaction of its own; a database that proves damaged is renewed first."""
        with self._lock, _refusals():
            try:
                return self._in_transaction(work, begin)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._open.close()  # to be examined when it is opened again
                return self._in_transaction(work, begin)

    def _in_transaction(self, work: Callable[[sqlite3.Connection], _Result], begin: str) -> _Result:
        connection = self._begun(begin)
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            raise
        return result

    def _begun(self, begin: str) -> sqlite3.Connection:
        """Return a connection in a transaction, to the file that has the name now.

        Another process may have set the database aside, or somebody removed it: what is written to a file
        without that name would be lost.
        """
        while True:
            connection = self._open.connection or self._connected()
            connection.execute(begin)
            if _file_at(self._path) == self._open.file:
                return connection
            self._open.close()

    def _connected(self) -> sqlite3.Connection:
        """Open the database; one process at a time makes, renews and fills it."""
        try:
            make_folder(self._folder.parent)
        except FileError:
            raise StorageError("games cannot be kept: their folder cannot be made") from None
        with suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        with _alone(self._folder / ".games.lock"):
            try:
                connection = _opened(self._path)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                connection = self._renewed()
            try:
                self._import_files(connection)
            except BaseException:
                connection.close()
                raise
            self._open.connection, self._open.file = connection, _file_at(self._path)
            return connection

    def _renewed(self) -> sqlite3.Connection:
        """Set the damaged database aside and begin a new one with the games that can be read."""
        aside = _free(self._path.with_name("games.damaged.sqlite3"))
        with _held(self._path):
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    self._path.with_name(self._path.name + suffix).rename(
                        aside.with_name(aside.name + suffix)
                    )
        connection = _opened(self._path)
        rows = list(_rows_of(aside))
        _insert_unknown(connection, rows)
        found = _counted(len(rows), "game")
        _say(f"{self._path} was damaged: it is now {aside.name}, and {found} of it could be read")
        return connection

    def _import_files(self, connection: sqlite3.Connection) -> None:
        """Take in the files in which earlier versions kept games, damaged ones as they are.

        A process that dies on the way leaves files for the next one, which finds their games there already.
        """
        rows, read = [], []
        for path in self._old_files():
            with _skipped(path):
                facts = path.stat()
                if facts.st_size > _LARGEST_FILE:
                    raise OSError(f"it is larger than {_LARGEST_FILE:,} bytes")
                document = path.read_bytes().decode("utf-8", "replace")
                rows.append((path.stem, _revision(document), document, None, facts.st_mtime_ns))
                read.append(path)
        if not rows:
            return
        _insert_unknown(connection, rows)
        imported = self._folder / IMPORTED
        imported.mkdir(mode=0o700, exist_ok=True)
        for path in read:
            with _skipped(path):
                path.rename(_free(imported / path.name))
        found = _counted(len(read), "game")
        _say(f"{found} of an earlier version went into {self._path}, the files to {IMPORTED}")

    def _old_files(self) -> list[Path]:
        return sorted(path for path in self._folder.glob("*.json") if _ID.fullmatch(path.stem))


def _opened(path: Path) -> sqlite3.Connection:
    """Return a connection to the database at `path`, which is made where it is not there.

    Raises `sqlite3.DatabaseError` where it is damaged, or no database of games.
    """
    # A file that is there is not opened: to close it would end the locks of this process's other connections.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    connection = sqlite3.connect(
        path, timeout=_SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = _text
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # what was answered stays when the power goes
        ((version,),) = connection.execute("PRAGMA user_version")
        if version > _VERSION:
            raise StorageError("the games here were kept by a newer version of motif")
        ((soundness,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
        if soundness != "ok":
            raise _DamagedError(soundness)
        _check_table(connection, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _insert_unknown(connection: sqlite3.Connection, rows: Sequence[tuple[object, ...]]) -> None:
    """Insert those of some `rows` whose games are not there."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(f"INSERT OR IGNORE INTO games ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute("COMMIT")


def _check_table(connection: sqlite3.Connection, version: int) -> None:
    """Make the table in a database that is empty; raises `_DamagedError` for one with others."""
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema")
    if version == 0 and tables == 0:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute("COMMIT")
        return
    try:
        connection.execute(f"SELECT {_COLUMNS} FROM games LIMIT 0")
    except sqlite3.OperationalError as error:
        raise _DamagedError(str(error)) from None


def _rows_of(damaged: Path) -> Iterator[tuple[object, ...]]:
    """Yield the rows that can be read of a damaged database, from its beginning and from its end."""
    seen = set()
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error):
            connection = sqlite3.connect(damaged, isolation_level=None)
            connection.text_factory = _text
            try:
                for row in connection.execute(f"SELECT {_COLUMNS} FROM games ORDER BY rowid {order}"):
                    if row[0] not in seen:
                        seen.add(row[0])
                        yield row
            finally:
                connection.close()


def _text(octets: bytes) -> str:
    """Return what a damaged row may hold is text in any case."""
    return octets.decode("utf-8", "replace")


@contextmanager
def _held(damaged: Path) -> Iterator[None]:
    """Let nobody write to a damaged database in the block, as far as it still has locks.

    Who waits to write to it finds, when the lock is free, that the file has another name.
    """
    if os.name != "posix":  # Windows renames no file that is open
        yield
        return
    connection = sqlite3.connect(damaged, timeout=_SECONDS_TO_WAIT, isolation_level=None)
    try:
        with suppress(sqlite3.Error):
            connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, which no other process or thread holds at a time."""
    lock = FileLock(path, timeout=_SECONDS_TO_WAIT, mode=0o600, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise StorageError("games cannot be opened: another server is at it; try again later") from None
    except NotImplementedError:
        raise StorageError("games cannot be kept: the file system of their folder has no locks") from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _refusals() -> Iterator[None]:
    """Make of what SQLite and the system refuse a `StorageError`, which names no path."""
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(f"games cannot be read or written: {plain_text(str(error))}") from None
    except OSError as error:
        raise StorageError(f"games cannot be read or written: {reason(error)}") from None


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what SQLite says more exactly
    return isinstance(error, _DamagedError) or code in _DAMAGE


def _check_id(game: str) -> None:
    if not _ID.fullmatch(game):
        raise UnknownGame("there is no such game")


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _free(path: Path) -> Path:
    """`path`, or where that is taken one with a number in its name."""
    others = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(one for one in chain((path,), others) if not one.exists())


@contextmanager
def _skipped(path: Path) -> Iterator[None]:
    """Say in a line that the file `path` is left where it is, if the system refuses it in the block."""
    try:
        yield
    except OSError as error:
        _say(f"{path}: this game of an earlier version is left there: {reason(error)}")


def _revision(document: str) -> int:
    """Return the revision that earlier versions gave a game: the number of its events."""
    try:
        return len(json.loads(document)["events"])
    except Exception:  # whatever is wrong with a damaged file, it is found out by who reads the game
        return 0


def _say(what: str) -> None:
    print(f"motif: {plain_text(what)}", file=sys.stderr, flush=True)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
