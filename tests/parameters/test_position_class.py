"""Position classes, compared with the wording of gnubg's definition."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.parameters.position_class import CLASS_NAMES, classify_many, position_class
from tests.games import some_boards
from tests.parameters import reference
from tests.strategies import positions

# Own checkers and the opponent's in the opponent's numbering.
EXAMPLES: list[tuple[str, dict[int, int], dict[int, int], str]] = [
    ("the start", {24: 2, 13: 5, 8: 3, 6: 5}, {24: 2, 13: 5, 8: 3, 6: 5}, "contact"),
    ("both past each other", {10: 15}, {10: 15}, "race"),
    ("one pip past each other", {12: 15}, {12: 15}, "race"),
    ("face to face: their 13 is my 12", {13: 15}, {13: 15}, "contact"),
    ("face to face: one of theirs is on my 12", {13: 15}, {13: 1, 6: 14}, "contact"),
    ("all of theirs are on my 14 or behind it", {13: 15}, {11: 1, 6: 14}, "race"),
    ("one on the bar, the others home", {25: 1, 3: 14}, {6: 15}, "contact"),
    ("opponent on the bar, mine all home", {6: 15}, {25: 1, 6: 14}, "contact"),
    ("opponent on the bar, one of mine left on the ace point", {1: 1}, {25: 1, 6: 14}, "crashed"),
    ("I have borne off all", {}, {6: 15}, "race"),
    ("opponent has borne off all", {24: 3}, {}, "race"),
    ("six checkers left in contact", {24: 6}, {6: 15}, "crashed"),
    ("seven checkers left in contact", {24: 7}, {6: 15}, "contact"),
    ("opponent has six left", {24: 15}, {6: 6}, "crashed"),
    # a > 1 and n <= 6 + a
    ("seven, two of them on the ace point", {24: 5, 1: 2}, {6: 15}, "crashed"),
    ("eight, two of them on the ace point", {24: 6, 1: 2}, {6: 15}, "crashed"),
    ("nine, two of them on the ace point", {24: 7, 1: 2}, {6: 15}, "contact"),
    ("fifteen, nine of them on the ace point", {24: 6, 1: 9}, {6: 15}, "crashed"),
    ("fifteen, eight of them on the ace point", {24: 7, 1: 8}, {6: 15}, "contact"),
    # d > 1 and 1 + n - (a + d) <= 6
    ("five off the two deepest points", {24: 5, 1: 5, 2: 5}, {6: 15}, "crashed"),
    ("six off the two deepest points", {24: 6, 1: 5, 2: 4}, {6: 15}, "contact"),
    ("a single checker on the deuce point does not count", {24: 6, 1: 7, 2: 1}, {6: 15}, "contact"),
    ("two on the deuce point do", {24: 5, 1: 7, 2: 2}, {6: 15}, "crashed"),
    # a <= 1 and n <= 6 + (d - 1)
    ("one on the ace point, many on the deuce point", {24: 5, 1: 1, 2: 8}, {6: 15}, "contact"),
    ("none on the ace point, five elsewhere", {24: 5, 2: 8}, {6: 15}, "crashed"),
    ("none on the ace point, six elsewhere", {24: 6, 2: 8}, {6: 15}, "contact"),
    ("four elsewhere, one of them on the ace point", {24: 3, 1: 1, 2: 8}, {6: 15}, "crashed"),
    ("checkers on the bar are on the board", {25: 7}, {6: 15}, "contact"),
    ("the same for the opponent", {13: 15}, {24: 5, 1: 5, 2: 5}, "crashed"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "opponent", "name"), [pytest.param(*row[1:], id=row[0]) for row in EXAMPLES])
def test_examples(own, opponent, name):
    position = Position.from_points(own, opponent)
    assert position_class(position) == name
    assert reference.position_class(tuple(position.board.tolist())) == name


@settings(max_examples=400, deadline=None)
@given(positions())
def test_any_position_agrees_with_the_reference(position):
    assert position_class(position) == reference.position_class(tuple(position.board.tolist()))


@settings(max_examples=200, deadline=None)
@given(positions())
def test_the_class_is_the_same_for_both_players(position):
    assert position_class(position) == position_class(position.switch_sides())


def test_positions_of_games_agree_with_the_reference():
    boards = np.concatenate([some_boards("random", 2000, seed=3), some_boards("pubeval", 2000, seed=4)])
    found = [CLASS_NAMES[code] for code in classify_many(pack_many(boards))]
    assert found == [reference.position_class(tuple(board.tolist())) for board in boards]
    assert min(Counter(found)[name] for name in CLASS_NAMES) > 100
