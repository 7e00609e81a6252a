"""motif's own interface returns what the commands print with --json."""

import json
import re

import jsonschema
import pytest

from motif.cli.main import main
from motif.evaluators.known_players import default_player
from motif.runtime.package import VERSION
from motif.serve.http import routes
from tests.serve.conftest import OPENING, RACE
from tests.serve.page_client import answered

MATCH = """ 3 point match

 Game 1
 Ann : 0                              Ben : 0
  1) 31: 8/5 6/5                      42: 8/4 6/4
  2) 65: 24/18 18/13                  11: 24/22 6/5(2)
"""


def printed(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def without_seconds(record):
    return {key: value for key, value in record.items() if not key.endswith(("seconds", "_per_second"))}


@pytest.mark.parametrize(
    ("words", "path", "question"),
    [
        (["evaluate", OPENING], "evaluate", {"id": OPENING}),
        (["evaluate", RACE, "--detailed"], "evaluate", {"id": RACE, "detailed": True}),
        (["evaluate", OPENING, "--player", "pubeval@1"], "evaluate", {"id": OPENING, "player": "pubeval@1"}),
        (["plays", OPENING, "3", "1"], "plays", {"id": OPENING, "dice": [3, 1]}),
        (["hint", OPENING, "31", "--fast"], "hint", {"id": OPENING, "dice": "31", "fast": True}),
        (
            ["hint", OPENING, "6", "4", "--length", "5", "--score", "3-4", "--crawford", "--fast"],
            "hint",
            {"id": OPENING, "dice": "6-4", "length": 5, "score": [3, 4], "crawford": True, "fast": True},
        ),
        (
            ["cube", RACE, "--length", "7", "--score", "3-5", "--cube", "2", "--owner", "me"],
            "cube",
            {"id": RACE, "length": 7, "score": "3-5", "cube": 2, "owner": "me"},
        ),
        (["cube", RACE, "--jacoby", "--fast"], "cube", {"id": RACE, "jacoby": True, "fast": True}),
    ],
)
def test_answers_are_those_of_the_commands(judge, capsys, words, path, question):
    assert answered(judge, path, **question) == printed(capsys, *words)


def test_an_explanation_is_that_of_the_command(judge, capsys):
    expected = printed(capsys, "explain", OPENING, "3", "1", "--versus", "24/23 13/10", "--fast")
    expected.pop("html")
    answer = answered(judge, "explain", id=OPENING, dice=[3, 1], versus="24/23 13/10", fast=True)
    assert answer == expected


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (["--trials", "72", "--cut", "5"], {"trials": 72, "cut": 5}),
        (
            ["3", "1", "--compare", "--candidates", "2", "--trials", "36", "--cut", "5"],
            {"dice": [3, 1], "compare": True, "candidates": 2, "trials": 36, "cut": 5},
        ),
        (
            ["--cubeful", "--trials", "36", "--length", "3", "--cut", "5"],
            {"cubeful": True, "trials": 36, "length": 3, "cut": 5},
        ),
    ],
)
def test_rollouts_are_those_of_the_command(judge, capsys, words, question):
    expected = printed(capsys, "rollout", OPENING, *words)
    answer = answered(judge, "rollout", id=OPENING, **question)
    assert without_seconds(answer) == without_seconds(expected)


def test_an_analysis_is_that_of_the_command(judge, capsys, tmp_path):
    file = tmp_path / "match.mat"
    file.write_text(MATCH, "utf-8")
    expected = printed(capsys, "analyse", str(file), "--fast")
    expected.pop("html")
    whole = judge.post("/api/v1/analyse?fast=true", content=MATCH).json()
    form = judge.post("/api/v1/analyse?fast=true", files={"file": ("match.mat", MATCH)}).json()
    assert form == {**expected, "file": "match.mat"}
    assert whole == {**form, "file": whole["file"]}


