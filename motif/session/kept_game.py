"""A person's games against the program as a list of events, which can be kept and followed again.

Events are what a file holds: ``["begin", 4, 1]`` with the dice of both players, ``["roll", 6, 5]``,
``["play", "24/18 13/8"]``, ``["double"]``, ``["take"]``, ``["drop"]``, ``["beaver"]``, ``["raccoon"]``,
``["resign", "single", 0]`` with who resigns, ``["undo"]``.  Dice come from the seed of the settings, as in
`motif play`, and stand in the events as well; so do the choices of the program: to follow a game again takes
no evaluation, and a game goes on as it began when its opponent has changed since.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from functools import cache, lru_cache
from typing import Any

from motif.analysis.confirmation import ComparedPair
from motif.analysis.judge import JUDGE, evaluator_of
from motif.analysis.match.record_walk import jacoby_rule
from motif.board.game_record import CubeAction, CubeKind, GameRecord, MatchRecord, Turn
from motif.board.moves import Play
from motif.board.notation import find_play
from motif.board.rules import RESIGNATIONS
from motif.evaluators.named import Kind, own_name, roster, without_plies
from motif.players import load
from motif.players.player import Player
from motif.rollout.games import SeededDice
from motif.runtime.errors import PlayerError, PlayError, RecordError, SettingError, shown
from motif.session.session import GameSession, Seat, SessionRules, is_accepted, record_tags
from motif.session.tutor import Counsel, cube_counsel

Event = list[Any]
_LONGEST_NAME = 40
YOU = "You"
_POINTS = {points: name for name, points in RESIGNATIONS.items()}
_CUBE_WORDS = ("double", "take", "drop", "beaver", "raccoon")


@dataclass(frozen=True)
class GameSettings:
    """Who plays, for what, and with which dice.  Raises `SettingError` for names that cannot be."""

    opponent: str
    """The player's name, for `motif.players.load`."""
    seed: int
    """Of the dice."""
    day: str
    """On which the first game began, such as ``2026-11-22``."""
    rules: SessionRules = field(default_factory=SessionRules)
    name: str = YOU
    """What the person is called in records."""
    seat: int = 0
    """Which of the two players of the record the person is."""

    def __post_init__(self) -> None:
        fits = 0 < len(self.name.strip()) <= _LONGEST_NAME and self.name.isprintable()
        if not fits or self.name == self.opponent:
            raise SettingError(f"a name is 1 to {_LONGEST_NAME} letters, and not the opponent's", "name")
        if self.seat not in (0, 1):
            raise SettingError(f"seat must be 0 or 1, not {self.seat}", "seat")
        date.fromisoformat(self.day)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "GameSettings":
        """Read what `to_dict` made; raises `SettingError` for a value of another type, also a rule's."""
        made = cls(**{**settings, "rules": SessionRules(**settings["rules"])})
        for one in (made, made.rules):
            for about in fields(one):
                value = getattr(one, about.name)
                if type(value) is not about.type:
                    raise SettingError(f"{about.name} cannot be {shown(value)}", about.name)
        return made


_KINDS = (Kind.STATIC, Kind.NET, Kind.CHOOSER)
"""Who comes along with motif and answers at once: no files and no other programs."""


def opponents() -> list[dict[str, Any]]:
    """Whom one can play against, for JSON: name, who that is, and whether @1 and @2 may follow the name."""
    entries = [entry for entry in roster() if entry.is_one and entry.home and entry.kind in _KINDS]
    return [{"name": one.name, "who": one.who, "looks_ahead": one.looks_ahead} for one in entries]


def check_opponent(name: str) -> None:
    """Raise `PlayerError` unless `name` is one of the `opponents`, or one of them looking ahead."""
    base = without_plies(own_name(name))
    known = {one["name"]: one["looks_ahead"] for one in opponents()}
    if base not in known or (base != own_name(name) and not known[base]):
        raise PlayerError(
            f"nobody to play against is called {name[:60]!r}; there are {', '.join(known)}, most of them "
            "also with @1 or @2"
        )


@lru_cache(maxsize=16)
def _player(name: str) -> Player:
    return load(name)


@cache
def judge() -> Counsel:
    """Who advises where nobody is named."""
    return Counsel(evaluator_of(JUDGE))


class Objection(Exception):  # noqa: N818
    """The tutor's: what was decided costs more than is let pass."""

    def __init__(self, cost: float, better: str, *, choice: ComparedPair | None = None) -> None:
        super().__init__(f"that costs {cost:.3f}; {better} is better")
        self.cost = cost
        """Normalised equity."""
        self.better = better
        """The best play, or the right action with the cube."""
        self.choice = choice
        """The best play and the one that was to be made; None where it is about the cube."""


