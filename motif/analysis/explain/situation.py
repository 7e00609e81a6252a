"""What a decision is about: a race, bringing checkers home past others, holding a checker back, and so on.

A player judges the same move by another measure in another game: a checker on the 2 point is buried in a
prime and safe in a bearoff.  So the situation decides what a part of a difference is called, not how large
it is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, HOME, OPPONENT_BAR, OWN_BAR, POINTS, Board, pack_many
from motif.parameters.position_class import AIMS, BACK_GAME, plan_name, plans_many

OFF = 0
"""Where a checker that was borne off stands, as in notation."""
BACK = POINTS - HOME
"""The highest point outside the opponent's home board."""
PRIME = 4
"""Points of a prime, at least."""
_LOW = 5
"""A prime ends here at least: deeper points hold nobody who has not come in yet."""
_MIDPOINT = 13
_REACH = 6
"""A prime is in front of a checker if it begins within so many points."""
_PIPS_A_ROLL = 49 / 6
_NEAR = 0.6
"""A gammon is at stake if one needs more rolls for the first checker than this share of the opponent's."""
_ALL_BUT_TWO = CHECKERS - 2


@dataclass(frozen=True, eq=False)
class Situation:
    """The game that both plays of a decision are part of; boards are (26,), as the mover sees them."""

    before: Board
    after: tuple[Board, Board]
    gammons_cost: bool = True
    """Whether a gammon lost costs more than a single game, at the score and with the cube."""

    @cached_property
    def is_race(self) -> bool:
        """Whether nobody has anybody left to block or to hit, after either play."""
        return not any(meets(board) for board in self.after)

    @cached_property
    def may_lose_gammon(self) -> bool:
        """Whether the mover has borne off nobody, and the opponent has begun to or is about to."""
        opponent = np.maximum(-self.before, 0)
        begun = opponent.sum() < CHECKERS or opponent[BACK + 1 : OWN_BAR].sum() == CHECKERS
        return bool(begun and own_checkers(self.before)[OFF] == 0)

    @cached_property
    def is_saving_gammon(self) -> bool:
        """Whether the opponent may be off before the mover has borne off one checker."""
        rolls = pips_to_home(own_checkers(self.before)) / _PIPS_A_ROLL + 1
        others = min(_rolls_to_bear_off(-board[::-1]) for board in self.after)
        return self.gammons_cost and self.may_lose_gammon and bool(rolls > _NEAR * others)

    @cached_property
    def is_back_game(self) -> bool:
        """Whether the mover holds two anchors and waits: after a hit there is somebody to contain."""
        name = plan_name(int(plans_many(pack_many(self.before[None]))[0]))
        waits = all(board[OPPONENT_BAR] == 0 for board in self.after)
        return waits and name is not None and name.startswith(f"{AIMS[BACK_GAME]} against")

    @cached_property
    def is_bringing_in(self) -> bool:
        """Whether the mover has nobody back, and brings checkers home, or off, past others there."""
        own = own_checkers(self.before)
        rear = int(np.flatnonzero(own).max())
        if self.is_race or rear > _MIDPOINT or not meets(self.before):
            return False
        anchored = bool((self.before[1:rear] <= -2).any())
        return anchored or bool(own[: HOME + 1].sum() >= _ALL_BUT_TWO)

    @cached_property
    def is_containing(self) -> bool:
        """Whether the opponent's rearmost checker stands behind a prime of the mover's, after either play."""
        return not self.is_bringing_in and any(_held_by(board) for board in self.after)


def own_checkers(board: Board) -> npt.NDArray[np.int64]:
    """Return the mover's checkers (26,) by point, those off at 0 and those on the bar at 25."""
    own = np.maximum(board, 0).astype(np.int64)
    own[OFF] = CHECKERS - own.sum()
    return own


def meets(board: Board) -> bool:
    """Whether on a `board` (26,), as the mover sees it, the opponent has a checker behind one of theirs."""
    own = np.flatnonzero(board > 0)
    return bool(len(own)) and bool((board[: own.max()] < 0).any())


def pips_to_home(own: npt.NDArray[np.int64]) -> int:
    """Pips that bring all of a side's checkers (26,) to its 6 point at least."""
    return int((own[1:] * np.maximum(np.arange(1, len(own)) - HOME, 0)).sum())


def _rolls_to_bear_off(board: Board) -> float:
    """About how many rolls the player needs whose view the `board` (26,) is in."""
    return pips_to_home(own_checkers(board)) / _PIPS_A_ROLL + float(np.maximum(board[1:], 0).sum()) / 2


def run_at(own: npt.NDArray[np.int64], point: int) -> int:
    """How many points in a row a side has made around `point`; 0 where it has not made that.

    Points from the 4 point down, which hold nobody who has not come in yet, are none.
    """
    low = high = point
    while low > 0 and own[low] >= 2:
        low -= 1
    while high <= POINTS and own[high] >= 2:
        high += 1
    return high - low - 1 if low < point and high > _LOW else 0


def _held_by(board: Board) -> bool:
    """Whether the opponent's rearmost checker on a `board` (26,) stands behind a prime within its reach."""
    others = np.flatnonzero(board < 0)
    if not len(others):
        return False
    last = int(others.min())
    own = own_checkers(board)
    return any(run_at(own, point) >= PRIME for point in range(last + 1, min(last + 1 + _REACH, BACK)))
