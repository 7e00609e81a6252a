"""Randomly damaged requests get an answer: 2xx or 4xx, and no internal error.

`make fuzz` sends 20,000 of them.
"""

import json
import os
import random
from base64 import b64encode

import pytest

from tests.serve.conftest import OPENING, QUICK, running

CASES = int(os.environ.get("FUZZ_CASES", "500"))
SEED = int(os.environ.get("FUZZ_SEED", "0"))
MAT = " 3 point match\n\n Game 1\n Ann : 0   Ben : 0\n  1) 31: 8/5 6/5   42: 8/4 6/4\n"
START = {"6": 5, "8": 3, "13": 5, "24": 2}
FORM = (
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
    '--x\r\nContent-Disposition: form-data; name="file"; filename="games.mat"\r\n'
    f"Content-Type: application/octet-stream\r\n\r\n{MAT}\r\n--x--\r\n"
)
BOUNDARY = "multipart/form-data; boundary=x"
REQUESTS = [
    ("POST", "/api/v1/evaluate", {"id": OPENING, "player": "pubeval", "detailed": False}),
    ("POST", "/api/v1/plays", {"id": OPENING, "dice": [3, 1]}),
    ("POST", "/api/v1/hint", {"id": OPENING, "dice": "31", "length": 5, "score": [3, 4], "crawford": True}),
    ("POST", "/api/v1/cube", {"id": OPENING, "length": 7, "score": "3-5", "cube": 2, "owner": "me"}),
    (
        "POST",
        "/api/v1/explain",
        {"id": OPENING, "dice": [3, 1], "versus": "24/23 13/10", "player": "keith-v1"},
    ),
    ("POST", "/api/v1/rollout", {"id": OPENING, "trials": 36, "cut": 1, "seed": 3, "scoring": "dmp"}),
    ("POST", "/api/v1/rollout", {"id": OPENING, "trials": 36, "cut": 1, "stream": True, "se": 0.5}),
    ("POST", "/api/v1/rollout", {"id": OPENING, "dice": "31", "compare": True, "trials": 36, "cut": 1}),
    ("POST", "/api/v1/batches/evaluate", {"ids": [OPENING, "sGfwATDgc/ABMA"]}),
    ("POST", "/api/v1/batches/hint", {"decisions": [{"id": OPENING, "dice": [3, 1]}], "plays": 2}),
    ("POST", "/api/v1/batches/cube", {"ids": [OPENING], "jacoby": True, "beavers": True}),
    (
        "POST",
        "/api/v1/getmoves",
        {"board": {"x": START, "o": START}, "dice": [3, 1], "player": "x", "max-moves": 3},
    ),
    ("POST", "/api/v1/analyse?fast=true&worst=3", MAT),
    ("POST", "/api/v1/analyse?fast=true&cube=false", FORM),
    ("POST", "/api/v1/review", {"content": b64encode(MAT.encode()).decode(), "fast": True}),
    ("POST", "/api/v1/position", {"id": OPENING, "dice": "31", "length": 5}),
    ("GET", "/move?die1=3&die2=1&p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2", None),
    ("GET", "/eval?p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2&x_away=3&o_away=5", None),
    ("DELETE", "/api/v1/jobs/0123456789abcdef", None),
    ("GET", "/api/v1/players", None),
]
STRANGE = [
    None, True, -1, 0, 7, 10**30, 1e308, 0.5, "", "x" * 300, "\x00", "é☃", [], {}, [[]], "4HPwATDgc/ABM=",
    "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10", "4HPwATDgc/ABMA:cIkKAAAAAAAA", [6, 6], "66", "me",
]  # fmt: skip


def changed(dice, value):
    """`value` with some part, at any depth, replaced, removed, repeated or added."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        rest = {name: one for name, one in value.items() if name != key}
        way = dice.randrange(6)
        if way == 0:
            return rest
        if way == 1:
            return {
                **value,
                dice.choice(["x", "id", "dice", "length", "player", "ids"]): dice.choice(STRANGE),
            }
        return {**rest, key: changed(dice, value[key])}
    if isinstance(value, list) and value and dice.random() < 0.7:
        place = dice.randrange(len(value))
        way = dice.randrange(4)
        if way == 0:
            return value[:place] + value[place + 1 :]
        if way == 1:
            return value * dice.randrange(2, 5)
        return [*value[:place], changed(dice, value[place]), *value[place + 1 :]]
    if isinstance(value, str) and value and dice.random() < 0.7:
        place = dice.randrange(len(value))
        return value[:place] + dice.choice(["", "A", "/", ":", "\n", "ü", "9", value]) + value[place + 1 :]
    return dice.choice(STRANGE)


def damaged_bytes(dice, content):
    """`content` with some bytes changed, cut or repeated."""
    content = bytearray(content)
    for _ in range(dice.randrange(1, 4)):
        place = dice.randrange(len(content) + 1)
        content[place : place + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
    return bytes(content)


def damaged_form(dice):
    """A form with lines repeated, removed or moved."""
    lines = FORM.encode().split(b"\r\n")
    for _ in range(dice.randrange(1, 4)):
        place = dice.randrange(len(lines))
        line = lines[place]
        way = dice.randrange(5)
        if way == 0:
            lines[place : place + 1] = [line] * dice.choice([2, 3, 20, 2000])
        elif way == 1:
            del lines[place]
        elif way == 2:
            lines.insert(dice.randrange(len(lines) + 1), line)
        elif way == 3:
            lines[place] = line * dice.choice([2, 100, 5000])
        else:
            lines[place] = line.replace(b"games.mat", b"=?utf-8?q?a?= " * dice.choice([1, 50, 5000]))
        lines = lines or [b""]
    return b"\r\n".join(lines)


def mutated(dice):
    """A request: method, path, body and headers."""
    method, path, body = dice.choice(REQUESTS)
    headers = {}
    if body is None or dice.random() < 0.1:
        path = damaged_bytes(dice, path.encode()).decode("latin-1")
        path = "/" + "".join(mark for mark in path[1:] if " " < mark < "\x7f" and mark != "#")
    content = b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    if isinstance(body, dict):
        for _ in range(dice.randrange(1, 4)):
            body = changed(dice, body)
        content = json.dumps(body).encode()
    if body is FORM:
        headers["Content-Type"] = BOUNDARY
        if dice.random() < 0.5:
            content = damaged_form(dice)
    if content and dice.random() < (0.2 if isinstance(body, dict) else 0.9):
        content = damaged_bytes(dice, content)
    if dice.random() < 0.05:
        method = dice.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
    if dice.random() < 0.1:
        kind = dice.choice(["multipart/form-data; boundary=x", "multipart/form-data", "text/plain", "x", ""])
        headers["Content-Type"] = kind
    if dice.random() < 0.02:
        headers[dice.choice(["Host", "Origin", "Accept"])] = dice.choice(
            ["evil.example", "null", ":", "text/*"]
        )
    return method, path, content, headers


@pytest.fixture(scope="module")
def asking():
    with running(QUICK) as client:
        yield client


def test_damaged_requests_are_answered(asking, capfd):
    dice = random.Random(SEED)
    for number in range(CASES):
        method, path, content, headers = mutated(dice)
        answer = asking.request(method, path, content=content, headers=headers)
        shown = number, method, path, content, headers, answer.text[:300]
        assert 200 <= answer.status_code < 300 or 400 <= answer.status_code < 500, shown
        assert "internal error" not in answer.text, shown
        assert answer.status_code < 400 or method == "HEAD" or "\n" not in answer.text, shown
    assert "error" not in capfd.readouterr().err
