"""Evaluators at a score and with the cube: textbook plays, and the same values by kernel and by hand."""

import pickle

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.movegen import ROLLS
from motif.board.moves import legal_plays, play_batches
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.doubling.cube_states import cube_model_for
from motif.evaluators import Evaluator, LookaheadEvaluator, load_static
from motif.evaluators.cube_model import (
    NO_CUBE,
    best_of_double,
    cubeful_values,
    gammon_values,
    value_for_side,
    without_cube,
)
from motif.evaluators.kernels import NOT_SCORED, value_after
from motif.evaluators.known_players import default_player
from motif.evaluators.lookahead_kernels import choose_replies
from motif.evaluators.lookahead_memory import thread_tree
from motif.evaluators.static import prepared
from motif.players import load
from motif.rollouts.rollout_evaluator import load_rollout
from tests.fitting.fitting_samples import random_boards
from tests.games import some_decisions

NEWEST = load_static("latest")
MONEY = MatchState()
MATCH_POINT = MatchState(5, 4, 4)
GAMMON_GO = MatchState(5, 3, 4, crawford=True)
GAMMON_SAVE = MatchState(5, 4, 3, crawford=True)
START = Position.start()


def best(evaluator: Evaluator, position: Position, roll: tuple[int, int]) -> str:
    after = evaluator.best_plays(position.board[None], np.array([roll])).boards[0]
    return next(play.notation for play in legal_plays(position, roll) if (play.position.board == after).all())


@pytest.mark.parametrize(
    ("state", "roll", "plays", "why"),
    [
        (GAMMON_GO, (6, 4), {"8/2 6/2"}, "two home points and a blockade win gammons"),
        (MATCH_POINT, (6, 4), {"24/14", "24/18 13/9"}, "an asset deep in one's home is worth gammons alone"),
        (GAMMON_SAVE, (6, 4), {"24/14", "24/18 13/9"}, "the rear checkers come up before they are gammoned"),
        (GAMMON_SAVE, (6, 2), {"24/18 13/11", "24/16"}, "a rear checker comes up"),
        (GAMMON_GO, (5, 3), {"8/3 6/3"}, "the point is made"),
        (MATCH_POINT, (3, 1), {"8/5 6/5"}, "the five point is best at every score"),
        (GAMMON_SAVE, (3, 1), {"8/5 6/5"}, "the five point is best at every score"),
    ],
)
def test_textbook_openings(state, roll, plays, why):
    assert best(NEWEST.with_cube(cube_model_for(state)), START, roll) in plays, why


def test_gammon_values():
    """Values from the match equity table: 1 or 0 if the game decides the match."""
    assert gammon_values(cube_model_for(MONEY)) == gammon_values(NO_CUBE) == (0.5, 0.5)
    assert gammon_values(cube_model_for(MATCH_POINT)) == (0, 0)
    assert gammon_values(cube_model_for(GAMMON_GO)) == pytest.approx((1, 0))
    assert gammon_values(cube_model_for(GAMMON_SAVE)) == pytest.approx((0, 1))
    assert gammon_values(cube_model_for(MatchState(jacoby=True))) == (0, 0)


def test_a_double_is_free_for_a_player_who_loses_the_match_anyway():
    after_crawford = MatchState(length=5, own_score=2, opponent_score=4)
    for state in (after_crawford, after_crawford.switch_sides()):
        # Two points equalise and a gammon wins; without the double, a gammon adds a point of three.
        assert gammon_values(without_cube(cube_model_for(state))) == pytest.approx((0, 0), abs=0.05)
        assert max(gammon_values(cube_model_for(state))) == pytest.approx(1)
    # A free double from 2-away wins the match, and a gammon nothing more.
    two_away = MatchState(length=5, own_score=3, opponent_score=4)
    assert max(gammon_values(without_cube(cube_model_for(two_away)))) > 0.9
    assert gammon_values(cube_model_for(two_away)) == (0, 0)
    for state in (MONEY, MATCH_POINT, MatchState(jacoby=True), MatchState(length=7)):
        cubes = cube_model_for(state)
        assert gammon_values(cubes) == gammon_values(without_cube(cubes))


def test_for_money_without_a_cube_nothing_changes():
    players = ["latest", "motif-v1@1:full", "rollout:latest,trials=1"]
    for evaluator in (load(name).evaluator for name in players):
        assert evaluator is not None
        assert evaluator.with_cube(NO_CUBE) is evaluator


