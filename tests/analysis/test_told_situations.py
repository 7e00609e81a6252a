"""What a play is praised for depends on what is at stake: gammons, backgammons, blocks, contact."""

from dataclasses import replace

import pytest

from motif.analysis.confirmation import difference_shown
from motif.analysis.explain.explanation import Explanation, explain_play
from motif.analysis.explain.reasons import SCORE_STEP
from motif.analysis.explain.situation import Situation
from motif.analysis.phrases import phrases
from motif.board.diagram import SCORE_WORDS, describe_score
from motif.board.match_state import CubelessMatchState, MatchState
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.parsing import parse_decision
from motif.board.position import Position
from motif.evaluators import load_static

PLAYER = "latest"


def told(
    identifier: str,
    roll: str,
    better: str,
    worse: str,
    state: MatchState | None = None,
    language: str = "en",
    player: str = PLAYER,
) -> Explanation:
    position, dice = Position.from_id(identifier), (int(roll[0]), int(roll[1]))
    two = [find_play(text, legal_plays(position, dice)) for text in (better, worse)]
    return explain_play(load_static(player), position, dice, *two, state=state, language=language)


def phrases_of(it: Explanation) -> set[str]:
    return {reason.phrase for reason in it.reasons}


def read(xgid: str, better: str, worse: str) -> Explanation:
    position, state, roll = parse_decision(xgid)
    two = [find_play(text, legal_plays(position, roll)) for text in (better, worse)]
    return explain_play(load_static(PLAYER), position, roll, *two, state=state)


LAST_OUT = "AgAAfD+AQQQAAA", "54", "19/10", "11/7 11/6"
ONE_OF_THREE = "BwAAsI0zCBwAAA", "43", "19/16 6/2", "13/9 8/5"
LAST_OF_THREE = "GQAAsNtQCMABAA", "66", "23/11 23/17(2)", "23/17(2) 9/3 8/2"


@pytest.mark.parametrize(
    ("decision", "language", "first"),
    [
        (
            LAST_OUT,
            "en",
            "Brings the last checker out of the opponent's home board and saves the backgammon.",
        ),
        (LAST_OUT, "de", "Bringt den letzten Stein aus dem gegnerischen Heimfeld und rettet das Backgammon."),
        (
            ONE_OF_THREE,
            "en",
            "Brings one more checker out of the opponent's home board to save the backgammon.",
        ),
        (
            ONE_OF_THREE,
            "de",
            "Bringt einen Stein mehr aus dem gegnerischen Heimfeld, um das Backgammon zu retten.",
        ),
        (
            LAST_OF_THREE,
            "en",
            "Brings the last checker out of the opponent's home board and saves the backgammon.",
        ),
    ],
)
def test_a_backgammon_is_saved(decision, language, first):
    assert told(*decision, language=language).sentences[0] == first


def test_a_lost_backgammon_is_nothing_to_save_where_gammons_count_for_nothing():
    at_last = MatchState(length=1)
    assert "save_backgammon" not in phrases_of(told(*LAST_OUT, state=at_last))


@pytest.mark.parametrize("decision", [LAST_OUT, ONE_OF_THREE, LAST_OF_THREE])
def test_a_gammon_lost_for_sure_is_not_saved(decision):
    it = told(*decision)
    assert not phrases_of(it) & {"home_for_gammon", "pips_for_gammon", "hurry", "save_gammon"}
    boards = tuple(play.position.switch_sides().board for play in (it.better, it.worse))
    assert not Situation(it.position.board, boards).is_saving_gammon


def test_a_backgammon_is_not_saved_where_gammons_differ_more():
    it = told("ahsAANjdCwBgAA", "62", "24/22*/16", "24/22* 7/1")
    assert not phrases_of(it) & {"save_backgammon", "out_for_backgammon", "pips_for_backgammon"}


def test_a_gammon_in_doubt_is_saved():
    it = told("jwEAANs/EAQgAA", "53", "bar/22 15/10", "bar/20 15/12")
    boards = tuple(play.position.switch_sides().board for play in (it.better, it.worse))
    assert Situation(it.position.board, boards).is_saving_gammon


