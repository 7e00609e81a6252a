"""The page's files, texts and own requests: IDs, drawings, a match decision by decision."""

import gzip
import json
import re
import threading
from base64 import b64encode
from dataclasses import replace

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from motif.analysis.confirmation import SHORT
from motif.analysis.match.match_analysis import analyse_match
from motif.analysis.match.review import Review, ReviewedRoll
from motif.board.marks import LOWEST_PR_RATING, PR_RATINGS
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_state import MatchState
from motif.board.moves import legal_plays
from motif.doubling.decision import best_action
from motif.evaluators.known_players import load_evaluator
from motif.serve import page
from motif.serve.page import FILES, found_id
from tests.board.test_mat_file import BY_GNUBG
from tests.serve.page_client import opened
from tests.session.test_kept_game import SessionRules, begun, play_on

MAX_SIZE, MAX_SENT = 200_000, 84_000
"""Bytes of the page in one language, and of the whole page as it is sent, compressed."""
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:1:0:5:10"
BEAVERED = "XGID=--B--BC-Ca--bB--Abbbf-B---:1:1:1:00:0:0:3:0:10"
"""A wrong redouble, which the opponent should beaver."""
KEY = re.compile(r"""\bt\(\s*"([^"]+)\"""")


@pytest.fixture(name="client", scope="module")
def _client(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("games")) as client:
        yield client


@pytest.fixture(name="record", scope="module")
def _record():
    game = begun(SessionRules(length=3), seed=6)
    play_on(game)
    return game.session.record()


def texts(language):
    """Return the texts by key; those of a group are named by both."""
    groups = json.loads((FILES / "texts" / f"{language}.json").read_text(encoding="utf-8"))
    parts = [(name, part if isinstance(part, dict) else {"": part}) for name, part in groups.items()]
    return {f"{name} {key}".strip(): text for name, part in parts for key, text in part.items()}


