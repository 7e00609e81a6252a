"""Apparent errors are rolled out: false ones are dropped, real ones confirmed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.confirmation import (
    CONFIRMED_Z,
    ROLLOUT_THRESHOLD,
    SHORT,
    can_roll_out,
    compare_pair,
    confirming_rollout,
    roll_out_pairs,
)
from motif.analysis.match.decision_errors import judge_cube, judge_plays, valued_state
from motif.analysis.match.decisions import match_decisions
from motif.analysis.match.match_analysis import analyse_match
from motif.analysis.match.record_walk import CubeChance, PlayedRoll
from motif.board.match_state import MatchState
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.packed import pack_many
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.evaluators import load_evaluator, load_static
from motif.evaluators.cube_model import cubeful_values
from motif.evaluators.probabilities import switch_sides
from motif.players.ranking import cube_model_of
from motif.rollouts.playout import items_of
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.trials import results_of_trials
from tests.board.test_mat_file import played
from tests.short_rollouts import shorten_rollouts

QUICK = RolloutSettings(360, cut=6, stop_at_bearoff=True, stratified=True)
MANY = replace(QUICK, trials=4320)
"""Enough for a standard error that is known to a tenth."""
START = Position.start()
NEWEST = load_static("latest")


def opening(roll: tuple[int, int], play: str, length: int = 0) -> PlayedRoll:
    """An opening roll with this play."""
    made = find_play(play, legal_plays(START, roll))
    return PlayedRoll(1, 1, 0, START, MatchState(length=length, dice=roll), roll, made, True)


def rolled_pairs(rolls, others, jobs=1, settings=QUICK, evaluator=NEWEST):
    """Rollouts of the plays named in `others`, compared with the actual play."""
    pairs = [
        (find_play(other, legal_plays(roll.position, roll.roll)).position.board, roll.play.position.board)
        for roll, other in zip(rolls, others, strict=True)
    ]
    before = np.array([roll.position.board for roll in rolls])
    cube_models = [cube_model_of(valued_state(roll.state)) for roll in rolls]
    return roll_out_pairs(before, np.array(pairs), cube_models, evaluator, settings, jobs=jobs)


@pytest.mark.parametrize("length", [0, 7])
def test_the_rollout_decides(length):
    right, wrong = opening((3, 1), "8/5 6/5", length), opening((3, 1), "13/9", length)
    first, second = rolled_pairs([right, wrong], ["13/9", "8/5 6/5"])
    assert first.difference == pytest.approx(-second.difference)
    assert first.equities == second.equities[::-1]
    assert not first.is_confirmed
    assert second.is_confirmed
    assert 0.1 < second.difference < 0.3
    assert 0 < second.se < 0.05
    judged = judge_plays([right, wrong], load_evaluator("latest@1"), confirm=QUICK)
    assert [one.source for one in judged] == ["1-ply", "rollout"]
    assert (judged[1].error, judged[1].rolled.se) == (second.difference, second.se)


def test_the_error_is_that_of_the_plays_compared():
    """One standard error for plays compared with a cube."""
    roll = opening((6, 4), "24/14", 5)
    (rolled,) = rolled_pairs([roll], ["8/2 6/2"], settings=MANY)
    better = find_play("8/2 6/2", legal_plays(START, roll.roll))
    pair = np.array([better.position.board, roll.play.position.board])
    item = items_of(pack_many(START.board[None]))
    results = switch_sides(single_results(pair, int(item[0])))
    cube_model = cube_model_of(valued_state(roll.state))
    rounds = results.reshape(2, -1, 36, 5).mean(axis=2)
    packed = pack_many(pair)
    values = [
        -cubeful_values(cube_model, 1, np.repeat(packed[k : k + 1], len(rows), axis=0), switch_sides(rows))
        for k, rows in enumerate(rounds)
    ]
    lost = values[0] - values[1]
    # Near the means of whole rounds, which stratified dice make equal.
    assert rolled.difference == pytest.approx(lost.mean(), abs=0.01)
    assert rolled.se == pytest.approx(lost.std(ddof=1) / math.sqrt(len(lost)), rel=0.3)


def single_results(pair, item):
    packed, settings = pack_many(pair), MANY
    return results_of_trials(
        settings.player_of(NEWEST), settings, packed, np.array([item, item]), 0, settings.trials, jobs=1
    )[..., :5]


def test_the_same_for_any_number_of_jobs():
    rolls = [opening((6, 4), play) for play in ("24/14", "8/2 6/2", "24/18 13/9", "13/7 13/9", "24/14")]
    evaluator, few = load_evaluator("latest@1"), replace(QUICK, trials=72)
    one, two = (rolled_pairs(rolls, ["24/20 13/7"] * 5, jobs, few, evaluator) for jobs in (1, 2))
    assert one == two
    # The same position has the same dice.
    assert one[0] == one[4]


def test_an_evaluator_without_lookahead_or_weights_is_believed():
    assert can_roll_out(load_evaluator("latest@2"))
    assert not can_roll_out(load_static("pubeval"))
    assert confirming_rollout(load_evaluator("latest@2")) == SHORT
    assert confirming_rollout(NEWEST) is None
    assert confirming_rollout(load_evaluator("pubeval@1")) is None


def test_one_procedure_compares_two_plays(monkeypatch):
    """Match analysis, explain and the tutor show the same number for the same decision."""
    shorten_rollouts(monkeypatch)
    evaluator = load_evaluator("latest@1")
    roll = opening((3, 1), "13/9")
    (judged,) = judge_plays([roll], evaluator, confirm=confirming_rollout(evaluator))
    choice = compare_pair(START, roll.roll, evaluator, valued_state(roll.state), worse=roll.play)
    assert choice.source == judged.source == "rollout"
    (decision,) = match_decisions([judged], ())
    assert decision.trials == judged.rolled.trials > 0
    assert choice.difference == judged.error
    known = {one.number: one for one in judged.candidates}
    assert choice.equities == (known[judged.best].equity, known[judged.played].equity)
    assert choice.difference == pytest.approx(choice.equities[0] - choice.equities[1], abs=1e-12)
    same = judged.choice
    assert same.equities == choice.equities
    assert (same.better.equity, same.worse.equity) == (choice.better.equity, choice.worse.equity)
    close = compare_pair(START, (6, 4), load_evaluator("motif-v1@2"), valued_state(roll.state))
    assert 0 <= close.difference < ROLLOUT_THRESHOLD
    assert close.source == "2-ply"


def test_an_error_with_the_cube_counts_where_a_rollout_confirms_it():
    """A pass that costs little or much, and a double that costs much."""
    evaluator = load_evaluator("latest@1")
    position, state = parse_position("XGID=---BBbCBB-B-bB---c-cbba---:0:0:1:00:0:0:0:0:10")
    start = CubeChance(1, 3, 0, START, MatchState(), doubled=True, answer="take")
    chances = [CubeChance(1, 3, 0, position, state, doubled=True, answer="drop"), start]
    believed, rolled = (judge_cube(chances, evaluator, confirm=how) for how in (None, QUICK))
    assert [act.done for act in rolled] == ["double", "pass", "double", "take"]
    for lookahead, act in zip(believed, rolled, strict=True):
        cost = lookahead.decision.cost(act.done)
        assert lookahead.error == cost
        assert act.source == ("rollout" if cost >= ROLLOUT_THRESHOLD else "1-ply")
        assert (act.rolled is None) == (cost < ROLLOUT_THRESHOLD)
        if act.source == "rollout":
            cost = act.decision.cost(act.done)
            assert act.error == (cost if cost > CONFIRMED_Z * act.rolled.se else 0.0)
            assert act.is_too_close == (act.error == 0)
        else:
            assert act.error == 0
    # Doubling at the start costs about a quarter of a point, and passing more than one.
    assert rolled[2].error == pytest.approx(0.25, abs=0.1)
    assert rolled[2].rolled.trials >= QUICK.trials


@pytest.mark.slow
def test_totals_and_the_list_use_the_rollout():
    record = played(3)
    evaluator = load_evaluator("latest@1")
    believed_all = analyse_match(record, evaluator, confirm=False, worst=1000, jobs=1)
    rolled = analyse_match(record, evaluator, confirm=QUICK, worst=1000, jobs=1)
    assert (believed_all.trials, rolled.trials) == (0, QUICK.trials)
    for one in rolled.decisions:
        assert (one.trials > 0) == (one.source == "rollout") == (one.se is not None)
    assert 0 < len(rolled.plays) < len(believed_all.plays)
    for one in rolled.decisions:
        if one.source == "rollout" and one.is_play:
            assert (one.mark != "") == (one.error > CONFIRMED_Z * one.se and one.error >= 0.03)
            shown = {it.done: it.equity for it in one.candidates if it.source == "rollout"}
            assert len(shown) == 2
            assert max(0, max(shown.values()) - shown[one.done]) == pytest.approx(one.error, abs=1e-12)
    for player in (0, 1):
        counted = [one.error for one in rolled.decisions if one.player == player and one.counts]
        assert rolled.players[player].overall.total == pytest.approx(sum(counted), abs=1e-9)


def test_cubes_and_late_endings_are_judged_alike_by_any_number_of_jobs():
    judge = load_evaluator("latest@2")
    late = [
        Position.from_points({20: 2, 13: 3, 6: 5, 5: 5}, {1: 2, 2: 2, 3: 2}),
        Position.from_points({25: 1, 6: 3, 5: 3, 4: 3, 3: 2, 2: 3}, {1: 1, 3: 2}),
        Position.from_points({8: 1, 3: 2}, {24: 1, 6: 5, 5: 5, 4: 2, 3: 2}),
    ]
    assert judge.plays_out(np.array([it.board for it in late])).all()
    money, match = MatchState(), MatchState(length=5, own_score=2, opponent_score=3)
    asked = [*((it, money) for it in (*late, START)), (late[-1], match), (START, match)]
    chances = [CubeChance(1, 5, 0, it, state, doubled=False) for it, state in asked]
    one, two = judge_cube(chances, judge, jobs=1), judge_cube(chances * 2, judge, jobs=2)
    # The same position has the same value at any place.
    assert [act.decision for act in one] * 2 == [act.decision for act in two]
    rolls = [
        PlayedRoll(1, 5, 0, it, MatchState(dice=(6, 1)), (6, 1), legal_plays(it, (6, 1))[0], False)
        for it in late
    ]
    assert judge_plays(rolls, judge, jobs=1) * 3 == judge_plays(rolls * 3, judge, jobs=2)
