"""Models of the requests to motif's own HTTP interface, which its OpenAPI schema shows."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from motif.analysis.judge import MatchOptions
from motif.analysis.phrases import LANGUAGE, languages
from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on
from motif.board.parsing import parse_decision, parse_position
from motif.board.position import Position
from motif.board.rules import MAX_CUBE, MAX_SCORE
from motif.players.ranking import FULL_DEPTH
from motif.rollouts import RolloutSettings
from motif.runtime.errors import PlayError, SettingError

_MAX_ID = 200
_MAX_EQUITY = 1e6
_START = "4HPwATDgc/ABMA"
Id = Annotated[
    str,
    Field(
        max_length=_MAX_ID, description="A GNUbg ID, PositionID:MatchID, an XGID, an OGID or a 20-letter key."
    ),
]
Player = Annotated[
    str | None,
    Field(max_length=100, description="Player who evaluates: a name of /api/v1/players, also with @1 or @2."),
]
Language = Annotated[
    str, Field(max_length=20, description=f"Language of the words: {', '.join(languages())}.")
]
Die = Annotated[int, Field(ge=1, le=6)]
Dice = Annotated[
    tuple[Die, Die] | Annotated[str, Field(max_length=20)] | None,
    Field(description="The roll, as two numbers or a text such as 31; optional if the ID holds a roll."),
]
Count = Annotated[int, Field(ge=0, lt=2**31)]
_FIRST_FAULT = Field(fail_fast=True)
"""Validation of a list stops at its first fault, as there may be as many faults as items."""
Points = Annotated[int, Field(ge=0, le=MAX_SCORE)]
Known = Annotated[float, Field(ge=-_MAX_EQUITY, le=_MAX_EQUITY, allow_inf_nan=False)]


Shown = Annotated[
    bool, Field(description="Add what a page shows: differences of rounded equities, with their source.")
]


class Question(BaseModel):
    """The body of a request, without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PositionQuestion(Question):
    """A position, and the player who evaluates it."""

    id: Id
    player: Player = None

    def position(self) -> tuple[Position, MatchState | None]:
        """Return the position and its match state; raises `PositionError`."""
        return parse_position(self.id)


class EvaluateQuestion(PositionQuestion):
    """A position to evaluate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": _START}]})
    detailed: bool = Field(
        default=False, description="Also return the player's parameters of the position, by name."
    )


def _model_of(settings: type, constraints: Mapping[str, object]) -> Any:
    """Return a model with the fields and defaults of a dataclass; `constraints` narrow their types."""
    declared: dict[str, Any] = {
        known.name: (constraints.get(known.name, known.type), known.default) for known in fields(settings)
    }
    return create_model(f"_{settings.__name__}", __base__=Question, **declared)


_MatchOptions: Any = _model_of(
    MatchOptions,
    {
        "length": Annotated[Points | None, Field(description="Points of the match; 0: money play.")],
        "score": Annotated[
            tuple[Points, Points] | Annotated[str, Field(max_length=20)] | None,
            Field(description="Points won by the player on roll and by the opponent: [3, 5] or '3-5'."),
        ],
        "cube": Annotated[int | None, Field(ge=1, le=MAX_CUBE, description="Value of the cube.")],
        "owner": Annotated[
            Literal["me", "you", "none"] | None,
            Field(description="Owner of the cube: me is the player on roll."),
        ],
    },
)
_RolloutSettings: Any = _model_of(
    RolloutSettings,
    {
        **dict.fromkeys(("trials", "cut", "luck_plies"), Count),
        "se": Annotated[float, Field(ge=0, allow_inf_nan=False)],
        "error_rate": Annotated[float, Field(gt=0, lt=1)],
        "scoring": Literal["money", "dmp", "no-gammons"],
        "seed": Annotated[int, Field(ge=0, lt=2**63)],
    },
)


class MatchQuestion(_MatchOptions):
    """Match and cube, by default those of the ID, or money play."""

    def options(self) -> MatchOptions:
        """Return the match and cube as commands have them."""
        values = {known.name: getattr(self, known.name) for known in fields(MatchOptions)}
        if isinstance(values["score"], tuple):
            values["score"] = "{}-{}".format(*values["score"])
        return MatchOptions(**values)


class _EvaluatorQuestion(MatchQuestion):
    """The evaluator, for a match or a cube."""

    player: Player = None
    fast: Annotated[bool, Field(description="Evaluate without lookahead.")] = False
    deep: Annotated[bool, Field(description="Look further ahead; takes longer.")] = False


class _EvaluatedQuestion(PositionQuestion, _EvaluatorQuestion):
    """A position and its evaluator."""


class _RollQuestion(Question):
    """A position and a roll."""

    id: Id
    dice: Dice = None

    def decision(self) -> tuple[Position, MatchState | None, tuple[int, int]]:
        """Return the position, its match state and the roll; raises `PositionError` and `PlayError`."""
        dice = self.dice if isinstance(self.dice, tuple) else (self.dice,)
        position, match, roll = parse_decision(self.id, *dice)
        if roll is None:
            raise PlayError("dice: missing, and the ID holds no roll")
        check_goes_on(position)
        return position, match, roll

    def has_roll(self) -> bool:
        """Return whether there is a roll, here or in the ID."""
        match = parse_position(self.id)[1]
        return self.dice is not None or (match is not None and match.dice is not None)


class PlaysQuestion(_RollQuestion):
    """A roll whose legal plays are asked for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": _START, "dice": [3, 1]}]})


