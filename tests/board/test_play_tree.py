"""A roll played checker by checker: every legal play can be reached, and no other play."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.board.moves import legal_plays, play_tree
from motif.board.outcome import outcome
from motif.board.position import Position
from tests.strategies import positions

ROLLS = st.tuples(st.integers(1, 6), st.integers(1, 6)).map(lambda dice: (max(dice), min(dice)))


def walked(position, roll):
    """The boards to which the tree's moves lead, from the mover's side, by the number of the legal play."""
    plays = legal_plays(position, roll)
    nodes = play_tree(position, roll, plays)
    boards = {}

    def walk(node, board):
        if nodes[node].play is not None:
            boards.setdefault(nodes[node].play, set()).add(tuple(board))
        assert nodes[node].steps or nodes[node].play is not None, "a dead end"
        for step in nodes[node].steps:
            after = list(board)
            assert after[step.start] > 0
            assert step.hits == (step.end > 0 and after[step.end] == -1)
            after[step.start] -= 1
            if step.hits:
                after[step.end], after[0] = 0, after[0] - 1
            if step.end:
                after[step.end] += 1
            walk(step.node, after)

    walk(0, position.board.tolist())
    return plays, nodes, boards


@given(positions(), ROLLS)
def test_the_tree_leads_to_every_legal_play_and_to_nothing_else(position, roll):
    if outcome(position):
        return
    if roll[0] == roll[1]:
        roll = (roll[0], roll[0] % 6 + 1)  # doubles only in positions with few of them
    plays, _, boards = walked(position, roll)
    assert boards == {
        number: {tuple(play.position.switch_sides().board.tolist())} for number, play in enumerate(plays)
    }


@pytest.mark.parametrize(
    ("own", "opponent", "roll", "first"),
    [
        # The 5 is blocked until the 6 has been played.
        ({13: 1, 1: 14}, {17: 2, 6: 13}, (6, 5), {(13, 7)}),
        # Either die enters, but not both: the higher one must be played.
        ({25: 1, 1: 14}, {7: 2, 13: 13}, (6, 1), {(25, 19)}),
        # A higher die bears off only from the rearmost point.
        ({5: 1, 2: 1}, {1: 15}, (6, 2), {(5, 0), (5, 3), (2, 0)}),
    ],
)
def test_what_may_be_moved_first(own, opponent, roll, first):
    position = Position.from_points(own, opponent)
    _, nodes, _ = walked(position, roll)
    assert {(step.start, step.end) for step in nodes[0].steps} == first


def test_doubles_are_played_in_any_order():
    plays, nodes, boards = walked(Position.start(), (3, 3))
    assert len(boards) == len(plays)
    assert {step.start for step in nodes[0].steps} == {24, 13, 8, 6}


def test_a_dance_is_one_play_without_steps():
    position = Position.from_points({25: 1, 6: 14}, {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2, 13: 3})
    plays, nodes, _ = walked(position, (6, 5))
    assert len(nodes) == 1
    assert (nodes[0].steps, nodes[0].play) == ((), 0)
    assert plays[0].notation == ""
