"""wildbg's HTTP interface, GET /move and GET /eval, for programs that ask wildbg.

Source: the crate `web` of https://github.com/carsten-wenderdel/wildbg (its parameters, answers and messages).
Points are p1 to p24 of the player to move, p0 and p25 the bars of the opponent and of the player, whose
checkers are positive.  ``x_away`` and ``o_away`` are points to win, both 0 for money.
"""

import re
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, Field

from motif.analysis.cube_records import cube_answers
from motif.board.match_state import MatchState
from motif.board.packed import BOARD_SIZE, CHECKERS, OPPONENT_BAR, OWN_BAR
from motif.board.position import Position
from motif.evaluators import Probabilities
from motif.players.ranking import rank_plays
from motif.runtime.errors import PlayError, PositionError
from motif.runtime.frames import Record
from motif.serve.answers import ErrorMessage, errors
from motif.serve.bodies import computed, service_of
from motif.serve.costs import RequestKind, effort_of
from motif.serve.engine_service import EngineService

router = APIRouter(tags=["wildbg"])
_MAX_LENGTH = 25
_MIN_COUNT, _MAX_COUNT = -128, 127
"""Range of a number of checkers, as in wildbg."""


class QueryError(Exception):
    """A parameter that is missing or not a number; wildbg answers in plain text."""


class _Query:
    """The parameters of a request, as wildbg reads them."""

    def __init__(self, request: Request) -> None:
        self._items = request.query_params.multi_items()

    def number(
        self, name: str, default: int | None = None, low: int = _MIN_COUNT, high: int = _MAX_COUNT
    ) -> int:
        """Return the number `name`, which is required unless there is a `default`."""
        text = self._text(name)
        if text is None and default is None:
            raise QueryError(f"missing field `{name}`")
        if text is None:
            return default or 0
        if not re.fullmatch("[+-]?[0-9]+" if low < 0 else "[+]?[0-9]+", text):
            raise QueryError(f"{name}: invalid digit found in string")
        beyond = low - 1 if text.startswith("-") else high + 1
        number = int(text) if len(text) < 20 else beyond
        if not low <= number <= high:
            raise QueryError(
                f"{name}: number too {'large' if number > high else 'small'} to fit in target type"
            )
        return number

    def truth(self, name: str) -> bool:
        """Return whether the optional parameter `name` is ``true``."""
        text = self._text(name)
        if text not in ("true", "false", None):
            raise QueryError(f"{name}: provided string was not `true` or `false`")
        return text == "true"

    def _text(self, name: str) -> str | None:
        """Return the value of the parameter `name`; None without one."""
        texts = [text for key, text in self._items if key == name]
        if len(texts) > 1:
            raise QueryError(f"duplicate field `{name}`")
        return texts[0] if texts else None


def _position(counts: list[int]) -> Position:
    """Return the position of 26 counts of checkers; raises `PositionError` in wildbg's words."""
    for player, sign in (("x", 1), ("o", -1)):
        if sum(max(0, sign * count) for count in counts) > CHECKERS:
            raise PositionError(f"Player {player} has more than 15 checkers on the board.")
    if counts[OWN_BAR] < 0:
        raise PositionError("Index 25 is the bar for player x, number of checkers needs to be positive.")
    if counts[OPPONENT_BAR] > 0:
        raise PositionError("Index 0 is the bar for player o, number of checkers needs to be negative.")
    return Position(counts)


def _counts(query: _Query) -> list[int]:
    return [query.number(f"p{place}", 0) for place in range(BOARD_SIZE)]


def _score(query: _Query) -> tuple[int, int, bool]:
    """Return the points that both players still need, and whether it is the Crawford game."""
    return query.number("x_away", 0, low=0), query.number("o_away", 0, low=0), query.truth("crawford")


def _state(own: int, opponent: int, crawford: bool) -> MatchState | None:
    """Return the match of a score, or None for money; raises `PositionError` for an impossible score."""
    if own == opponent == 0:
        return None
    if not (0 < own <= _MAX_LENGTH and 0 < opponent <= _MAX_LENGTH):
        raise PositionError(f"x_away and o_away must be 1 to {_MAX_LENGTH}, or both 0 for money.")
    length = max(own, opponent)
    return MatchState(length, length - own, length - opponent, crawford=crawford)


def _chances(chances: Probabilities) -> Record:
    return dict(zip(WildbgProbabilities.model_fields, chances, strict=True))


class WildbgProbabilities(BaseModel):
    """Probabilities of the player to move; gammons include backgammons."""

    win: Annotated[float, Field(ge=0, le=1)]
    winG: Annotated[float, Field(ge=0, le=1)]  # noqa: N815
    winBg: Annotated[float, Field(ge=0, le=1)]  # noqa: N815
    loseG: Annotated[float, Field(ge=0, le=1)]  # noqa: N815
    loseBg: Annotated[float, Field(ge=0, le=1)]  # noqa: N815


