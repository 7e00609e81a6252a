"""Sessions of games: their records, undoing, and which resignations are accepted."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.game_record import GameProgress, GameRecord, GameResult, Turn
from motif.board.mat_file import mat_text, parse_mat
from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS
from motif.evaluators.bearoff.race import bearoff_chances
from motif.players import load
from motif.players.resignations import certain_loss, is_accepted, value_of_playing_on
from motif.rollouts.games import SeededDice
from motif.runtime.errors import PlayError, RecordError
from motif.session.session import GameSession, Seat

ANN, BOB = Seat("Ann"), Seat("Bob")


def finish(session: GameSession, seed: int, *, turns: int | None = None) -> None:
    """Play at random to the end of the game, or for a number of turns."""
    chance, dice = random.Random(seed), SeededDice(seed)
    while session.result is None and turns != 0:
        if session.roll is None:
            session.set_dice(dice.roll(session.games, session.ply))
        session.play(chance.choice(session.plays))
        turns = None if turns is None else turns - 1


def begun(seats=(ANN, BOB), dice=(3, 1)) -> GameSession:
    session = GameSession(seats)
    session.begin(dice)
    return session


@pytest.mark.parametrize(("dice", "first"), [((3, 1), 0), ((1, 3), 1), ((6, 5), 0), ((5, 6), 1)])
def test_the_higher_die_begins_and_both_are_played(dice, first):
    session = begun(dice=dice)
    assert (session.on_roll, session.roll) == (first, (max(dice), min(dice)))
    assert session.position == Position.start()
    assert session.plays == legal_plays(Position.start(), dice)


@pytest.mark.parametrize("turns", range(1, 9))
def test_an_interrupted_game_can_be_read(turns, monkeypatch):
    session = begun()
    finish(session, 5, turns=turns)
    if session.roll is None:
        session.set_dice((6, 3))
    apply, before = GameProgress.apply, session.record().games[0].actions

    def interrupted(progress, action):
        apply(progress, action)
        raise KeyboardInterrupt

    monkeypatch.setattr(GameProgress, "apply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.play(session.plays[0])
    monkeypatch.undo()
    (game,) = parse_mat(mat_text(session.record())).games
    assert len(game.actions) == turns + 1
    assert game.actions[:turns] == before[:turns]


def test_an_action_that_is_refused_is_not_recorded(monkeypatch):
    def refused(*_):
        raise RecordError("no")

    session = begun()
    before = session.record(), session.plays
    monkeypatch.setattr(GameProgress, "apply", refused)
    with pytest.raises(RecordError, match="no"):
        session.play(session.plays[0])
    assert (session.record(), session.plays) == before


@pytest.mark.parametrize(
    ("result", "after"), [(None, (2, 1)), (GameResult(0, 4), (6, 1)), (GameResult(1, 3), (2, 4))]
)
def test_the_score_after_a_game(result, after):
    assert GameRecord((2, 1), (), result).score_after == after


def test_equal_dice_start_no_game():
    with pytest.raises(RecordError, match="both players roll again"):
        begun(dice=(4, 4))
    with pytest.raises(PlayError, match="each die must be 1 to 6, not 7"):
        begun(dice=(4, 7))


def test_a_game_in_progress_is_not_begun_again_and_a_roll_is_not_rolled_again():
    session = begun()
    with pytest.raises(RecordError, match="a game is in progress"):
        session.begin((6, 5))
    with pytest.raises(RecordError, match="the roll 31 has not been played yet"):
        session.set_dice((6, 5))
    assert (session.on_roll, session.roll) == (0, (3, 1))


def test_whole_games_are_on_record_and_add_up():
    session = GameSession((ANN, BOB), [("EventDate", "2026.11.20")])
    points = [0, 0]
    for game in range(3):
        session.begin(SeededDice(9).opening(game))
        finish(session, seed=game)
        result = session.result
        assert abs(outcome(session.position)) == result.points
        points[result.winner] += result.points
        assert session.score == tuple(points)
        assert (session.games, session.roll, session.plays) == (game + 1, None, [])
    record = session.record()
    assert record.players == ("Ann", "Bob")
    assert len(record.games) == 3
    assert record.games[0].score == (0, 0)
    assert parse_mat(mat_text(record)) == record


def test_an_unfinished_game_is_on_record():
    session = begun()
    assert session.record().games[0].actions == (Turn(0, (3, 1), None),)
    session.play(session.plays[0])
    record = session.record()
    assert len(record.games[0].actions) == 1
    assert record.games[0].result is None
    session.set_dice((6, 5))
    record = session.record()
    assert record.games[0].actions[1] == Turn(1, (6, 5), None)
    assert parse_mat(mat_text(record)) == record


def test_undo_keeps_the_dice():
    session = begun((ANN, Seat("random", load("random"))))
    first = session.plays[0]
    session.play(first)
    session.set_dice((6, 4))
    session.play(session.plays[0])
    session.set_dice((5, 2))
    session.undo()
    assert (session.on_roll, session.roll, session.ply) == (0, (3, 1), 0)
    assert not session.can_undo
    session.play(session.plays[1])
    assert session.known_roll == (6, 4)
    session.set_dice((1, 1))
    assert session.roll == (6, 4)
    session.play(session.plays[0])
    session.set_dice(session.known_roll)
    assert session.roll == (5, 2)


def test_undo_passes_over_players_and_forced_plays():
    session = begun((ANN, Seat("random", load("random"))))
    dice, chance, chosen = SeededDice(4), random.Random(4), []
    while session.ply < 40:
        if session.roll is None:
            session.set_dice(dice.roll(0, session.ply))
        if session.on_roll == 0 and len(session.plays) > 1:
            chosen.append((session.ply, session.position, session.roll))
        session.play(chance.choice(session.plays))
    assert session.result is None
    assert 10 < len(chosen) <= 20
    while chosen:
        session.undo()
        assert (session.ply, session.position, session.roll) == chosen.pop()
    with pytest.raises(RecordError, match="nothing to undo"):
        session.undo()


def test_undo_all_the_way():
    session = begun()
    finish(session, seed=3, turns=25)
    seen = 0
    while session.can_undo:
        before = session.ply
        session.undo()
        assert session.ply < before
        assert len(session.plays) > 1
        seen += 1
    assert seen > 15
    with pytest.raises(RecordError, match="nothing to undo"):
        session.undo()


@pytest.mark.parametrize(("offered", "points"), [("single", 1), ("gammon", 2), ("backgammon", 3)])
def test_resignations_are_on_record(offered, points):
    session = begun()
    session.play(session.plays[0])
    session.set_dice((6, 1))
    assert session.resignations() == ["single", "gammon", "backgammon"]
    session.resign(offered)
    assert session.result == GameResult(0, points, resigned=True)
    assert session.score == (points, 0)
    record = session.record()
    assert parse_mat(mat_text(record)) == record
    session.begin((1, 2))
    assert session.record().games[1].score == (points, 0)


def at(position: Position, roll: tuple[int, int]) -> GameSession:
    """A session with this position on the board."""
    session = begun()
    session._progress.position = position
    session.plays = legal_plays(position, roll)
    session._rolls = [roll]
    return session


def test_no_gammon_is_offered_with_checkers_off():
    session = at(Position.from_points({6: 2}, {6: 2}), (2, 1))
    assert session.resignations() == ["single"]


@pytest.mark.parametrize(
    ("own", "roll", "accepted"),
    [
        # Bob bears off the last checker next, whatever Ann does: one point.
        ({6: 2}, (2, 1), ["single", "gammon", "backgammon"]),
        # Ann has none off, but bears one off in time with this roll.
        ({6: 13, 5: 2}, (6, 5), ["single", "gammon", "backgammon"]),
        # She cannot get home: a certain gammon.
        ({18: 2, 6: 13}, (2, 1), ["gammon", "backgammon"]),
        # One stays in Bob's home board, or on the bar.
        ({23: 2, 6: 13}, (2, 1), ["backgammon"]),
    ],
)
def test_a_resignation_is_accepted_when_playing_on_is_worth_no_more(own, roll, accepted):
    session = at(Position.from_points(own, {1: 1}), roll)
    evaluator = load("pubeval@1").evaluator
    asked = session.position, session.state(), evaluator
    offers = [offer for offer in RESIGNATIONS if is_accepted(*asked, offer)]
    assert offers == accepted


def test_a_good_game_is_not_given_away():
    session = begun()
    evaluator = load("pubeval@1").evaluator
    assert abs(value_of_playing_on(session.position, session.state(), evaluator)) < 1
    assert is_accepted(session.position, session.state(), evaluator, "single")


@given(st.integers(0, 10**6))
@settings(max_examples=150)
def test_a_loss_that_is_certain_is_one_by_the_tables(seed):
    """All checkers at home, at most two of the opponent's: certain results have probability 1."""
    chance = np.random.default_rng(seed)
    own = Counter(chance.integers(1, 4, chance.integers(1, 16)).tolist())
    theirs = Counter(chance.integers(1, 7, chance.integers(1, 3)).tolist())
    position = Position.from_points(own, theirs)
    chances = bearoff_chances(position).probabilities
    if (loss := certain_loss(position, None)) is not None:
        assert chances.win == 0
        assert chances.lose_gammon == (loss != "single")


@pytest.mark.parametrize(
    ("own", "theirs", "roll", "loss"),
    [
        ({1: 5}, {1: 2}, None, "single"),
        ({1: 4}, {1: 2}, None, None),  # a double
        ({1: 4}, {1: 2}, (2, 1), "single"),
        ({1: 5}, {3: 2}, None, None),  # Bob may roll 21
        ({7: 15}, {1: 2}, None, "gammon"),
        ({7: 1, 1: 14}, {1: 2}, None, None),  # a single game or a gammon
        ({7: 1, 1: 14}, {1: 2}, (6, 1), "single"),
        ({23: 15}, {1: 1}, None, "backgammon"),
        ({25: 1, 1: 14}, {2: 1}, None, None),  # may hit
    ],
)
def test_what_is_certainly_lost(own, theirs, roll, loss):
    assert certain_loss(Position.from_points(own, theirs), roll) == loss
