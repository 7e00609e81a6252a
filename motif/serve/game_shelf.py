"""Games that the server keeps, a file each, so that they survive a restart; and their routes, /api/v1/games.

A game's file holds its settings and its events (`motif.session.kept_game`), written whole after every
decision and again after the program's reply.  Its revision is the number of events: who decides names the
revision that he has seen, so that two pages cannot play one game against each other.

The routes are the page's own, and change with it: the schema of the interface leaves them out.
"""

import json
import re
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from motif.board.game_record import Action, MatchRecord, Turn, game_facts
from motif.board.identifiers import gnubg_id
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_ids import xgid
from motif.board.match_state import match_id
from motif.board.moves import Play, play_tree
from motif.board.position import Position
from motif.runtime.errors import FileError, MotifError, RecordError, SettingError
from motif.runtime.files import make_folder, reason, write_text
from motif.serve.desk import Desk
from motif.serve.motif_api import desk_of, json_answer
from motif.session.kept_game import (
    GameSettings,
    KeptGame,
    Objection,
    check_opponent,
    judge,
    opponents,
    settings_of,
)
from motif.session.session import LONGEST_MATCH, SessionRules

FORMAT = "motif-game/1"
MOST_GAMES = 500
"""Files; beyond it those that were not touched longest are removed."""
_IN_MEMORY = 32
_NAME = re.compile(r"[A-Za-z0-9_-]{12}")
_NAME_BYTES = 9
_SEEDS = 2**31
_SUFFIX = ".json"

router = APIRouter(prefix="/api/v1/games", include_in_schema=False)
_LONGEST_FILE = 2_000_000

Opponent = Annotated[str, Field(max_length=60, description="Who plays: a name of /api/v1/games/opponents.")]
Seed = Annotated[int | None, Field(ge=0, lt=2**53, description="Of the dice; a new one by default.")]


class UnknownGame(MotifError):  # noqa: N818
    """A game that is not kept, or not any more."""


class GameWentOn(MotifError):  # noqa: N818
    """A decision on a game that is not any more as whoever decides has seen it."""


@dataclass
class _Shelved:
    game: KeptGame
    lock: Lock
    stamp: tuple[int, int] | None = None
    """Time and size of the file when it was last read or written."""


