"""Models of the answers of motif's own HTTP interface, which its OpenAPI schema shows."""

from functools import reduce
from operator import or_
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from motif.analysis.turn import TurnAction
from motif.runtime.frames import Record
from motif.serve.questions import examples

_Figure = TypeVar("_Figure")
Number = float | None
Roll = tuple[int, int]
MoveList = list[tuple[int, int]]
Points = Annotated[
    float, Field(description="Points, for the player on roll or, after a play, for the mover.")
]


class Answer(BaseModel):
    """An answer, which may have more fields."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class _EachProbability(Answer, Generic[_Figure]):
    win: _Figure
    win_gammon: _Figure
    win_backgammon: _Figure
    lose_gammon: _Figure
    lose_backgammon: _Figure


class ProbabilitiesAnswer(_EachProbability[float]):
    """Probabilities, 0 to 1; gammons include backgammons."""


class ValuesAnswer(ProbabilitiesAnswer):
    """Probabilities and an equity."""

    equity: float


class RolledErrors(_EachProbability[Number]):
    """Standard errors, or standard deviations, of probabilities and an equity; null after a single trial."""

    equity: Number


class MatchContext(Answer):
    """The match and cube for which plays are valued; without these fields, cubeless money play."""

    valued_for: str | None = None
    """Score and cube, in words."""
    gammon_value: Number = None
    """Value of winning a gammon, as a share of the difference between winning and losing."""
    gammon_value_lost: Number = None
    """The same of losing a gammon."""


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
    """Whether its probabilities can decide about the cube; otherwise they only rank plays."""
    rollouts: bool
    """Whether it can play rollouts over HTTP, without @1 or @2."""


class PlayersAnswer(Answer):
    """The available players."""

    players: list[PlayerAnswer]
    default: str
    """The default player; plays and cube decisions are judged with its 2-ply lookahead, unless the server
    was started with another player."""


class DetailsAnswer(Answer):
    """How the player values the position; which fields there are depends on the player."""

    features: dict[str, float]
    """The player's parameters of the position, by name."""
    raw: dict[str, float] | None = None
    """Raw sums of weight files, by probability."""
    hidden_units: dict[str, float] | None = None
    """Activations of hidden units, by name."""
    D: Number = None
    """BRAS's score, and what follows from it."""
    g: Number = None
    S_me: Number = None
    S_op: Number = None
    phase: str | None = None
    """Phase of the game, of the player phase."""
    score_of_player_who_moved_last: Number = None


class GroupAnswer(Answer):
    """Contribution of a group of terms."""

    name: str
    contribution: float
    """In x, the scale before tanh."""
    amount: float
    """In the `unit` of the explanation."""


class TermAnswer(Answer):
    """Contribution of a term of the weights."""

    name: str
    contribution: float
    """In x, the scale before tanh."""
    words: str | None = None
    """Description of a hidden unit."""


class PositionExplanationAnswer(Answer):
    """The parts of a position's static value."""

    x: float
    """The sum of `on_roll` and of the contributions; the equity is 3 tanh x."""
    on_roll: float
    """The part of x due to being on roll."""
    unit: str
    summary: str
    sentences: list[str]
    groups: list[GroupAnswer]
    terms: list[TermAnswer]


class EvaluationAnswer(ValuesAnswer):
    """A position's value for the player on roll, before the roll; the equity is cubeless."""

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
    details: DetailsAnswer | None = None
    """With `detailed`."""
    explanation: PositionExplanationAnswer | None = None
    """With `detailed`, of weight files."""


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
    """A legal play, its value for the mover, and in a hint its probabilities."""

    moves: MoveList
    """Moves of single checkers; 25 is the bar, 0 is off."""
    equity: Points
    source: str
    """0-ply, 2-ply ..., rollout or exact."""
    difference: Number = None
    """With `shown`: the equity as shown minus that of the first play; null if their sources differ."""
    lookahead: Number = None
    """Equity by lookahead of a play among `known_plays`."""
    se: Number = None
    """Standard error of an equity among `known_plays`."""
    win: Number = None
    win_gammon: Number = None
    win_backgammon: Number = None
    lose_gammon: Number = None
    lose_backgammon: Number = None


class HintAnswer(MatchContext):
    """The legal plays of a roll, the best first."""

    plays: list[RankedPlayAnswer]
    position: str
    roll: Roll
    player: str


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
    """The cube, the match length, and the rules: those of a match, or those of money play."""

    cube: int
    owner: Literal["centre", "me", "opponent"]
    """me is the player on roll; requests accept the same words."""
    length: int
    """Points of the match; 0: money play."""
    score: tuple[int, int] | None = None
    """Points won by the player on roll and by the opponent, in a match."""
    crawford: bool | None = None
    """Whether it is the Crawford game, in a match."""
    jacoby: bool | None = None
    beavers: bool | None = None
    raccoons: bool | None = None


