"""One call for every decision, common mistakes, and the bots of the page of documentation."""

import re
import shutil
import subprocess

import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from motif.board.match_state import MatchState, match_id
from motif.board.position import Position
from motif.serve.serve_settings import ServeSettings
from tests.serve.conftest import OPENING, ROOT, running

PAGE = (ROOT / "docs" / "how-to" / "serve.md").read_text("utf-8")
AT_SCORE = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:3:4:0:5:10"
RESIGNS_GAMMON, RESIGNS_BACKGAMMON = (
    f"{Position.from_points({23: 2, 6: 13}, {1: 1}).gnubg_id}:{match_id(MatchState(resignation=loss))}"
    for loss in ("gammon", "backgammon")
)
"""A certain backgammon, in which the player on roll resigns."""
DOUBLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10"


@pytest.fixture(scope="module")
def client():
    with running(ServeSettings(port=0, player="motif-v1")) as made:
        yield made


@pytest.mark.parametrize(
    ("question", "action"),
    [
        ({"id": OPENING, "dice": "31"}, "play"),
        ({"id": OPENING}, "roll"),
        ({"id": DOUBLED}, "take"),
        ({"id": AT_SCORE}, "play"),
        ({"id": RESIGNS_GAMMON}, "reject"),
        ({"id": RESIGNS_GAMMON, "dice": "31"}, "play"),
        ({"id": RESIGNS_BACKGAMMON}, "accept"),
    ],
)
def test_one_call_for_play_and_cube(client, question, action):
    answer = client.post("/api/v1/decide", json=question).json()
    assert answer["action"] == action
    assert (answer["play"] is None) == (action != "play")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {"id": OPENING, "dice": "31", "ply": 2},
            "ply: lookahead is part of the player's name",
        ),
        ({"id": OPENING, "roll": "31"}, "roll: the roll must be called dice"),
        ({"position": OPENING}, "id: is missing"),
        ({"id": OPENING, "dise": "31"}, "dise: unknown field; did you mean 'dice'?"),
        ({"id": OPENING, "dice": [3, 7]}, "dice.1: must be less than or equal to 6, not 7"),
        (OPENING, "the body must be a JSON object, such as"),
    ],
)
def test_common_mistakes_are_reported(client, question, message):
    answer = client.post("/api/v1/hint", json=question)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(message)


def block(language: str) -> str:
    """The client on the page in one language."""
    (found,) = re.findall(rf"```{language}\n(// |# )?(.*?)```", PAGE, re.DOTALL)[-1:]
    return "".join(found)


def test_the_client_in_javascript(client, tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    program = block("javascript").replace("http://127.0.0.1:8080", str(client.base_url).rstrip("/"))
    assert len(program.splitlines()) <= 20
    path = tmp_path / "bot.mjs"
    path.write_text(program)
    lines = f"{AT_SCORE}\n{OPENING}\n{DOUBLED}\n"
    ended = subprocess.run([node, path], input=lines, capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout.split("\n")[:3] == ["8/5 6/5", "roll", "take"]


def test_the_client_in_python(client, tmp_path):
    import sys

    program = block("python").replace("http://127.0.0.1:8080", str(client.base_url).rstrip("/"))
    assert len(program.splitlines()) <= 20
    path = tmp_path / "bot.py"
    path.write_text(program)
    lines = f"{AT_SCORE}\n{OPENING}\n{DOUBLED}\n"
    ended = subprocess.run(
        [sys.executable, path], input=lines, capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout.split("\n")[:3] == ["8/5 6/5", "roll", "take"]