def test_the_page_is_complete_and_loads_nothing_from_elsewhere(client):
    files = [path for path in FILES.rglob("*") if path.is_file()]
    for language in ("en", "de"):
        others = {path for path in files if path.parent.name == "texts" and path.stem != language}
        assert sum(path.stat().st_size for path in set(files) - others) < MAX_SIZE
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < MAX_SENT
    assert client.get("/").text == (FILES / "index.html").read_text(encoding="utf-8")
    for path in files:
        answer = client.get(f"/{path.relative_to(FILES).as_posix()}")
        assert answer.content == path.read_bytes()
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["content-encoding"] == "gzip"
        again = client.get(answer.url.path, headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304
        plain = client.get(answer.url.path, headers={"accept-encoding": "identity"})
        assert plain.content == path.read_bytes()
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert not re.search(r"https?://", text), path
    named = re.findall(r'(?:src|href)="([^"#]+)"', client.get("/").text)
    assert all(client.get(f"/{name}").status_code == 200 for name in named)


@pytest.mark.parametrize(
    ("accepted", "is_zipped"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("x-gzipped", False),
        ("", False),
    ],
)
def test_files_are_compressed_for_clients_that_accept_it(client, accepted, is_zipped):
    answer = client.get("/sw.js", headers={"accept-encoding": accepted})
    assert ("content-encoding" in answer.headers) == is_zipped


def test_a_missing_page_is_answered_as_usual(client):
    answer = client.get("/nothing")
    assert (answer.status_code, "message" in answer.json()) == (404, True)
    assert client.get("/..%2fhttp.py").status_code == 404


def test_every_language_says_the_same_with_the_same_places():
    own, paths = texts("en"), list((FILES / "texts").glob("*.json"))
    source = (FILES / "texts.js").read_text(encoding="utf-8")
    assert all(re.search(rf'\b{path.stem}: "', source) for path in paths)
    for path in paths:
        other = texts(path.stem)
        assert other.keys() == own.keys(), path
        for key, text in own.items():
            places = re.findall(r"\{\w+\}", text.split(" | ")[0])
            if path.stem != "en" and key.startswith("fault "):  # the server's words are English
                places = [place for place in places if place != "{message}"]
            for part in other[key].split(" | "):
                assert sorted(re.findall(r"\{\w+\}", part)) == sorted(places), (path, key)
            assert len(other[key].split(" | ")) == len(text.split(" | ")), (path, key)


def test_the_service_worker_keeps_every_file(client):
    assert 'fetch("files.json")' in (FILES / "sw.js").read_text(encoding="utf-8")
    files = {path.relative_to(FILES).as_posix() for path in FILES.rglob("*") if path.is_file()}
    assert set(client.get("/files.json").json()) == files - {"index.html", "sw.js"} | {"./"}


def test_every_text_that_is_asked_for_is_there():
    source = "".join(path.read_text(encoding="utf-8") for path in FILES.glob("*.js"))
    asked = set(KEY.findall(source))
    assert len(asked) > 100
    assert not {key for key in asked if key not in texts("en")}


@pytest.mark.parametrize("language", ["en", "de"])
def test_names_of_players_can_be_listed(language):
    assert not [key for key, words in texts(language).items() if key.startswith("name ") and "," in words]


def test_every_cube_action_has_its_words():
    state = MatchState(length=5, own_score=4, opponent_score=1, crawford=True)
    states = [
        MatchState(),
        MatchState(beavers=True),
        MatchState(cube=2, cube_owner="me"),
        MatchState(cube=2, cube_owner="opponent"),
        state,
        MatchState(length=1),
    ]
    values = (-2.0, -1.0, 0.2, 0.6, 1.2)
    actions = {
        best_action(state, no_double, *double, wins=0.5, gammons=True).action
        for state in states
        for no_double in values
        for double in ((None, None), *((value, 1.0) for value in values))
    }
    assert len(actions) > 8
    parts = {f"cube {part}" for action in actions for part in action.split(", ")}
    assert parts <= texts("de").keys()


def test_every_rating_has_its_words():
    words = [word for _, word in PR_RATINGS]
    assert {f"rating {word}" for word in (*words, LOWEST_PR_RATING)} == {
        key for key in texts("de") if key.startswith("rating ")
    }


@pytest.mark.parametrize(
    "id",
    [
        "XGID=-b----E-C---eE---c-e----B-:1:1:1:31:2:1:0:5:10",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:1:0:10",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:1:1:5:10",
    ],
)
def test_a_position_keeps_all_that_its_id_holds(client, id):
    placed = client.post("/api/v1/position", json={"id": id}).json()
    assert placed["xgid"] == id
    again = client.post("/api/v1/position", json={"id": placed["id"]}).json()
    assert again["board"] == placed["board"]
    assert again["xgid"] == id


def test_a_position_keeps_its_beavers(client):
    placed = client.post("/api/v1/position", json={"id": BEAVERED}).json()
    assert (placed["xgid"], placed["jacoby"], placed["beavers"]) == (BEAVERED, True, True)
    names = ("board", "length", "cube", "jacoby", "beavers")
    asked = {**{name: placed[name] for name in names}, "owner": "me"}
    assert client.post("/api/v1/position", json=asked).json()["xgid"] == BEAVERED
    without = client.post("/api/v1/position", json={**asked, "beavers": False}).json()
    assert without["xgid"] == BEAVERED.replace(":3:0:10", ":1:0:10")


def test_the_table_of_a_double_has_the_beaver_that_its_words_use(client):
    question = {"id": BEAVERED, "fast": True, "shown": True}
    double, answer = (
        client.post("/api/v1/cube", json={**question, "answer": is_answer}).json()
        for is_answer in (False, True)
    )
    rows = {one["action"]: one for one in double["table"]["rows"]}
    assert list(rows) == ["no redouble", "redouble, take", "redouble, pass", "redouble, beaver"]
    beaver = rows["redouble, beaver"]
    assert f"doubling costs {-beaver['difference']:.3f}" in double["words"]
    assert [one["action"] for one in answer["table"]["rows"]] == ["take", "pass", "beaver"]
    assert answer["table"]["rows"][2]["equity"] == -beaver["equity"]
    without = client.post("/api/v1/cube", json={**question, "beavers": False}).json()
    assert [one["action"] for one in without["table"]["rows"]] == list(rows)[:3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" 4HPwATDgc/ABMA\n", "4HPwATDgc/ABMA"),
        ("X to play\nXGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:1:0:5:10\nX:Ann", XGID),
        (f"see https://example.org/?x={XGID.replace('=', '%3D').replace(':', '%3A')} there", XGID),
        (f"http://localhost/#/position/{XGID[5:]}", XGID[5:]),
        ("Position ID: 4HPwATDgc/ABMA\n Match ID   : cAkAAAAAAAAA\n", "4HPwATDgc/ABMA:cAkAAAAAAAAA"),
        (" GNU Backgammon  Position ID: 4HPwATDgc/ABMA", "4HPwATDgc/ABMA"),
        ("http://localhost/#/from/4HPwATDgc%2FABMA", "4HPwATDgc/ABMA"),
        ("no ID", "no ID"),
    ],
)
def test_an_id_is_found_in_pasted_text(text, expected):
    assert found_id(text) == expected


