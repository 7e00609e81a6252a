"""What requests to motif's own HTTP interface hold, as their schema tells it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from motif.analysis.judge import MatchOptions
from motif.analysis.phrases import LANGUAGE, languages
from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on
from motif.board.parsing import parse_decision, parse_position
from motif.board.position import Position
from motif.board.rules import MAX_CUBE, MAX_SCORE
from motif.rollout import RolloutSettings
from motif.runtime.errors import PlayError, SettingError

_LONGEST_ID = 200
_START = "4HPwATDgc/ABMA"
Id = Annotated[
    str,
    Field(
        max_length=_LONGEST_ID,
        description="A GNUbg ID, PositionID:MatchID, an XGID, an OGID or a 20-letter key.",
    ),
]
Player = Annotated[
    str | None,
    Field(max_length=100, description="Who answers: a name of /api/v1/players, also with @1 or @2."),
]
Die = Annotated[int, Field(ge=1, le=6)]
Dice = Annotated[
    tuple[Die, Die] | Annotated[str, Field(max_length=20)] | None,
    Field(
        description="The roll, as two numbers or a text such as 31; may be left out where the ID holds it."
    ),
]
Count = Annotated[int, Field(ge=0, lt=2**31)]
_FIRST_FAULT = Field(fail_fast=True)
"""Of the items of a list only the first fault is looked for: there may be as many as items."""
Points = Annotated[int, Field(ge=0, le=MAX_SCORE)]


class _Question(BaseModel):
    """Nothing but what is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PositionQuestion(_Question):
    """A position, and whom to ask."""

    id: Id
    player: Player = None

    def position(self) -> tuple[Position, MatchState | None]:
        """Return the position, and what surrounds it; raises `PositionError`."""
        return parse_position(self.id)


class EvaluateQuestion(PositionQuestion):
    """What is this position worth?"""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": _START}]})
    detailed: bool = Field(default=False, description="Also what the player sees, by name.")


class _Match(_Question):
    """Match and cube, as options of commands tell them; what is left out is as the ID says, or money play."""

    length: Annotated[Points | None, Field(description="Points of the match; 0: money play.")] = None
    score: Annotated[
        tuple[Points, Points] | Annotated[str, Field(max_length=20)] | None,
        Field(description="Points won by the player on roll and by the opponent: [3, 5] or '3-5'."),
    ] = None
    cube: Annotated[int | None, Field(ge=1, le=MAX_CUBE, description="What the cube shows.")] = None
    owner: Annotated[
        Literal["me", "you", "none"] | None, Field(description="Who has the cube: me is the player on roll.")
    ] = None
    crawford: bool | None = None
    jacoby: bool | None = None
    beavers: bool | None = None
    raccoons: bool | None = None

    def options(self) -> MatchOptions:
        """Return the same, as commands have them."""
        score = (
            self.score if self.score is None or isinstance(self.score, str) else "{}-{}".format(*self.score)
        )
        values = {name: getattr(self, name) for name in MatchOptions.__dataclass_fields__}
        return MatchOptions(**{**values, "score": score})


class _Judging(_Match):
    """Who judges, for a match or a cube."""

    player: Player = None
    fast: Annotated[bool, Field(description="Judge without looking ahead.")] = False
    deep: Annotated[bool, Field(description="Judge more deeply; takes longer.")] = False


class _Judged(PositionQuestion, _Judging):
    """A position that somebody judges."""


class _Rolled(_Question):
    """A position and a roll."""

    id: Id
    dice: Dice = None

    def decision(self) -> tuple[Position, MatchState | None, tuple[int, int]]:
        """Return the position, what surrounds it and the roll; raises `PositionError` and `PlayError`."""
        dice = self.dice if isinstance(self.dice, tuple) else (self.dice,)
        position, match, roll = parse_decision(self.id, *dice)
        if roll is None:
            raise PlayError("dice: missing, and the ID holds no roll")
        check_goes_on(position)
        return position, match, roll

    def has_roll(self) -> bool:
        """Whether there is a roll, here or in the ID."""
        match = parse_position(self.id)[1]
        return self.dice is not None or (match is not None and match.dice is not None)


class PlaysQuestion(_Rolled):
    """What are the legal plays?"""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": _START, "dice": [3, 1]}]})


class HintQuestion(_Judged, _Rolled):
    """Which play is best?  Without a roll: should I double?"""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"id": _START, "dice": [3, 1]},
                {"id": _START, "dice": "64", "length": 5, "score": [3, 4], "crawford": True},
            ]
        }
    )


class ExplainQuestion(HintQuestion):
    """Why is one play better than another?"""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": _START, "dice": [3, 1], "versus": "24/23 13/10"}]}
    )
    versus: Annotated[
        str | None,
        Field(max_length=60, description="The play to compare with the best; the second best by default."),
    ] = None
    language: Annotated[
        str, Field(max_length=20, description=f"Language of the reasons: {', '.join(languages())}.")
    ] = LANGUAGE


class RolloutRequest(_Rolled, _Match):
    """How do games from this position end, or from those after its plays?"""

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
    trials: Count = 1296
    cut: Count = 0
    stop_at_race: bool = False
    stop_at_bearoff: bool = False
    stratified: bool = False
    luck_plies: Count = 0
    every_play: bool = False
    se: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    eliminate: bool = False
    error_rate: Annotated[float, Field(gt=0, lt=1)] = 0.05
    scoring: Literal["money", "dmp", "no-gammons"] = "money"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    cubeful: Annotated[bool, Field(description="Both sides double.")] = False
    compare: Annotated[bool, Field(description="Roll out the best plays of the roll with the same dice.")] = (
        False
    )
    candidates: Annotated[int, Field(ge=1, le=100, description="How many plays to compare.")] = 5
    play: Annotated[
        list[Annotated[str, Field(max_length=60)]],
        Field(max_length=100, description="Compare these plays, not the best."),
    ] = []
    stream: Annotated[bool, Field(description="Tell the progress: a line of JSON for each event.")] = False

    def settings(self) -> RolloutSettings:
        """How it is to be rolled out; raises `SettingError`."""
        names = RolloutSettings.__dataclass_fields__
        settings = RolloutSettings(**{name: getattr(self, name) for name in names})
        settings.check(with_cube=self.cubeful)
        if not self.compare and (self.play or self.eliminate):
            raise SettingError("play and eliminate are for comparing plays: compare must be true")
        if not (self.compare or self.cubeful) and self.options() != MatchOptions():
            raise SettingError("a match or a cube is for comparing plays or for cubeful rollouts")
        return settings


class EvaluateBatch(_Question):
    """What are these positions worth?"""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": [_START, "sGfwATDgc/ABMA"]}]})
    ids: Annotated[list[str], _FIRST_FAULT]
    player: Player = None


class Decision(_Rolled):
    """A position and a roll of a batch."""


class HintBatch(_Judging):
    """Which plays are best?"""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"decisions": [{"id": _START, "dice": [3, 1]}], "plays": 3}]}
    )
    decisions: Annotated[list[Decision], _FIRST_FAULT]
    plays: Annotated[int | None, Field(ge=1, description="The best plays of each; all by default.")] = None


class CubeBatch(_Judging):
    """Double? Take?"""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["dPexAAB07zMAAA"], "jacoby": True}]})
    ids: Annotated[list[Id], _FIRST_FAULT]


class CubeQuestion(_Judged):
    """Double? Take?"""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "dPexAAB07zMAAA", "length": 7, "score": [3, 5]}]}
    )