class MoveDetail(BaseModel):
    """One checker's move: 25 is the bar, 0 is off."""

    model_config = {"populate_by_name": True}
    start: Annotated[int, Field(ge=1, le=25, alias="from")]
    to: Annotated[int, Field(ge=0, le=24)]


class MoveInfo(BaseModel):
    """A play, and the probabilities after it."""

    play: Annotated[list[MoveDetail], Field(max_length=4)]
    probabilities: WildbgProbabilities


class MoveResponse(BaseModel):
    """The legal plays, the best first; if no move is legal, one play without moves."""

    moves: list[MoveInfo]


class CubeInfo(BaseModel):
    """Whether to double, and whether the opponent should take; equities for one cube, before the double."""

    double: bool
    accept: bool
    cubelessEquity: float  # noqa: N815
    equityCubeless: float  # noqa: N815
    equityNoDouble: float  # noqa: N815
    equityDoubleTake: float | None  # noqa: N815


class EvalResponse(BaseModel):
    """The cube decision and the probabilities of a position."""

    cube: CubeInfo
    probabilities: WildbgProbabilities


def _parameters(*, with_dice: bool) -> list[Record]:
    """Return the query parameters for the schema, with the opening position and 31 as examples."""
    start = {1: -2, 6: 5, 8: 3, 12: -5, 13: 5, 17: -3, 19: -5, 24: 2}
    dice = [("die1", True, 1, 6, 3), ("die2", True, 1, 6, 1)] if with_dice else []
    places = [
        (f"p{place}", False, 0 if place == OWN_BAR else -CHECKERS, CHECKERS * (place > 0), start.get(place))
        for place in range(BOARD_SIZE)
    ]
    away = [(name, False, 0, _MAX_LENGTH, None) for name in ("x_away", "o_away")]
    listed = [
        {
            "name": name,
            "in": "query",
            "required": needed,
            "schema": {"type": "integer", "minimum": low, "maximum": high},
            **({} if example is None else {"example": example}),
        }
        for name, needed, low, high, example in (*dice, *places, *away)
    ]
    crawford = {"name": "crawford", "in": "query", "required": False, "schema": {"type": "boolean"}}
    return [*listed, crawford]


_ERRORS: dict[int | str, Record] = {
    400: {
        "model": ErrorMessage,
        "description": "Invalid position or dice; for a missing or invalid number in plain text.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    },
    **errors(503),
}


@router.get(
    "/move",
    responses={200: {"model": MoveResponse}, **_ERRORS},
    openapi_extra={"parameters": _parameters(with_dice=True)},
)
async def get_move(request: Request) -> Response:
    """wildbg: the legal plays of a roll, the best first."""
    query = _Query(request)
    dice = [query.number(name, low=0, high=2**64 - 1) for name in ("die1", "die2")]
    counts, score = _counts(query), _score(query)
    position = _position(counts)
    if not all(1 <= die <= 6 for die in dice):
        raise PlayError("Dice values must be between 1 and 6.")
    service = service_of(request)
    roll = max(dice), min(dice)
    cost = service.cost(RequestKind.PLAYS, None, position=position, effort=effort_of(position, roll))
    return await computed(request, _move, service, position, roll, _state(*score), cost=cost)


def _move(
    service: EngineService, position: Position, roll: tuple[int, int], state: MatchState | None
) -> Record:
    _, evaluator = service.judge()
    plays = rank_plays(position, roll, evaluator, state, with_probabilities=True)
    return {
        "moves": [
            {
                "play": [{"from": source, "to": target} for source, target in ranked.play.moves],
                "probabilities": _chances(ranked.chances),
            }
            for ranked in plays
        ]
    }


@router.get(
    "/eval",
    responses={200: {"model": EvalResponse}, **_ERRORS},
    openapi_extra={"parameters": _parameters(with_dice=False)},
)
async def get_eval(request: Request) -> Response:
    """wildbg: probabilities of a position before the roll, whether to double and whether to take."""
    query = _Query(request)
    counts, score = _counts(query), _score(query)
    position = _position(counts)
    service = service_of(request)
    cost = service.cost(RequestKind.CUBE, None, position=position)
    return await computed(request, _eval, service, position, _state(*score), cost=cost)


def _eval(service: EngineService, position: Position, state: MatchState | None) -> Record:
    name, evaluator = service.judge()
    answer = next(cube_answers([(position, state or MatchState())], evaluator, name, jobs=1))
    decision, chances = answer.decision, answer.decision.probabilities
    cube = {
        "double": decision.should_double,
        "accept": decision.should_take,
        **dict.fromkeys(("cubelessEquity", "equityCubeless"), chances.equity),
        "equityNoDouble": decision.no_double,
        "equityDoubleTake": decision.double_take,
    }
    return {"cube": cube, "probabilities": _chances(chances)}


async def bad_query(_: Request, error: Exception) -> Response:
    """Answer for a `QueryError`, as wildbg does."""
    return PlainTextResponse(f"Failed to deserialize query string: {error}", 400)
