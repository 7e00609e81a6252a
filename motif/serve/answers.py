"""Models of the answers of motif's own HTTP interface, which its OpenAPI schema shows."""

from functools import reduce
from operator import or_
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from motif.analysis.turn import TurnAction
from motif.runtime.frames import Record
from motif.serve.questions import examples

Number = float | None
Roll = tuple[int, int]
MoveList = list[tuple[int, int]]
Points = Annotated[
    float, Field(description="Points, for the player on roll or, after a play, for the mover.")
]
Records = list[Record]


class Answer(BaseModel):
    """An answer, which may have more fields."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class ProbabilitiesAnswer(Answer):
    """Probabilities, 0 to 1; gammons include backgammons."""

    win: float
    win_gammon: float
    win_backgammon: float
    lose_gammon: float
    lose_backgammon: float


class ValuesAnswer(ProbabilitiesAnswer):
    """Probabilities and the cubeless equity, or their standard errors."""

    equity: float


class HealthAnswer(Answer):
    """The state of the server."""

    status: str
    version: str


class PlayerAnswer(Answer):
    """An available player."""

    name: str
    kind: str
    who: str
    """Description of the player."""
    chances: bool
    """Whether its probabilities are calibrated; otherwise they only rank plays."""


class PlayersAnswer(Answer):
    """The available players."""

    players: list[PlayerAnswer]
    default: str


class EvaluationAnswer(ValuesAnswer):
    """A position's value for the player on roll, before the roll."""

    model_config = examples(
        {
            "win": 0.5162,
            "win_gammon": 0.1297,
            "win_backgammon": 0.0053,
            "lose_gammon": 0.1106,
            "lose_backgammon": 0.0048,
            "equity": 0.052,
            "class": "contact",
            "player": "motif-v1",
            "position": "4HPwATDgc/ABMA",
        }
    )
    position_class: Literal["contact", "crashed", "race"] | str = Field(alias="class")
    player: str
    position: str


class PlayAnswer(Answer):
    """A legal play."""

    notation: str
    """Empty for no move."""
    position: str
    """GNUbg ID after the play, seen by the next player on roll."""


class PlaysAnswer(Answer):
    """The legal plays of a roll."""

    plays: list[PlayAnswer]
    position: str
    roll: Roll


class RankedPlayAnswer(PlayAnswer):
    """A legal play and its value for the mover; the best plays also have probabilities."""

    moves: MoveList
    """Moves of single checkers; 25 is the bar, 0 is off."""
    equity: Points
    source: str
    """0-ply, 2-ply ..., rollout or exact."""
    win: Number = None
    win_gammon: Number = None
    win_backgammon: Number = None
    lose_gammon: Number = None
    lose_backgammon: Number = None


class HintAnswer(Answer):
    """The legal plays of a roll, the best first."""

    plays: list[RankedPlayAnswer]
    position: str
    roll: Roll
    player: str
    valued_for: str | None = None


class WindowAnswer(Answer):
    """A doubling window, in probabilities to win the game."""

    name: Literal["dead", "live", "efficiency"] | str
    efficiency: float
    double_point: Number
    take_point: float
    cash_point: float
    too_good_point: Number


class CubeEquitiesAnswer(Answer):
    """Equities of the cube actions for the player on roll, and in a match its winning chances."""

    no_double: float
    double_take: Number
    double_pass: Number
    mwc_no_double: Number = None
    mwc_double_take: Number = None
    mwc_double_pass: Number = None


class CubeStateAnswer(Answer):
    """The cube and the match length."""

    cube: int
    owner: Literal["centre", "me", "opponent"]
    length: int


class CubeActionAnswer(CubeEquitiesAnswer, CubeStateAnswer):
    """A cube decision with its doubling windows."""

    action: str
    take_point: Number
    cash_point: Number
    value: float
    should_double: bool
    should_take: bool
    should_beaver: bool
    should_raccoon: bool
    exact: bool
    words: str
    windows: list[WindowAnswer]
    opponent_windows: list[WindowAnswer]