def test_a_finished_game_has_its_points(client):
    over = [0] * 26
    over[24] = 15  # on the points of the opponent's home board
    placed = client.post("/api/v1/position", json={"board": over, "cube": 2, "owner": "me"}).json()
    assert (placed["over"], placed["points"], placed["can_double"]) == (True, 6, True)
    assert placed["result"] == {"kind": "backgammon", "points": 6, "jacoby": False}
    jacoby = client.post("/api/v1/position", json={"board": over, "jacoby": True}).json()
    assert jacoby["points"] == 1
    assert jacoby["result"] == {"kind": "backgammon", "points": 1, "jacoby": True}
    crawford = {"id": "4HPwATDgc/ABMA", "length": 5, "score": [4, 2], "crawford": True}
    placed = client.post("/api/v1/position", json=crawford).json()
    assert (placed["over"], placed["points"], placed["can_double"]) == (False, 0, False)
    assert placed["result"] is None


def test_a_double_may_be_beavered_in_money_play_with_that_rule(client):
    asked = {"id": BEAVERED}
    assert client.post("/api/v1/position", json=asked).json()["can_beaver"]
    for more in ({"beavers": False}, {"cube": 2048}, {"owner": "opponent"}, {"id": XGID}):
        assert not client.post("/api/v1/position", json=asked | more).json()["can_beaver"]


def test_a_board_that_was_placed_gets_its_ids(client):
    board = client.post("/api/v1/position", json={"id": "4HPwATDgc/ABMA"}).json()["board"]
    asked = {"board": board, "length": 7, "score": [3, 5], "cube": 2, "owner": "me", "dice": "31"}
    placed = client.post("/api/v1/position", json=asked).json()
    assert placed["xgid"] == "XGID=-b----E-C---eE---c-e----B-:1:1:1:31:3:5:0:7:10"
    faulty = client.post("/api/v1/position", json={"board": [*board[:1], 9, *board[2:]]})
    assert faulty.status_code == 400
    assert "checkers" in faulty.json()["message"]
    assert client.post("/api/v1/position", json={"id": "nonsense"}).status_code == 400


def test_a_drawing_of_a_position_and_of_a_play(client):
    plain = client.get("/api/v1/diagram", params={"id": "4HPwATDgc/ABMA"})
    assert plain.headers["content-type"].startswith("image/svg+xml")
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    played = client.get("/api/v1/diagram", params={"id": xgid, "play": "8/5 6/5"})
    assert len(played.text) > len(plain.text)
    assert client.get("/api/v1/diagram", params={"id": xgid, "play": "8/3"}).status_code == 400
    captions = ["Gegner (dunkel)", "Match auf 5 Punkte", "Am Wurf (hell)", ""]
    german = client.get("/api/v1/diagram", params={"id": xgid, "caption": captions}).text
    assert all(f">{caption}</text>" in german for caption in captions[:3])
    assert "Opponent" not in german
    assert client.get("/api/v1/diagram", params={"id": xgid, "caption": ["x"] * 5}).status_code == 400
    assert (
        client.get("/api/v1/diagram", params={"id": "4HPwATDgc/ABMA", "play": "8/5 6/5"}).status_code == 400
    )


def test_the_plays_of_a_drawing_are_found_in_a_lane(client, monkeypatch):
    threads = []

    def listed(*asked):
        threads.append(threading.current_thread().name)
        return legal_plays(*asked)

    monkeypatch.setattr(page, "legal_plays", listed)
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    assert client.get("/api/v1/diagram", params={"id": xgid, "play": "8/5 6/5"}).status_code == 200
    assert [name.startswith("motif-quick") for name in threads] == [True]


@pytest.mark.slow
def test_a_review_says_what_the_analysis_says(record):
    evaluator = load_evaluator("motif-v1")
    review = Review(record, evaluator)
    decisions = [one for part in review.parts() for one in part]
    analysis = analyse_match(record, evaluator, jobs=1)
    for own, other in zip(review.players(), analysis.to_dict()["players"], strict=True):
        assert own.keys() == other.keys()
        for kind in ("chequer", "cube", "overall", "luck"):
            # The errors of a review are rounded as shown.
            known = {name: value for name, value in other[kind].items() if value is not None}
            assert own[kind] | dict.fromkeys(other[kind].keys() - known) == dict(own[kind])
            assert {name: own[kind][name] for name in known} == pytest.approx(known, rel=0.02)
        assert own["rating"] == other["rating"]
    rolls = [one for one in decisions if isinstance(one, ReviewedRoll)]
    assert [one.decision for one in rolls] == [one for one in analysis.decisions if one.is_play]
    cubes = [one.decision for one in decisions if not isinstance(one, ReviewedRoll)]
    assert cubes == [one for one in analysis.decisions if not one.is_play and one.counts]
    assert [one.luck for one in rolls] == list(analysis.lucks)
    places = [(one["game"], one["move"]) for one in review.records(decisions)]
    assert places == sorted(places)
    chances = [one.chance for one in rolls]
    assert chances[0] == pytest.approx(0.5, abs=0.05)
    winner = record.games[0].result.winner
    assert (chances[-1] > chances[0]) == (winner == 0)
    played = [one.luck.roll.roll for one in rolls]
    assert played == [action.roll for action in record.games[0].actions if hasattr(action, "roll")]


