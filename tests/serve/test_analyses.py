"""Stored analyses, and the questions made from them."""

import json
import math
import sqlite3
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event, get_ident

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import motif
from motif.analysis.confirmation import CONFIRMED_Z
from motif.analysis.match.review import Review
from motif.board.marks import pr_rating
from motif.board.mat_file import mat_text
from motif.evaluators.known_players import own_name
from motif.runtime.errors import RecordError
from motif.serve import page, stored_analysis_api
from motif.serve.analysis_store import ANALYSES_FILE, DAYS, AnalysisStore, Source, is_error
from motif.serve.bodies import encoded
from motif.serve.database import NoRoomError, NotStoredError, StorageError
from motif.serve.game_api import levels
from motif.serve.game_database import GAMES_FILE
from motif.serve.trainers import TRAINER_KINDS, new_question
from motif.session.kept_game import check_opponent
from tests.serve.conftest import ROOT, damage_the_middle
from tests.serve.page_client import opened
from tests.session.test_kept_game import SessionRules, begun, play_on
from tests.short_rollouts import shorten_rollouts

ID = "4HPwATDgc/ABMA"
UNRATED = [{"pr": None, "overall": {"decisions": 0}}] * 2
"""Totals of players without decisions."""


@pytest.fixture(name="content", scope="module")
def _content():
    """The beginning of a match."""
    game = begun(SessionRules(length=1), seed=6)
    play_on(game, 30)
    return b64encode(mat_text(game.session.record()).encode()).decode()


@pytest.fixture(name="client")
def _client(tmp_path):
    with opened(tmp_path) as client:
        yield client


@pytest.fixture(name="store")
def _store(tmp_path):
    return AnalysisStore(tmp_path)


def reviewed(client, **question):
    asked = {"fast": True, "keep": True, **question}
    answer = client.post("/api/v1/review", json=asked)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def decision(error=50.0, decider=0, counts=True):
    return {"error": error, "decider": decider, "counts": counts, "done": "8/5 6/5"}


def kept(store, *decisions, seat=0, game=None, number=None):
    name = store.begin(Source("a.mat", "eA==", game, number, seat), {"names": ["A", "B"], "rolls": 1})
    player = dict.fromkeys(("name", "pr", "error_rate", "overall", "luck", "luck_adjusted_result"))
    player["overall"] = {"decisions": 0}
    store.finish(name, decisions, [player, player])
    return name


def test_a_review_is_kept_and_reopened(client, content):
    lines = reviewed(client, content=content)
    name = lines[0]["match"]["analysis"]
    decisions = [one for line in lines if "decisions" in line for one in line["decisions"]]
    (players,) = (line["players"] for line in lines if "players" in line)
    again = client.get(f"/api/v1/analyses/{name}").json()
    assert again["decisions"] == decisions
    assert again["players"] == players
    assert all(one["pr_word"] == pr_rating(one["pr"]) for one in players if one["pr"] is not None)
    (listed,) = client.get("/api/v1/analyses").json()["analyses"]
    assert (listed["analysis"], listed["seat"]) == (name, None)
    assert client.delete(f"/api/v1/analyses/{name}").status_code == 200
    assert client.get(f"/api/v1/analyses/{name}").status_code == 404


def test_a_review_that_is_not_to_be_kept_is_not(client, content):
    assert "analysis" not in reviewed(client, content=content, keep=False)[0]["match"]
    assert client.get("/api/v1/analyses").json() == {"analyses": []}
    assert client.get("/api/v1/history").json() == {"analyses": [], "overall": None}


def test_whose_errors_they_are_makes_cards_and_themes(client, content):
    lines = reviewed(client, content=content)
    name, themes = lines[0]["match"]["analysis"], lines[-1].get("themes", {})
    decisions = [one for line in lines if "decisions" in line for one in line["decisions"]]
    own = [one for one in decisions if one["counts"] and one["decider"] == 1 and one["error"] >= 20]
    assert own
    assert client.post(f"/api/v1/analyses/{name}", json={"seat": 1}).status_code == 200
    assert client.get("/api/v1/learn").json()["progress"]["error"]["cards"] == len(own)
    (listed,) = client.get("/api/v1/analyses").json()["analyses"]
    counted = sum(one["count"] for one in listed["themes"].values())
    assert counted == sum(decisions[int(number)]["decider"] == 1 for number in themes)
    history = client.get("/api/v1/history").json()
    assert history["analyses"] == [listed]
    overall, own = history["overall"], listed["players"][1]
    assert overall["pr"] == pytest.approx(own["pr"])
    assert overall["pr_word"] == pr_rating(overall["pr"])
    assert overall["luck"] == own["luck"]["total"]
    assert [one["analysis"] for one in overall["analyses"]] == [name]
    assert {one["theme"]: one["count"] for one in overall["themes"]} == {
        theme: one["count"] for theme, one in listed["themes"].items()
    }
    costs = [one["cost"] for one in overall["themes"]]
    assert costs == sorted(costs, reverse=True)


