"""Completion in a shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from motif.cli.options import NAMES, complete_parameters, complete_player, complete_preset
from motif.evaluators.known_players import shipped_weights
from motif.evaluators.nets import net as packages
from motif.learning.bootstrap_config import preset_names
from motif.parameters import PARAMETER_SETS
from motif.players import load

PROGRAM = Path(sys.executable).parent / "motif"
ENGINES = {"gnubg"}


def test_every_name_that_is_offered_is_a_player():
    pytest.importorskip("onnxruntime", reason=f"wildbg needs it: {packages.__name__}")
    for name in {*NAMES} - ENGINES:
        assert load(name).name


def test_players_begin_with_what_was_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert complete_player("pub") == ["pubeval"]
    assert complete_player("motif-v") == [name for name in shipped_weights() if name.startswith("motif-v")]
    assert complete_player("motif-v1") == ["motif-v1"]
    assert complete_player("rollout:pub") == ["rollout:pubeval"]
    assert set(NAMES) | set(shipped_weights()) <= set(complete_player(""))


def test_weight_files_and_folders_are_offered_as_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (
        "runs/mine/weights.yaml",
        "runs/mine.yaml",
        "runs/mine.png",
        "runs/.hidden.yaml",
        "my_set.py",
    ):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    assert complete_player("run") == ["runs/"]
    assert complete_player("runs/mi") == ["runs/mine/", "runs/mine.yaml"]
    assert complete_player("runs/") == ["runs/mine/", "runs/mine.yaml"]
    assert complete_player("rollout:runs/mine.") == ["rollout:runs/mine.yaml"]
    assert complete_player(f"{tmp_path}/runs/mine.") == [f"{tmp_path}/runs/mine.yaml"]
    assert complete_player("none/w") == complete_player("[") == []
    assert complete_parameters("m") == ["motif", "my_set.py"]


def test_every_set_of_motif_is_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert set(complete_parameters("")) == set(PARAMETER_SETS)


def test_presets():
    assert complete_preset("") == preset_names()
    assert complete_preset("cl") == ["classic"]


def offered(tmp_path, **variables: str) -> str:
    ended = subprocess.run(
        [str(PROGRAM)], cwd=tmp_path, env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert ended.stderr == ""
    return ended.stdout


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program motif is not installed beside this Python")
def test_each_shell_gets_its_answer(tmp_path):
    bash = offered(tmp_path, _MOTIF_COMPLETE="complete_bash", COMP_WORDS="motif match pub", COMP_CWORD="2")
    assert bash.split() == ["pubeval"]
    zsh = offered(
        tmp_path, _MOTIF_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="motif hint x --player keith"
    )
    assert '"keith-v0"' in zsh
    fish = offered(
        tmp_path,
        _MOTIF_COMPLETE="complete_fish",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TYPER_COMPLETE_ARGS="motif bootstrap --preset cl",
        _TYPER_COMPLETE_WORD_TO_COMPLETE="cl",
    )
    assert fish.split() == ["classic"]


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program motif is not installed beside this Python")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(tmp_path, shell):
    script = subprocess.run(
        [str(PROGRAM), "--show-completion", shell],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
    )
    assert f"_MOTIF_COMPLETE=complete_{shell}" in script.stdout
