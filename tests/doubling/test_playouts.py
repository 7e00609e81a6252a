"""Cubeful rollouts from every position of the cube, and fits to them."""

import numpy as np
import pytest

from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.doubling import DEFAULT_EFFICIENCY
from motif.doubling.efficiency_fit import cubeful_results, drawn_positions, fit_efficiency
from motif.doubling.equities import EFFICIENCY_CLASSES, efficiency_classes
from motif.evaluators import load_static
from motif.evaluators.known_players import default_player
from motif.evaluators.static import pubeval
from motif.runtime.errors import SettingError
from tests.doubling.chances import class_efficiency

SEED = 5
RACE = Position.from_points({6: 3, 5: 2, 4: 2}, {6: 3, 5: 2, 3: 2})
BACK = Position.from_points({24: 2, 13: 3, 8: 3, 6: 5, 4: 2}, {24: 1, 13: 4, 8: 3, 6: 5, 5: 2})
OWNERS = ("centre", "me", "opponent")


def test_a_won_game_is_worth_the_cube():
    """With one checker left, the player on roll wins one point at the cube, for any owner."""
    won = Position.from_points({1: 1}, {1: 1})
    results, ends = cubeful_results(pubeval(), DEFAULT_EFFICIENCY, won.board[None], 5, seed=SEED)
    assert results.tolist() == [[1, 1, 1]]
    assert ends.tolist() == [[1, 0, 0, 0, 0]]


@pytest.mark.slow
def test_it_helps_to_own_the_cube():
    evaluator = load_static(default_player())
    results, _ = cubeful_results(evaluator, DEFAULT_EFFICIENCY, RACE.board[None], 400, seed=SEED)
    centre, mine, theirs = results[0]
    assert theirs < centre < mine


def test_best_boards_are_legal():
    boards = np.stack([Position.start().board, BACK.board, RACE.board])
    rolls = np.array([[3, 1], [6, 6], [5, 2]])
    after = pubeval().best_plays(boards, rolls).boards
    for board, roll, found in zip(boards, rolls.tolist(), after, strict=True):
        legal = [play.position for play in legal_plays(Position(board), (roll[0], roll[1]))]
        assert Position(found) in legal


def test_drawn_positions():
    boards, classes = drawn_positions(pubeval(), 5, SEED)
    assert classes.tolist() == efficiency_classes(boards).tolist()
    assert np.bincount(classes, minlength=len(EFFICIENCY_CLASSES)).max() == 5
    wins = pubeval().evaluate_many(boards)[:, 0]
    assert ((wins >= 0.15) & (wins <= 0.85)).all()


def test_fits():
    fit = fit_efficiency(pubeval(), 3, 10, rounds=2, seed=SEED, jobs=1)
    for fitted in fit.classes:
        assert fitted.games == 10 * fitted.positions
        assert fitted.se > 0
        x = class_efficiency(fit.efficiency, fitted.name, 80)
        assert x == pytest.approx(min(max(fitted.x, 0), 1))
    assert fit_efficiency(pubeval(), 3, 10, rounds=2, seed=SEED + 1, jobs=1) != fit


@pytest.mark.slow
def test_a_fit_is_the_same_for_any_number_of_workers():
    one = fit_efficiency(pubeval(), 6, 1000, rounds=1, seed=SEED, jobs=1)
    assert fit_efficiency(pubeval(), 6, 1000, rounds=1, seed=SEED, jobs=2) == one


def test_too_few():
    with pytest.raises(SettingError, match="positions must be at least 2"):
        fit_efficiency(pubeval(), 1, 20)


@pytest.mark.slow
def test_fitted_races_are_between_dead_and_live():
    fit = fit_efficiency(load_static(default_player()), 40, 200, rounds=1, seed=SEED)
    races = [fitted for fitted in fit.classes if fitted.name in ("race", "bearoff")]
    assert all(0.4 < fitted.x < 1.0 and fitted.se < 0.15 for fitted in races)