@pytest.mark.parametrize(
    "decision",
    [
        ("vxsAgASfDeYEAA", "42", "15/11 3/1", "11/5"),
        ("4e4FgwDg85EBQg", "54", "bar/21 8/3", "bar/21 6/1"),
        ("nTkGMAbGzWMAAw", "61", "8/1", "11/10 11/5"),
        ("4OfgBwCY58EDIA", "21", "13/11 6/5", "13/11 8/7"),
    ],
)
def test_passing_the_opponent_is_no_merit_behind_in_the_race_or_on_a_buried_point(decision):
    assert "past" not in phrases_of(told(*decision))


@pytest.mark.parametrize(
    ("decision", "wrong"),
    [
        (("jwEAANs/EAQgAA", "53", "bar/22 15/10", "bar/20 15/12"), "block"),
        (("3HsDBgDLNg0AHA", "31", "9/8 9/6", "8/4"), "block"),
        (("d/YWAACz3UADQA", "33", "bar/22 13/7 13/10", "bar/22 13/7 6/3"), "keep_prime"),
        (("57cTAABmzjEEGA", "42", "11/5", "11/7 8/6"), "slot"),
        (("s90dAABndoQBGA", "21", "13/12 6/4", "13/10"), "slot"),
    ],
)
def test_blocks_primes_and_slots_need_a_checker_to_block(decision, wrong):
    assert wrong not in phrases_of(told(*decision))


def test_without_a_checker_behind_it_a_prime_is_a_home_board():
    it = told("d/YWAACz3UADQA", "33", "bar/22 13/7 13/10", "bar/22 13/7 6/3")
    assert it.sentences[0] == "Keeps the 6 point."


@pytest.mark.parametrize(
    ("language", "first"),
    [
        ("en", "Brings 2 more checkers out of the opponent's home board and ends the contact."),
        ("de", "Bringt 2 Steine mehr aus dem gegnerischen Heimfeld und beendet den Kontakt."),
    ],
)
def test_escaping_comes_before_the_midpoint(language, first):
    it = told("szusAQDcOweAQA", "66", "bar/13 19/13 7/1", "bar/19 7/1(3)", language=language)
    assert it.sentences[0] == first


@pytest.mark.parametrize(
    ("language", "first"),
    [
        ("en", "Brings a back checker out to the {} point."),
        ("de", "Bringt einen hinteren Stein auf den {}-Punkt heraus."),
    ],
)
def test_only_the_checkers_that_reach_a_point_are_counted_there(language, first):
    it = told("cHcPAkDM3gKABw", "65", "21/15 21/16", "8/2 7/2", language=language)
    assert {first.format(15), first.format(16)} <= set(it.sentences)


def test_a_checker_that_runs_on_is_not_two():
    it = told("s3MOKACcO8cAAg", "66", "20/2 8/2", "20/8 11/5(2)")
    assert "Runs a back checker on to the 2 point." in it.sentences


@pytest.mark.parametrize(
    ("language", "first"),
    [("en", "Keeps 2 more checkers on the 6 point."), ("de", "Behält 2 weitere Steine auf dem 6-Punkt.")],
)
def test_two_more_checkers_are_not_one(language, first):
    assert told("zt0DAIDX6wAUAA", "22", "17/11 16/14", "6/2(2)", language=language).sentences[0] == first


def test_passing_is_a_merit_where_it_ends_the_contact():
    it = told("xuY4BwCTnTkABg", "55", "21/11(2)", "21/16(2) 10/5 6/1")
    assert it.sentences[0] == "Gets 2 more checkers past the opponent's rearmost checker."


def test_a_blot_that_only_moves_is_no_merit():
    it = told("sGfwATDgc/ABMA", "21", "24/23 13/11", "13/10", MatchState(3, 2, 1))
    assert "no_blot" not in phrases_of(it)


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("en", "The score favours 24/14: gammons count for nothing here."),
        ("de", "Der Spielstand spricht für 24/14: Gammons zählen hier nicht."),
    ],
)
def test_gammons_count_for_nothing_at_double_match_point(language, wanted):
    state = MatchState(length=5, own_score=4, opponent_score=4)
    it = told("4HPwATDgc/ABMA", "64", "24/14", "8/2 6/2", state, language)
    assert wanted in it.sentences