class KnownEstimate(Question):
    """The known estimate of a play, as an analysis has it."""

    done: Annotated[str, Field(max_length=60, description="The play.")]
    equity: Known
    source: Annotated[str, Field(max_length=20, description="2-ply, rollout, exact ...")]
    se: Known | None = None
    lookahead: Annotated[Known | None, Field(description="Equity by lookahead, before a rollout.")] = None


class HintQuestion(_EvaluatedQuestion, _RollQuestion):
    """A roll whose plays are to be ranked, or, without a roll, a cube decision."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"id": _START, "dice": [3, 1]},
                {"id": _START, "dice": "64", "length": 5, "score": [3, 4], "crawford": True},
            ]
        }
    )
    full_depth: Annotated[
        int, Field(ge=1, le=100, description="Number of best plays that are evaluated to full depth.")
    ] = FULL_DEPTH
    asked: Annotated[
        list[Annotated[str, Field(max_length=60)]],
        Field(max_length=10, description="Other plays to evaluate to full depth."),
    ] = []
    shown: Shown = False
    known_plays: Annotated[
        list[KnownEstimate], Field(max_length=100, description="Rollouts of plays, as an analysis has them.")
    ] = []


class KnownCube(Question):
    """The known equities of a cube decision for the player on roll, as an analysis has them."""

    no_double: Known | None = None
    double_take: Known | None = None
    source: Annotated[str, Field(max_length=20, description="2-ply, rollout, exact ...")]
    se: Annotated[Known | None, Field(description="Standard error of the difference.")] = None


class ExplainQuestion(HintQuestion):
    """Two plays of a roll to compare."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": _START, "dice": [3, 1], "versus": "24/23 13/10"}]}
    )
    versus: Annotated[
        str | None,
        Field(max_length=60, description="The play to compare with the best; the second best by default."),
    ] = None
    known: Annotated[
        tuple[KnownEstimate, KnownEstimate] | None,
        Field(description="Two plays to compare by these estimates, not by new ones."),
    ] = None
    known_se: Annotated[Known | None, Field(description="Standard error of their difference.")] = None
    language: Language = LANGUAGE


class RolloutRequest(_RollQuestion, MatchQuestion, _RolloutSettings):
    """A position, plays of a roll, or a cube decision to roll out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"id": _START, "trials": 1296, "cut": 8},
                {"id": _START, "dice": [3, 1], "compare": True, "trials": 324, "cut": 8, "stream": True},
                {"id": "dPexAAB07zMAAA", "cubeful": True, "length": 7, "score": [3, 5], "trials": 324},
            ]
        }
    )
    player: Player = None
    cubeful: Annotated[bool, Field(description="Both sides double.")] = False
    compare: Annotated[bool, Field(description="Roll out the best plays of the roll with the same dice.")] = (
        False
    )
    candidates: Annotated[int, Field(ge=1, le=100, description="Number of plays to compare.")] = 5
    play: Annotated[
        list[Annotated[str, Field(max_length=60)]],
        Field(max_length=100, description="Plays to compare instead of the best ones."),
    ] = []
    stream: Annotated[bool, Field(description="Send the progress: a line of JSON for each event.")] = False

    def settings(self) -> RolloutSettings:
        """Return the settings of the rollout; raises `SettingError`."""
        settings = RolloutSettings(
            **{known.name: getattr(self, known.name) for known in fields(RolloutSettings)}
        )
        settings.check(with_cube=self.cubeful)
        if not self.compare and (self.play or self.eliminate):
            raise SettingError("play and eliminate are for comparing plays: compare must be true")
        if not (self.compare or self.cubeful) and self.options() != MatchOptions():
            raise SettingError("a match or a cube is for comparing plays or for cubeful rollouts")
        return settings


class EvaluateBatch(Question):
    """Positions to evaluate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": [_START, "sGfwATDgc/ABMA"]}]})
    ids: Annotated[list[str], _FIRST_FAULT]
    player: Player = None


class BatchDecision(_RollQuestion):
    """A position and a roll of a batch."""


class HintBatch(_EvaluatorQuestion):
    """Rolls whose plays are to be ranked."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"decisions": [{"id": _START, "dice": [3, 1]}], "plays": 3}]}
    )
    decisions: Annotated[list[BatchDecision], _FIRST_FAULT]
    plays: Annotated[
        int | None, Field(ge=1, description="Maximum number of plays per decision; all by default.")
    ] = None


class CubeBatch(_EvaluatorQuestion):
    """Cube decisions."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["dPexAAB07zMAAA"], "jacoby": True}]})
    ids: Annotated[list[Id], _FIRST_FAULT]


class CubeQuestion(_EvaluatedQuestion):
    """A cube decision."""

    shown: Shown = False
    known: Annotated[KnownCube | None, Field(description="Decide by these equities, not by new ones.")] = None
    answer: Annotated[
        bool, Field(description="The words are about the answer to a double, not about the double.")
    ] = False

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "dPexAAB07zMAAA", "length": 7, "score": [3, 5]}]}
    )
    language: Language = LANGUAGE
