"""Stored analyses, and the cards of the quiz.

A list of analyses reads none of their decisions: the column ``errors`` has what it shows of them.  A damaged
row is not listed, and affects no other.

An analysis is stored from its start, and until it is finished with its file, so that an interrupted one can
be repeated.  A card is a question: an error of an analysis, or a position of a trainer.  Each right answer
lengthens the interval until it is asked again.

References
----------
https://en.wikipedia.org/wiki/Leitner_system
"""

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypedDict

from pydantic_core import to_json

from motif.analysis.confirmation import CONFIRMED_Z
from motif.board.marks import MIN_RATED, pr_rating
from motif.runtime.errors import RecordError
from motif.runtime.frames import Record
from motif.runtime.progress import end_if_cancelled
from motif.serve.database import Database, NoRoomError, NotStoredError, in_transaction

ANALYSES_FILE = "analyses.sqlite3"
"""Name of the file in the folder of games."""
MAX_ANALYSES = 1000
MAX_CARDS = 20_000
MAX_CONTENT = 64_000_000
"""Bytes of the files of all unfinished analyses."""
DAYS = (0, 1, 3, 7, 14, 30, 90)
"""Days until a card is due again, by its box."""
MIN_ERROR = 20.0
"""Smallest error, in millipoints, that becomes a card."""
_AGAIN_SECONDS = 600
"""Time until a question returns after a wrong answer."""
_DAY = 86_400
_ID_BYTES = 9
_TABLES = """
CREATE TABLE analyses (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, made INTEGER NOT NULL, game TEXT, number INTEGER, seat INTEGER,
    heading TEXT NOT NULL, content TEXT, decisions TEXT, players TEXT, themes TEXT,
    errors TEXT
);
CREATE TABLE cards (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, analysis TEXT, question TEXT NOT NULL,
    box INTEGER NOT NULL, due INTEGER NOT NULL, asked INTEGER NOT NULL, known INTEGER NOT NULL
);
CREATE INDEX cards_due ON cards (kind, due);
"""
_ANALYSIS = "id, name, made, game, number, seat, heading, content, decisions, players, themes, errors"
_SHOWN = 'id AS analysis, name, made, game, number, seat, heading AS "match", players, themes'
_UNKNOWN = "unknown analysis: it was deleted, or never stored"
_CARD = "key, kind, analysis, question, box, due, asked, known"
_OTHERS = "other"
"""Kind of the cards of a seat that the reader has left, which are not asked."""
_Learned = dict[tuple[object, object], tuple[int, ...]]
"""Box, due time and counts of cards, by `_error_key`."""


class Source(NamedTuple):
    """The source of an analysis."""

    name: str
    content: str = ""
    """The file in base64; empty for games of the page."""
    game: str | None = None
    number: int | None = None
    """The only game of the session to judge; None for all."""
    seat: int | None = None
    """The reader's seat, 0 or 1, if known."""
    is_fast: bool = False


class CardDue(TypedDict):
    """When a card is due again."""

    key: str
    box: int
    due: int
    """Seconds since 1970."""
    days: int
    """Days until then; 0 for some minutes."""


class CardCounts(TypedDict):
    """Counts of the cards of a kind, and of their answers."""

    cards: int
    due: int
    asked: int
    known: int
    """Right answers."""
    learned: int
    """Cards in the last boxes."""


