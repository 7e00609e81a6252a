"""What answers of motif's own HTTP interface hold, as their schema tells it: generated clients are typed."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = float | None
Points = Annotated[float, Field(description="Points, of the player on roll or, after a play, of its mover.")]


class _Answer(BaseModel):
    """What is not named may be there, too."""

    model_config = ConfigDict(extra="allow")


class Chances(_Answer):
    """Probabilities, 0 to 1; gammons count backgammons in."""

    win: float
    win_gammon: float
    win_backgammon: float
    lose_gammon: float
    lose_backgammon: float


class Values(Chances):
    """Probabilities and the cubeless equity, or their standard errors."""

    equity: float


class Health(_Answer):
    """The state of the server."""

    status: str
    version: str


class Known(_Answer):
    """A player that may be asked."""

    name: str
    kind: str
    who: str
    chances: bool = Field(description="Whether its probabilities are calibrated, and not only a ranking.")


class Players(_Answer):
    """The players that may be asked."""

    players: list[Known]
    default: str


class Evaluation(Values):
    """A position's value for the player on roll, before the roll."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "win": 0.5162,
                    "win_gammon": 0.1297,
                    "win_backgammon": 0.0053,
                    "lose_gammon": 0.1106,
                    "lose_backgammon": 0.0048,
                    "equity": 0.052,
                    "class": "contact",
                    "player": "motif-v6",
                    "position": "4HPwATDgc/ABMA",
                }
            ]
        },
    )
    position_class: Literal["contact", "crashed", "race"] | str = Field(alias="class")
    player: str
    position: str


class Play(_Answer):
    """A legal play."""

    notation: str = Field(description="Empty for a dance.")
    position: str = Field(description="GNUbg ID after it, seen by the next player on roll.")


class Plays(_Answer):
    """The legal plays of a roll."""

    plays: list[Play]
    position: str
    roll: tuple[int, int]


class Ranked(Play):
    """A legal play and its value for the mover; the best ones have probabilities, too."""

    moves: list[tuple[int, int]] = Field(description="Of single checkers; 25 is the bar, 0 is off.")
    equity: Points
    source: str = Field(description="0-ply, 2-ply ..., rollout or exact.")
    win: Number = None
    win_gammon: Number = None
    win_backgammon: Number = None
    lose_gammon: Number = None
    lose_backgammon: Number = None


class Hint(_Answer):
    """The legal plays of a roll, the best first."""

    plays: list[Ranked]
    position: str
    roll: tuple[int, int]
    player: str
    valued_for: str | None = None


class Window(_Answer):
    """A market window, in probabilities to win the game."""

    name: Literal["dead", "live", "efficiency"] | str
    efficiency: float
    double_point: Number
    take_point: float
    cash_point: float
    too_good_point: Number


class CubeAction(_Answer):
    """What to do with the cube; equities are those of the player on roll."""

    action: str
    no_double: float
    double_take: Number
    double_pass: Number
    take_point: Number
    cash_point: Number
    value: float
    should_double: bool
    should_take: bool
    should_beaver: bool
    should_raccoon: bool
    exact: bool
    words: str
    windows: list[Window]
    opponent_windows: list[Window]
    cube: int
    owner: Literal["centre", "me", "opponent"]
    length: int
    mwc_no_double: Number = None
    mwc_double_take: Number = None
    mwc_double_pass: Number = None


class Cube(CubeAction, Chances):
    """A cube decision, and the probabilities behind it."""

    cubeless: Points
    player: str
    position: str


class Turn(_Answer):
    """What to do now."""

    action: Literal["play", "roll", "double", "take", "beaver", "pass"]
    play: str | None = Field(description="The best play, where a roll is to be played.")
    moves: list[tuple[int, int]] | None
    ranking: Hint | None
    cube: CubeAction | None
    position: str
    player: str


class Reason(_Answer):
    """A reason, in words."""

    concept: str
    amount: float
    sentence: str


class Term(_Answer):
    """What a term of the weights adds to the difference."""

    name: str
    contribution: float


class ValuedPlay(Play):
    """A play that is compared."""

    equity: Points


class Explained(_Answer):
    """Why one play is better than another."""

    better: ValuedPlay
    worse: ValuedPlay
    difference: float
    unit: str
    summary: str
    sentences: list[str]
    reasons: list[Reason]
    terms: list[Term]
    player: str
    position: str
    roll: tuple[int, int]


class _Rolled(_Answer):
    trials: int
    seconds: float
    player: str
    scoring: str
    seed: int
    position: str


class Rollout(_Rolled):
    """A position rolled out: means, standard errors and standard deviations per trial."""

    mean: Values
    se: Values
    sd: Values
    trials_per_second: float


class ComparedPlay(Play):
    """A play rolled out beside others with the same dice."""

    equity: Points
    difference: float
    difference_se: Number
    p_value: Number
    mean: Values
    trials: int
    dropped: bool


class ComparedPlays(_Rolled):
    """Plays rolled out with the same dice, the best first."""

    plays: list[ComparedPlay]
    doubt: float
    settled: bool
    roll: tuple[int, int]


class CubeRollout(_Rolled):
    """A cube decision rolled out, with both sides doubling."""

    action: str
    no_double: float
    no_double_se: Number
    double_take: Number
    double_take_se: Number
    double_pass: Number
    difference: Number
    difference_se: Number
    mean: Values


class Analysis(_Answer):
    """How a match was played."""

    analyst: str
    length: int
    games: int
    score: tuple[int, int]
    players: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    worst: list[dict[str, Any]]


class Evaluations(_Answer):
    """Values of many positions, a list of each kind."""

    win: list[float]
    win_gammon: list[float]
    win_backgammon: list[float]
    lose_gammon: list[float]
    lose_backgammon: list[float]
    equity: list[float]
    player: str


class Hints(_Answer):
    """Hints for many rolls."""

    hints: list[Hint]


class Cubes(_Answer):
    """Cube decisions of many positions."""

    cubes: list[Cube]


class CalledOff(_Answer):
    """A rollout or an analysis that was called off."""

    job: str
    called_off: bool


def answers(*models: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Return what the schema says of an answer: it is one of `models`."""
    model: Any = models[0]
    for other in models[1:]:
        model = model | other
    return {200: {"model": model, "description": (models[0].__doc__ or "").strip()}}
