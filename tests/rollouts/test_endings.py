"""Truncated trials, scoring, and luck adjustment."""

import numpy as np
import pytest

from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.evaluators import Probabilities, load_static
from motif.evaluators.bearoff import bearoff_chances
from motif.players import CompiledPlayer
from motif.rollouts import RolloutSettings, rollout
from motif.rollouts.rollout_settings import MAX_GAME_PLIES, parse_luck_plies
from motif.runtime.errors import SettingError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.rollouts.exact import exact_chances, single_trials
from tests.runtime.test_streams import rolls_of

PUBEVAL = load_static("pubeval")
MADE = evaluator_of(made_weights("keith", pairs=12, seed=1))
PLAYER = CompiledPlayer("made up", MADE.model)
BEAROFF = Position.from_points({6: 2, 4: 1}, {5: 1, 2: 2})
LATE = Position.from_points({8: 2, 3: 2}, {8: 2, 3: 2})


def rolled(position, evaluator=MADE, **settings):
    return rollout(position, evaluator, RolloutSettings(**settings), jobs=1)


def all_home(position: Position) -> bool:
    return not (position.board[7:] > 0).any() and not (position.board[:19] < 0).any()


def test_a_bearoff_has_its_exact_value():
    result = rolled(BEAROFF, trials=5, stop_at_bearoff=True)
    assert result.se[0].tolist() == [0] * 6
    np.testing.assert_allclose(result.probabilities(), bearoff_chances(BEAROFF).probabilities, atol=1e-12)


def test_games_end_where_the_bearoff_begins():
    results = single_trials(LATE.board, 0, 30, MADE.model, stop_at_bearoff=True)
    dice = [rolls_of(0, 0, trial, 300).tolist() for trial in range(30)]
    for found, rolls in zip(results, dice, strict=True):
        position = LATE
        for ply, roll in enumerate(rolls):  # noqa: B007
            if outcome(position) or all_home(position):
                break
            position = PLAYER.choose(position, tuple(roll)).position
        value = MADE.evaluate(position) if outcome(position) else bearoff_chances(position).probabilities
        np.testing.assert_allclose(found[:5], value.switch_sides() if ply % 2 else value, atol=1e-12)
    assert len(np.unique(results[:, 0])) > 10


def test_finished_games_are_finished_with_the_tables_too():
    finished = Position.from_points({3: 2}, {})
    assert rolled(finished, trials=3, stop_at_bearoff=True).equity() == outcome(finished)


@pytest.mark.parametrize("scoring", ["dmp", "no-gammons"])
def test_without_gammons_equity_is_that_of_wins(scoring):
    position = Position.from_points({4: 1, 1: 2}, {13: 3, 1: 12})
    result = rolled(position, PUBEVAL, trials=300, scoring=scoring)
    money = rolled(position, PUBEVAL, trials=300)
    assert result.scoring == scoring
    assert result.mean[0, 1] > 0
    # A point table chooses the same plays with any scoring.
    assert result.mean[0, :5].tolist() == money.mean[0, :5].tolist()
    assert result.equity() == pytest.approx(2 * result.mean[0, 0] - 1)
    assert result.se[0, 5] == pytest.approx(2 * result.se[0, 0])
    assert money.equity() == pytest.approx(money.probabilities().equity)


def test_at_double_match_point_plays_are_chosen_to_win():
    position = Position.start()
    win = CompiledPlayer("to win", MADE.model._replace(win_only=True))
    results = rolled(position, trials=20, cut=3, scoring="dmp")
    followed = []
    for trial in range(20):
        where = position
        for roll in rolls_of(0, 0, trial, 3).tolist():
            where = win.choose(where, tuple(roll)).position
        followed.append(MADE.evaluate(where).switch_sides())
    np.testing.assert_allclose(results.mean[0, :5], np.mean(followed, axis=0), atol=1e-6)


def value_of(position: Position) -> Probabilities:
    return MADE.evaluate(position)


