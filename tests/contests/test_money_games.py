"""Money games with paired dice: their statistics, and the same games for any number of workers."""

import json
import math
import statistics

import numpy as np
import pytest
from scipy import stats

from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.contests import pairs as pairs_module
from motif.contests import play_money_games
from motif.contests.pairs import play_cubeless_games
from motif.contests.result import (
    ALL_PLAYED,
    CERTAIN,
    ContestRules,
    CubelessFigures,
    PlayedPairs,
    contest_result,
)
from motif.contests.sequential import certain_interval
from motif.players import EvaluatorPlayer, load
from motif.rollouts.games import luck_of_rolls, rolls_of_games
from motif.runtime.errors import SettingError
from tests.board.test_position import random_boards
from tests.evaluators.made_weights import evaluator_of, made_weights

PUBEVAL, SIMPLE, RANDOM = map(load, ("pubeval", "simple", "random"))


def points_of_pairs(first, second, seed, pairs) -> np.ndarray:
    """Points of `first` in each pair of games: (pairs, 2)."""
    return play_cubeless_games(first, second, seed, 0, pairs).values


@pytest.mark.parametrize("player", [PUBEVAL, SIMPLE, RANDOM], ids=lambda player: player.name)
def test_no_player_wins_against_itself(player):
    result = play_money_games(player, player, 60, seed=1, jobs=1)
    assert (result.games, result.ppg, result.se, result.p_value) == (60, 0, 0, 1)
    assert result.wins == result.losses == 30
    found = result.cubeless
    assert (found.gammons, found.backgammons) == (found.gammons_lost, found.backgammons_lost)


def test_both_games_of_a_pair_have_the_same_dice():
    points = points_of_pairs(PUBEVAL, PUBEVAL, 5, 40)
    assert (points[:, 0] == -points[:, 1]).all()
    assert set(np.abs(points).ravel().tolist()) <= {1, 2, 3}
    assert len(np.unique(points[:, 0])) > 2


@pytest.mark.parametrize("first", [PUBEVAL, RANDOM], ids=lambda player: player.name)
def test_the_same_for_any_number_of_workers_and_blocks(first, monkeypatch):
    one = play_money_games(first, SIMPLE, 50, seed=3, jobs=1)
    monkeypatch.setattr(pairs_module, "_PAIRS_AT_ONCE", 4)
    assert play_money_games(first, SIMPLE, 50, seed=3, jobs=2) == one
    assert play_money_games(first, SIMPLE, 50, seed=3, jobs=1) == one
    assert play_money_games(first, SIMPLE, 50, seed=4, jobs=1) != one


def test_a_longer_match_begins_with_the_shorter_one():
    assert (
        points_of_pairs(PUBEVAL, SIMPLE, 3, 30)[:10].tolist()
        == points_of_pairs(PUBEVAL, SIMPLE, 3, 10).tolist()
    )


def test_the_summary_by_hand():
    result = play_money_games(PUBEVAL, SIMPLE, 80, seed=2, jobs=1)
    points = points_of_pairs(PUBEVAL, SIMPLE, 2, 40).tolist()
    games = [point for pair in points for point in pair]
    pair_means = [statistics.mean(pair) for pair in points]
    assert result.games == 80
    assert result.ppg == pytest.approx(statistics.mean(games))
    # Games with the same dice are dependent; pairs are independent.
    assert result.se == pytest.approx(statistics.stdev(pair_means) / math.sqrt(40))
    assert result.wins == sum(point > 0 for point in games)
    assert result.cubeless.gammons == sum(point >= 2 for point in games)
    assert result.cubeless.backgammons == games.count(3)
    assert result.losses == sum(point < 0 for point in games)
    assert result.cubeless.gammons_lost == sum(point <= -2 for point in games)
    assert result.cubeless.backgammons_lost == games.count(-3)
    assert result.wins + result.losses == 80
    # By the normal distribution, equal players would differ too often: at 0.001, 2.4 times in 30 pairs.
    assert result.p_value == pytest.approx(stats.ttest_1samp(pair_means, 0).pvalue, rel=1e-9)
    cubeless = {name: getattr(result.cubeless, name) for name in CubelessFigures.__dataclass_fields__}
    figures = {name: getattr(result, name) for name in ("games", "ppg", "se", "wins", "losses", "p_value")}
    assert result.luck_adjusted is None
    assert result.to_dict() == figures | cubeless | {"interval": list(result.cubeless.interval)}
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()


def test_a_game_by_hand():
    """One pair of games, followed ply by ply with its dice."""
    for first_starts, column in ((True, 0), (False, 1)):
        position, players = Position.start(), [PUBEVAL, SIMPLE] if first_starts else [SIMPLE, PUBEVAL]
        for ply in range(400):
            rolls, _ = rolls_of_games(7, np.array([0]), ply)
            assert ply > 0 or rolls[0, 0] != rolls[0, 1]
            position = players[ply % 2].choose(position, tuple(rolls[0].tolist())).position
            if points := outcome(position):
                # The player on roll now, who would move next, has lost.
                first_is_on_roll = players[(ply + 1) % 2] is PUBEVAL
                assert points_of_pairs(PUBEVAL, SIMPLE, 7, 1)[0, column] == (
                    points if first_is_on_roll else -points
                )
                break
        else:
            pytest.fail("the game does not end")


