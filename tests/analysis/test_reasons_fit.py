"""Reasons fit the situation: what a strong player would name comes first, in the right words."""

import pytest

import motif
from motif.analysis.confirmation import KnownPlay, known_pair
from motif.analysis.explain import explanation
from motif.analysis.explain.explanation import explain_play
from motif.analysis.explain.situation import Situation
from motif.analysis.phrases import phrases
from motif.board.match_state import MatchState
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.evaluators import load_static
from motif.players import load
from motif.players.ranking import rank_plays

NEWEST = load_static("latest")
START = {24: 2, 13: 5, 8: 3, 6: 5}
BLITZ = {13: 4, 8: 3, 6: 3, 5: 2, 4: 3}, {25: 1, 22: 1, 13: 5, 8: 3, 6: 5}
SPLIT = START, {24: 1, 18: 1, 13: 4, 10: 1, 8: 3, 6: 5}
SLOT = START, {24: 2, 13: 4, 11: 1, 8: 3, 6: 4, 5: 1}
PRIME = {9: 2, 8: 2, 7: 2, 6: 3, 5: 2, 4: 2, 3: 2}, {25: 1, 23: 1, 8: 3, 6: 4, 5: 4, 4: 2}
SAVE = {18: 1, 10: 1, 7: 2, 6: 3, 5: 4, 4: 2, 3: 2}, {4: 2, 3: 2, 2: 2, 1: 1}
BEAR_OFF = {6: 4, 5: 3, 4: 3, 3: 2, 2: 2}, {24: 2, 6: 3, 5: 3, 4: 3, 3: 2, 2: 2}
RACE = {6: 2, 5: 1, 4: 3, 3: 1, 2: 1}, {5: 2, 4: 2, 3: 2, 2: 1}
BACK_GAME = {23: 2, 21: 2, 8: 2, 7: 2, 6: 3, 5: 2, 4: 2}, {12: 1, 9: 2, 8: 3, 7: 3, 6: 3, 5: 3}
FIRST = {
    "a second checker on the bar": (BLITZ, "64", "13/3*", "8/2 6/2", "puts a second checker on the bar."),
    "both plays hit": (SPLIT, "54", "24/15*", "24/20 6/1*", "costs the opponent 15 pips instead of 1."),
    "two hits and one": (SLOT, "64", "24/20*/14*", "24/14*", "Hits 2 checkers instead of 1."),
    "a prime is kept": (PRIME, "33", "8/2*(2)", "9/6(2) 5/2*(2)", "Keeps the six-point prime."),
    "a gammon to save": (SAVE, "64", "18/12 10/6", "18/12 7/3", "save the gammon, instead of 11."),
    "shots in a bearoff": (BEAR_OFF, "53", "6/3 5/off", "5/2 5/off", "Leaves no shot, while 11 rolls hit"),
    "a race": (RACE, "43", "4/off 3/off", "6/3 4/off", "Bears off one more checker."),
}
"""A position, its roll, two plays, and what the largest reason for the first one says."""


def told(two, roll, better, worse, language="en"):
    position = Position.from_points(*two)
    dice = int(roll[0]), int(roll[1])
    plays = legal_plays(position, dice)
    pair = (find_play(text, plays) for text in (better, worse))
    return explain_play(NEWEST, position, dice, *pair, language=language)


@pytest.mark.parametrize("case", FIRST)
def test_the_first_reason_is_what_a_player_would_say(case):
    *decision, words = FIRST[case]
    first = next(reason for reason in told(*decision).reasons if reason.play == "better")
    assert words in first.sentence


def test_in_a_race_a_play_is_one_thing():
    assert len(told(RACE, "43", "4/off 3/off", "6/3 4/off").reasons) == 1


def test_who_waits_in_a_back_game_hears_nothing_of_shots():
    rows = told(BACK_GAME, "43", "7/3 6/3", "8/4 6/3").reasons
    assert not any(reason.concept in ("shots", "safety") for reason in rows)


