"""Match analyses, compared with plain loops over plays and rolls, and with planted errors."""

import re
from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.match import review
from motif.analysis.match.decision_errors import (
    CLOSE,
    MISTAKE_KINDS,
    judge_cube,
    judge_plays,
    roll_luck,
    valued_state,
)
from motif.analysis.match.decisions import match_decisions, rating
from motif.analysis.match.match_analysis import analyse_match
from motif.analysis.match.record_walk import PlayedRoll, unit_of, walk
from motif.analysis.match.review import Review, ReviewedCube
from motif.board.game_record import (
    NO_CUBE_TAG,
    CubeAction,
    GameRecord,
    GameResult,
    MatchRecord,
    Turn,
    jacoby_rule,
)
from motif.board.mat_file import parse_mat
from motif.board.match_state import MatchState
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.doubling import cube_decision
from motif.evaluators import Probabilities, load_evaluator
from motif.players.ranking import rank_plays
from motif.runtime.errors import RecordError, SettingError
from tests.analysis import match_analysis_oracle as oracle
from tests.analysis.match_analysis_oracle import PipsEvaluator
from tests.board.test_mat_file import played

MATCH = """\
 3 point match

 Game 1
 Ann : 0                    Bob : 0
  1) 31: 8/5 6/5             65: 24/18 18/13
  2) 44: 24/20 24/20 13/9 13/9   63: 24/18 13/10
  3)  Doubles => 2           Takes
  4) 52: 13/8 6/4            21: 13/11 10/9
      Wins 2 points

 Game 2
 Ann : 2                    Bob : 0
  1)                         43: 24/20 13/10
  2) 55: 8/3 8/3 6/1* 6/1    61:
                              Wins 1 point

 Game 3
 Ann : 2                    Bob : 1
  1) 62: 24/18 13/11          Doubles => 2
  2)  Drops
                              Wins 1 point
"""


@pytest.fixture(scope="module")
def match() -> MatchRecord:
    record = parse_mat(MATCH)
    assert [game.result.winner for game in record.games] == [0, 1, 1]
    return record


@pytest.mark.parametrize("length", [0, 3])
def test_the_luck_of_an_unfinished_game_is_not_subtracted(match, length):
    first, second = match.games[:2]
    record = replace(match, length=length, games=(first, replace(second, result=None)))
    alone = analyse_match(replace(record, games=(first,)), load_evaluator("bras"), worst=0)
    both = analyse_match(record, load_evaluator("bras"), worst=0)
    for one, another in zip(alone.players, both.players, strict=True):
        assert another.result == one.result
        assert another.luck_adjusted == pytest.approx(one.luck_adjusted)
        assert another.luck.result != pytest.approx(one.luck.result)


def swapped(record: MatchRecord) -> MatchRecord:
    """The same games with the players in reverse order."""

    def turned(action):
        return replace(action, player=1 - action.player)

    games = tuple(
        GameRecord(
            game.score[::-1],
            tuple(map(turned, game.actions)),
            game.result and replace(game.result, winner=1 - game.result.winner),
        )
        for game in record.games
    )
    return replace(record, players=record.players[::-1], games=games)


def test_where_doubling_was_possible(match):
    walked = walk(match)
    assert [(roll.game, roll.move, roll.player) for roll in walked.rolls] == [
        (1, 1, 0), (1, 1, 1), (1, 2, 0), (1, 2, 1), (1, 4, 0), (1, 4, 1),
        (2, 1, 1), (2, 2, 0), (2, 2, 1), (3, 1, 0),
    ]  # fmt: skip
    assert [roll.opening for roll in walked.rolls] == [True] + [False] * 5 + [True, False, False, True]
    # No double on the first roll, in the Crawford game (2), or by Bob while Ann owns the cube;
    # the cube at 2 is dead for Ann, who would win the match with it, but Bob owns it anyway.
    seen = [(one.game, one.move, one.player, one.doubled, one.answer) for one in walked.chances]
    assert seen == [
        (1, 1, 1, False, None),
        (1, 2, 0, False, None),
        (1, 2, 1, False, None),
        (1, 3, 0, True, "take"),
        (1, 4, 1, False, None),
        (3, 1, 1, True, "drop"),
    ]
    state = walked.rolls[5].state
    assert (state.cube, state.cube_owner, state.dice, state.own_score) == (2, "me", (2, 1), 0)
    assert [roll.state.crawford for roll in walked.rolls] == [False] * 6 + [True] * 3 + [False]


