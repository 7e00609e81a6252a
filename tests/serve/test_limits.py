"""Access rights, and limits of requests."""

import json
import re
import shutil
import time
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import httpx
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from motif.evaluators.known_players import default_player, shipped_weights
from motif.runtime.errors import PlayerError, SettingError
from motif.runtime.progress import progress
from motif.serve import bgweb_api, game_api, http, motif_api, page, stored_analysis_api, wildbg_api
from motif.serve.engine_service import EngineService
from motif.serve.http import create_app
from motif.serve.serve_settings import ServeSettings
from tests.serve.conftest import OPENING, QUICK, running

QUESTION = {"id": OPENING}
LONG = {"id": OPENING, "trials": 20_000}


@pytest.fixture(scope="module")
def strict():
    """A server named backgammon.example, with low limits."""
    settings = replace(
        QUICK,
        cors="https://friend.example",
        names="backgammon.example",
        body=2000,
        batch=3,
        trials=20_000,
        rollouts=1,
    )
    with running(settings) as asking:
        yield asking


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8080", 200),
        ("192.168.1.7", 200),
        ("[::1]:80", 200),
        ("[::1]", 200),
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("backgammon.example", 200),
        ("evil.example", 400),
        ("backgammon.example.evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("[::1].evil.example", 400),
        ("[::1]:80.evil.example", 400),
        ("[127.0.0.1]evil.example", 400),
        ("[localhost]", 400),
        ("", 400),
    ],
)
def test_names_by_which_it_may_be_called(strict, host, status):
    assert strict.get("/api/v1/health", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("https://friend.example", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://127.0.0.1:1", 403),
    ],
)
def test_pages_elsewhere_may_not_ask(strict, origin, status):
    headers = {} if origin is None else {"Origin": origin}
    assert strict.post("/api/v1/evaluate", json=QUESTION, headers=headers).status_code == status


WILDBG = [
    "/move?die1=3&die2=1&p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2",
    "/eval?p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2",
    "/api/v1/games",
]


@pytest.mark.parametrize("path", WILDBG)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://friend.example"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Referer": "https://evil.example/page"}, 403),
        ({"Referer": "http://127.0.0.1:1/page"}, 403),
        ({"Referer": "https://friend.example/page", "Sec-Fetch-Site": "cross-site"}, 200),
    ],
)
def test_pages_elsewhere_may_not_let_it_compute(strict, path, headers, status):
    assert strict.get(path, headers=headers).status_code == status


CHEAP = {
    "/api/v1/health", "/api/v1/players",
    "/openapi.json", "/api-docs/openapi.json", "/docs", "/swagger-ui", "/swagger-ui/", "/swagger/index.html",
}  # fmt: skip
"""Routes for GET that compute nothing: pages of other origins may ask for them."""


def test_pages_elsewhere_may_ask_only_for_what_costs_nothing(strict):
    homes = (motif_api, stored_analysis_api, game_api, page, http, wildbg_api, bgweb_api)
    paths = {route.path for home in homes for route in home.router.routes if "GET" in route.methods}
    assert paths > CHEAP
    for path in paths:
        refused = strict.get(path, headers={"Origin": "https://evil.example"}).status_code == 403
        assert refused == (path not in CHEAP), path


def test_what_every_page_may_ask_where_all_may(client):
    with running(replace(QUICK, cors="*")) as asking:
        foreign = {"Origin": "https://any.example", "Sec-Fetch-Site": "cross-site"}
        answer = asking.get(WILDBG[0], headers=foreign)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    # A link elsewhere may lead to the page; the page's own requests are allowed.
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/docs", "/nothing", "/api/v1/health", "/app.js", WILDBG[0]])
def test_every_answer_says_what_browsers_may_do_with_it(client, path):
    headers = client.get(path).headers
    policy = dict(part.split(maxsplit=1) for part in headers["content-security-policy"].split("; "))
    assert (policy["default-src"], policy["script-src"]) == ("'none'", "'self'")
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"