def test_a_game_of_the_page_is_judged_for_its_player(client):
    state = client.post("/api/v1/games", json={"opponent": "random", "length": 1, "seed": 4}).json()
    path = f"/api/v1/games/{state['game']}"

    def decide(**decision):
        return client.post(path, json={"revision": state["revision"], **decision}).json()

    for _ in range(3):
        state = decide(do="play", play=next(one for one in state["tree"]["plays"] if one is not None))
    state = decide(do="resign", lose="single")
    assert state["asks"] != "play"
    lines = reviewed(client, game=state["game"], number=1)
    assert lines[0]["match"]["seat"] == state["seat"]
    again = reviewed(client, game=state["game"], number=1)
    assert again[0]["match"]["analysis"] == lines[0]["match"]["analysis"]
    whole = reviewed(client, game=state["game"])
    names = [one["analysis"] for one in client.get("/api/v1/analyses").json()["analyses"]]
    assert names == [whole[0]["match"]["analysis"]]
    faulty = client.post("/api/v1/review", json={"game": state["game"], "number": 2})
    assert (faulty.status_code, "number must be 1 to 1" in faulty.json()["message"]) == (400, True)
    assert client.post("/api/v1/review", json={"game": "AAAAAAAAAAAA"}).status_code == 404


def a_game(client, **rules):
    """A short game that the reader resigns."""
    state = client.post("/api/v1/games", json={"opponent": "random", "seed": 4, **rules}).json()
    return ended(client, state)


def ended(client, state):
    while state["asks"] not in ("next", "nothing"):
        decision = {"do": "resign", "lose": "single"}
        if not state["can"]["resign"]:
            decision = {"do": "take" if state["asks"] == "answer" else "roll"}
        elif state["asks"] == "play" and len(state["log"]) < 4:
            decision = {"do": "play", "play": next(one for one in state["tree"]["plays"] if one is not None)}
        state = decided(client, state, **decision)
    return state


def decided(client, state, **decision):
    asked = {"revision": state["revision"], **decision}
    return client.post(f"/api/v1/games/{state['game']}", json=asked).json()


def test_a_finished_analysis_of_a_game_is_shown_again(client, monkeypatch):
    game = a_game(client)["game"]
    first = reviewed(client, game=game, number=1, player="pubeval")
    monkeypatch.setattr(Review, "parts", lambda review: pytest.fail("it is computed again"))
    again = reviewed(client, game=game, number=1, player="pubeval")
    assert again[0] == first[0]
    assert [one for line in again for one in line.get("decisions", [])] == [
        one for line in first for one in line.get("decisions", [])
    ]
    assert [line["players"] for line in again if "players" in line] == [
        line["players"] for line in first if "players" in line
    ]
    assert len(client.get("/api/v1/analyses").json()["analyses"]) == 1


def test_a_game_of_an_analysed_session_is_not_counted_twice(client):
    state = a_game(client, length=3, cube=False)
    reviewed(client, game=state["game"], number=1, player="pubeval")
    state = ended(client, decided(client, state, do="next"))
    (whole, *_) = reviewed(client, game=state["game"], player="pubeval")
    second = reviewed(client, game=state["game"], number=2, player="pubeval")
    assert second[0]["match"]["analysis"] == whole["match"]["analysis"]
    assert {one["game"] for line in second for one in line.get("decisions", [])} == {2}
    history = client.get("/api/v1/history").json()
    assert [one["analysis"] for one in history["analyses"]] == [whole["match"]["analysis"]]


def test_a_session_that_went_on_is_analysed_anew(client):
    state = a_game(client, length=3, cube=False)
    first = reviewed(client, game=state["game"], player="pubeval")
    state = ended(client, decided(client, state, do="next"))
    second = reviewed(client, game=state["game"], player="pubeval")
    assert second[0]["match"]["rolls"] > first[0]["match"]["rolls"]
    (kept,) = client.get("/api/v1/analyses").json()["analyses"]
    assert kept["analysis"] == second[0]["match"]["analysis"]