def test_no_crawford_game_where_somebody_doubles_at_match_point():
    start = parse_mat(MATCH).games[2]
    record = MatchRecord(("Ann", "Bob"), 3, (replace(start, score=(2, 1)),))
    assert not any(roll.state.crawford for roll in walk(record).rolls)
    alone = replace(start, actions=start.actions[:1], result=None)
    assert walk(MatchRecord(("Ann", "Bob"), 3, (alone,))).rolls[0].state.crawford


@pytest.mark.parametrize(
    "later", [[(1, "drop")], [(1, "raccoon"), (0, "take")], [(1, "raccoon"), (0, "drop")]]
)
def test_an_answer_to_a_beaver_is_no_answer_to_the_double(later):
    actions = (*walk_start(), CubeAction(1, "double"), CubeAction(0, "beaver"))
    actions += tuple(CubeAction(*one) for one in later)
    walked = walk(MatchRecord(("Ann", "Bob"), 0, (GameRecord((0, 0), actions),)))
    assert [one.answer for one in walked.chances if one.doubled] == ["beaver"]


def test_beavers_are_takes_and_the_cube_stays():
    actions = (*walk_start(), CubeAction(1, "double"), CubeAction(0, "beaver"))
    turn = Turn(1, (2, 1), None)
    walked = walk(MatchRecord(("Ann", "Bob"), 0, (GameRecord((0, 0), (*actions, turn)),)))
    assert [(one.doubled, one.answer) for one in walked.chances] == [(True, "beaver")]
    assert (walked.rolls[-1].state.cube, walked.rolls[-1].state.cube_owner) == (4, "opponent")
    acts = judge_cube(walked.chances, PipsEvaluator())
    assert [act.done for act in acts] == ["double", "take"]
    assert [(one.kind, one.done) for one in match_decisions((), acts)] == [
        ("double", "double"),
        ("take", "take"),
    ]


def walk_start():
    return parse_mat(MATCH).games[2].actions[:1]


def test_the_jacoby_rule_is_read_from_tags_and_results():
    assert not jacoby_rule(played(3))
    assert jacoby_rule(replace(played(3), tags=(("Jacoby", "On"),)))
    gammon = played(5, gammon=True)
    assert not jacoby_rule(gammon)
    game = gammon.games[0]
    counted_once = replace(gammon, games=(replace(game, result=GameResult(game.result.winner, 1)),))
    assert jacoby_rule(counted_once)
    assert not jacoby_rule(replace(counted_once, length=5))
    assert all(roll.state.jacoby for roll in walk(counted_once).rolls)
    assert not any(roll.state.jacoby for roll in walk(counted_once, jacoby=False).rolls)


@pytest.mark.parametrize(
    "state",
    [
        MatchState(),
        MatchState(cube=4, cube_owner="me"),
        MatchState(jacoby=True),
        MatchState(jacoby=True, cube=2, cube_owner="opponent"),
        MatchState(length=7),
        MatchState(length=7, own_score=4, opponent_score=5, cube=2, cube_owner="opponent"),
        MatchState(length=5, own_score=4, opponent_score=2, crawford=True),
        MatchState(length=5, own_score=4, opponent_score=2),
        MatchState(length=5, own_score=2, opponent_score=4),
        MatchState(length=3, own_score=2, opponent_score=2),
    ],
)
def test_errors_are_those_of_plain_loops(state):
    rolls = [
        replace(roll, state=replace(state, dice=roll.roll))
        for seed in (1, 2, 4)
        for roll in walk(played(seed)).rolls
        if roll.play is not None
    ][5::9]
    assert unit_of(state) == pytest.approx(oracle.unit(state))
    judged = judge_plays(rolls, PipsEvaluator(), cube=False)
    for roll, found in zip(rolls, judged, strict=True):
        lost, legal = oracle.error(roll)
        assert (found.error, found.legal) == (pytest.approx(lost, abs=1e-6), legal)
    assert sum(found.error > 0.01 for found in judged) > 3


