"""Kinds of games, such as a race, a back game or containing a checker.

The same move means different things in different games: a checker on the 2 point is buried in a priming game
and safe in a bearoff.  The situation decides how a contribution is described, not how large it is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from motif.board.notation import OFF
from motif.board.packed import CHECKERS, HOME, OPPONENT_BAR, OWN_BAR, POINTS, Board, pack_many
from motif.parameters.position_class import CONTACT, classify_many
from motif.runtime.arrays import IntArray

BACK = POINTS - HOME
"""The highest point outside the opponent's home board."""
_ANCHORS = slice(BACK, OWN_BAR)
"""The opponent's home board and bar point, where made points are anchors."""
PRIME = 4
"""Minimum length of a prime."""
_LOW = 5
"""Minimum for the highest point of a prime; a deeper prime contains nothing."""
MIDPOINT = 13
_REACH = 6
"""Maximum distance from a checker to a prime in front of it."""
PIPS_A_ROLL = 49 / 6
_SD_OF_ROLL, _LUCK = 4.3, 3.0
"""Standard deviation of the pips of a roll; how many of them above the average count as impossible."""
_NEAR = 0.6
"""A gammon is at stake if bearing off one checker takes more than this share of the opponent's rolls."""
_ALL_BUT_TWO = CHECKERS - 2
_SEVERAL = 3


@dataclass(frozen=True, eq=False)
class Situation:
    """The situation of both plays of a decision; boards (26,) are seen by the mover."""

    before: Board
    after: tuple[Board, Board]
    gammons_cost: bool = True
    """Whether a gammon may be lost or saved, and costs more than a single game."""
    backgammons_cost: bool = True
    """Whether a backgammon may be lost, costs more than a gammon, and matters more than one."""

    @cached_property
    def is_race(self) -> bool:
        """Whether there is no contact after either play."""
        return not any(meets(board) for board in self.after)

    @cached_property
    def may_lose_gammon(self) -> bool:
        """Whether the mover may lose a gammon that counts: the opponent bears off, or is about to."""
        return self.gammons_cost and self._is_late

    @cached_property
    def may_lose_backgammon(self) -> bool:
        """Whether the mover may lose a backgammon that counts, and can leave that home board in time."""
        in_time = any(_in_time(board, pips_to_point(own_checkers(board), BACK)) for board in self.after)
        return self.backgammons_cost and self._is_late and in_time

    @cached_property
    def _is_late(self) -> bool:
        """Whether the opponent bears off, or is about to, and the mover has borne off nothing."""
        opponent = np.maximum(-self.before, 0)
        begun = opponent.sum() < CHECKERS or opponent[BACK + 1 : OWN_BAR].sum() == CHECKERS
        return bool(begun and own_checkers(self.before)[OFF] == 0)

    @cached_property
    def is_saving_gammon(self) -> bool:
        """Whether the mover has to hurry home, or lose a gammon that counts, and can still be in time."""
        rolls = pips_to_home(own_checkers(self.before)) / PIPS_A_ROLL + 1
        others = min(_rolls_to_bear_off(-board[::-1]) for board in self.after)
        in_time = any(_in_time(board, pips_to_home(own_checkers(board)) + 1) for board in self.after)
        return self.may_lose_gammon and in_time and bool(rolls > _NEAR * others)

    @cached_property
    def is_back_game(self) -> bool:
        """Whether the mover plays a back game and has not yet hit."""
        waits = all(board[OPPONENT_BAR] == 0 for board in self.after)
        has_anchors = np.count_nonzero(self.before[_ANCHORS] >= 2) >= 2
        return bool(waits and has_anchors and classify_many(pack_many(self.before[None]))[0] == CONTACT)

    @cached_property
    def is_bringing_in(self) -> bool:
        """Whether the mover has no back checkers and comes home, or bears off, against contact."""
        own = own_checkers(self.before)
        rear = int(np.flatnonzero(own).max())
        if self.is_race or rear > MIDPOINT or not meets(self.before):
            return False
        anchored = bool((self.before[1 : min(rear, HOME + 2)] <= -2).any())
        return anchored or bool(own[: HOME + 1].sum() >= _ALL_BUT_TWO)

    @cached_property
    def opponent_comes_home(self) -> bool:
        """Whether the opponent still has several checkers to bring home from outside both home boards."""
        return int(np.maximum(-self.before[HOME + 1 : BACK + 1], 0).sum()) >= _SEVERAL

    @cached_property
    def is_containing(self) -> bool:
        """Whether the opponent's rearmost checker is behind a prime of the mover after either play."""
        return not self.is_bringing_in and any(_held_by(board) for board in self.after)


def own_checkers(board: Board) -> IntArray:
    """Return the mover's checkers (26,) by point; 0 is off, 25 the bar."""
    own = np.maximum(board, 0).astype(np.int64)
    own[OFF] = CHECKERS - own.sum()
    return own


def meets(board: Board) -> bool:
    """Return whether there is contact on a `board` (26,) seen by the mover."""
    own = np.flatnonzero(board > 0)
    return bool(len(own)) and bool((board[: own.max()] < 0).any())


def is_behind(board: Board, point: int) -> bool:
    """Return whether the opponent still has a checker to bring past a `point` of the `board` (26,)."""
    return bool((board[:point] < 0).any())


def pips_to_point(own: IntArray, point: int) -> int:
    """Return the pips needed to bring all of a side's checkers (26,) to `point` or below."""
    return int((own[1:] * np.maximum(np.arange(1, len(own)) - point, 0)).sum())


def pips_to_home(own: IntArray) -> int:
    """Return the pips needed to bring all of a side's checkers (26,) home."""
    return pips_to_point(own, HOME)


def _in_time(board: Board, pips: int) -> bool:
    """Return whether the mover can play `pips` after the `board` (26,) before the opponent has borne off.

    A total of rolls more than `_LUCK` standard deviations above the average counts as impossible.
    """
    theirs = -board[::-1]
    in_race = int((np.maximum(theirs[1:], 0) * np.arange(1, len(theirs))).sum()) / PIPS_A_ROLL
    rolls = max(np.ceil(max(_rolls_to_bear_off(theirs), in_race)) - 1, 0)
    return bool(pips <= rolls * PIPS_A_ROLL + _LUCK * _SD_OF_ROLL * np.sqrt(rolls))


def _rolls_to_bear_off(board: Board) -> float:
    """Estimate the rolls needed to bear off, for the player who sees the `board` (26,)."""
    return pips_to_home(own_checkers(board)) / PIPS_A_ROLL + float(np.maximum(board[1:], 0).sum()) / 2


def run_at(own: IntArray, point: int) -> int:
    """Return the length of the run of points around `point`; 0 if it is not made or too deep for a prime."""
    low = high = point
    while low > 0 and own[low] >= 2:
        low -= 1
    while high <= POINTS and own[high] >= 2:
        high += 1
    return high - low - 1 if low < point and high > _LOW else 0


def _held_by(board: Board) -> bool:
    """Return whether the opponent's rearmost checker on a `board` (26,) is behind a nearby prime."""
    others = np.flatnonzero(board < 0)
    if not len(others):
        return False
    last = int(others.min())
    own = own_checkers(board)
    return any(run_at(own, point) >= PRIME for point in range(last + 1, min(last + 1 + _REACH, BACK)))