class CubeActionAnswer(CubeEquitiesAnswer, CubeStateAnswer, ProbabilitiesAnswer):
    """A cube decision with its doubling windows, and the probabilities behind it."""

    action: str
    take_point: Number
    cash_point: Number
    value: float
    """Equity with the right actions."""
    efficiency: float
    """Cube efficiency, 0 to 1."""
    should_double: bool
    should_take: bool
    should_beaver: bool
    should_raccoon: bool
    exact: bool
    cubeless: Points
    words: str
    windows: list[WindowAnswer]
    opponent_windows: list[WindowAnswer]


class BrasWindowAnswer(Answer):
    """Window of BRAS's score S, measured in games of `player`."""

    double_from: float
    double_se: float
    drop_from: float
    drop_se: float
    positions: int
    games: int
    player: str


class BrasAnswer(Answer):
    """BRAS's score S and its cube action."""

    S: float
    live_from: list[float]
    drop_from: float
    action: str
    measured: BrasWindowAnswer | None = None
    measured_action: str | None = None


class CubeRowAnswer(Answer):
    """A cube action and its equity, as shown."""

    action: str
    equity: float
    difference: Number
    """From the best action; null for that, and for the opponent's mistakes."""
    mwc: Number
    """Chance of winning the match, in a match."""


class CubeTableAnswer(Answer):
    """The cube actions for display."""

    right: str
    rows: list[CubeRowAnswer]


class CubeDecisionAnswer(CubeActionAnswer):
    """A cube decision of a position."""

    position_class: Literal["contact", "crashed", "race"] | str = Field(alias="class")
    player: str
    position: str
    bras: BrasAnswer | None = None
    """If the player is BRAS."""
    source: str | None = None
    """With `shown`: 0-ply, 2-ply ..., rollout or exact."""
    se: Number = None
    """With `shown`: standard error of the difference."""
    table: CubeTableAnswer | None = None
    """With `shown`."""


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
    """A reason, in words; its numbers are points of equity, and those of all reasons add up."""

    concept: str
    play: Literal["better", "worse"]
    """The play that it favours."""
    amount: float
    """Size, at least 0."""
    contribution: float
    """`amount`, negative if the reason favours the worse play."""
    shown: float
    """`contribution`, rounded so that the sum is the rounded `judged_difference`."""
    sentence: str


class ValuedPlayAnswer(PlayAnswer):
    """One of two compared plays, by the static evaluation."""

    x: float
    """The sum before tanh."""
    equity: Points
    """Static, cubeless: 3 tanh x; tanh x for players who only estimate wins."""


class RepliesAnswer(Answer):
    """The opponent's best replies to both plays; values are the mover's."""

    player: str
    difference: float
    """Mean difference of both plays over all rolls, in points."""
    hits: tuple[int, int]
    """Number of rolls, of 36, whose best reply hits, by play."""
    of_hits: float
    """Part of `difference` that is due to hits."""
    rolls: dict[str, float]
    """Difference of both plays by the opponent's roll, such as 31."""
    sentences: list[str]


class EvidenceAnswer(MatchContext):
    """The best estimates of two plays, and what lookahead sees; equities are normalised in a match."""

    player: str
    position: str
    roll: Roll
    equity_difference: float
    """Static, cubeless equity of the better play minus that of the worse one."""
    judged: tuple[float, float]
    """Equities of both plays by the best estimate."""
    judged_difference: float
    """`judged` of the better play minus that of the worse one, as in `summary`: in points; if `unit` is % of
    winning chances, 1 is 50 %."""
    judged_source: str
    """0-ply, 2-ply ..., rollout or exact."""
    judged_se: Number
    """Standard error of `judged_difference` by a rollout."""
    staked: tuple[float, float] | None = None
    """Static equities for the match and cube, if any."""
    ahead: tuple[float, float] | None = None
    """Equities by lookahead, if any."""
    overruled: bool | None = None
    """Whether lookahead prefers another play than the static evaluation."""
    replies: RepliesAnswer | None = None
    """The opponent's replies, with lookahead."""


class ExplanationAnswer(EvidenceAnswer):
    """Why one play is better than another, for the mover."""

    better: ValuedPlayAnswer
    worse: ValuedPlayAnswer
    difference: float
    """Static difference in x, the scale before tanh, not in `unit`: the sum of the `terms`' contributions."""
    unit: str
    """Unit of the amounts in the sentences: points, or % of winning chances."""
    summary: str
    sentences: list[str]
    """The sentences of the `reasons`, without those that round to 0."""
    gammons: str
    """A sentence on gammons, or empty."""
    certainty: str
    """A sentence on how certain the difference is, or empty."""
    values: str
    """A sentence with x and the static values of both plays."""
    grid: list[list[float]] | None
    """Advantage of the better play by the opponent's dice (6 x 6), with lookahead."""
    reasons: list[ReasonAnswer]
    groups: list[GroupAnswer]
    terms: list[TermAnswer]