@pytest.mark.parametrize(
    ("state", "has_cube"),
    [
        (MatchState(length=5, own_score=4, opponent_score=2, crawford=True), False),
        (MatchState(length=5, own_score=4, opponent_score=2), True),
        (CubelessMatchState(length=5, own_score=1), False),
        # Nobody can use this cube, but the game is worth twice as much.
        (MatchState(length=5, own_score=3, opponent_score=3, cube=2, cube_owner="me"), True),
    ],
)
def test_a_cube_is_named_only_if_there_is_one(state, has_cube):
    for language, cube in (("en", "cube"), ("de", "Doppler")):
        it = told("4HPwATDgc/ABMA", "62", "24/18 13/11", "24/22 24/18", state, language)
        (said,) = (reason.sentence for reason in it.reasons if reason.concept == SCORE_STEP)
        (line,) = (
            line for line in it.detailed_lines if " ohne Doppler." in line or " cubeless money" in line
        )
        assert (cube in said) == (cube in line.partition(":")[0]) == has_cube


def test_gammons_count_for_a_player_who_soon_doubles():
    """Behind after the Crawford game: at 3-away, a gammon wins the match with the cube at 2."""
    state = MatchState(length=5, own_score=2, opponent_score=4)
    it = told("mGfwAUHbzkQAIQ", "42", "11/5*", "24/18", state)
    assert "Score and cube favour 24/18." in it.sentences


def test_timing_counts_until_a_point_breaks_or_a_back_checker_moves():
    decision = "bNsGAQbKnsEANA", "33", "13/7(2)", "13/10(2) 6/3(2)"
    assert told(*decision).sentences[0] == (
        "Has 10 pips to play before a point breaks or a back checker moves, instead of 2."
    )
    assert told(*decision, language="de").sentences[0] == (
        "Kann noch 10 Pips ziehen, bevor ein Punkt bricht oder ein hinterer Stein zieht, statt 2."
    )


@pytest.mark.parametrize(
    ("language", "end"), [("en", "a difference of 0.002."), ("de", "ein Unterschied von 0,002.")]
)
def test_every_difference_is_that_of_the_equities_shown(language, end):
    assert difference_shown(0.0244, 0.0216) == 0.002
    it = told("4HPwATDgc/ABMA", "64", "8/2 6/2", "24/14", MatchState(length=3), language)
    # The difference of 0.0028 would round to 0.003, but the equities shown are 0.024 and 0.022.
    it = replace(it, evidence=replace(it.evidence, cubeful=(0.0244, 0.0216)))
    assert it.evidence._compared("rollout", it.evidence.cubeful).endswith(end)


STATES = (
    MatchState(),
    MatchState(jacoby=True),
    MatchState(cube=2, cube_owner="me"),
    MatchState(cube=4, cube_owner="opponent"),
    MatchState(length=7, own_score=2, opponent_score=4),
    MatchState(length=7, cube=2),
    MatchState(length=3, own_score=1, opponent_score=2, crawford=True),
    MatchState(length=5, own_score=4, opponent_score=4),
    MatchState(length=1),
)


@pytest.mark.parametrize("state", STATES, ids=describe_score)
def test_the_score_is_described_in_german(state):
    german = phrases("de").score(state)
    assert german
    assert not {"cube", "game", "point", "yours", "theirs", "rule", "centre"} & set(german.split())


def test_the_english_words_of_a_score_are_those_of_the_phrase_file():
    assert phrases()._table["match"] == SCORE_WORDS


