"""The routes of games played on the page, /api/v1/games.

They are the page's own, and change with it: the schema of the interface leaves them out.
"""

from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from motif.board.rules import MAX_MATCH_LENGTH
from motif.serve.analysis_store import UnknownAnalysis
from motif.serve.bodies import BodyRoute, desk_of, json_answer
from motif.serve.database import StorageError
from motif.serve.desk import Desk
from motif.serve.game_database import GameWentOn, NoRoomError, UnknownGame
from motif.serve.game_store import GameStore, new_settings
from motif.serve.levels import levels
from motif.session.kept_game import opponents
from motif.session.session import SessionRules

router = APIRouter(prefix="/api/v1/games", include_in_schema=False, route_class=BodyRoute)
_LONGEST_FILE = 2_000_000
_SECONDS_TO_READ = 20.0
"""What a large .mat file may take; it keeps nobody waiting for quick answers."""
PROBLEMS: dict[type[Exception], int] = {
    UnknownGame: 404,
    GameWentOn: 409,
    NoRoomError: 503,
    StorageError: 503,
    UnknownAnalysis: 404,
}
"""Errors with a status of their own; the others are bad requests."""

Opponent = Annotated[str, Field(max_length=60, description="Who plays: a name of /api/v1/games/opponents.")]
Seed = Annotated[int | None, Field(ge=0, lt=2**53, description="Of the dice; a new one by default.")]


class _Wish(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewGame(_Wish):
    """A game that is to begin."""

    opponent: Opponent
    length: Annotated[int, Field(ge=0, le=MAX_MATCH_LENGTH, description="Points of the match; 0: money.")] = 0
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


def _desk_and_store(request: Request) -> tuple[Desk, GameStore]:
    return desk_of(request), request.app.state.games


@router.get("")
async def games(request: Request) -> Response:
    """Return the games that are kept, those last played first."""
    desk, store = _desk_and_store(request)
    return json_answer({"games": await desk.compute(store.listed)})


@router.get("/opponents")
async def all_opponents() -> Response:
    """Whom one can play against."""
    return json_answer({"levels": levels(), "opponents": opponents()})


@router.post("")
async def begin(wish: NewGame, request: Request) -> Response:
    """Return a new game: the opening roll, and the opponent's play where he begins."""
    desk, store = _desk_and_store(request)
    rules = SessionRules(wish.length, wish.cube, wish.jacoby, wish.beavers or wish.raccoons, wish.raccoons)
    settings = new_settings(wish.opponent, rules, wish.seed, date.today().isoformat(), wish.name)
    state = await desk.compute(store.begin, settings)
    return _created(state)


@router.post("/loaded")
async def load(wish: LoadedGame, request: Request) -> Response:
    """Return the games of a .mat file, to be gone on with where they end."""
    desk, store = _desk_and_store(request)
    settings = wish.mat, wish.opponent, wish.seat, wish.seed, date.today().isoformat()
    state = await desk.compute(store.load, *settings, cost=_SECONDS_TO_READ)
    return _created(state)


@router.get("/{game}")
async def state(game: str, request: Request) -> Response:
    """Where a game stands, with every legal way to go on."""
    desk, store = _desk_and_store(request)
    return json_answer(await desk.compute(store.state, game))


@router.post("/{game}")
async def decide(game: str, wish: Decision, request: Request) -> Response:
    """Roll, play, turn the cube, resign, take back: and where the game stands after the opponent's reply."""
    desk, store = _desk_and_store(request)
    detail = wish.play if wish.do == "play" else wish.lose
    return json_answer(await desk.compute(store.decide, game, wish.revision, wish.do, detail, wish.tutor))


@router.get("/{game}/mat")
async def mat(game: str, request: Request) -> Response:
    """All that was played, as a .mat file."""
    desk, store = _desk_and_store(request)
    text = await desk.compute(store.mat, game)
    name = f"motif-{game}.mat"
    return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})


@router.get("/{game}/rolls")
async def rolls(game: str, request: Request) -> Response:
    """Every roll of the games that have ended."""
    desk, store = _desk_and_store(request)
    return json_answer(await desk.compute(store.rolls, game))


@router.delete("/{game}")
async def forget(game: str, request: Request) -> Response:
    """Keep a game no longer."""
    desk, store = _desk_and_store(request)
    await desk.compute(store.forget, game)
    return json_answer({"game": game})


def _created(state: dict[str, object]) -> Response:
    answer = json_answer(state)
    answer.status_code = 201
    answer.headers["location"] = f"{router.prefix}/{state['game']}"
    return answer


async def problem(_: Request, error: Exception) -> Response:
    """Answer where a game is unknown or went on elsewhere, or where none can be kept."""
    answer = json_answer({"message": str(error)})
    answer.status_code = PROBLEMS[type(error)]
    return answer