class GameShelf:
    """The games in a folder; any number of threads may use it."""

    def __init__(self, folder: Path, most: int = MOST_GAMES) -> None:
        """Keeps at most so many; the folder is made when the first game is kept."""
        self._folder, self._most = folder, most
        self._shelved: OrderedDict[str, _Shelved] = OrderedDict()
        self._lock = Lock()

    def begin(self, settings: GameSettings) -> tuple[str, dict[str, Any]]:
        """A new game, by its name, and what a page is told of it; raises `PlayerError`."""
        check_opponent(settings.opponent)
        return self._kept(KeptGame(settings))

    def load(
        self, mat: str, opponent: str, seat: int, seed: int | None, day: str
    ) -> tuple[str, dict[str, Any]]:
        """The games of a .mat file, to be gone on with against `opponent`; raises `RecordError`."""
        if seat not in (0, 1):
            raise SettingError(f"seat must be 0 or 1, not {seat}", "seat")
        check_opponent(opponent)
        record = parse_mat(mat, "the file")
        if not record.games:
            raise RecordError("the file holds no game")
        return self._kept(KeptGame.from_record(record, settings_of(record, opponent, _seed(seed), day, seat)))

    def _kept(self, game: KeptGame) -> tuple[str, dict[str, Any]]:
        name = secrets.token_urlsafe(_NAME_BYTES)
        shelved = _Shelved(game, Lock())
        if game.asks == "next" and not game.events:
            game.decide("next")
        game.go_on()
        with self._lock:
            make_folder(self._folder)
            self._make_room()
            self._save(name, shelved)
            self._remember(name, shelved)
        return name, told(name, game, game.told[-_SHOWN_EVENTS:])

    def state(self, name: str) -> dict[str, Any]:
        """What a page is told of a game; raises `UnknownGame`."""
        with self._held(name) as shelved:
            self._go_on(name, shelved)
            return told(name, shelved.game, [])

    def decide(
        self, name: str, revision: int, word: str, detail: str = "", limit: float | None = None
    ) -> dict[str, Any]:
        """Let the person decide, and the program reply; what a page is told then.

        With a `limit` the tutor looks first: what costs more is not done, and the answer has its
        ``objection``.  Raises `UnknownGame`; `GameWentOn` where the game is not at `revision`; other
        `MotifError` for what cannot be done.  Then nothing has changed.
        """
        with self._held(name) as shelved:
            game = shelved.game
            if revision != game.revision:
                raise GameWentOn(
                    "this game has gone on elsewhere, in another tab or window: this page shows how it was"
                )
            if limit is not None:
                objection = game.objection(word, detail, limit, judge())
                if objection is not None:
                    return {**told(name, game, []), "objection": _objection(objection, game)}
            game.told.clear()
            accepted = game.decide(word, detail)
            self._save(name, shelved)
            self._go_on(name, shelved)
            answer = told(name, game, game.told)
            return answer if accepted else {**answer, "declined": detail}

    def mat(self, name: str) -> str:
        """All that was played, as the text of a .mat file."""
        with self._held(name) as shelved:
            return mat_text(shelved.game.session.record())

    def rolls(self, name: str) -> dict[str, Any]:
        """Every roll of the games that have ended, and how often each fell."""
        with self._held(name) as shelved:
            return _rolls(shelved.game)

    def listed(self) -> list[dict[str, Any]]:
        """The games that are kept, those last: touched first."""
        games = []
        for path in sorted(self._files(), key=lambda path: -path.stat().st_mtime_ns)[:_LISTED]:
            with suppress(MotifError), self._held(path.stem) as shelved:
                session, settings = shelved.game.session, shelved.game.settings
                games.append(
                    {
                        "game": path.stem,
                        "opponent": settings.opponent,
                        "name": settings.name,
                        "length": settings.rules.length,
                        "score": _own_first(session.score, settings.seat),
                        "day": settings.day,
                        "asks": shelved.game.asks,
                    }
                )
        return games

    def forget(self, name: str) -> None:
        """Remove a game; raises `UnknownGame`."""
        with self._held(name):
            self._path(name).unlink(missing_ok=True)
            self._shelved.pop(name, None)

    @contextmanager
    def _held(self, name: str) -> Iterator[_Shelved]:
        """The game, as its file has it, while nobody else uses it."""
        if not _NAME.fullmatch(name):
            raise UnknownGame("there is no such game")
        with self._lock:
            shelved = self._shelved.get(name)
            if shelved is None:
                shelved = _Shelved(self._read(name), Lock(), _stamp(self._path(name)))
            self._remember(name, shelved)
        with shelved.lock:
            # Another server may have gone on with it, or what was thought of may not have been written.
            stamp = _stamp(self._path(name))
            if stamp is None or stamp != shelved.stamp:
                shelved.game, shelved.stamp = self._read(name), stamp
            try:
                yield shelved
            except BaseException:
                if shelved.game.told:
                    shelved.stamp = None  # to be read again: some of it may have been done
                raise

    def _go_on(self, name: str, shelved: _Shelved) -> None:
        """Let the program reply where it is its turn, also after a restart."""
        if shelved.game.asks != "next":
            before = shelved.game.revision
            shelved.game.go_on()
            if shelved.game.revision != before:
                self._save(name, shelved)

    def _remember(self, name: str, shelved: _Shelved) -> None:
        self._shelved[name] = shelved
        self._shelved.move_to_end(name)
        while len(self._shelved) > _IN_MEMORY:
            self._shelved.popitem(last=False)

    def _read(self, name: str) -> KeptGame:
        path = self._path(name)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise UnknownGame("this game is not kept any more, or never was") from None
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {reason(error)}") from None
        except ValueError:
            raise FileError(f"{path}: is damaged: it holds no game") from None
        if not isinstance(kept, dict) or kept.get("format") != FORMAT:
            raise FileError(f"{path}: is no game of the format {FORMAT}")
        try:
            return KeptGame(GameSettings.from_dict(kept["settings"]), kept["events"])
        except (KeyError, TypeError, ValueError, MotifError) as error:
            raise FileError(f"{path}: is damaged: {error}") from None

    def _save(self, name: str, shelved: _Shelved) -> None:
        game, path = shelved.game, self._path(name)
        kept = {"format": FORMAT, "settings": game.settings.to_dict(), "events": game.events}
        write_text(path, json.dumps(kept, separators=(",", ":")))
        shelved.stamp = _stamp(path)

    def _make_room(self) -> None:
        """Remove the files that were not touched longest, where there are too many."""
        for path in sorted(self._files(), key=lambda path: path.stat().st_mtime_ns)[: -self._most + 1]:
            path.unlink(missing_ok=True)
            self._shelved.pop(path.stem, None)

    def _files(self) -> list[Path]:
        return [path for path in self._folder.glob(f"*{_SUFFIX}") if _NAME.fullmatch(path.stem)]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"


