"""The commands that a report prints for the next version: valid for every preset, and they work."""

import shlex
import shutil
from dataclasses import fields, replace

import pytest
import typer

from motif.cli.main import app, main
from motif.evaluators import read_weight_file
from motif.learning.bootstrap_config import VersionStep, load_preset, preset_names
from motif.learning.bootstrap_run import run_bootstrap
from motif.reports.next_version import next_commands
from tests.faults.made_runs import STEP, TINY

TAUGHT = {"hidden": 2, "parameters": "keith", "terms": "pairs", "passes": 2}
STEPS = {
    "lookahead": replace(STEP, labels="@1", fit={"terms": "linear"}),
    "hidden": replace(STEP, fit=TAUGHT),
}
OTHERWISE_CALLED = {"fit": {"prune": "prune_z"}, "sample": {}}


def words_of(command: str) -> list[str]:
    """Split a printed command like a shell, without the program's name."""
    program, *words = shlex.split(command.replace("\\\n", " "))
    assert program == "motif"
    return words


@pytest.mark.parametrize("preset", preset_names())
def test_every_command_for_every_version_of_a_preset_is_understood(preset):
    config, group = load_preset(preset), typer.main.get_command(app)
    for last in range(len(config.versions)):
        previous = f"v{last}/weights.yaml"
        expected = {
            "sample": config.versions[last].sample_settings(previous, config.step_seed(last + 1)),
            "fit": config.fit_settings(last),
        }
        for words in map(words_of, next_commands(config, last)):
            with group.commands[words[0]].make_context(words[0], words[1:]) as context:
                params = context.params
            for one in fields(expected[words[0]]) if words[0] in expected else ():
                option = OTHERWISE_CALLED[words[0]].get(one.name, one.name)
                assert params[option] == getattr(expected[words[0]], one.name), (preset, last, one.name)


@pytest.mark.parametrize("name", STEPS)
def test_the_commands_make_what_the_run_itself_would_make(name, tmp_path, monkeypatch, capsys):
    first = replace(STEP, fit=TAUGHT)
    config = replace(TINY, versions=(first, STEPS[name], STEPS[name]))
    whole, part = tmp_path / "whole", tmp_path / "part"
    run_bootstrap(whole, config, jobs=1)
    shutil.copytree(whole, part)
    shutil.rmtree(part / "v2")
    monkeypatch.chdir(part)
    for words in map(words_of, next_commands(config, 1, part)):
        assert main([*words, "--jobs", "1"]) == 0, capsys.readouterr().err
    made, expected = (read_weight_file(home / "v2" / "weights.yaml") for home in (part, whole))
    assert (made.name, made.version, made.parent) == (expected.name, expected.version, expected.parent)
    for kind, heads in expected.classes.items():
        for head, weights in heads.items():
            same = made.classes[kind][head]
            assert same.bias == weights.bias
            assert (same.linear == weights.linear).all()
            assert (same.quadratic == weights.quadratic).all()
    assert made.hidden_layers.keys() == expected.hidden_layers.keys()
    assert bool(made.hidden_layers) == (name == "hidden")
    for kind, layer in expected.hidden_layers.items():
        same = made.hidden_layers[kind]
        assert same.names == layer.names
        for part in ("bias", "inputs", "points", "outputs"):
            assert (getattr(same, part) == getattr(layer, part)).all()


def test_a_file_of_parameters_is_named_as_the_run_s_folder_sees_it(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("")
    monkeypatch.chdir(tmp_path)
    config = replace(TINY, fit={"parameters": "mine.py"}, versions=(VersionStep(10, 2),))
    _, fit, _ = map(words_of, next_commands(config, 0, tmp_path / "runs" / "try"))
    assert fit[fit.index("--parameters") + 1] == "../../mine.py"
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    (tmp_path / "away" / "mine.py").write_text("")
    _, again, _ = map(words_of, next_commands(config, 0, tmp_path / "runs" / "try"))
    assert again == fit
