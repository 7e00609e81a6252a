"""Rules of matches and of the cube: limits, doubles, the Crawford game, gammons and the winner.

For legal plays see `motif.board.moves`; for outcomes of finished games see `motif.board.outcome`.

Source: the rules of the US Backgammon Federation, which gnubg also follows.
"""

from typing import TYPE_CHECKING

from motif.runtime.errors import SettingError, shown
from motif.runtime.settings import is_whole

if TYPE_CHECKING:
    from motif.board.match_state import MatchState

MAX_SCORE = 2**15 - 1
"""Largest match length and score in a Match ID, which has 15 bits for each."""
MAX_CUBE = 2**15
"""Largest cube in a Match ID, which has 4 bits for the base-2 logarithm."""
MAX_MATCH_LENGTH = 64
"""Longest match that motif plays: gnubg's ``MAXSCORE``, so that gnubg can read every match."""
MAX_VALUED_LENGTH = 128
"""Longest match with cube equities: its states do not exceed `motif.evaluators.cube_model.MAX_STATES`."""
MAX_CUBE_PLAYED = 4096
"""Largest cube in games with people: gnubg's ``MAX_CUBE``; contests and rollouts go up to `MAX_CUBE`."""

RESIGNATIONS = {"single": 1, "gammon": 2, "backgammon": 3}
"""Points lost by each kind of resignation, in units of the cube."""


def is_power_of_two(number: int) -> bool:
    """Return whether `number` is 1, 2, 4 ..., as the value of a cube must be."""
    return number >= 1 and number & (number - 1) == 0


CUBE_RULE = f"a power of two up to {MAX_CUBE}"


def is_cube_value(number: int) -> bool:
    """Return whether `number` can be the value of a cube: see `CUBE_RULE`."""
    return is_power_of_two(number) and number <= MAX_CUBE


def check_match_length(length: object, *, with_money: bool = False) -> None:
    """Raise `SettingError` for an unsupported match length; `with_money` allows 0, money play."""
    if not is_whole(length):
        raise SettingError(f"length must be a whole number, not {shown(length)}", "length")
    length = int(length)
    if not (1 <= length <= MAX_MATCH_LENGTH or (with_money and length == 0)):
        money = " (0: money play)" * with_money
        raise SettingError(f"length must be 1 to {MAX_MATCH_LENGTH} points{money}, not {length}", "length")


def may_double(state: "MatchState") -> bool:
    """Return whether the player on roll has access to the cube and the game is not the Crawford game."""
    return state.cube_owner != "opponent" and not state.crawford


def can_use_double(cube: int, away: int | None) -> bool:
    """Return whether a player who may double can gain by doubling `cube`, and the new cube is within limits.

    `away` is the number of points that the player needs to win the match, or None in money play; a cube
    that already wins the match is dead.
    """
    return 2 * cube <= MAX_CUBE and (away is None or away > cube)


def is_double_useful(state: "MatchState") -> bool:
    """Return whether the player on roll may double and can gain by doubling."""
    away = state.length - state.own_score if state.length else None
    return may_double(state) and can_use_double(state.cube, away)


def may_double_in_play(state: "MatchState") -> bool:
    """Return `is_double_useful`, in games with people, whose cubes go up to `MAX_CUBE_PLAYED`."""
    return 2 * state.cube <= MAX_CUBE_PLAYED and is_double_useful(state)


def may_beaver_in_play(state: "MatchState") -> bool:
    """Return whether a double of the cube may be beavered, in games with people."""
    return 4 * state.cube <= MAX_CUBE_PLAYED and allows_beavers(state)


def gammons_count(state: "MatchState") -> bool:
    """Return whether gammons count; under the Jacoby rule, they count only after a double has been taken."""
    return bool(state.length) or not state.jacoby or state.cube_owner != "centre"


def allows_beavers(state: "MatchState") -> bool:
    """Return whether a double may be beavered, which is possible only in money play."""
    return state.beavers and not state.length


def is_match_point(length: int, score: tuple[int, int]) -> bool:
    """Return whether a player is 1-away in a match of more than 1 point."""
    return length > 1 and length - 1 in score


def is_crawford_game(length: int, score: tuple[int, int], *, played: bool) -> bool:
    """Return whether a game that begins at `score` is the Crawford game, the first game at match point.

    `played` says whether the Crawford game has already been played.
    """
    return is_match_point(length, score) and not played


def match_winner(length: int, score: tuple[int, int]) -> int | None:
    """Return the winner of a match, 0 or 1; None during the match and in money play."""
    best = max(score)
    return score.index(best) if length and best >= length else None
