"""Models of the requests to motif's own HTTP interface, which its OpenAPI schema shows."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    create_model,
)
from pydantic.fields import FieldInfo

from motif.analysis.judge import MatchOptions
from motif.analysis.phrases import LANGUAGE, languages
from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on
from motif.board.parsing import parse_decision, parse_position
from motif.board.position import Position
from motif.board.rules import MAX_CUBE, MAX_VALUED_LENGTH
from motif.players.ranking import FULL_DEPTH
from motif.rollouts import RolloutSettings
from motif.runtime.errors import PlayError, SettingError
from motif.runtime.frames import Record
from motif.runtime.settings import help_of

_MAX_EQUITY = 1e6
_START = "4HPwATDgc/ABMA"
_CONTACT = "dPexAAB07zMAAA"
Short = Annotated[str, Field(max_length=20)]
Notation = Annotated[str, Field(max_length=60)]
"""A play."""
ItemId = Annotated[str, Field(max_length=40)]
"""ID of a stored game or analysis."""
Id = Annotated[
    str,
    Field(max_length=200, description="A GNUbg ID, PositionID:MatchID, an XGID, an OGID or a 20-letter key."),
]
PlayerName = Annotated[
    str | None,
    Field(max_length=100, description="Player who evaluates: a name of /api/v1/players, also with @1 or @2."),
]
RolloutPlayer = Annotated[
    str | None,
    Field(
        max_length=100,
        description="Player of the trials: a name of /api/v1/players whose `rollouts` is true, "
        "without @1 or @2.",
    ),
]
Language = Annotated[
    str, Field(max_length=20, description=f"Language of the words: {', '.join(languages())}.")
]
Die = Annotated[StrictInt, Field(ge=1, le=6)]
AskedRoll = Annotated[
    tuple[Die, Die] | Short | None,
    Field(description="The roll, as two numbers or a text such as 31; optional if the ID holds a roll."),
]
Count = Annotated[StrictInt, Field(ge=0, lt=2**31)]
_FIRST_FAULT = Field(fail_fast=True)
"""Validation of a list stops at its first fault, as there may be as many faults as items."""
Score = Annotated[StrictInt, Field(ge=0, lt=MAX_VALUED_LENGTH)]
Known = Annotated[StrictFloat, Field(ge=-_MAX_EQUITY, le=_MAX_EQUITY, allow_inf_nan=False)]
EstimateSource = Annotated[str, Field(max_length=20, description="2-ply, rollout, exact ...")]
_Settings = TypeVar("_Settings")
_STRICT: dict[Any, Any] = {bool: StrictBool, bool | None: StrictBool | None}
"""Types of settings that must not be converted from text or numbers."""


def examples(*of_a_model: Record) -> ConfigDict:
    """Return the configuration of a model that adds examples to its schema."""
    return ConfigDict(json_schema_extra={"examples": list(of_a_model)})


class Question(BaseModel):
    """The body of a request, without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    def values_of(self, settings: type[_Settings]) -> _Settings:
        """Return the fields of a dataclass that the body has too, as that dataclass."""
        return settings(**{known.name: getattr(self, known.name) for known in fields(settings)})  # type: ignore[arg-type]


class PositionQuestion(Question):
    """A position, and the player who evaluates it."""

    id: Id
    player: PlayerName = None

    def position(self) -> tuple[Position, MatchState | None]:
        """Return the position and its match state; raises `PositionError`."""
        return parse_position(self.id)


class EvaluateQuestion(PositionQuestion):
    """A position to evaluate."""

    model_config = examples({"id": _START})
    detailed: StrictBool = False
    """Also return the player's parameters of the position, by name."""


def _model_of(settings: type, constraints: Mapping[str, object]) -> Any:
    """Return a model with the fields, defaults and help of a dataclass; `constraints` narrow the types."""
    declared: dict[str, Any] = {}
    for known in fields(settings):
        kind = constraints.get(known.name, _STRICT.get(known.type, known.type))
        if not any(isinstance(one, FieldInfo) and one.description for one in get_args(kind)):
            kind = Annotated[kind, Field(description=help_of(known) or None)]
        declared[known.name] = kind, known.default
    return create_model(f"_{settings.__name__}", __base__=Question, **declared)


