"""A server survives slow clients, many connections and killed processes; its start and its end."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from uvicorn.supervisors.multiprocess import SIGNALS

from motif.cli.main import main
from motif.serve import http
from motif.serve.http import allow_connections
from tests.faults.processes import wait_until
from tests.serve.conftest import OPENING, QUICK, ROOT, running, started

HEAD = b"POST /api/v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def connected(asking):
    return socket.create_connection((asking.base_url.host, asking.base_url.port), timeout=60)


def still_answers(asking):
    with httpx.Client(base_url=asking.base_url, trust_env=False, timeout=60) as another:
        return another.post("/api/v1/evaluate", json={"id": OPENING}).status_code == 200


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"POST /api/v1/eval",
        HEAD + b"Content-Length: 100\r\n\r\n",
        HEAD + b'Content-Length: 100\r\n\r\n{"id":',
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n12",
    ],
)
def test_a_request_that_never_comes_to_its_end_is_given_up(begun):
    with running(replace(QUICK, patience=1)) as asking, connected(asking) as slow:
        slow.sendall(begun)
        assert still_answers(asking)
        assert slow.recv(1000) == b""


def test_a_second_request_is_not_waited_for_longer_than_the_first():
    with running(replace(QUICK, patience=1)) as asking, connected(asking) as slow:
        body = b'{"id": "4HPwATDgc/ABMA"}'
        slow.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        answer = slow.recv(10_000)
        assert answer.startswith(b"HTTP/1.1 200")
        slow.sendall(HEAD)
        while slow.recv(1000):
            pass


def test_clients_that_do_not_read_are_left_behind(client):
    with ExitStack() as stack:
        for _ in range(4):
            deaf = stack.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect((client.base_url.host, client.base_url.port))
            deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
        assert still_answers(client)


PING = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_pipelined_requests_are_answered_and_the_connection_is_kept(client):
    with connected(client) as raw:
        for _ in range(3):
            raw.sendall(PING * 16)
            answers = b""
            while answers.count(b"HTTP/1.1 200") < 16 or not answers.endswith(b"}"):
                answers += raw.recv(1 << 16)
            assert b"connection: close" not in answers


def test_the_last_of_too_many_pipelined_requests_closes_the_connection(client):
    with connected(client) as raw:
        raw.sendall(PING * 40 + b"nonsense")
        answers = b"".join(iter(lambda: raw.recv(1 << 16), b""))
    *kept, last = answers.split(b"HTTP/1.1 ")[1:]
    assert all(one.startswith(b"200") and b"connection: close" not in one for one in kept)
    assert (len(kept), last[:3], b"connection: close" in last) == (15, b"200", True)
    assert still_answers(client)


def test_invalid_http_is_refused(client):
    for nonsense in (
        b"\x16\x03\x01\x02\x00" * 100,
        b"GET\r\n\r\n",
        b"\0" * 70_000,
        b"A" * 70_000 + b"\r\n\r\n",
    ):
        with connected(client) as raw:
            raw.sendall(nonsense)
            raw.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda raw=raw: raw.recv(1000), b""))
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400"), answer
    assert still_answers(client)


def test_a_thousand_connections(client):
    allow_connections(2500)
    with ExitStack() as stack:
        for _ in range(1000):
            stack.enter_context(connected(client))
        assert still_answers(client)


def test_more_connections_than_may_be_are_refused():
    with running(replace(QUICK, connections=16)) as asking:
        with ExitStack() as stack:
            for _ in range(15):
                idle = stack.enter_context(connected(asking))
                idle.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert idle.recv(1000).startswith(b"HTTP/1.1 200")
            answer = asking.get("/api/v1/health", headers={"Connection": "close"})
            assert answer.status_code == 503
        until_answered(asking)


def until_answered(asking):
    """Ask until it answers; a test that hangs here has found a server that does not."""
    while asking.get("/api/v1/health", headers={"Connection": "close"}).status_code == 503:
        pass


def test_ctrl_c_ends_it_with_one_line():
    with started() as (server, address):
        assert httpx.get(f"{address}/api/v1/health", trust_env=False).status_code == 200
        server.send_signal(signal.SIGINT)
        output, errors = server.communicate(timeout=60)
    assert (server.returncode, output, errors) == (130, "", "motif: interrupted\n")


def test_missing_input_gets_a_one_line_error():
    code = "import sys; sys.modules['fastapi'] = None; from motif.cli.main import main; sys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", code, "serve", "http"], cwd=ROOT, capture_output=True, text=True
    )
    wanted = "motif: error: an HTTP server requires fastapi: pip install '.[serve]' in the checkout\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", wanted)


def test_a_port_that_is_taken(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["serve", "http", "--port", str(taken.getsockname()[1])]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("motif: error: cannot listen at 127.0.0.1:")
    assert errors.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked up in /proc")
def test_a_worker_that_is_killed_is_replaced():
    with started("--workers", "2") as (server, address):
        before = workers(server.pid)
        assert len(before) == 2
        os.kill(min(before), signal.SIGKILL)
        while len(workers(server.pid) - {min(before)}) < 2:
            answer = httpx.post(
                f"{address}/api/v1/evaluate", json={"id": OPENING}, trust_env=False, timeout=60
            )
            assert answer.status_code == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked up in /proc")
def test_workers_end_with_a_parent_that_is_killed():
    with started("--workers", "2") as (server, _):
        left = workers(server.pid)
        assert len(left) == 2
        server.kill()
        server.wait()
        wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in left))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_a_closed_terminal_ends_workers():
    with started("--workers", "2") as (server, _):
        server.send_signal(signal.SIGHUP)
        assert server.wait(timeout=60) == 0


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_workers_ignore_a_closed_terminal_under_nohup():
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        http._Workers(http.configuration(str, QUICK), [])
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_worker_watches_its_parent(monkeypatch):
    watched = []
    monkeypatch.setattr(http, "end_with", watched.append)
    monkeypatch.setattr(http, "_warm_app", lambda settings: settings)
    assert http._worker_app(QUICK, 7) is QUICK
    assert watched == [7]


def workers(parent):
    """The server processes: the children of `parent`, except the resource tracker."""
    found = set()
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text("utf-8").split():
        with suppress(OSError):  # it has just ended
            if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text("utf-8"):
                found.add(int(child))
    return found