@pytest.mark.parametrize("state", [MatchState(), MatchState(length=5, own_score=3, opponent_score=1)])
def test_luck_is_the_value_of_the_best_play_less_the_mean(state):
    position = walk(played(2)).rolls[9].position
    weights = {(high, low): 1 + (high != low) for high in range(1, 7) for low in range(1, high + 1)}
    rolls = [rolled(position, roll, state) for roll in weights]
    luck = roll_luck(rolls, PipsEvaluator(), cube=False)
    by_hand = np.array([oracle.best(position, roll, state) for roll in weights])
    counts = np.array(list(weights.values()))
    assert luck == pytest.approx(by_hand - (by_hand * counts).sum() / 36, abs=1e-6)
    assert (luck * counts).sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("state", [MatchState(), MatchState(length=5, own_score=3, opponent_score=1)])
def test_the_first_roll_is_measured_against_the_openings_of_both(state):
    start = Position.start()
    dice = [(high, low) for high in range(2, 7) for low in range(1, high)]
    own, theirs = (
        roll_luck([rolled(start, roll, one, True) for roll in dice], PipsEvaluator(), cube=False)
        for one in (state, state.switch_sides())
    )
    assert own.sum() == pytest.approx(theirs.sum())
    values = [oracle.best(start, roll, state) for roll in dice]
    others = [oracle.best(start, roll, state.switch_sides()) for roll in dice]
    assert own == pytest.approx(np.array(values) - (sum(values) - sum(others)) / 30, abs=1e-6)


def rolled(position, roll, state, opening=False):
    return PlayedRoll(1, 1, 0, position, replace(state, dice=roll), roll, None, opening)


def test_cube_decisions_cost_what_the_cube_says(match):
    walked = walk(match)
    acts = judge_cube(walked.chances, PipsEvaluator())
    assert [(act.player, act.done) for act in acts] == [
        (1, "no double"), (0, "no double"), (1, "no double"), (0, "double"), (1, "take"), (1, "no double"),
        (1, "double"), (0, "pass"),
    ]  # fmt: skip
    for act in acts:
        position, state = act.chance.position, act.chance.state
        row = PipsEvaluator().evaluate_many(position.board[None])[0]
        found = cube_decision(Probabilities(*map(float, row)), state, position)
        doubled = min(found.double_take, found.double_pass)
        costs = {
            "no double": max(found.no_double, doubled) - found.no_double,
            "double": max(found.no_double, doubled) - doubled,
            "take": found.double_take - doubled,
            "pass": found.double_pass - doubled,
        }
        assert act.error == pytest.approx(costs[act.done], abs=1e-9)
        assert act.chance.unit == pytest.approx(oracle.unit(state))
        close = act.done != "no double" or found.no_double - doubled < CLOSE
        assert act.counts == close


class Sure(PipsEvaluator):
    """Always gives the player on roll the same win probability, without gammons."""

    def __init__(self, win):
        self._win = win

    def evaluate_many(self, positions):
        return np.array([[self._win, 0, 0, 0, 0]] * len(positions), np.float32)


def doubled(actions: str) -> MatchRecord:
    """Bob's cube actions and Ann's answers after a roll by Ann, then a roll by Bob unless Ann passed."""
    turned = [CubeAction(player, kind) for player, kind in zip((1, 0), actions.split(), strict=False)]
    roll = [] if actions in ("double", "double drop") else [Turn(1, (2, 1), None)]
    return MatchRecord(("Ann", "Bob"), 0, (GameRecord((0, 0), (*walk_start(), *turned, *roll)),))


@pytest.mark.parametrize(
    ("win", "actions", "mistakes"),
    [
        (0.5, "double take", ["wrong double", None]),
        (0.73, "double take", [None, None]),
        (0.9, "double take", [None, "wrong take"]),
        (0.9, "double drop", [None, None]),
        (0.73, "double drop", [None, "wrong pass"]),
        (0.9, "", ["missed double"]),
        (0.5, "", [None]),
    ],
)
def test_mistakes_with_the_cube_for_money(win, actions, mistakes):
    """A double is right from about .70, a take up to .786 (Janowski, efficiency .68)."""
    record = doubled(actions)
    acts = judge_cube(walk(record).chances, Sure(win))
    assert [act.mistake for act in acts] == mistakes
    found = analyse_match(record, Sure(win))
    counts = {
        kind: player.mistakes[kind].count
        for player in found.players
        for kind in MISTAKE_KINDS
        if player.mistakes[kind].count
    }
    assert counts == dict.fromkeys([kind for kind in mistakes if kind], 1)
    assert [cube.act.mistake for cube in found.cubes] == [kind for kind in mistakes if kind]
    # A double that no player would have made is not a decision.
    assert found.players[1].cube.decisions == (win != 0.5 or bool(actions))


