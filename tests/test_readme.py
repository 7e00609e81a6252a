"""The README from top to bottom: every command works as written, in a copy of the checkout."""

import os
import re
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile

import pytest
import yaml

from motif.contests import play_money_games
from motif.contests.result import CERTAIN
from motif.evaluators.known_players import default_player
from motif.players.gnubg_process import installed_gnubg
from motif.runtime.errors import PlayerError
from tools.import_graph import ROOT
from tools.tutorial import blocks

README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [line for block in blocks(README) if block.kind == "" for line in block.text.splitlines()]
PROGRAMS = [block.text for block in blocks(README) if block.kind == "python"]
LONG = ("bootstrap --preset classic",)
"""Commands that take many minutes; other tests run them with less work."""
WITH_PEOPLE = re.compile(r"cli\.py play(?: pubeval .*| human .*|)$")


SERVING = re.compile(r"cli\.py serve gnubg$")
"""Commands that end when they are interrupted."""


def serves_until_interrupted(line: str, folder: Path, environment: dict[str, str]) -> None:
    pipes = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(["sh", "-c", line], cwd=folder, env=environment, **pipes) as process:
        said = next((said for said in process.stderr if said.startswith("listening on ")), None)
        assert said, line
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_commands_begin_with_make_python_or_printf():
    assert len(COMMANDS) > 30
    assert {line.split()[0] for line in COMMANDS} == {"make", "python", "printf"}


@pytest.mark.parametrize("which", ["few", pytest.param("many", marks=pytest.mark.slow)])
def test_the_stated_numbers_of_games_are_right(which):
    (said,) = re.findall(
        r"It takes (\d+) games to show that `(\S+)` is better than `(\S+)`, and (\d+) to show that it is "
        r"better than `(\S+)` \(95 % confidence\)",
        " ".join(README.split()),
    )
    few, player, weak, many, strong = said
    opponent, games = (weak, few) if which == "few" else (strong, many)
    assert player == default_player()
    (line,) = (line for line in COMMANDS if f"match latest {opponent} --until-certain" in line)
    first, second = line.split()[3:5]
    result = play_money_games(first, second, until_certain=True)
    assert (result.games, result.cubeless.stopped) == (int(games), CERTAIN)


def test_make_targets_exist():
    targets = (ROOT / "Makefile").read_text("utf-8")
    for name in re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE):
        assert re.search(rf"^{name}:", targets, re.MULTILINE), name


def copied(folder: Path) -> Path:
    """Copy the tracked files of the checkout into `folder`."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, folder / name)
    return folder


def is_possible(line: str) -> bool:
    """Return whether the command's requirements are installed."""
    if "gnubg" in line:
        try:
            installed_gnubg()
        except PlayerError:
            return False
    return find_spec("onnxruntime") is not None or not re.search("wildbg|--onnx|onnx:", line)


@pytest.mark.slow
def test_every_command_works_in_order(tmp_path):
    folder = copied(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder)}
    preset = yaml.safe_load((folder / "motif/data/presets/demo.yaml").read_text("utf-8"))
    small = [{"games": 60, "trials": 4, "rate": 0.2, "candidates": 4} for _ in range(3)]
    (folder / "small.yaml").write_text(
        yaml.safe_dump({**preset, "strength_games": 60, "fit": {"parameters": "keith"}, "versions": small})
    )
    # Instead of `make demo`.
    lines = ["python cli.py bootstrap --config small.yaml --out runs/demo"]
    lines += [line for line in COMMANDS if not line.startswith("make") and is_possible(line)]
    for line in lines:
        if any(name in line for name in LONG):
            continue
        if SERVING.search(line):
            serves_until_interrupted(f"exec {line} --port 0", folder, environment)
            continue
        typed = "quit\n" if WITH_PEOPLE.search(line) else "ubgi\n" if line.endswith("ubgi") else ""
        ended = subprocess.run(
            ["sh", "-e", "-c", line], cwd=folder, env=environment, input=typed, capture_output=True, text=True
        )
        assert ended.returncode == 0, f"{line}\n{ended.stderr}"
        assert ended.stdout or ">" in line, line
    for program in PROGRAMS:
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program], cwd=folder, env=environment, check=True
        )