def test_a_rollout_shows_its_progress(client):
    question = {"id": OPENING, "trials": 4000, "cut": 2, "stream": True, "player": "pubeval"}
    with client.stream("POST", "/api/v1/rollout", json=question) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        events = [json.loads(line) for line in answer.iter_lines()]
    assert re.fullmatch("[0-9a-f]{16}", events[0]["job"])
    assert set(events[-1]) == {"result"}
    progress = [event["progress"] for event in events[1:-1]]
    assert all(0 <= one["done"] <= one["total"] for one in progress)
    assert [one["done"] for one in progress] == sorted(one["done"] for one in progress)
    whole = answered(client, "rollout", **{**question, "stream": False})
    assert without_seconds(events[-1]["result"]) == without_seconds(whole)


def test_events_for_browsers(client):
    question = {"id": OPENING, "trials": 36, "cut": 2}
    answer = client.post("/api/v1/rollout", json=question, headers={"Accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(part.removeprefix("data: ")) for part in answer.text.split("\n\n") if part]
    assert "job" in events[0]
    assert "result" in events[-1]


def test_faults_of_streamed_work_are_reported_in_the_stream(client):
    answer = client.post("/api/v1/analyse?stream=true", content="no match")
    assert "not a .mat file" in json.loads(answer.text.splitlines()[-1])["error"]


def test_batches_have_the_numbers_of_single_positions(judge):
    ids = [OPENING, RACE, "sGfwATDgc/ABMA"]
    batch = answered(judge, "batches/evaluate", ids=ids)
    for number, one in enumerate(ids):
        record = answered(judge, "evaluate", id=one)
        for name in ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"):
            assert batch[name][number] == pytest.approx(record[name], abs=1e-7)


def test_batches_of_hints_and_cubes(client):
    decisions = [{"id": OPENING, "dice": [3, 1]}, {"id": OPENING, "dice": "64"}]
    hints = answered(client, "batches/hint", decisions=decisions, plays=2)["hints"]
    assert hints == [
        {**record, "plays": record["plays"][:2]}
        for record in (answered(client, "hint", **decision) for decision in decisions)
    ]
    cubes = answered(client, "batches/cube", ids=[RACE, OPENING], length=7)["cubes"]
    assert cubes == [answered(client, "cube", id=one, length=7) for one in (RACE, OPENING)]


def test_who_may_be_asked(client):
    names = [player["name"] for player in client.get("/api/v1/players").json()["players"]]
    assert {"pubeval", "bras", "phase"} <= set(names)
    assert all(answered(client, "evaluate", id=OPENING, player=name) for name in ("pubeval", "bras@1"))
    assert client.get("/api/v1/health").json() == {"status": "ok", "version": VERSION}


@pytest.mark.parametrize("path", ["evaluate", "plays"])
def test_clients_need_not_say_that_they_send_json(client, path):
    """A page's `fetch` says text/plain, and curl that it sends a form."""
    body = json.dumps({"id": OPENING, **({"dice": "31"} if path == "plays" else {})}).encode()
    kinds = ("application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "application/json", None)
    for kind in kinds:
        headers = {} if kind is None else {"Content-Type": kind}
        answer = client.post(f"/api/v1/{path}", content=body, headers=headers)
        assert answer.status_code == 200, (kind, answer.text)


@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("evaluate", '{"id": "%s", "id": "%s"}', "id"),
        ("plays", '{"id": "%s", "dice": "31", "id": "%s"}', "id"),
        ("batches/hint", '{"decisions": [{"id": "%s", "id": "%s", "dice": "31"}]}', "id"),
        ("getmoves", '{"board": {"x": {"6": 5, "6": 2}, "o": {"6": 5}}, "dice": [3, 1], "player": "x"}', "6"),
    ],
)
def test_duplicate_keys_are_refused(client, path, body, key):
    """As in motif's files: a reader cannot know which value was meant."""
    text = body % (OPENING, RACE) if "%s" in body else body
    answer = client.post(f"/api/v1/{path}", content=text)
    said = f"the body must be a JSON object: duplicate key '{key}'"
    assert (answer.status_code, answer.json()) == (400, {"message": said})


def test_duplicate_query_parameters_are_refused(client):
    answer = client.post("/api/v1/analyse?worst=1&worst=2", content=MATCH)
    said = {"message": "worst: duplicate query parameter", "fields": ["worst"]}
    assert (answer.status_code, answer.json()) == (400, said)


def test_every_example_of_the_schema_is_answered(judge):
    """And the schema is valid."""
    schema = judge.get("/openapi.json").json()
    assert schema["openapi"].startswith("3.1")
    asked = 0
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert "422" not in operation["responses"]
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            body = schema["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
            for example in body["examples"]:
                jsonschema.validate(example, {**body, "components": schema["components"]})
                quick = {"trials": 36} if "trials" in example else {}
                answer = judge.request(method, path, json={**example, **quick})
                assert answer.status_code == 200, (path, example, answer.text)
                asked += 1
    assert asked > 10


def test_the_page_of_routes_loads_nothing_from_elsewhere(client):
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "/api/v1/hint" in page.text
    assert not re.findall(r"<script|<link|@import|src=", page.text)


@pytest.mark.parametrize(
    ("path", "question", "message"),
    [
        ("evaluate", {"id": "x"}, "invalid position 'x'"),
        ("evaluate", {}, "id: is missing"),
        (
            "evaluate",
            {"id": OPENING, "detail": True},
            "detail: unknown field; did you mean",
        ),
        ("plays", {"id": OPENING}, "dice: missing, and the ID holds no roll"),
        ("hint", {"id": OPENING, "dice": [7, 1]}, "dice"),
        ("hint", {"id": OPENING, "dice": "31", "score": [1, 1]}, "score needs a match"),
        ("hint", {"id": OPENING, "dice": "31", "fast": True, "deep": True}, "fast"),
        ("hint", {"id": OPENING, "dice": "31", "fast": 1}, "fast: must be true or false, not 1"),
        ("cube", {"id": OPENING, "cube": 3}, "must be a power of two up to 32768, not 3"),
        ("rollout", {"id": OPENING, "eliminate": True}, "compare must be true"),
        ("rollout", {"id": OPENING, "length": 5}, "a match or a cube"),
        ("rollout", {"id": OPENING, "dice": "31"}, "dice is for comparing plays: compare must be true"),
        ("rollout", {"id": OPENING, "candidates": 2}, "candidates is for comparing plays"),
        (
            "rollout",
            {"id": OPENING, "dice": "31", "compare": True, "candidates": 2, "play": ["8/5 6/5"]},
            "candidates and play cannot be combined",
        ),
        ("rollout", {"id": OPENING, "player": "latest@1"}, "rollouts are played by"),
        (
            "cube",
            {"id": OPENING, "owner": "center"},
            "owner: must be 'me', 'opponent', 'none', 'centre' or 'you', not 'center'",
        ),
        ("hint", {"id": OPENING, "dice": [True, 1]}, "dice.0: must be a valid integer, not True"),
        ("hint", {"id": OPENING, "dice": 31}, "dice: must be two numbers such as [3, 1], not 31"),
        ("hint", {"id": OPENING, "dice": ["3", 1]}, "dice.0: must be a valid integer, not '3'"),
        ("cube", {"id": OPENING, "length": True}, "length: must be a valid integer, not True"),
        (
            "cube",
            {"id": OPENING, "length": 3, "score": [True, 1]},
            "score.0: must be a valid integer, not True",
        ),
        ("rollout", {"id": OPENING, "trials": True}, "trials: must be a valid integer, not True"),
        ("rollout", {"id": OPENING, "se": True}, "se: must be a valid number, not True"),
        ("batches/evaluate", {"ids": [OPENING, "?"]}, "ids[1]: invalid position '?'"),
        ("batches/hint", {"decisions": [{"id": OPENING}]}, "decisions[0]: dice: missing"),
    ],
)
def test_bad_questions_are_answered_in_one_line(client, path, question, message):
    answer = client.post(f"/api/v1/{path}", json=question)
    assert answer.status_code == 400
    assert message in answer.json()["message"]
    assert "\n" not in answer.json()["message"]


def test_a_missing_body_is_named(client):
    answer = client.post("/api/v1/hint")
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("the body is missing; the body must be a JSON object, such as")


def test_the_page_of_routes_has_examples_of_what_is_needed(client):
    shown = {route.path: route for route in routes(client.get("/openapi.json").json())}
    query = shown["/api/v1/diagram"].query
    assert client.get(f"/api/v1/diagram{query}").status_code == 200
    assert ("id", "string (needed)") in [field[:2] for field in shown["/api/v1/diagram"].fields]
    for name in ("die1", "die2"):
        assert (name, "integer 1 to 6 (needed)") in [field[:2] for field in shown["/move"].fields]


@pytest.mark.parametrize(
    ("path", "question", "fields"),
    [
        ("evaluate", {}, ["id"]),
        ("hint", {"id": OPENING, "dice": [3, 7]}, ["dice"]),
        ("hint", {"id": OPENING, "dise": "31"}, ["dise"]),
        ("plays", {"id": OPENING}, ["dice"]),
        ("cube", {"id": OPENING, "length": "x"}, ["length"]),
        ("cube", {"id": OPENING, "cube": 3}, ["cube"]),
        ("cube", {"id": OPENING, "length": 5, "score": [5, 1]}, ["score", "length"]),
        ("cube", {"id": OPENING, "crawford": True}, ["crawford"]),
        ("evaluate", {"id": OPENING, "player": "nobody"}, ["player"]),
        ("rollout", {"id": OPENING, "player": "latest@1"}, ["player"]),
        ("rollout", {"id": OPENING, "trials": 10**6}, ["trials"]),
        ("rollout", {"id": OPENING, "dice": "31"}, ["dice", "compare"]),
        ("batches/evaluate", {"ids": [OPENING, "?"]}, ["ids"]),
        ("batches/hint", {"decisions": [{"id": OPENING}]}, ["decisions"]),
    ],
)
def test_faults_name_the_fields(client, path, question, fields):
    answer = client.post(f"/api/v1/{path}", json=question)
    assert (answer.status_code, answer.json()["fields"]) == (400, fields)


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("post", "analyse?fats=true", "player, fast, deep, worst, moves, jokers, cube, jacoby and stream"),
        ("get", f"diagram?id={OPENING}&fats=1", "id, play, size and caption"),
        ("post", "evaluate?fats=1", "none"),
        ("get", "health?fats=1", "none"),
        ("get", "games?fats=1", "none"),
        ("post", "getmoves?fats=1", "none"),
    ],
)
def test_unknown_query_parameters_are_refused(client, method, path, known):
    body = {} if method == "get" else {"json": {"id": OPENING}}
    answer = client.request(method, f"/api/v1/{path}", **body)
    said = f"fats: unknown query parameter; this route has {known}"
    assert (answer.status_code, answer.json()) == (400, {"message": said, "fields": ["fats"]})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        *(
            (f"fast={text}", f"fast: must be true or false, not '{text}'")
            for text in ("yes", "1", "", "TRUE")
        ),
        ("jacoby=maybe", "jacoby: must be true or false, not 'maybe'"),
        *((f"worst={text}", f"worst: must be a whole number, not '{text}'") for text in ("1_0", "5.0", "x")),
        ("worst=-1", "worst: must be greater than or equal to 0, not '-1'"),
    ],
)
def test_query_parameters_are_written_as_json_writes_them(client, query, message):
    answer = client.post(f"/api/v1/analyse?{query}", content=MATCH)
    said = {"message": message, "fields": [query.partition("=")[0]]}
    assert (answer.status_code, answer.json()) == (400, said)


