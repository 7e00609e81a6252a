"""Bearoff statistics: the distribution of the rolls that a side needs, and the probabilities of a race."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.outcome import outcome
from motif.board.packed import HOME, OWN_BAR, PACKED_SIZE, pack, pack_many
from motif.board.position import Position
from motif.compiler.jit import kernel, words_of
from motif.evaluators.bearoff.lookup import (
    FIRST_FULL,
    FIRST_OFF,
    TWO_SIDED_POSITIONS,
    bearoff_probabilities,
    covered,
    number_of,
)
from motif.evaluators.bearoff.tables import BearoffTables, bearoff_tables, distribution, mean_rolls, variances
from motif.evaluators.probabilities import OUTPUTS, Probabilities
from motif.runtime.arrays import FloatArray
from motif.runtime.errors import PositionError


class RaceDistribution(NamedTuple):
    """Distribution of the number of rolls that a side needs if it minimises the mean."""

    all_off: FloatArray
    """Probability of needing exactly n rolls to bear off all checkers, at index n = 0, 1, ..."""
    first_off: FloatArray
    """Probabilities for the first checker; ``[1.0]`` if one is off already."""
    mean: float
    """Mean rolls until all checkers are off."""
    sd: float
    """Standard deviation of the number of rolls until all checkers are off."""


class BearoffChances(NamedTuple):
    """Probabilities of a position that the tables cover."""

    probabilities: Probabilities
    """Probabilities of the player on roll, before the roll."""
    exact: bool
    """Whether the probabilities are those of best play; otherwise each side minimises its mean number of
    rolls.
    """

    def to_dict(self) -> dict[str, float | bool]:
        """Return the probabilities and the equity by name, and whether they are exact."""
        return {**self.probabilities.to_dict(), "exact": self.exact}


def race_distribution(position: Position) -> RaceDistribution:
    """Return the distribution of the number of rolls that the player on roll needs to bear off.

    Use ``position.switch_sides()`` for the opponent.

    Raises `PositionError` for checkers outside the home board, and if a hit is possible.
    """
    board = position.board
    if (board[HOME + 1 :] > 0).any():
        raise PositionError(f"checkers on {_places(board)} are outside the home board", about="no bearoff")
    own, opponents = np.flatnonzero(board > 0), np.flatnonzero(board < 0)
    if len(own) and len(opponents) and opponents[0] < own[-1]:
        raise PositionError("the opponent has checkers behind, and may hit or block", about="no bearoff")
    tables = bearoff_tables()
    number = _home_number(position)
    return RaceDistribution(
        distribution(tables, number),
        distribution(tables, number + FIRST_OFF) if number >= FIRST_FULL else np.ones(1),
        float(mean_rolls(tables)[number]),
        math.sqrt(variances(tables)[number]),
    )


def bearoff_chances(position: Position) -> BearoffChances:
    """Return the probabilities of a position in which both sides have all their checkers home.

    Raises `PositionError` for any other position, and for a finished game.
    """
    if outcome(position):
        raise PositionError("the game is over (one player has borne off all checkers)", about="no bearoff")
    known, rows = covered_rows(bearoff_tables(), pack_many(position.board[None]))
    if not len(known):
        who = "the player on roll" if (position.board[HOME + 1 :] > 0).any() else "the opponent"
        raise PositionError(f"{who} has checkers outside the home board", about="no bearoff")
    numbers = [_home_number(each) for each in (position, position.switch_sides())]
    return BearoffChances(Probabilities(*rows[0].tolist()), max(numbers) < TWO_SIDED_POSITIONS)


def _home_number(position: Position) -> int:
    """Return the number of the home position of the player on roll."""
    return number_of(np.maximum(position.board[1 : HOME + 1], 0))


def covered_rows(
    tables: BearoffTables, packed: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Return the rows (m,) of packed boards (n, 64) that `tables` cover, and their probabilities (m, 5)."""
    rows = np.empty((len(packed), len(OUTPUTS)))
    known = np.flatnonzero(_fill_rows(tables, packed, rows))
    return known, rows[known]


@kernel
def covered_boards(tables, boards):
    """Return which of the boards int8 (n, 26) `tables` cover, bool (n,)."""
    packed = np.empty(PACKED_SIZE, np.int8)
    words = words_of(packed)
    known = np.zeros(boards.shape[0], np.bool_)
    for row in range(boards.shape[0]):
        pack(boards[row], packed)
        known[row] = covered(tables, words)
    return known


@kernel
def _fill_rows(tables, packed, rows):
    """Write the five probabilities of each board that `tables` cover to `rows`; return which they are."""
    words = words_of(packed)
    known = np.zeros(packed.shape[0], np.bool_)
    for k in range(packed.shape[0]):
        known[k] = covered(tables, words[k])
        if known[k]:
            bearoff_probabilities(tables, words[k], rows[k])
    return known


def _places(board: npt.NDArray[np.int8]) -> str:
    places = [place for place in range(HOME + 1, OWN_BAR + 1) if board[place] > 0]
    return ", ".join("the bar" if place == OWN_BAR else str(place) for place in places)
