"""Whole matches: the score, the Crawford rule, the cube, and what their results say."""

import json

import pytest

from motif.benchmark.match_play import LONGEST, _Match, play_match_play
from motif.cli.main import main
from motif.evaluators import load_static
from motif.players import load
from motif.runtime.errors import SettingError

ADVISER = load_static("motif-v6")


def played(first: str, second: str, length: int, matches: int, **rest):
    return play_match_play(load(first), load(second), length, matches, adviser=ADVISER, **rest)


def test_a_player_against_himself_wins_one_of_each_pair():
    """The same dice from both seats: all luck cancels."""
    result = played("motif-v1", "motif-v1", 3, 8, seed=4)
    assert (result.wins, result.losses, result.mwc, result.se, result.p_value) == (4, 4, 0.5, 0, 1)
    assert result.games >= 8 * 1


def test_any_number_of_jobs_plays_the_same():
    one, two = (played("motif-v6", "pubeval", 3, 12, seed=2, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one.mwc > 0.5


@pytest.mark.slow
def test_the_cube_shortens_matches():
    with_cube, without = (played("motif-v6", "motif-v5", 7, 10, cube=cube, seed=3) for cube in (True, False))
    assert with_cube.games < without.games
    assert with_cube.cube
    assert not without.cube


def test_a_player_without_chances_goes_by_the_adviser():
    assert played("random", "motif-v6", 5, 6, seed=1).mwc < 0.4


def test_the_crawford_game_is_the_first_at_match_point():
    match = _Match(0, (0, 1), 5)
    match.end_game(4)
    assert (match.crawford, match.score, match.games, match.winner) == (True, (4, 0), 1, None)
    match.end_game(0)  # broken off
    assert match.crawford
    match.end_game(-2)
    assert (match.crawford, match.score) == (False, (4, 2))
    match.end_game(-2)
    assert not match.crawford
    match.end_game(-1)
    assert match.winner == 1


def test_refusals():
    for matches, length, reason in ((1, 5, "games must be"), (2, 0, "1 to 64"), (2, LONGEST + 1, "1 to 64")):
        with pytest.raises(SettingError, match=reason):
            played("random", "random", length, matches)


def test_the_command(capsys):
    words = ["match", "motif-v6", "random", "--length", "3", "--games", "4", "--jobs", "1", "--json"]
    assert main(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["matches"] == record["wins"] + record["losses"] == 4
    assert record["mwc"] == record["wins"] / 4
    assert (record["length"], record["cube"], record["players"]) == (3, True, ["motif-v6", "random"])
    for bad, reason in (["--until-certain"], "money"), (["--no-cube", "--length", "0"], "--length says"):
        assert main([*words[:-1], *bad]) == 2
        assert reason in capsys.readouterr().err
