"""Stored games, which survive a restart, and which any number of servers may share.

A game is stored as its settings and events (`motif.session.kept_game`), after every decision and after the
program's reply, with its summary, so that a list of games replays none.  Of simultaneous decisions at one
revision, one is accepted (`motif.serve.game_database`).
"""

import json
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TypedDict

from motif.board.game_record import MatchRecord
from motif.board.mat_file import mat_text
from motif.rollouts.games import SeededDice
from motif.runtime.errors import MotifError, PlayerError, RecordError, plain_text
from motif.runtime.frames import Record
from motif.runtime.progress import end_if_cancelled
from motif.serve.costs import may_play_out, reply_cost
from motif.serve.game_database import GameDatabase, GameRow, GameWentOn, ListedRow
from motif.serve.game_view import game_view, objection_view, own_first, rolls_view
from motif.serve.lanes import WorkEndedError
from motif.session.advisor import default_advisor
from motif.session.event_game import GameEvent
from motif.session.kept_game import (
    GameSettings,
    KeptGame,
    check_opponent,
    check_seat,
    check_stored_opponent,
    settings_to_continue,
)
from motif.session.session import SessionRules

_FORMAT = "motif-game/1"
MAX_GAMES = 500
_IN_MEMORY = 32
_NAME_BYTES = 9
_SHOWN_EVENTS = 12
"""Maximum number of events that are shown of a loaded game."""


@dataclass
class _StoredGame:
    """A game at a revision, owned by one thread."""

    name: str
    revision: int
    game: KeptGame

    def view(self, known: int | None = None) -> Record:
        """Return the page's view, with the events after the first `known` ones."""
        new = 0 if known is None else len(self.game.events) - known
        return game_view(self.name, self.revision, self.game, self.game.steps[-new:] if new > 0 else ())


class GameSummary(TypedDict):
    """A stored game in a list, for JSON."""

    game: str
    """Its ID."""
    opponent: str
    name: str
    """The reader's name."""
    length: int
    """Points of the match; 0: money play."""
    score: list[int]
    """The reader's points first."""
    day: str
    changed: int
    """When it was changed, in seconds since 1970."""
    asks: str
    """The next decision."""


