"""bgweb-api's HTTP interface, POST /api/v1/getmoves, for programs that ask bgweb-api.

Source: api/openapi.yaml of https://github.com/foochu/bgweb-api.  Checkers are seen by their owner; points
are strings, with ``bar`` and ``off``; numbers have three decimals.
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, create_model

from motif.board.match_state import MatchState
from motif.board.moves import as_roll, legal_plays
from motif.board.packed import BOARD_SIZE, CHECKERS, OWN_BAR, POINTS
from motif.board.position import Position
from motif.evaluators import Probabilities
from motif.players.ranking import rank_plays
from motif.runtime.errors import PositionError
from motif.runtime.frames import Record
from motif.serve.answers import ERRORS
from motif.serve.bodies import BodyRoute, computed, service_of
from motif.serve.costs import RequestKind, effort_of
from motif.serve.engine_service import EngineService
from motif.serve.questions import Die, Question, examples

router = APIRouter(tags=["bgweb-api"], route_class=BodyRoute)
_DIGITS = 3
_START: Record = {"6": 5, "8": 3, "13": 5, "24": 2}
_Checkers = Annotated[StrictInt, Field(ge=0, le=CHECKERS)]
_NAMES = {"bar": OWN_BAR, **{str(point): point for point in range(1, POINTS + 1)}}
"""Places by their names in a layout."""
_WORDS = {OWN_BAR: "bar", 0: "off"}
"""Places of a move besides points."""
_FIELDS: dict[str, Any] = {
    f"place{place}": (_Checkers, Field(default=0, alias=name)) for name, place in _NAMES.items()
}
CheckerLayout: Any = create_model(
    "CheckerLayout",
    __doc__="Checkers on each point and on the bar, seen by their owner; other places have none.",
    __config__=ConfigDict(extra="forbid", json_schema_extra={"example": _START}),
    **_FIELDS,
)


class Board(Question):
    """The checkers of both players."""

    x: CheckerLayout
    o: CheckerLayout

    def position(self, player: str) -> Position:
        """Return the position with `player`, x or o, on roll; raises `PositionError`."""
        own, other = (self.x, self.o) if player == "x" else (self.o, self.x)
        counts = [0] * BOARD_SIZE
        for place in _NAMES.values():
            counts[place] += getattr(own, f"place{place}")
        for place in _NAMES.values():
            taken = getattr(other, f"place{place}")
            if taken and counts[OWN_BAR - place] > 0:
                raise PositionError(f"both players have checkers on the opponent's {place} point")
            counts[OWN_BAR - place] -= taken
        return Position(counts)


class MoveArgs(Question):
    """A position and a roll."""

    model_config = examples(
        {
            "board": {"x": _START, "o": _START},
            "dice": [3, 1],
            "player": "x",
            "max-moves": 3,
            "score-moves": True,
            "cubeful": False,
        }
    )
    board: Board
    dice: tuple[Die, Die]
    player: Annotated[Literal["x", "o"], Field(description="The player on roll.")] = "x"
    max_moves: Annotated[
        StrictInt,
        Field(ge=0, alias="max-moves", description="Maximum number of plays to return; 0 returns all."),
    ] = 0
    score_moves: Annotated[
        StrictBool, Field(alias="score-moves", description="Rank the plays, with equities.")
    ] = True
    cubeful: Annotated[StrictBool, Field(description="Value plays with a cube in the centre, for money.")] = (
        False
    )


_POINTS = [str(point) for point in range(1, POINTS + 1)]


class CheckerPlay(BaseModel):
    """One checker's move."""

    start: Annotated[str, Field(alias="from", json_schema_extra={"enum": [*_POINTS, "bar"]})]
    to: Annotated[str, Field(json_schema_extra={"enum": [*_POINTS, "off"]})]


class EvalInfo(BaseModel):
    """Evaluation of a play."""

    cubeful: bool
    plies: Annotated[int, Field(description="1 is the static evaluation.")]


class BgwebProbability(BaseModel):
    """Probabilities after a play; gammons include backgammons."""

    win: float
    winG: float  # noqa: N815
    winBG: float  # noqa: N815
    lose: float
    loseG: float  # noqa: N815
    loseBG: float  # noqa: N815


class Evaluation(BaseModel):
    """Equity of a play, and its difference from the best, at most 0."""

    info: EvalInfo
    eq: float
    diff: float
    probability: BgwebProbability


class Move(BaseModel):
    """A play, with its evaluation if requested."""

    play: list[CheckerPlay]
    evaluation: Evaluation | None = None


@router.post("/api/v1/getmoves", responses={200: {"model": list[Move]}, **ERRORS})
async def get_moves(question: MoveArgs, request: Request) -> Response:
    """bgweb-api: the legal plays of a roll, the best first; empty if no move is legal."""
    service = service_of(request)
    position = question.board.position(question.player)
    roll = as_roll(question.dice)
    effort = effort_of(position, roll)
    cost = service.cost(RequestKind.PLAYS, None, position=position, effort=effort)
    return await computed(request, _moves, service, question, position, roll, cost=cost)


def _moves(
    service: EngineService, question: MoveArgs, position: Position, roll: tuple[int, int]
) -> list[Record]:
    count = question.max_moves or None
    if not question.score_moves:
        plays = legal_plays(position, roll)
        return [{"play": _play(play.moves)} for play in plays[:count] if play.moves]
    _, evaluator = service.judge()
    state = MatchState() if question.cubeful else None
    ranked = rank_plays(position, roll, evaluator, state, with_probabilities=True)
    return [
        {
            "play": _play(row.play.moves),
            "evaluation": {
                "info": {"cubeful": question.cubeful, "plies": row.plies + 1},
                "eq": round(row.equity, _DIGITS),
                "diff": round(row.difference, _DIGITS),
                "probability": _probability(row.chances),
            },
        }
        for row in ranked[:count]
        if row.play.moves
    ]


def _play(moves: tuple[tuple[int, int], ...]) -> list[Record]:
    return [{"from": _WORDS.get(start, str(start)), "to": _WORDS.get(end, str(end))} for start, end in moves]


def _probability(chances: Probabilities) -> Record:
    win, win_gammon, win_backgammon, *lost = (round(chance, _DIGITS) for chance in chances)
    numbers = win, win_gammon, win_backgammon, round(1 - chances.win, _DIGITS), *lost
    return dict(zip(BgwebProbability.model_fields, numbers, strict=True))
