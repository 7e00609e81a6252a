"""Exact cube equities in bearoffs, for money and in matches.

Both sides have all remaining checkers at home and have borne off at least one, so that no gammon is
possible.  For money, a table covers up to six checkers per side; other positions are computed by the same
recursion over rolls, if it is short enough.  In a match, the recursion ends in match-winning probabilities
after the game, and both players use the cube optimally at every step.
"""

from collections import deque
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motif.board.match_state import CubeOwner, MatchState, owner_seen_by, owning_player
from motif.board.packed import CHECKERS, HOME, POINTS, Board
from motif.board.position import Position
from motif.board.rules import can_use_double, is_double_useful, may_double
from motif.doubling.equities import DOUBLE_PASS, DOUBLED_WORTH
from motif.doubling.match_equity import MatchEquityTable, aways, match_equity_table
from motif.evaluators.bearoff.lookup import TWO_SIDED_POSITIONS, number_of, positions_of
from motif.evaluators.bearoff.two_sided_cubes import (
    CENTRED,
    MONEY_STATES,
    OPPONENTS,
    OWN,
    CubeRules,
    all_home_plays,
    home_plays_from,
    money_cubes,
    money_rules,
    pair_values,
)
from motif.evaluators.cube_model import NO_STATE
from motif.runtime.arrays import FloatArray, IntArray

MAX_VALUES = 4_000_000
"""Maximum number of values computed for one position, which takes about half a second."""
_PREPARED = 1.5
"""Factor on `MAX_VALUES` for a computation that serves all plays of a position."""
_KEPT = 3
MONEY_COLUMNS: dict[CubeOwner, int] = {"centre": CENTRED, "me": OWN, "opponent": OPPONENTS}
"""Column of `money_cubes` for each owner of the cube."""


class CubeValues(NamedTuple):
    """Values of a cube decision for the player on roll.

    The values are in units of the cube for money, and match-winning probabilities in a match.
    """

    no_double: float
    """Value without a double before this roll."""
    double_take: float | None
    """Value after double/take; None, like `double_pass`, if the player on roll may not double."""
    double_pass: float | None


def exact_equities(
    position: Position, state: MatchState, table: MatchEquityTable | None = None, most: float = MAX_VALUES
) -> CubeValues | None:
    """Return the exact values of `position` in `state`, or None if they take more than `most` values.

    Matches use `table`, by default Kazaross-XG2.  Raises `SettingError` for a finished match.
    """
    numbers = _home_numbers(position)
    if numbers is None:
        return None
    if not state.length and max(numbers) < TWO_SIDED_POSITIONS:
        return _money_equities(money_cubes()[numbers], state)
    # Check this first: whether a position is known must not depend on which values are cached.
    if _values_below(position, state) > most:
        return None
    table = table or match_equity_table()
    for kept in tuple(_recent):
        if known := kept.equities(state, table, numbers):
            return known
    computed = _worked_out(state, table, numbers)
    _recent.appendleft(computed)
    return computed.equities(state, table, numbers)


def prepare_plays(position: Position, state: MatchState) -> None:
    """Compute `position`, unless this takes too long, so that its successors are known."""
    exact_equities(position, state, most=_PREPARED * MAX_VALUES)


def _home_numbers(position: Position) -> tuple[int, int] | None:
    """Return the numbers of both home positions; None if a side has checkers elsewhere, fifteen or none."""
    board = position.board
    own, opponent = board[1 : HOME + 1], -board[POINTS : POINTS - HOME : -1]
    left = int(np.maximum(board, 0).sum()), int(np.maximum(-board, 0).sum())
    if own.min() < 0 or opponent.min() < 0 or left != (own.sum(), opponent.sum()):
        return None
    if not 0 < min(left) <= max(left) < CHECKERS:
        return None
    return number_of(own), number_of(opponent)


def _money_equities(values: FloatArray, state: MatchState) -> CubeValues:
    """Return the values of a cube decision from `values`, a position's values for each owner of the cube."""
    no_double = float(values[MONEY_COLUMNS[state.cube_owner]])
    if not may_double(state):
        return CubeValues(no_double, None, None)
    return CubeValues(no_double, DOUBLED_WORTH * float(values[OPPONENTS]), DOUBLE_PASS)


CubeLevel = tuple[int, int | None]
"""Value of the cube, and the player who owns it: 0, 1 or None."""