def test_a_finished_analysis_stays_until_a_new_one_is_finished(store):
    first = kept(store, decision(), game="g", number=1)
    second = store.begin(Source("a.mat", "", "g", 1, 0), {"names": ["A", "B"], "rolls": 1})
    assert store.begin(Source("a.mat", "", "g", 1, 0), {"names": ["A", "B"], "rolls": 1}) == second
    assert store.read(first)["decisions"] == [decision()]
    assert store.next_card("error")["key"] == f"{first}:0"
    store.finish(second, [decision()], UNRATED)
    assert store.ids() == [second]
    assert store.next_card("error")["key"] == f"{second}:0"


@pytest.mark.parametrize("number", [1, None])
def test_what_was_learned_outlives_a_new_analysis(store, number):
    errors = [decision() | {"xgid": name} for name in "abc"]
    first = kept(store, *errors[:2], game="g", number=1)
    due = store.answer(f"{first}:1", "error", errors[1], is_right=True)["due"]
    second = kept(store, errors[2], errors[1], errors[0] | {"done": "13/9"}, game="g", number=number)
    (left,) = {store.next_card("error", second, [f"{second}:0", f"{second}:2"])["key"]}
    assert left == f"{second}:1"
    card = store.next_card("error", second, [f"{second}:0", f"{second}:2"])
    assert {name: card[name] for name in ("box", "due", "asked", "known")} == {
        "box": 1,
        "due": due,
        "asked": 1,
        "known": 1,
    }
    assert store.progress()["error"] == {"cards": 3, "due": 2, "asked": 1, "known": 1, "learned": 0}


def test_the_reader_may_change_seats_and_come_back(store):
    errors = [decision(), decision(), decision(decider=1)]
    name = kept(store, *errors)
    store.answer(f"{name}:0", "error", errors[0], is_right=True)
    before = store.progress()
    store.take_seat(name, 1)
    assert store.progress()["error"] == {"cards": 1, "due": 1, "asked": 0, "known": 0, "learned": 0}
    assert store.next_card("error")["key"] == store.next_card("error", name)["key"] == f"{name}:2"
    store.take_seat(name, 0)
    assert store.progress() == before


def test_themes_are_kept_as_they_are_found(client, content, monkeypatch):
    found = []

    def themes(decisions, _):
        yield {0: "blot"}
        found.extend(client.get("/api/v1/analyses").json()["analyses"])

    monkeypatch.setattr(page, "themes_of", themes)
    name = reviewed(client, content=content)[0]["match"]["analysis"]
    assert found[0]["players"]
    assert client.get(f"/api/v1/analyses/{name}").json()["themes"] == {"0": "blot"}


def test_themes_that_were_not_found_are_found_when_a_game_is_shown_again(client, monkeypatch):
    game = a_game(client)["game"]
    monkeypatch.setattr(page, "themes_of", lambda *_: iter([]))
    name = reviewed(client, game=game, number=1)[0]["match"]["analysis"]
    monkeypatch.setattr(page, "themes_of", lambda *_: iter([{0: "blot"}]))
    assert reviewed(client, game=game, number=1)[-1] == {"themes": {"0": "blot"}}
    assert client.get(f"/api/v1/analyses/{name}").json()["themes"] == {"0": "blot"}


def test_one_that_was_cut_short_has_its_file(store):
    name = store.begin(Source("a.mat", "eA==", is_fast=True), {"names": ["A", "B"]})
    assert store.read(name) | {"made": 0} == {
        "analysis": name,
        "name": "a.mat",
        "made": 0,
        "game": None,
        "number": None,
        "seat": None,
        "match": {"names": ["A", "B"]},
        "themes": {},
        "content": "eA==",
        "fast": True,
    }
    assert store.summaries()[0]["players"] is None


def column(folder, name, analysis):
    with closing(sqlite3.connect(folder / ANALYSES_FILE)) as connection, connection:
        return connection.execute(f"SELECT {name} FROM analyses WHERE id = ?", (analysis,)).fetchone()[0]


