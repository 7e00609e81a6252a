"""The page's routes for games, /api/v1/games, which are not in the public schema."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import Field

from motif.board.rules import MAX_MATCH_LENGTH
from motif.serve import bodies
from motif.serve.analysis_store import UnknownAnalysis
from motif.serve.bodies import BodyRoute, json_answer, service_of
from motif.serve.database import StorageError
from motif.serve.game_database import GameWentOn, NoRoomError, UnknownGame
from motif.serve.game_store import GameStore, new_settings
from motif.serve.levels import levels
from motif.serve.questions import Question
from motif.session.kept_game import opponents
from motif.session.session import SessionRules

_Result = TypeVar("_Result")
router = APIRouter(prefix="/api/v1/games", include_in_schema=False, route_class=BodyRoute)
_LONGEST_FILE = 2_000_000
_SECONDS_TO_READ = 20.0
"""Estimated time for a large .mat file."""
PROBLEMS: dict[type[Exception], int] = {
    UnknownGame: 404,
    GameWentOn: 409,
    NoRoomError: 503,
    StorageError: 503,
    UnknownAnalysis: 404,
}
"""Statuses of errors; all others are bad requests."""

Opponent = Annotated[str, Field(max_length=60, description="A name of /api/v1/games/opponents.")]
Seed = Annotated[int | None, Field(ge=0, lt=2**53, description="Dice seed; random by default.")]


class NewGameQuestion(Question):
    """A new game."""

    opponent: Opponent
    length: Annotated[int, Field(ge=0, le=MAX_MATCH_LENGTH, description="Points of the match; 0: money.")] = 0
    cube: bool = True
    jacoby: bool = False
    beavers: bool = False
    raccoons: bool = False
    name: Annotated[str, Field(max_length=40, description="Your name in records.")] = "You"
    seed: Seed = None


class LoadedGameQuestion(Question):
    """A .mat file with games to continue."""

    opponent: Opponent
    mat: Annotated[str, Field(max_length=_LONGEST_FILE, description="The text of the file.")]
    seat: Annotated[
        int, Field(ge=0, le=1, description="Your seat: 0 for the first player of the file, 1 for the second.")
    ] = 0
    seed: Seed = None


class DecisionQuestion(Question):
    """A decision at a revision of a game."""

    revision: Annotated[int, Field(ge=0)]
    do: Literal["roll", "play", "double", "take", "drop", "beaver", "raccoon", "resign", "undo", "next"]
    play: Annotated[str, Field(max_length=60, description="The play, for `play`.")] = ""
    lose: Annotated[str, Field(max_length=20, description="single, gammon or backgammon, for `resign`.")] = ""
    tutor: Annotated[
        float | None,
        Field(ge=0, description="Largest error that is accepted; a larger one is answered with a warning."),
    ] = None


async def _compute(
    request: Request, method: Callable[..., _Result], *arguments: object, cost: float = 0.0
) -> _Result:
    """Call a method of the store in a thread."""
    return await service_of(request).compute(method, request.app.state.games, *arguments, cost=cost)


@router.get("")
async def games(request: Request) -> Response:
    """Return the stored games, the most recently changed first."""
    return json_answer({"games": await _compute(request, GameStore.summaries)})


@router.get("/opponents")
async def all_opponents() -> Response:
    """List the possible opponents."""
    return json_answer({"levels": levels(), "opponents": opponents()})


@router.post("")
async def begin(question: NewGameQuestion, request: Request) -> Response:
    """Begin a game, and return it with the opponent's play if the opponent begins."""
    rules = SessionRules(
        question.length,
        question.cube,
        question.jacoby,
        question.beavers or question.raccoons,
        question.raccoons,
    )
    settings = new_settings(question.opponent, rules, question.seed, date.today().isoformat(), question.name)
    state = await _compute(request, GameStore.begin, settings)
    return _created(state)


@router.post("/loaded")
async def load(question: LoadedGameQuestion, request: Request) -> Response:
    """Load the games of a .mat file to continue them."""
    settings = question.mat, question.opponent, question.seat, question.seed, date.today().isoformat()
    state = await _compute(request, GameStore.load, *settings, cost=_SECONDS_TO_READ)
    return _created(state)


@router.get("/{game}")
async def state(game: str, request: Request) -> Response:
    """Return the state of a game, with every legal decision."""
    return json_answer(await _compute(request, GameStore.state, game))


@router.post("/{game}")
async def decide(game: str, question: DecisionQuestion, request: Request) -> Response:
    """Roll, play, turn the cube, resign or undo; return the game after the opponent's reply."""
    detail = question.play if question.do == "play" else question.lose
    return json_answer(
        await _compute(
            request, GameStore.decide, game, question.revision, question.do, detail, question.tutor
        )
    )


@router.get("/{game}/mat")
async def mat(game: str, request: Request) -> Response:
    """Return all games of a session as a .mat file."""
    text = await _compute(request, GameStore.mat, game)
    name = f"motif-{game}.mat"
    return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})


@router.get("/{game}/rolls")
async def rolls(game: str, request: Request) -> Response:
    """Return every roll of the games that have ended."""
    return json_answer(await _compute(request, GameStore.rolls, game))


@router.delete("/{game}")
async def forget(game: str, request: Request) -> Response:
    """Delete a game."""
    await _compute(request, GameStore.delete, game)
    return json_answer({"game": game})


def _created(state: dict[str, object]) -> Response:
    answer = json_answer(state)
    answer.status_code = 201
    answer.headers["location"] = f"{router.prefix}/{state['game']}"
    return answer


async def problem(_: Request, error: Exception) -> Response:
    """Answer for a game or analysis that is unknown, out of date, or cannot be stored."""
    return bodies.problem(PROBLEMS[type(error)], str(error))
