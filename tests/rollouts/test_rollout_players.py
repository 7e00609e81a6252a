"""Rollouts as evaluators and players, by name."""

from itertools import pairwise

import numpy as np
import pytest

import motif
from motif.benchmarks.benchmark_files import BenchmarkFile
from motif.board.identifiers import position_from_gnubg_id
from motif.board.match_state import MatchState
from motif.board.moves import legal_plays, play_batches
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.contests import play_money_games
from motif.doubling.cube_states import cube_model_for
from motif.evaluators import LookaheadEvaluator, load_evaluator, load_static
from motif.evaluators.cube_model import NO_CUBE, best_of_double, cube_pairs
from motif.evaluators.lookahead import MoveFilter, ShortRollouts
from motif.evaluators.probabilities import equities
from motif.parameters.position_class import RACE, classify_many
from motif.players import EvaluatorPlayer, load
from motif.players.ranking import estimate_plays
from motif.rollouts import RolloutEvaluator, RolloutSettings, load_rollout, rollout
from motif.rollouts.playout import items_of
from motif.rollouts.rollout_evaluator import ENDING
from motif.runtime.errors import PlayerError, SettingError, WeightFileError
from tests.benchmarks.rates import error_rate
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards, some_decisions
from tests.rollouts.exact import single_trials

MADE = evaluator_of(made_weights("keith", pairs=12, seed=1))
FAST = "rollout:motif-v1,trials=4,cut=2"


def evaluator(candidates=0, **settings) -> RolloutEvaluator:
    return RolloutEvaluator("made up", MADE, RolloutSettings(**settings), candidates)


def items(boards) -> np.ndarray:
    return items_of(pack_many(np.asarray(boards)))


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return some_boards("pubeval", 6, seed=1)


