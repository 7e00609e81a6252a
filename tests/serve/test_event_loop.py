"""Clients cannot block the event loop, which reads requests and receives signals."""

import asyncio
import gc
import json
import socket
import threading
import time
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import httpx
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from starlette.exceptions import HTTPException

from motif.runtime.errors import SettingError
from motif.serve import bodies, motif_api
from motif.serve.bodies import LARGE
from motif.serve.engine_service import EngineService
from motif.serve.guard import Guard
from motif.serve.questions import EvaluateQuestion
from tests.serve.conftest import OPENING, QUICK, running

MAX_BLOCKED = 0.1
"""Seconds of the processor, at most, that a callback takes; ten times what it should, for slow machines."""
FORM = "multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="f"; filename="%s"\r\n\r\n'
TURNS = b"  1) 31: 8/5 6/5                      42: 8/4 6/4\n"
GAME = b" Game %d\n Ann : 0                              Ben : 0\n" + TURNS


class Callbacks:
    """Durations of the callbacks of event loops outside the main thread."""

    def __init__(self):
        self.seconds, self.longest = 0.0, ""

    def watch(self, monkeypatch):
        usual = asyncio.events.Handle._run

        def run(handle):
            started = time.thread_time()
            try:
                return usual(handle)
            finally:
                seconds = time.thread_time() - started
                if seconds > self.seconds and threading.current_thread() is not threading.main_thread():
                    self.seconds, self.longest = seconds, repr(handle)[:500]

        monkeypatch.setattr(asyncio.events.Handle, "_run", run)


@pytest.fixture(scope="module")
def watched():
    """A server, and the callbacks of its event loop.

    Objects of the tests before are frozen: collecting garbage among them takes half a second of whichever
    thread allocates next, and a server in a process of its own does not have them.
    """
    callbacks = Callbacks()
    gc.collect()
    gc.freeze()
    with pytest.MonkeyPatch.context() as patch:
        callbacks.watch(patch)
        with running(QUICK, loop="asyncio") as asking:
            asking.post("/api/v1/analyse", content=b" 1 point match\n\n" + GAME % 1)
            asking.get("/openapi.json")
            yield asking, callbacks
    gc.unfreeze()


def nested():
    head = b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n"
    return b"".join(b"--b%d\r\n" % k + head % (k + 1) for k in range(20_000))


def batch(name, items):
    return json.dumps({name: items}).encode()


