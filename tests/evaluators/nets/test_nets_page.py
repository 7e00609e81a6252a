"""docs/how-to/nets.md: its programs run, and the names it lists are those in the code."""

import re
import shlex
from pathlib import Path

import pytest

from motif.board.position import Position
from motif.cli.main import main
from motif.evaluators import load_static
from motif.evaluators.nets import load_net
from motif.evaluators.nets.net import INPUTS, NET_FORMAT, OUTPUTS_OF
from tests.evaluators.nets.made_nets import score_net

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "how-to" / "nets.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"^```\n(.*?)^```", PAGE, re.M | re.S) for line in block.splitlines()
]
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_exporting_and_reading_from_another_program(here, capsys):
    export, hint = (line for line in COMMANDS if "motif-v1.onnx" in line)
    for line in (export, hint):
        assert main(shlex.split(line)[1:]) == 0
    capsys.readouterr()
    found: dict = {}
    exec(PROGRAMS[0], found)
    expected = load_static("motif-v1").evaluate_many([Position.start().board])
    assert found["probabilities"] == pytest.approx(expected, abs=1e-5)
    assert "'win'" in capsys.readouterr().out


def test_describing_a_net_of_your_own(here):
    (here / "mine.onnx").write_bytes(score_net())
    exec(PROGRAMS[1], {})
    assert 0 <= load_net("mine.onnx").evaluate(Position.start()).win <= 1
    assert len(PROGRAMS) == 2


def test_names_of_the_description():
    for name in (NET_FORMAT, *INPUTS, *OUTPUTS_OF.values()):
        assert f"`{name}`" in PAGE