class _Values(NamedTuple):
    """Values of a position and of its successors."""

    score: tuple[int, int, bool] | None
    """Points that the two players need, and whether it is the Crawford game; None for money."""
    table: MatchEquityTable
    levels: dict[CubeLevel, int]
    """Index of each cube level; empty for money."""
    numbers: tuple[IntArray, IntArray]
    rolled: FloatArray
    """Values in the form returned by `pair_values`."""

    def equities(
        self, state: MatchState, table: MatchEquityTable, numbers: tuple[int, int]
    ) -> CubeValues | None:
        """Return the equities of the home positions `numbers` in `state`; None if they are not covered."""
        for player in (0, 1):
            seen, wanted = (state, numbers) if player == 0 else (state.switch_sides(), numbers[::-1])
            if self.score != _score(seen):
                continue
            if state.length and (self.table is not table or _level(state, player) not in self.levels):
                continue
            pairs = list(zip(self.numbers, wanted, strict=True))
            rows = [int(np.searchsorted(side, number)) for side, number in pairs]
            if all(number in side[row : row + 1] for row, (side, number) in zip(rows, pairs, strict=True)):
                return self._at(state, player, self.rolled[player, *rows])
        return None

    def _at(self, state: MatchState, player: int, values: FloatArray) -> CubeValues:
        """Return the equities from a position's `values` for the `player` on roll."""
        if not state.length:
            return _money_equities(values, state)
        level = self.levels[_level(state, player)]
        no_double = float(values[level])
        if not may_double(state):
            return CubeValues(no_double, None, None)
        taken = level_after_take(state, self.levels, player)
        return CubeValues(no_double, float(values[taken]), self.table.after_game(state, state.cube))


_recent: deque[_Values] = deque(maxlen=_KEPT)
"""Recent values; the values of an early position of a game cover the later positions.

Several threads share them, so that readers iterate over a copy.
"""


def _values_below(position: Position, state: MatchState) -> int:
    """Return an upper bound on the number of values of `position` and its successors."""
    states = len(cube_levels(state)) if state.length else MONEY_STATES
    own, opponent = position.board[HOME:0:-1], -position.board[POINTS - HOME + 1 : POINTS + 1]
    return 2 * states * _positions_below(own) * _positions_below(opponent)


def _positions_below(checkers: Board) -> int:
    """Count the home positions that `checkers`, listed from the 6 point, can lead to."""
    counts: IntArray = np.ones(1, np.int64)
    for most in np.cumsum(checkers, dtype=np.int64).tolist():
        counts = np.cumsum(np.pad(counts, (0, most + 1 - len(counts))))
    return int(counts.sum())


def _worked_out(state: MatchState, table: MatchEquityTable, numbers: tuple[int, int]) -> _Values:
    """Compute the values of a position and its successors."""
    levels = cube_levels(state) if state.length else {}
    rules = _match_rules(state, table, levels) if state.length else money_rules()
    sides = home_plays_from(numbers[0]), home_plays_from(numbers[1])
    values = pair_values(rules, sides, lambda steps=1: None)
    return _Values(_score(state), table, levels, (sides[0].numbers, sides[1].numbers), values)


def match_values(state: MatchState, checkers: int, table: MatchEquityTable | None = None) -> FloatArray:
    """Return the match-winning probabilities (2, n, n, S) of bearoffs with at most `checkers` a side.

    They are indexed by the side on roll, its home position, the opponent's home position, and the
    `cube_levels` of `state`, whose player on roll is side 0.
    """
    rules = _match_rules(state, table or match_equity_table(), cube_levels(state))
    side = all_home_plays(positions_of(checkers))
    values = pair_values(rules, (side, side), lambda steps=1: None)
    return np.stack([values[0], values[1].swapaxes(0, 1)])


def _score(state: MatchState) -> tuple[int, int, bool] | None:
    return (*aways(state), state.crawford) if state.length else None


def _level(state: MatchState, player: int) -> CubeLevel:
    """Return the cube level of `state`, where `player` is on roll."""
    return state.cube, owning_player(state.cube_owner, player)


def cube_levels(state: MatchState) -> dict[CubeLevel, int]:
    """Return the numbers of all cube levels that can follow `state`, whose player on roll is player 0."""
    levels = [_level(state, 0)]
    cube, away = state.cube, max(aways(state)) if state.length else None
    while can_use_double(cube, away) and not state.crawford:
        cube *= 2
        levels += [(cube, 0), (cube, 1)]
    return {level: number for number, level in enumerate(levels)}


def level_after_take(state: MatchState, levels: dict[CubeLevel, int], player: int = 0) -> int:
    """Return the level after a double by `player`, on roll in `state`, and a take.

    If neither player needs more points than the value of the cube, a double changes nothing.
    """
    return levels.get((2 * state.cube, 1 - player), levels[_level(state, player)])


def levels_after_doubles(state: MatchState, levels: dict[CubeLevel, int]) -> IntArray:
    """Return the level (2, S) after a useful double by each player, or `NO_STATE`, for each of `levels`."""
    doubled = np.full((2, len(levels)), NO_STATE)
    for player, seen in enumerate((state, state.switch_sides())):
        for (cube, owner), number in levels.items():
            if is_double_useful(replace(seen, cube=cube, cube_owner=owner_seen_by(owner, player))):
                doubled[player, number] = levels[2 * cube, 1 - player]
    return doubled


def _match_rules(state: MatchState, table: MatchEquityTable, levels: dict[CubeLevel, int]) -> CubeRules:
    """Return the values of a game at each of `levels` for both players."""
    views = state, state.switch_sides()
    lost, passed = (
        np.array([[table.after_game(view, sign * cube) for cube, _ in levels] for view in views])
        for sign in (-1, 1)
    )
    doubled, turned = levels_after_doubles(state, levels), np.arange(len(levels))
    return CubeRules(whole=1.0, unit=1.0, lost=lost, passed=passed, doubled=doubled, turned=turned)
