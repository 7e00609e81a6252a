"""The default judge of positions and plays, and options for the match and cube."""

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from motif.evaluators.known_players import default_player, without_plies
from motif.runtime.errors import PlayerError, PositionError, SettingError, shown
from motif.runtime.settings import SettingFields, check_types, check_unused, require, setting

if TYPE_CHECKING:
    from motif.board.match_state import MatchState
    from motif.evaluators import Evaluator
    from motif.players.player import PlayerLike

JUDGE = f"{default_player()}@2"
"""The default judge; see docs/explanation/frontier.md."""
_DEEP = "@2:rollout"


@dataclass(frozen=True)
class MatchOptions(SettingFields):
    """Match, cube and rules, as given by command options or library keywords."""

    length: int | None = setting(None, "Points of the match; 0 for money play.")
    score: str | None = setting(None, "Score of the player on roll and of the opponent.")
    cube: int | None = setting(None, "Cube value, before a double.")
    owner: str | None = setting(None, "Cube owner: me (the player on roll), opponent or none.")
    crawford: bool | None = setting(None, "Crawford game.")
    jacoby: bool | None = setting(None, "Jacoby rule in money play.")
    beavers: bool | None = setting(None, "Beavers in money play.")
    raccoons: bool | None = setting(None, "Beavers and raccoons in money play.")

    def check_rollout(self) -> None:
        """Raise `SettingError` for beavers or raccoons in a cubeful rollout, whose games have none."""
        check_unused(
            replace(self, beavers=self.beavers or None, raccoons=self.raccoons or None),
            ("beavers", "raccoons"),
            SettingError,
            "in cubeful rollouts, which are played without beavers",
        )

    def given_state(self, match: "MatchState | None") -> "MatchState | None":
        """Return `state_of`, or None if neither an option nor an ID specifies a match or a cube."""
        is_given = any(value is not None for value in vars(self).values())
        return None if match is None and not is_given else self.state_of(match)

    def state_of(self, match: "MatchState | None") -> "MatchState":
        """Apply the options to `match`, the state of an ID, before the roll and a double on offer.

        Without an ID's state, start from money play with a centred cube.  Raises `SettingError`.
        """
        from motif.board.match_state import MatchState
        from motif.board.rules import MAX_VALUED_LENGTH

        check_types(self, SettingError)
        state = (match or MatchState()).before_double()
        changes: dict[str, Any] = {
            name: getattr(self, name) for name in ("crawford", "jacoby", "raccoons", "length")
        }
        # A raccoon answers a beaver.
        changes["beavers"] = self.raccoons or self.beavers
        if self.raccoons and self.beavers is False:
            raise SettingError("raccoons require beavers, which are not allowed", "raccoons")
        self._check_cube()
        owner = None if self.owner is None else _OWNERS[str(self.owner)]
        changes["cube_owner"] = owner
        # An owned cube has been turned.
        turned = owner in ("me", "opponent") and state.cube == 1
        changes["cube"] = self.cube if self.cube is not None or not turned else 2
        if changes["cube"] is not None or owner is not None:
            state = MatchState(**vars(state))
        if self.length is not None and not 0 <= self.length <= MAX_VALUED_LENGTH:
            raise SettingError(f"length must be 0 to {MAX_VALUED_LENGTH} points, not {self.length}", "length")
        if self.length is not None and self.length != state.length:
            changes |= {"own_score": 0, "opponent_score": 0, "game_state": "playing"}
            changes["crawford"] = bool(self.crawford)
        length = state.length if self.length is None else self.length
        if self.score is not None:
            if not length:
                raise SettingError("score needs a match: give {length}", "score", "length")
            changes["own_score"], changes["opponent_score"] = _score(self.score)
        if length and (self.jacoby or self.beavers or self.raccoons):
            raise SettingError("the Jacoby rule, beavers and raccoons are for money play, not for a match")
        try:
            state = replace(state, **{name: value for name, value in changes.items() if value is not None})
        except PositionError as error:
            given = (name for name in ("score", "crawford", "length") if getattr(self, name) is not None)
            raise SettingError(error.problem, *given) from None
        if length and state.cube > 1 and state.cube_owner == "centre" and self.cube is not None and not owner:
            message = f"{{cube}}: in a match, a player owns a cube at {state.cube}: give {{owner}}"
            raise SettingError(message, "cube", "owner")
        if self.cube == 1 and state.cube_owner != "centre":
            raise SettingError(
                "cube: nobody owns a cube at 1: give another {cube} or no {owner}", "cube", "owner"
            )
        return state

    def _check_cube(self) -> None:
        """Raise `SettingError` for an impossible value or owner of the cube."""
        from motif.board.rules import CUBE_RULE, is_cube_value

        if self.owner is not None:
            require(str(self.owner) in _OWNERS, "owner", self.owner, "me, opponent or none")
        if self.cube is not None:
            require(is_cube_value(self.cube), "cube", self.cube, CUBE_RULE)