@pytest.mark.parametrize(
    ("two", "is_back_game"),
    [
        pytest.param({23: 2, 22: 2, 13: 4, 8: 4, 6: 3}, True, id="two anchors"),
        pytest.param({23: 2, 18: 2, 13: 4, 8: 4, 6: 3}, True, id="one of them on the bar point"),
        pytest.param({23: 2, 17: 2, 13: 4, 8: 4, 6: 3}, False, id="a point outside is none"),
        pytest.param({23: 2, 13: 5, 8: 4, 6: 4}, False, id="one anchor"),
        pytest.param({25: 2, 22: 2, 13: 4, 8: 4, 6: 3}, False, id="checkers on the bar hold nothing"),
        pytest.param({23: 2, 22: 2, 13: 1, 2: 5, 1: 5}, False, id="the board has crashed"),
    ],
)
def test_a_back_game_holds_two_anchors_and_waits(two, is_back_game):
    board = Position.from_points(two, {11: 1, 10: 2, 9: 3, 6: 6, 5: 3}).board
    hit = Position.from_points(two, {25: 1, 10: 2, 9: 3, 6: 6, 5: 3}).board
    assert Situation(board, (board, board)).is_back_game == is_back_game
    assert not Situation(board, (board, hit)).is_back_game


def test_a_gammon_that_costs_nothing_is_not_saved():
    position = Position.from_points(*SAVE)
    after = tuple(play.position.switch_sides().board for play in legal_plays(position, (6, 4))[:2])
    assert Situation(position.board, after).is_saving_gammon
    assert not Situation(position.board, after, gammons_cost=False).is_saving_gammon


@pytest.mark.parametrize(
    ("language", "one", "more"),
    [
        (
            "en",
            "leaves 1 shot instead of 3",
            "must leave a shot with only 1 of 36 possible next rolls, not 3",
        ),
        (
            "de",
            "lässt 1 Schuss statt 3",
            "muss nur mit 1 der 36 möglichen nächsten Würfe einen Schuss lassen, nicht mit 3",
        ),
    ],
)
def test_plurals(language, one, more):
    words = phrases(language)
    assert words.say("phrases", "fewer_shots", count=1, others=3) == one
    assert words.say("phrases", "next_rolls", count=1, others=3, other="") == more


def test_german_says_the_same():
    english, german = (told(*FIRST["a prime is kept"][:4], language=language) for language in ("en", "de"))
    assert "Hält die 6er-Prime." in german.sentences
    assert [row.contribution for row in english.reasons] == [row.contribution for row in german.reasons]


LEAVING = [
    # The mover loses no gammon: the opponent is on the bar.
    ("/wcAAGjftgEAAA", "32", "3/1 3/off", "6/4 6/3", "bears off one more checker", "save"),
    # The other play empties a point that was not empty before.
    ("pwwAANT3AAAAAA", "42", "6/off", "5/3 4/off", "keeps a checker on the 4 point", "gap"),
    ("LQIAQEwAAAAAAA", "43", "6/3 4/off", "4/1 4/off", "fills the gap on the 3 point", "4 point"),
    # No checker of the opponent is left to build against.
    ("nwEAAL82gwAQAA", "21", "11/8", "23/21 11/10", "8 point", "builder"),
    ("4HPwATDgc/ABMA", "66", "24/18(2) 13/7(2)", "24/18 13/7(3)", "makes the opponent's bar point", "anchor"),
]


