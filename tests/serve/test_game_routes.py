"""Games over HTTP: the page's requests and answers, what is stored, and errors."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import httpx
import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from motif.board.mat_file import mat_text, parse_mat
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.rollouts.games import SeededDice
from motif.serve.costs import reply_cost
from motif.serve.engine_service import EngineService
from motif.serve.game_store import GameStore
from motif.serve.game_view import tree_view
from motif.serve.lanes import Cancellation, WorkCancelledError
from motif.session.kept_game import KeptGame
from motif.session.session import GameSession
from tests.serve.kept_games import decisions, put, rows
from tests.serve.page_client import opened
from tests.serve.test_faults import started
from tests.session import test_kept_game

GAMES = "/api/v1/games"


@pytest.fixture(name="folder")
def _folder(tmp_path) -> Path:
    return tmp_path / "games"


@pytest.fixture(name="client")
def _client(folder):
    with opened(folder) as client:
        yield client


def begun(client, **wish):
    answer = client.post(GAMES, json={"opponent": "pubeval", "seed": 4, **wish})
    assert answer.status_code == 201, answer.text
    return answer.json()


def decided(client, state, word, **more):
    answer = client.post(f"{GAMES}/{state['game']}", json={"revision": state["revision"], "do": word, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def played() -> KeptGame:
    """A money game to its end."""
    game = test_kept_game.begun(seed=6)
    test_kept_game.play_on(game)
    return game


def first_play(state):
    """The play reached by the first step of every node."""
    node = 0
    while (play := state["tree"]["plays"][node]) is None:
        node = state["tree"]["steps"][node][0][3]
    return play


def gone_on(client, state, answer="take", decisions=1):
    """A number of decisions further, or to the end of the game."""
    while decisions and state["asks"] not in ("next", "nothing"):
        decisions -= 1
        match state["asks"]:
            case "play":
                state = decided(client, state, "play", play=first_play(state))
            case "answer":
                state = decided(client, state, answer)
            case _:
                state = decided(client, state, "roll")
    return state


def test_a_new_game_shows_the_opening_roll_of_the_seed(client):
    state = begun(client, opponent="random", seed=4)
    high, low = max(SeededDice(4).opening(0)), min(SeededDice(4).opening(0))
    assert (state["asks"], state["roll"], state["seed"]) == ("play", [high, low], 4)
    assert state["events"][0]["do"] == "begin"
    assert state["can"]["resign"]


def test_every_play_of_the_tree_is_taken_and_answered(client):
    state = begun(client)
    assert {play for play in state["tree"]["plays"] if play} > {"24/20 13/10"}
    after = decided(client, state, "play", play="24/20 13/10")
    assert after["revision"] > state["revision"]
    assert [one["do"] for one in after["events"]][:3] == ["play", "roll", "play"]
    assert after["log"][0] == {"do": "play", "who": "me", "roll": [4, 3], "play": "24/20 13/10"}
    assert after["events"][0]["board"][20] == 1


def test_a_money_game_is_played_to_its_end_and_another_begins(client):
    state = gone_on(client, begun(client), decisions=500)
    assert state["asks"] == "next"
    result = state["result"]
    assert sum(state["score"]) == result["points"] > 0
    rolls = client.get(f"{GAMES}/{state['game']}/rolls").json()
    assert rolls["seed"] == 4
    assert [one[1:] for one in rolls["games"][0]][1:] == [
        list(SeededDice(4).roll(0, ply)) for ply in range(1, len(rolls["games"][0]))
    ]
    assert sum(rolls["faces"]["me"]) == 2 * rolls["rolls"]["me"]
    state = decided(client, state, "next")
    assert (state["number"], state["asks"] in ("play", "roll", "answer")) == (2, True)


def test_a_match_is_played_to_its_end_and_can_be_saved(client):
    state = begun(client, length=3, seed=2)
    while state["asks"] != "nothing":
        state = gone_on(client, state, decisions=500)
        if state["asks"] == "next":
            state = decided(client, state, "next")
    assert state["winner"] in ("me", "opponent")
    answer = client.get(f"{GAMES}/{state['game']}/mat")
    assert "attachment" in answer.headers["content-disposition"]
    record = parse_mat(answer.text)
    assert (record.length, record.players) == (3, ("You", "pubeval"))
    assert record.games[-1].result is not None


def test_a_game_survives_a_restart(client, folder):
    state = gone_on(client, begun(client), decisions=7)
    with opened(folder) as later:
        again = later.get(f"{GAMES}/{state['game']}").json()
        assert {**again, "events": []} == {**state, "events": []}
        assert later.get(GAMES).json()["games"][0]["game"] == state["game"]
        gone_on(later, again)
    # The first server sees the second one's change.
    assert client.get(f"{GAMES}/{state['game']}").json()["revision"] > state["revision"]


def test_a_server_that_died_before_its_reply_replies_when_it_is_asked(client, folder):
    state = begun(client)
    kept = json.loads(rows(folder)[state["game"]][1])
    kept["events"].append(["play", "24/20 13/10"])
    put(folder, state["game"], json.dumps(kept))
    again = client.get(f"{GAMES}/{state['game']}").json()
    assert again["asks"] in ("roll", "play", "answer")
    assert [one["who"] for one in again["log"]][:2] == ["me", "opponent"]


def test_two_pages_cannot_play_one_game_against_each_other(client):
    state = begun(client)
    decided(client, state, "play", play="24/20 13/10")
    stale = client.post(
        f"{GAMES}/{state['game']}",
        json={"revision": state["revision"], "do": "play", "play": "13/9 13/10"},
    )
    assert stale.status_code == 409
    assert "continued in another tab" in stale.json()["message"]


def test_taking_back_shows_the_same_roll_again(client):
    state = begun(client)
    after = decided(client, state, "play", play="24/20 13/10")
    if not after["can"]["undo"]:
        pytest.fail("a play can be taken back")
    back = decided(client, after, "undo")
    assert (back["asks"], back["roll"], back["board"]) == ("play", state["roll"], state["board"])


def test_the_tutor_objects_and_nothing_has_happened(client):
    state = begun(client)
    answer = decided(client, state, "play", play="6/2 6/3", tutor=0.05)
    assert answer["revision"] == state["revision"]
    objection = answer["objection"]
    assert objection["cost"] > 0.05
    assert [one["notation"] for one in objection["plays"]] == [objection["better"], "6/3 6/2"]
    assert "objection" not in decided(client, state, "play", play=objection["better"], tutor=0.05)


def test_what_cannot_be_done_is_one_clear_line(client):
    state = begun(client)
    path = f"{GAMES}/{state['game']}"

    def refused(status, words, **decision):
        answer = client.post(path, json={"revision": state["revision"], **decision})
        assert answer.status_code == status, answer.text
        assert words in answer.json()["message"]
        assert "\n" not in answer.json()["message"]

    refused(400, "not a legal play", do="play", play="24/18")
    refused(400, "roll is not possible now", do="roll")
    refused(400, "invalid resignation 'everything'", do="resign", lose="everything")
    refused(400, "do:", do="dance")
    refused(400, "revision", do="roll", revision=-1)
    assert client.get(path).json()["revision"] == state["revision"]


@pytest.mark.parametrize("game", ["AAAAAAAAAAAA", "x", "..%2F..%2Fetc", "%00"])
def test_an_unknown_game_is_reported(client, game):
    answer = client.get(f"{GAMES}/{game}")
    assert answer.status_code == 404
    assert answer.json()["message"]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"opponent": "nobody"}, "unknown opponent"),
        ({"opponent": "human"}, "unknown opponent"),
        ({"opponent": "runs/x.yaml"}, "unknown opponent"),
        ({"length": 5, "jacoby": True}, "the Jacoby rule is for money play"),
        ({"length": 65}, "length"),
        ({"seed": -1}, "seed"),
        ({"cheat": True}, "cheat"),
    ],
)
def test_a_wish_that_cannot_be(client, wish, words):
    answer = client.post(GAMES, json={"opponent": "pubeval", **wish})
    assert answer.status_code == 400
    assert words in answer.json()["message"]


def test_a_game_is_taken_over_from_a_file_and_forgotten(client):
    state = gone_on(client, begun(client, length=25), decisions=9)
    mat = client.get(f"{GAMES}/{state['game']}/mat").text
    answer = client.post(f"{GAMES}/loaded", json={"opponent": "random", "mat": mat, "seat": 0, "seed": 1})
    assert answer.status_code == 201
    loaded = answer.json()
    assert (loaded["board"], loaded["asks"], loaded["log"]) == (state["board"], state["asks"], state["log"])
    assert client.delete(f"{GAMES}/{loaded['game']}").status_code == 200
    assert client.get(f"{GAMES}/{loaded['game']}").status_code == 404
    for text, words in (("", "not a .mat file"), (" 3 point match\n", "no game")):
        answer = client.post(f"{GAMES}/loaded", json={"opponent": "random", "mat": text})
        assert (answer.status_code, words in answer.json()["message"]) == (400, True)


@pytest.mark.parametrize(
    ("limits", "games", "status", "words"),
    [
        ({"batch": 8}, 1, 400, "the file: a match must have at most 8 rolls, not "),
        ({"reading": 1}, 500, 503, "reading this match file takes longer than 1 s, the limit"),
    ],
)
def test_a_file_has_the_limits_of_uploads(folder, limits, games, status, words):
    record = played().session.record()
    mat = mat_text(replace(record, games=record.games * games))
    with opened(folder, **limits) as client:
        answer = client.post(f"{GAMES}/loaded", json={"opponent": "random", "mat": mat})
        assert (answer.status_code, answer.json()["message"].startswith(words)) == (status, True)
        assert client.get(GAMES).json() == {"games": []}


def test_a_game_is_not_taken_over_when_the_client_has_left(folder, monkeypatch):
    record = played().session.record()
    stop, games = Cancellation(600), GameStore(folder)
    followed = []

    def leave(game, event):
        followed.append(event)
        stop.cancel()

    monkeypatch.setattr(KeptGame, "follow", leave)
    with pytest.raises(WorkCancelledError):
        stop.run(lambda: games.load(record, "random", 0, 1, "2026-11-22"))
    assert len(followed) == 1
    assert games.summaries() == []


@pytest.mark.parametrize("text", ["{", "[]", '{"events":[["begin"]]}', "[" * 100_000, None])
def test_a_damaged_game_is_one_clear_line_and_the_others_are_listed(client, folder, text):
    good, bad = begun(client)["game"], begun(client)["game"]
    put(folder, bad, text)
    decision = {"revision": 1, "do": "roll"}
    for answer in (client.get(f"{GAMES}/{bad}"), client.post(f"{GAMES}/{bad}", json=decision)):
        assert answer.status_code == 400
        assert answer.json()["message"].startswith("this game cannot be read: ")
        assert str(folder) not in answer.text
    assert [one["game"] for one in client.get(GAMES).json()["games"]] == [bad, good]
    assert client.delete(f"{GAMES}/{bad}").status_code == 200


def test_a_new_game_pushes_out_none_in_progress(client, folder):
    client.app.state.games = GameStore(folder, most=2)
    names = {begun(client)["game"] for _ in range(2)}
    answer = client.post(GAMES, json={"opponent": "pubeval"})
    assert (answer.status_code, answer.json()) == (
        503,
        {"message": "2 games are already in progress: finish or delete one first"},
    )
    assert set(rows(folder)) == names


def test_a_folder_that_cannot_be_used_is_one_line_and_the_server_goes_on(tmp_path):
    with opened(tmp_path / "file") as client:
        (tmp_path / "file").touch()
        for answer in (client.get(GAMES), client.post(GAMES, json={"opponent": "pubeval"})):
            if answer.status_code != 200:
                assert answer.status_code == 503
                assert answer.json()["message"].startswith("games cannot be ")
                assert str(tmp_path) not in answer.text
        assert answer.status_code == 503
        assert client.get("/api/v1/health").status_code == 200


@pytest.mark.slow
def test_two_servers_on_one_folder_accept_a_decision_once(folder):
    """Four clients send the same decision at the same revision, two to each server."""
    with (
        started("--games", str(folder)) as (_, one),
        started("--games", str(folder)) as (_, other),
        ThreadPoolExecutor(4) as clients,
        httpx.Client(trust_env=False, timeout=60) as asking,
    ):
        state = asking.post(f"{one}{GAMES}", json={"opponent": "pubeval", "seed": 4, "cube": False}).json()
        accepted, chance = [], random.Random(1)
        while len(accepted) < 30 and state["asks"] == "play":
            plays = [play for play in state["tree"]["plays"] if play]
            ready = Barrier(4)

            def decide(address, play, ready=ready, state=state):
                body = {"revision": state["revision"], "do": "play", "play": play}
                ready.wait(60)
                return play, asking.post(f"{address}{GAMES}/{state['game']}", json=body)

            answers = list(clients.map(decide, [one, other] * 2, [chance.choice(plays) for _ in range(4)]))
            ((play, won),) = [answer for answer in answers if answer[1].status_code == 200]
            assert [answer.status_code for _, answer in answers if answer is not won] == [409] * 3
            accepted.append(["play", play])
            state = won.json()
        assert len(accepted) >= 15
        assert decisions(rows(folder)[state["game"]][1]) == accepted


def test_a_stored_game_against_a_slow_opponent_is_only_shown(client, folder):
    game = begun(client, opponent="pubeval@1")["game"]
    revision, document = rows(folder)[game]
    put(folder, game, document.replace("pubeval@1", "pubeval@1:full"))
    state = client.get(f"{GAMES}/{game}")
    assert (state.status_code, state.json()["revision"]) == (200, revision + 1)
    assert state.json()["opponent"] == "pubeval@1:full"
    decision = {"revision": revision + 1, "do": "roll"}
    refused = client.post(f"{GAMES}/{game}", json=decision)
    assert (refused.status_code, "takes too long" in refused.text) == (400, True)
    assert client.get(f"{GAMES}/{game}/mat").status_code == 200


def test_replies_cost_what_their_lookahead_costs(client, folder, monkeypatch):
    costs, stored = [], EngineService.stored

    def noted(self, function, *arguments, cost=0.0):
        costs.append(cost)
        return stored(self, function, *arguments, cost=cost)

    monkeypatch.setattr(EngineService, "stored", noted)
    state = begun(client, opponent="pubeval@1")
    gone_on(client, client.get(f"{GAMES}/{state['game']}").json())
    expected = reply_cost("pubeval@1")
    assert costs == [expected, 0.0, expected, 0.0, expected]
    assert reply_cost("latest@2") < 0.3 < reply_cost("latest@2:rollout")
    _, document = rows(folder)[state["game"]]
    kept = json.loads(document)
    kept["settings"]["opponent"] = "latest@2"
    put(folder, state["game"], json.dumps(kept))
    games = client.app.state.games
    assert games.reply_cost(state["game"]) == reply_cost("latest@2")
    late = Position.from_points({24: 2, 13: 5, 6: 5}, {6: 5, 24: 2})
    monkeypatch.setattr(GameSession, "position", property(lambda self: late))
    assert games.reply_cost(state["game"]) == reply_cost("latest@2", True) > 0.3


def test_opponents_are_players_that_come_along(client):
    names = {one["name"]: one["looks_ahead"] for one in client.get(f"{GAMES}/opponents").json()["opponents"]}
    assert {"latest", "random", "pubeval"} <= set(names)
    assert not names.keys() & {"human", "gnubg"}


@pytest.mark.parametrize(
    ("own", "other", "roll", "expected"),
    [
        ({6: 1, 1: 2}, {24: 2}, (6, 1), "6/off 1/off"),
        ({4: 1, 3: 1, 2: 1}, {24: 2}, (2, 1), None),
        ({7: 1, 1: 2}, {24: 2}, (6, 1), None),
        ({6: 1, 1: 2}, {3: 2}, (6, 1), None),
    ],
    ids=["only one", "a choice", "not all home", "contact"],
)
def test_the_only_best_bearoff_is_offered(own, other, roll, expected):
    counts = [own.get(place, 0) - other.get(place, 0) for place in range(26)]
    position = Position(counts)
    assert tree_view(position, roll, legal_plays(position, roll))["bearoff"] == expected
