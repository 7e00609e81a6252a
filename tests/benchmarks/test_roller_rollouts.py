"""Verdicts of rollouts by several players; the trials are drawn from known distributions."""

from dataclasses import replace

import numpy as np
import pytest

from motif.benchmarks.roller_rollouts import Roller, Rule, rolled_plays

PACKED = np.arange(4)[:, None] * np.ones((1, 64), np.int8)
"""Four "boards" that consist of the number of the play."""


def roller(name, wins, noise=1.0, portion=36, cost=1.0, played=None):
    """Trials of wins with the probabilities `wins`; the more luck two plays share in a trial, the lower the
    `noise`.
    """

    def play(packed, item, first, count):
        rows = np.zeros((len(packed), count, 5))
        shared = np.random.default_rng(item).normal(size=first + count)[first:]
        for row, number in enumerate(packed[:, 0].astype(int)):
            own = np.random.default_rng([item, number + 1]).normal(size=first + count)[first:]
            rows[row, :, 0] = wins[number] + shared + noise * own
            if played is not None:
                played.append((name, number, count))
        return rows

    return Roller(name, play, portion, cost)


def test_the_order_and_the_differences_are_those_of_the_laws():
    wins = [0.50, 0.53, 0.45, 0.52]
    plays = rolled_plays([roller("one", wins, 0.05)], PACKED, 1, Rule(se=0.002, certain=5))
    assert [play.number for play in plays] == [1, 3, 0, 2]
    assert plays[0].loss == 0
    for play in plays:
        # An equity is twice a winning probability.
        assert play.loss == pytest.approx(2 * (0.53 - wins[play.number]), abs=4 * play.loss_se + 1e-12)
        assert play.equity == pytest.approx(plays[0].equity - play.loss)


def test_trials_end_as_soon_as_a_difference_is_known():
    wins = [0.9, 0.1, 0.895, 0.1]
    plays = {play.number: play for play in rolled_plays([roller("one", wins, 0.1)], PACKED, 2, Rule(0.01))}
    assert plays[1].trials == plays[3].trials == (36,), "clear at the first look"
    assert plays[2].trials > (36,)
    assert plays[2].loss_se <= 0.01 or plays[2].loss >= 3 * plays[2].loss_se


def test_a_known_difference_of_exactly_nothing_needs_no_more_trials():
    plays = rolled_plays([roller("one", [0.5] * 4, 0.0)], PACKED, 3)
    assert [(play.loss, play.loss_se, play.trials) for play in plays] == [(0.0, 0.0, (36,))] * 4


def test_trials_end_where_the_rule_allows_no_more():
    plays = rolled_plays([roller("one", [0.5] * 4)], PACKED, 4, Rule(se=1e-6, certain=99, most=200))
    assert 100 < plays[0].trials[0] <= 200
    assert all(play.loss_se > 1e-6 for play in plays[1:])


@pytest.mark.parametrize("most", [36, 71, 500, 900])
def test_an_unknown_difference_takes_all_trials_that_the_rule_allows(most):
    rule = Rule(se=1e-6, certain=99, most=most)
    plays = rolled_plays([roller("one", [0.5] * 4), roller("other", [0.5] * 4, cost=9.0)], PACKED, 4, rule)
    assert {play.trials for play in plays} == {(most // 36 * 36,) * 2}


def test_rollers_count_equally_however_many_trials_they_played():
    one = roller("one", [0.6, 0.5], 0.5)
    other = roller("other", [0.5, 0.6], 0.1, cost=50.0)
    first, second = rolled_plays([one, other], PACKED[:2], 5, Rule(se=0.01, certain=99))
    assert first.trials[0] > first.trials[1]
    assert second.loss < 4 * second.loss_se + 0.01
    by_one, by_other = second.loss_by
    assert abs(by_one) == pytest.approx(0.2, abs=0.06)
    assert by_one * by_other < 0
    assert second.loss == pytest.approx((by_one + by_other) / 2)


def test_the_one_plays_on_that_lowers_the_uncertainty_most_for_its_cost():
    rule = Rule(se=0.02, certain=99)
    dear = rolled_plays(
        [roller("a", [0.5, 0.5], 0.3), roller("b", [0.5, 0.5], 0.3, cost=30)], PACKED[:2], 6, rule
    )
    even = rolled_plays([roller("a", [0.5, 0.5], 0.3), roller("b", [0.5, 0.5], 0.3)], PACKED[:2], 6, rule)
    assert dear[0].trials[0] > 3 * dear[0].trials[1]
    assert even[0].trials[0] < 2 * even[0].trials[1]


def test_a_decision_has_the_same_dice_again():
    def rolled():
        return rolled_plays([roller("one", [0.5, 0.52, 0.5, 0.4], 0.2)], PACKED, 7)

    assert rolled() == rolled()


@pytest.mark.slow
def test_a_pilot_plans_the_trials_and_does_not_count():
    """Although a few trials may decide by luck, the mean of many verdicts is unbiased."""
    rule = Rule(se=0.1, certain=2)
    stopped, planned = (
        np.array(
            [
                _signed(rolled_plays([roller("one", [0.6, 0.5], 1.0)], PACKED[:2], item, one))
                for item in range(300)
            ]
        )
        for one in (rule, replace(rule, pilot=True))
    )
    error = planned.std() / np.sqrt(len(planned))
    assert abs(planned.mean() - 0.2) < 3 * error
    assert stopped.mean() > planned.mean()


@pytest.mark.parametrize("pilot", [False, True])
def test_the_best_play_never_loses_anything(pilot):
    """This holds even if another play was ahead at first and was the reference."""
    for item in range(40):
        rule = Rule(se=0.05, certain=2, pilot=pilot)
        plays = rolled_plays([roller("one", [0.5, 0.51, 0.52, 0.53], 0.5)], PACKED, item, rule)
        assert (plays[0].loss, plays[0].loss_se) == (0.0, 0.0)
        assert all(play.loss_se > 0 for play in plays[1:])


def _signed(plays):
    """Equity of play 0 minus that of play 1."""
    return plays[1].loss * (1 if plays[0].number == 0 else -1)


def test_a_pilot_that_is_precise_enough_counts():
    plays = rolled_plays([roller("one", [0.6, 0.5], 0.01)], PACKED[:2], 1, Rule(se=0.1, pilot=True))
    again = rolled_plays([roller("one", [0.6, 0.5], 0.01)], PACKED[:2], 1, Rule(se=0.1))
    assert plays == again
    assert plays[0].trials == (36,)