def test_files_of_the_page_and_wildbg_ignore_query_parameters(client):
    assert client.get("/style.css?version=3").status_code == 200
    assert client.get("/?version=3").status_code == 200
    assert client.get("/eval?p6=1&p1=-1&version=3").status_code == 200


def test_a_match_has_no_jacoby_rule(client):
    for options in ("", "&stream=true"):
        answer = client.post(f"/api/v1/analyse?jacoby=true{options}", content=MATCH)
        assert answer.status_code == 400
        assert answer.json()["message"] == "jacoby is for money play, not for the record's 3-point match"
        assert answer.json()["fields"] == ["jacoby"]
    assert client.post("/api/v1/analyse?jacoby=false", content=MATCH).status_code == 200


def test_the_cube_of_an_answer_can_be_sent_back(client):
    question = {"id": RACE, "length": 7, "score": [3, 5], "cube": 2}
    for owner in ("me", "opponent", "none", "centre", "you"):
        answer = answered(client, "cube", **question, owner=owner)
        back = {name: answer[name] for name in ("length", "score", "cube", "owner", "crawford")}
        assert answered(client, "cube", id=RACE, **back) == answer
    assert answered(client, "cube", **question, owner="you")["owner"] == "opponent"


def test_the_default_player_is_named(client, judge):
    assert client.get("/api/v1/players").json()["default"] == "pubeval"
    default = judge.get("/api/v1/players").json()["default"]
    assert default == default_player()
    assert answered(judge, "evaluate", id=OPENING, player=default) == answered(judge, "evaluate", id=OPENING)