def test_a_finished_one_has_no_file(store, tmp_path):
    name = store.begin(Source("a.mat", "eA=="), {"names": ["A", "B"]})
    assert "eA==" in column(tmp_path, "content", name)
    store.finish(name, [decision()], UNRATED)
    assert column(tmp_path, "content", name) is None
    again = AnalysisStore(tmp_path)
    assert again.read(name)["decisions"] == [decision()]
    again.take_seat(name, 0)
    assert again.next_card("error")["key"] == f"{name}:0"
    # It may be repeated, and until then it has a file again.
    assert store.begin(Source("b.mat", "eQ=="), {"names": ["A", "B"]}, known=name) == name
    assert AnalysisStore(tmp_path).read(name)["content"] == "eQ=="


def test_a_finished_one_of_an_earlier_version_may_have_its_file(store, tmp_path):
    name = store.begin(Source("a.mat", "eA=="), {"names": ["A", "B"]})
    store.finish(name, [decision()], UNRATED)
    before = store.read(name)
    with closing(sqlite3.connect(tmp_path / ANALYSES_FILE)) as connection, connection:
        connection.execute(
            "UPDATE analyses SET content = ?", (json.dumps({"content": "eA==", "fast": True}),)
        )
    assert AnalysisStore(tmp_path).read(name) == before
    assert "content" not in before


def test_the_files_of_unfinished_ones_have_a_limit(tmp_path):
    store = AnalysisStore(tmp_path, most_content=1000)
    heading = {"names": ["A", "B"]}
    done = kept(store)
    first, *others = [store.begin(Source("a.mat", "eA==" * 100), heading) for _ in range(3)]
    assert {one["analysis"] for one in store.summaries()} == {done, *others}
    store.finish(first, [], [])  # which a review that is still under way does
    large = store.begin(Source("a.mat", "eA==" * 1000), heading)
    assert {one["analysis"] for one in store.summaries()} == {done, large}
    assert store.begin(Source("a.mat", "eA==" * 1000), heading, known=large) == large


def test_only_errors_of_the_reader_become_cards(store):
    name = kept(store, decision(), decision(decider=1), decision(counts=False), decision(error=19.9))
    card = store.next_card("error")
    assert card["key"] == f"{name}:0"
    assert store.next_card("error", skip=[card["key"]]) is None
    store.delete(name)
    assert store.next_card("error") is None


def test_right_answers_come_again_later_and_later(store, monkeypatch):
    now = 1_000_000
    monkeypatch.setattr("motif.serve.analysis_store.time.time", lambda: now)
    days = []
    for _ in range(len(DAYS)):
        due = store.answer("opening:31", "opening", {"id": "x"}, True)
        days.append(due["days"])
        now = due["due"]
    assert days == [*DAYS[1:], DAYS[-1]]
    missed = store.answer("opening:31", "opening", {"id": "x"}, False)
    assert (missed["box"], missed["days"]) == (0, 0)
    assert store.next_card("opening") is None
    now += 601
    assert store.next_card("opening")["asked"] == len(DAYS) + 1
    assert store.progress()["opening"] == {"cards": 1, "due": 1, "asked": 8, "known": 7, "learned": 0}


def test_a_right_answer_counts_only_when_the_question_is_due(store, monkeypatch):
    now = 1_000_000
    monkeypatch.setattr("motif.serve.analysis_store.time.time", lambda: now)
    due = store.answer("opening:31", "opening", {"id": "x"}, True)
    now += 3600
    assert store.answer("opening:31", "opening", {"id": "x"}, True) == due
    missed = store.answer("opening:31", "opening", {"id": "x"}, False)
    now += 60
    assert store.answer("opening:31", "opening", {"id": "x"}, True) == missed
    assert store.progress()["opening"] == {"cards": 1, "due": 0, "asked": 4, "known": 3, "learned": 0}


def test_a_missed_question_returns_when_it_is_due(client, tmp_path, monkeypatch):
    name = kept(AnalysisStore(tmp_path), decision())
    key, now = f"{name}:0", time.time()

    def asked(**more):
        question = {"kind": "error", "skip": [key], **more}
        return client.post("/api/v1/learn/next", json=question).json()["card"]

    AnalysisStore(tmp_path).answer(key, "error", {}, is_right=False)
    assert asked() is None
    monkeypatch.setattr("motif.serve.analysis_store.time.time", lambda: now + 601)
    assert asked()["key"] == key
    assert asked(analysis=name) is None