class GameStore:
    """The games in a folder; any number of threads and processes may use it.

    The folder is made when the first game is stored; for `most` see `GameDatabase`.  Every method raises
    `StorageError` if the database cannot be read or written.  Those that name a game raise `NotStoredError`
    for a missing one, and `RecordError` for a damaged one.
    """

    def __init__(self, folder: Path, most: int = MAX_GAMES) -> None:
        self._database = GameDatabase(folder, most)
        self._remembered: OrderedDict[str, _StoredGame] = OrderedDict()
        """Games in memory; a thread that uses one takes it out."""
        self._lock = Lock()

    def begin(self, settings: GameSettings) -> Record:
        """Begin a game, and return its view: see `game_view`.

        Raises `PlayerError` for an unknown opponent, `NoRoomError` if too many games are in progress.
        """
        check_opponent(settings.opponent)
        game = KeptGame(settings)
        game.decide("next")
        return self._begun(game)

    def load(self, record: MatchRecord, opponent: str, seat: int, seed: int | None, day: str) -> Record:
        """Load the games of a `record`, to continue them against `opponent` from `seat`.

        `seed` is that of the dice, None for a new one, and `day` today, such as ``2026-11-22``.  Raises
        `RecordError` for games that cannot be continued, and the errors of `begin`.
        """
        check_seat(seat)
        check_opponent(opponent)
        settings = settings_to_continue(record, opponent, SeededDice(seed).seed, day, seat)
        return self._begun(KeptGame.from_record(record, settings))

    def _begun(self, game: KeptGame) -> Record:
        name = secrets.token_urlsafe(_NAME_BYTES)
        game.go_on()
        revision = self._database.insert(name, _document(game), _is_over(game), _summary(game))
        kept = _StoredGame(name, revision, game)
        view = kept.view(max(0, len(game.events) - _SHOWN_EVENTS))
        self._remember(kept)
        return view

    def state(self, name: str) -> Record:
        """Return the state of a game, after the program's reply if that is due and does not take too long."""
        kept = self._read(name)
        try:
            check_opponent(kept.game.settings.opponent)
        except PlayerError:
            pass  # the game is only shown
        else:
            kept = self._replied(kept)
        view = kept.view()
        self._remember(kept)
        return view

    def decide(
        self, name: str, revision: int, word: str, detail: str = "", limit: float | None = None
    ) -> Record:
        """Carry out the person's decision at a `revision` of a game, and the program's reply.

        For `word` and `detail` see `EventGame.decide`.  The view that is returned has the tutor's
        ``objection`` to an error above `limit`, if that is given, or ``declined`` for a resignation that the
        opponent does not accept; then nothing has happened.  Raises `GameWentOn` where the game is at another
        revision, `PlayerError` for an opponent that no new game can have, and a `MotifError` for what cannot
        be done.
        """
        kept = self._read(name)
        game, known = kept.game, len(kept.game.events)
        check_opponent(game.settings.opponent)
        if revision != kept.revision:
            self._remember(kept)
            raise GameWentOn
        more: Record = {}
        objection = None
        if limit is not None and game.asks != "raccoon":
            objection = game.objection(word, detail, limit, default_advisor())
        if objection is not None:
            more = {"objection": objection_view(objection)}
        elif game.decide(word, detail):
            self._write(kept)
            kept = self._replied(kept)
        else:
            more = {"declined": detail}
        view = {**kept.view(known), **more}
        self._remember(kept)
        return view

    def reply_cost(self, name: str) -> float:
        """Return the estimated seconds of a core that the program's next reply takes."""
        with self._borrowed(name) as game:
            player = game.session.seats[1 - game.settings.seat].player
            evaluator, late = None if player is None else player.evaluator, False
            if game.session.is_going and evaluator is not None:
                position = game.session.position
                late = any(may_play_out(evaluator, one) for one in (position, position.switch_sides()))
            return reply_cost(game.settings.opponent, late)

    def mat(self, name: str) -> str:
        """Return all games of a session as the text of a .mat file."""
        with self._borrowed(name) as game:
            return mat_text(game.session.record())

    def ids(self) -> list[str]:
        """Return the IDs of all games, the most recently changed first."""
        return [row.id for row in self._database.listed()]

    def is_in_memory(self, name: str) -> bool:
        """Return whether a game need not be replayed, unless another process has changed it."""
        return name in self._remembered

    def record(self, name: str, number: int | None = None) -> tuple[MatchRecord, GameSettings]:
        """Return the games that were played, and the settings of the session.

        With a game's `number`, counted from 1, the other games have no actions.
        """
        with self._borrowed(name) as game:
            record, settings = game.session.record(), game.settings
        if number is None:
            return record, settings
        if not 1 <= number <= len(record.games):
            raise RecordError(f"number must be 1 to {len(record.games)}, not {number}")
        games = (
            one if k == number else replace(one, actions=(), result=None)
            for k, one in enumerate(record.games, 1)
        )
        return replace(record, games=tuple(games)), settings

    def delete_all(self) -> int:
        """Remove every game, and return their number."""
        with self._lock:
            self._remembered.clear()
        return self._database.delete_all()

    def rolls(self, name: str) -> Record:
        """List every roll of the games that have ended, and how often each fell."""
        with self._borrowed(name) as game:
            return rolls_view(game)

    def summaries(self) -> list[GameSummary]:
        """List all games, the most recently changed first, without damaged ones."""
        games: list[GameSummary] = []
        for row in self._database.listed():
            end_if_cancelled()
            with suppress(RecordError):
                games.append(_read_summary(row))
        return games

    def delete(self, name: str) -> None:
        """Remove a game, even a damaged one."""
        self._database.delete(name)
        with self._lock:
            self._remembered.pop(name, None)

    def _read(self, name: str) -> _StoredGame:
        """Return the stored game, for this thread alone."""
        row = self._database.read(name)
        with self._lock:
            kept = self._remembered.pop(name, None)
        if kept is not None and kept.revision == row.revision:
            return kept
        try:
            settings, events = _settings_and_events(row)
            game = _followed(None if kept is None else kept.game, settings, events)
        except WorkEndedError:
            raise
        # A damaged row may raise anything, and concerns this game alone.
        except Exception as error:
            raise RecordError(f"this game cannot be read: {_reason(error)}") from None
        return _StoredGame(name, row.revision, game)

    @contextmanager
    def _borrowed(self, name: str) -> Iterator[KeptGame]:
        stored = self._read(name)
        yield stored.game
        self._remember(stored)

    def _write(self, kept: _StoredGame) -> None:
        """Store a changed game; raises `GameWentOn` if another thread or process was first."""
        game = kept.game
        kept.revision = self._database.update(
            kept.name, kept.revision, _document(game), _is_over(game), _summary(game)
        )

    def _replied(self, kept: _StoredGame) -> _StoredGame:
        """Return the game after the program's reply, by this or another process."""
        before = len(kept.game.events)
        kept.game.go_on()
        if len(kept.game.events) > before:
            try:
                self._write(kept)
            except GameWentOn:
                return self._read(kept.name)
        return kept

    def _remember(self, kept: _StoredGame) -> None:
        kept.game.steps.clear()
        with self._lock:
            self._remembered[kept.name] = kept
            self._remembered.move_to_end(kept.name)
            while len(self._remembered) > _IN_MEMORY:
                self._remembered.popitem(last=False)


