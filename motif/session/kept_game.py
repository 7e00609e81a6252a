"""A person's games against a program, stored as settings and events.

Dice come from the seed in the settings, as in `motif play`.  Events include dice and the program's decisions,
so replaying a game needs no evaluation and does not depend on the opponent's current version.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import lru_cache
from typing import TypedDict

from motif.board.game_record import (
    CubeAction,
    GameRecord,
    MatchRecord,
    Turn,
    illegal_plays,
    jacoby_rule,
    uses_cube,
)
from motif.evaluators.known_players import SERVED_PLIES, Kind, known_players, own_name, without_plies
from motif.players import load
from motif.players.resignations import LOSSES
from motif.rollouts.games import SeededDice
from motif.runtime.errors import PlayerError, RecordError, SettingError, shown
from motif.runtime.frames import Record
from motif.runtime.progress import end_if_cancelled
from motif.runtime.settings import SettingFields, check_types
from motif.session.advisor import default_advisor
from motif.session.event_game import EventGame, GameEvent
from motif.session.session import GameSession, Seat, SessionRules, record_tags

_MAX_NAME = 40
YOU = "You"


@dataclass(frozen=True)
class GameSettings(SettingFields):
    """Players, rules and dice of a game.  Raises `SettingError` for invalid settings."""

    opponent: str
    """Name of the player, for `motif.players.load`."""
    seed: int
    """The dice seed."""
    day: str
    """Date of the first game, such as ``2026-11-22``."""
    rules: SessionRules = field(default_factory=SessionRules)
    name: str = YOU
    """The person's name in records."""
    seat: int = 0
    """The person's seat, 0 or 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_types(self, SettingError)
        for one in ("opponent", "day", "name"):
            if not isinstance(text := getattr(self, one), str):
                raise SettingError(f"{one} must be text, not {shown(text)}", one)
        fits = 0 < len(self.name.strip()) <= _MAX_NAME and self.name.isprintable()
        if not fits or self.name == self.opponent:
            raise SettingError(
                f"invalid name {shown(self.name)}: it must have 1 to {_MAX_NAME} printable characters and "
                "differ from the opponent's name",
                "name",
            )
        check_seat(self.seat)
        try:
            date.fromisoformat(self.day)
        except ValueError:
            raise SettingError(f"invalid day {shown(self.day)}: it must be YYYY-MM-DD", "day") from None

    def to_dict(self) -> Record:
        """Return the settings for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Record) -> "GameSettings":
        """Read the result of `to_dict`; raises `SettingError` for anything else."""
        try:
            return cls(**{**settings, "rules": SessionRules(**settings["rules"])})
        except (KeyError, TypeError):
            raise SettingError(f"invalid settings {shown(settings)}: a name is missing or unknown") from None


def check_seat(seat: int) -> None:
    """Raise `SettingError` unless `seat` is 0 or 1."""
    if seat not in (0, 1):
        raise SettingError(f"seat must be 0 or 1, not {seat}", "seat")


_KINDS = (Kind.STATIC, Kind.NET, Kind.CHOOSER)
"""Built-in players that answer quickly and need no files or other programs."""


class OpponentRecord(TypedDict):
    """An available opponent for JSON."""

    name: str
    who: str
    """Description."""
    looks_ahead: bool
    """Whether it can look ahead."""


def opponents() -> list[OpponentRecord]:
    """Return the available opponents for JSON."""
    entries = [entry for entry in known_players() if entry.is_one and entry.home and entry.kind in _KINDS]
    return [{"name": one.name, "who": one.description, "looks_ahead": one.looks_ahead} for one in entries]


def check_opponent(name: str) -> None:
    """Raise `PlayerError` unless `name` is one of the `opponents`, with or without quick lookahead."""
    check_stored_opponent(name)
    name = own_name(name)
    if not SERVED_PLIES.fullmatch(name.removeprefix(without_plies(name))):
        raise PlayerError(f"opponent {name[:60]!r} takes too long: opponents look ahead with @1 or @2")