@pytest.mark.parametrize(
    ("win", "actions", "lines"),
    [
        (0.73, "double take", ["*double, take +0.", " no double +0. -0.", " double, pass +1."]),
        # A wrong pass is an error of the opponent, not a gain.
        (0.73, "double drop", [" double, take +0.", " no double +0. -0.", "*double, pass +1."]),
        (0.73, "", [" double, take +0.", "*no double +0. -0.", " double, pass +1."]),
        (0.9, "double drop", ["*double, pass +1.", " no double +0. -0.", " double, take +1."]),
        (0.9, "double take", [" double, pass +1.", " no double +0. -0.", "*double, take +1."]),
        (0.5, "double take", [" no double +0.", "*double, take -0. -0.", " double, pass +1."]),
        (0.73, "double", [" double, take +0.", " no double +0. -0.", " double, pass +1."]),
    ],
)
def test_the_lines_of_a_double(win, actions, lines):
    (decision, *_) = (one for one in analyse_match(doubled(actions), Sure(win)).decisions if not one.is_play)
    shown = [line.rpartition("  (")[0] for line in decision.candidate_lines()]
    found = [re.sub(r"(\d\.)\d+", r"\1", re.sub(r"\d\. ", "", line, count=1)) for line in shown]
    assert [" ".join(line.split("  ")) for line in found] == lines
    assert [line[1] for line in shown] == ["1", "2", "3"]


def test_each_cube_action_of_a_review_has_its_own_judgement(match, monkeypatch):
    def judged(chances, *_, **__):
        acts = judge_cube(chances, PipsEvaluator())
        return [replace(act, decision=replace(act.decision, action=f"after {act.done}")) for act in acts]

    monkeypatch.setattr(review, "judge_cube", judged)
    parts = Review(match, PipsEvaluator()).parts()
    shown = [one for part in parts for one in part if isinstance(one, ReviewedCube)]
    assert {"double", "take", "pass"} <= {one.decision.done for one in shown}
    assert all(one.action == f"after {one.decision.done}" for one in shown)


@pytest.mark.parametrize("tags", [(), (NO_CUBE_TAG,)])
def test_a_review_uses_the_cube_as_the_analysis_does(match, tags):
    record = replace(match, tags=tags)
    found = Review(record, PipsEvaluator())
    shown = [one for part in found.parts() for one in part]
    analysis = analyse_match(record, PipsEvaluator())
    assert any(isinstance(one, ReviewedCube) for one in shown) == (not tags)
    rolls = [one for one in shown if not isinstance(one, ReviewedCube)]
    assert [one.decision for one in rolls] == [one for one in analysis.decisions if one.is_play]
    assert [one.luck for one in rolls] == list(analysis.lucks)
    for own, other in zip(found.players(), analysis.to_dict()["players"], strict=True):
        assert own["cube"]["decisions"] == other["cube"]["decisions"]


@pytest.mark.parametrize("answer", ["beaver", "take"])
def test_a_review_may_allow_beavers_which_a_record_does_not_contain(answer):
    def reviewed(**rules):
        found = Review(doubled(f"double {answer}"), Sure(0.4), **rules)
        acts = [one for part in found.parts() for one in found.records(part) if not one["is_play"]]
        return {one["kind"]: one for one in acts}

    without, allowed = reviewed(), reviewed(beavers=True)
    assert (without["take"]["done"], allowed["take"]["done"]) == ("take", answer)
    equities = {one["done"]: one["equity"] for one in allowed["take"]["candidates"]}
    assert list(equities) == ["beaver", "take", "pass"]
    assert equities["beaver"] == pytest.approx(2 * equities["take"], abs=0.002)
    assert allowed["take"]["error"] == pytest.approx(1000 * (equities["beaver"] - equities[answer]))
    assert allowed["take"]["best"] == "beaver"
    doubles = {one["done"]: one["equity"] for one in allowed["double"]["candidates"]}
    lost = doubles["no double"] - doubles["double, beaver"]
    assert allowed["double"]["error"] == pytest.approx(1000 * lost)
    assert allowed["double"]["error"] > without["double"]["error"] + 100
    assert parse_position(allowed["double"]["id"])[1].beavers