class KeptGame:
    """The games of one session: its events, and where they have led."""

    def __init__(self, settings: GameSettings, events: Iterable[Event] = ()) -> None:
        """Follows `events`; raises a `MotifError` for those that cannot follow one another."""
        self.settings = settings
        self.events: list[Event] = []
        """All that happened, what was taken back included."""
        self.told: list[dict[str, Any]] = []
        """What has happened since this list was last emptied, for a page that shows it step by step."""
        self._dice = SeededDice(settings.seed)
        self._player = _player(settings.opponent)
        person, opponent = Seat(settings.name), Seat(settings.opponent, self._player)
        seats = (person, opponent) if settings.seat == 0 else (opponent, person)
        day = date.fromisoformat(settings.day)
        self.session = GameSession(seats, record_tags(settings.rules, day), settings.rules)
        for event in events:
            self.follow(event)

    @classmethod
    def from_record(cls, record: MatchRecord, settings: GameSettings) -> "KeptGame":
        """`record`, to be gone on with by those who played it: the person in his seat, and the opponent.

        Raises `RecordError` for a record that no session can have led to.
        """
        game = cls(settings)
        for number, one in enumerate(record.games, 1):
            if game.session.score != one.score:
                raise RecordError(
                    f"game {number} begins at {one.score[0]}-{one.score[1]}, which the games before it do "
                    "not lead to: it can be analysed, but not gone on with"
                )
            for event in _events_of(number, one):
                game.follow(event)
            result = game.session.result
            if one.result is not None and result is None:
                game.follow(["resign", _resigned(number, one, game.session.cube), 1 - one.result.winner])
        return game

    @property
    def revision(self) -> int:
        """How much has happened: it only grows."""
        return len(self.events)

    @property
    def asks(self) -> str:
        """The person's next decision: ``roll``, ``play``, ``answer`` to a double, or ``raccoon``.

        ``next`` stands for another game, ``nothing`` for the end of the match, ``wait`` for the
        program's turn.
        """
        session = self.session
        if session.match_winner is not None:
            return "nothing"
        if session.result is not None or not self.events:
            return "next"
        if session.to_decide != self.settings.seat:
            return "wait"
        if session.doubled:
            return "answer"
        if session.roll is not None:
            return "play"
        return "raccoon" if session.can_raccoon else "roll"

    @property
    def board(self) -> list[int]:
        """The 26 numbers of the position, seen by the person, whoever is on roll."""
        position = self.session.position
        if self.session.on_roll != self.settings.seat:
            position = position.switch_sides()
        return [int(count) for count in position.board]

    def follow(self, event: Event) -> None:
        """Go on by one event; raises a `MotifError` where it cannot come."""
        word, *details = event
        session = self.session
        if word != "begin" and (session.result is not None or not self.events):
            raise RecordError(f"{word}: no game is in progress")
        player = session.to_decide
        before: dict[str, Any] = {"roll": session.roll, "forced": len(session.plays) == 1}
        match word:
            case "begin":
                session.begin((details[0], details[1]))
            case "roll":
                session.throw((details[0], details[1]))
                event = ["roll", *(session.known_roll or details)]
            case "play":
                play = self._legal(details[0])
                event = ["play", play.notation]
                session.play(play)
                before["play"] = play
            case "undo":
                session.undo()
            case "resign":
                if details[0] not in RESIGNATIONS or details[1] not in (0, 1):
                    raise RecordError(f"{shown(details)} is no resignation")
                session.resign(details[0], details[1])
                player = details[1]
            case _:
                self._turn_cube(word)
        self.events.append(event)
        self.told.append({"do": word, "player": player, "event": event, "board": self.board, **before})

    def _turn_cube(self, word: str) -> None:
        match word:
            case "double":
                self.session.double()
            case "raccoon":
                self.session.raccoon()
            case "take" | "drop" | "beaver":
                self.session.answer(word)
            case _:
                raise RecordError(f"nothing is called {word!r} in a game")

    def decide(self, word: str, detail: str = "") -> bool:
        """Do what the person decides, and return whether it was done: a resignation may be declined.

        The decisions are ``roll``, ``double``, ``take``, ``drop``, ``beaver``, ``raccoon``, ``undo``,
        ``play`` with the play, ``resign`` with what is lost, and ``next`` for another game.

        Whether it was done: a resignation may be declined.  Raises a `MotifError` for what cannot be done.
        """
        session = self.session
        asked = self.asks
        allowed = {
            "roll": asked in ("roll", "raccoon"),
            "double": asked == "roll",
            "raccoon": asked == "raccoon",
            "play": asked == "play",
            "next": asked == "next",
            "resign": asked in ("roll", "play"),
            "undo": asked not in ("next", "nothing", "wait") and session.can_undo,
            **dict.fromkeys(("take", "drop", "beaver"), asked == "answer"),
        }
        if word not in allowed:
            raise SettingError(f"nothing is called {word!r} in a game: {', '.join(allowed)}")
        if not allowed[word]:
            raise RecordError(f"{word}: that cannot be done now")
        match word:
            case "next":
                self.follow(["begin", *self._dice.opening(session.games)])
            case "roll":
                self.follow(self._roll())
            case "play":
                self.follow(["play", detail])
            case "resign":
                return self._resigns(detail)
            case _:
                self.follow([word])
        return True

    def objection(self, word: str, detail: str, limit: float, tutor: Counsel) -> Objection | None:
        """Return the objection of `tutor` to what the person is about to `decide`, beyond `limit`."""
        session = self.session
        if word == "play" and self.asks == "play":
            choice = tutor.compared(session, self._legal(detail))
            if choice is None or choice.difference <= limit:
                return None
            return Objection(choice.difference, choice.better.play.notation, choice=choice)
        if (word in ("roll", "double") and session.can_double) or (word in session.answers):
            decision, cost = tutor.cube_cost(session, "pass" if word == "drop" else word)
            return Objection(cost, decision.action) if cost > limit else None
        return None

    def go_on(self) -> None:
        """Let the program decide, and make what leaves no choice, until the person's turn or the end."""
        while (event := self._next()) is not None:
            self.follow(event)

    def _next(self) -> Event | None:
        """Return what the program does, or what has to be done; None where the person is to decide."""
        session = self.session
        if session.result is not None or not self.events:
            return None
        by_person = session.to_decide == self.settings.seat
        if session.doubled:
            return None if by_person else [self._counsel.answer(session)]
        if session.roll is None:
            if session.can_raccoon or session.can_double:
                if by_person:
                    return None
                if raised := self._raised():
                    return [raised]
            return self._roll()
        if len(session.plays) == 1:
            return ["play", session.plays[0].notation]
        if by_person:
            return None
        chance = self._dice.choice_seed(session.games, session.ply)
        player = self._player.staked(session.context().stakes)
        return ["play", player.choose(session.position, session.roll, chance).notation]

    def _raised(self) -> CubeKind | None:
        """Whether the program turns the cube before its roll."""
        session = self.session
        if session.can_raccoon:
            return "raccoon" if self._counsel.raccoons(session) else None
        return "double" if self._counsel.cube(session).should_double else None

    def _roll(self) -> Event:
        session = self.session
        return ["roll", *(session.known_roll or self._dice.roll(session.games, session.ply))]

    @property
    def _counsel(self) -> Counsel:
        return cube_counsel(self._player, judge())

    def _legal(self, text: str) -> Play:
        """Return the legal play that `text` means; an empty one is no move."""
        plays = self.session.plays
        if not text and len(plays) == 1 and not plays[0].moves:
            return plays[0]
        if not plays:
            raise PlayError("there is no roll to play")
        return find_play(text, plays)

    def _resigns(self, offered: str) -> bool:
        session = self.session
        possible = session.resignations()
        if offered not in possible:
            raise SettingError(f"what can be resigned is {' or '.join(possible)}, not {offered!r}")
        if not is_accepted(session, self._player.evaluator or judge().evaluator, offered):
            return False
        self.follow(["resign", offered, session.on_roll])
        return True