def test_no_game_begins_with_a_double():
    firsts, seconds = (rolls_of_games(1, np.arange(600), ply)[0] for ply in (0, 1))
    assert (firsts[:, 0] > firsts[:, 1]).all()
    assert (seconds[:, 0] >= seconds[:, 1]).all()
    doubles = int((seconds[:, 0] == seconds[:, 1]).sum())
    assert abs(doubles - 100) < 4 * math.sqrt(600 * 5 / 36)


def test_the_seats_are_symmetric():
    there, back = (
        play_money_games(*players, 60, seed=1, jobs=1) for players in [(PUBEVAL, SIMPLE), (SIMPLE, PUBEVAL)]
    )
    # Each pair consists of the same two games, with the columns exchanged.
    assert there.ppg == -back.ppg
    assert there.se == back.se
    assert (there.wins, there.cubeless.gammons) == (back.losses, back.cubeless.gammons_lost)


def test_random_play_loses_to_pubeval():
    result = play_money_games(PUBEVAL, RANDOM, 200, seed=1, jobs=1)
    assert result.ppg > 1.5
    assert result.wins >= 195
    assert result.p_value < 1e-6
    lost = play_money_games(RANDOM, PUBEVAL, 200, seed=1, jobs=1)
    assert lost.ppg < -1.5
    assert lost.losses >= 195


def test_players_with_an_evaluator_only():
    slow = EvaluatorPlayer(evaluator_of(made_weights("keith", pairs=5)))
    result = play_money_games(slow, RANDOM, 10, seed=1, jobs=1)
    assert result.games == 10
    assert play_money_games(slow, slow, 6, jobs=1).ppg == 0


@pytest.mark.parametrize(("asked", "played"), [(2, 2), (3, 4), (7, 8), (8, 8)])
def test_games_come_in_pairs(asked, played):
    result = play_money_games(SIMPLE, RANDOM, asked, jobs=1)
    assert result.games == result.wins + result.losses == played


@pytest.mark.parametrize("games", [2, 4, 58])
def test_few_games_have_no_error_and_no_p_value(games):
    result = play_money_games(SIMPLE, RANDOM, games, jobs=1, luck_adjusted="motif-v1")
    assert result.se is result.p_value is result.luck_adjusted.se is result.luck_adjusted.p_value is None
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["se"] is document["p_value"] is document["luck_adjusted"]["se"] is None
    assert document["note"] == "fewer than 60 games are too few for a standard error"
    assert -3 <= document["interval"][0] <= document["ppg"] <= document["interval"][1] <= 3


def test_a_match_of_60_games_has_an_error():
    result = play_money_games(SIMPLE, RANDOM, 59, jobs=1)
    assert result.se > 0
    assert 0 <= result.p_value <= 1
    assert "note" not in result.to_dict()


def test_a_short_match_that_could_end_early_has_its_p_value():
    result = play_money_games(SIMPLE, RANDOM, 20, jobs=1, until_certain=True)
    assert result.se is None
    assert 0 < result.p_value <= 1


@pytest.mark.parametrize("games", [1, 0, -4])
def test_too_few_games(games):
    with pytest.raises(SettingError, match=f"^games must be at least 2, not {games}$"):
        play_money_games(SIMPLE, RANDOM, games)


def test_too_many_games():
    with pytest.raises(SettingError, match=r"^games must be below 2\*\*31, not 2147483648$"):
        play_money_games(SIMPLE, RANDOM, 2**31)


def test_a_bad_number_of_jobs():
    with pytest.raises(SettingError, match="jobs must be at least 1"):
        play_money_games(SIMPLE, RANDOM, 2, jobs=0)


def test_always_the_same_result_leaves_little_doubt():
    # Every pair is won by the same points: a significant difference, but not without a standard error.
    points = np.full((30, 2), 2)
    result = contest_result(ContestRules(), PlayedPairs(points, np.zeros((30, 2)), 60))
    assert (result.ppg, result.se) == (2, pytest.approx(2 / 31))
    assert result.p_value == pytest.approx(stats.ttest_1samp([2] * 30 + [0], 0).pvalue, rel=1e-9)
    assert (result.wins, result.cubeless.gammons, result.cubeless.backgammons) == (60, 60, 0)


def test_a_match_ends_when_the_better_player_is_certain():
    result = play_money_games(PUBEVAL, RANDOM, 100_000, seed=1, jobs=1, until_certain=True)
    assert result.cubeless.stopped == CERTAIN
    assert result.games < 100
    assert result.ppg > 0
    assert result.p_value <= result.cubeless.significance == 0.05
    assert 0 < result.cubeless.interval[0] < result.ppg < result.cubeless.interval[1]
    # The games are those of a match of that length.
    assert play_money_games(PUBEVAL, RANDOM, result.games, seed=1, jobs=1).ppg == result.ppg
    surer = play_money_games(PUBEVAL, RANDOM, 100_000, seed=1, jobs=1, until_certain=True, significance=1e-6)
    assert surer.games > result.games
    assert surer.p_value <= 1e-6
    assert (
        play_money_games(RANDOM, PUBEVAL, 1000, seed=1, jobs=1, until_certain=True).cubeless.interval[1] < 0
    )


