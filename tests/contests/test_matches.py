"""Whole matches: the score, the Crawford rule, the cube, and the results."""

import json

import numpy as np
import pytest
from scipy import stats

from motif.board.rules import MAX_MATCH_LENGTH
from motif.cli.main import main
from motif.contests import ContestRules, play_matches, play_money_games, play_tournament
from motif.contests import pairs as pairs_module
from motif.contests.cube_games import _Match
from motif.contests.pairs import new_contest, play_pairs
from motif.contests.result import mean_of_pairs
from motif.evaluators import load_static
from motif.players import load
from motif.runtime.errors import SettingError

JUDGE = load_static("motif-v1")


def played(first: str, second: str, length: int, matches: int, **rest):
    return play_matches(first, second, matches, length=length, **rest)


def test_a_player_against_itself_wins_one_of_each_pair():
    """The same dice from both seats: all luck cancels out."""
    result = played("motif-v1", "motif-v1", 2, 60, seed=4)
    assert (result.wins, result.losses, result.mwc, result.se, result.p_value) == (30, 30, 0.5, 0, 1)
    assert result.games >= 60 * 1


def test_any_number_of_jobs_and_blocks_plays_the_same(monkeypatch):
    one = played("motif-v1", "pubeval", 3, 12, seed=2, jobs=1)
    monkeypatch.setattr(pairs_module, "_PAIRS_AT_ONCE", 2)
    assert played("motif-v1", "pubeval", 3, 12, seed=2, jobs=2) == one
    assert one.mwc > 0.5


@pytest.mark.slow
def test_the_cube_shortens_matches():
    with_cube, without = (played("motif-v1", "motif-v0", 7, 10, cube=cube, seed=3) for cube in (True, False))
    assert with_cube.games < without.games
    assert with_cube.rules.cube
    assert not without.rules.cube


def test_a_player_without_probabilities_uses_the_advisor():
    assert played("random", "motif-v1", 5, 6, seed=1).mwc < 0.4


def test_the_crawford_game_is_the_first_at_match_point():
    match = _Match(0, (0, 1), 5)
    match.end_game(4)
    assert (match.crawford, match.score, match.games, match.winner) == (True, (4, 0), 1, None)
    match.end_game(0)  # abandoned
    assert match.crawford
    match.end_game(-2)
    assert (match.crawford, match.score) == (False, (4, 2))
    match.end_game(-2)
    assert not match.crawford
    match.end_game(-1)
    assert match.winner == 1


def test_refusals():
    for matches, length, reason in (
        (1, 5, "matches must be"),
        (2, 0, "1 to 64"),
        (2, MAX_MATCH_LENGTH + 1, "1 to 64"),
    ):
        with pytest.raises(SettingError, match=reason):
            played("random", "random", length, matches)