def test_totals_are_sums_over_decisions(match):
    found = analyse_match(match, PipsEvaluator())
    walked = walk(match)
    acts = judge_cube(walked.chances, PipsEvaluator())
    judged = judge_plays(walked.rolls, PipsEvaluator())
    for number, player in enumerate(found.players):
        assert player.name == match.players[number]
        own = [
            (one.error, one.legal, oracle.unit(roll.state))
            for roll, one in zip(walked.rolls, judged, strict=True)
            if roll.player == number
        ]
        free = [(lost, unit) for lost, legal, unit in own if legal > 1]
        assert player.forced == len(own) - len(free)
        assert player.chequer.decisions == len(free)
        assert player.chequer.total == pytest.approx(sum(lost for lost, _ in free), abs=1e-6)
        assert player.chequer.cost == pytest.approx(sum(lost * unit for lost, unit in free), abs=1e-6)
        mean = sum(lost for lost, _ in free) / len(free)
        assert player.chequer.rate == pytest.approx(1000 * mean, abs=1e-3)
        counted = [act for act in acts if act.player == number and act.counts]
        assert player.cube.decisions == len(counted)
        assert player.cube.total == pytest.approx(sum(act.error for act in counted))
        both = (player.chequer, player.cube)
        assert player.overall.decisions == sum(part.decisions for part in both)
        assert player.overall.cost == pytest.approx(sum(part.cost for part in both))
        assert player.overall.blunders == sum(part.blunders for part in both)
        assert player.luck.count == len(own)
        assert tuple(player.mistakes) == MISTAKE_KINDS
        assert sum(one.total for one in player.mistakes.values()) == pytest.approx(player.cube.total)


def test_the_cube_can_be_left_out(match):
    found, without = (analyse_match(match, PipsEvaluator(), cube=cube) for cube in (True, False))
    for player, other in zip(found.players, without.players, strict=True):
        assert other.chequer.decisions == player.chequer.decisions
        assert (other.overall, other.cube.decisions) == (other.chequer, 0)
    own = [oracle.error(roll)[0] for roll in walk(match).rolls if roll.player == 0]
    assert without.players[0].chequer.total == pytest.approx(sum(own), abs=1e-6)
    assert without.cubes == ()
    recorded = analyse_match(replace(match, tags=(NO_CUBE_TAG,)), PipsEvaluator())
    assert recorded.to_dict() == without.to_dict()


def test_swapped_names_swap_the_ratings(match):
    money = replace(played(7), games=played(7).games[:1])
    for record in (match, replace(money, tags=(("Jacoby", "On"),))):
        found, other = (analyse_match(one, PipsEvaluator()) for one in (record, swapped(record)))
        assert found.score == other.score[::-1]
        for mine, same in zip(found.players, reversed(other.players), strict=True):
            for one, two in zip(figures(mine.to_dict()), figures(same.to_dict()), strict=True):
                assert one == pytest.approx(two, abs=1e-9)


def figures(found):
    """All numbers of a nested dictionary, in order."""
    return [
        one for value in found.values() for one in (figures(value) if isinstance(value, dict) else [value])
    ]


def test_the_worst_are_those_that_cost_most():
    found, every = (analyse_match(played(4), PipsEvaluator(), cube=False, worst=count) for count in (5, 1000))
    assert found.plays == every.plays[:5]
    errors = [play.error for play in every.plays]
    assert errors == sorted(errors, reverse=True)
    assert min(errors) > 0
    assert sum(errors) == pytest.approx(sum(player.chequer.total for player in every.players))
    first = found.plays[0]
    state = first.moment.state
    assert oracle.value(first.better, state) - oracle.value(first.played, state) == pytest.approx(
        first.error, abs=1e-6
    )
    assert first.why is None
    every = analyse_match(played(4), PipsEvaluator(), worst=1000)
    cubes = [cube.act.error for cube in every.cubes]
    assert cubes == sorted(cubes, reverse=True)
    assert sum(cubes) == pytest.approx(sum(player.cube.total for player in every.players))


