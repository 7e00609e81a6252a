"""A dataset labelled by an evaluator instead of rollouts."""

from dataclasses import replace

import numpy as np
import pytest

import motif
from motif.evaluators import OUTPUTS, load_evaluator
from motif.evaluators.probabilities import equities
from motif.learning.fit import fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.runtime.errors import DatasetError, PlayerError, SettingError
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import read_manifest
from motif.sampling.sample import SampleSettings, sample
from tests.sampling.folders import QUICK, differences, made

TAUGHT = replace(QUICK, label="bras", games=6)


def test_labels_are_the_evaluators_values(tmp_path):
    samples = read_dataset(made(tmp_path / "bras", TAUGHT))
    chances = load_evaluator("bras").evaluate_many(samples.boards)
    assert samples.probabilities.shape == (len(samples), len(OUTPUTS))
    assert (samples.probabilities == chances).all()
    assert np.allclose(samples.equity, equities(chances.astype(np.float64)))
    assert np.isnan(samples.equity_se).all()
    assert (samples.trials == 1).all()


def test_positions_are_those_of_rollouts(tmp_path):
    taught, rolled = (
        read_dataset(made(tmp_path / settings.label, settings))
        for settings in (TAUGHT, replace(TAUGHT, label="rollout"))
    )
    for name in ("boards", "game", "ply", "decision", "chosen", "position_class"):
        assert (getattr(taught, name) == getattr(rolled, name)).all(), name


def test_the_manifest_names_the_labeller(tmp_path):
    said = read_manifest(made(tmp_path / "bras", TAUGHT)).settings
    assert (said["label"], said["player"]) == ("bras", "pubeval")
    assert said["label_fingerprint"].startswith("sha256:")
    assert read_manifest(made(tmp_path / "rolled")).settings["label"] == "rollout"


def test_lookahead_is_in_the_name_of_the_player(tmp_path):
    settings = replace(TAUGHT, label="pubeval@1", games=2)
    sample(settings, tmp_path / "a", player_label="the-parent")
    said = read_manifest(tmp_path / "a").settings
    assert (said["label"], said["label_fingerprint"]) == ("the-parent@1", said["player_fingerprint"])


def test_the_same_bytes_for_any_number_of_workers_and_after_a_stop(tmp_path):
    one, two = made(tmp_path / "one", TAUGHT), made(tmp_path / "two", TAUGHT, jobs=2)
    assert differences(one, two) == []
    (two / "part-00003.parquet").unlink()
    sample(TAUGHT, two, resume=True, jobs=1)
    assert differences(one, two) == []
    with pytest.raises(DatasetError, match="label = 'bras', not 'pubeval'"):
        sample(replace(TAUGHT, label="pubeval"), two, resume=True)
    with pytest.raises(DatasetError, match="label = 'bras', not 'rollout'"):
        sample(replace(TAUGHT, label="rollout"), two, resume=True)


def test_a_fit_learns_from_them(tmp_path):
    folder = made(tmp_path / "bras", replace(TAUGHT, games=40, rate=1.0))
    fitted = fit_dataset([folder], FitSettings(parameters="keith", heads="win"), name="taught")
    assert fitted.to_dict()["rmse_validation"] < 0.1


def test_invalid_labellers_are_refused(tmp_path):
    with pytest.raises(PlayerError, match="cannot evaluate"):
        sample(replace(TAUGHT, label="random"), tmp_path / "a")
    with pytest.raises(PlayerError, match="no player is called 'nobody'"):
        sample(replace(TAUGHT, label="nobody"), tmp_path / "a")
    with pytest.raises(SettingError, match="decide: rollouts can choose plays only if they also label them"):
        sample(SampleSettings(games=1, player="pubeval", label="bras", decide="rollout"), tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_the_label_of_the_library_overrides_that_of_the_settings(tmp_path):
    settings = SampleSettings(games=1, player="pubeval", label="bras", rate=0.1)
    rolled_out = {"label": "rollout", "trials": 2, "cut": 2}
    for given, label in (({}, "bras"), (rolled_out, "rollout"), ({"label": "simple"}, "simple")):
        motif.sample(settings, tmp_path / label, jobs=1, **given)
        assert read_manifest(tmp_path / label).settings["label"] == label
