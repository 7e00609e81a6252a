"""The database of games: one SQLite file that any number of servers share.

A row is a game: its document, which `motif.serve.game_store` reads, and its revision.  A change is one
``UPDATE`` on condition of the revision, which it increases: of simultaneous changes, one succeeds.

The readable part of a damaged database goes into a new one.

References
----------
https://www.sqlite.org/wal.html, https://www.sqlite.org/howtocorrupt.html
"""

import re
import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from motif.runtime.errors import MotifError
from motif.serve.database import Database, NoRoomError, NotStoredError, in_transaction

GAMES_FILE = "games.sqlite3"
"""Name of the file in the folder of games."""
IDLE_DAYS = 30
"""Days after which an unchanged game in progress may be replaced by a new one."""

_ID = re.compile(r"[A-Za-z0-9_-]{12}")
_NANOSECONDS = 10**9
_NANOSECONDS_A_DAY = 86_400 * _NANOSECONDS
_COLUMNS = "id, revision, document, is_over, changed, summary"
_TABLE = """CREATE TABLE games (
    id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    document TEXT,
    is_over INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    summary TEXT NOT NULL
)"""
"""``changed`` is in nanoseconds since 1970; ``summary`` is JSON."""


class GameWentOn(MotifError):  # noqa: N818
    """A decision at an earlier revision of a game."""

    def __init__(self) -> None:
        super().__init__("this game has continued in another tab or window")


class GameRow(NamedTuple):
    """A game in the database."""

    revision: int
    document: str
    """JSON, unless it is damaged."""


class ListedRow(NamedTuple):
    """A game in a list."""

    id: str
    changed: int
    """When it was changed, in seconds since 1970."""
    summary: str
    """JSON, unless it is damaged."""


class GameDatabase(Database):
    """The games in a folder; any number of threads and processes may use it.

    The folder is made with the mode 0700 when the first game is stored.  A new game beyond `most` replaces
    the game that is over and was changed longest ago, or else a game in progress that has not changed for
    `IDLE_DAYS`.  Every method raises `StorageError` where the database cannot be read or written.
    """

    KEPT = "games"
    FILE = GAMES_FILE
    TABLES = _TABLE
    COLUMNS = {"games": _COLUMNS}  # noqa: RUF012
    ROW = {"games": "game"}  # noqa: RUF012

    def __init__(self, folder: Path, most: int) -> None:
        super().__init__(folder)
        self._most = most

    @in_transaction
    def insert(
        self, connection: sqlite3.Connection, game: str, document: str, is_over: bool, summary: str
    ) -> int:
        """Store a new game and return its revision; raises `NoRoomError` if too many are in progress."""
        self._make_room(connection)
        row = (game, 1, document, is_over, time.time_ns(), summary)
        connection.execute(f"INSERT INTO games ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", row)
        return 1

    def read(self, game: str) -> GameRow:
        """Return the row of a game; raises `NotStoredError`."""
        _check_id(game)
        rows = self.rows("SELECT revision, document FROM games WHERE id = ?", (game,))
        if not rows:
            raise NotStoredError("unknown game: it was deleted, or never stored")
        return GameRow(*rows[0])

    @in_transaction
    def update(
        self,
        connection: sqlite3.Connection,
        game: str,
        revision: int,
        document: str,
        is_over: bool,
        summary: str,
    ) -> int:
        """Change a game at `revision`, and return its new revision.

        Raises `GameWentOn` if the game is at another revision, and `NotStoredError` if it was deleted.
        """
        changed = connection.execute(
            "UPDATE games SET revision = revision + 1, document = ?, is_over = ?, changed = ?, summary = ? "
            "WHERE id = ? AND revision = ?",
            (document, is_over, time.time_ns(), summary, game, revision),
        )
        if changed.rowcount == 1:
            return revision + 1
        if connection.execute("SELECT 1 FROM games WHERE id = ?", (game,)).fetchone():
            raise GameWentOn
        raise NotStoredError("unknown game: it was deleted")

    def delete(self, game: str) -> None:
        """Delete a game; raises `NotStoredError`."""
        _check_id(game)
        if not self._deleted("id = ?", game):
            raise NotStoredError("unknown game: it was deleted, or never stored")

    def delete_all(self) -> int:
        """Delete every game, and return their number."""
        return self._deleted("TRUE")

    def _deleted(self, condition: str, *values: object) -> int:
        """Delete games, and return their number."""
        if not self.is_there():
            return 0
        query = f"DELETE FROM games WHERE {condition}"
        return self.done(lambda connection: connection.execute(query, values).rowcount)

    def listed(self) -> list[ListedRow]:
        """List all games, the most recently changed first."""
        rows = self.rows(f"SELECT id, changed / {_NANOSECONDS}, summary FROM games ORDER BY changed DESC")
        return [ListedRow(str(game), changed, summary) for game, changed, summary in rows]

    def _make_room(self, connection: sqlite3.Connection) -> None:
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
            raise NoRoomError(f"{kept} games are already in progress: finish or delete one first")


def _check_id(game: str) -> None:
    if not _ID.fullmatch(game):
        raise NotStoredError("unknown game: no such ID")
