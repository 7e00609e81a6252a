"""Elimination of significantly worse plays, in synthetic decisions with a known best play."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.position import Position
from motif.players import load
from motif.rollouts import RolloutSettings, compare_plays
from motif.rollouts.comparison import eliminated, looks
from motif.runtime.errors import PlayerError, SettingError
from tests.evaluators.made_weights import evaluator_of, made_weights

MADE = evaluator_of(made_weights("keith", pairs=12, seed=1))
START, ROLL = Position.start(), (3, 1)
MOST = 1296


def made_up(values):
    """A roller of the plays of `values` (plays, trials)."""
    return lambda plays, first, count: values[plays, first : first + count, None]


def shared_dice(random, truth, spread, trials=MOST):
    """Results (plays, trials) with the means `truth`: luck shared by all plays, and each play's own."""
    shared = random.normal(0, 1, trials)
    return np.asarray(truth)[:, None] + shared + spread * random.normal(size=(len(truth), trials))


def games(random, truth, alike, trials=MOST):
    """Points won, -3 to 3, in games of which a share `alike` ends the same; the means are `truth`."""
    points = random.choice([-2, -1, 1, 2], size=trials, p=[0.13, 0.37, 0.37, 0.13])
    other = random.choice([-2, -1, 1, 2], size=(len(truth), trials), p=[0.13, 0.37, 0.37, 0.13])
    values = np.where(random.random((len(truth), trials)) < alike, points, other).astype(float)
    # A loss becomes a win, or vice versa, as often as the mean requires.
    turned = random.random((len(truth), trials)) < np.abs(truth)[:, None] / 2
    return np.where(turned, np.sign(truth)[:, None], values * ~turned)


def dropped(stages):
    return {int(play) for stage in stages for play in stage.gone}


@pytest.mark.parametrize(
    "decision",
    [
        lambda random: shared_dice(random, [0.0, 0.0, 0.0, 0.0, 0.0], 0.3),
        lambda random: shared_dice(random, [0.0, 0.0], 1.0),
        lambda random: games(random, np.zeros(5), 0.7),
        lambda random: games(random, np.zeros(2), 0.95),
    ],
    ids=["five", "two", "games", "rare differences"],
)
def test_the_best_of_equal_plays_goes_no_more_often_than_stated(decision):
    """All plays are equally good; the first is dropped no more often than the significance level."""
    rate, decisions = 0.2, 400
    random = np.random.default_rng(7)
    wrong = sum(
        0 in dropped(eliminated(made_up(values), len(values), MOST, rate))
        for values in (decision(random) for _ in range(decisions))
    )
    assert wrong <= rate * decisions


def test_plays_with_rare_disasters_are_not_dropped_early():
    """One play gains .02 in 99 of a hundred trials, and loses 4 points in the other."""
    random = np.random.default_rng(3)
    rate, decisions = 0.05, 400
    wrong = 0
    for _ in range(decisions):
        risk = np.where(random.random(MOST) < 0.01, -4.0, 0.02)
        stages = eliminated(made_up(np.stack([np.zeros(MOST), risk])), 2, MOST, rate)
        wrong += 0 in dropped(stages)
    assert wrong <= rate * decisions


def test_clear_errors_cost_few_trials():
    random = np.random.default_rng(1)
    spent, most = 0, 0
    for _ in range(50):
        values = shared_dice(random, [0.0, -0.001, -0.4, -0.5, -0.6], 0.3)
        stages = eliminated(made_up(values), 5, MOST, 0.05)
        assert {2, 3, 4} <= dropped(stages)
        spent += sum(stage.trials * len(stage.gone) for stage in stages[:-1])
        most += 3 * MOST
    assert spent < 0.1 * most


def test_elimination_ends_when_one_play_remains():
    random = np.random.default_rng(2)
    stages = eliminated(made_up(shared_dice(random, [0.0, -0.5], 0.3)), 2, MOST, 0.05)
    assert stages[-1].plays.tolist() == [0]
    assert stages[-1].trials == stages[0].trials < MOST


