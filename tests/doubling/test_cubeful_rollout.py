"""Games with a cube played in parallel, compared with single games, exact tables, and cubeless games."""

from dataclasses import replace

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.moves import play_batches
from motif.board.outcome import outcome
from motif.board.packed import pack_many
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.doubling import DEFAULT_EFFICIENCY, cube_decision, exact_equities, match_equity_table
from motif.doubling.cube_states import MATCH_CHECKERS, cube_model_for
from motif.doubling.cubeful_rollout import roll_out_cube
from motif.doubling.equities import scale
from motif.evaluators import LookaheadEvaluator, load_static
from motif.evaluators.cube_model import NO_CUBE
from motif.evaluators.known_players import default_player
from motif.rollouts import RolloutSettings, compare_plays, rollout
from motif.rollouts.games import next_rolls
from motif.rollouts.trials import CubeStart, results_of_trials
from motif.runtime.errors import PositionError, SettingError
from motif.runtime.streams import derive_states

SEED = 5
EVALUATOR = load_static(default_player())
START = Position.start()
RACE = Position.from_points({6: 4, 5: 3, 4: 2, 9: 1}, {6: 4, 5: 3, 3: 2, 10: 1})
BACK = Position.from_points({24: 2, 13: 3, 8: 3, 6: 5, 4: 2}, {24: 1, 13: 4, 8: 3, 6: 5, 5: 2})
LAST_ROLL = parse_position("AQAAiAAAAAAAAA")[0]
TRAILING = MatchState(length=5, own_score=1, opponent_score=3)
STATES = (MatchState(), MatchState(jacoby=True), MatchState(cube=2, cube_owner="opponent"), TRAILING)


def one_game(position: Position, root: MatchState, trial: int, static_cube: bool) -> float:
    """The first player's result in normalised equity of `root`, played step by step."""
    judge = None if static_cube else LookaheadEvaluator(EVALUATOR, 1)
    states, state, first = derive_states(SEED, 0, 1, trial), root, True
    begins = True

    def worth(points: int) -> float:
        won = points * state.cube if first else -points * state.cube
        if not root.length:
            counts = not (state.jacoby and state.cube_owner == "centre")
            return (won if counts else np.sign(won)) / root.cube
        return float(scale(root).equity(match_equity_table().after_game(root, won)))

    while not outcome(position):
        if not begins:
            checkers = max(int(np.maximum(sign * position.board, 0).sum()) for sign in (1, -1))
            exact = checkers <= (MATCH_CHECKERS if root.length else 6)
            efficiency = None if exact or judge else DEFAULT_EFFICIENCY
            chances = EVALUATOR.evaluate(position)
            decision = cube_decision(chances, state, position, efficiency=efficiency, evaluator=judge)
            if decision.should_double and not decision.should_take:
                return worth(1)
            if decision.should_double:
                state = replace(state, cube=2 * state.cube, cube_owner="opponent")
        begins = False
        (roll,) = next_rolls(states)
        (batch,) = play_batches(position.board[None], roll[None])
        equities = EVALUATOR.with_cube(cube_model_for(state)).play_equities(position.board[None], batch)
        position = Position(batch.boards[int(np.argmax(equities))])
        state, first = state.switch_sides(), not first
    return worth(int(outcome(position)))


def trials_of(position: Position, state: MatchState, count: int, **rest) -> np.ndarray:
    settings = RolloutSettings(count, seed=SEED, every_play=True, **rest)
    start = CubeStart(cube_model_for(state))
    packed, item = pack_many(position.board[None]), np.zeros(1, np.int64)
    player = settings.player_of(EVALUATOR)
    return results_of_trials(player, settings, packed, item, 0, count, cube=start, jobs=1)[0]


@pytest.mark.parametrize("state", STATES, ids=["centre", "jacoby", "owned", "match"])
@pytest.mark.parametrize("position", [RACE, BACK], ids=["race", "contact"])
@pytest.mark.parametrize("static_cube", [True, False], ids=["static", "lookahead"])
def test_games_side_by_side_equal_single_games(position, state, static_cube):
    played = trials_of(position, state, 3, static_cube=static_cube)[:, -1]
    assert played == pytest.approx([one_game(position, state, trial, static_cube) for trial in range(3)])