_OWNERS = {
    "me": "me",
    **dict.fromkeys(("you", "opponent"), "opponent"),
    **dict.fromkeys(("none", "centre", "center"), "centre"),
}
_SCORE = re.compile("[0-9]{1,9}-[0-9]{1,9}")  # \d would match the digits of every script


def is_score(text: str) -> bool:
    """Return whether `text` is a score such as ``3-5``."""
    return _SCORE.fullmatch(text) is not None


def _score(text: str) -> tuple[int, int]:
    if not is_score(text):
        raise SettingError(f"invalid score {shown(text)}: it must be two whole numbers such as 3-5", "score")
    own, opponent = text.split("-")
    return int(own), int(opponent)


def evaluator_of(player: "PlayerLike") -> "Evaluator":
    """Return `motif.players.evaluator_of` of a player, for commands that start before its slow import."""
    from motif.players import evaluator_of as evaluator_of_player

    return evaluator_of_player(player)


def judge_of(player: str | None, fast: bool, deep: bool, with_cube: bool = False) -> "tuple[str, Evaluator]":
    """Return the name and evaluator of the judge: `player`, by default `JUDGE`.

    `fast` removes its lookahead, `deep` deepens it.  `with_cube` says which kernels are needed first, if none
    is compiled.  Raises `PlayerError` as `evaluator_of` does and for an evaluator that cannot look ahead,
    `SettingError` if both `fast` and `deep` are set.
    """
    name = judge_name(player, fast, deep)
    if player is None:
        # A slow import.
        from motif.compiler.background import precompile_in_background

        first = "warm_up_with_cube" if with_cube else "warm_up"
        precompile_in_background(f"motif.evaluators.lookahead:{first}")
    evaluator = evaluator_of(name)
    return (name if name == player else evaluator.name), evaluator


def judge_name(player: str | None, fast: bool, deep: bool) -> str:
    """Return the judge's name; raises `SettingError` if both `fast` and `deep` are set."""
    if fast and deep:
        raise SettingError("{fast} and {deep} cannot be combined", "fast", "deep")
    name = JUDGE if player is None else player
    return without_plies(name) + _DEEP * deep if fast or deep else name


def for_match(
    evaluator: "Evaluator", options: MatchOptions, match: "MatchState | None"
) -> "MatchState | None":
    """Return the state in which `evaluator` values plays; None for cubeless money play."""
    # Slow imports.
    from motif.evaluators.cube_model import NO_CUBE
    from motif.players.ranking import cube_model_of

    state = options.given_state(match)
    if state is None:
        return None
    cube_model = cube_model_of(state)
    if evaluator.with_cube(cube_model) is evaluator:
        if options.given_state(None) is None or cube_model is NO_CUBE:
            return None
        raise PlayerError(f"{evaluator.name!r} ranks plays by a score that ignores match and cube")
    return state


def valued_record(state: "MatchState | None") -> dict[str, object]:
    """Return the JSON record of the state in which plays are valued; empty for cubeless money play."""
    # Slow imports.
    from motif.board.diagram import describe_score
    from motif.evaluators.cube_model import gammon_values
    from motif.players.ranking import cube_model_of

    if state is None:
        return {}
    won, lost = gammon_values(cube_model_of(state))
    return {"valued_for": describe_score(state), "gammon_value": won, "gammon_value_lost": lost}


@cache
def known_error_rate(name: str) -> float | None:
    """Return the measured error rate of player `name` in contact positions, or None.

    The unit is millipoints per decision; `make frontier` measures it on benchmark lines.
    """
    text = resources.files("motif").joinpath("data", "frontier.json").read_text(encoding="utf-8")
    return next((float(row["error_rate"]) for row in json.loads(text) if row["name"] == name), None)
