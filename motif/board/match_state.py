"""Match state of a position (score, cube, dice and pending decision), and its gnubg Match ID.

"me" is the player ON ROLL, from whose side the position is seen; the doubler stays on roll while the
opponent decides.  A Match ID numbers the players 0 and 1 instead (player 1 is at the bottom of gnubg's
board). `MatchState.player` stores which of the two is on roll, so that an ID can be reproduced exactly.

Sources: gnubg's manual, "A technical description of the match ID", and IDs printed by gnubg 1.07. Bit 67
(set when the Jacoby rule is off) is not in the manual.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, get_args

from motif.board.identifiers import base64_text, octets_from_base64, quoted
from motif.board.rules import CUBE_RULE, MAX_SCORE, is_cube_value, is_match_point
from motif.runtime.errors import PositionError, shown
from motif.runtime.settings import is_whole

MATCH_ID_LENGTH = 12

_Side = Literal["me", "opponent"]
CubeOwner = Literal["centre", "me", "opponent"]
GameState = Literal["none", "playing", "over", "resigned", "dropped"]
Resignation = Literal["none", "single", "gammon", "backgammon"]
Raise = Literal["double", "beaver", "raccoon"]

GAME_STATES: tuple[GameState, ...] = get_args(GameState)
"""In the order of their codes in a Match ID."""
RESIGNATION_CODES: tuple[Resignation, ...] = get_args(Resignation)
"""In the order of their codes in a Match ID."""

_RAISED: dict[Raise, int] = {"double": 1, "beaver": 2, "raccoon": 4}
"""Factor by which the raises before the one on offer have raised the cube."""
_CENTRED = 3
_FIELDS = {
    "cube_log": 4, "cube_owner": 2, "on_roll": 1, "crawford": 1, "game_state": 3, "to_decide": 1,
    "doubled": 1, "resignation": 2, "die1": 3, "die2": 3, "length": 15, "score0": 15, "score1": 15,
    "jacoby_off": 1, "unused": 5,
}  # fmt: skip
"""Names and widths in bits of a Match ID's fields, the lowest bit first."""


def owner_seen_by(owner: int | None, player: int) -> CubeOwner:
    """Return the cube's owner (player 0, player 1 or None) from the side of `player`."""
    return "centre" if owner is None else "me" if owner == player else "opponent"


def owning_player(owner: CubeOwner, player: int) -> int | None:
    """Return the number of the cube's `owner` from the side of `player`; None for a centred cube."""
    return {"centre": None, "me": player, "opponent": 1 - player}[owner]


