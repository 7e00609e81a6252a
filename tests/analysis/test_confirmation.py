"""What looks like an error is rolled out: errors that are none are dropped, true ones are confirmed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.match import analyse_match
from motif.analysis.match.decision_errors import (
    DOUBTFUL,
    JudgedPlay,
    can_roll_out,
    judge_cube,
    judge_plays,
    rolled_errors,
    stakes_of,
)
from motif.analysis.match.record_walk import CubeChance, PlayedRoll
from motif.board.match_state import MatchState
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import load_evaluator, load_static
from motif.evaluators.probabilities import turned
from motif.evaluators.stakes import staked_values
from motif.rollout.rollout_evaluator import items_of
from motif.rollout.rollout_settings import RolloutSettings
from motif.rollout.trials import results_of_trials
from tests.board.test_mat_file import played

QUICK = RolloutSettings(360, cut=6, stop_at_bearoff=True, stratified=True)
MANY = replace(QUICK, trials=2160)
"""Enough for a standard error that is known to a tenth."""
START = Position.start()
NEWEST = load_static("latest")


def opening(roll: tuple[int, int], play: str, length: int = 0) -> PlayedRoll:
    """A first roll, played so."""
    made = find_play(play, legal_plays(START, roll))
    return PlayedRoll(1, 1, 0, START, MatchState(length=length, dice=roll), roll, made, True)


def believed(roll: PlayedRoll, best: str, error: float = 0.1) -> JudgedPlay:
    """What a judge says who thinks that another play is better."""
    plays = legal_plays(roll.position, roll.roll)
    return JudgedPlay(len(plays), plays.index(find_play(best, plays)), error)


@pytest.mark.parametrize("length", [0, 7])
def test_the_rollout_decides(length):
    right, wrong = opening((3, 1), "8/5 6/5", length), opening((3, 1), "13/9", length)
    rolls = [right, wrong, right]
    judged = [
        believed(right, "13/9"),
        believed(wrong, "8/5 6/5"),
        believed(right, "13/9", error=DOUBTFUL / 2),
    ]
    errors = rolled_errors(rolls, judged, NEWEST, settings=QUICK, jobs=1)
    assert sorted(errors) == [0, 1]
    assert errors[0].error == pytest.approx(-errors[1].error)
    assert not errors[0].is_confirmed
    assert errors[1].is_confirmed
    assert 0.1 < errors[1].error < 0.3
    assert 0 < errors[1].se < 0.05


def test_the_error_is_that_of_the_plays_compared():
    """One standard error for plays compared at stakes."""
    roll = opening((6, 4), "24/14", 5)
    judged = believed(roll, "8/2 6/2")
    (error,) = rolled_errors([roll], [judged], NEWEST, settings=MANY, jobs=1).values()
    plays = legal_plays(START, roll.roll)
    pair = np.array([plays[judged.best].position.board, roll.play.position.board])
    item = items_of(pack_many(START.board[None]))
    results = turned(single_results(pair, int(item[0])))
    stakes = stakes_of(roll.state).stakes
    rounds = results.reshape(2, -1, 36, 5).mean(axis=2)
    packed = pack_many(pair)
    values = [
        -staked_values(stakes, 1, np.repeat(packed[k : k + 1], len(rows), axis=0), turned(rows))
        for k, rows in enumerate(rounds)
    ]
    lost = values[0] - values[1]
    # Near the means of whole rounds, which the stratified dice make alike.
    assert error.error == pytest.approx(lost.mean(), abs=0.01)
    assert error.se == pytest.approx(lost.std(ddof=1) / math.sqrt(len(lost)), rel=0.3)


def single_results(pair, item):
    packed, settings = pack_many(pair), MANY
    return results_of_trials(
        settings.model_of(NEWEST), settings, packed, np.array([item, item]), 0, settings.trials, jobs=1
    )[..., :5]


def test_the_same_for_any_number_of_jobs():
    rolls = [opening((6, 4), play) for play in ("24/14", "8/2 6/2", "24/18 13/9", "13/7 13/9", "24/14")]
    judged = [believed(roll, "24/20 13/7") for roll in rolls]
    one, two = (
        rolled_errors(rolls, judged, load_evaluator("latest@1"), settings=QUICK, jobs=jobs) for jobs in (1, 2)
    )
    assert one == two
    # The same position has the same dice.
    assert one[0] == one[4]


def test_who_has_no_weights_is_believed():
    assert can_roll_out(load_evaluator("latest@2"))
    assert not can_roll_out(load_static("pubeval"))


@pytest.mark.slow
def test_totals_and_the_list_go_by_the_rollout():
    record = played(3)
    evaluator = load_evaluator("latest@1")
    believed_all = analyse_match(record, evaluator, confirm=None, worst=1000, jobs=1)
    rolled = analyse_match(record, evaluator, confirm=QUICK, worst=1000, jobs=1)
    assert (believed_all.trials, rolled.trials) == (0, QUICK.trials)
    assert 0 < len(rolled.plays) < len(believed_all.plays)
    by_place = {(one.moment.game, one.moment.move, one.moment.player): one for one in rolled.plays}
    rolls = [one.moment for one in believed_all.plays]
    errors = rolled_errors(rolls, judge_plays(rolls, evaluator), evaluator, settings=QUICK, jobs=1)
    for row, rolled_error in errors.items():
        place = rolls[row].game, rolls[row].move, rolls[row].player
        assert (place in by_place) == rolled_error.is_confirmed
        if rolled_error.is_confirmed:
            assert by_place[place].error == pytest.approx(rolled_error.error)


def test_cubes_and_late_endings_are_judged_alike_by_any_number_of_jobs():
    judge = load_evaluator("latest@2")
    late = [
        Position.from_points({20: 2, 13: 3, 6: 5, 5: 5}, {1: 2, 2: 2, 3: 2}),
        Position.from_points({25: 1, 6: 3, 5: 3, 4: 3, 3: 2, 2: 3}, {1: 1, 3: 2}),
        Position.from_points({8: 1, 3: 2}, {24: 1, 6: 5, 5: 5, 4: 2, 3: 2}),
    ]
    assert judge.plays_out(np.array([it.board for it in late])).all()
    states = MatchState(), MatchState(length=5, own_score=2, opponent_score=3)
    chances = [CubeChance(1, 5, 0, it, state, doubled=False) for it in (*late, START) for state in states] * 2
    one, two = (judge_cube(chances, judge, jobs=jobs) for jobs in (1, 2))
    assert [act.decision for act in one] == [act.decision for act in two]
    # The same position is worth the same wherever it stands.
    assert [act.decision for act in one[:8]] == [act.decision for act in one[8:]]
    rolls = [
        PlayedRoll(1, 5, 0, it, MatchState(dice=(6, 1)), (6, 1), legal_plays(it, (6, 1))[0], False)
        for it in late
    ]
    assert judge_plays(rolls, judge, jobs=1) == judge_plays(rolls * 4, judge, jobs=2)[:3]
