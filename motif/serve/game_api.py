"""The page's routes for games, /api/v1/games, which are not in the public schema."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Literal, TypedDict, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import Field, StrictBool, StrictFloat, StrictInt

from motif.analysis.judge import known_error_rate
from motif.board.rules import MAX_MATCH_LENGTH
from motif.evaluators.known_players import LATEST, own_name
from motif.runtime.frames import Record
from motif.serve.bodies import BodyRoute, json_answer, service_of
from motif.serve.costs import reply_cost
from motif.serve.game_store import GameStore, new_settings
from motif.serve.questions import Notation, Question, Short
from motif.serve.upload import Upload
from motif.session.kept_game import YOU, check_opponent, opponents
from motif.session.session import SessionRules

_Result = TypeVar("_Result")
router = APIRouter(prefix="/api/v1/games", include_in_schema=False, route_class=BodyRoute)
_MAX_FILE = 2_000_000
SECONDS_TO_FOLLOW = 20.0
"""Estimated time to follow a long match."""
_SECONDS_TO_JUDGE = 4.5
"""Longest estimated time for the tutor, which plays out late endings."""
_LEVELS: dict[str, tuple[str, float | None]] = {
    "beginner": ("phase", 73.4),
    "casual": ("pubeval", 35.6),
    "club": ("motif-v0", 16.7),
    "strong": (LATEST, None),
    "best": (f"{LATEST}@2", None),
}
"""Opponents by level, the weakest first, each with its millipoints per decision on the contact lines of
`data/bench/`; None for the newest weights, whose rate `known_error_rate` returns."""
OpponentName = Annotated[str, Field(max_length=60, description="A name of /api/v1/games/opponents.")]
Seed = Annotated[StrictInt | None, Field(ge=0, lt=2**53, description="Dice seed; random by default.")]


class NewGameQuestion(Question):
    """A new game."""

    opponent: OpponentName
    length: Annotated[StrictInt, Field(ge=0, le=MAX_MATCH_LENGTH)] = 0
    """Points of the match; 0: money."""
    cube: StrictBool = True
    jacoby: StrictBool = False
    beavers: StrictBool = False
    raccoons: StrictBool = False
    name: Annotated[str, Field(max_length=40)] = YOU
    """Your name in records."""
    seed: Seed = None


class LoadedGameQuestion(Question):
    """A .mat file with games to continue."""

    opponent: OpponentName
    mat: Annotated[str, Field(max_length=_MAX_FILE)]
    """The text of the file."""
    seat: Annotated[StrictInt, Field(ge=0, le=1)] = 0
    """Your seat: 0 for the first player of the file, 1 for the second."""
    seed: Seed = None


class DecisionQuestion(Question):
    """A decision at a revision of a game."""

    revision: Annotated[StrictInt, Field(ge=0)]
    do: Literal["roll", "play", "double", "take", "drop", "beaver", "raccoon", "resign", "undo", "next"]
    play: Notation = ""
    """The play, for `play`."""
    lose: Short = ""
    """single, gammon or backgammon, for `resign`."""
    tutor: Annotated[StrictFloat, Field(ge=0)] | None = None
    """Largest error that is accepted; a larger one is answered with a warning."""


def _games(request: Request) -> GameStore:
    store: GameStore = request.app.state.games
    return store


@router.get("")
async def games(request: Request) -> Response:
    """Return the stored games, the most recently changed first."""
    return json_answer({"games": await service_of(request).stored(_games(request).summaries)})


class LevelRecord(TypedDict):
    """A level of opponents for JSON."""

    level: str
    name: str
    """The opponent."""
    error_rate: float | None
    """Millipoints per decision; None if unknown."""


def levels() -> list[LevelRecord]:
    """List the levels of opponents for JSON, the weakest first."""
    records: list[LevelRecord] = []
    for level, (name, rate) in _LEVELS.items():
        known = known_error_rate(own_name(name)) if rate is None else rate
        rounded = None if known is None else round(known, 1)
        records.append({"level": level, "name": name, "error_rate": rounded})
    return records


@router.get("/opponents")
async def all_opponents() -> Response:
    """List the possible opponents."""
    return json_answer({"levels": levels(), "opponents": opponents()})


@router.post("")
async def begin(question: NewGameQuestion, request: Request) -> Response:
    """Begin a game, and return it with the opponent's play if the opponent begins."""
    rules = question.values_of(SessionRules)
    settings = new_settings(question.opponent, rules, question.seed, date.today().isoformat(), question.name)
    check_opponent(settings.opponent)
    cost = reply_cost(settings.opponent)
    return _created(await service_of(request).stored(_games(request).begin, settings, cost=cost))


@router.post("/loaded")
async def load(question: LoadedGameQuestion, request: Request) -> Response:
    """Load the games of a .mat file to continue them."""
    service = service_of(request)
    _, record = await service.read_upload(Upload("", question.mat.encode(), "the file"))
    settings = question.opponent, question.seat, question.seed, date.today().isoformat()
    load = _games(request).load
    return _created(await service.stored(load, record, *settings, cost=SECONDS_TO_FOLLOW))


@router.get("/{game}")
async def state(game: str, request: Request) -> Response:
    """Return the state of a game, with every legal decision."""
    return json_answer(await _followed(request, _games(request).state, game, replies=True))


@router.post("/{game}")
async def decide(game: str, question: DecisionQuestion, request: Request) -> Response:
    """Roll, play, turn the cube, resign or undo; return the game after the opponent's reply."""
    detail = question.play if question.do == "play" else question.lose
    decision = question.revision, question.do, detail, question.tutor
    cost = 0.0 if question.tutor is None else _SECONDS_TO_JUDGE
    found = await _followed(request, _games(request).decide, game, *decision, cost=cost, replies=True)
    return json_answer(found)


@router.get("/{game}/mat")
async def mat(game: str, request: Request) -> Response:
    """Return all games of a session as a .mat file."""
    text = await _followed(request, _games(request).mat, game)
    name = f"motif-{game}.mat"
    return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})


@router.get("/{game}/rolls")
async def rolls(game: str, request: Request) -> Response:
    """Return every roll of the games that have ended."""
    return json_answer(await _followed(request, _games(request).rolls, game))


@router.delete("/{game}")
async def forget(game: str, request: Request) -> Response:
    """Delete a game."""
    await service_of(request).stored(_games(request).delete, game)
    return json_answer({"game": game})


async def _followed(
    request: Request,
    function: Callable[..., _Result],
    game: str,
    *arguments: object,
    cost: float = 0.0,
    replies: bool = False,
) -> _Result:
    """Return the result of `function` of a game, which takes `cost` seconds and perhaps the opponent's reply.

    It runs in the slow lane if all events of the game must be followed.
    """
    games, service = _games(request), service_of(request)
    if not games.is_in_memory(game):
        cost = max(cost, SECONDS_TO_FOLLOW)
    elif replies:
        cost += await service.stored(games.reply_cost, game)
    return await service.stored(function, game, *arguments, cost=cost)


def _created(state: Record) -> Response:
    return json_answer(state, 201, {"location": f"{router.prefix}/{state['game']}"})
