"""Players who look ahead turn the cube as `cube_decision_by` does, whoever is on roll, wherever it lies."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.cube import cube_decision_at, cube_decision_by, turned_state
from motif.cube.cube_states import cube_states, decided_ahead, held_ahead
from motif.cube.exact import exact_equities
from motif.evaluators import Evaluator, Probabilities, load_evaluator
from motif.players import load
from motif.rollout.games import SeededDice, lockstep, starts

JUDGE = load_evaluator("motif-v6@1")
GAMES = 12
CLOSE = 0.12


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """Some of each game from its start to its end."""
    dice = SeededDice(5).of(np.arange(GAMES))
    plies = list(islice(lockstep(load("motif-v1").choose_many, dice, starts(GAMES)), 4, 60, 7))
    return np.concatenate([ply.boards[ply.points == 0] for ply in plies])


CENTRE, OWNED = MatchState(jacoby=True), MatchState(cube=4, cube_owner="me")
MATCH = MatchState(length=7, own_score=2, opponent_score=4)


@pytest.mark.parametrize(
    ("root", "doubler", "side"),
    [(CENTRE, None, 0), (CENTRE, None, 1), (CENTRE, 0, 1), (OWNED, None, 0), (MATCH, None, 1), (MATCH, 1, 0)],
)
def test_players_decide_as_the_cube_that_looks_ahead(boards, root, doubler, side):
    """From the `root`, where `doubler` has doubled once or nobody has, for who is on roll then."""
    cubes = cube_states(root, checkers=0)
    state = 0 if doubler is None else int(cubes.doubled[0, doubler])
    seen = root if side == 0 else turned_state(root)
    if doubler is not None:
        seen = replace(seen, cube=2 * root.cube, cube_owner="me")
    chances = JUDGE.evaluate_many(boards).astype(np.float64)
    states, sides = np.full(len(boards), state), np.full(len(boards), side)
    doubles, takes = decided_ahead(JUDGE.without_lookahead, cubes, states, sides, boards, chances)
    turned_round = 0
    for k, board in enumerate(boards):
        position, row = Position(board), Probabilities(*chances[k].tolist())
        at_once = cube_decision_at(position, row, seen)
        # There games know fewer checkers than `cube`.
        if exact_equities(position, seen) is not None:
            continue
        is_close = abs(at_once.doubled - at_once.no_double) < CLOSE
        expected = cube_decision_by(JUDGE, position, row, seen) if is_close else at_once
        assert doubles[k] == expected.should_double
        assert takes[k] == expected.should_take
        turned_round += expected.should_double != at_once.should_double
    assert turned_round


def test_what_is_held_is_what_the_decision_says(boards):
    chances = JUDGE.evaluate_many(boards).astype(np.float64)
    held = held_ahead(JUDGE.without_lookahead, cube_states(CENTRE), 0, 0, boards, chances)
    for board, row, value in zip(boards, chances, held, strict=True):
        decision = cube_decision_by(JUDGE, Position(board), Probabilities(*row.tolist()), CENTRE)
        if not decision.exact:
            assert value == pytest.approx(decision.no_double, abs=1e-9)


class General(Evaluator):
    """What motif-v6 says, without its kernels."""

    name = "general"

    def evaluate_many(self, positions):
        return JUDGE.without_lookahead.evaluate_many(positions)


def test_any_evaluator_looks_ahead_with_the_cube(boards):
    """A net, say, whose plays are chosen in the general way."""
    some = boards[::6]
    chances = JUDGE.evaluate_many(some).astype(np.float64)
    for state in (CENTRE, MATCH):
        own, other = (
            held_ahead(chooser, cube_states(state, checkers=0), 0, 0, some, chances)
            for chooser in (JUDGE.without_lookahead, General())
        )
        assert own == pytest.approx(other, abs=2e-3)
