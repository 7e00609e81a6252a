"""Tournaments: every pairing is a match that can be repeated, and the table follows from them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from motif.contests import TournamentResult, play_money_games, play_tournament
from motif.contests import pairs as pairs_module
from motif.contests.tournament import pairing_seed
from motif.players import load
from motif.runtime.errors import SettingError

NAMES = ("random", "pubeval", "simple")
PLAYERS = tuple(map(load, NAMES))


@pytest.fixture(scope="module")
def result() -> TournamentResult:
    return play_tournament(PLAYERS, 60, seed=3, jobs=1)


def test_every_pairing_is_a_match(result):
    assert [(it.first, it.second) for it in result.pairings] == [(0, 1), (0, 2), (1, 2)]
    assert len({it.seed for it in result.pairings}) == 3
    for it in result.pairings:
        assert 0 <= it.seed < 2**53
        assert it.result == play_money_games(PLAYERS[it.first], PLAYERS[it.second], 60, seed=it.seed, jobs=1)


def test_the_same_for_any_number_of_workers_and_blocks(result, monkeypatch):
    expected = result.to_dict()
    monkeypatch.setattr(pairs_module, "_PAIRS_AT_ONCE", 3)
    assert play_tournament(PLAYERS, 60, seed=3, jobs=2).to_dict() == expected
    assert play_tournament(PLAYERS, 60, seed=3, jobs=1).to_dict() == expected
    assert play_tournament(PLAYERS, 60, seed=4, jobs=1).to_dict() != expected


def test_a_judge_takes_the_luck_off_points_alone(result):
    judged = play_tournament(PLAYERS, 60, seed=3, jobs=2, luck_adjusted="motif-v1")
    for it, raw in zip(judged.pairings, result.pairings, strict=True):
        match = play_money_games(
            PLAYERS[it.first], PLAYERS[it.second], 60, seed=it.seed, jobs=1, luck_adjusted="motif-v1"
        )
        assert it.result == match
        assert (it.ahead, it.se) == (match.luck_adjusted.mean, match.luck_adjusted.se)
        assert raw.se == match.se
    # The luck in a random player's choices remains after the adjustment for dice.
    assert judged.pairings[2].se < 0.7 * result.pairings[2].se
    assert judged.elo.values.tolist() == result.elo.values.tolist()
    assert judged.to_dict()["luck_adjusted"] == "motif-v1"
    assert "luck_adjusted" not in result.to_dict()


def test_another_player_changes_no_pairing_of_the_others(result):
    two = play_tournament(PLAYERS[:2], 60, seed=3, jobs=1)
    assert two.pairings == result.pairings[:1]
    assert pairing_seed(3, 0, 1) != pairing_seed(3, 1, 0)


def test_the_cross_table_has_two_sides(result):
    ppg, se = result.cross
    assert np.isnan(np.diag(ppg)).all()
    for it in result.pairings:
        assert ppg[it.first, it.second] == it.result.ppg == -ppg[it.second, it.first]
        assert se[it.first, it.second] == it.result.se == se[it.second, it.first]


def test_the_table_by_hand(result):
    document = result.to_dict()
    assert [row["player"] for row in document["table"]] == ["pubeval", "simple", "random"]
    of = {tuple(it["players"]): it for it in document["pairings"]}
    best = document["table"][0]
    lost, won = of["random", "pubeval"], of["pubeval", "simple"]
    assert best["against"]["random"] == {"ppg": -lost["ppg"], "se": lost["se"]}
    assert best["against"]["simple"] == {"ppg": won["ppg"], "se": won["se"]}
    assert best["ppg"] == pytest.approx((won["ppg"] - lost["ppg"]) / 2)
    assert best["se"] == pytest.approx(math.hypot(won["se"], lost["se"]) / 2)
    assert best["wins"] == won["wins"] + lost["losses"]
    assert best["games"] == 120
    assert sum(row["wins"] for row in document["table"]) == 180
    for key in ("points_rating", "elo"):
        values = [row[key] for row in document["table"]]
        assert sum(values) == pytest.approx(0, abs=1e-9)
        assert values[0] > values[2]
        assert all(row[key + "_se"] > 0 for row in document["table"])
    assert json.loads(json.dumps(document)) == document


def test_one_who_loses_every_game_is_rated():
    result = play_tournament(PLAYERS[:2], 60, seed=2, jobs=1)
    assert result.won().tolist() == [0, 60]
    assert np.isfinite(result.elo.values).all()
    # Half a win of 61 games.
    assert result.elo.values[1] - result.elo.values[0] == pytest.approx(400 * math.log10(121))
    assert (result.elo.se > 0).all()


def test_players_who_play_alike_are_equal():
    twin = load("pubeval")
    twin.name = "twin"
    result = play_tournament([PLAYERS[1], twin], 60, jobs=1)
    assert result.points.values.tolist() == result.elo.values.tolist() == [0, 0]
    assert (result.points.se > 0).all()
    assert result.totals()[1].tolist() == [0, 0]
    cells = str(replace(result, elo=replace(result.elo, values=np.array([5e-10, -5e-10])))).split()
    assert cells.count("0.0") >= 2
    assert not any("e-" in cell for cell in cells)


@pytest.mark.parametrize("games", [2, 58])
def test_few_games_have_ratings_but_no_errors(games):
    result = play_tournament(PLAYERS, games, jobs=1)
    assert not result.has_errors
    assert np.isnan([*result.totals()[1], *result.points.se, *result.elo.se, result.fit]).all()
    assert np.isfinite([*result.points.values, *result.elo.values]).all()
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["note"] == document["pairings"][0]["note"]
    assert document["points_fit_p_value"] is None
    for row in document["table"]:
        assert row["se"] is row["points_rating_se"] is row["elo_se"] is None
        assert {against["se"] for against in row["against"].values()} == {None}


def test_games_come_in_pairs():
    assert play_tournament(PLAYERS[:2], 3, jobs=1).games == 4


@pytest.mark.parametrize(
    ("players", "games", "said"),
    [
        ((), 10, "^a tournament needs at least 2 players, not 0$"),
        (PLAYERS[:1], 10, "^a tournament needs at least 2 players, not 1$"),
        ((*PLAYERS, PLAYERS[1]), 10, "^duplicate player 'pubeval': each player may be listed once$"),
        (PLAYERS, 1, "^games must be at least 2, not 1$"),
        (PLAYERS, 2**31, "^games must be below"),
    ],
)
def test_tournaments_that_cannot_be(players, games, said):
    with pytest.raises(SettingError, match=said):
        play_tournament(players, games)