def check_stored_opponent(name: str) -> None:
    """Raise `PlayerError` unless `name` is one of the `opponents`, with or without any lookahead.

    Stored games may have an opponent that no new game can have.
    """
    base = without_plies(own_name(name))
    known = {one["name"]: one["looks_ahead"] for one in opponents()}
    if base not in known or (base != own_name(name) and not known[base]):
        raise PlayerError(
            f"unknown opponent {name[:60]!r}: it must be one of {', '.join(known)}; most of them can look "
            "ahead, with @1 or @2"
        )


_player = lru_cache(maxsize=16)(load)


class KeptGame(EventGame):
    """The games of one session between a person and the program."""

    def __init__(self, settings: GameSettings, events: Iterable[GameEvent] = ()) -> None:
        """Replay `events`; raises a `MotifError` for an impossible sequence."""
        self.settings = settings
        person, opponent = Seat(settings.name), Seat(settings.opponent, _player(settings.opponent))
        seats = (person, opponent) if settings.seat == 0 else (opponent, person)
        tags = record_tags(settings.rules, date.fromisoformat(settings.day))
        super().__init__(GameSession(seats, tags, settings.rules), SeededDice(settings.seed), default_advisor)
        for event in events:
            end_if_cancelled()
            self.follow(event)

    @classmethod
    def from_record(cls, record: MatchRecord, settings: GameSettings) -> "KeptGame":
        """Replay `record`, with the person in the seat given by `settings`.

        Raises `RecordError` for a record that cannot come from one session.
        """
        for illegal in illegal_plays(record):
            raise RecordError(f"{illegal} is illegal: the match can be analysed but not continued")
        game = cls(settings)
        for number, one in enumerate(record.games, 1):
            if game.session.is_going:
                raise RecordError(f"game {number} follows an unfinished game")
            if one.first_cube > 1:
                raise RecordError(f"game {number} begins with an automatic double, which motif does not play")
            if game.session.score != one.score:
                raise RecordError(
                    f"game {number} starts at {one.score[0]}-{one.score[1]}, which does not follow from the "
                    "games before it: the match can be analysed but not continued"
                )
            for event in _events_of(number, one):
                end_if_cancelled()
                game.follow(event)
            if one.result is not None and game.session.result is None:
                game.follow(["resign", _resigned(number, one, game.session.cube), 1 - one.result.winner])
        return game


def settings_to_continue(record: MatchRecord, opponent: str, seed: int, day: str, seat: int) -> GameSettings:
    """Return settings for continuing `record` against `opponent`."""
    kinds = {
        action.kind for game in record.games for action in game.actions if isinstance(action, CubeAction)
    }
    rules = SessionRules(
        record.length, uses_cube(record), jacoby_rule(record), "beaver" in kinds, "raccoon" in kinds
    )
    name = record.players[seat][:_MAX_NAME].strip()
    return GameSettings(opponent, seed, day, rules, YOU if name == opponent else name, seat)


def _events_of(number: int, game: GameRecord) -> Iterator[GameEvent]:
    """Yield the events of a recorded game, except its end; raises `RecordError` for an invalid opening."""
    first = game.actions[0] if game.actions else None
    if not isinstance(first, Turn) or first.roll[0] == first.roll[1]:
        raise RecordError(f"game {number} does not start with a roll of two different dice")
    high, low = first.roll
    yield ["begin", *((high, low) if first.player == 0 else (low, high))]
    for place, action in enumerate(game.actions):
        if isinstance(action, CubeAction):
            yield [action.kind]
            continue
        if place:
            yield ["roll", *action.roll]
        if action.play is not None:
            yield ["play", action.play.notation]


def _resigned(number: int, game: GameRecord, cube: int) -> str:
    """Return the loss conceded by resigning `game`."""
    assert game.result is not None
    size, rest = divmod(game.result.points, cube)
    if rest or size not in LOSSES:
        raise RecordError(
            f"game {number}: {game.result.points} points cannot be lost with the cube at {cube}"
        )
    return LOSSES[size]
