"""Stored games: replayed from their events, continued, imported from files."""

import pytest

from motif.board.game_record import GameRecord, MatchRecord
from motif.board.mat_file import mat_text, parse_mat
from motif.board.parsing import parse_position
from motif.rollouts.games import SeededDice
from motif.runtime.errors import MotifError, PlayerError, RecordError, SettingError
from motif.serve.game_view import objection_view
from motif.session.advisor import default_advisor
from motif.session.kept_game import (
    GameSettings,
    KeptGame,
    check_opponent,
    check_stored_opponent,
    settings_to_continue,
)
from motif.session.session import SessionRules
from motif.session.tutor import decision_lines

DAY = "2026-11-22"
BEAVERED = "XGID=--B--BC-Ca--bB--Abbbf-B---:0:0:1:00:0:0:2:0:10"
"""A wrong double, which the opponent should beaver."""


MONEY = SessionRules()


def begun(rules=MONEY, seed=1, opponent="pubeval") -> KeptGame:
    game = KeptGame(GameSettings(opponent, seed, DAY, rules))
    game.decide("next")
    game.go_on()
    return game


def play_on(game: KeptGame, decisions: int = 10_000, answer: str = "take") -> None:
    """Make simple decisions, a number of times or to the end of the game."""
    while game.asks not in ("next", "nothing") and decisions:
        decisions -= 1
        if game.asks == "play":
            game.decide("play", game.session.plays[0].notation)
        else:
            game.decide("roll" if game.asks in ("roll", "raccoon") else answer)
        game.go_on()
    assert game.asks != "wait"


def standing(game: KeptGame):
    """The complete visible state of the game."""
    return (
        game.events,
        game.session.record(),
        game.asks,
        game.session.position,
        game.session.roll,
        game.session.state(),
    )


@pytest.mark.parametrize(
    "rules", [SessionRules(jacoby=True), SessionRules(length=3), SessionRules(cube=False)]
)
def test_a_replayed_game_has_the_same_state(rules):
    for decisions in (0, 3, 17, 10_000):
        game = begun(rules, seed=5)
        play_on(game, decisions)
        assert standing(KeptGame(game.settings, game.events)) == standing(game)


def test_dice_are_those_of_the_seed_and_undoing_brings_no_others():
    game = begun(seed=8)
    dice = SeededDice(8)
    assert game.events[0] == ["begin", *dice.opening(0)]
    play_on(game, 6)
    while game.asks != "play":
        play_on(game, 1)
    roll, events = game.session.roll, len(game.events)
    game.decide("play", game.session.plays[-1].notation)
    game.go_on()
    game.decide("undo")
    assert (game.asks, game.session.roll) == ("play", roll)
    assert len(game.events) > events
    play_on(game)
    throws = [event[1:] for event in game.events if event[0] == "roll"]
    rolls = [turn.roll for turn in game.session.record().games[0].actions if hasattr(turn, "roll")]
    assert rolls[1:] == [dice.roll(0, ply) for ply in range(1, len(rolls))]
    assert {tuple(roll) for roll in throws} <= {dice.roll(0, ply) for ply in range(len(rolls) + 1)}


def test_a_match_is_played_to_its_end_with_the_cube():
    game = begun(SessionRules(length=3), seed=2)
    while game.asks != "nothing":
        play_on(game)
        if game.asks == "next":
            game.decide("next")
            game.go_on()
    assert max(game.session.score) >= 3
    with pytest.raises(RecordError, match="is not possible now"):
        game.decide("next")


def test_what_cannot_be_done_is_refused_and_changes_nothing():
    game = begun(seed=8)
    while game.asks != "play":
        play_on(game, 1)
    before = standing(game)
    for word, detail, message in [
        ("roll", "", "is not possible now"),
        ("take", "", "is not possible now"),
        ("next", "", "is not possible now"),
        ("play", "1/off(4)", "legal"),
        ("resign", "everything", "invalid resignation 'everything': it must be single"),
        ("dance", "", "unknown decision 'dance'"),
    ]:
        with pytest.raises(MotifError, match=message):
            game.decide(word, detail)
        assert standing(game) == before


def test_the_tutor_warns_before_large_errors_only():
    game = KeptGame(GameSettings("pubeval", 1, DAY), [["begin", 3, 1]])
    assert game.objection("play", "8/5 6/5", 0.05, default_advisor()) is None
    worst = game.objection("play", "13/10 6/5", 0.05, default_advisor())
    assert worst.better == "8/5 6/5"
    assert worst.cost > 0.05
    assert worst.choice.shown_difference == worst.cost
    assert worst.choice.source == "rollout"
    assert len(game.events) == 1


def test_the_tutor_names_only_the_actions_of_the_player_it_warns():
    game = begun(SessionRules(beavers=True))
    while game.asks != "roll":
        play_on(game, 1)
    game.session._progress.position = parse_position(BEAVERED)[0]
    advisor = default_advisor()
    assert game.objection("roll", "", 0.05, advisor) is None
    doubled = game.objection("double", "", 0.05, advisor)
    assert (doubled.action, doubled.better) == ("double", "no double")
    assert doubled.cube.decision.answer == "beaver"
    lines = decision_lines(doubled.cube.decision)
    starts = ["no double  ", "double, take  ", "double, pass  ", "double, beaver  "]
    assert all(line.strip().startswith(start) for line, start in zip(lines, starts, strict=False))
    view = objection_view(doubled)
    assert view["se"] == view["known"]["se"] == doubled.cube.se > 0