class _AnyRolloutAnswer(Answer):
    trials: int
    seconds: float
    player: str
    scoring: str
    seed: int
    position: str
    cubeful: bool | None = None
    """True if both sides double; otherwise missing."""


class RolloutAnswer(_AnyRolloutAnswer):
    """Rollout of a position: means, standard errors, standard deviations per trial; equities are cubeless."""

    mean: ValuesAnswer
    se: RolledErrors
    sd: RolledErrors
    trials_per_second: float


class ComparedPlayAnswer(PlayAnswer):
    """A play that was rolled out with the same dice as others."""

    equity: Points
    """That of `mean`."""
    difference: float
    difference_se: Number
    p_value: Number
    mean: ValuesAnswer
    """The equity is cubeful if the rollout is; otherwise cubeless."""
    se: RolledErrors
    trials: int
    dropped: bool


class ComparisonAnswer(_AnyRolloutAnswer, MatchContext):
    """Plays rolled out with the same dice, the best first."""

    plays: list[ComparedPlayAnswer]
    doubt: Number
    settled: bool
    significance: Number
    """Maximum probability that the best play was dropped; null without `eliminate`."""
    trials_per_second: float
    roll: Roll


class StaticCubeAnswer(Answer):
    """The static cube decision of a position that is rolled out."""

    action: str
    no_double: float
    double_take: Number
    double_pass: Number
    exact: bool


class CubeRolloutAnswer(_AnyRolloutAnswer, CubeEquitiesAnswer, CubeStateAnswer):
    """A cube decision rolled out, with both sides doubling; equities are normalised in a match."""

    action: str
    no_double_se: Number
    double_take_se: Number
    difference: Number
    difference_se: Number
    mean: ValuesAnswer
    """Without a double; the equity is cubeful, `no_double`."""
    se: RolledErrors
    static: StaticCubeAnswer


class EvaluationsAnswer(_EachProbability[list[float]]):
    """Values of many positions: one list per kind of number."""

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


class ResultAnswer(Answer):
    """The end of a game."""

    kind: Literal["single", "gammon", "backgammon"]
    points: int
    """Points won by the winner."""
    jacoby: bool
    """Whether it counts as a single game by the Jacoby rule."""


class ScoreAnswer(CubeStateAnswer):
    """The cube, the score and the rules of a game."""

    score: tuple[int, int]
    crawford: bool
    jacoby: bool
    beavers: bool


class PlacedAnswer(ScoreAnswer):
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
    over: bool
    points: int
    """Points won if the game is over, otherwise 0."""
    result: ResultAnswer | None
    """How the game ended if it is over."""
    can_double: bool
    can_beaver: bool
    """Whether a double by the player on roll may be beavered."""


class ErrorMessage(BaseModel):
    """The error, in one line."""

    message: str
    fields: list[str] = Field(
        [], description="Fields or parameters of the request that are at fault, if known."
    )


REFERENCE = "#/components/schemas/"
_JSON_ERROR: Record = {"application/json": {"schema": {"$ref": f"{REFERENCE}{ErrorMessage.__name__}"}}}
_STATUSES = {
    400: "The request is invalid.",
    404: "What the request names does not exist.",
    413: "The request is too large.",
    503: "Too many requests at a time, or too little time or memory.",
}


def errors(*statuses: int) -> dict[int | str, Record]:
    """Return the schema of answers with error `statuses`."""
    return {status: {"description": _STATUSES[status], "content": _JSON_ERROR} for status in statuses}


ERRORS = errors(400, 413, 503)
"""Errors of every route."""


def answers(*models: type[BaseModel]) -> dict[int | str, Record]:
    """Return the schema of an answer that is one of `models`."""
    return {200: {"model": reduce(or_, models), "description": models[0].__doc__ or ""}}


def streamed_answers(*models: type[BaseModel]) -> dict[int | str, Record]:
    """Return the schema of an answer that is one of `models`, or a stream that ends with it."""
    number = {"type": "integer"}
    progress = {"what": {"type": "string"}, "done": number, "total": number}
    fields = {
        "job": {"type": "string", "description": "First line: the ID, for DELETE /api/v1/jobs/{job}."},
        "progress": {"type": "object", "required": list(progress), "properties": progress},
        "result": {"anyOf": [{"$ref": f"{REFERENCE}{model.__name__}"} for model in models]},
        "error": {"type": "string", "description": "Last line of work that failed."},
    }
    line = {
        "type": "object",
        "description": "A line of the stream, with one of these fields.",
        "properties": fields,
    }
    event = {"type": "string", "description": "Events whose data are the lines of application/x-ndjson."}
    (answer,) = answers(*models).values()
    content = {"application/x-ndjson": {"schema": line}, "text/event-stream": {"schema": event}}
    return {200: {**answer, "content": content}}