def new_settings(opponent: str, rules: SessionRules, seed: int | None, day: str, name: str) -> GameSettings:
    """Settings of a new game; without a seed a new one."""
    return GameSettings(opponent, _seed(seed), day, rules, name)


def _seed(seed: int | None) -> int:
    return secrets.randbelow(_SEEDS) if seed is None else seed


_SHOWN_EVENTS = 12
"""Of a game that was loaded."""
_LISTED = 20


def told(name: str, game: KeptGame, events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """All that a page needs to show `game`, and what happened, in order.

    Players are "me", the person, and "opponent"; boards are seen by the person, moves by who makes them.
    """
    session, settings = game.session, game.settings
    seat = settings.seat
    state = session.state()
    position = session.position
    asks = game.asks
    owner = {"me": "opponent", "opponent": "me"}.get(state.cube_owner, "centre")
    if session.on_roll == seat:
        owner = state.cube_owner
    without_match = not settings.rules.cube and not settings.rules.length
    identifier = gnubg_id(position) if without_match else f"{gnubg_id(position)}:{match_id(state)}"
    return {
        "game": name,
        "revision": game.revision,
        "asks": asks,
        "opponent": settings.opponent,
        "name": settings.name,
        "rules": settings.to_dict()["rules"],
        "seed": settings.seed,
        "number": session.games + (session.result is None),
        "score": _own_first(session.score, seat),
        "crawford": state.crawford,
        "board": game.board,
        "on_roll": _who(session.on_roll, seat),
        "roll": list(session.roll) if session.roll else None,
        "cube": {"value": session.cube, "owner": owner, "offered": session.doubled},
        "can": {
            "double": asks == "roll" and session.can_double,
            "beaver": "beaver" in session.answers,
            "undo": asks not in ("next", "nothing", "wait") and session.can_undo,
            "resign": session.resignations() if asks in ("roll", "play") else [],
        },
        "id": identifier,
        "xgid": xgid(position, state),
        "tree": _tree(session.position, session.roll, session.plays) if asks == "play" else None,
        "result": _result(session.record(), seat) if asks in ("next", "nothing") and game.events else None,
        "winner": None if session.match_winner is None else _who(session.match_winner, seat),
        "log": [_logged(action, seat) for action in _actions(session.record())],
        "events": [_event(one, seat) for one in events],
    }


def _actions(record: MatchRecord) -> tuple[Action, ...]:
    """Those of the last game; not a roll that is still to be played."""
    actions = record.games[-1].actions if record.games else ()
    return tuple(one for one in actions if not isinstance(one, Turn) or one.play is not None)


def _logged(action: Action, seat: int) -> dict[str, Any]:
    """One line of the record of a game."""
    who = _who(action.player, seat)
    if isinstance(action, Turn):
        notation = "" if action.play is None else action.play.notation
        return {"do": "play", "who": who, "roll": action.roll, "play": notation}
    return {"do": action.kind, "who": who}


def _who(player: int, seat: int) -> str:
    return "me" if player == seat else "opponent"


def _own_first(pair: tuple[int, int], seat: int) -> list[int]:
    return [pair[seat], pair[1 - seat]]


def _tree(position: Position, roll: tuple[int, int] | None, plays: list[Play]) -> dict[str, Any]:
    """`play_tree` for JSON: of each step its start, end, die and node; of each node the play it is."""
    assert roll is not None
    nodes = play_tree(position, roll, plays)
    return {
        "steps": [[[step.start, step.end, step.die, step.node] for step in node.steps] for node in nodes],
        "plays": [None if node.play is None else plays[node.play].notation for node in nodes],
    }


def _event(one: dict[str, Any], seat: int) -> dict[str, Any]:
    """What happened, for JSON."""
    words = {"do": one["do"], "who": _who(one["player"], seat), "board": one["board"]}
    if one["do"] == "play":
        play = one["play"]
        moves = [[*move, hit] for move, hit in zip(play.moves, play.hits, strict=True)]
        return {
            **words,
            "roll": list(one["roll"]),
            "play": play.notation,
            "moves": moves,
            "forced": one["forced"],
        }
    if one["do"] in ("begin", "roll"):
        dice = one["event"][1:]
        return {**words, "dice": _own_first((dice[0], dice[1]), seat) if one["do"] == "begin" else dice}
    return words


def _result(record: MatchRecord, seat: int) -> dict[str, Any]:
    """How the last game ended."""
    facts = game_facts(record.games[-1])
    assert facts is not None
    return {
        "winner": _who(facts.result.winner, seat),
        "points": facts.result.points,
        "kind": facts.kind,
        "cube": facts.cube,
        "dropped": facts.dropped,
        "resigned": facts.result.resigned,
        "jacoby": facts.jacoby,
    }


def _objection(objection: Objection, game: KeptGame) -> dict[str, Any]:
    """The tutor's, for JSON."""
    choice = objection.choice
    words: dict[str, Any] = {"cost": objection.cost, "better": objection.better, "player": judge().name}
    if choice is None:
        return words
    plays = choice.better.play, choice.worse.play
    return {
        **words,
        "source": choice.source,
        "plays": [
            {"notation": play.notation, "equity": equity, "position": gnubg_id(play.position)}
            for play, equity in zip(plays, choice.equities, strict=True)
        ],
    }


def _rolls(game: KeptGame) -> dict[str, Any]:
    """The rolls of all games that have ended, game by game, and how often each die fell."""
    session, seat = game.session, game.settings.seat
    games, faces = [], {"me": [0] * 6, "opponent": [0] * 6}
    for one in session.record().games[: session.games]:
        rolls = [action for action in one.actions if isinstance(action, Turn)]
        games.append([[_who(turn.player, seat), *turn.roll] for turn in rolls])
        for turn in rolls:
            for die in turn.roll:
                faces[_who(turn.player, seat)][die - 1] += 1
    doubles = {
        who: sum(one[0] == who and one[1] == one[2] for rolls in games for one in rolls) for who in faces
    }
    counts = {who: sum(faces[who]) // 2 for who in faces}
    return {"seed": game.settings.seed, "games": games, "faces": faces, "rolls": counts, "doubles": doubles}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size


class _Wish(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewGame(_Wish):
    """A game that is to begin."""

    opponent: Opponent
    length: Annotated[int, Field(ge=0, le=LONGEST_MATCH, description="Points of the match; 0: money.")] = 0
    cube: bool = True
    jacoby: bool = False
    beavers: bool = False
    raccoons: bool = False
    name: Annotated[str, Field(max_length=40, description="What you are called in records.")] = "You"
    seed: Seed = None


class LoadedGame(_Wish):
    """A .mat file that is to be gone on with."""

    opponent: Opponent
    mat: Annotated[str, Field(max_length=_LONGEST_FILE, description="The text of the file.")]
    seat: Annotated[int, Field(ge=0, le=1, description="Which of its players you are.")] = 0
    seed: Seed = None


class Decision(_Wish):
    """What you do, and at which revision of the game."""

    revision: Annotated[int, Field(ge=0)]
    do: Literal["roll", "play", "double", "take", "drop", "beaver", "raccoon", "resign", "undo", "next"]
    play: Annotated[str, Field(max_length=60, description="The play, for `play`.")] = ""
    lose: Annotated[str, Field(max_length=20, description="single, gammon or backgammon, for `resign`.")] = ""
    tutor: Annotated[
        float | None, Field(ge=0, description="Nothing is done that costs more, and the answer says why.")
    ] = None


def shelf_of(request: Request) -> GameShelf:
    """Where the application that has got `request` keeps games."""
    shelf: GameShelf = request.app.state.shelf
    return shelf


def _desk_and_shelf(request: Request) -> tuple[Desk, GameShelf]:
    return desk_of(request), shelf_of(request)


@router.get("")
async def games(request: Request) -> Response:
    """The games that are kept, those last played first."""
    desk, shelf = _desk_and_shelf(request)
    return json_answer({"games": await desk.compute(shelf.listed)})


@router.get("/opponents")
async def all_opponents() -> Response:
    """Whom one can play against."""
    return json_answer({"opponents": opponents()})


@router.post("")
async def begin(wish: NewGame, request: Request) -> Response:
    """A new game: the opening roll, and the opponent's play where he begins."""
    desk, shelf = _desk_and_shelf(request)
    rules = SessionRules(wish.length, wish.cube, wish.jacoby, wish.beavers or wish.raccoons, wish.raccoons)
    settings = new_settings(wish.opponent, rules, wish.seed, date.today().isoformat(), wish.name)
    _, state = await desk.compute(shelf.begin, settings)
    return _created(state)


@router.post("/loaded")
async def load(wish: LoadedGame, request: Request) -> Response:
    """The games of a .mat file, to be gone on with where they end."""
    desk, shelf = _desk_and_shelf(request)
    _, state = await desk.compute(
        shelf.load, wish.mat, wish.opponent, wish.seat, wish.seed, date.today().isoformat()
    )
    return _created(state)


@router.get("/{game}")
async def state(game: str, request: Request) -> Response:
    """Where a game stands, with every legal way to go on."""
    desk, shelf = _desk_and_shelf(request)
    return json_answer(await desk.compute(shelf.state, game))


@router.post("/{game}")
async def decide(game: str, wish: Decision, request: Request) -> Response:
    """Roll, play, turn the cube, resign, take back: and where the game stands after the opponent's reply."""
    desk, shelf = _desk_and_shelf(request)
    detail = wish.play if wish.do == "play" else wish.lose
    return json_answer(await desk.compute(shelf.decide, game, wish.revision, wish.do, detail, wish.tutor))


@router.get("/{game}/mat")
async def mat(game: str, request: Request) -> Response:
    """All that was played, as a .mat file."""
    desk, shelf = _desk_and_shelf(request)
    text = await desk.compute(shelf.mat, game)
    name = f"motif-{game}.mat"
    return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})


@router.get("/{game}/rolls")
async def rolls(game: str, request: Request) -> Response:
    """Every roll of the games that have ended."""
    desk, shelf = _desk_and_shelf(request)
    return json_answer(await desk.compute(shelf.rolls, game))


@router.delete("/{game}")
async def forget(game: str, request: Request) -> Response:
    """Keep a game no longer."""
    desk, shelf = _desk_and_shelf(request)
    await desk.compute(shelf.forget, game)
    return json_answer({"game": game})


def _created(state: dict[str, object]) -> Response:
    answer = json_answer(state)
    answer.status_code = 201
    answer.headers["location"] = f"{router.prefix}/{state['game']}"
    return answer


def _status(error: Exception) -> int:
    return 404 if isinstance(error, UnknownGame) else 409


async def problem(_: Request, error: Exception) -> Response:
    """The answer to a game that is unknown, or that went on elsewhere."""
    answer = json_answer({"message": str(error)})
    answer.status_code = _status(error)
    return answer


PROBLEMS = (UnknownGame, GameWentOn)
"""Errors with a status of their own; the others are bad requests."""
