"""Options made from the fields of settings, and settings that errors name as options."""

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from motif.cli.main import HOMES, _command
from motif.learning.fit_settings import FitSettings
from motif.phase_net.phase_settings import PhaseNetSettings
from motif.rollouts.rollout_settings import RolloutSettings
from motif.runtime.errors import SettingError
from motif.runtime.settings import help_of
from motif.sampling.sample import SampleSettings

START = "4HPwATDgc/ABMA"
ROOT = Path(__file__).resolve().parent.parent.parent
SETTINGS = {
    "fit": FitSettings,
    "train-phase-net": PhaseNetSettings,
    "rollout": RolloutSettings,
    "sample": SampleSettings,
}
NO_OPTIONS = {"prune", "batch", "patience", "gain", "luck_plies"}
"""Fields that are no options, or options of another kind."""
START = "4HPwATDgc/ABMA"


@pytest.mark.parametrize("settings", SETTINGS.values())
def test_every_field_has_a_help(settings):
    for field in dataclasses.fields(settings):
        assert help_of(field) or field.name in ("seed", "player")


def test_an_error_names_the_options_of_a_command():
    error = SettingError("score belongs to a match: {length} says how long it is", "score", "length")
    assert str(error) == "score belongs to a match: length says how long it is"
    options = {"score": "--score", "length": "--length"}
    assert error.naming(options) == "--score belongs to a match: --length says how long it is"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.naming(options)) == (str(error), error.naming(options))


@pytest.mark.parametrize("command", ["fit", "cube", "web"])
def test_the_help_of_a_command_is_light(command):
    code = (
        f"import sys; from motif.cli.main import main; main(['{command}', '--help']);"
        "heavy = {'numpy', 'numba', 'scipy', 'pyarrow', 'joblib', 'rich', 'yaml', 'motif.board'};"
        "sys.stderr.write(' '.join(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("command", SETTINGS)
def test_every_field_is_an_option(command):
    options = {parameter.name for parameter in _command(command).params}
    assert {field.name for field in dataclasses.fields(SETTINGS[command])} - NO_OPTIONS <= options


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("rollout", START, "--trials", "0"), "--trials must be at least 1, not 0"),
        (("rollout", START, "--luck-plies", "x"), "--luck-plies must be a number of plies or all, not 'x'"),
        (
            ("sample", "--out", "x", "--games", "1", "--trials", "35", "--stratified"),
            "--stratified: --trials must be a multiple of 36, not 35",
        ),
        (
            ("fit", "none", "--out", "x.yaml", "--hidden", "4", "--heads", "win"),
            "--hidden: hidden units need heads all and terms pairs",
        ),
        (
            ("fit", "none", "--out", "x.yaml", "--hidden", "4", "--prune"),
            "--prune: not available with hidden units",
        ),
        (
            ("match", "bras", "bras", "--significance", "2"),
            "--significance must be above 0 and below 1, not 2.0",
        ),
        (
            ("inspect", "bras", "--out", "x", "--dataset", "y", "--player", "bras"),
            "--player and --dataset cannot be combined",
        ),
        (("speed", "--jobs", "0"), "--jobs must be at least 1, or -1 for all cores, not 0"),
        (("speed", "--jobs", 2**31), "--jobs must be at most 1024, not 2147483648"),
        # A player has settings instead of options.
        (("evaluate", START, "--player", "rollout:pubeval,trials=0"), "trials must be at least 1, not 0"),
    ],
)
def test_errors_name_the_options_of_the_command(motif, monkeypatch, tmp_path, words, line):
    monkeypatch.chdir(tmp_path)
    ending = motif(*words)
    assert (ending.code, ending.out) == (2, "")
    assert ending.err.endswith(f"{line}\n")
    assert ending.err.count(line) == 1
    assert ("--trials" in line) == ("--trials" in ending.err)


def test_a_command_imports_its_own_module_alone():
    code = (
        "import sys; from motif.cli.main import main; main(['hint', '4HPwATDgc/ABMA', '3', '1', '--json']);"
        "heavy = {'scipy.stats', 'scipy.optimize', 'pyarrow', 'joblib', 'rich', 'sklearn', 'motif.doubling'};"
        "sys.stderr.write(' '.join(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    "words",
    [("hint", f"{START}:cIkKAAAAAAAA"), ("cube", "dPexAAB07zMAAA"), ("rollout", START, "--trials", "36")],
)
def test_a_cube_and_a_rollout_wait_for_no_scipy(words):
    code = (
        f"import sys; from motif.cli.main import main; main([*{words}, '--json']);"
        "sys.stderr.write(' '.join({'scipy.special', 'scipy.stats'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_every_module_of_a_command_is_light():
    code = (
        "import sys; from motif.cli.main import main; main(['--help']);"
        "heavy = {'numpy', 'numba', 'scipy', 'pyarrow', 'joblib', 'rich', 'yaml', 'motif.board'};"
        "sys.stderr.write(' '.join(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert all(name.split()[0] in ended.stdout for name in HOMES)


def test_the_help_of_fit_shows_at_most_15_options(motif):
    shown = [line for line in motif("fit", "--help").out.splitlines() if line.startswith("  -")]
    assert len(shown) <= 15 + 1  # and --help
    assert not any("--ranking" in line for line in shown)


def test_settings_of_a_fit_come_from_a_file_and_options_override_them(motif, tmp_path):
    config = tmp_path / "fit.yaml"
    config.write_text("ridge: -1\nheads: win\n")
    words = ("fit", "none", "--out", tmp_path / "x.yaml", "--config", config)
    assert motif(*words).err == "motif: error: --ridge must be finite and at least 0, not -1\n"
    assert "none: not a dataset" in motif(*words, "--ridge", 2).err
    config.write_text("rigde: 1\n")
    assert "rigde" in motif(*words).err
