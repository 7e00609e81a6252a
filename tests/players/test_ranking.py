"""Rankings of plays: a play's value follows from the opponent's, including the cube."""

from itertools import pairwise

import numpy as np
import pytest

from motif.analysis.phrases import phrases
from motif.board.match_state import MatchState
from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.doubling import cube_decision
from motif.evaluators import load_evaluator
from motif.players.ranking import RankedPlay, rank_plays
from tests.games import some_decisions

STATES = [
    MatchState(),
    MatchState(jacoby=True),
    MatchState(jacoby=True, beavers=True),
    MatchState(cube=2, cube_owner="me"),
    MatchState(cube=4, cube_owner="opponent"),
    MatchState(length=7, own_score=2, opponent_score=4),
    MatchState(length=7, own_score=4, opponent_score=2, cube=2, cube_owner="me"),
    MatchState(length=9, own_score=1, opponent_score=2, cube=4, cube_owner="opponent"),
    MatchState(length=5, own_score=4, opponent_score=2),
    MatchState(length=5, own_score=2, opponent_score=4),
    MatchState(length=5, own_score=2, opponent_score=4, crawford=True),
    MatchState(length=1),
]
"""Money, matches, the Crawford game, automatic redoubles, dead cubes."""
CHECKED_OF_EACH = 2
"""Plays of each roll that are compared: the best ones."""


def check_decisions(player: str, count: int, seed: int) -> int:
    """Compare plays of `count` decisions with the cube decisions after them; return the number."""
    evaluator = load_evaluator(player)
    boards, rolls = some_decisions("motif-v1", count, seed)
    compared = 0
    for number, (board, roll) in enumerate(zip(boards, rolls.tolist(), strict=True)):
        state = STATES[number % len(STATES)]
        ranking = rank_plays(Position(board), (roll[0], roll[1]), evaluator, state)
        for one in ranking[:CHECKED_OF_EACH]:
            after = one.play.position
            if outcome(after):
                continue
            decision = cube_decision(evaluator.evaluate(after), state.switch_sides(), after, evaluator)
            assert one.equity == pytest.approx(-decision.value, abs=1e-6), (number, str(one), state)
            compared += 1
    return compared


@pytest.mark.parametrize(("player", "decisions"), [("latest", 48), ("latest@1", 48), ("latest@2", 20)])
def test_a_plays_value_agrees_with_the_cube_in_the_next_position(player, decisions):
    assert check_decisions(player, decisions, seed=4) > decisions


@pytest.mark.slow
@pytest.mark.parametrize("player", ["latest", "latest@1", "latest@2"])
def test_a_plays_value_agrees_with_the_cube_in_2000_positions(player):
    assert check_decisions(player, 2_000, seed=20261124) > 2_000


def test_plays_are_in_order_and_differences_are_those_of_equities():
    evaluator = load_evaluator("latest@2")
    boards, rolls = some_decisions("motif-v1", 12, 9)
    for board, roll in zip(boards, rolls.tolist(), strict=True):
        ranking = rank_plays(Position(board), (roll[0], roll[1]), evaluator, with_probabilities=True)
        equities = np.array([one.equity for one in ranking])
        assert (np.diff(equities) <= 1e-12).all()
        assert [one.difference for one in ranking] == pytest.approx(equities - equities[0])
        # Without a cube, a play's probabilities match its equity, at the same depth.
        for one in ranking[:3]:
            if one.source.endswith("2-ply"):
                assert one.chances.equity == pytest.approx(one.equity, abs=2e-3)


@pytest.mark.parametrize(("position", "roll"), [("4HPwATDgc/ABMA", (6, 4)), ("zD0HATDGPcEBMA", (4, 2))])
def test_plays_seen_to_full_depth_come_before_plays_lowered_to_their_equity(position, roll):
    ranking = rank_plays(Position.of(position), roll, load_evaluator("latest@2"))
    assert len({(one.equity, one.source) for one in ranking}) > len({one.equity for one in ranking})
    for one, other in pairwise(ranking):
        assert one.equity > other.equity or one.source >= other.source


def test_differences_are_those_of_the_equities_shown():
    """Exact differences would round to -0.266 after +0.154 and -0.111."""
    for one in rank_plays(Position.start(), (3, 1), load_evaluator("latest")).plays:
        best = round(one.equity - one.difference, 3)
        assert float(one.shown_difference) == pytest.approx(round(one.equity, 3) - best, abs=1e-9)


@pytest.mark.parametrize("player", ["latest", "latest@2"])
def test_plays_into_the_two_sided_tables_are_exact_without_a_cube(player):
    few, more = (Position.from_id(text) for text in ("JgAAwAQAAAAAAA", "Ph8AAOD5AAAAAA"))
    evaluator = load_evaluator(player)
    assert {one.source for one in rank_plays(few, (2, 1), evaluator)} == {"exact"}
    assert "exact" not in {one.source for one in rank_plays(more, (2, 1), evaluator)}


def test_a_play_that_ends_the_game_is_exact():
    ranking = rank_plays(
        Position.from_id("AwAAwAQAAAAAAA").switch_sides(), (2, 1), load_evaluator("latest@1")
    )
    assert (ranking[0].source, ranking[0].equity) == ("exact", 1)


def test_no_negative_zero_is_shown():
    play = legal_plays(Position.start(), (3, 1))[0]
    assert str(RankedPlay(play, -0.0004, 0.0, "0-ply")) == f"{play} +0.000"
    assert str(RankedPlay(play, -0.0006, 0.0, "0-ply")) == f"{play} -0.001"
    assert [phrases().signed(value) for value in (-0.0004, 0.0004, -0.0006)] == ["+0.000", "+0.000", "-0.001"]