class AnalysisStore(Database):
    """The analyses and cards in a folder; any number of threads and processes may use it.

    Every method raises `StorageError` where the database cannot be read or written.
    """

    KEPT = "analyses"
    FILE = ANALYSES_FILE
    TABLES = _TABLES
    COLUMNS = {"analyses": _ANALYSIS, "cards": _CARD}  # noqa: RUF012
    ROW = {"analyses": "analysis", "cards": "card"}  # noqa: RUF012

    def __init__(
        self,
        folder: Path,
        most: int = MAX_ANALYSES,
        most_cards: int = MAX_CARDS,
        most_content: int = MAX_CONTENT,
    ) -> None:
        super().__init__(folder)
        self._most = most
        self._most_cards = most_cards
        self._most_content = most_content

    # --- Analyses

    @in_transaction
    def begin(
        self, connection: sqlite3.Connection, source: Source, heading: Record, known: str | None = None
    ) -> str:
        """Store a new analysis of `source`, with the review's `heading`, and return its ID.

        `known` is the ID of an analysis that is repeated.  A finished one of the same games stays until this
        one is finished, which may never happen.
        """
        if known is None and source.game is not None:
            found = connection.execute(
                "SELECT id FROM analyses WHERE game = ? AND number IS ? AND players IS NULL",
                (source.game, source.number),
            ).fetchone()
            known = found and found["id"]
        kept = connection.execute("SELECT id, made, seat FROM analyses WHERE id = ?", (known,)).fetchone()
        name, made, seat = kept or (secrets.token_urlsafe(_ID_BYTES), int(time.time()), None)
        content = json.dumps({"content": source.content, "fast": source.is_fast})
        where = source.game, source.number, seat if source.seat is None else source.seat
        connection.execute(
            "INSERT OR REPLACE INTO analyses (id, name, made, game, number, seat, heading, content) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (name, source.name, made, *where, json.dumps(heading), content),
        )
        connection.execute(
            "DELETE FROM analyses WHERE id IN "
            "(SELECT id FROM analyses ORDER BY made DESC, rowid DESC LIMIT -1 OFFSET ?)",
            (self._most,),
        )
        connection.execute(
            "DELETE FROM analyses WHERE id <> ? AND id IN (SELECT id FROM (SELECT id, sum(length(content)) "
            "OVER (ORDER BY made DESC, rowid DESC) AS size FROM analyses WHERE players IS NULL) "
            "WHERE size > ?)",
            (name, self._most_content),
        )
        connection.execute("DELETE FROM cards WHERE analysis NOT IN (SELECT id FROM analyses)")
        return name

    @in_transaction
    def finish(
        self,
        connection: sqlite3.Connection,
        analysis: str,
        decisions: Sequence[Record],
        players: Sequence[Record],
    ) -> None:
        """Store a finished analysis, which no longer needs its file.

        It replaces earlier analyses of the same game; one of a whole session replaces those of its games.
        What the reader has learned of their errors stays.
        """
        connection.execute(
            "UPDATE analyses SET decisions = ?, players = ?, errors = ?, content = NULL WHERE id = ?",
            (json.dumps(decisions), json.dumps(players), _errors_of(decisions), analysis),
        )
        query = "SELECT game, number, seat FROM analyses WHERE id = ?"
        if (row := connection.execute(query, (analysis,)).fetchone()) is None:
            return
        game, number, seat = row
        query = "SELECT id FROM analyses WHERE id = ? OR (game = ? AND (number IS ? OR ? IS NULL))"
        replaced = [one["id"] for one in connection.execute(query, (analysis, game, number, number))]
        learned: _Learned = {}
        for one in replaced:
            for card in connection.execute(f"SELECT {_CARD} FROM cards WHERE analysis = ?", (one,)):
                with suppress(RecordError), _damage_refused():
                    learned[_error_key(json.loads(card["question"]))] = tuple(card)[-4:]
            connection.execute("DELETE FROM cards WHERE analysis = ?", (one,))
            connection.execute("DELETE FROM analyses WHERE id = ? AND id <> ?", (one, analysis))
        if seat is not None:
            _make_cards(connection, analysis, decisions, seat, learned)

    @in_transaction
    def note_themes(self, connection: sqlite3.Connection, analysis: str, themes: dict[int, str]) -> None:
        """Store the themes of errors, by the numbers of their decisions."""
        connection.execute("UPDATE analyses SET themes = ? WHERE id = ?", (json.dumps(themes), analysis))

    def read(self, analysis: str) -> Record:
        """Return an analysis, or if it is unfinished its ``content``.

        Raises `NotStoredError`, and `RecordError` for a damaged one.
        """
        rows = self.rows(f"SELECT {_SHOWN}, decisions, content FROM analyses WHERE id = ?", (analysis,))
        if not rows:
            raise NotStoredError(_UNKNOWN)
        with _damage_refused():
            record = _loaded(rows[0], "match", "content", "decisions", "players", "themes")
            record["themes"] = record["themes"] or {}
            _check(record)
            content, decisions, players = (record.pop(name) for name in ("content", "decisions", "players"))
            if players is None:
                return record | dict(content)
            return record | {"decisions": list(decisions), "players": with_ratings(players)}

    def finished(self, game: str, number: int | None) -> Iterator[Record]:
        """Yield the finished analyses of a session of the page, or of its game `number`, that can be read.

        Those of the whole session come last.
        """
        rows = self.rows(
            "SELECT id FROM analyses WHERE game = ? AND (number IS ? OR number IS NULL) "
            "AND players IS NOT NULL ORDER BY number IS NULL, made DESC",
            (game, number),
        )
        for row in rows:
            with suppress(RecordError, NotStoredError):
                yield self.read(row["id"])

    def ids(self) -> list[str]:
        """Return the IDs of all analyses, the latest first."""
        return [row["id"] for row in self.rows("SELECT id FROM analyses ORDER BY made DESC")]

    def summaries(self) -> list[Record]:
        """List all analyses without their decisions, the latest first, except damaged ones."""
        summaries = []
        for row in self.rows(f"SELECT {_SHOWN}, errors FROM analyses ORDER BY made DESC"):
            end_if_cancelled()
            with suppress(RecordError), _damage_refused():
                summary = _summary(row)
                _own_totals(summary)  # which must be there
                summaries.append(summary)
        return summaries

    def history(self) -> Record:
        """Return all summaries, and as ``overall`` the reader's rating, luck and error themes, if any."""
        summaries = self.summaries()
        return {"analyses": summaries, "overall": _overall(summaries)}

    def take_seat(self, analysis: str, seat: int) -> None:
        """Store which player the reader is, whose errors become cards; raises the errors of `read`.

        What was learned of the other player's errors stays, in case that player is chosen again.
        """
        decisions = self.read(analysis).get("decisions", ())

        def work(connection: sqlite3.Connection) -> None:
            query = "UPDATE analyses SET seat = ? WHERE id = ?"
            if not connection.execute(query, (seat, analysis)).rowcount:
                raise NotStoredError(_UNKNOWN)
            connection.execute("DELETE FROM cards WHERE analysis = ? AND asked = 0", (analysis,))
            connection.execute("UPDATE cards SET kind = ? WHERE analysis = ?", (_OTHERS, analysis))
            with _damage_refused():
                _make_cards(connection, analysis, decisions, seat, {})

        self.done(work)

    @in_transaction
    def delete(self, connection: sqlite3.Connection, analysis: str) -> None:
        """Delete an analysis and its cards; raises `NotStoredError`."""
        connection.execute("DELETE FROM cards WHERE analysis = ?", (analysis,))
        if not connection.execute("DELETE FROM analyses WHERE id = ?", (analysis,)).rowcount:
            raise NotStoredError(_UNKNOWN)

    def delete_all(self) -> None:
        """Delete all analyses and cards."""
        if self.is_there():
            self.done(lambda connection: [connection.execute(f"DELETE FROM {one}") for one in self.COLUMNS])

    # --- Cards

    def next_card(self, kind: str, analysis: str | None = None, skip: Sequence[str] = ()) -> Record | None:
        """Return the first card of a `kind` that is due, or any card of an `analysis`, that is not damaged.

        Its ``player`` is the analyst, if any.
        """
        if not self.is_there():
            return None
        where, values = "kind = ? AND due <= ?", [kind, int(time.time())]
        if analysis is not None:
            where, values = "kind = ? AND analysis = ?", [kind, analysis]
        query = (
            f"SELECT {_CARD}, (SELECT heading FROM analyses WHERE id = analysis) AS heading FROM cards "
            f"WHERE {where} AND key NOT IN ({', '.join('?' * len(skip))}) ORDER BY due, key"
        )

        def work(connection: sqlite3.Connection) -> Record | None:
            for row in connection.execute(query, (*values, *skip)):
                end_if_cancelled()
                with suppress(RecordError), _damage_refused():
                    return _card(row)
            return None

        return self.done(work, "BEGIN")

    def knows_card(self, key: str) -> bool:
        """Return whether a question has been asked before."""
        return bool(self.rows("SELECT 1 FROM cards WHERE key = ?", (key,)))

    @in_transaction
    def answer(
        self, connection: sqlite3.Connection, key: str, kind: str, question: Record, is_right: bool
    ) -> CardDue:
        """Store an answer, and return when its card is due again; raises `NoRoomError` for one card too many.

        A right answer before a card is due changes neither its box nor when it is due.
        The errors of analyses count, too, but are always stored.
        """
        row = connection.execute(f"SELECT {_CARD} FROM cards WHERE key = ?", (key,)).fetchone()
        ((count,),) = connection.execute("SELECT count(*) FROM cards")
        if row is None and count >= self._most_cards:
            raise NoRoomError(
                f"{count} questions are stored already, the limit: delete analyses, or everything"
            )
        new = {"kind": kind, "analysis": None, "question": json.dumps(question)}
        card: Record = dict(row or new | dict.fromkeys(("box", "asked", "known"), 0))
        now = int(time.time())
        if not is_right:
            box, due = 0, now + _AGAIN_SECONDS
        elif row is not None and row["due"] > now:
            box, due = row["box"], row["due"]
        else:
            box = min(card["box"] + 1, len(DAYS) - 1)
            due = now + DAYS[box] * _DAY
        counts = card["asked"] + 1, card["known"] + is_right
        connection.execute(
            f"INSERT OR REPLACE INTO cards ({_CARD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (key, card["kind"], card["analysis"], card["question"], box, due, *counts),
        )
        return {"key": key, "box": box, "due": due, "days": round((due - now) / _DAY)}

    def progress(self) -> dict[str, CardCounts]:
        """Count cards, due cards and right answers, by kind."""
        rows = self.rows(
            "SELECT kind, count(*), sum(due <= ?), sum(asked), sum(known), sum(box >= 3) "
            "FROM cards WHERE kind <> ? GROUP BY kind",
            (int(time.time()), _OTHERS),
        )
        return {
            kind: CardCounts(cards=cards, due=due, asked=asked, known=known, learned=learned)
            for kind, cards, due, asked, known, learned in rows
        }