JSON = "application/json"
ANALYSE, EVALUATE, HINT = "/api/v1/analyse?fast=true", "/api/v1/batches/evaluate", "/api/v1/batches/hint"
DECISION = {"id": OPENING, "dice": [3, 1]}
REFUSED = [
    (ANALYSE, "multipart/form-data; boundary=b0", nested, "the form has no file"),
    (ANALYSE, FORM, lambda: b"--b\r\n\r\n" * 57_000, "a form must have at most 16 parts"),
    (ANALYSE, FORM, lambda: b"--b\r\n\r\n" * 500_000, "a form must have at most 16 parts"),
    (ANALYSE, FORM, lambda: PART % (b"=?utf-8?q?a?= " * 10_000) + b"x\r\n--b--\r\n", "cannot be read"),
    (ANALYSE, FORM, lambda: PART % (b"=?utf-8?q?a?= " * 200_000) + b"x\r\n--b--\r\n", "cannot be read"),
    (
        ANALYSE,
        FORM,
        lambda: b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n' * 20_000,
        "a form must have at most 16 parts",
    ),
    (ANALYSE, FORM, lambda: b"--b\r\n" + b"X: y\r\n" * 300_000 + b"\r\n", "the form cannot be read"),
    (ANALYSE, FORM, lambda: PART % b"x.mat" + b"x" * 1000, "the form ends within its file"),
    (ANALYSE, "multipart/form-data", lambda: b"x", "the form has no boundary"),
    (ANALYSE, FORM + "b" * 1000, lambda: b"x", "the form cannot be read"),
    (ANALYSE, "text/plain", lambda: b"x" * 3_900_000, "not a .mat file"),
    (
        ANALYSE,
        "text/plain",
        lambda: b" 0 point match\n\n" + b"".join(GAME % k for k in range(500)) + b"\x00?" * 1000,
        "the record",
    ),
    (EVALUATE, JSON, lambda: b'{"ids":[' + b"[]," * 1_300_000 + b"[]]}", "at most 121000 values"),
    (HINT, JSON, lambda: b'{"decisions":[' + b"{}," * 1_300_000 + b"{}]}", "at most 121000 values"),
    (HINT, JSON, lambda: b'{"decisions":[' + b"{}," * 9_000 + b"{}]}", "decisions.0.id: is missing"),
    (EVALUATE, JSON, lambda: b'{"ids":[' + b"1," * 1_900_000 + b"1]}", "at most 121000 values"),
    (EVALUATE, JSON, lambda: b'{"ids":[' + b"1," * 9_000 + b"1]}", "ids.0: must be a valid string, not 1"),
    (
        EVALUATE,
        JSON,
        lambda: json.dumps({f"k{number}": 0 for number in range(99_999)}).encode(),
        "an object may have at most 64 keys",
    ),
    (
        HINT,
        JSON,
        lambda: batch("decisions", [{f"k{number}": 0 for number in range(99_999)}]),
        "an object may have at most 64 keys",
    ),
    (EVALUATE, JSON, lambda: b"[" * 100_000, "the body must be a JSON object: "),
    (EVALUATE, JSON, lambda: b"1" * 3_900_000, "the body must be a JSON object: "),
    (EVALUATE, JSON, lambda: batch("ids", ["x" * 3_900_000]), "ids[0]: invalid position"),
    (EVALUATE, JSON, lambda: batch("ids", [OPENING] * 10_001), "a batch must have at most 10000 positions"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_attacks_are_refused_in_one_line_and_hold_nothing_up(watched, number):
    asking, callbacks = watched
    path, kind, content, message = REFUSED[number]
    callbacks.seconds = 0.0
    answer = asking.post(path, content=content(), headers={"Content-Type": kind})
    assert (answer.status_code, message in answer.text) == (400, True), answer.text[:300]
    assert "\n" not in answer.text
    assert callbacks.seconds < MAX_BLOCKED, callbacks.longest


@pytest.mark.parametrize(
    ("path", "document"),
    [
        (EVALUATE, {"ids": [OPENING] * 10_000}),
        (HINT, {"decisions": [DECISION] * 3000}),
        ("/api/v1/batches/cube", {"ids": [OPENING] * 300}),
        ("/api/v1/plays", {"id": OPENING, "dice": [1, 1]}),
        ("/api/v1/rollout", {"id": OPENING, "trials": 36, "cut": 2}),
        ("/api/v1/position", {"id": OPENING}),
        ("/api/v1/evaluate", {"id": OPENING, "player": "keith-v1"}),
    ],
)
def test_large_answers_hold_nothing_up(watched, path, document):
    asking, callbacks = watched
    callbacks.seconds = 0.0
    assert asking.post(path, json=document).status_code == 200
    assert callbacks.seconds < MAX_BLOCKED, callbacks.longest


@pytest.mark.parametrize("name", ["hints", "cubes"])
def test_a_batch_ends_when_its_answer_gets_too_long(monkeypatch, name):
    monkeypatch.setattr(motif_api, "_MAX_LISTED", 1000)
    parts = iter([[{"x": "y" * 80}] * 8] * 3)
    with pytest.raises(SettingError, match="the answer would have more than 1000 bytes") as raised:
        motif_api._listed(name, parts)
    assert len(list(parts)) == 1  # which was not made
    assert raised.value.fields == (("plays",) if name == "hints" else ())
    assert json.loads(motif_api._listed(name, [[], [{}, {}], [{}]])) == {name: [{}, {}, {}]}


@pytest.mark.parametrize(
    ("size", "unread", "status"),
    [
        (999_999, 80_000_000, 200),
        (1_000_000, 79_000_000, 200),
        (1_000_000, 79_000_001, 503),
        (80_000_001, 0, 400),
    ],
)
def test_answers_wait_for_memory_only_if_they_are_large(size, unread, status):
    service, sent = EngineService(QUICK), []

    async def send(message):
        sent.append(message)

    async def answer():
        await service.answers.take(unread)
        await bodies.LargeAnswer(bytes(size), service)({"type": "http"}, None, send)

    try:
        asyncio.run(answer())
        assert sent[0]["status"] == status
        service.answers.give_back(unread)
        assert service.answers.fits(80_000_000)
    finally:
        service.close()


def test_pages_hold_nothing_up(watched):
    asking, callbacks = watched
    callbacks.seconds = 0.0
    diagram = f"/api/v1/diagram?id={OPENING}"
    documents = "/openapi.json", "/api-docs/openapi.json", "/api/v1/players", diagram
    for path in ("/", "/app.js", "/docs", *documents):
        assert asking.get(path).status_code == 200
    assert callbacks.seconds < MAX_BLOCKED, callbacks.longest


CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * 100_000_000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000_000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: aaaaaaaaaaaaaaaa\r\n" * 1_000_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 101 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a" * 40_000 + b": b\r\n\r\n",
        CHUNKED + b"0\r\n" + b"X: y\r\n" * 200,
        CHUNKED + b"0\r\nX: " + b"a" * 20_000_000,
        CHUNKED + b"0\r\n" + b"a" * 20_000_000,
        CHUNKED + b"1;" + b"a" * 20_000_000,
        CHUNKED + b"1;x=" + b"a" * 20_000_000,
    ],
)
def test_heads_have_a_limit(watched, head):
    asking, callbacks = watched
    callbacks.seconds = 0.0
    with socket.create_connection((asking.base_url.host, asking.base_url.port), timeout=60) as raw:
        try:
            for k in range(0, len(head), 1 << 16):
                raw.sendall(head[k : k + (1 << 16)])
            answer = raw.recv(1000)
        except ConnectionError:  # it has not read everything
            answer = b"HTTP/1.1 431"
    assert answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 405")), answer
    assert callbacks.seconds < MAX_BLOCKED, callbacks.longest
    large = {"X-Large": "x" * 30_000}
    assert asking.get("/api/v1/health", headers=large).status_code == 200