@dataclass(frozen=True)
class MatchState:
    """Match length, score, cube, dice and decision, from the side of the player on roll ("me").

    An impossible state raises a `PositionError` that lists every fault.  `jacoby`, `beavers` and `raccoons`
    have no effect in a match.
    """

    length: int = 0
    """Match length in points; 0 for money play."""
    own_score: int = 0
    opponent_score: int = 0
    cube: int = 1
    """Value of the cube before a double that is on offer."""
    cube_owner: CubeOwner = "centre"
    crawford: bool = False
    """Whether this is the Crawford game."""
    dice: tuple[int, int] | None = None
    """The roll to play, the higher die first; None before the roll."""
    doubled: bool = False
    """Whether a double is on offer."""
    jacoby: bool = False
    """Jacoby rule of money play: gammons count only after a double has been taken."""
    beavers: bool = False
    """Whether a double may be beavered in money play. A Match ID contains neither this nor `raccoons`."""
    raccoons: bool = False
    """Whether a beaver may be doubled once more; the player who beavered keeps the cube."""
    resignation: Resignation = "none"
    """Resignation that the player on roll offers."""
    game_state: GameState = "playing"
    decision: _Side = "me"
    """Player who must decide: "opponent" if a double or a resignation is on offer."""
    player: Literal[0, 1] = 1
    """Number of the player on roll in a Match ID."""
    has_cube = True
    """Whether the game has a cube."""

    def __post_init__(self) -> None:
        if reasons := match_faults(self):
            raise PositionError("; ".join(reasons), about="invalid match state")
        if self.dice is not None:
            object.__setattr__(self, "dice", (max(self.dice), min(self.dice)))

    @property
    def is_post_crawford(self) -> bool:
        """Whether one player is 1-away after the Crawford game, so that the other may double."""
        scores = self.own_score, self.opponent_score
        is_last = is_match_point(self.length, scores) and scores[0] != scores[1]
        return is_last and self.has_cube and not self.crawford

    @property
    def is_won(self) -> bool:
        """Whether a player has won the match, which no XGID can express."""
        return 0 < self.length <= max(self.own_score, self.opponent_score)

    @property
    def raised(self) -> Raise | None:
        """The double on offer, or the beaver or raccoon that answers it; None if nothing is on offer."""
        if not self.doubled:
            return None
        # After a beaver, gnubg's IDs keep the double on offer, and the doubler decides; after a raccoon, the
        # opponent decides.  The player who beavered owns the cube.
        if self.cube_owner != "opponent":
            return "double"
        return "beaver" if self.decision == "me" else "raccoon"

    def before_double(self) -> "MatchState":
        """Return the state before the roll and before the double, beaver or raccoon on offer."""
        cube = self.cube // _RAISED[self.raised or "double"]
        owner = self.cube_owner if cube == self.cube else "me" if cube > 1 else "centre"
        return replace(
            self, cube=cube, cube_owner=owner, dice=None, doubled=False, decision="me", resignation="none"
        )

    def without_cube(self) -> "CubelessMatchState":
        """Return the same state of a game that is played without a cube."""
        return CubelessMatchState(**vars(self))

    def cube_record(self) -> dict[str, object]:
        """Return the cube, the length, and the score or the rules of money play, as options name them."""
        record: dict[str, object] = {"cube": self.cube, "owner": self.cube_owner, "length": self.length}
        if self.length:
            return record | {"score": [self.own_score, self.opponent_score], "crawford": self.crawford}
        return record | {"jacoby": self.jacoby, "beavers": self.beavers, "raccoons": self.raccoons}

    def switch_sides(self) -> "MatchState":
        """Return the state before the other player's roll, from that player's side."""
        return replace(
            self,
            own_score=self.opponent_score,
            opponent_score=self.own_score,
            cube_owner=owner_seen_by(owning_player(self.cube_owner, 0), 1),
            dice=None,
            doubled=False,
            resignation="none",
            decision="me",
            player=0 if self.player else 1,
        )


class CubelessMatchState(MatchState):
    """The state of a game that is played without a cube; no ID contains this."""

    has_cube = False