def test_values_are_means_of_trials(boards):
    rolled = evaluator(trials=10, cut=3, seed=4)
    values = rolled.evaluate_many(boards)
    for board, item, value in zip(boards, items(boards), values, strict=True):
        trials = single_trials(board, item, 10, MADE.model, seed=4, cut=3)
        np.testing.assert_allclose(value, trials[:, :5].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(
        rolled.equity_many(boards), [v.equity for v in map(rolled.evaluate, map(Position, boards))], atol=1e-6
    )


def test_a_value_does_not_depend_on_other_positions(boards):
    rolled = evaluator(trials=5, stratified=True)
    together = rolled.evaluate_many(boards)
    alone = np.concatenate([rolled.evaluate_many(board[None]) for board in boards])
    assert together.tobytes() == alone.tobytes()
    assert len(set(items(boards).tolist())) == len(boards)
    assert (items(boards) >= 0).all()


def test_plays_are_compared_with_the_dice_of_their_decision():
    rolled = evaluator(trials=12, cut=4)
    before = Position.start().board[None]
    batch = next(play_batches(before, np.array([[3, 1]])))
    found = rolled.play_equities(before, batch)
    (item,) = items(before)
    for play, equity in zip(legal_plays(Position.start(), (3, 1)), found, strict=True):
        assert equity == pytest.approx(
            -single_trials(play.position.board, item, 12, MADE.model, cut=4)[:, 5].mean()
        )


def test_only_candidates_are_rolled_out(boards):
    rolls = np.array([[3, 1], [6, 5], [2, 2], [4, 1], [5, 3], [6, 6]])
    batch = next(play_batches(boards, rolls))
    full = evaluator(trials=6, cut=2).play_equities(boards, batch)
    found = evaluator(3, trials=6, cut=2).play_equities(boards, batch)
    static = MADE.play_equities(boards, batch)
    for start, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        order = np.argsort(-static[start:end], kind="stable") + start
        chosen, others = order[:3], order[3:]
        assert found[chosen].tolist() == full[chosen].tolist()
        assert (found[others] == np.minimum(static[others], found[chosen].min())).all()


def test_luck_adjusted_probabilities_stay_in_range():
    position = Position.from_points({6: 1, 2: 1}, {3: 1, 2: 1})
    values = evaluator(trials=2, luck_plies=5).evaluate(position)
    assert all(0 <= value <= 1 for value in values)


def test_names():
    player = load("rollout:motif-v1,trials=72,cut=7,stratified,stop-at-bearoff,seed=3,candidates=4")
    assert isinstance(player, EvaluatorPlayer)
    rolled = player.evaluator
    assert rolled.settings == RolloutSettings(72, cut=7, stratified=True, stop_at_bearoff=True, seed=3)
    assert rolled.candidates == 4
    assert load_rollout("rollout:pubeval").settings == RolloutSettings(36)
    others = load_rollout("rollout:simple,stop-at-race,every-play,luck-plies=all,scoring=dmp").settings
    assert others == RolloutSettings(36, stop_at_race=True, every_play=True, luck_plies=3000, scoring="dmp")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rollout:", "a player is required"),
        ("rollout:,cut=3", "a player is required"),
        ("rollout:nobody", "no player is called 'nobody'"),
        ("rollout:random", "cannot evaluate"),
        ("rollout:pubeval,", "invalid option '': it must be one of trials=N, cut=N"),
        ("rollout:pubeval,fast", "invalid option 'fast'"),
        ("rollout:pubeval,trials=many", "'trials=many': the value must be a whole number"),
        ("rollout:pubeval,trials=-1", "trials must be at least 1, not -1"),
        ("rollout:pubeval,trials=" + "9" * 5000, "the value must be a whole number"),
        ("rollout:pubeval,trials=0", "trials must be at least 1, not 0"),
        ("rollout:pubeval,stratified=1", "invalid option 'stratified=1'"),
        ("rollout:pubeval,cut", "invalid option 'cut'"),
        ("rollout:pubeval,stop_at_race", "invalid option 'stop_at_race'"),
        ("rollout:pubeval,se=0.1", "invalid option 'se=0.1'"),
        ("rollout:pubeval,cut=3,cut=3", "'cut=3': the option is given twice"),
        ("rollout:pubeval,scoring=chess", "scoring must be money"),
        ("rollout:pubeval,luck-plies=x", "'luck-plies=x': luck_plies must be"),
    ],
)
def test_a_bad_name_is_refused(name, said):
    with pytest.raises(PlayerError) as caught:
        load(name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_missing_weight_file_is_named():
    with pytest.raises(WeightFileError, match=r"none\.yaml"):
        load("rollout:none.yaml,trials=3")


def test_a_player_has_a_number_of_trials():
    with pytest.raises(SettingError, match="cannot have se"):
        evaluator(se=0.01)
    with pytest.raises(SettingError, match="candidates must be at least 0"):
        evaluator(-1)


def test_matches_are_the_same_for_any_number_of_workers():
    players = load(f"{FAST},candidates=2,stop-at-bearoff"), load("simple")
    one, two = (play_money_games(*players, 4, seed=1, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one.games == 4


def test_benchmarks_take_rollouts(boards):
    rolls = np.array([[3, 1], [6, 5], [2, 1], [4, 1], [5, 3], [6, 6]])
    player = load(f"{FAST},stratified")
    chosen = player.choose_many(boards, rolls, np.zeros(len(boards), np.uint64))
    benchmark = BenchmarkFile(
        "made", boards, rolls, np.arange(len(boards) + 1), chosen, np.full(len(boards), 0.25)
    )
    for jobs in (1, 2):
        rate = error_rate(player, benchmark, jobs=jobs)
        assert (rate.er, rate.unlisted) == (pytest.approx(250), 0)


ACE_POINT = Position.from_points({25: 2, 6: 2, 5: 3, 4: 3, 3: 2, 2: 3}, {1: 1, 2: 2})
"""The opponent bears off the last checkers against two on the bar."""
CLEARING = position_from_gnubg_id("AAAA29oNoAAAAA")
"""Two checkers closed out, the opponent's last ones; three of the player's own are not home yet."""
STRAGGLERS = Position.from_points({20: 2, 13: 3, 6: 5, 5: 5}, {1: 2, 2: 2, 3: 2})
"""A race in which a gammon, or worse, may be lost."""
MIDGAME = Position.start()


@pytest.fixture(scope="module")
def judge() -> LookaheadEvaluator:
    evaluator = load_evaluator("motif-v1@2")
    assert isinstance(evaluator, LookaheadEvaluator)
    return evaluator


def test_late_endings_are_those_with_few_checkers_that_no_table_covers(judge):
    at_home = Position.from_points({1: 2, 2: 1}, {1: 2})
    nearly = Position.from_points({7: 1, 6: 6, 5: 8}, {6: 5, 5: 2})
    over = Position.from_points({3: 2}, {})
    boards = np.array(
        [it.board for it in (ACE_POINT, CLEARING, STRAGGLERS, MIDGAME, at_home, nearly, over)], np.int8
    )
    late = [True, True, True, False, False, False, False]
    assert judge.plays_out(boards).tolist() == late
    turned = np.array([Position(board).switch_sides().board for board in boards[:-1]])
    assert judge.plays_out(turned).tolist() == late[:-1]
    for name in ("motif-v1@1", "motif-v1@2:narrow", "motif-v1@2:full", "pubeval@2"):
        assert not load_evaluator(name).plays_out(boards).any(), name
    ahead = motif.load_evaluator(load_static("motif-v1"), 2)
    assert isinstance(ahead, LookaheadEvaluator)
    assert ahead.plays_out(boards).tolist() == late


@pytest.mark.parametrize("position", [ACE_POINT, CLEARING, STRAGGLERS])
def test_a_late_ending_is_valued_by_playing_it_to_the_end(judge, position):
    static = load_static("motif-v1")
    expected = np.clip(rollout(position, static, ENDING, jobs=1).mean[0, :5], 0, 1)
    np.testing.assert_allclose(judge.evaluate(position), expected, atol=1e-6)
    assert judge.equity_many(position.board[None])[0] == pytest.approx(equities(expected), abs=1e-6)
    # Known static values do not change.
    assert judge.without_lookahead.evaluate(position) == static.evaluate(position)
    before = LookaheadEvaluator(static, 2)
    assert judge.evaluate(MIDGAME) == before.evaluate(MIDGAME)


@pytest.mark.parametrize(
    "state",
    [None, MatchState(), MatchState(7, 4, 2, cube=2, cube_owner="me")],
    ids=["plain", "money", "match"],
)
def test_a_play_into_a_late_ending_is_worth_that(judge, state):
    """This makes hint, explain and the cube agree, and plays are compared with the same dice."""
    cube_model = NO_CUBE if state is None else cube_model_for(state)
    board = CLEARING.board[None]
    plays = next(play_batches(board, np.array([[2, 1]])))
    values = judge.with_cube(cube_model).play_equities(board, plays)
    best = np.argsort(-values)[:3]
    after = -judge.with_cube(cube_model, 1).equity_many(plays.boards[best])
    np.testing.assert_allclose(values[best], after, atol=1e-9)


def test_the_judge_clears_from_the_rear_where_the_static_evaluation_does_not(judge):
    """Clearing the 16 or the 15 point is equally good, by 10,000 trials; a far stronger player agrees."""
    board, legal = CLEARING.board[None], legal_plays(CLEARING, (5, 2))
    plays = next(play_batches(board, np.array([[5, 2]])))
    by_judge = judge.play_equities(board, plays)
    static = judge.without_lookahead.play_equities(board, plays)
    assert legal[int(np.argmax(static))].notation == "16/11 15/13"
    clearing = {"15/10 5/3", "16/11 5/3"}
    strong = load_static("latest").play_equities(board, plays)
    for values in (by_judge, strong):
        assert {legal[k].notation for k in np.argsort(-values)[:2]} == clearing
    assert by_judge.max() - by_judge[int(np.argmax(static))] > 0.1


def test_a_gammon_that_is_lost_in_any_case_costs_nothing(judge):
    """Last checkers on the ace and deuce points: every play loses the gammon, and no more."""
    position = position_from_gnubg_id("AwAAOOs9AAQAAA")
    board = position.board[None]
    plays = next(play_batches(board, np.array([[5, 2]])))
    assert np.ptp(judge.without_lookahead.play_equities(board, plays)) > 0.1
    every = np.ones(len(plays.boards), np.bool_)
    values = estimate_plays(board, plays, judge, None, asked=every).values
    np.testing.assert_allclose(values, -2, atol=1e-9)


def test_players_do_not_roll_out_endings(judge):
    board = CLEARING.board[None]
    plays = next(play_batches(board, np.array([[2, 1]])))
    plain = LookaheadEvaluator(load_static("motif-v1"), 2)
    np.testing.assert_array_equal(
        judge.choosing_equities(board, plays), plain.choosing_equities(board, plays)
    )


def test_a_decision_that_leads_partly_into_tables_is_judged_as_one(judge):
    position = Position.from_points({9: 1, 4: 2}, {6: 6, 5: 6})
    board = position.board[None]
    plays = next(play_batches(board, np.array([[2, 1]])))
    late = judge.plays_out(plays.boards)
    assert late.any()
    assert not late.all()
    values = judge.play_equities(board, plays)
    covered = -judge.equity_many(plays.boards[~late])
    np.testing.assert_allclose(values[~late], covered, atol=1e-9)


def rolled_after(name: str, rolled: ShortRollouts) -> LookaheadEvaluator:
    """The lookahead `name`, with rollouts like `rolled`."""
    evaluator = load_evaluator(name)
    assert isinstance(evaluator, LookaheadEvaluator)
    evaluator.depth = evaluator.depth._replace(rollout=rolled)
    return evaluator


SOME = ShortRollouts(MoveFilter(3, 0.2), trials=72, cut=4, shares=(0.6,))


def test_a_short_rollout_has_its_share_of_the_lookahead_value():
    evaluator = rolled_after("motif-v1@1:rollout", SOME)
    plain, static = load_evaluator("motif-v1@1"), load_static("motif-v1")
    boards = some_boards("pubeval", 60, seed=4)
    race = classify_many(pack_many(boards)) == RACE
    assert 0 < race.sum() < 40
    contact = boards[~race]
    trials = RolloutSettings(72, cut=4, stratified=True)
    player = RolloutEvaluator("trials", static, trials, common_random_numbers=True)
    expected = 0.4 * plain.equity_many(contact) + 0.6 * player.equity_many(contact)
    np.testing.assert_allclose(evaluator.equity_many(contact), expected, atol=1e-12)
    chances = 0.4 * plain.evaluate_many(contact) + 0.6 * player.evaluate_many(contact)
    np.testing.assert_allclose(evaluator.evaluate_many(contact), chances, atol=1e-6)
    assert (evaluator.equity_many(boards[race]) == plain.equity_many(boards[race])).all()


def test_close_plays_are_rolled_out():
    evaluator = rolled_after("motif-v1@1:rollout", SOME)
    plain = load_evaluator("motif-v1@1")
    boards, rolls = some_decisions("pubeval", 25, seed=8)
    (plays,) = play_batches(boards, rolls)
    before, after = (one.play_equities(boards, plays) for one in (plain, evaluator))
    race = classify_many(pack_many(plays.boards)) == RACE
    changed = 0
    for first, last in pairwise(plays.offsets):
        rows = np.arange(first, last)
        near = rows[before[rows] >= before[rows].max() - 0.2]
        near = near[np.argsort(-before[near], kind="stable")][:3]
        near = near[~race[near]]
        others = np.setdiff1d(rows, near)
        assert (after[others] <= before[others]).all()
        # With this number of trials only plays that are far behind are dropped.
        best = near[np.argmax(after[near])] if len(near) else rows[np.argmax(after[rows])]
        assert after[best] == after[rows].max()
        values = -evaluator.equity_many(plays.boards[near])
        assert (np.isclose(after[near], values, atol=1e-9) | (after[near] < after[best])).all()
        changed += len(near) > 0
    assert changed > 10
    best = evaluator.best_plays(boards, rolls).boards
    assert (best == evaluator.best_plays(boards, rolls).boards).all()


def test_rollouts_after_lookahead_use_the_score():
    evaluator = rolled_after("motif-v1@1:rollout", SOME)
    cube_model = cube_model_for(MatchState(length=3, own_score=2, crawford=True))
    boards = some_boards("pubeval", 20, seed=4)
    boards = boards[classify_many(pack_many(boards)) != RACE]
    player = RolloutEvaluator(
        "trials",
        load_static("motif-v1"),
        RolloutSettings(72, cut=4, stratified=True),
        common_random_numbers=True,
    )
    plain = load_evaluator("motif-v1@1")
    rolled, seen = (
        cube_pairs(cube_model, 0, pack_many(boards), rows.astype(np.float64))
        for rows in (player.evaluate_many(boards), plain.evaluate_many(boards))
    )
    pairs = plain.cube_equities(boards, cube_model, 0) + 0.6 * (rolled - seen)
    expected = best_of_double(cube_model, 0, pairs)
    np.testing.assert_allclose(evaluator.cubeful_equities(boards, cube_model, 0), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("identifier", "no_double", "double_take"),
    [
        ("VQUAQNvuDgAAAA:cAngAFAAKAAE", 0.974, 1.581),
        ("XGID=-CB----bb--------b-b-bb-cA:0:0:1:00:3:1:0:5:10", None, 0.598),
        ("XGID=-aBB-Aa------------cbc-bcA:0:0:1:00:3:3:0:5:10", -0.369, -0.309),
    ],
    ids=["closeout", "bar", "back"],
)
def test_the_cube_in_a_late_ending_is_used_as_in_a_cubeful_rollout(identifier, no_double, double_take):
    """Seen values come from rollouts of 2,592 trials by an earlier version of motif."""
    decision = motif.cube(identifier)
    for value, rolled in ((decision.no_double, no_double), (decision.double_take, double_take)):
        assert rolled is None or value == pytest.approx(rolled, abs=0.2)
    assert decision.cost("no double") < 0.1


def test_nets_are_not_rolled_out():
    with pytest.raises(PlayerError, match="wildbg@2:rollout: only a static evaluator can be rolled out"):
        load_evaluator("wildbg@2:rollout")