def followed_with_luck(position: Position, trial: int, cut: int, luck_plies: int) -> np.ndarray:
    """A trial played by hand, less the luck of its first rolls."""
    luck = np.zeros(5)
    for ply, roll in enumerate(rolls_of(0, 0, trial, cut).tolist()):
        if ply < luck_plies:
            values = {}
            for other in ROLLS.tolist():
                seen = value_of(PLAYER.choose(position, tuple(other)).position)
                values[tuple(other)] = np.array(seen if ply % 2 else seen.switch_sides())
            mean = sum(
                count / 36 * values[tuple(it)] for it, count in zip(ROLLS.tolist(), ROLL_COUNTS, strict=True)
            )
            luck += values[tuple(roll)] - mean
        position = PLAYER.choose(position, tuple(roll)).position
    value = value_of(position)
    return np.array(value.switch_sides() if cut % 2 else value) - luck


@pytest.mark.parametrize(("cut", "luck_plies"), [(1, 1), (2, 1), (3, 2), (4, 9)])
def test_luck_is_subtracted(cut, luck_plies):
    results = single_trials(Position.start().board, 0, 4, MADE.model, cut=cut, luck_plies=luck_plies)
    followed = [followed_with_luck(Position.start(), trial, cut, luck_plies) for trial in range(4)]
    np.testing.assert_allclose(results[:, :5], followed, atol=1e-5)


def test_without_its_luck_one_ply_is_certain():
    result = rolled(Position.start(), trials=20, cut=1, luck_plies=1)
    assert (result.se < 1e-9).all()


@pytest.mark.parametrize("luck_plies", [1, 2, MAX_GAME_PLIES])
def test_luck_adjustment_keeps_the_mean(luck_plies):
    """Compared with exact values where evaluations are poor; standard errors stay right."""
    endings = [
        Position.from_points({6: 1, 2: 1}, {3: 1, 2: 1}),
        Position.from_points({5: 2, 3: 1}, {4: 2, 1: 1}),
        Position.from_points({4: 1, 1: 2}, {13: 3, 1: 12}),
    ]
    result = rolled(endings, trials=2000, luck_plies=luck_plies, seed=4)
    for row, position in enumerate(endings):
        expected = exact_chances(PLAYER, position)
        assert (np.abs(result.mean[row, :5] - expected) <= 4 * result.se[row, :5] + 1e-9).all()
    many = rolled([endings[1]] * 300, trials=20, luck_plies=luck_plies)
    assert many.mean[:, 0].std(ddof=1) == pytest.approx(np.sqrt((many.se[:, 0] ** 2).mean()), rel=0.17)


def test_exact_values_leave_no_variance():
    """If the tables cover every possible position, luck is the only variation."""
    position = Position.from_points({7: 1}, {5: 2})
    plain = rolled(position, trials=200, stop_at_bearoff=True)
    adjusted = rolled(position, trials=200, stop_at_bearoff=True, luck_plies=2)
    assert plain.se[0, 0] > 0.004
    assert adjusted.se[0, 0] < 1e-9
    assert abs(adjusted.mean[0, 0] - plain.mean[0, 0]) < 4 * plain.se[0, 0]


def test_luck_in_contact_lowers_the_error():
    plain, adjusted = (
        rolled(Position.start(), load_static("motif-v1"), trials=600, cut=4, luck_plies=luck)
        for luck in (0, 2)
    )
    assert adjusted.se[0, 5] < 0.9 * plain.se[0, 5]
    both = np.hypot(adjusted.se[0, 5], plain.se[0, 5])
    assert abs(adjusted.equity() - plain.equity()) < 4 * both


def test_numbers_of_lucky_plies():
    assert (parse_luck_plies("0"), parse_luck_plies("12"), parse_luck_plies("all")) == (0, 12, MAX_GAME_PLIES)
    for text in ("", "-1", "1.5", "every", "²"):
        with pytest.raises(SettingError, match="luck_plies must be a number of plies or all"):
            parse_luck_plies(text)
        with pytest.raises(SettingError, match="luck_plies must be a number of plies or all"):
            RolloutSettings(luck_plies=text)
