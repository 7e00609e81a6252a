"""The command train-phase-net."""

import json

import pytest
import typer

from motif.cli.main import app
from motif.phase_net import PhaseNetSettings

TINY = (
    *("--games", 20, "--boards", 1000, "--epochs", 2, "--rounds", 2, "--round-games", 60),
    *("--round-epochs", 2, "--buffer", 100, "--test-games", 60, "--final-games", 60, "--jobs", 1),
)


def test_the_command_trains_draws_and_says_how_strong_it_is(motif, tmp_path):
    folder = tmp_path / "net"
    ending = motif("train-phase-net", "--out", folder, *TINY)
    assert (ending.code, ending.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == {
        *("pretrained.onnx", "refined.onnx", "history.csv", "phase-net.json"),
        *("loss.png", "win-rate.png", "improvement.png"),
    }
    assert "refined      pretrained" in ending.out
    assert f"onnx:{folder}" in ending.out
    assert motif("match", f"onnx:{folder / 'refined.onnx'}", "random", "--games", 4, "--jobs", 1).code == 0
    again = motif("train-phase-net", "--out", folder, *TINY)
    assert (again.code, again.out) == (2, "")
    assert "is not empty" in again.err


def test_json_is_what_the_file_holds(motif_json, tmp_path):
    facts = motif_json("train-phase-net", "--out", tmp_path / "net", *TINY, "--seed", 3)
    assert facts == json.loads((tmp_path / "net" / "phase-net.json").read_text())
    assert facts["settings"]["seed"] == 3
    assert {match["player"] for match in facts["matches"]} == {"pretrained", "refined"}
    assert all({"win_share", "win_share_se", "ppg", "ppg_se"} <= match.keys() for match in facts["matches"])


def test_one_stage_and_then_the_other_against_other_players(motif, motif_json, tmp_path):
    ending = motif("train-phase-net", "--out", tmp_path / "1", *TINY, "--stage", 1)
    assert (ending.code, ending.err) == (0, "")
    assert "pretrained.onnx" in ending.out
    assert "net minus heuristic" in ending.out
    assert not (tmp_path / "1" / "win-rate.png").exists()
    words = ("--stage", 2, "--start", tmp_path / "1" / "pretrained.onnx", "--opponent", "simple,random")
    facts = motif_json("train-phase-net", "--out", tmp_path / "2", *TINY, *words, "--no-scaling")
    assert facts["settings"]["opponent"] == "simple,random"
    assert not facts["settings"]["scaling"]
    assert facts["difference_to_heuristic"].keys() == {"start", "refined"}
    assert (tmp_path / "2" / "win-rate.png").exists()


def test_defaults_are_those_of_the_settings():
    settings = vars(PhaseNetSettings())
    command = typer.main.get_command(app).commands["train-phase-net"]
    options = {option.name: option.default for option in command.params}
    shared = settings.keys() & options.keys()
    assert settings.keys() - shared == {"batch", "patience", "gain"}
    assert {name: options[name] for name in shared} == {name: settings[name] for name in shared}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rounds", 0), "--rounds must be at least 1, not 0"),
        (("--rate", "nan"), "--rate must be above 0 and at most 1, not nan"),
        (("--round-games", 2**40), "--round-games must be below 2**31"),
        (("--buffer", 1), "--buffer must be at least 100, not 1"),
        (("--stage", 2), "stage 2 alone requires --start, a net to continue from"),
        (("--stage", 3), "--stage must be both, 1 or 2, not '3'"),
        (("--start", "none.onnx"), "none.onnx: no such net"),
        (("--opponent", "nobody"), "no player is called 'nobody'"),
        (("--opponent", "simple,simple"), "--opponent must name different players, not 'simple,simple'"),
        (("--games", "many"), "--games must be a whole number, not 'many'"),
        (("--jobs", 0), "--jobs must be at least 1"),
        (("--seed", -1), "--seed must be 0 to"),
    ],
)
def test_bad_input_ends_in_one_line_and_leaves_no_folder(motif, tmp_path, words, said):
    ending = motif("train-phase-net", "--out", tmp_path / "net", *words)
    assert (ending.code, ending.out) == (2, "")
    assert said in ending.err
    assert ending.err.count("\n") == 1
    assert not (tmp_path / "net").exists()