def test_the_command(capsys):
    words = ["match", "motif-v1", "random", "--length", "3", "--games", "4", "--jobs", "1", "--json"]
    assert main(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["matches"] == record["wins"] + record["losses"] == 4
    assert record["mwc"] == record["wins"] / 4
    assert (record["length"], record["cube"], record["players"]) == (3, True, ["motif-v1", "random"])
    assert main([*words[:-1], "--until-certain"]) == 2
    assert "money" in capsys.readouterr().err


def money(first: str, second: str, games: int, **rest):
    return play_money_games(first, second, games, cube=True, **rest)


def test_money_games_have_a_cube_that_raises_the_stakes(monkeypatch):
    result = money("motif-v1", "pubeval", 60, seed=3)
    assert result.games == result.wins + result.losses == 60
    assert result.stake > 1.5
    assert result.ppg == pytest.approx(-money("pubeval", "motif-v1", 60, seed=3).ppg)
    assert result.ppg > 0
    monkeypatch.setattr(pairs_module, "_PAIRS_AT_ONCE", 10)
    assert result == money("motif-v1", "pubeval", 60, seed=3, jobs=2)


def test_by_the_jacoby_rule_a_backgammon_without_a_double_is_a_single_game():
    """Three points are a backgammon with a centred cube; the dice are the same."""
    players = load("motif-v1"), load("random")
    with_rule, without = (
        play_pairs(new_contest(ContestRules(0, True, jacoby)), *players, 1, 0, 60).values
        for jacoby in (True, False)
    )
    assert 3 not in with_rule
    assert 3 in without
    assert set(np.abs(with_rule).ravel()) <= {1, 2, 4, 6, 8, 12}


def test_a_player_against_itself_for_money_wins_one_of_each_pair():
    result = money("motif-v1", "motif-v1", 60, seed=4)
    assert (result.wins, result.losses, result.ppg, result.se, result.p_value) == (30, 30, 0, 0, 1)


def test_a_pairing_of_a_tournament_for_money_is_its_match_with_the_cube():
    names = ["motif-v1", "pubeval", "motif-v0"]
    result = play_tournament(names, 12, cube=True, seed=5)
    for pairing in result.pairings:
        seats = names[pairing.first], names[pairing.second]
        assert pairing.result == money(*seats, 12, seed=pairing.seed)
        assert pairing.ahead == pairing.result.ppg


def test_the_commands_for_money_with_a_cube(capsys):
    words = ["match", "motif-v1", "motif-v0", "--cube", "--games", "6", "--seed", "2"]
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    played = money("motif-v1", "motif-v0", 6, seed=2).to_dict()
    assert record == {**played, "players": ["motif-v1", "motif-v0"], "seed": 2}
    assert record["cube"] is True
    assert main([*words, "--no-jacoby"]) == 0
    assert "with the cube" in capsys.readouterr().out
    assert main([*words, "--until-certain"]) == 2
    assert "without a cube" in capsys.readouterr().err
    assert main(["tournament", "motif-v1", "pubeval", "--cube", "--games", "4", "--json"]) == 0
    (pairing,) = json.loads(capsys.readouterr().out)["pairings"]
    assert (pairing["cube"], pairing["games"]) == (True, 4)


def test_luck_adjusted_matches_and_money_games_are_more_certain():
    for play, count in ((played, {"length": 2, "matches": 60}), (money, {"games": 60})):
        raw = play("motif-v1", "pubeval", seed=3, **count)
        result = play("motif-v1", "pubeval", seed=3, **count, luck_adjusted=JUDGE, jobs=2)
        left = result.luck_adjusted
        assert result.se == raw.se
        assert left.se < 0.7 * result.se
        value = result.mwc if play is played else result.ppg
        assert abs(left.mean - value) < 3 * result.se
        assert raw.to_dict() == {k: v for k, v in result.to_dict().items() if k != "luck_adjusted"}


def test_the_luck_of_a_match_is_reported_in_match_winning_chances():
    """A player against itself wins one half after luck adjustment as well."""
    left = played("motif-v1", "motif-v1", 3, 8, seed=4, luck_adjusted=JUDGE).luck_adjusted
    assert left.mean == pytest.approx(0.5)


def test_the_command_shows_the_luck_adjusted_result(capsys):
    for more in ([], ["--cube"], ["--length", "2"]):
        words = ["match", "motif-v1", "motif-v0", "--games", "2", "--luck-adjusted", *more]
        assert main(words) == 0
        assert "luck-adjusted by " in capsys.readouterr().out
    assert main([*words, "--until-certain"]) == 2
    assert "without luck adjustment" in capsys.readouterr().err


def test_pairs_without_a_difference_have_a_standard_error():
    won = np.ones((50, 2))
    mean, se, p = mean_of_pairs(won, even=0.5)
    assert (mean, se) == (1, pytest.approx(0.5 / 51))
    assert p == pytest.approx(stats.ttest_1samp([1] * 50 + [0.5], 0.5).pvalue, rel=1e-9)
    assert mean_of_pairs(np.full((50, 2), 0.5), even=0.5) == (0.5, 0, 1)
    assert mean_of_pairs(won[:5]) == (1, None, None)