def test_the_oldest_analyses_make_room(tmp_path, monkeypatch):
    store = AnalysisStore(tmp_path, most=2)
    times = iter(range(100))
    monkeypatch.setattr("motif.serve.analysis_store.time.time", lambda: next(times))
    store.answer("opening:31", "opening", {"id": "x"}, False)
    first, *others = [kept(store, decision(), game=f"g{k}") for k in range(3)]
    assert {one["analysis"] for one in store.summaries()} == set(others)
    with pytest.raises(NotStoredError):
        store.read(first)
    assert {kind: one["cards"] for kind, one in store.progress().items()} == {"opening": 1, "error": 2}


def test_the_later_of_two_analyses_in_one_second_stays(tmp_path, monkeypatch):
    store = AnalysisStore(tmp_path, most=1)
    monkeypatch.setattr("motif.serve.analysis_store.time.time", lambda: 1)
    _, second = [kept(store, game=f"g{k}") for k in range(2)]
    assert [one["analysis"] for one in store.summaries()] == [second]


def test_an_analysis_that_is_deleted_meanwhile_gets_no_cards(store, monkeypatch):
    name = kept(store, decision(), seat=None)
    store.delete(name)
    monkeypatch.setattr(store, "read", lambda analysis: {"decisions": [decision()]})
    with pytest.raises(NotStoredError):
        store.take_seat(name, 0)
    assert store.progress() == {}


def test_a_damaged_database_is_set_aside(tmp_path):
    kept(AnalysisStore(tmp_path))
    (tmp_path / ANALYSES_FILE).write_bytes(b"no database, by far" * 100)
    store = AnalysisStore(tmp_path)
    assert store.summaries() == []
    kept(store)
    assert len(store.summaries()) == 1
    assert list(tmp_path.glob("analyses.damaged*"))


def put(folder, **columns):
    """Replace columns of all analyses."""
    with closing(sqlite3.connect(folder / ANALYSES_FILE)) as connection, connection:
        for name, value in columns.items():
            connection.execute(f"UPDATE analyses SET {name} = ?", (value,))


def judged(store, *decisions, seat=0):
    """An analysis with ratings, and themes of its decisions."""
    name = kept(store, *decisions, seat=seat)
    player = {"name": "A", "pr": 5.0, "error_rate": 1.0, "overall": {"decisions": 4}}
    player |= {"luck": {"total": 0.5}, "luck_adjusted_result": 0.0}
    store.finish(name, decisions, [player, player])
    store.note_themes(name, {k: f"theme {k % 2}" for k in range(len(decisions))})
    return name


def test_lists_read_no_decisions(store, tmp_path):
    name = judged(store, decision(30), decision(40), decision(50, decider=1), decision(60))
    history = store.history()
    assert history["analyses"][0]["themes"] == {
        "theme 0": {"count": 1, "cost": 30.0},
        "theme 1": {"count": 2, "cost": 100.0},
    }
    assert [one["theme"] for one in history["overall"]["themes"]] == ["theme 1", "theme 0"]
    put(tmp_path, decisions="{bad")
    assert store.history() == history
    with pytest.raises(RecordError, match="this analysis cannot be read: it is damaged"):
        store.read(name)


@pytest.mark.parametrize(
    "columns",
    [
        {"players": "{bad"},
        {"players": "[]", "seat": 1},
        {"players": "[1, 2]"},
        {"heading": '{"names": ["A"'},
        {"heading": "5"},
        {"seat": 7},
        {"themes": "[]x"},
        {"errors": "[[["},
        {"name": b"\xff"},
        {"game": b"\xff"},
        {"name": '"\ud800"'.encode("utf-8", "surrogatepass")},
        {"heading": r'{"names": ["\ud800"]}'},
    ],
    ids=str,
)
def test_a_damaged_analysis_affects_itself_alone(client, tmp_path, columns):
    bad = judged(AnalysisStore(tmp_path), decision())
    put(tmp_path, **columns)
    good = judged(AnalysisStore(tmp_path), decision())
    assert [one["analysis"] for one in client.get("/api/v1/analyses").json()["analyses"]] == [good]
    history = client.get("/api/v1/history").json()
    assert [one["analysis"] for one in history["overall"]["analyses"]] == [good]
    everything = client.get("/api/v1/everything").json()
    assert good in [one["analysis"] for one in everything["analyses"]]
    if "errors" not in columns and columns != {"players": "[1, 2]"}:
        refused = client.get(f"/api/v1/analyses/{bad}")
        assert (refused.status_code, "is damaged" in refused.json()["message"]) == (400, True)
    assert client.delete(f"/api/v1/analyses/{bad}").status_code == 200


