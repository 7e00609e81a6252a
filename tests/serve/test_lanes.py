"""Work belongs to its client: it queues with similar work, has a budget, and ends with its client."""

import asyncio
import json
import select
import signal
import socket
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from threading import Event

import httpx
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from motif.board.identifiers import gnubg_id
from motif.board.position import Position
from motif.evaluators.known_players import load_evaluator
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.players.ranking import rank_plays
from motif.runtime.progress import end_if_cancelled, stopped_by
from motif.serve import upload
from motif.serve.costs import RequestKind, cost_of, effort_of
from motif.serve.engine_service import EngineService
from motif.serve.lanes import BusyError, Cancellation, Lane, OverdueError, WorkCancelledError
from motif.serve.serve_settings import ServeSettings
from motif.serve.upload import Upload, UploadReader
from tests.serve.conftest import OPENING, QUICK, running, started

DEEP = {"id": OPENING, "dice": [3, 1], "deep": True}
FAST = {"id": OPENING, "dice": [3, 1], "fast": True}
LONG_BATCH = {"decisions": [{"id": OPENING, "dice": [3, 1]}] * 1400, "deep": True}
"""It would take about ten minutes."""
PLAYER = "motif-v1"


def request(path, document):
    body = json.dumps(document).encode()
    return b"POST /api/v1/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (
        path.encode(),
        len(body),
        body,
    )


def sent(stack, address, path, document):
    """A connection with a request sent and no answer read."""
    url = httpx.URL(address)
    raw = stack.enter_context(socket.create_connection((url.host, url.port), timeout=60))
    raw.sendall(request(path, document))
    return raw


def asked(address, path, document):
    return httpx.post(f"{address}/api/v1/{path}", json=document, trust_env=False, timeout=120)


@pytest.fixture(scope="module")
def address():
    with started("--waiting", "200", player=PLAYER) as (_, where):
        assert asked(where, "hint", DEEP).status_code == 200
        yield where


@pytest.mark.slow
def test_a_quick_hint_does_not_wait_behind_deep_ones(address):
    with ExitStack() as stack:
        deep = [sent(stack, address, "hint", DEEP) for _ in range(100)]
        began = time.monotonic()
        assert asked(address, "hint", FAST).status_code == 200
        seconds = time.monotonic() - began
        answered, _, _ = select.select(deep, [], [], 0)
        assert len(answered) < 50
    assert seconds < 10  # one second on an idle machine
    # The rest is not done, because no client waits for it.
    began = time.monotonic()
    assert asked(address, "hint", DEEP).status_code == 200
    assert time.monotonic() - began < 20


@pytest.mark.slow
def test_work_ends_when_its_client_leaves(address):
    for _ in range(10):
        with ExitStack() as stack:
            sent(stack, address, "batches/hint", LONG_BATCH)
            sent(stack, address, "rollout", {"id": OPENING, "trials": 20_000, "luck_plies": 100})
            several = sent(stack, address, "batches/hint", LONG_BATCH)
            several.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    # Otherwise every thread would be busy for minutes.
    assert asked(address, "hint", DEEP).status_code == 200
    rollout = {"id": OPENING, "trials": 36, "cut": 1}
    while (answer := asked(address, "rollout", rollout)).status_code == 503:
        time.sleep(0.05)
    assert answer.status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("batches/hint", LONG_BATCH),
        ("batches/cube", {"ids": [OPENING] * 5000, "deep": True}),
        ("batches/evaluate", {"ids": [OPENING] * 9000, "player": f"{PLAYER}@2:rollout"}),
        ("rollout", {"id": OPENING, "trials": 20_000, "luck_plies": 100}),
        ("rollout", {"id": OPENING, "trials": 20_000, "cubeful": True, "luck_plies": 5}),
    ],
)
def test_sigterm_ends_a_server_at_work(path, document):
    with ExitStack() as stack, started("--waiting", "1", "--rollouts", "1", player=PLAYER) as (server, where):
        at_work = sent(stack, where, path, document)
        # Refused while the other one is in progress.
        other = {"id": OPENING, "trials": 36, "cut": 1} if path == "rollout" else document
        while asked(where, path, other).status_code != 503:
            pass
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) == 0
        assert time.monotonic() - began < 15  # four seconds on an idle machine
        answer = b"".join(iter(lambda: at_work.recv(65_536), b""))
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert answer.endswith(b'"the server is stopping; try again later"}')


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_ends_a_stream_with_an_error(workers):
    document = {"id": OPENING, "trials": 20_000, "luck_plies": 100, "stream": True}
    with started("--workers", workers, player=PLAYER) as (server, where):
        url = f"{where}/api/v1/rollout"
        with httpx.stream("POST", url, json=document, trust_env=False, timeout=120) as answer:
            lines = map(json.loads, answer.iter_lines())
            assert list(next(lines)) == ["job"]
            server.send_signal(signal.SIGTERM)
            *_, last = lines
        assert last == {"error": "the server is stopping; try again later"}
        assert server.wait(timeout=60) == 0
        assert "Cancel" not in server.stderr.read()