@pytest.mark.parametrize(("identifier", "roll", "better", "worse", "words", "never"), LEAVING)
def test_a_reason_says_what_the_play_does_to_the_position_before(
    identifier, roll, better, worse, words, never
):
    position = Position.from_id(identifier)
    dice = int(roll[0]), int(roll[1])
    pair = (find_play(text, legal_plays(position, dice)) for text in (better, worse))
    said = [row.sentence for row in explain_play(NEWEST, position, dice, *pair).reasons]
    assert any(words in sentence.lower() for sentence in said)
    assert not any(never in sentence for sentence in said)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        pytest.param(
            MatchState(length=7, own_score=3, opponent_score=3, cube=2, cube_owner="me"),
            "Score and cube favour bar/23 10/4: a gammon lost costs more than in a money game.",
            id="gammons make up most of it",
        ),
        pytest.param(
            MatchState(length=7),
            "Score and cube favour bar/23 10/4.",
            id="gammons make up less than half of it",
        ),
    ],
)
def test_a_symmetric_score_names_the_gammons_that_differ(state, said):
    position = Position.from_id("bJuRgBGY24kDQA")
    plays = legal_plays(position, (6, 2))
    pair = (find_play(text, plays) for text in ("bar/23 10/4", "bar/23 8/2*"))
    reasons = explain_play(load_static("motif-v1"), position, (6, 2), *pair, state=state).reasons
    (score,) = (row.sentence for row in reasons if row.concept == "score")
    assert score == said


@pytest.mark.parametrize("roll", [(6, 2), (6, 3), (6, 4)])
def test_a_rollout_that_disagrees_with_lookahead_decides_which_play_is_better(roll):
    judge = load("motif-v1@1").require_evaluator()
    first, second = rank_plays(Position.start(), roll, judge)[:2]
    told = explain_play(judge, Position.start(), roll)
    assert (told.better, told.worse) == (second.play, first.play)
    rolled = told.evidence.pair.rolled
    assert rolled is not None
    assert rolled.difference > 0
    is_close = round(rolled.difference, 3) < 2 * rolled.se
    assert told.summary.endswith("too close to call.") == is_close
    assert ("is better than" in told.summary) != is_close
    assert told.certainty.startswith("The standard error of the rollout") == is_close


@pytest.mark.parametrize(
    ("difference", "se", "words"),
    [
        (0.05, 0.03, "The standard error of the rollout is 0.030 points."),
        (
            *(0.05, 0.02),
            "Likely: the gap is more than twice the standard error of the rollout (0.020 points), but less "
            "than three times.",
        ),
        (0.01, 0.004, "Likely: the gap is larger than someone@2's average error (0.002 points)."),
        (0.05, 0.01, "Clear: the gap is far larger than someone@2's average error (0.002 points)."),
    ],
)
def test_certainty_allows_for_the_standard_error_of_a_rollout(monkeypatch, difference, se, words):
    monkeypatch.setattr(explanation, "known_error_rate", lambda name: 2.0)
    better, worse = (
        KnownPlay(play, 0.0, "rollout", se, 0.0) for play in legal_plays(Position.start(), (3, 1))[:2]
    )
    pair = known_pair(better._replace(equity=difference), worse, se)
    key, error = explanation._certainty("someone@2", pair, difference)
    english = phrases("en")
    assert english.say("certainty", key, player="someone@2", error=english.amount(error)) == words


def test_the_certainty_is_that_of_the_difference_shown(monkeypatch):
    """Equities 0.0002 apart may be shown with a difference of 0.001, and those 0.0007 apart as equal."""
    monkeypatch.setattr(explanation, "known_error_rate", lambda name: 2.0)
    told = motif.explain("hneDCwDZmcEAQw", "31", "motif-v1", versus="bar/24 4/1")
    assert told.summary == "bar/24 8/5 is 0.001 points ahead of bar/24 4/1: too close to call."
    assert told.certainty.startswith("Between plays this close, motif-v1 is often wrong")
    told = motif.explain("mGfwATDgc/ABMA", "41", "motif-v1", versus="24/23 24/20")
    assert (told.summary, told.certainty) == ("24/23 13/9 is as good as 24/23 24/20.", "")


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Both equities are exact."), ("de", "Beide Equitys sind exakt.")]
)
def test_exact_equities_are_certain(language, words):
    assert motif.explain("JgAAwAQAAAAAAA", "21", language=language).certainty == words