@pytest.mark.parametrize(
    "columns",
    [
        {"question": "{bad"},
        {"question": "5"},
        {"question": ""},
        {"question": b"\xff"},
        {"question": r'{"id": "\ud800"}'},
        {"box": b"\xff"},
    ],
    ids=str,
)
def test_a_damaged_card_stops_no_other(store, tmp_path, columns):
    name = kept(store, decision(), decision())
    ((column, value),) = columns.items()
    with closing(sqlite3.connect(tmp_path / ANALYSES_FILE)) as connection, connection:
        connection.execute(f"UPDATE cards SET {column} = ? WHERE key = ?", (value, f"{name}:0"))
        connection.execute("UPDATE analyses SET heading = '{bad'")
    card = store.next_card("error")
    assert (card["key"], card["player"]) == (f"{name}:1", None)
    assert store.next_card("error", skip=[card["key"]]) is None


def test_analyses_that_can_be_read_are_taken_from_a_damaged_database(store, tmp_path, capfd):
    names = [judged(store, *[decision()] * 30) for _ in range(20)]
    before = {one["analysis"]: one for one in store.summaries()}
    del store
    damage_the_middle(tmp_path / ANALYSES_FILE)
    store = AnalysisStore(tmp_path)
    left = {one["analysis"]: one for one in store.summaries()}
    assert left
    assert set(left) <= set(names)
    assert left == {name: before[name] for name in left}
    assert store.next_card("error") is not None
    assert f"and {len(left)} analyses and " in capfd.readouterr().err


def test_a_database_of_a_newer_version_is_left_alone(tmp_path):
    store = AnalysisStore(tmp_path)
    kept(store)
    with closing(sqlite3.connect(tmp_path / ANALYSES_FILE)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="the stored analyses are from a newer version"):
        AnalysisStore(tmp_path).summaries()


@pytest.mark.parametrize("kind", TRAINER_KINDS)
def test_a_trainer_asks_answerable_questions(client, kind, monkeypatch):
    shorten_rollouts(monkeypatch)
    card = client.post("/api/v1/learn/next", json={"kind": kind}).json()["card"]
    question = card["question"]
    if question["is_play"]:
        turn = client.post("/api/v1/turn", json={"id": question["id"]}).json()
        assert turn["board"] == question["board"]
        assert turn["roll"] == question["dice"]
        plays = [play for play in turn["tree"]["plays"] if play is not None]
        best = client.post("/api/v1/hint", json={"id": question["id"]}).json()["plays"][0]["notation"]
        answers = [best, *[play for play in plays[::4] if play != best][:3]]
    else:
        cube = client.post("/api/v1/cube", json={"id": question["id"]}).json()
        answers = ["no double", "double, take", "double, pass"]
        best = cube["action"]
    known = 0
    for number, play in enumerate(answers):  # each is a first answer
        asked = {"key": f"{card['key']}:{number}", "kind": kind, "question": question, "answer": play}
        judged = client.post("/api/v1/learn", json=asked).json()
        assert judged["best"] == best
        # The card is random, and short rollouts may not confirm a cost.
        is_unconfirmed = judged["cost"] <= CONFIRMED_Z * (judged["se"] or 0)
        assert judged["right"] == (judged["cost"] < 0.02 or is_unconfirmed)
        assert (judged["days"] > 0) == judged["right"]
        if play == best:
            assert judged["cost"] == 0
        known += judged["right"]
    assert known > 0
    assert client.get("/api/v1/learn").json()["progress"][kind]["known"] == known


@pytest.mark.parametrize(
    ("error", "se", "counts", "expected"),
    [
        (20.0, None, True, True),
        (19.0, None, True, False),
        (54.0, None, False, False),
        (54.0, 24.0, True, False),
        (54.0, 17.9, True, True),
    ],
)
def test_an_error_that_a_rollout_has_not_confirmed_is_no_question(error, se, counts, expected):
    assert is_error({"error": error, "error_se": se, "counts": counts}) == expected