def is_error(decision: Record) -> bool:
    """Return whether a decision of a review is an error that has a theme, and becomes a card.

    An error that a rollout has not confirmed is none.
    """
    error: float = decision["error"]
    is_sure = error > CONFIRMED_Z * (decision.get("error_se") or 0.0)
    return bool(decision["counts"]) and error >= MIN_ERROR and is_sure


def _make_cards(
    connection: sqlite3.Connection, analysis: str, decisions: Sequence[Record], seat: int, learned: _Learned
) -> None:
    """Make cards of a player's errors; those that were there, or were `learned`, keep their boxes."""
    for number, decision in enumerate(decisions):
        if is_error(decision) and decision["decider"] == seat:
            known = learned.get(_error_key(decision), (0, int(time.time()), 0, 0))
            row = (f"{analysis}:{number}", "error", analysis, json.dumps(decision), *known)
            connection.execute(
                f"INSERT INTO cards ({_CARD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET kind = excluded.kind",
                row,
            )


def _error_key(decision: Record) -> tuple[object, object]:
    """Return the position and the action, by which an error is recognised in another analysis."""
    return decision.get("xgid"), decision.get("done")


def _errors_of(decisions: Sequence[Record]) -> str:
    """Return who made each error, and its size, by the numbers of the decisions, as JSON."""
    errors = {k: (one["decider"], one["error"]) for k, one in enumerate(decisions) if is_error(one)}
    return json.dumps(errors)


