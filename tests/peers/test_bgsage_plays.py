"""The generator of legal plays, compared with bgsage's."""

from collections import Counter
from itertools import islice

import pytest

from motif.board.moves import Play, legal_plays
from motif.board.position import Position
from tests.peers.games import endless_decisions

bgsage = pytest.importorskip("bgsage", reason="bgsage is not installed: `make test-peers` installs it")

DECISIONS = 10_000
SHOWN = 10


def sages_boards(position: Position, roll: tuple[int, int]) -> Counter[tuple[int, ...]]:
    """Return the boards that bgsage finds, in motif's convention, from the next player's side.

    bgsage counts the opponent's checkers on the bar positive, the opponent's other checkers negative.
    """
    board = position.board.tolist()
    found = bgsage.possible_moves([-board[0], *board[1:]], *roll)
    return Counter(tuple(-checkers for checkers in [*reversed(after[1:]), -after[0]]) for after in found)


def bears_the_last_off_with_one_die(board: tuple[int, ...], plays: list[Play]) -> bool:
    """Return whether bgsage bears the last checker off with one die although both can be played.

    bgsage then misses a hit on the way. The rules demand both dice, and gnubg agrees (`test_gnubg_plays`).
    """
    return all(checkers >= 0 for checkers in board) and len(plays[0].moves) == 2


def difference(position: Position, roll: tuple[int, int], plays: list[Play]) -> list[str]:
    """Describe where the two generators differ."""
    ours = Counter(tuple(play.position.board.tolist()) for play in plays)
    theirs = sages_boards(position, roll)
    only_there = [board for board in theirs - ours if not bears_the_last_off_with_one_die(board, plays)]
    only_here = list(ours - theirs)
    if not only_here and not only_there:
        return []
    return [
        f"{position!r} with {roll}: {len(plays)} plays here, {theirs.total()} in bgsage",
        *(f"  only here: {Position(board).switch_sides()!r}" for board in only_here),
        *(f"  only in bgsage: {Position(board).switch_sides()!r}" for board in only_there),
    ]


def test_plays_agree_with_bgsage():
    differences = []
    for position, roll, plays in islice(endless_decisions(seed=1), DECISIONS):
        differences += [difference(position, roll, plays)]
    differing = [lines for lines in differences if lines]
    shown = "\n".join(line for lines in differing[:SHOWN] for line in lines)
    assert not differing, f"{len(differing)} of {DECISIONS} decisions differ; the first are\n{shown}"


def test_the_known_difference_remains():
    position, roll = Position.from_points({6: 1}, {21: 1, 16: 10}), (6, 2)
    assert len(legal_plays(position, roll)) == 1
    assert sages_boards(position, roll).total() == 2
    assert difference(position, roll, legal_plays(position, roll)) == []