def test_answers_to_an_error_are_judged_by_its_analysis(client):
    candidates = [{"done": "8/5 6/5", "equity": 0.2}, {"done": "24/23 13/10", "equity": 0.15}]
    question = {"id": f"{ID}:cAgAAAAAAAAA", "is_play": True, "best": "8/5 6/5", "candidates": candidates}

    def judged(question, answer):
        asked = {"key": "a:0", "kind": "error", "question": question, "answer": answer}
        return client.post("/api/v1/learn", json=asked).json()

    assert judged(question, "24/23 13/10")["cost"] == pytest.approx(0.05)
    assert judged(question, "8/5 6/5")["right"]
    rolled = [{**one, "source": "rollout"} for one in candidates]
    for se, is_right in ((16.0, False), (24.0, True)):
        uncertain = {**question, "candidates": rolled, "done": "24/23 13/10", "error_se": se}
        assert judged(uncertain, "24/23 13/10")["right"] == is_right
    doubled = {"id": ID, "is_play": False, "action": "double, take"}
    doubled |= {"done": "pass", "error_se": 10.0}
    doubled["candidates"] = [
        {"done": "take", "equity": -0.7, "source": "rollout"},
        {"done": "pass", "equity": -1, "source": "rollout"},
    ]
    assert judged(doubled, "take")["cost"] == 0
    assert judged(doubled, "pass") | {"key": "", "due": 0} == {
        "key": "",
        "due": 0,
        "box": 0,
        "days": 0,
        "cost": pytest.approx(0.3),
        "best": "take",
        "right": False,
        "source": "rollout",
        "se": pytest.approx(0.01),
        "known": {"no_double": None, "double_take": pytest.approx(0.7), "source": "rollout"},
    }
    doubled["candidates"] = [
        {"done": "no double", "equity": 0.5},
        {"done": "double, take", "equity": 0.7},
        {"done": "double, pass", "equity": 1},
    ]
    assert judged(doubled, "no double")["cost"] == pytest.approx(0.2)
    assert judged(doubled, "double, pass")["cost"] == pytest.approx(0.3)
    assert "answer must be one of take, pass, no double" in judged(doubled, "redouble")["message"]


def test_a_beaver_is_an_answer_where_the_analysis_has_one(client):
    question = {"id": ID, "is_play": False, "done": "take"}

    def judged(answer, **candidates):
        listed = [{"done": done.replace("_", " "), "equity": value} for done, value in candidates.items()]
        asked = {"key": "a:0", "kind": "error", "question": {**question, "candidates": listed}}
        return client.post("/api/v1/learn", json={**asked, "answer": answer}).json()

    taken = judged("take", beaver=0.4, take=0.2, **{"pass": -1})
    assert (taken["cost"], taken["best"], taken["right"]) == (pytest.approx(0.2), "beaver", False)
    assert judged("beaver", beaver=0.4, take=0.2, **{"pass": -1})["right"]
    assert judged("take", beaver=-0.4, take=-0.2, **{"pass": -1})["best"] == "take"
    known = {"no_double": -0.1, "double,_take": -0.2, "double,_pass": 1}
    assert judged("double", **known)["cost"] == pytest.approx(0.1)
    assert judged("double", **known, **{"double,_beaver": -0.4})["cost"] == pytest.approx(0.3)


def test_a_review_has_the_rules_of_its_session(client):
    state = a_game(client, beavers=True, jacoby=True)
    lines = reviewed(client, game=state["game"], number=1, player="pubeval")
    first = next(one for line in lines for one in line.get("decisions", []))
    place = client.post("/api/v1/position", json={"id": first["id"]}).json()
    assert (place["beavers"], place["jacoby"]) == (True, True)


def test_questions_are_small_and_finite(client):
    question = {"id": ID, "is_play": False, "board": [0] * 26, "candidates": []}

    def refusal(**fields):
        asked = {"key": "a:0", "kind": "error", "question": question | fields, "answer": "take"}
        answer = client.post("/api/v1/learn", content=json.dumps(asked))
        assert answer.status_code == 400
        return answer.json()["message"]

    assert refusal(board=["x" * 10_000]) == "question: must have at most 10000 characters"
    assert refusal(error_se=math.nan).startswith("question.error_se: ")
    for equity in (math.nan, math.inf, 1e300):
        assert refusal(candidates=[{"done": "take", "equity": equity}]).startswith("question.candidates.0")
    assert refusal(board=[math.inf]) == "question: numbers must be finite"
    assert client.get("/api/v1/learn").json()["progress"]["error"]["cards"] == 0


def test_there_is_room_for_so_many_questions(tmp_path):
    store = AnalysisStore(tmp_path, most_cards=2)
    for key in ("a", "b", "a"):
        store.answer(key, "opening", {}, is_right=True)
    with pytest.raises(NoRoomError, match="2 questions are stored already"):
        store.answer("c", "opening", {}, is_right=True)
    assert store.progress()["opening"]["asked"] == 3


