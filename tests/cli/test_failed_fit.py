"""The command fit with failing fits, impossible labels and separable labels."""

import json
from dataclasses import replace

import numpy as np
import pytest

from motif.evaluators import read_weight_file
from motif.fitting import gauss_newton
from motif.fitting.objective import TOLERANCE
from motif.fitting.solvers import SOLVERS
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.sampling.dataset import read_dataset
from tests.learning.stored import stored

OPTIONS = ("--parameters", "keith", "--heads", "win", "--jobs", 1)


@pytest.fixture
def spoil(monkeypatch):
    """Make every step of Gauss-Newton after the first `healthy` ones lead uphill."""

    def change(healthy: int) -> None:
        real, counts = gauss_newton._direction, {}

        def direction(objective, *arguments):
            found, inner = real(objective, *arguments)
            counts[objective] = counts.get(objective, 0) + 1
            return (found if counts[objective] <= healthy else -found), inner

        monkeypatch.setattr(gauss_newton, "_direction", direction)

    return change


def test_without_a_usable_fit_there_is_no_file_and_the_code_is_1(motif, dataset, tmp_path, spoil):
    spoil(0)
    for words in ((), ("--json",)):
        ending = motif("fit", dataset, "--out", tmp_path / "x.yaml", *OPTIONS, *words)
        assert (ending.code, ending.out) == (1, "")
        assert ending.err == (
            "motif: error: no usable fit of contact win: not a descent direction: "
            "the computed step raises the error\n"
        )
    assert list(tmp_path.iterdir()) == []


def test_a_fit_that_failed_on_its_way_is_kept_and_said(motif, dataset, tmp_path, spoil):
    spoil(1)
    path = tmp_path / "x.yaml"
    ending = motif("fit", dataset, "--out", path, *OPTIONS)
    assert ending.code == 0
    lines = ending.err.splitlines()
    assert lines[0] == (
        "motif: contact win: not a descent direction: the computed step raises the error; "
        "the weights are those of the previous pass"
    )
    assert "not a descent direction" in ending.out
    assert read_weight_file(path).fit["stopped"] == "not a descent direction"
    facts = json.loads(motif("fit", dataset, "--out", path, *OPTIONS, "--json").out)
    assert facts["stopped"] == "not a descent direction"
    assert [f"motif: {line}" for line in facts["warnings"]] == lines


def test_a_weight_that_grows_without_end_is_named(motif, dataset, tmp_path):
    samples = read_dataset(dataset)
    measured = features(parameter_set("keith"), samples.boards)[:, 0]
    chances = samples.probabilities.copy()
    # As far from the boundary as a label that only this term explains.
    keep = np.abs(measured - np.median(measured)) > 0.1 * measured.std()
    chances[:, 0] = measured > np.median(measured)
    samples = replace(samples, probabilities=chances).rows(keep)
    folder = stored(tmp_path / "separable", samples, 5000)
    words = ("fit", folder, "--out", tmp_path / "x.yaml", *OPTIONS, "--terms", "linear", "--validation", 0)
    ending = motif(*words, "--ridge", 0)
    name = parameter_set("keith").names[0]
    assert ending.code == 0
    assert f"motif: contact win: the weight of {name} grows without bound (it stopped at " in ending.err
    assert motif(*words, "--ridge", 5).err == ""


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("win", 1.2, "win of row 7 is 1.2000000476837158: it must be 0 to 1"),
        ("lose_gammon", -0.5, "lose_gammon of row 7 is -0.5: it must be 0 to 1"),
        ("equity", 3.5, "equity of row 7 is 3.5: it must be -3 to 3"),
        ("equity", np.nan, "equity of row 7 is nan: it must be -3 to 3"),
    ],
)
def test_labels_that_cannot_be_are_named(motif, dataset, tmp_path, column, value, message):
    samples = read_dataset(dataset)
    if column == "equity":
        equity = samples.equity.copy()
        equity[7] = value
        samples = replace(samples, equity=equity)
    else:
        chances = samples.probabilities.copy()
        chances[7, {"win": 0, "lose_gammon": 3}[column]] = value
        samples = replace(samples, probabilities=chances)
    folder = stored(tmp_path / "wrong", samples, 5000)
    ending = motif("fit", folder, "--out", tmp_path / "x.yaml", *OPTIONS)
    assert (ending.code, ending.err) == (2, f"motif: error: {folder}: {message}\n")
    assert not (tmp_path / "x.yaml").exists()


@pytest.mark.parametrize("method", SOLVERS)
def test_passes_and_tolerance_are_kept_and_recorded(motif_json, dataset, tmp_path, method):
    path = tmp_path / "x.yaml"
    read_dataset(dataset)[::4].write(tmp_path / "some")
    words = ("fit", tmp_path / "some", "--out", path, *OPTIONS, "--terms", "linear", "--method", method)
    few = motif_json(*words, "--passes", 2, "--tolerance", 0)
    assert (few["sweeps"], few["stopped"]) == (2, "pass limit")
    facts = read_weight_file(path).fit
    assert (facts["passes"], facts["tolerance"]) == (2, 0)
    early = motif_json(*words, "--tolerance", 0.05)
    assert early["stopped"] == "converged"
    facts = read_weight_file(path).fit
    assert (facts["passes"], facts["tolerance"]) == (SOLVERS[method].most_passes, 0.05)
    whole = motif_json(*words)
    assert early["sweeps"] < whole["sweeps"]
    assert read_weight_file(path).fit["tolerance"] == TOLERANCE