def test_a_request_has_a_budget():
    # Compiled in advance, because compiling is part of the time of a request.
    rank_plays(Position.start(), (3, 1), load_evaluator("pubeval@2"))
    with running(replace(QUICK, budget=1)) as asking:
        answer = asking.post(
            "/api/v1/batches/hint", json={**LONG_BATCH, "deep": False, "player": "pubeval@2"}
        )
        message = "a request may take 1 s of computing time, but 1,400 positions at this depth would take"
        assert (answer.status_code, answer.json()["message"].startswith(message)) == (400, True)
        hint = asking.post("/api/v1/hint", json={"id": OPENING, "dice": "31", "player": "pubeval@2"})
        assert hint.status_code == 200
        # The total cost is known only at the end.
        rollout = {"id": OPENING, "trials": 20_000, "luck_plies": 100, "every_play": True}
        answer = asking.post("/api/v1/rollout", json=rollout)
        assert (answer.status_code, "more than 1 s of computing" in answer.json()["message"]) == (503, True)


def test_work_that_is_cancelled_ends_when_it_looks_next():
    evaluator = load_evaluator("pubeval@2")
    assert isinstance(evaluator, LookaheadEvaluator)
    looks = 0

    def check():
        nonlocal looks
        looks += 1
        if looks == 3:
            raise WorkCancelledError("cancelled")

    boards = [Position.start().board] * 1000
    with stopped_by(check), pytest.raises(WorkCancelledError):
        evaluator.evaluate_many(boards)
    assert looks == 3


def test_a_stop_ends_work_that_takes_too_long():
    def burn():
        while True:
            end_if_cancelled()

    with pytest.raises(OverdueError, match=r"more than 0\.1 s of computing"):
        Cancellation(0.1).run(burn)
    called_off = Cancellation(100)
    called_off.cancel()
    with pytest.raises(WorkCancelledError):
        called_off.run(burn)