@pytest.mark.parametrize("state", [MONEY, MatchState(7, 2, 4, 2, "me"), GAMMON_GO])
@pytest.mark.parametrize("side", [0, 1])
def test_the_kernel_and_the_general_way_agree(state, side):
    """Values from the five probabilities, which the general code has in single precision."""
    cube_model, boards = cube_model_for(state), random_boards(200, seed=3)
    rows = NEWEST.evaluate_many(boards).astype(np.float64)
    expected = cubeful_values(cube_model, side, pack_many(boards), rows)
    assert NEWEST.with_cube(cube_model, side).equity_many(boards) == pytest.approx(expected, abs=2e-5)
    pairs = Evaluator.cube_equities(NEWEST, boards, cube_model, side)
    assert best_of_double(cube_model, side, pairs) == pytest.approx(expected, abs=1e-12)


def test_a_dead_cube_ranks_by_the_ends_of_the_game():
    """In money play this is the equity, if gammons are no more likely than wins."""
    cube_model, boards = without_cube(cube_model_for(MONEY)), random_boards(100, seed=4)
    rows = NEWEST.evaluate_many(boards).astype(np.float64)
    plain = 2 * rows[:, 0] - 1 + rows[:, 1] + rows[:, 2] - rows[:, 3] - rows[:, 4]
    assert NEWEST.with_cube(cube_model).equity_many(boards) == pytest.approx(plain, abs=1e-5)


@pytest.mark.parametrize("name", ["latest", "motif-v1@1:full", "rollout:latest,trials=2,candidates=3,cut=4"])
def test_plays_of_a_decision_are_the_other_sides_positions(name):
    evaluator = load(name).evaluator
    assert evaluator is not None
    cube_model, before = cube_model_for(GAMMON_GO), START.board[None]
    batch = next(play_batches(before, np.array([(6, 4)])))
    cubeful = evaluator.with_cube(cube_model)
    values = cubeful.play_equities(before, batch)
    assert len(values) == len(batch.boards)
    assert (np.abs(values) <= 1.1).all()
    if not name.startswith("rollout"):
        after = evaluator.with_cube(cube_model, side=1).equity_many(batch.boards)
        assert values == pytest.approx(-after, abs=1e-6)
    again = pickle.loads(pickle.dumps(cubeful))
    assert (again.play_equities(before, batch) == values).all()


def test_rolled_out_plays_for_the_score():
    evaluator = load_rollout("rollout:latest,trials=324,cut=5,stratified,candidates=4")
    assert best(evaluator.with_cube(cube_model_for(GAMMON_GO)), START, (6, 4)) == "8/2 6/2"


def test_a_player_that_ignores_gammons_plays_as_before():
    for name in ("random", "pubeval", "bras", "best-of-four"):
        player = load(name)
        assert player.with_cube(cube_model_for(GAMMON_GO)) is player
    assert load("latest").with_cube(NO_CUBE).name == default_player()
    assert load("latest").with_cube(cube_model_for(GAMMON_GO)).choose(START, (6, 4)).notation == "8/2 6/2"


def test_lookahead_goes_by_the_score_too():
    evaluator = LookaheadEvaluator(NEWEST, 1).with_cube(cube_model_for(GAMMON_GO))
    assert best(evaluator, START, (6, 4)) == "8/2 6/2"


def test_only_lookahead_is_taken_away():
    static, cube_model = load_static("motif-v1"), cube_model_for(MatchState())
    cubeful = static.with_cube(cube_model)
    assert cubeful is not static
    assert cubeful.without_lookahead is cubeful
    ahead = LookaheadEvaluator(static, 1).with_cube(cube_model)
    taken_away = ahead.without_lookahead
    assert taken_away is not ahead
    assert taken_away.without_lookahead is taken_away


@pytest.mark.parametrize("state", [MONEY, MatchState(5, 1, 2), MatchState(7, 5, 4)])
def test_a_state_has_the_same_reply_alone_as_beside_the_present_state(state):
    """Branches of lookahead in which the present state's reply was another one lack the present state."""
    cube_model = cube_model_for(state)
    doubled = int(cube_model.like[cube_model.doubled[cube_model.state, 0]])
    model, space = prepared(load_static("motif-v1").model)
    tree, opponent = thread_tree(), 1
    for board in pack_many(some_decisions("motif-v1", 12, 5)[0]):
        for high, low in ROLLS:
            replies = []
            for states in (1 << doubled, 1 << doubled | 1 << int(cube_model.like[cube_model.state])):
                tree.boards[0][:], tree.cube.states[0] = board, states
                tree.cube.held_after[:] = 0
                choose_replies(model, cube_model, opponent, 0, high, low, space, tree)
                replies.append((int(tree.cube.play[0, doubled]), float(tree.cube.best[0, doubled])))
            assert replies[0] == replies[1]
            value_after(model, replies[0][0], NOT_SCORED, space)
            after = space.plays.words[replies[0][0]], space.plays.boards[replies[0][0]]
            value = value_for_side(cube_model._replace(state=doubled), 0, *after, space.row)
            assert replies[0][1] == pytest.approx(-value, abs=1e-6)