def new_settings(opponent: str, rules: SessionRules, seed: int | None, day: str, name: str) -> GameSettings:
    """Make the settings of a new game, with a random seed by default."""
    return GameSettings(opponent, SeededDice(seed).seed, day, rules, name)


def _document(game: KeptGame) -> str:
    kept = {"format": _FORMAT, "settings": game.settings.to_dict(), "events": game.events}
    return json.dumps(kept, separators=(",", ":"))


def _summary(game: KeptGame) -> str:
    """Return what a list shows of a game, as JSON."""
    settings = game.settings
    summary = {
        "opponent": settings.opponent,
        "name": settings.name,
        "length": settings.rules.length,
        "score": own_first(game.session.score, settings.seat),
        "day": settings.day,
        "asks": game.asks,
    }
    return json.dumps(summary)


def _read_summary(row: ListedRow) -> GameSummary:
    """Return a game in a list; raises `RecordError` for a damaged one."""
    try:
        kept = json.loads(row.summary)
        first, second = kept["score"]
        return {
            "game": row.id,
            "opponent": str(kept["opponent"]),
            "name": str(kept["name"]),
            "length": int(kept["length"]),
            "score": [int(first), int(second)],
            "day": str(kept["day"]),
            "changed": row.changed,
            "asks": str(kept["asks"]),
        }
    except (ValueError, LookupError, TypeError, RecursionError):
        raise RecordError("this game cannot be read: it is damaged") from None


def _settings_and_events(row: GameRow) -> tuple[GameSettings, list[GameEvent]]:
    """Return the settings and events of a row; raises any exception for a damaged one."""
    kept = json.loads(row.document)
    if kept["format"] != _FORMAT:
        raise RecordError(f"its format is not {_FORMAT}")
    if type(row.revision) is not int or not isinstance(kept["events"], list):
        raise RecordError("it has no revision or no events")
    settings = GameSettings.from_dict(kept["settings"])
    check_stored_opponent(settings.opponent)
    return settings, kept["events"]


def _followed(known: KeptGame | None, settings: GameSettings, events: list[GameEvent]) -> KeptGame:
    """Return the game after `events`, continuing `known` if that is an earlier state of it."""
    if known is None or known.settings != settings or known.events != events[: len(known.events)]:
        return KeptGame(settings, events)
    for event in events[len(known.events) :]:
        end_if_cancelled()
        known.follow(event)
    return known


def _is_over(game: KeptGame) -> bool:
    """Return whether a match or a money game is over."""
    return game.asks == "nothing" or (game.asks == "next" and not game.settings.rules.length)


def _reason(error: Exception) -> str:
    """Return why a game cannot be read, without file names."""
    return plain_text(str(error)) if isinstance(error, MotifError) else "it is damaged"
