"""Replies in lookahead: their values make up its difference, and their hits are counted."""

import numpy as np
import pytest

from motif.analysis.explain.explanation import explain_play
from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.evaluators import LookaheadEvaluator, load_static
from tests.short_rollouts import shorten_rollouts

NEWEST = load_static("latest")
START = Position.start()


@pytest.mark.parametrize("plies", [1, 2])
def test_the_rolls_add_up_to_the_difference(plies):
    evaluator = LookaheadEvaluator(NEWEST, plies, "full")
    plays = legal_plays(START, (6, 4))
    one, other = (find_play(text, plays) for text in ("24/14", "24/18 13/9"))
    evidence = explain_play(evaluator, START, (6, 4), one, other).evidence
    assert evidence.replies is not None
    assert evidence.ahead is not None
    assert evidence.replies.difference == pytest.approx(evidence.ahead[0] - evidence.ahead[1], abs=1e-6)
    assert evidence.replies.differences @ ROLL_COUNTS / 36 == pytest.approx(evidence.replies.difference)


def test_hits_are_those_of_the_best_replies():
    evaluator = LookaheadEvaluator(NEWEST, 1)
    plays = legal_plays(START, (6, 2))
    one, other = (find_play(text, plays) for text in ("24/18 13/11", "24/22 13/7"))
    evidence = explain_play(evaluator, START, (6, 2), one, other).evidence
    assert evidence.replies is not None
    for play, count in zip((one, other), evidence.replies.hits, strict=True):
        hits = 0
        for roll, throws in zip(ROLLS.tolist(), ROLL_COUNTS.tolist(), strict=True):
            replies = legal_plays(play.position, tuple(roll))
            values = NEWEST.play_equities(*batch(play.position, roll))
            hits += throws * any(replies[int(np.argmax(values))].hits)
        assert count == hits


def batch(position, roll):
    from motif.board.moves import play_batches

    before = position.board[None]
    return before, next(play_batches(before, np.array([roll])))


def test_where_lookahead_overrules_the_terms_it_says_so():
    evaluator = LookaheadEvaluator(load_static("motif-v1"), 2)
    plays = legal_plays(START, (6, 2))
    one, other = (find_play(text, plays) for text in ("24/18 13/11", "24/16"))
    told = explain_play(evaluator, START, (6, 2), one, other)
    evidence = told.evidence
    assert evidence.ahead is not None
    assert told.static.equity_difference < 0 < evidence.ahead[0] - evidence.ahead[1]
    assert "This overrules the terms, which favour 24/16." in told.detailed_lines[1]
    assert told.to_dict()["overruled"]


@pytest.mark.parametrize(("language", "words"), [("en", "standard error"), ("de", "Standardfehler")])
def test_a_rollout_is_named_with_the_standard_error_of_the_difference(monkeypatch, language, words):
    shorten_rollouts(monkeypatch)
    evaluator = LookaheadEvaluator(NEWEST, 1)
    plays = legal_plays(START, (3, 1))
    one, other = (find_play(text, plays) for text in ("8/5 6/5", "24/20"))
    told = explain_play(evaluator, START, (3, 1), one, other, language=language)
    assert told.se
    shown = f"{told.se:.3f}".replace(".", "," if language == "de" else ".")
    assert told.evidence.ahead_in_words()[1].endswith(f" ({words} {shown}).")


def test_without_lookahead_there_are_no_replies():
    told = explain_play(NEWEST, START, (3, 1))
    evidence = told.evidence
    assert (evidence.ahead, evidence.replies) == (None, None)
    assert evidence.ahead_in_words() == ()
    assert "overruled" not in told.to_dict()
    assert "replies" not in told.to_dict()
