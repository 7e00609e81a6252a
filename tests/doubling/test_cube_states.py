"""Lookahead with a cube, compared with a recursion in plain Python, and consistent from every side."""

import gc
from dataclasses import replace
from itertools import islice
from weakref import ref

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.moves import play_batches
from motif.board.outcome import finished_points_many, outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.doubling import cube_decision, cube_states
from motif.doubling.cube_states import cube_model_for
from motif.doubling.exact import exact_equities, match_values
from motif.evaluators import Evaluator, LookaheadEvaluator, Probabilities, load_evaluator
from motif.evaluators.cube_model import CubeModel, best_of_double, known_boards
from motif.evaluators.evaluator import first_best, without_ties
from motif.evaluators.lookahead_kernels import CLEARLY
from motif.players import load
from motif.rollouts.cubeful_games import decided_ahead
from motif.rollouts.games import SeededDice, lockstep, starts
from tests.games import some_boards

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
    """Equities of a root by recursion over the 21 rolls, for one state of the cube and many boards."""

    def __init__(self, root: MatchState) -> None:
        self.cube_model = cube_model_for(root)

    def value(self, boards: np.ndarray, state: int, side: int, plies: int) -> np.ndarray:
        """The values (n,) of boards to `side`, on roll, who may double first unless the game is over."""
        held = self.held(boards, state, side, plies)
        doubled = int(self.cube_model.doubled[state, side])
        if doubled < 0:
            return held
        taken = self.held(boards, doubled, side, plies)
        if self.cube_model.beavers:
            taken = np.where(taken < 0, 2 * taken, taken)
        cashed = np.minimum(taken, self.cube_model.equities[state, side, 0, 4])
        return np.where(finished(boards), held, np.maximum(held, cashed))

    def held(self, boards: np.ndarray, state: int, side: int, plies: int) -> np.ndarray:
        """The values (n,) without a double before this roll."""
        boards, place = np.unique(boards, axis=0, return_inverse=True)
        there = self.cube_model._replace(state=state)
        going = ~(finished(boards) | known_boards(there, pack_many(boards))) & (plies > 0)
        values = BASE.cube_equities(boards, there, side)[:, 0]
        if going.any():
            before = np.repeat(boards[going], len(ROLLS), axis=0)
            after = self.replies(before, np.tile(ROLLS, (going.sum(), 1)), there, side)
            below = self.value(after, state, 1 - side, plies - 1).reshape(-1, len(ROLLS))
            values[going] = -below @ ROLL_COUNTS / 36
        return values[place.reshape(-1)]

    def replies(self, boards: np.ndarray, rolls: np.ndarray, there: CubeModel, side: int) -> np.ndarray:
        """Boards after the best plays at the root's cube, unless others are clearly better in this state."""
        after, clearly = np.empty_like(boards), CLEARLY * there.ratio[there.state]
        for plays in play_batches(boards, rolls):
            before = boards[plays.decisions]
            values, present = (
                without_ties(BASE.with_cube(model, side).play_equities(before, plays), before, plays, BASE)
                for model in (there, self.cube_model)
            )
            best, followed = (first_best(it, plays.offsets[:-1]) for it in (values, present))
            is_clear = values[best] >= values[followed] + clearly
            after[plays.decisions] = plays.boards[np.where(is_clear, best, followed)]
        return after


def finished(boards: np.ndarray) -> np.ndarray:
    return finished_points_many(pack_many(boards).view(np.int64)) != 0


def assert_same_as_recursion(state: MatchState, boards: np.ndarray, plies: int) -> None:
    """Compare equities without a double and after double and take."""
    recursion = Recursion(state)
    pairs = LookaheadEvaluator(BASE, plies, "full").cube_equities(boards, recursion.cube_model, 0)
    assert pairs[:, 0] == pytest.approx(recursion.held(boards, 0, 0, plies), abs=1e-6)
    doubled = int(recursion.cube_model.doubled[0, 0])
    if doubled >= 0:
        assert pairs[:, 1] == pytest.approx(recursion.held(boards, doubled, 0, plies), abs=1e-6)


@every_state
def test_one_ply_by_recursion(boards, state):
    assert_same_as_recursion(state, boards, 1)


SHOT = Position.from_points({24: 1, 6: 1}, {2: 2, 20: 1})
RACE_TO_BEAR_OFF = Position.from_points({6: 2, 5: 3, 3: 2}, {6: 3, 4: 3, 1: 2})
# Here the side on roll may save the gammon or keep a chance to hit, and is cashed out after many plays.
BEHIND = Position.from_id("BgAAYLsdiAACAA").switch_sides()
ALL_CASHED = Position.from_id("bgMAANs7FwAAAA").switch_sides()


@every_state
def test_two_plies_by_recursion(state):
    """Among others short races and a last shot, in which the next rolls end the game or turn the cube."""
    positions = SHOT, RACE_TO_BEAR_OFF, BEHIND, ALL_CASHED
    assert_same_as_recursion(state, np.stack([position.board for position in positions]), 2)


@pytest.mark.parametrize("state", [MatchState(), CENTRE, MATCH], ids=["money", "jacoby", "match"])
def test_three_plies_by_recursion(state):
    positions = ({18: 1, 5: 1, 6: 1, 1: 1}, {3: 1, 4: 1}), ({20: 1, 3: 1}, {2: 1, 6: 1})
    assert_same_as_recursion(state, np.stack([Position.from_points(*it).board for it in positions]), 3)


@pytest.mark.slow
@pytest.mark.parametrize("state", [CENTRE, MATCH, POST_CRAWFORD], ids=["jacoby", "match", "post-crawford"])
def test_three_plies_in_the_middle_of_games_by_recursion(state):
    assert_same_as_recursion(state, some_boards("pubeval", 2, seed=5), 3)


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


def test_tables_of_long_matches_stay_below_a_number_of_bytes():
    scores = (MatchState(length=25, own_score=score) for score in range(20))
    tables = [ref(cube_model_for(state).exact.table) for state in scores]
    gc.collect()
    kept = [table for one in tables if (table := one()) is not None]
    assert 0 < sum(table.nbytes for table in kept) <= 128_000_000


@pytest.mark.parametrize(
    "state",
    [
        MatchState(length=13, own_score=7, opponent_score=3),
        MatchState(length=13, own_score=12, opponent_score=6, crawford=True),
        MatchState(length=13, own_score=10, opponent_score=5, cube=8, cube_owner="me"),
    ],
)
def test_the_table_of_a_mirrored_score_is_not_computed_again(monkeypatch, state):
    computed = []

    def counted(*arguments):
        computed.append(arguments[0])
        return match_values(*arguments)

    monkeypatch.setattr(cube_states, "match_values", counted)
    tables = [cube_model_for(seen).exact.table for seen in (state, state.switch_sides())]
    assert len(computed) == 1
    for seen, table in zip((state, state.switch_sides()), tables, strict=True):
        assert np.array_equal(table, match_values(cube_states._first_state(seen), cube_states.MATCH_CHECKERS))