@contextmanager
def _damage_refused() -> Iterator[None]:
    """Raise `RecordError` for whatever a damaged row causes in the block."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise RecordError("this analysis cannot be read: it is damaged") from None


def _card(row: sqlite3.Row) -> Record:
    """Return a card; raises any exception for a damaged one."""
    card = _loaded(row, "question") | {"player": None}
    heading = card.pop("heading")
    if not isinstance(card["question"], dict):
        raise TypeError("no question")
    with suppress(RecordError), _damage_refused():
        card["player"] = heading and json.loads(heading).get("player")
    return card


def _check(record: Record) -> None:
    """Raise `TypeError` for an analysis with a value of another type."""
    types = {
        "name": str,
        "made": int,
        "game": str | None,
        "number": int | None,
        "match": dict,
        "themes": dict,
    }
    faulty = [name for name, kind in types.items() if not isinstance(record[name], kind)]
    players = record["players"]
    if faulty or record["seat"] not in (None, 0, 1) or not (players is None or len(players) == 2):
        raise TypeError(*faulty)


def _loaded(row: sqlite3.Row, *names: str) -> Record:
    """Return a row with the values of the columns `names`, which may be missing, read from JSON.

    Raises any exception for a row that cannot be written as JSON, either.
    """
    record = dict(row) | {name: row[name] and json.loads(row[name]) for name in names}
    to_json(record, inf_nan_mode="null")
    return record


def with_ratings(players: Sequence[Record]) -> list[Record]:
    """Return the totals of both players with eXtreme Gammon's words for their performance ratings."""
    return [
        player | {"pr_word": _pr_word(player["pr"], player["overall"]["decisions"])} for player in players
    ]