def test_pages_have_no_script_and_no_style_that_their_policy_forbids(client):
    page = client.get("/").text
    assert not re.findall(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=|javascript:", page)
    routes = client.get("/docs")
    (style,) = re.findall("<style>(.*?)</style>", routes.text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in routes.headers["content-security-policy"]
    assert not re.findall(r"<script|\son\w+=|\sstyle=", routes.text)


def test_its_own_page_may_ask(client):
    own = f"http://{client.base_url.host}:{client.base_url.port}"
    assert client.post("/api/v1/evaluate", json=QUESTION, headers={"Origin": own}).status_code == 200


def test_other_origins_are_allowed_only_on_request(client, strict):
    asked = {"Origin": "https://friend.example"}
    assert "access-control-allow-origin" not in client.get("/api/v1/health", headers=asked).headers
    allowed = strict.get("/api/v1/health", headers=asked).headers["access-control-allow-origin"]
    assert allowed == "https://friend.example"
    preflight = {**asked, "Access-Control-Request-Method": "POST"}
    assert strict.options("/api/v1/evaluate", headers=preflight).status_code == 200
    strange = {**preflight, "Origin": "https://evil.example"}
    assert strict.options("/api/v1/evaluate", headers=strange).status_code == 400


def test_a_large_body_is_refused(strict):
    """With and without an announced length."""
    large = json.dumps({"id": "x" * 3000}).encode()
    assert strict.post("/api/v1/evaluate", content=large).status_code == 413

    def parts():
        for _ in range(30):
            yield b" " * 100

    assert strict.post("/api/v1/evaluate", content=parts()).status_code == 413
    assert strict.post("/api/v1/hint", content=parts()).status_code == 413
    assert strict.get("/api/v1/health").status_code == 200


def test_batches_and_trials_have_limits(strict):
    assert strict.post("/api/v1/batches/evaluate", json={"ids": [OPENING] * 3}).status_code == 200
    answer = strict.post("/api/v1/batches/evaluate", json={"ids": [OPENING] * 4})
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        "a batch must have at most 3 positions, not 4",
    )
    answer = strict.post("/api/v1/rollout", json={"id": OPENING, "trials": 20_001})
    assert "trials must be at most 20000" in answer.json()["message"]


@pytest.mark.parametrize(
    "name",
    [
        f"weights/{default_player()}.yaml",
        "/etc/passwd",
        "../x.yaml",
        "onnx:x",
        "gnubg",
        "gnubg@2",
        "rollout:pubeval",
        "random",
        "pubeval@3",
        "pubeval@2:full",
        "pubeval\n",
        "",
    ],
)
def test_players_of_requests_are_no_files_and_no_programs(client, name):
    answer = client.post("/api/v1/evaluate", json={**QUESTION, "player": name})
    assert answer.status_code == 400
    assert re.match("unknown player", answer.json()["message"])


@pytest.mark.parametrize("name", ["{}", "{}@1", "rollout:{},trials=2"])
def test_clients_do_not_see_the_servers_paths(tmp_path, name):
    folder = tmp_path / "secret folder"
    folder.mkdir()
    shutil.copy(shipped_weights()["motif-v1"], folder / "own.yaml")
    asked = {"id": OPENING, "dice": [3, 1]}
    match = b" 1 point match\n\n Game 1\n Ann : 0  Bob : 0\n  1) 31: 8/5 6/5\n"
    with running(ServeSettings(port=0, player=name.format(folder / "own.yaml"))) as asking:
        answers = [
            asking.get("/api/v1/players"),
            asking.get(WILDBG[0]),
            asking.post("/api/v1/analyse?moves=true", content=match),
            *(
                asking.post(f"/api/v1/{path}", json=question)
                for path, question in (
                    ("evaluate", QUESTION),
                    ("evaluate", {**QUESTION, "detailed": True}),
                    ("evaluate", {**QUESTION, "player": name.format("own.yaml")}),
                    ("hint", asked),
                    ("hint", {**asked, "fast": True}),
                    ("cube", QUESTION),
                    ("explain", asked),
                    ("rollout", {**QUESTION, "trials": 36, "cut": 1, "stream": True}),
                    ("batches/evaluate", {"ids": [OPENING]}),
                    ("batches/hint", {"decisions": [asked]}),
                    ("batches/cube", {"ids": [OPENING]}),
                )
            ),
        ]
    texts = [answer.text for answer in answers]
    assert not [text for text in texts if "secret" in text or str(tmp_path) in text]
    assert answers[0].json()["default"] == name.format("own.yaml")
    assert answers[3].json()["player"] == answers[5].json()["player"] == name.format("own.yaml")


def test_clients_do_not_see_the_paths_of_parts(tmp_path):
    folder = tmp_path / "secret folder"
    folder.mkdir()
    own = folder / "own.py"
    own.write_text("class Broken:\n    def evaluate_many(self, boards):\n        raise ValueError\n")
    service = EngineService(ServeSettings(player=f"composite:race=simple,contact={own}@1"))
    assert service.public(f"{own}: evaluate_many failed") == "own.py: evaluate_many failed"
    service.close()
    service = EngineService(ServeSettings(player=f"composite:race=simple,contact={own}"))
    name, evaluator = service.evaluator(None)
    assert name == "composite:race=simple,contact=own.py"
    with pytest.raises(PlayerError, match=r"^own\.py: evaluate_many failed"):
        evaluator.evaluate(OPENING)
    assert service.public(f"{own}: evaluate_many failed") == "own.py: evaluate_many failed"
    service.close()


@pytest.fixture
def endless(monkeypatch):
    """Rollouts of LONG continue until they are cancelled."""
    usual = motif_api._rollout_work

    def work():
        with progress("waiting", 1) as advance:
            while True:
                advance(0)
                time.sleep(0.01)

    monkeypatch.setattr(
        motif_api, "_rollout_work", lambda asked, *rest: work if asked.trials > 36 else usual(asked, *rest)
    )


def test_one_rollout_at_a_time_until_it_is_cancelled(strict, endless):
    with strict.stream("POST", "/api/v1/rollout", json={**LONG, "stream": True}) as stream:
        lines = stream.iter_lines()
        job = json.loads(next(lines))["job"]
        busy = strict.post("/api/v1/rollout", json={"id": OPENING, "trials": 36})
        assert (busy.status_code, "already running" in busy.json()["message"]) == (503, True)
        assert strict.delete(f"/api/v1/jobs/{job}").json() == {"job": job, "called_off": True}
        assert json.loads(list(lines)[-1]) == {"error": "cancelled"}
    until_free(strict)


def test_a_rollout_ends_when_no_client_waits_for_it(strict, endless):
    with pytest.raises(httpx.ReadTimeout):
        strict.post("/api/v1/rollout", json=LONG, timeout=0.5)
    until_free(strict)
    with strict.stream("POST", "/api/v1/rollout", json={**LONG, "stream": True}) as stream:
        next(stream.iter_lines())
    until_free(strict)


def until_free(asking):
    """Ask until a rollout is accepted; a test that hangs here has found one that never ends."""
    while asking.post("/api/v1/rollout", json={"id": OPENING, "trials": 36}).status_code == 503:
        pass


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"port": 65536}, "port must be 0 to 65535, not 65536"),
        ({"body": 0}, "body must be 1024 to 2147483647, not 0"),
        ({"cors": "example.org"}, "cors must be * or origins such as https://example.org"),
        ({"cors": "https://example.org/page"}, "cors must be"),
        ({"games": __file__}, "games must be a folder, and "),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(SettingError, match=re.escape(message)):
        ServeSettings(**settings).check()


def test_another_program_cannot_be_asked_by_many():
    with pytest.raises(PlayerError, match="another program"):
        create_app(ServeSettings(player="gnubg@2"))
