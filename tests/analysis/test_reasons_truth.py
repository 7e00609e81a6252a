"""Explanations of decisions from games say nothing false, and add up."""

import math
from collections import Counter

import numpy as np
import pytest

from motif.analysis.explain.board_facts import CONCEPTS
from motif.analysis.explain.explanation import explain_play
from motif.analysis.explain.reasons import BEYOND
from motif.analysis.phrases import phrases
from motif.board.match_state import MatchState
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.evaluators import LookaheadEvaluator, load_static
from tests.analysis import told_truth
from tests.analysis.told_truth import claims, is_true
from tests.board.oracle import boards_after
from tests.games import some_decisions

NEWEST = load_static("latest")
DEEP = LookaheadEvaluator(NEWEST, 2)
SCORES = (
    None,
    MatchState(),
    MatchState(cube=2, cube_owner="me"),
    MatchState(jacoby=True),
    MatchState(length=7, own_score=2, opponent_score=4),
    MatchState(length=3, own_score=1, opponent_score=2, crawford=True),
    MatchState(length=3, own_score=2, opponent_score=1, crawford=True),
    MatchState(length=5, own_score=3, opponent_score=3, cube=2, cube_owner="opponent"),
    MatchState(length=1),
)


def explanations(evaluator, count, seed, *, player="latest", states=(None,)):
    """Explanations of `count` decisions of games: the best play against the second best or any other."""
    boards, rolls = some_decisions(player, 2 * count, seed)
    random, number = np.random.default_rng(seed), 0
    for board, roll in zip(boards, rolls.tolist(), strict=True):
        plays = legal_plays(Position(board), tuple(roll))
        if len(plays) < 2 or number == count:
            continue
        values = NEWEST.equity_many(np.array([play.position.board for play in plays]))
        order = np.argsort(values, kind="stable")
        other = order[1] if number % 2 else order[random.integers(1, len(order))]
        state = states[number % len(states)]
        number += 1
        yield explain_play(
            evaluator, Position(board), tuple(roll), plays[order[0]], plays[other], state=state
        )
    assert number == count


def check_truth(told, plays=told_truth.generated) -> Counter:
    seen = Counter()
    for claim in claims(told, plays):
        seen[claim.reason.phrase] += 1
        where = told.position.gnubg_id, told.roll, str(told.better), str(told.worse)
        assert is_true(claim, told), (where, claim.reason)
    return seen


def check_sum(told) -> None:
    rows = [reason.contribution for reason in told.reasons]
    assert math.fsum(rows) == pytest.approx(told.evidence.judged[0] - told.evidence.judged[1], abs=1e-6)
    assert [abs(row) for row in rows] == sorted((abs(row) for row in rows), reverse=True)
    assert {reason.concept for reason in told.reasons} <= {*CONCEPTS.values(), *BEYOND}
    for reason, record in zip(told.reasons, told.to_dict()["reasons"], strict=True):
        assert (
            record["contribution"]
            == reason.contribution
            == pytest.approx(record["amount"] * (1 if record["play"] == "better" else -1))
        )


def test_every_phrase_can_be_checked():
    assert set(told_truth.CHECKS) == set(CONCEPTS)
    beyond = {"hits", "next_rolls", *told_truth.BEYOND}
    words = phrases()
    for key in beyond:
        words.say("beyond", key, play="", other="", rolls="", favour="", at="", count=2, others=3)


def test_generated_plays_are_those_of_the_oracle():
    boards, rolls = some_decisions("pubeval", 30, 5)
    for board, roll in zip(boards.tolist(), rolls.tolist(), strict=True):
        both = told_truth.generated(tuple(board), tuple(roll)), boards_after(tuple(board), tuple(roll))
        assert both[0] == both[1]


@pytest.mark.parametrize(
    "seed", [31, pytest.param(32, marks=pytest.mark.slow), pytest.param(33, marks=pytest.mark.slow)]
)
def test_nothing_false_is_reported_and_all_adds_up(seed):
    for told in explanations(NEWEST, 100, seed, states=SCORES[:3]):
        check_truth(told)
        check_sum(told)


def test_with_lookahead_nothing_false_is_reported_and_all_adds_up():
    for told in explanations(LookaheadEvaluator(NEWEST, 1), 5, 37, states=SCORES[::2]):
        check_truth(told)
        check_sum(told)


@pytest.mark.slow
@pytest.mark.parametrize("player", ["latest", "motif-v1", "pubeval"])
def test_nothing_false_is_reported_on_1000_decisions(player):
    seen = Counter()
    for told in explanations(NEWEST, 1000, 41, player=player, states=SCORES):
        seen += check_truth(told, boards_after)
        check_sum(told)
    assert sum(seen.values()) > 2500


@pytest.mark.slow
@pytest.mark.parametrize("plies", [1, 2])
def test_all_adds_up_with_lookahead_on_500_decisions(plies):
    for told in explanations(LookaheadEvaluator(NEWEST, plies), 250, 43 + plies, states=SCORES):
        check_sum(told)
        check_truth(told)
