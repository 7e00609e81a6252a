"""Hypothesis strategies shared by many tests."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from motif.board.packed import BOARD_SIZE, CHECKERS, OWN_BAR, POINTS
from motif.board.position import Position, faults

PLACES = range(1, OWN_BAR + 1)


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Draw any position: checkers anywhere, on the bar and off, on both sides."""
    board = np.zeros(BOARD_SIZE, np.int64)
    own_count, opponent_count = draw(st.tuples(st.integers(0, CHECKERS), st.integers(0, CHECKERS)))
    own = draw(st.lists(st.sampled_from(PLACES), min_size=own_count, max_size=own_count))
    free = [place for place in range(POINTS + 1) if place == 0 or place not in own]
    opponent = draw(st.lists(st.sampled_from(free), min_size=opponent_count, max_size=opponent_count))
    for place in own:
        board[place] += 1
    for place in opponent:
        board[place] -= 1
    # Both sides off, or both closed out: rare, and invalid.
    assume(not faults(board))
    return Position(board)


def rolls() -> st.SearchStrategy[tuple[int, int]]:
    """Return a strategy for the 21 rolls, the higher die first."""
    return st.sampled_from([(high, low) for high in range(1, 7) for low in range(1, high + 1)])