def test_the_score_in_german():
    state = MatchState(length=3, own_score=1, opponent_score=2, crawford=True)
    assert phrases("de").score(state) == "2-away 1-away, Crawford-Spiel"


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        pytest.param(
            ("XGID=-a-aABCBCB--bB---cae-b----:0:0:1:41:0:0:0:0:10", "8/4 6/5", "7/3* 4/3"),
            "Does not hit on the 3 point but makes the 4 point for a six-point prime.",
            id="the opponent's midpoint is no anchor",
        ),
        pytest.param(
            ("XGID=-b--BBD-C-A-cC---c-e-b----:0:0:1:63:0:0:0:0:10", "13/7 10/7", "10/4 8/5"),
            "Makes the 7 point for a five-point prime.",
            id="the opponent still has checkers to bring home",
        ),
        pytest.param(
            ("XGID=--B---DaB---cE---cce----B-:0:0:1:51:0:0:0:3:10", "13/7*", "6/1 2/1"),
            "The doubling cube favours 13/7*: after 6/1 2/1, the opponent doubles and you have to pass.",
            id="the opponent cashes",
        ),
        pytest.param(
            ("XGID=-AA-A-A---------------ba--:0:0:1:21:0:0:0:0:10", "2/off 1/off", "4/3 2/off"),
            "After either play, the opponent doubles and you have to pass.",
            id="after either play",
        ),
    ],
)
def test_a_strong_player_would_say(decision, said):
    assert said in read(*decision).sentences


def test_two_checkers_on_the_bar_are_not_freed_by_one_roll():
    """8/2* puts a second checker on the bar: no roll plays both dice with one of them."""
    it = told("mOfgBEiYr4OAIQ", "62", "13/7 6/4", "8/2* 6/4")
    assert "Makes the bar point." in it.sentences
    assert not {"contain", "bar_point_contains", "block_contains"} & phrases_of(it)


def test_a_landing_spot_needs_a_checker_to_land():
    """20/14(2) leaves no checker behind the 14 point."""
    it = told("mOfgAVCY5+ABAw", "66", "13/1*(2)", "20/14(2) 13/7(2)")
    assert "20/14(2) 13/7(2) brings 2 more back checkers out to the 14 point." in it.sentences


@pytest.mark.parametrize(
    "decision", [("sG3kyACzOwAAAQ", "53", "5/2", "4/1"), ("3N02AAC2uwMAMA", "32", "6/1", "6/3 4/2")]
)
def test_a_checker_is_not_kept_in_play_where_both_plays_bury_one(decision):
    assert "in_play" not in phrases_of(told(*decision))


def test_a_longer_prime_is_made_not_kept():
    position, roll = Position.from_id("t3cAACy4bTYAAw"), (2, 2)
    two = [find_play(text, legal_plays(position, roll)) for text in ("20/16 10/8(2)", "7/3(2)")]
    phrases_said = phrases_of(explain_play(load_static(PLAYER), position, roll, *two))
    assert "prime" in phrases_said
    assert "keep_prime" not in phrases_said


def test_a_prime_that_a_play_breaks_down_is_not_kept_whole():
    """10/9 10/7 gives up the rear end of a six-point prime."""
    said = [one.sentence for one in told("2G6DATBo2zYADA", "31", "8/4", "10/9 10/7").reasons]
    assert any("keeps a five-point prime" in sentence for sentence in said)


def test_a_single_shot_is_no_reason():
    it = read("XGID=-a-a--E-C---eE---c-e----B-:0:0:1:55:0:0:0:0:10", "8/3*(2) 6/1*(2)", "13/3*(2)")
    assert "no_shot" not in phrases_of(it)


def test_giving_up_the_midpoint_gains_no_timing():
    it = read("XGID=-b--BBBBBA--bB---bbcbb--B-:0:0:1:61:0:0:0:0:10", "24/23 9/3", "24/23 13/7")
    assert "timing" not in phrases_of(it)


def test_after_the_crawford_game_an_explanation_says_so():
    state = MatchState(length=7, own_score=5, opponent_score=6)
    for language, said in (("en", describe_score(state)), ("de", "2-away 1-away, Post-Crawford, Doppler")):
        assert phrases(language).score(state).startswith(said)


def test_plays_that_the_score_makes_equal():
    """A lost gammon loses the match, and both plays lose one."""
    state = MatchState(length=5, opponent_score=3, cube=2, cube_owner="opponent")
    it = told("yw0AAGB/FhUAAA", "52", "14/12 13/8", "13/8 12/10", state, player="motif-v1")
    assert it.difference == pytest.approx(0, abs=5e-4)
    assert "score_equal" in phrases_of(it)
    assert sum(reason.contribution for reason in it.reasons) == pytest.approx(it.difference, abs=1e-6)