def test_equally_good_plays_are_listed_as_in_hints():
    """After the Crawford game every play of the leader is worth -1: the opponent doubles out of reach."""
    evaluator = load_evaluator("motif-v1")
    state = MatchState(length=3, own_score=2, opponent_score=1)
    rolls = [replace(roll, state=state) for roll in walk(played(4)).rolls if roll.play is not None][:30]
    for judged in judge_plays(rolls, evaluator):
        ranking = rank_plays(judged.roll.position, judged.roll.roll, evaluator, valued_state(state))
        best = [one.play.notation for one in ranking][: len(judged.candidates)]
        listed = [one.done for one in judged.candidates]
        assert listed[:-1] == best[:-1]


def test_who_plays_the_best_plays_makes_no_errors():
    evaluator = load_evaluator("bras")
    record = played(8)
    best = []
    for game in record.games:
        for roll in walk(MatchRecord(record.players, 0, (game,))).rolls:
            if roll.play is not None:
                judged = judge_plays([roll], evaluator)[0]
                plays = oracle.legal_plays(roll.position, roll.roll)
                best.append(replace(roll, play=plays[judged.best]))
    assert [one.error for one in judge_plays(best, evaluator)] == [0.0] * len(best)


def test_plays_are_explained_by_an_evaluator_with_terms(match):
    found = analyse_match(match, load_evaluator("bras"))
    assert found.plays
    assert all(play.why is not None for play in found.plays)
    told = [play for play in found.plays if play.why.sentences]
    assert told
    assert f"{told[0].better.notation} is better than {told[0].played.notation}" in told[0].why.summary


def test_lookahead_gives_the_same_for_any_number_of_workers(match):
    evaluator = load_evaluator("pubeval@1")
    found = analyse_match(match, evaluator, jobs=1)
    assert found.analyst == "pubeval@1"
    assert analyse_match(match, evaluator, jobs=2) == found


@pytest.mark.parametrize(
    ("rate", "word"),
    [(0, "supernatural"), (1.99, "supernatural"), (2, "world class"), (7.9, "expert"), (35, "awful")],
)
def test_ratings(rate, word):
    assert rating(rate) == word


def test_a_game_of_nothing_but_a_roll_has_no_rating():
    record = MatchRecord(("Ann", "Bob"), 0, (GameRecord((0, 0), (Turn(0, (3, 1), None),)),))
    first, second = analyse_match(record, PipsEvaluator()).players
    assert (first.rating, first.overall.rate, first.overall.se) == (None, None, None)
    assert (first.luck.count, second.luck.count) == (1, 0)


def test_records_that_cannot_be_analysed():
    evaluator = PipsEvaluator()
    with pytest.raises(RecordError, match="has no roll"):
        analyse_match(MatchRecord(("Ann", "Bob")), evaluator)
    late = MatchRecord(("Ann", "Bob"), 3, (GameRecord((3, 0), walk_start()),))
    with pytest.raises(RecordError, match=r"game 1: .*the match is over"):
        analyse_match(late, evaluator)
    crawford = GameRecord((2, 1), (*walk_start(), CubeAction(1, "double")), crawford=True)
    not_there = r"^game 1, move 1: a double is not allowed in the Crawford game$"
    with pytest.raises(RecordError, match=not_there):
        analyse_match(MatchRecord(("Ann", "Bob"), 3, (crawford,)), evaluator)
    turn = walk_start()[0]
    illegal = replace(turn, roll=(6, 5))
    with pytest.raises(RecordError, match="game 1, move 1: illegal play"):
        analyse_match(MatchRecord(("Ann", "Bob"), 0, (GameRecord((0, 0), (illegal,)),)), evaluator)
    with pytest.raises(SettingError, match="-1"):
        analyse_match(MatchRecord(("Ann", "Bob"), 0, (GameRecord((0, 0), (turn,)),)), evaluator, worst=-1)