def test_players_of_rollouts_are_marked(client):
    for player in client.get("/api/v1/players").json()["players"]:
        if player["kind"] == "a static evaluator":
            assert player["rollouts"]
            answered(client, "rollout", id=OPENING, player=player["name"], trials=1, cut=1)
        else:
            assert not player["rollouts"]


def test_an_explanation_states_the_difference_in_its_unit(judge):
    answer = answered(judge, "explain", id=OPENING, dice=[3, 1], player="motif-v1@1")
    assert answer["unit"] == "points"
    assert answer["judged_difference"] == pytest.approx(answer["judged"][0] - answer["judged"][1])
    reasons = sum(reason["contribution"] for reason in answer["reasons"])
    assert reasons == pytest.approx(answer["judged_difference"])
    assert f"by {answer['judged_difference']:.3f} points" in answer["summary"]
    for key in ("x", "equity"):
        static = answer["better"][key] - answer["worse"][key]
        assert answer["difference" if key == "x" else "equity_difference"] == pytest.approx(static)
    assert sum(term["contribution"] for term in answer["terms"]) == pytest.approx(answer["difference"])


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\ufeff"])
def test_a_body_may_begin_with_a_byte_order_mark(client, mark):
    for path, body in (("evaluate", {"id": OPENING}), ("hint", {"id": OPENING, "dice": "31"})):
        answer = client.post(f"/api/v1/{path}", content=f"{mark}{json.dumps(body)}".encode())
        assert answer.status_code == (200 if len(mark) == 1 else 400)