class CubeDecisionAnswer(CubeActionAnswer, ProbabilitiesAnswer):
    """A cube decision, and the probabilities behind it."""

    cubeless: Points
    player: str
    position: str


class TurnAnswer(Answer):
    """What to do now."""

    action: TurnAction
    play: str | None
    """The best play, if there is a roll to play."""
    moves: MoveList | None
    ranking: HintAnswer | None
    cube: CubeActionAnswer | None
    position: str
    player: str


class ReasonAnswer(Answer):
    """A reason, in words."""

    concept: str
    amount: float
    sentence: str


class TermAnswer(Answer):
    """Contribution of a term of the weights to the difference."""

    name: str
    contribution: float


class ValuedPlayAnswer(PlayAnswer):
    """One of two compared plays."""

    equity: Points


class ExplanationAnswer(Answer):
    """Why one play is better than another."""

    better: ValuedPlayAnswer
    worse: ValuedPlayAnswer
    difference: float
    unit: str
    summary: str
    sentences: list[str]
    reasons: list[ReasonAnswer]
    terms: list[TermAnswer]
    player: str
    position: str
    roll: Roll


class _AnyRolloutAnswer(Answer):
    trials: int
    seconds: float
    player: str
    scoring: str
    seed: int
    position: str


class RolloutAnswer(_AnyRolloutAnswer):
    """Result of a rollout of a position: means, standard errors and standard deviations per trial."""

    mean: ValuesAnswer
    se: ValuesAnswer
    sd: ValuesAnswer
    trials_per_second: float


class ComparedPlayAnswer(PlayAnswer):
    """A play that was rolled out with the same dice as others."""

    equity: Points
    difference: float
    difference_se: Number
    p_value: Number
    mean: ValuesAnswer
    trials: int
    dropped: bool


class ComparisonAnswer(_AnyRolloutAnswer):
    """Plays rolled out with the same dice, the best first."""

    plays: list[ComparedPlayAnswer]
    doubt: float
    settled: bool
    roll: Roll


class CubeRolloutAnswer(_AnyRolloutAnswer):
    """A cube decision rolled out, with both sides doubling."""

    action: str
    no_double: float
    no_double_se: Number
    double_take: Number
    double_take_se: Number
    double_pass: Number
    difference: Number
    difference_se: Number
    mean: ValuesAnswer


class AnalysisAnswer(Answer):
    """Analysis of a match."""

    analyst: str
    length: int
    games: int
    score: tuple[int, int]
    players: Records
    errors: Records
    worst: Records


class EvaluationsAnswer(Answer):
    """Values of many positions: one list per kind of number."""

    win: list[float]
    win_gammon: list[float]
    win_backgammon: list[float]
    lose_gammon: list[float]
    lose_backgammon: list[float]
    equity: list[float]
    player: str


class HintsAnswer(Answer):
    """Hints for many rolls."""

    hints: list[HintAnswer]


class CubesAnswer(Answer):
    """Cube decisions of many positions."""

    cubes: list[CubeDecisionAnswer]


class CancelledAnswer(Answer):
    """A cancelled rollout or analysis."""

    job: str
    called_off: bool


class PlacedAnswer(CubeStateAnswer):
    """A position in every form, with its match state."""

    board: list[int]
    """26 numbers, from the perspective of the player on roll."""
    id: str
    """PositionID:MatchID, as gnubg has it."""
    gnubg: str
    xgid: str
    ogid: str
    dice: Roll | None
    doubled: bool
    score: tuple[int, int]
    crawford: bool
    jacoby: bool
    beavers: bool
    over: bool
    points: int
    """Points won if the game is over, otherwise 0."""
    can_double: bool


class ReviewLineAnswer(Answer):
    """A line of a review, with one of these fields: first the match, then decisions, then the totals."""

    match: Record | None = None
    decisions: Records | None = None
    players: Records | None = None
    themes: dict[str, str] | None = None
    message: str | None = None
    """Why the review ended early."""


def answers(*models: type[BaseModel]) -> dict[int | str, Record]:
    """Return the schema of an answer that is one of `models`."""
    return {200: {"model": reduce(or_, models), "description": models[0].__doc__ or ""}}
