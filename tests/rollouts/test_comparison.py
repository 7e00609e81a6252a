"""Plays rolled out with the same dice, compared with separate rollouts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from motif.board.match_state import MatchState
from motif.board.moves import legal_plays
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.doubling.cube_states import cube_model_for
from motif.evaluators import load_static
from motif.evaluators.cube_model import NO_CUBE, without_cube
from motif.evaluators.kernels import NO_SCORES, evaluate_packed
from motif.evaluators.probabilities import OUTPUTS, switch_sides
from motif.evaluators.static import StaticEvaluator, prepared
from motif.rollouts import RolloutSettings, compare_plays
from motif.rollouts.playout import items_of
from motif.rollouts.trials import TRIALS_A_CHECK
from motif.runtime.errors import PlayError, PositionError, SettingError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.rollouts.exact import single_trials

MADE = evaluator_of(made_weights("keith", pairs=12, seed=1))
START, ROLL = Position.start(), (3, 1)


def compared(position=START, roll=ROLL, evaluator=MADE, *, jobs=1, plays=None, candidates=3, **settings):
    found = RolloutSettings(**settings)
    return compare_plays(position, roll, evaluator, found, plays=plays, candidates=candidates, jobs=jobs)


def test_differences_are_those_of_paired_trials():
    result = compared(trials=50, cut=3, seed=2)
    item = int(items_of(pack_many(START.board[None]))[0])
    values = {}
    for it in result.plays:
        trials = single_trials(it.play.position.board, item, 50, MADE.model, seed=2, cut=3)
        values[it.play] = -trials[:, 5]
        np.testing.assert_allclose(it.mean[:5], switch_sides(trials[:, :5]).mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(it.mean[5], values[it.play].mean(), atol=1e-12)
        np.testing.assert_allclose(it.se[5], values[it.play].std(ddof=1) / math.sqrt(50), atol=1e-12)
    best = result.plays[0]
    assert (best.difference, best.difference_se, best.p_value) == (0, 0, 1)
    for it in result.plays[1:]:
        pairs = values[it.play] - values[best.play]
        assert it.difference == pytest.approx(pairs.mean())
        assert it.difference <= 0
        assert it.difference_se == pytest.approx(pairs.std(ddof=1) / math.sqrt(50))
        assert it.p_value == pytest.approx(ttest_1samp(pairs, 0).pvalue)
    assert result.doubt == pytest.approx(min(1, sum(it.p_value for it in result.plays[1:])))
    assert result.trials == 50


def test_the_best_by_evaluation_are_the_candidates():
    legal = legal_plays(START, ROLL)
    equities = -MADE.equity_many(np.array([play.position.board for play in legal]))
    best = {legal[k].position for k in np.argsort(-equities, kind="stable")[:4]}
    assert {it.play.position for it in compared(trials=1, candidates=4).plays} == best
    assert len(compared(trials=1, candidates=100).plays) == len(legal)


def test_given_plays_are_compared():
    plays = legal_plays(START, ROLL)[-2:]
    assert {it.play for it in compared(trials=2, plays=plays).plays} == set(plays)
    with pytest.raises(PlayError, match="no plays to compare"):
        compared(trials=2, plays=[])


@pytest.mark.parametrize(
    "options",
    [{"trials": 200}, {"trials": 100, "stratified": True, "cut": 4}, {"trials": 3000, "cut": 2, "se": 0.02}],
    ids=["plain", "stratified", "se"],
)
def test_the_same_for_any_number_of_workers(options):
    one, two = (compared(jobs=jobs, **options) for jobs in (1, 2))
    assert one.trials == two.trials
    for a, b in zip(one.plays, two.plays, strict=True):
        assert a.play == b.play
        assert (a.mean.tobytes(), a.se.tobytes()) == (b.mean.tobytes(), b.se.tobytes())
        assert (a.difference, a.difference_se, a.p_value) == (b.difference, b.difference_se, b.p_value)


def test_a_target_error_is_that_of_the_difference():
    result = compared(trials=20_000, cut=2, se=0.01)
    assert result.trials % TRIALS_A_CHECK == 0
    assert max(it.difference_se for it in result.plays) <= 0.01
    fewer = compared(trials=result.trials - TRIALS_A_CHECK, cut=2)
    assert max(it.difference_se for it in fewer.plays) > 0.01


def test_standard_errors_of_differences_match_the_scatter():
    plays = legal_plays(START, ROLL)[:2]
    results = [compared(plays=plays, trials=72, cut=2, stratified=True, seed=seed) for seed in range(150)]
    found = [{it.play: it for it in result.plays} for result in results]
    differences = [both[plays[1]].mean[5] - both[plays[0]].mean[5] for both in found]
    stated = [result.plays[1].difference_se for result in results]
    assert np.std(differences, ddof=1) == pytest.approx(np.sqrt(np.mean(np.square(stated))), rel=0.23)


def test_a_clear_best_play_is_settled_and_equal_plays_are_not():
    motif = load_static("motif-v1")
    plays = {play.notation: play for play in legal_plays(START, ROLL)}
    clear = compared(evaluator=motif, plays=[plays["8/5 6/5"], plays["8/4"]], trials=360, cut=6)
    assert clear.settled
    assert clear.plays[0].play.notation == "8/5 6/5"
    # Both plays certainly win.
    ahead = Position.from_points({6: 1, 4: 1}, {12: 15})
    even = compared(ahead, (2, 1), motif, trials=36, scoring="dmp")
    assert len(even.plays) > 1
    assert (even.doubt, even.settled) == (1, False)


def test_a_play_given_twice_counts_once():
    plays = {play.notation: play for play in legal_plays(START, (3, 1))}
    twice = compared(roll=(3, 1), plays=[plays["8/5 6/5"], plays["6/2"], plays["8/5 6/5"]], trials=36, cut=2)
    assert sorted(one.play.notation for one in twice.plays) == ["6/2", "8/5 6/5"]


def test_one_trial_settles_nothing():
    result = compared(trials=1)
    assert all(math.isnan(it.difference_se) for it in result.plays)
    assert (result.doubt, result.settled) == (1, False)


def test_two_trials_with_the_same_difference_settle_nothing():
    # The second play loses a gammon in both trials, but not always.
    result = compared(Position.from_points({7: 1, 1: 6, 2: 8}, {1: 3}), (6, 1), trials=2, seed=26)
    assert [(it.difference, it.difference_se) for it in result.plays[1:]] == [(-1, 0)]
    assert (result.doubt, result.settled) == (0.5, False)


def test_a_single_play():
    dance = Position.from_points({25: 1, 6: 2}, dict.fromkeys(range(1, 7), 2))
    result = compared(dance, (6, 6), trials=2)
    assert [it.play.notation for it in result.plays] == [""]
    assert result.settled


def test_bad_comparisons():
    with pytest.raises(SettingError, match="candidates must be at least 1, not 0"):
        compared(candidates=0)
    with pytest.raises(PlayError, match="each die must be 1 to 6, not 7"):
        compared(roll=(7, 1))
    with pytest.raises(PositionError, match="the game is over"):
        compared(Position.from_points({3: 2}, {}))


def test_plays_are_compared_for_the_score():
    """Gammon-go: both sides play for the score."""
    settings = RolloutSettings(trials=1296, cut=6, stratified=True)
    position, roll, evaluator = Position.start(), (6, 4), load_static("motif-v1")
    go = cube_model_for(MatchState(5, 3, 4, crawford=True))
    for_go, for_money = (
        compare_plays(position, roll, evaluator, settings, cube_model=cube_model, candidates=14)
        for cube_model in (go, NO_CUBE)
    )
    assert for_go.plays[0].play.notation == "8/2 6/2"
    assert for_go.plays[0].mean[1] > for_money.plays[0].mean[1]
    for one in for_go.plays:
        # Winning a gammon counts as much as the game, losing one costs nothing.
        assert one.mean[5] == pytest.approx(2 * one.mean[0] - 1 + 2 * one.mean[1], abs=1e-6)
        assert one.se[5] > 0


def test_plays_are_dropped_for_the_score():
    """At gammon-go the best play differs from the one for money, and plays are dropped by the score."""
    settings = RolloutSettings(trials=1296, cut=6, stratified=True, eliminate=True)
    position, roll, evaluator = Position.start(), (6, 4), load_static("motif-v1")
    go = cube_model_for(MatchState(5, 3, 4, crawford=True))
    one, two = (
        compare_plays(position, roll, evaluator, settings, cube_model=go, candidates=8, jobs=jobs)
        for jobs in (1, 2)
    )
    assert one.plays[0].play.notation == "8/2 6/2"
    dropped = [it for it in one.plays if it.dropped]
    assert dropped
    for it in dropped:
        assert it.trials < one.trials
        assert it.difference + 2 * it.difference_se < 0
    for a, b in zip(one.plays, two.plays, strict=True):
        assert (a.play, a.mean.tobytes(), a.difference_se) == (b.play, b.mean.tobytes(), b.difference_se)


def test_remaining_plays_have_the_same_values_without_elimination():
    settings = RolloutSettings(trials=216, cut=4, stratified=True, eliminate=True, significance=1e-12)
    cube_model = cube_model_for(MatchState(7, 2, 4))
    early, all_alike = (
        compare_plays(START, (6, 4), load_static("motif-v1"), one, cube_model=cube_model, candidates=4)
        for one in (settings, replace(settings, eliminate=False))
    )
    whole = {it.play: it for it in all_alike.plays}
    assert len(early.left) > 1
    for it in early.left:
        assert it.mean == pytest.approx(whole[it.play].mean, abs=1e-12)
        assert it.se == pytest.approx(whole[it.play].se, abs=1e-9)


def unrounded(evaluator: StaticEvaluator, positions: np.ndarray) -> np.ndarray:
    """Return the probabilities that `StaticEvaluator.evaluate_many` rounds to float32."""
    rows = np.empty((len(positions), len(OUTPUTS)))
    model, space = prepared(evaluator.model)
    evaluate_packed(model, pack_many(positions), space, NO_SCORES, rows)
    return rows


def test_linear_values_have_the_errors_of_the_equity(monkeypatch):
    """With a dead cube in money play, cubeful values are the equities, with the same errors."""
    settings = RolloutSettings(trials=144, cut=6)
    position, roll, evaluator = Position.start(), (3, 1), load_static("motif-v1")
    dead = without_cube(cube_model_for(MatchState()))
    monkeypatch.setattr(StaticEvaluator, "evaluate_many", unrounded)
    one, other = (
        compare_plays(position, roll, evaluator, settings, cube_model=cube_model, candidates=4, jobs=1)
        for cube_model in (dead, NO_CUBE)
    )
    for first, second in zip(one.plays, other.plays, strict=True):
        assert first.play == second.play
        assert first.mean == pytest.approx(second.mean, abs=1e-12)
        assert first.se == pytest.approx(second.se, abs=1e-6)
        assert first.difference_se == pytest.approx(second.difference_se, abs=1e-6)
