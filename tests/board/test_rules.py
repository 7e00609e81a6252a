"""Rules of matches and of the cube."""

from dataclasses import replace

import pytest

from motif.board.match_state import MatchState
from motif.board.rules import (
    MAX_CUBE,
    MAX_CUBE_PLAYED,
    gammons_count,
    is_crawford_game,
    is_double_useful,
    match_winner,
    may_beaver_in_play,
    may_double,
    may_double_in_play,
)


@pytest.mark.parametrize(
    ("state", "may", "is_useful"),
    [
        (MatchState(), True, True),
        (MatchState(cube=2, cube_owner="me"), True, True),
        (MatchState(cube=2, cube_owner="opponent"), False, False),
        (MatchState(cube=MAX_CUBE, cube_owner="me"), True, False),
        (MatchState(5, 4, 2, crawford=True), False, False),
        (MatchState(5, 4, 2), True, False),
        (MatchState(5, 2, 4), True, True),
        (MatchState(5, 3, 3), True, True),
        (MatchState(5, 1, 0, cube=4, cube_owner="me"), True, False),
    ],
)
def test_who_may_double(state, may, is_useful):
    assert may_double(state) == may
    assert is_double_useful(state) == is_useful


def test_the_largest_cube_of_games_with_people():
    largest, half = (MatchState(cube=MAX_CUBE_PLAYED >> k, cube_owner="me", beavers=True) for k in (0, 1))
    assert is_double_useful(largest)
    assert not may_double_in_play(largest)
    assert may_double_in_play(half)
    assert not may_beaver_in_play(half)
    assert may_beaver_in_play(replace(half, cube=MAX_CUBE_PLAYED >> 2))
    assert not may_beaver_in_play(replace(half, cube=1, beavers=False))


def test_the_crawford_game_is_the_first_at_match_point():
    assert is_crawford_game(5, (4, 1), played=False)
    assert not is_crawford_game(5, (4, 2), played=True)
    assert not is_crawford_game(5, (3, 3), played=False)
    assert not is_crawford_game(1, (0, 0), played=False)
    assert not is_crawford_game(0, (0, 0), played=False)


def test_gammons_under_the_jacoby_rule():
    centred = MatchState(jacoby=True)
    assert not gammons_count(centred)
    assert gammons_count(replace(centred, cube=2, cube_owner="opponent"))
    assert gammons_count(MatchState())
    assert gammons_count(MatchState(5, jacoby=True))


def test_the_winner_of_a_match():
    assert match_winner(5, (3, 5)) == 1
    assert match_winner(5, (6, 4)) == 0
    assert match_winner(5, (4, 4)) is None
    assert match_winner(0, (9, 0)) is None
