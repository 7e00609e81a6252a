"""Lookahead with a cube, compared with a recursion in plain Python, and consistent from every side."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.moves import play_batches
from motif.board.outcome import outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.doubling import cube_decision
from motif.doubling.cube_states import cube_model_for, decided_ahead
from motif.doubling.exact import exact_equities
from motif.evaluators import Evaluator, LookaheadEvaluator, Probabilities, load_evaluator
from motif.evaluators.cube_model import best_of_double, known_boards
from motif.evaluators.lookahead_kernels import CLEARLY
from motif.players import load
from motif.rollouts.games import SeededDice, lockstep, starts

JUDGE = load_evaluator("motif-v1@1")
BASE = JUDGE.without_lookahead
GAMES = 12
CLOSE = 0.12

CENTRE, OWNED = MatchState(jacoby=True), MatchState(cube=4, cube_owner="me")
BEAVERS = MatchState(jacoby=True, beavers=True)
MATCH = MatchState(length=7, own_score=2, opponent_score=4)
POST_CRAWFORD = MatchState(length=5, own_score=4, opponent_score=2)
CRAWFORD = MatchState(length=5, own_score=2, opponent_score=4, crawford=True)
HIGH = MatchState(length=9, own_score=1, opponent_score=2, cube=4, cube_owner="opponent")
STATES = [MatchState(), CENTRE, BEAVERS, OWNED, MATCH, POST_CRAWFORD, CRAWFORD, HIGH]
NAMES = ["money", "jacoby", "beavers", "owned", "match", "post-crawford", "crawford", "high cube"]
every_state = pytest.mark.parametrize("state", STATES, ids=NAMES)


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """Boards from each game, from start to end."""
    dice = SeededDice(5).of(np.arange(GAMES))
    plies = list(islice(lockstep(load("motif-v1").choose_many, dice, starts(GAMES)), 4, 60, 7))
    return np.concatenate([ply.boards[ply.points == 0] for ply in plies])


@pytest.mark.parametrize(
    ("root", "doubler", "side"),
    [(CENTRE, None, 0), (CENTRE, None, 1), (CENTRE, 0, 1), (OWNED, None, 0), (MATCH, None, 1), (MATCH, 1, 0)],
)
def test_players_decide_as_the_cube_that_looks_ahead(boards, root, doubler, side):
    """The state after a double by `doubler` (None: no double) at the `root`, for the `side` then on roll."""
    cubes = cube_model_for(root)
    state = 0 if doubler is None else int(cubes.doubled[0, doubler])
    seen = root if side == 0 else root.switch_sides()
    if doubler is not None:
        seen = replace(seen, cube=2 * root.cube, cube_owner="me")
    chances = JUDGE.evaluate_many(boards).astype(np.float64)
    states, sides = np.full(len(boards), state), np.full(len(boards), side)
    doubles, takes = decided_ahead(JUDGE, cubes, states, sides, boards, chances)
    looked_at = 0
    for k, board in enumerate(boards):
        position, row = Position(board), Probabilities(*chances[k].tolist())
        at_once = cube_decision(row, seen, position)
        # Games use exact tables for fewer checkers than `cube`.
        if exact_equities(position, seen) is not None:
            continue
        is_close = abs(at_once.doubled - at_once.no_double) < CLOSE
        expected = cube_decision(row, seen, position, JUDGE) if is_close else at_once
        assert doubles[k] == expected.should_double
        assert takes[k] == expected.should_take
        looked_at += is_close
    assert looked_at


class General(Evaluator):
    """motif-v1's values without its kernels."""

    name = "general"

    def evaluate_many(self, positions):
        return BASE.evaluate_many(positions)


@every_state
def test_any_evaluator_looks_ahead_with_the_cube(boards, state):
    """An evaluator whose plays are not chosen by kernels, such as a net."""
    some, cube_model = boards[::6], cube_model_for(state)
    for side in (0, 1):
        own, other = (
            LookaheadEvaluator(base, 1, "full").cube_equities(some, cube_model, side)
            for base in (BASE, General())
        )
        # Only kernels use exact tables for positions after a play.
        assert own == pytest.approx(other, abs=2e-3)