def test_a_game_without_a_cube_is_that_of_a_rollout_without_one():
    settings = RolloutSettings(72, seed=SEED, stratified=True)
    plain = rollout(START, EVALUATOR, settings, jobs=1)
    player, packed = settings.player_of(EVALUATOR), pack_many(START.board[None])
    start = CubeStart(NO_CUBE)
    item = np.zeros(1, np.int64)
    games = results_of_trials(player, settings, packed, item, 0, 72, cube=start, jobs=1)[0]
    assert games.mean(axis=0) == pytest.approx(plain.mean[0])


def test_a_useless_double_is_rolled_out_with_the_cube_on_the_other_side():
    """A leader who needs one point gains nothing by a double, but the opponent then owns the cube."""
    settings = RolloutSettings(1296, seed=SEED, stratified=True, cut=10)
    state = MatchState(length=7, own_score=6, opponent_score=4)
    result = roll_out_cube(START, state, EVALUATOR, settings, jobs=1)
    taken = roll_out_cube(START, replace(state, cube=2, cube_owner="opponent"), EVALUATOR, settings, jobs=1)
    assert result.action == "no double, dead cube"
    assert result.mwc(result.double_take) == pytest.approx(taken.mwc(taken.no_double), abs=1e-9)
    assert result.difference == pytest.approx(result.double_take - result.no_double)
    assert result.difference < -0.1
    assert taken.double_take is None


def test_double_match_point_is_played_for_the_win_alone():
    settings = RolloutSettings(1296, seed=SEED, stratified=True, cut=10)
    result = roll_out_cube(START, MatchState(length=1), EVALUATOR, settings, jobs=1)
    plain = rollout(START, EVALUATOR, replace(settings, scoring="dmp"), jobs=1)
    assert result.action == "no double, dead cube"
    assert result.no_double == pytest.approx(2 * result.mean[0] - 1)
    assert result.no_double == pytest.approx(plain.equity(), abs=4 * float(plain.se[0, -1]))
    assert result.mwc(result.no_double) == pytest.approx(float(result.mean[0]))


def test_the_last_roll():
    """19 of 36 rolls win, so doubling gains 2 / 36."""
    result = roll_out_cube(LAST_ROLL, MatchState(), EVALUATOR, RolloutSettings(36, stratified=True), jobs=1)
    assert result.action == "double, take"
    assert (result.no_double, result.double_take) == (pytest.approx(2 / 36), pytest.approx(4 / 36))
    assert result.difference == pytest.approx(2 / 36)


@pytest.mark.parametrize("state", STATES, ids=["centre", "jacoby", "owned", "match"])
@pytest.mark.parametrize(
    "sides",
    [({6: 1, 5: 2, 2: 1}, {6: 2, 4: 1, 1: 1}), ({4: 2, 3: 2}, {5: 1, 4: 2, 2: 1})],
    ids=["long", "short"],
)
def test_short_races_have_the_value_of_the_tables(sides, state):
    position = Position.from_points(*sides)
    exact = exact_equities(position, state)
    known = [None if value is None else scale(state).equity(value) for value in exact]
    result = roll_out_cube(position, state, EVALUATOR, RolloutSettings(1296, stratified=True, seed=1), jobs=1)
    assert result.no_double == pytest.approx(known[0], abs=3 * float(result.se[-1]) + 1e-9)
    if known[1] is None:
        assert result.double_take is None
    else:
        assert result.double_take == pytest.approx(known[1], abs=3 * result.double_take_se + 1e-9)
    # If the tables end a game, no luck remains.
    ended = RolloutSettings(36, stop_at_bearoff=True)
    assert roll_out_cube(position, state, EVALUATOR, ended, jobs=1).no_double == pytest.approx(known[0])