def test_a_review_is_streamed_line_by_line(client, record):
    asked = {"content": b64encode(mat_text(record).encode()).decode(), "player": "pubeval", "fast": True}
    lines = [json.loads(line) for line in client.post("/api/v1/review", json=asked).text.splitlines()]
    assert ("match" in lines[0], "players" in lines[-1]) == (True, True)
    decisions = [one for line in lines[1:-1] for one in line["decisions"]]
    rolls = [one for one in decisions if one["is_play"]]
    assert len(rolls) == lines[0]["match"]["rolls"]
    assert {"done", "best", "error", "mark", "luck", "chance", "id", "xgid", "board"} <= rolls[0].keys()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no base64!", "invalid base64"),
        (b64encode(b"hello").decode(), "must begin with"),
        ("", "must begin with"),
    ],
)
def test_a_file_without_a_match_is_reported(client, content, words):
    answer = client.post("/api/v1/review", json={"content": content})
    assert (answer.status_code, words in answer.json()["message"]) == (400, True), answer.text


def test_the_roll_of_a_game_that_was_abandoned_is_not_an_error():
    text = " 3 point match\n\n Game 1\n Ann : 0   Bob : 0\n  1) 31: 8/5 6/5   52:\n"
    record = parse_mat(text)
    review = Review(replace(record), load_evaluator("pubeval"))
    rolls = [one for part in review.parts() for one in review.records(part) if one["is_play"]]
    assert [(one["game"], one["move"], one["done"]) for one in rolls] == [(1, 1, "8/5 6/5"), (1, 1, None)]


def test_a_review_that_takes_too_long_is_refused_with_a_way_on(tmp_path, record):
    with opened(tmp_path, budget=1) as client:
        asked = {"content": b64encode(mat_text(record).encode()).decode(), "name": "a.mat"}
        refused = client.post("/api/v1/review", json=asked)
        assert (refused.status_code, refused.json()["fields"]) == (400, ["fast"])
        assert client.post("/api/v1/review", json={**asked, "fast": True}).status_code == 200


def test_a_review_names_the_games_whose_score_contradicts_the_game_before(client):
    text = BY_GNUBG.replace("Ann Lee : 4", "Ann Lee : 3")
    asked = {"content": b64encode(text.encode()).decode(), "player": "pubeval", "fast": True}
    heading = json.loads(client.post("/api/v1/review", json=asked).text.splitlines()[0])["match"]
    assert heading["score_jumps"] == [{"game": 3, "begins": [3, 0], "ended": [4, 0]}]


def test_a_review_names_the_day_of_the_match(client):
    asked = {"content": b64encode(BY_GNUBG.encode()).decode(), "player": "pubeval", "fast": True}
    heading = json.loads(client.post("/api/v1/review", json=asked).text.splitlines()[0])["match"]
    assert [heading[name] for name in ("event", "site", "date")] == [None, None, "2026-11-20"]


def test_a_review_names_illegal_plays_and_does_not_judge_them(client):
    text = BY_GNUBG.replace("8/5 6/5", "8/5")
    asked = {"content": b64encode(text.encode()).decode(), "player": "pubeval", "fast": True}
    first, *lines = map(json.loads, client.post("/api/v1/review", json=asked).text.splitlines())
    illegal = {"game": 1, "move": 1, "player": "Ann Lee", "roll": "31", "play": "8/5"}
    assert first["match"]["illegal_plays"] == [illegal]
    rolls = [one for line in lines for one in line.get("decisions") or [] if one["is_play"]]
    assert [(one["dice"], one["done"]) for one in rolls[:2]] == [([3, 1], None), ([6, 5], "24/13")]


def test_the_page_makes_the_trials_of_analyses():
    script = (FILES / "rollout.js").read_text(encoding="utf-8")
    (steps,) = re.findall(r"STEPS = (\[.*?\])", script)
    (settings,) = re.findall(r"SETTINGS = \{(.*?)\}", script)
    given = dict(pair.split(": ") for pair in settings.strip().split(", "))
    assert json.loads(steps)[-1] == SHORT.trials
    assert {name: json.loads(value) for name, value in given.items()} == {
        "cut": SHORT.cut,
        "luck_plies": SHORT.cut,
        "stop_at_bearoff": SHORT.stop_at_bearoff,
        "stratified": SHORT.stratified,
    }
    assert SHORT.luck_plies >= SHORT.cut