def test_differences_come_from_the_trials_that_both_had():
    random = np.random.default_rng(4)
    values = shared_dice(random, [0.0, -0.08, -0.5], 0.4)
    stages = eliminated(made_up(values), 3, MOST, 0.05)
    assert dropped(stages) >= {2}
    for stage in stages:
        part = values[:, : stage.trials]
        for play in stage.gone.tolist():
            pairs = part[play] - part[0]
            error = pairs.std(ddof=1) / np.sqrt(stage.trials)
            assert stage.difference(play, 0) == pytest.approx((pairs.mean(), error))


@given(st.integers(1, 10_000))
def test_looks_increase_to_the_last_trial(trials):
    numbers = looks(trials)
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == trials
    assert len(numbers) < 18
    assert all(number % 36 == 0 for number in numbers[:-1])


@settings(max_examples=20)
@given(st.integers(1, 400), st.integers(1, 6))
def test_equal_results_drop_no_play(trials, plays):
    values = np.repeat(np.random.default_rng(trials).normal(size=(1, trials)), plays, axis=0)
    (stage,) = eliminated(made_up(values), plays, trials, 0.5)
    assert (stage.trials, stage.plays.tolist()) == (
        trials if plays > 1 else looks(trials)[0],
        [*range(plays)],
    )


OPTIONS = {"eliminate": True, "trials": 324, "cut": 4, "stratified": True}


def compared(jobs=1, **options):
    return compare_plays(START, ROLL, MADE, RolloutSettings(**options), candidates=16, jobs=jobs)


def test_plays_are_dropped_with_the_values_of_their_trials():
    result = compared(**OPTIONS)
    assert any(it.dropped for it in result.plays)
    assert all(it.trials == result.trials for it in result.left)
    assert result.settled == (len(result.left) == 1)
    best = result.plays[0]
    for it in result.plays:
        both = [best.play] if it is best else [best.play, it.play]
        every = RolloutSettings(**OPTIONS | {"eliminate": False, "trials": it.trials})
        alone = compare_plays(START, ROLL, MADE, every, plays=both, jobs=1)
        (same,) = (other for other in alone.plays if other.play == it.play)
        np.testing.assert_allclose(it.mean, same.mean, atol=1e-12)
        np.testing.assert_allclose(it.se, same.se, atol=1e-12)
        if it is not best:
            assert it.difference_se == pytest.approx(max(other.difference_se for other in alone.plays))


def test_the_same_for_any_number_of_workers():
    one, two = (compared(jobs, **OPTIONS) for jobs in (1, 2))
    for a, b in zip(one.plays, two.plays, strict=True):
        assert (a.play, a.trials, a.dropped) == (b.play, b.trials, b.dropped)
        assert (a.mean.tobytes(), a.se.tobytes()) == (b.mean.tobytes(), b.se.tobytes())
        assert (a.difference, a.difference_se) == (b.difference, b.difference_se)


def test_a_target_error_ends_the_rollout_of_remaining_plays():
    result = compared(**OPTIONS | {"trials": 20_000, "se": 0.02, "significance": 0.001})
    assert len(result.left) > 1
    assert result.trials < 20_000
    assert max(it.difference_se for it in result.left) <= 0.02


def test_a_player_chooses_a_remaining_play():
    name = "rollout:motif-v1,trials=216,cut=4,stratified,candidates=6"
    rolls = np.array([[3, 1], [6, 5]])
    boards = np.repeat(START.board[None], 2, axis=0)
    states = np.zeros(2, np.uint64)
    every, fewer = (
        load(name + more).choose_many(boards, rolls, states) for more in ("", ",eliminate,significance=0.001")
    )
    assert (every == fewer).all()
    assert load(f"{name},eliminate").evaluator.settings.significance == 0.05


def test_bad_significance_levels():
    with pytest.raises(SettingError, match="significance must be above 0 and below 1, not 0"):
        compared(eliminate=True, significance=0)
    with pytest.raises(PlayerError, match="'significance=x': the value must be a number"):
        load("rollout:motif-v1,significance=x")


@pytest.mark.parametrize("significance", [0.99, 5e-324])
def test_extreme_significance_levels_leave_the_best_play(significance):
    settings = RolloutSettings(eliminate=True, trials=36, cut=4, significance=significance)
    result = compare_plays(START, ROLL, MADE, settings, candidates=2, jobs=1)
    assert len(result.left) == (1 if significance > 0.5 else 2)