def test_the_end_depends_on_no_workers_and_blocks(monkeypatch):
    settings = {"seed": 4, "until_certain": True, "significance": 0.2}
    one = play_money_games(PUBEVAL, SIMPLE, 3000, jobs=1, **settings)
    assert one.cubeless.stopped == CERTAIN
    monkeypatch.setattr(pairs_module, "_PAIRS_AT_ONCE", 7)
    assert play_money_games(PUBEVAL, SIMPLE, 3000, jobs=2, **settings) == one
    assert play_money_games(PUBEVAL, SIMPLE, 3000, jobs=1, **settings) == one
    # The maximum number of games does not matter.
    assert play_money_games(PUBEVAL, SIMPLE, 5000, jobs=1, **settings) == one


def test_no_player_is_certain_to_beat_itself():
    result = play_money_games(SIMPLE, SIMPLE, 200, jobs=1, until_certain=True)
    assert (result.games, result.cubeless.stopped, result.p_value) == (200, ALL_PLAYED, 1)
    assert result.cubeless.interval[0] < 0 < result.cubeless.interval[1]


def test_a_match_of_fixed_length_has_an_interval_too():
    result = play_money_games(PUBEVAL, SIMPLE, 200, seed=2, jobs=1, significance=0.01)
    assert (result.cubeless.stopped, result.cubeless.significance) == (ALL_PLAYED, 0.01)
    assert result.cubeless.interval == certain_interval(points_of_pairs(PUBEVAL, SIMPLE, 2, 100), 0.01)
    low, high = result.cubeless.interval
    # The interval is wider than one for the last game only.
    assert low < result.ppg - 2.58 * result.se < result.ppg + 2.58 * result.se < high


@pytest.mark.parametrize("rate", [0, 1, -0.1, math.nan])
def test_a_bad_significance_level(rate):
    with pytest.raises(SettingError, match="significance must be above 0 and below 1, not"):
        play_money_games(SIMPLE, RANDOM, 2, significance=rate)


def test_the_luck_of_rolls_has_mean_zero():
    """The mean luck is 0 over the 36 rolls of any position, and over the 30 opening rolls."""
    boards = np.stack([Position.start().board, Position.of("4HPwATDgc/ABMA").board])
    shares, openings = ROLL_COUNTS / 36, np.where(ROLLS[:, 0] == ROLLS[:, 1], 0, 1 / 15)
    for opening, weights in ((False, shares), (True, openings)):
        luck = np.array(
            [
                luck_of_rolls(PUBEVAL.require_evaluator(), boards, np.repeat([roll], 2, axis=0), opening)
                for roll in ROLLS.tolist()
            ]
        )
        assert weights @ luck == pytest.approx(0, abs=1e-6)
        assert np.ptp(luck, axis=0).min() > 0.1


def test_the_luck_of_a_roll_does_not_depend_on_the_other_positions():
    judge, rng = PUBEVAL.require_evaluator(), np.random.default_rng(1)
    boards = random_boards(70, seed=1)
    rolls = ROLLS[rng.integers(len(ROLLS), size=len(boards))]
    together = luck_of_rolls(judge, boards, rolls, opening=False)
    alone = [
        luck_of_rolls(judge, board[None], roll[None], opening=False)[0]
        for board, roll in zip(boards, rolls, strict=True)
    ]
    assert together.tolist() == alone


def test_a_luck_adjusted_result_is_more_certain():
    raw = play_money_games("motif-v1", "pubeval", 60, seed=3)
    result = play_money_games("motif-v1", "pubeval", 60, seed=3, luck_adjusted="motif-v1", jobs=2)
    left = result.luck_adjusted
    assert (raw.ppg, raw.se, raw.luck_adjusted) == (result.ppg, result.se, None)
    assert left.judge == "motif-v1"
    assert left.se < 0.6 * result.se
    assert abs(left.mean - result.ppg) < 3 * result.se
    assert result == play_money_games("motif-v1", "pubeval", 60, seed=3, luck_adjusted="motif-v1", jobs=1)
    assert json.loads(json.dumps(result.to_dict()))["luck_adjusted"]["se"] == left.se
    assert "luck_adjusted" not in raw.to_dict()


def test_no_player_is_better_than_itself_luck_adjusted():
    left = play_money_games(PUBEVAL, PUBEVAL, 40, seed=2, luck_adjusted=PUBEVAL).luck_adjusted
    assert left.mean == pytest.approx(0, abs=1e-9)


def test_luck_is_not_taken_off_a_match_that_may_end_early():
    with pytest.raises(SettingError, match="until_certain"):
        play_money_games(PUBEVAL, RANDOM, until_certain=True, luck_adjusted=PUBEVAL)