def test_a_lane_lets_that_many_wait():
    async def ask():
        lane, free = Lane("test", 1, 2, 100), Event()
        waiting = [asyncio.ensure_future(lane.do(free.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="2 requests are already waiting"):
            await lane.do(free.wait)
        free.set()
        assert await asyncio.gather(*waiting) == [True, True]
        assert await lane.do(lambda: 7) == 7
        lane.close()

    asyncio.run(ask())


def test_a_slow_request_does_not_wait_behind_large_batches():
    async def ask():
        service, free = EngineService(QUICK), Event()
        try:
            batches = [asyncio.ensure_future(service.compute(free.wait, 60, cost=100.0)) for _ in range(40)]
            await asyncio.sleep(0)
            assert await asyncio.wait_for(service.compute(lambda: 7, cost=1.0), 30) == 7
            assert not any(one.done() for one in batches)
            free.set()
            assert all(await asyncio.gather(*batches))
        finally:
            free.set()
            service.close()

    asyncio.run(ask())


def test_a_small_match_file_does_not_wait_behind_large_ones(monkeypatch):
    service, free = EngineService(QUICK), Event()

    def read(self, one):
        return len(one.body) <= 50_000 or free.wait()

    async def ask():
        monkeypatch.setattr(UploadReader, "read", read)
        large = [asyncio.ensure_future(service.read_upload(Upload("", bytes(50_001)))) for _ in range(3)]
        await asyncio.sleep(0)
        assert await service.read_upload(Upload("", bytes(50_000)))
        assert not any(one.done() for one in large)
        free.set()
        await asyncio.gather(*large)

    try:
        asyncio.run(ask())
    finally:
        service.close()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no clock of the processor")
def test_only_computing_counts_as_time_to_read_a_match_file(monkeypatch):
    def work(*asked):
        while True:
            with suppress(Exception):
                sum(range(1000))

    def wait(*asked):
        time.sleep(0.2)
        return "read"

    before = signal.getsignal(signal.SIGPROF)
    try:
        monkeypatch.setattr(upload, "read_upload", wait)
        assert upload._outcome(Upload("", b""), 1, 0.1) == "read"
        monkeypatch.setattr(upload, "read_upload", work)
        outcome = upload._outcome(Upload("", b""), 1, 0.1)
        assert isinstance(outcome, OverdueError)
        assert "takes longer than 0.1 s" in str(outcome)
        assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    finally:
        signal.signal(signal.SIGPROF, before)


def test_deeper_costs_more():
    names = "pubeval", "pubeval@1", "pubeval@2:narrow", "pubeval@2", "pubeval@2:wide", "pubeval@2:rollout"
    for ask in RequestKind:
        costs = [cost_of(ask, name) for name in names]
        assert costs == sorted(set(costs))
    assert cost_of(RequestKind.PLAYS, "wildbg") > cost_of(RequestKind.PLAYS, "pubeval")


MANY = Position([-1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0])
"""It has 1225 legal plays of 1-1."""


def test_many_plays_and_many_full_evaluations_are_an_effort():
    start = Position.start()
    assert effort_of(start, (3, 1)) == effort_of(start, (3, 1), 1) == 1
    assert effort_of(start, (3, 1), 100) == 16 / 5  # all 16 plays
    assert effort_of(start, (6, 2), 10) == 2
    assert effort_of(MANY, (1, 1)) == 1225 / 20
    assert effort_of(MANY, (1, 1), 10) == 2 * 1225 / 20


@pytest.mark.parametrize(
    ("more", "is_slow"),
    [
        ({}, False),
        ({"full_depth": 100}, True),
        ({"full_depth": 25, "asked": ["24/23"] * 10}, True),
        ({"id": gnubg_id(MANY), "dice": [1, 1]}, True),
        ({"id": gnubg_id(MANY), "dice": [1, 1], "player": "pubeval"}, False),
    ],
)
def test_hints_that_take_long_are_slow(client, monkeypatch, more, is_slow):
    costs = []

    async def compute(self, function, *arguments, cost=0.0):
        costs.append(cost)
        return {}

    asked = {"id": OPENING, "dice": [2, 2], "player": "pubeval@2"}
    monkeypatch.setattr(EngineService, "compute", compute)
    monkeypatch.setattr("motif.serve.engine_service._LOADING", 0.0)
    assert client.post("/api/v1/hint", json=asked | more).status_code == 200
    assert (costs[0] > 0.3) == is_slow


@pytest.mark.parametrize(
    ("checkers", "is_late"),
    [
        ({24: 2, 19: -5, 13: 5, 6: 5, 1: -2}, True),
        ({24: 1, 6: 5, 5: 5, 1: -15}, True),  # after a double
        ({24: 2, 13: 5, 8: 3, 6: 5, 1: -2, 12: -5, 17: -3, 19: -5}, False),
        ({6: 3, 5: 3, 19: -4}, False),  # in the bearoff tables
    ],
)
def test_late_endings_are_slow(checkers, is_late):
    service, position = EngineService(ServeSettings()), Position.start()
    board = position.board * 0
    for point, count in checkers.items():
        board[point] = count
    try:
        service.judge(), service.judge(fast=True)
        for ask in RequestKind:
            # An evaluation is without lookahead, and an explanation may roll out.
            if ask not in (RequestKind.EVALUATION, RequestKind.EXPLANATION):
                assert (service.cost(ask, None, position=Position(board)) > 0.3) == is_late
        assert service.cost(RequestKind.EXPLANATION, None, position=position) > 0.3
        assert service.cost(RequestKind.CUBE, None, position=position) < 0.3
        assert service.cost(RequestKind.CUBE, None) > 0.3  # of an unknown position
        assert service.cost(RequestKind.CUBE, None, fast=True, position=Position(board)) < 0.3
    finally:
        service.close()