def _pr_word(pr: float | None, decisions: int) -> str | None:
    """Return the word for a performance rating; None for fewer than `MIN_RATED` decisions."""
    return None if pr is None or decisions < MIN_RATED else pr_rating(pr)


def _summary(row: sqlite3.Row) -> Record:
    """Return an analysis in the list; raises any exception for a damaged one."""
    record = _loaded(row, "match", "players", "themes", "errors")
    kept = ("name", "pr", "error_rate", "overall", "luck", "luck_adjusted_result")
    both = record["players"] and [{key: player[key] for key in kept} for player in record["players"]]
    costs = _theme_costs(record["themes"] or {}, record.pop("errors") or {}, record["seat"])
    record |= {"themes": costs, "players": both}
    _check(record)
    return record


def _own_totals(summary: Record) -> Record | None:
    """Return what an analysis adds to the reader's totals, if any; raises any exception for a damaged one."""
    if not summary["players"] or summary["seat"] is None:
        return None
    own = summary["players"][summary["seat"]]
    if own["pr"] is None:
        return None
    pr, luck = float(own["pr"]), float(own["luck"]["total"])
    return {
        "shown": {"analysis": summary["analysis"], "made": summary["made"], "pr": pr, "luck": luck},
        "decisions": int(own["overall"]["decisions"]),
        "themes": summary["themes"],
    }


def _overall(summaries: Sequence[Record]) -> Record | None:
    own = [summary for summary in map(_own_totals, summaries) if summary is not None]
    decisions = sum(summary["decisions"] for summary in own)
    if not decisions:
        return None
    pr = sum(summary["shown"]["pr"] * summary["decisions"] for summary in own) / decisions
    themes: dict[str, Record] = {}
    for one in own:
        for name, costs in one["themes"].items():
            theme = themes.setdefault(name, {"theme": name, "count": 0, "cost": 0.0})
            theme["count"] += costs["count"]
            theme["cost"] += costs["cost"]
    return {
        "pr": pr,
        "pr_word": _pr_word(pr, decisions),
        "luck": sum(summary["shown"]["luck"] for summary in own) / len(own),
        "analyses": [summary["shown"] for summary in reversed(own)],
        "themes": sorted(themes.values(), key=lambda one: -one["cost"]),
    }


def _theme_costs(themes: Record, errors: Record, seat: int | None) -> dict[str, Record]:
    """Count the reader's errors by theme, with their cost in millipoints."""
    costs: dict[str, Record] = {}
    for number, theme in themes.items():
        decider, error = errors.get(number, (None, 0.0))
        if decider is not None and decider == seat:
            cost = costs.setdefault(theme, {"count": 0, "cost": 0.0})
            cost["count"] += 1
            cost["cost"] += error
    return costs