def test_no_doubles_when_the_game_is_over():
    over = Position.from_points({}, {1: 1})
    with pytest.raises(PositionError, match="the game is over"):
        roll_out_cube(over, MatchState(), EVALUATOR)


def test_any_number_of_jobs_plays_the_same():
    settings = RolloutSettings(1400, cut=6, stratified=True, seed=3)
    one, two = (roll_out_cube(BACK, TRAILING, EVALUATOR, settings, jobs=jobs) for jobs in (1, 2))
    assert (one.mean.tobytes(), one.se.tobytes()) == (two.mean.tobytes(), two.se.tobytes())
    assert (one.double_take, one.difference_se) == (two.double_take, two.difference_se)


def test_luck_can_be_subtracted():
    plain, calm = (
        roll_out_cube(BACK, MatchState(), EVALUATOR, RolloutSettings(72, cut=4, luck_plies=plies), jobs=1)
        for plies in (0, 4)
    )
    assert calm.se[-1] < 0.5 * plain.se[-1]
    assert calm.no_double == pytest.approx(plain.no_double, abs=4 * float(plain.se[-1]))


def test_luck_can_be_subtracted_if_every_game_ends_by_a_pass():
    """The opponent is far ahead, doubles at once, and the mover passes."""
    lost = Position.from_points({6: 10, 5: 4}, {3: 4, 2: 4})
    settings = RolloutSettings(36, stratified=True, luck_plies=4)
    cubes = cube_model_for(MatchState())
    (play,) = compare_plays(lost, (2, 1), EVALUATOR, settings, cube_model=cubes, candidates=1, jobs=1).plays
    assert (play.mean[-1], play.se[-1]) == (-1, 0)


@pytest.mark.parametrize("state", STATES, ids=["centre", "jacoby", "owned", "match"])
def test_the_equity_of_a_play_is_minus_that_of_the_next_cube_decision(state):
    settings = RolloutSettings(144, cut=8, stratified=True, luck_plies=8)
    cubes = cube_model_for(state)
    (play,) = compare_plays(BACK, (6, 4), EVALUATOR, settings, cube_model=cubes, candidates=1, jobs=1).plays
    opponent = state.switch_sides()
    after = roll_out_cube(play.play.position, opponent, EVALUATOR, settings, jobs=1)
    value, error = after.no_double, float(after.se[-1])
    if after.double_take is not None and min(after.double_take, after.double_pass) > value:
        value, error = min(after.double_take, after.double_pass), after.double_take_se
    assert play.mean[-1] == pytest.approx(-value, abs=4 * float(np.hypot(error, play.se[-1])))


def test_values_of_both_sides_add_up_to_zero():
    for state in STATES:
        cubes = cube_model_for(state)
        assert cubes.equities[:, 0] == pytest.approx(-cubes.equities[:, 1, :, ::-1])
        assert cubes.cube[0] == state.cube
        for side in (0, 1):
            turned = cubes.doubled[:, side] >= 0
            assert (cubes.cube[cubes.doubled[turned, side]] == 2 * cubes.cube[turned]).all()


def test_plays_are_compared_with_the_cube_in_play():
    settings = RolloutSettings(72, cut=6, stratified=True, seed=1)
    cubes = cube_model_for(MatchState())
    comparison = compare_plays(START, (3, 1), EVALUATOR, settings, cube_model=cubes, candidates=3, jobs=1)
    assert comparison.plays[0].play.notation == "8/5 6/5"
    assert 0 < comparison.plays[1].difference_se < 0.2
    early = replace(settings, eliminate=True, trials=324)
    cut_short = compare_plays(START, (3, 1), EVALUATOR, early, cube_model=cubes, candidates=3, jobs=1)
    assert cut_short.plays[0].play.notation == "8/5 6/5"
    assert any(play.dropped for play in cut_short.plays)
    with pytest.raises(SettingError, match="not scoring"):
        compare_plays(START, (3, 1), EVALUATOR, replace(settings, scoring="dmp"), cube_model=cubes)