class Recursion:
    """Equities of a root by plain recursion over the 36 rolls, for one state of the cube."""

    def __init__(self, root: MatchState) -> None:
        self.cube_model = cube_model_for(root)

    def value(self, position: Position, state: int, side: int, plies: int) -> float:
        """The value of `position` to `side`, on roll, who may double first."""
        held = self.held(position, state, side, plies)
        doubled = int(self.cube_model.doubled[state, side])
        if doubled < 0:
            return held
        taken = self.held(position, doubled, side, plies)
        if self.cube_model.beavers and taken < 0:
            taken *= 2
        return max(held, min(taken, self.cube_model.equities[state, side, 0, 4]))

    def held(self, position: Position, state: int, side: int, plies: int) -> float:
        """The value without a double before this roll."""
        board, there = position.board[None], self.cube_model._replace(state=state)
        if plies == 0 or outcome(position) or known_boards(there, pack_many(board))[0]:
            return float(BASE.cube_equities(board, there, side)[0, 0])
        total = 0.0
        for high in range(1, 7):
            for low in range(1, high + 1):
                batch = next(play_batches(board, np.array([[high, low]])))
                after = Position(batch.boards[self.reply(board, batch, there, side)])
                below = self.held if outcome(after) else self.value
                total -= (1 if high == low else 2) * below(after, state, 1 - side, plies - 1)
        return total / 36

    def reply(self, board: np.ndarray, batch, there, side: int) -> int:
        """The best play at the root's cube, unless another one is clearly better in this state."""
        models = there, self.cube_model
        values, present = (BASE.with_cube(one, side).play_equities(board, batch) for one in models)
        followed, best = int(np.argmax(present)), int(np.argmax(values))
        return followed if values[best] < values[followed] + CLEARLY else best


@every_state
def test_a_recursion_in_plain_python_says_the_same(boards, state):
    evaluator, recursion = LookaheadEvaluator(BASE, 1, "full"), Recursion(state)
    for board in boards[::9]:
        pair = evaluator.cube_equities(board[None], recursion.cube_model, 0)[0]
        assert pair[0] == pytest.approx(recursion.held(Position(board), 0, 0, 1), abs=1e-6)
        doubled = int(recursion.cube_model.doubled[0, 0])
        if doubled >= 0:
            assert pair[1] == pytest.approx(recursion.held(Position(board), doubled, 0, 1), abs=1e-6)


@every_state
def test_two_plies_by_recursion(state):
    """Short races and a last shot, in which the next rolls end the game or turn the cube."""
    evaluator, recursion = LookaheadEvaluator(BASE, 2, "full"), Recursion(state)
    for sides in (({6: 2, 5: 3, 3: 2}, {6: 3, 4: 3, 1: 2}), ({24: 1, 6: 1}, {2: 2, 20: 1})):
        position = Position.from_points(*sides)
        pair = evaluator.cube_equities(position.board[None], recursion.cube_model, 0)[0]
        assert pair[0] == pytest.approx(recursion.held(position, 0, 0, 2), abs=1e-6)


@every_state
@pytest.mark.parametrize("spec", ["motif-v1", "motif-v1@1", "motif-v1@2"])
def test_a_plays_value_agrees_with_the_cube_after_it(boards, state, spec):
    """A play's equity is minus that of the opponent, who is then on roll and may double."""
    evaluator = load_evaluator(spec)
    for k, board in enumerate(boards[:: 12 if spec == "motif-v1@2" else 4]):
        position, roll = Position(board), np.array([[1 + k % 6, 1 + k % 3]])
        roll = -np.sort(-roll)
        batch = next(play_batches(board[None], roll))
        values = evaluator.with_cube(cube_model_for(state)).play_equities(board[None], batch)
        best = Position(batch.boards[int(np.argmax(values))])
        opponents = state.switch_sides()
        if outcome(best) or exact_equities(best, opponents) is not None:
            continue
        decision = cube_decision(evaluator.evaluate(best), opponents, best, evaluator)
        assert values.max() == pytest.approx(-decision.value, abs=1e-6), position


def test_no_play_is_worth_more_than_the_opponents_cash_allows(boards):
    cube_model = cube_model_for(MatchState())
    for board in boards[::4]:
        (batch,) = play_batches(board[None], np.array([[6, 4]]))
        for evaluator in (BASE, JUDGE):
            values = evaluator.with_cube(cube_model).play_equities(board[None], batch)
            pairs = evaluator.cube_equities(batch.boards, cube_model, 1)
            assert (values <= -np.minimum(pairs[:, 1], 1.0) + 1e-9).all() or evaluator is JUDGE
            assert (-best_of_double(cube_model, 1, pairs) <= -np.minimum(pairs[:, 1], 1.0) + 1e-9).all()