_MatchOptions: Any = _model_of(
    MatchOptions,
    {
        "length": Annotated[
            StrictInt | None,
            Field(ge=0, le=MAX_VALUED_LENGTH, description="Points of the match; 0: money play."),
        ],
        "score": Annotated[
            tuple[Score, Score] | Short | None,
            AfterValidator(lambda score: "{}-{}".format(*score) if isinstance(score, tuple) else score),
            Field(description="Points won by the player on roll and by the opponent: [3, 5] or '3-5'."),
        ],
        "cube": Annotated[StrictInt | None, Field(ge=1, le=MAX_CUBE, description="Value of the cube.")],
        "owner": Annotated[
            Literal["me", "opponent", "none", "centre", "you"] | None,
            Field(
                description="Owner of the cube: me (the player on roll), opponent or none. "
                "centre, as in answers, is none; you is the opponent."
            ),
        ],
    },
)
_RolloutSettings: Any = _model_of(
    RolloutSettings,
    {
        "trials": Annotated[
            StrictInt,
            Field(
                ge=1,
                lt=2**31,
                description="Number of trials, at most the server's --trials; with `se` the maximum.",
            ),
        ],
        **dict.fromkeys(("cut", "luck_plies"), Count),
        "se": Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)],
        "significance": Annotated[StrictFloat, Field(gt=0, lt=1)],
        "scoring": Literal["money", "dmp", "no-gammons"],
        "seed": Annotated[StrictInt, Field(ge=0, lt=2**63)],
    },
)


class MatchQuestion(_MatchOptions):
    """Match and cube, by default those of the ID, or money play."""

    def options(self) -> MatchOptions:
        """Return the match and cube as commands have them."""
        return self.values_of(MatchOptions)


class _EvaluatorQuestion(MatchQuestion):
    """The evaluator, for a match or a cube."""

    player: PlayerName = None
    fast: StrictBool = False
    """Evaluate without lookahead."""
    deep: StrictBool = False
    """Look further ahead; takes longer."""


class _EvaluatedQuestion(PositionQuestion, _EvaluatorQuestion):
    """A position and its evaluator."""


class _RollQuestion(Question):
    """A position and a roll."""

    id: Id
    dice: AskedRoll = None

    def decision(self) -> tuple[Position, MatchState | None, tuple[int, int]]:
        """Return the position, its match state and the roll; raises `PositionError` and `PlayError`."""
        dice = self.dice if isinstance(self.dice, tuple) else (self.dice,)
        position, match, roll = parse_decision(self.id, *dice)
        if roll is None:
            raise PlayError("dice: missing, and the ID holds no roll", "dice")
        check_goes_on(position)
        return position, match, roll

    def has_roll(self) -> bool:
        """Return whether there is a roll, here or in the ID."""
        match = parse_position(self.id)[1]
        return self.dice is not None or (match is not None and match.dice is not None)


class PlaysQuestion(_RollQuestion):
    """A roll whose legal plays are asked for."""

    model_config = examples({"id": _START, "dice": [3, 1]})


class KnownEstimate(Question):
    """The known estimate of a play, as an analysis has it."""

    done: Notation
    """The play."""
    equity: Known
    source: EstimateSource
    se: Known | None = None
    lookahead: Known | None = None
    """Equity by lookahead, before a confirming rollout."""


class HintQuestion(_EvaluatedQuestion, _RollQuestion):
    """A roll whose plays are to be ranked, or, without a roll, a cube decision."""

    model_config = examples(
        {"id": _START, "dice": [3, 1]},
        {"id": _START, "dice": "64", "length": 5, "score": [3, 4], "crawford": True},
    )
    full_depth: Annotated[StrictInt, Field(ge=1, le=100)] = FULL_DEPTH
    """Number of best plays that are evaluated to full depth."""
    asked: Annotated[list[Notation], Field(max_length=10)] = []
    """Other plays to evaluate to full depth."""
    shown: StrictBool = False
    """Add what a page shows: differences of rounded equities, with their source."""
    known_plays: Annotated[list[KnownEstimate], Field(max_length=100)] = []
    """Rollouts of plays, as an analysis has them."""


