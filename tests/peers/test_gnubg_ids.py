"""Position IDs, compared with those of a real gnubg in both directions."""

import numpy as np
import pytest

from motif.board.identifiers import gnubg_id, position_from_gnubg_id
from motif.board.outcome import Outcome, outcome
from motif.board.packed import CHECKERS, OWN_BAR, POINTS
from motif.board.position import Position, faults
from tests.peers.games import decisions
from tools.text_gnubg import simple_board

POSITIONS = 200


def scattered(random: np.random.Generator) -> Position:
    """Return a position with any number of checkers on any points and bars."""
    while True:
        board = np.zeros(26, np.int64)
        np.add.at(board, random.integers(1, OWN_BAR + 1, random.integers(1, CHECKERS + 1)), 1)
        free = [place for place in range(POINTS + 1) if board[place] == 0]
        np.add.at(board, random.choice(free, random.integers(1, CHECKERS + 1)), -1)
        if not faults(board) and outcome(Position(board)) == Outcome.UNFINISHED:
            return Position(board)


@pytest.fixture(scope="module")
def positions() -> list[Position]:
    random = np.random.default_rng(1)
    played = [position for position, _, _ in decisions(POSITIONS // 2, seed=2)]
    return played + [scattered(random) for _ in range(POSITIONS - len(played))]


def test_gnubg_reads_motifs_ids(gnubg, positions):
    boards = gnubg.raw_boards([f"set board {gnubg_id(position)}" for position in positions])
    assert boards == [position.board.tolist() for position in positions]


def test_motif_writes_and_reads_gnubgs_ids(gnubg, positions):
    ids = gnubg.position_ids([f"set board {simple_board(position)}" for position in positions])
    assert ids == [gnubg_id(position) for position in positions]
    assert [position_from_gnubg_id(text) for text in ids] == positions
