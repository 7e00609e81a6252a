"""The generator of legal plays, compared with the plays that a real gnubg lists."""

import pytest

from motif.board.moves import legal_plays
from motif.board.position import Position
from tests.peers.games import decisions

DECISIONS = 150

# The last checker could be borne off with one die, but both dice can and must be played.  bgsage
# bears it off with one (see test_bgsage_plays).
BOTH_DICE_TO_THE_END = [
    (Position.from_points({2: 1}, {24: 1, 16: 14}), (3, 1)),
    (Position.from_points({6: 1}, {21: 1, 16: 10}), (6, 2)),
    (Position.from_points({3: 1}, {23: 1, 24: 2, 20: 2}), (5, 1)),
]


def after(position: Position, play: str) -> Position:
    """Return the position after `play`, such as ``bar/22*/18 6/off(2)``, from the next player's side."""
    board = position.board.copy()
    for part in play.split():
        way, _, times = part.rstrip(")").partition("(")
        stops = way.replace("bar", "25").replace("off", "0").split("/")
        places = [int(stop.rstrip("*")) for stop in stops]
        for place, stop in zip(places, stops, strict=True):
            if stop.endswith("*"):
                assert board[place] == -1
                board[place] = 0
                board[0] -= 1
        board[places[0]] -= int(times or 1)
        if places[-1] > 0:
            board[places[-1]] += int(times or 1)
    return Position(board).switch_sides()


def assert_same_plays(gnubg, compared):
    listed = gnubg.plays(compared)
    assert len(listed) == len(compared)
    for (position, roll), plays in zip(compared, listed, strict=True):
        theirs = [after(position, play) for play in plays] or [position.switch_sides()]
        ours = [play.position for play in legal_plays(position, roll)]
        assert len(theirs) == len(set(theirs))
        assert set(ours) == set(theirs), f"{position!r} with {roll}: gnubg lists {plays}"


def test_plays_agree_with_gnubg(gnubg):
    assert_same_plays(gnubg, [(position, roll) for position, roll, _ in decisions(DECISIONS, seed=3)])


@pytest.mark.parametrize("decision", BOTH_DICE_TO_THE_END, ids=repr)
def test_both_dice_must_be_played_to_the_end(gnubg, decision):
    assert_same_plays(gnubg, [decision])