class KnownCube(Question):
    """The known equities of a cube decision for the player on roll, as an analysis has them."""

    no_double: Known | None = None
    double_take: Known | None = None
    source: EstimateSource
    se: Known | None = None
    """Standard error of the difference."""


class ExplainQuestion(HintQuestion):
    """Two plays of a roll to compare."""

    model_config = examples({"id": _START, "dice": [3, 1], "versus": "24/23 13/10"})
    versus: Notation | None = None
    """The play to compare with the best; the second best by default."""
    known: tuple[KnownEstimate, KnownEstimate] | None = None
    """Two plays to compare by these estimates, not by new ones."""
    known_se: Known | None = None
    """Standard error of their difference."""
    language: Language = LANGUAGE


class RolloutRequest(_RollQuestion, MatchQuestion, _RolloutSettings):
    """A position, plays of a roll, or a cube decision to roll out."""

    model_config = examples(
        {"id": _START, "trials": 1296, "cut": 8},
        {"id": _START, "dice": [3, 1], "compare": True, "trials": 324, "cut": 8, "stream": True},
        {"id": _CONTACT, "cubeful": True, "length": 7, "score": [3, 5], "trials": 324},
    )
    player: RolloutPlayer = None
    cubeful: StrictBool = False
    """Roll out the cube decision; with `compare`, put the cube in play."""
    compare: StrictBool = False
    """Roll out the best plays of the roll with the same dice; with a match or a cube, both sides double."""
    candidates: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    """Number of plays to compare; 5 by default."""
    play: Annotated[list[Notation], Field(max_length=100)] = []
    """Plays to compare instead of the best ones."""
    stream: StrictBool = False
    """Send the progress: a line of JSON for each event."""

    def settings(self) -> RolloutSettings:
        """Return the settings of the rollout; raises `SettingError`."""
        settings = self.values_of(RolloutSettings)
        settings.check_question(self.cubeful, self.compare)
        for name in ("dice", "candidates", "play", "eliminate"):
            if getattr(self, name) and not self.compare:
                raise SettingError(f"{name} is for comparing plays: compare must be true", name, "compare")
        if self.candidates is not None and self.play:
            raise SettingError("candidates and play cannot be combined", "candidates", "play")
        if not (self.compare or self.cubeful) and self.options() != MatchOptions():
            raise SettingError("a match or a cube is for comparing plays or for cubeful rollouts")
        return settings


class EvaluateBatch(Question):
    """Positions to evaluate."""

    model_config = examples({"ids": [_START, "sGfwATDgc/ABMA"]})
    ids: Annotated[list[str], _FIRST_FAULT]
    player: PlayerName = None


class BatchDecision(_RollQuestion):
    """A position and a roll of a batch."""


class HintBatch(_EvaluatorQuestion):
    """Rolls whose plays are to be ranked."""

    model_config = examples({"decisions": [{"id": _START, "dice": [3, 1]}], "plays": 3})
    decisions: Annotated[list[BatchDecision], _FIRST_FAULT]
    plays: Annotated[StrictInt, Field(ge=1)] | None = None
    """Maximum number of plays per decision; all by default."""


class CubeBatch(_EvaluatorQuestion):
    """Cube decisions."""

    model_config = examples({"ids": [_CONTACT], "jacoby": True})
    ids: Annotated[list[Id], _FIRST_FAULT]


class CubeQuestion(_EvaluatedQuestion):
    """A cube decision."""

    model_config = examples({"id": _CONTACT, "length": 7, "score": [3, 5]})
    shown: StrictBool = False
    """Add what a page shows: differences of rounded equities, with their source."""
    known: KnownCube | None = None
    """Decide by these equities, not by new ones."""
    answer: StrictBool = False
    """The words are about the answer to a double, not about the double."""
    language: Language = LANGUAGE