def test_resigning_a_game_that_is_lost_is_accepted():
    game = begun(SessionRules(length=1), seed=3)
    assert game.decide("resign", "single")
    assert game.asks == "nothing"
    assert game.session.score == (0, 1)


def test_a_record_is_gone_on_with_from_either_side():
    game = begun(SessionRules(length=25), seed=4)
    play_on(game)
    game.decide("next")
    game.go_on()
    play_on(game, 5)
    text = mat_text(game.session.record())
    for seat in (0, 1):
        record = parse_mat(text)
        loaded = KeptGame.from_record(record, settings_to_continue(record, "pubeval", 1, DAY, seat))
        assert loaded.session.record().games == game.session.record().games
        assert loaded.settings.name == "You"
        loaded.go_on()
        assert standing(KeptGame(loaded.settings, loaded.events)) == standing(loaded)
        play_on(loaded)
        assert loaded.session.games == 2


def test_resignations_by_the_player_who_is_not_on_roll_are_read():
    moves = "  1) 31: 8/5 6/5               52: 24/22 13/8\n"
    text = f" 3 point match\n\n Game 1\n Ann : 0   Bob : 0\n{moves}      Wins 2 points\n"
    record = parse_mat(text)
    loaded = KeptGame.from_record(record, settings_to_continue(record, "pubeval", 1, DAY, 1))
    assert loaded.session.score == (2, 0)
    assert loaded.asks == "next"


def test_a_record_that_no_session_leads_to_is_refused():
    text = " 3 point match\n\n Game 1\n Ann : 1   Bob : 0\n  1) 31: 8/5 6/5\n"
    record = parse_mat(text)
    with pytest.raises(RecordError, match="game 1 starts at 1-0"):
        KeptGame.from_record(record, settings_to_continue(record, "pubeval", 1, DAY, 0))
    record = MatchRecord(("Ann", "Bob"), 0, (GameRecord(first_cube=2),))
    with pytest.raises(RecordError, match="game 1 begins with an automatic double"):
        KeptGame.from_record(record, settings_to_continue(record, "pubeval", 1, DAY, 0))


def test_a_game_after_an_unfinished_one_is_refused():
    game = "\n Game {}\n Ann : 0   Bob : 0\n  1) 31: 8/5 6/5               52: 24/22 13/8\n"
    record = parse_mat(f" 3 point match\n{game.format(1)}{game.format(2)}")
    with pytest.raises(RecordError, match="game 2 follows an unfinished game"):
        KeptGame.from_record(record, settings_to_continue(record, "pubeval", 1, DAY, 0))


def test_a_match_with_an_illegal_play_is_not_continued():
    text = " 5 point match\n\n Game 1\n Ann : 0   Bob : 0\n  1) 31: 8/5   64: 24/14\n"
    record = parse_mat(text)
    said = r"^game 1, move 1, Ann, 31: 8/5 is illegal: the match can be analysed but not continued$"
    with pytest.raises(RecordError, match=said):
        KeptGame.from_record(record, settings_to_continue(record, "pubeval", 1, DAY, 0))


@pytest.mark.parametrize("name", ["human", "nobody", "runs/a.yaml", "onnx:dir", "random@1", "latest@1@2", ""])
def test_only_built_in_players_are_possible_opponents(name):
    with pytest.raises(PlayerError, match="unknown opponent"):
        check_opponent(name)


@pytest.mark.parametrize("name", ["latest@3", "latest@3:full", "latest@2:full", "pubeval@1:full"])
def test_slow_players_are_opponents_only_in_stored_games(name):
    check_stored_opponent(name)
    with pytest.raises(PlayerError, match="takes too long"):
        check_opponent(name)


@pytest.mark.parametrize("name", ["latest", "latest@2", "pubeval", "random", "best-of-four"])
def test_opponents(name):
    check_opponent(name)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": 5},
        {"day": "x"},
        {"day": None},
        {"seat": True},
        {"rules": {"length": "7"}},
        {"rules": {"luck": True}},
        {"rules": None},
        {"cheat": True},
    ],
)
def test_settings_of_the_wrong_type_are_refused(changes):
    known = GameSettings("pubeval", 1, DAY).to_dict()
    assert GameSettings.from_dict(known) == GameSettings("pubeval", 1, DAY)
    with pytest.raises(SettingError):
        GameSettings.from_dict({**known, **changes})
    with pytest.raises(SettingError, match="a name is missing"):
        GameSettings.from_dict({"opponent": "pubeval"})


def test_names_that_cannot_be():
    for name in ("", " ", "x" * 41, "a\nb", "pubeval"):
        with pytest.raises(SettingError, match="invalid name"):
            GameSettings("pubeval", 1, DAY, name=name)