def match_faults(state: MatchState) -> list[str]:
    """List every reason why `state` is impossible."""
    if reasons := _type_faults(state):
        return reasons
    reasons = [
        f"{name} must be 0 to {MAX_SCORE}, not {value}"
        for name, value in (
            ("the match length", state.length),
            ("the score of the player on roll", state.own_score),
            ("the opponent's score", state.opponent_score),
        )
        if not 0 <= value <= MAX_SCORE
    ]
    if not is_cube_value(state.cube):
        reasons.append(f"the cube must be {CUBE_RULE}, not {state.cube}")
    for name, value, allowed in (
        ("the cube's owner", state.cube_owner, get_args(CubeOwner)),
        ("the decision", state.decision, get_args(_Side)),
        ("the resignation", state.resignation, RESIGNATION_CODES),
        ("the game state", state.game_state, GAME_STATES),
        ("the player on roll", state.player, (0, 1)),
    ):
        if value not in allowed:
            reasons.append(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")
    if state.dice is not None:
        if len(state.dice) != 2:
            reasons.append(f"a roll must have two dice, not {len(state.dice)}")
        reasons += [f"each die must be 1 to 6, not {die}" for die in state.dice if not 1 <= die <= 6]
        if state.doubled:
            reasons.append("dice cannot be rolled while a double is on offer")
    least = _RAISED[state.raised or "double"]
    if state.doubled and state.cube_owner == "opponent" and (state.length or state.cube < least):
        reasons.append("the player on roll cannot double: the opponent owns the cube")
    if state.doubled and state.crawford:
        reasons.append("there is no double in the Crawford game")
    # An impossible length says nothing about the scores.
    return reasons + _score_faults(state) if 0 <= state.length <= MAX_SCORE else reasons


def _type_faults(state: MatchState) -> list[str]:
    """List the values that are not whole numbers, which cannot be compared."""
    values: dict[str, object] = {
        "the match length": state.length,
        "the score of the player on roll": state.own_score,
        "the opponent's score": state.opponent_score,
        "the cube": state.cube,
    }
    reasons = [
        f"{name} must be a whole number, not {shown(one)}"
        for name, one in values.items()
        if not is_whole(one)
    ]
    dice: object = () if state.dice is None else state.dice
    if isinstance(dice, str) or not isinstance(dice, Collection) or not all(map(is_whole, dice)):
        reasons.append(f"a roll must be two whole numbers such as (3, 1), not {shown(dice)}")
    return reasons


def _score_faults(state: MatchState) -> list[str]:
    if not state.length:
        return ["money play has no Crawford game"] if state.crawford else []
    reasons = []
    scores = (("the player on roll", state.own_score), ("the opponent", state.opponent_score))
    # After a game gnubg may print more points than the match needs.
    if state.game_state not in ("none", "playing"):
        both_won = all(score >= state.length for _, score in scores)
        return [f"both players have won the match to {state.length}"] if both_won else []
    if over := [f"{who} has {score}" for who, score in scores if score >= state.length]:
        reasons.append(f"the match is over: {' and '.join(over)} of {state.length} points")
    # Not "exactly one": gnubg allows a Crawford game with both players at match point.
    if state.crawford and not reasons and all(score != state.length - 1 for _, score in scores):
        reasons.append("in the Crawford game a player must be 1-away")
    return reasons


def match_id(state: MatchState) -> str:
    """Return the 12-character Match ID of `state`; it does not include `beavers` and `raccoons`."""
    scores = (state.own_score, state.opponent_score)
    owner = owning_player(state.cube_owner, state.player)
    die1, die2 = state.dice or (0, 0)
    values = {
        "cube_log": state.cube.bit_length() - 1,
        "cube_owner": _CENTRED if owner is None else owner,
        "on_roll": state.player,
        "crawford": state.crawford,
        "game_state": GAME_STATES.index(state.game_state),
        "to_decide": owning_player(state.decision, state.player) or 0,
        "doubled": state.doubled,
        "resignation": RESIGNATION_CODES.index(state.resignation),
        "die1": die1,
        "die2": die2,
        "length": state.length,
        "score0": scores[state.player],
        "score1": scores[1 - state.player],
        "jacoby_off": not state.jacoby,
        "unused": 0,
    }
    number = 0
    for name, width in reversed(_FIELDS.items()):
        number = number << width | int(values[name])
    return base64_text(number.to_bytes(sum(_FIELDS.values()) // 8, "little"))


def match_state_from_id(text: str) -> MatchState:
    """Decode a Match ID; raise `PositionError` if it is invalid."""
    octets = octets_from_base64(text, MATCH_ID_LENGTH, "match state", "Match ID")
    number, values = int.from_bytes(octets, "little"), {}
    for name, width in _FIELDS.items():
        values[name] = number & ((1 << width) - 1)
        number >>= width
    if faults := _code_faults(values):
        raise PositionError("; ".join(faults), about=f"invalid match state {quoted(text)}")
    player, owner, dice = values["on_roll"], values["cube_owner"], (values["die1"], values["die2"])
    try:
        return MatchState(
            length=values["length"],
            own_score=values[f"score{player}"],
            opponent_score=values[f"score{1 - player}"],
            cube=1 << values["cube_log"],
            cube_owner=owner_seen_by(None if owner == _CENTRED else owner, player),
            crawford=bool(values["crawford"]),
            dice=dice if any(dice) else None,
            doubled=bool(values["doubled"]),
            jacoby=not values["jacoby_off"],
            resignation=RESIGNATION_CODES[values["resignation"]],
            game_state=GAME_STATES[values["game_state"]],
            decision="me" if values["to_decide"] == player else "opponent",
            player=player,  # type: ignore[arg-type]
        )
    except PositionError as error:
        raise PositionError(error.reason, about=f"invalid match state {quoted(text)}") from None


def _code_faults(values: dict[str, int]) -> list[str]:
    reasons = []
    if values["cube_owner"] == 2:
        reasons.append("the code of the cube's owner must be 0 or 1 (a player) or 3 (the centre), not 2")
    if values["game_state"] >= len(GAME_STATES):
        reasons.append(
            f"the code of the game state must be at most {len(GAME_STATES) - 1}, not {values['game_state']}"
        )
    if values["unused"]:
        reasons.append("the unused bits at the end must be zero")
    return reasons
