"""The page "Tests of the sources' claims": its commands are valid, and work."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from tests.games import some_boards
from tools import command_pages
from tools.tutorial import FILE, ROOT, blocks, write_file

PAGE = (ROOT / "docs" / "explanation" / "sources.md").read_text("utf-8")
TABLES = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
ROWS = [[cell.strip() for cell in row] for row in TABLES if len(row) == 3 and row[0].strip() != "claim"]
"""Claim, command and result."""
COMMANDS = [words for _, command, _ in ROWS for words in re.findall(r"`motif ([^`]*)`", command)]
QUICK = ("evaluate", "hint", "cube ", "benchmark line.bm")
"""Commands of a second or two; the others take minutes together."""
SMALLER = {
    "--games 20000": "--games 20",
    "--games 10000": "--games 20",
    "--games 1500": "--games 20",
    "cube-windows --games 200": "cube-windows --games 20 --player motif-v1",
    "--positions 2000": "--positions 300",
    "--passes 10": "--passes 2",
    "data/bench/rollout-truth/": "small/",
    "data/bench/": "small/",
    "train-phase-net": "train-phase-net --games 20 --boards 1000 --epochs 2 --rounds 2 "
    "--round-games 60 --round-epochs 2 --buffer 100 --test-games 60 --final-games 60",
}
"""What stands for work that is long."""
LINE = (
    "m OAHDPAABDAOAHDPAABDA 2 4 JIGHPAABDAOAHDPAABDA 0.133905 OAHDMJABDAOAHDPAABDA 0.0835662 "
    "OAHDOEABCBOAHDPAABDA 0.111429 OAHDOBABCEOAHDPAABDA 0.124954 OAHDPAABAJOAHDPAABDA 0.189375\n"
)
"""The post's own."""


def test_every_claim_has_a_command_or_a_reason():
    assert len(ROWS) > 40
    assert len(COMMANDS) > 30
    for claim, command, result in ROWS:
        assert claim
        assert command or "`tests/" in result or len(result) > 40, claim
        assert result, claim


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_is_understood(monkeypatch, line):
    monkeypatch.chdir(ROOT)
    words, commands = shlex.split(line), command_pages.commands()
    name = max((name for name in commands if words[: len(name.split())] == name.split()), key=len)
    with commands[name].make_context(name, words[len(name.split()) :]) as context:
        assert context.params


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
    for name in ("data", "weights"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "small").mkdir()
    for path in (ROOT / "tests" / "data").glob("*.bm"):
        (tmp_path / "small" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "line.bm").write_text(LINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def smaller(line: str) -> list[str]:
    for part, instead in SMALLER.items():
        line = line.replace(part, instead)
    return shlex.split(line)


def needs_onnx(line: str) -> None:
    if re.search("wildbg|onnx|phase-net", line):
        pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith(QUICK)])
@pytest.mark.usefixtures("folder")
def test_a_quick_command_works(motif, line):
    needs_onnx(line)
    ending = motif(*shlex.split(line))
    assert (ending.code, bool(ending.out)) == (0, True), ending.err


@pytest.mark.slow
def test_the_other_commands_work(motif, folder):
    needs_onnx("onnx")
    words = ("--player", "simple", "--games", 40, "--trials", 6, "--jobs", 1)
    assert motif("sample", "--out", "runs/first", *words).code == 0
    assert motif("play", "pubeval", "random", "--games", 4, "--save", "runs/match.mat").code == 0
    for line in COMMANDS:
        if not line.startswith(QUICK):
            ending = motif(*smaller(line))
            assert ending.code == 0, f"{line}: {ending.err}"
    assert (folder / "runs" / "motif-v1.onnx").exists()


def test_the_posts_line_is_that_of_the_page(motif, folder):
    said = motif("benchmark", "line.bm", "--player", "pubeval", "--json").out
    assert '"best_found": 1.0' in said


def test_the_opening_is_even_for_bras(motif):
    said = motif("evaluate", "4HPwATDgc/ABMA", "--player", "bras", "--detailed").out
    assert re.search(r"S me +50\.0000", said)


def test_rolls_that_hit_are_those_of_motifs_own_parameter(tmp_path: Path):
    (block,) = (block for block in blocks(PAGE) if block.kind == FILE)
    mine, motifs = parameter_set(str(write_file(block, tmp_path))), parameter_set("motif")
    boards = some_boards("random", 400, seed=3)
    for side in ("", "_opponent"):
        found, wanted = (
            (features(chosen, boards) / chosen.scales)[:, chosen.names.index(name + side)]
            for chosen, name in ((mine, "rolls_that_hit"), (motifs, "hitting_rolls"))
        )
        assert np.allclose(found, wanted, atol=1e-3)
        assert found.max() > 30