def test_a_flood_of_pipelined_requests_holds_nothing_up(watched):
    asking, callbacks = watched
    callbacks.seconds = 0.0
    with socket.create_connection((asking.base_url.host, asking.base_url.port), timeout=60) as raw:
        with suppress(ConnectionError):  # closed meanwhile
            raw.sendall(b"GET /x HTTP/1.1\r\nHost:[::1]\r\n\r\n" * 35_000)
        assert asking.get("/api/v1/health").status_code == 200
    assert callbacks.seconds < MAX_BLOCKED, callbacks.longest


@pytest.mark.parametrize(("size", "is_refused"), [(LARGE - 1, False), (LARGE, True)])
def test_small_bodies_pass_while_large_ones_fill_the_memory(size, is_refused):
    statuses = []

    async def app(scope, receive, send):
        await receive()
        statuses.append(200)

    async def receive():
        return {"type": "http.request", "body": b" " * size}

    guard = Guard(app, QUICK)
    guard.held = 16 * QUICK.body
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    with pytest.raises(HTTPException) if is_refused else nullcontext():
        asyncio.run(guard(scope, receive, None))
    assert bool(statuses) != is_refused
    assert guard.held == 16 * QUICK.body


def test_a_body_counts_only_until_it_is_decoded():
    service = EngineService(QUICK)

    async def receive():
        return {"type": "http.request", "body": json.dumps({"id": OPENING}).encode() + b" " * LARGE}

    app = SimpleNamespace(state=SimpleNamespace(service=service))
    request = bodies._JsonRequest({"type": "http", "app": app}, receive)
    request.model = EvaluateQuestion
    try:
        assert asyncio.run(request.json()) == EvaluateQuestion(id=OPENING)
        assert service.bodies.fits(2 * QUICK.body)
    finally:
        service.close()


def test_bodies_that_never_come_to_their_end_have_a_limit(watched):
    """Together they may hold 16 times as much as one."""
    asking, callbacks = watched
    callbacks.seconds = 0.0
    head = b"POST /api/v1/hint HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3999999\r\n\r\n"
    body = head + b'{"id":"' + b"x" * 3_900_000
    held: list[socket.socket] = []

    def hold() -> None:
        held.append(socket.create_connection((asking.base_url.host, asking.base_url.port), 60))
        with suppress(ConnectionError):  # refused already
            held[-1].sendall(body)

    try:
        for _ in range(20):
            hold()
        with httpx.Client(base_url=asking.base_url, trust_env=False, timeout=60) as another:
            assert another.post("/api/v1/evaluate", json={"id": OPENING}).status_code == 200
            # Until this much has been read; requests refused meanwhile hold nothing.
            refused = another.get("/")
            while "too many large requests" not in refused.text:
                assert len(held) < 200
                hold()
                refused = another.post(EVALUATE, content=batch("ids", ["x" * 3_900_000]))
            assert refused.status_code == 503
    finally:
        for one in held:
            one.close()
    while asking.post(EVALUATE, content=batch("ids", [OPENING] * 1000)).status_code == 503:
        pass
    assert callbacks.seconds < MAX_BLOCKED, callbacks.longest