def test_what_is_not_there(client):
    assert client.get("/nothing").status_code == 404
    assert client.get("/api/v1/hint").status_code == 405
    assert (
        client.post("/api/v1/hint", content=b"{")
        .json()["message"]
        .startswith("the body must be a JSON object: ")
    )
    assert client.delete("/api/v1/jobs/0").status_code == 404


OVER = "cAAAAAAAAAAAAA"
ENDED = f"{OVER}: the game is over (one player has borne off all checkers)"


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("plays", {"dice": [3, 1]}),
        ("hint", {"dice": [3, 1]}),
        ("hint", {}),
        ("cube", {}),
        ("explain", {"dice": [3, 1]}),
        ("rollout", {"trials": 36}),
        ("rollout", {"trials": 36, "cubeful": True}),
        ("rollout", {"trials": 36, "compare": True, "dice": [3, 1]}),
    ],
)
def test_of_a_game_that_is_over_nothing_is_decided(client, path, question):
    answer = client.post(f"/api/v1/{path}", json={"id": OVER, **question})
    assert (answer.status_code, answer.json()["message"]) == (400, ENDED)
    assert answered(client, "evaluate", id=OVER)["win"] == 1


def test_batches_say_which_game_is_over(client):
    decisions = [{"id": OPENING, "dice": [3, 1]}, {"id": OVER, "dice": [3, 1]}]
    hints = client.post("/api/v1/batches/hint", json={"decisions": decisions})
    assert (hints.status_code, hints.json()["message"]) == (400, f"decisions[1]: {ENDED}")
    cubes = client.post("/api/v1/batches/cube", json={"ids": [OPENING, OVER]})
    assert (cubes.status_code, cubes.json()["message"]) == (400, ENDED)