def settings_of(record: MatchRecord, opponent: str, seed: int, day: str, seat: int) -> GameSettings:
    """Return the settings with which `record` can be gone on with against `opponent`."""
    kinds = {
        action.kind for game in record.games for action in game.actions if isinstance(action, CubeAction)
    }
    rules = SessionRules(
        record.length, True, jacoby_rule(record), kinds & {"beaver", "raccoon"} != set(), "raccoon" in kinds
    )
    name = record.players[seat][:_LONGEST_NAME].strip()
    return GameSettings(opponent, seed, day, rules, YOU if name == opponent else name, seat)


def _events_of(number: int, game: GameRecord) -> Iterator[Event]:
    """Events of one game of a record, without its end; raises `RecordError` for one that begins oddly."""
    actions: Sequence[Any] = game.actions
    if not actions or not isinstance(actions[0], Turn) or actions[0].roll[0] == actions[0].roll[1]:
        raise RecordError(f"game {number} does not begin with a roll of two different dice")
    high, low = actions[0].roll
    yield ["begin", *((high, low) if actions[0].player == 0 else (low, high))]
    for place, action in enumerate(actions):
        if isinstance(action, CubeAction):
            yield [action.kind]
            continue
        if place:
            yield ["roll", *action.roll]
        if action.play is not None:
            yield ["play", action.play.notation]


def _resigned(number: int, game: GameRecord, cube: int) -> str:
    """Return what was resigned in `game`, whose end does not come from the play."""
    assert game.result is not None
    size, rest = divmod(game.result.points, cube)
    if rest or size not in _POINTS:
        raise RecordError(
            f"game {number}: {game.result.points} points cannot be lost with the cube at {cube}"
        )
    return _POINTS[size]