def test_openings_are_fifteen():
    keys = {new_question("opening")[0] for _ in range(400)}
    assert len(keys) <= 15


def test_cube_questions_are_close_by_the_judge_of_the_answers():
    for _ in range(3):
        _, question = new_question("cube")
        degrees = {verdict.degree for verdict in motif.cube(question["id"]).verdicts}
        assert degrees & {"borderline", "close"}


def test_everything_is_exported_and_deleted(client, content):
    reviewed(client, content=content)
    client.post("/api/v1/games", json={"opponent": "random"})
    kept = client.get("/api/v1/everything").json()
    assert (len(kept["games"]), len(kept["analyses"])) == (1, 1)
    assert client.delete("/api/v1/everything").json() == {"games": 1}
    assert client.get("/api/v1/games").json() == {"games": []}
    assert client.get("/api/v1/everything").json()["analyses"] == []


def test_an_export_is_read_piece_by_piece(client, tmp_path, monkeypatch):
    names = [judged(AnalysisStore(tmp_path), decision()) for _ in range(3)]
    game = client.post("/api/v1/games", json={"opponent": "random"}).json()["game"]
    damaged = client.post("/api/v1/games", json={"opponent": "random"}).json()["game"]
    put(tmp_path, decisions="{bad", made=1)
    names += [judged(AnalysisStore(tmp_path), decision()) for _ in range(2)]
    with closing(sqlite3.connect(tmp_path / GAMES_FILE)) as connection, connection:
        connection.execute("UPDATE games SET document = 'x', revision = 9 WHERE id = ?", (damaged,))
    threads, service = set(), client.app.state.service
    monkeypatch.setattr(stored_analysis_api, "encoded", lambda one: threads.add(get_ident()) or encoded(one))
    answer = client.get("/api/v1/everything")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"] == 'attachment; filename="motif.json"'
    assert set(answer.json()) == {"games", "analyses", "learned"}
    assert [one["game"] for one in answer.json()["games"]] == [game]
    assert {one["analysis"] for one in answer.json()["analyses"]} == set(names[3:])
    assert answer.json()["analyses"][0] == AnalysisStore(tmp_path).read(
        answer.json()["analyses"][0]["analysis"]
    )
    assert threads
    assert not service.is_exporting
    service.is_exporting = True
    refused = client.get("/api/v1/everything")
    assert refused.status_code == 503
    assert refused.json()["message"] == "everything is already being exported; try again later"


def test_an_export_that_cannot_go_on_is_cut_off(client, tmp_path, monkeypatch):
    judged(AnalysisStore(tmp_path), decision())

    def refused(*_):
        raise StorageError("analyses cannot be read or written: disk I/O error")

    monkeypatch.setattr(AnalysisStore, "read", refused)
    assert not client.get("/api/v1/everything").text.endswith("}")
    assert not client.app.state.service.is_exporting


def test_stored_things_have_threads_of_their_own(client, tmp_path, monkeypatch):
    """A hint is answered while a list waits."""
    begun, end, real = Event(), Event(), AnalysisStore.summaries

    def waiting(store):
        begun.set()
        end.wait(60)
        return real(store)

    monkeypatch.setattr(AnalysisStore, "summaries", waiting)
    with ThreadPoolExecutor(16) as threads:
        lists = [threads.submit(client.get, "/api/v1/analyses") for _ in range(8)]
        assert begun.wait(60)
        try:
            hint = client.post("/api/v1/hint", json={"id": ID, "dice": [3, 1], "fast": True})
        finally:
            end.set()
        assert hint.status_code == 200
        assert {one.result().status_code for one in lists} == {200}


def test_levels_are_as_strong_as_was_measured():
    measured = json.loads((ROOT / "docs" / "reference" / "players.json").read_text())["players"]
    rates = [one["error_rate"] for one in levels()]
    assert rates == sorted(rates, reverse=True)
    for one, rate in zip(levels(), rates, strict=True):
        check_opponent(one["name"])
        player = own_name(one["name"])
        if player in measured:
            assert rate == pytest.approx(measured[player]["error_rates"]["contact"]["er"], abs=0.06)


def test_what_is_kept_is_for_this_user_alone(tmp_path):
    folder = tmp_path / "kept"
    assert AnalysisStore(folder).summaries() == []
    assert not folder.exists()
    kept(AnalysisStore(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / ANALYSES_FILE).stat().st_mode & 0o777 == 0o600
