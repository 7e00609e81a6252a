"""Every key of real answers is in the schema, for every route and every kind of answer."""

import copy
import json
from base64 import b64encode
from collections.abc import Iterator

import jsonschema
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from motif.serve.serve_settings import ServeSettings
from tests.serve.conftest import OPENING, RACE, running
from tests.short_rollouts import shorten_rollouts

MATCH = """ 3 point match

 Game 1
 Ann : 0                              Ben : 0
  1) 31: 8/5 6/5                      42: 8/4 6/4
  2) 65: 24/18 18/13                  11: 24/22 6/5(2)
  3)  Doubles => 2                     Takes
  4) 61: 8/1*                          54: bar/21 6/1*
"""
MONEY = MATCH.replace(" 3 point match", " 0 point match")
AT_SCORE = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:3:4:0:5:10"
UNCHECKED = {
    ("get", "/api/v1/diagram"),  # a drawing
    ("delete", "/api/v1/jobs/{job}"),  # see test_motif_api.py
}
QUICK = {"trials": 36, "cut": 2}
WILDBG = {"p24": 2, "p19": -5, "p17": -3, "p13": 5, "p12": -5, "p8": 3, "p6": 5, "p1": -2}
START = {"6": 5, "8": 3, "13": 5, "24": 2}
BGWEB = {"board": {"x": START, "o": START}, "dice": [3, 1], "max-moves": 2}
ROLLED = {"done": "24/23 13/10", "equity": 0.1, "source": "rollout", "se": 0.01, "lookahead": 0.1}
POSTED = [
    *(
        ("evaluate", {"id": RACE, "detailed": True, "player": player})
        for player in ("motif-v1", "latest", "bras", "phase")
    ),
    ("evaluate", {"id": OPENING}),
    ("plays", {"id": OPENING, "dice": "31"}),
    ("hint", {"id": OPENING, "dice": "31"}),
    ("hint", {"id": AT_SCORE, "shown": True, "known_plays": [ROLLED]}),
    ("hint", {"id": RACE}),
    ("cube", {"id": RACE, "length": 5, "shown": True}),
    ("cube", {"id": RACE, "jacoby": True, "player": "bras"}),
    ("decide", {"id": AT_SCORE}),
    ("decide", {"id": RACE}),
    ("explain", {"id": OPENING, "dice": "31"}),
    ("explain", {"id": OPENING, "dice": "31", "length": 5, "player": "motif-v1@1"}),
    ("explain", {"id": OPENING, "dice": "31", "player": "latest"}),
    ("explain", {"id": OPENING, "dice": "31", "player": "bras"}),
    ("rollout", {"id": OPENING, **QUICK}),
    ("rollout", {"id": OPENING, "trials": 1, "cut": 2}),
    ("rollout", {"id": OPENING, "dice": "31", "compare": True, "length": 5, "eliminate": True, **QUICK}),
    ("rollout", {"id": OPENING, "dice": "31", "compare": True, "cubeful": True, **QUICK}),
    ("rollout", {"id": OPENING, "cubeful": True, **QUICK}),
    ("rollout", {"id": OPENING, "cubeful": True, "length": 5, **QUICK}),
    ("batches/evaluate", {"ids": [OPENING]}),
    ("batches/hint", {"decisions": [{"id": OPENING, "dice": "31"}], "length": 5}),
    ("batches/cube", {"ids": [RACE], "length": 5}),
    ("getmoves", BGWEB),
    ("position", {"id": AT_SCORE}),
    ("position", {"id": OPENING}),
]
SENT = [
    *(("post", f"/api/v1/{path}", {"json": question}) for path, question in POSTED),
    ("get", "/api/v1/health", {}),
    ("get", "/api/v1/players", {}),
    ("get", "/eval", {"params": WILDBG}),
    ("get", "/move", {"params": {**WILDBG, "die1": 3, "die2": 1}}),
    ("post", "/api/v1/analyse", {"content": MATCH, "params": {"moves": True}}),
    ("post", "/api/v1/analyse", {"content": MONEY, "params": {"player": "motif-v1@1", "jacoby": True}}),
    ("post", "/api/v1/analyse", {"content": MATCH, "params": {"stream": True}}),
    ("post", "/api/v1/rollout", {"json": {"id": OPENING, "stream": True, **QUICK}}),
    *(
        ("post", "/api/v1/review", {"json": {"content": b64encode(text.encode()).decode(), "keep": keep}})
        for text, keep in ((MATCH, True), (MONEY, False))
    ),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    settings = ServeSettings(port=0, player="motif-v1", games=str(tmp_path_factory.mktemp("games")))
    with pytest.MonkeyPatch.context() as patch, running(settings) as made:
        shorten_rollouts(patch)
        yield made


def objects(part: object) -> Iterator[dict]:
    """All schemas of objects with properties."""
    if isinstance(part, dict):
        if "properties" in part:
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from objects(one)


@pytest.fixture(scope="module")
def schema(client):
    """The schema, which forbids keys that it does not list."""
    strict = copy.deepcopy(client.get("/openapi.json").json())
    for one in objects(strict):
        one["additionalProperties"] = False
    return strict


def answers_of(schema, method, path, status=200):
    return schema["paths"][path][method]["responses"][str(status)]["content"]


@pytest.mark.parametrize(("method", "path", "sent"), SENT)
def test_every_key_of_an_answer_is_in_the_schema(client, schema, method, path, sent):
    answer = client.request(method, path, **sent)
    assert answer.status_code == 200, answer.text
    media_type = answer.headers["content-type"].partition(";")[0]
    described = answers_of(schema, method, path)[media_type]["schema"]
    is_stream = media_type == "application/x-ndjson"
    documents = [json.loads(line) for line in answer.text.splitlines()] if is_stream else [answer.json()]
    assert not any({"error", "message"} & set(one) for one in documents if isinstance(one, dict))
    for document in documents:
        validator = jsonschema.Draft202012Validator({**described, "components": schema["components"]})
        fault = jsonschema.exceptions.best_match(validator.iter_errors(document))
        assert fault is None, (fault.json_path, fault.message[:300])


def test_every_route_is_asked(schema):
    known = {(method, path) for path, methods in schema["paths"].items() for method in methods}
    assert {(method, path) for method, path, _ in SENT} == known - UNCHECKED


def test_no_object_of_an_answer_is_untyped(schema):
    """Those of requests and errors are dataclasses and models already."""
    for name, one in schema["components"]["schemas"].items():
        for key, about in one.get("properties", {}).items():
            is_untyped = about.get("type") == "object" and about.get("additionalProperties") is True
            is_untyped |= about.get("items", {}).get("additionalProperties") is True
            assert not is_untyped, (name, key)


def test_statuses_and_content_types_are_declared(client, schema):
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            assert {"200", "400", "503"} <= set(operation["responses"]), path
            assert path in ("/move", "/eval") or "413" in operation["responses"], path
    cases = [
        (400, client.post("/api/v1/position", json={"id": "x"})),
        (400, client.post("/api/v1/review", json={"content": "?"})),
        (404, client.post("/api/v1/review", json={"game": "none"})),
        (400, client.get("/api/v1/diagram", params={"id": "x"})),
        (404, client.delete("/api/v1/jobs/0")),
        (413, client.post("/api/v1/evaluate", content=b" " * 4_000_001)),
    ]
    for status, answer in cases:
        assert answer.status_code == status, answer.text
        request = answer.request
        path = "/api/v1/jobs/{job}" if request.method == "DELETE" else request.url.path
        (described,) = answers_of(schema, request.method.lower(), path, status).values()
        jsonschema.validate(answer.json(), {**described["schema"], "components": schema["components"]})
    for path in ("/api/v1/rollout", "/api/v1/analyse"):
        types = {"application/json", "application/x-ndjson", "text/event-stream"}
        assert set(answers_of(schema, "post", path)) == types
    assert set(answers_of(schema, "get", "/api/v1/diagram")) == {"image/svg+xml"}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"trials": 0}, "trials"), ({"length": 129, "cubeful": True}, "length"), ({"seed": -1}, "seed")],
)
def test_limits_are_those_of_the_schema(client, schema, wrong, field):
    described = {"$ref": "#/components/schemas/RolloutRequest", "components": schema["components"]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"id": OPENING, **wrong}, described)
    answer = client.post("/api/v1/rollout", json={"id": OPENING, **wrong})
    assert (answer.status_code, answer.json()["fields"]) == (400, [field])


@pytest.mark.parametrize("wrong", [1, "yes"])
def test_switches_are_true_or_false(client, schema, wrong):
    asked = []
    for path, methods in schema["paths"].items():
        reference = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json")
        if reference is None:
            continue
        model = schema["components"]["schemas"][reference["schema"]["$ref"].split("/")[-1]]
        for name, about in model["properties"].items():
            if "boolean" in (about.get("type"), *(one.get("type") for one in about.get("anyOf", ()))):
                answer = client.post(path, json={**model.get("examples", [{}])[0], name: wrong})
                asked.append((path, name, answer.status_code, answer.json().get("fields")))
    assert len(asked) > 30
    assert [one for one in asked if one[2:] != (400, [one[1]])] == []
