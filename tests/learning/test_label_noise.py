"""Noise of labels: estimates from datasets, compared with new rollouts, and errors without noise."""

import math
from dataclasses import replace

import numpy as np
import pytest

import motif
from motif.evaluators import OUTPUTS
from motif.learning.fit import fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.label_noise import NoiseFreeError, label_source, label_variances, root_mean
from motif.learning.rows import held_out
from motif.sampling.dataset import Dataset, read_dataset
from motif.sampling.dataset_files import Manifest, read_manifest
from motif.sampling.origin import Origin
from motif.sampling.sample import SampleSettings
from tests.reports.made_run import made_samples
from tests.sampling.folders import made

FULL = SampleSettings(player="simple", games=30, trials=12, candidates=3, rate=0.2, seed=8)
SETTINGS = FitSettings(parameters="keith", terms="linear", validation=0.3, seed=3)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Datasets of the same positions: rolled out to the end, truncated, and labelled by an evaluator."""
    home = tmp_path_factory.mktemp("noise")
    kinds = {"full": FULL, "cut": replace(FULL, cut=4)}
    kinds["valued"] = replace(FULL, label="motif-v1")
    return {name: made(home / name, settings) for name, settings in kinds.items()}


def variances(folder):
    samples = read_dataset(folder)
    return samples, label_variances(samples)


def with_labels(samples, **labels):
    return replace(samples, origin=Origin(labels={"label": "rollout"} | labels))


def test_a_chance_varies_as_games_won_and_lost_do(folders):
    samples, found = variances(folders["full"])
    wins = np.round(samples.probabilities[:, 0] * FULL.trials).astype(int)
    for row in range(0, len(samples), 50):
        games = np.arange(FULL.trials) < wins[row]
        assert found[row, 0] == pytest.approx(games.var(ddof=1) / FULL.trials, abs=1e-6)
    np.testing.assert_allclose(found[:, -1], samples.equity_se.astype(float) ** 2, rtol=1e-6)


def test_the_noise_is_the_difference_between_labels_made_again(tmp_path, folders):
    """The same positions with other dice: the labels differ by twice the variance."""
    positions, known = variances(folders["full"])
    rng = np.random.default_rng(5)
    truth = positions.probabilities[:, 0].astype(float)
    one, other = (rng.binomial(FULL.trials, truth) / FULL.trials for _ in range(2))
    of_one = replace(positions, probabilities=np.repeat(one[:, None], 5, axis=1).astype(np.float32))
    estimate = float(label_variances(with_labels(of_one))[:, 0].mean())
    assert estimate == pytest.approx(np.mean((one - other) ** 2) / 2, rel=0.15)
    assert known.shape == (len(positions), len(OUTPUTS) + 1)


def test_what_is_not_known(folders):
    _, found = variances(folders["cut"])
    assert np.isnan(found[:, :-1]).all()
    assert np.isfinite(found[:, -1]).all()
    _, found = variances(folders["valued"])
    assert (found == 0).all()
    samples = made_samples()
    for settings in ({"stop_at_race": True}, {"stop_at_bearoff": True}, {"stratified": True}):
        assert np.isnan(label_variances(with_labels(samples, **settings))[:, :-1]).all()
    alone = replace(samples, trials=np.ones_like(samples.trials), equity_se=np.full(len(samples), np.nan))
    assert np.isnan(label_variances(with_labels(alone))).all()
    assert np.isnan(label_variances(with_labels(alone, label="outcome"))).all()


@pytest.mark.parametrize(
    ("label", "is_known"),
    [
        ("motif-v1@2:rollout", False),
        ("rollout:motif-v1,trials=36", False),
        ("composite:contact=motif-v1@2:rollout,race=motif-v1", False),
        ("runs/rollouts/v0.yaml", True),
        ("runs/rollouts/v0.yaml@2:sparse", True),
        ("motif-v1+bearoff@1", True),
        ("rollout-net.py", True),
    ],
)
def test_labels_have_unknown_noise_only_if_the_labeller_rolls_out(label, is_known):
    found = label_variances(with_labels(made_samples(), label=label))
    assert (found == 0).all() if is_known else np.isnan(found).all()


def test_the_source_of_labels_in_words(folders):
    sources = {name: label_source(read_manifest(folder)) for name, folder in folders.items()}
    assert sources == {"full": "rollouts of 12 trials", "cut": "rollouts of 12 trials", "valued": "motif-v1"}
    for settings, said in (
        ({"player": "simple", "trials": 1}, "rollouts of 1 trial"),
        ({"label": "rollout"}, "rollouts"),
        ({"label": "outcome", "trials": 36}, "results of games"),
        ({}, "an unknown source"),
    ):
        assert label_source(Manifest(settings, [], complete=True)) == said


def test_held_out_labels_of_several_datasets_keep_their_own_noise(folders):
    samples, found = held_out([folders["full"], folders["valued"]], 0.3, 3)
    is_rolled_out = samples.trials == FULL.trials
    assert 0 < is_rolled_out.sum() < len(samples)
    assert (found[~is_rolled_out] == 0).all()
    expected = label_variances(with_labels(samples.rows(is_rolled_out)))
    np.testing.assert_array_equal(found[is_rolled_out], expected)
    assert expected[:, 0].any()


def test_a_fit_shows_its_error_without_the_noise(folders):
    fit = fit_dataset([folders["full"]], SETTINGS, name="made")
    facts = fit.to_dict()
    for place, head in facts["heads"].items():
        left = head["rmse_validation"] ** 2 - head["label_noise"] ** 2
        assert head["rmse_without_noise"] == pytest.approx(math.sqrt(max(left, 0.0)))
        rows = [row for row in fit.history_rows() if f"{row['class']}.{row['head']}" == place]
        assert {row["label_noise"] for row in rows} == {head["label_noise"]}
    win, equity = (facts["validation_errors"][name] for name in ("win", "equity"))
    assert win["rmse_validation"] == fit.rmse_validation
    assert 0 < win["rmse_without_noise"] < win["rmse_validation"]
    assert 0 < equity["label_noise"] < equity["rmse_validation"]
    contact, crashed = (fit.heads[name, "equity"].fit.rmse_validation for name in ("contact", "crashed"))
    assert min(contact, crashed) * 0.99 < equity["rmse_validation"] < max(contact, crashed) * 1.01


def test_one_dataset_without_errors_hides_those_of_the_others(folders):
    facts = fit_dataset([folders["full"], folders["cut"]], SETTINGS, name="made").to_dict()
    assert facts["validation_errors"]["win"]["label_noise"] is None
    assert facts["validation_errors"]["win"]["rmse_without_noise"] is None
    assert facts["validation_errors"]["equity"]["label_noise"] > 0


def test_noise_without_anything_held_out(folders):
    facts = fit_dataset([folders["full"]], replace(SETTINGS, validation=0.0), name="made").to_dict()
    assert facts["validation_errors"]["equity"]["rmse_validation"] is None
    assert facts["validation_errors"]["equity"]["rmse_without_noise"] is None
    assert facts["heads"]["contact.win"]["label_noise"] > 0


def test_luck_that_explains_everything_leaves_nothing():
    assert NoiseFreeError(0.3, 0.4).without_noise == 0.0
    assert NoiseFreeError(0.341, 0.317).without_noise == pytest.approx(0.1257, abs=1e-4)
    assert NoiseFreeError(None, 0.1).without_noise is NoiseFreeError(0.1, None).without_noise is None
    assert root_mean([]) is None
    assert root_mean([np.array([1.0, math.nan])]) is None
    assert root_mean([np.array([9.0]), np.array([16.0, 11.0])]) == math.sqrt(12)


def test_labels_are_known_in_memory(folders, tmp_path):
    for name, folder in folders.items():
        data, known = variances(folder)
        half = data[: len(data) // 2].write(tmp_path / name)
        np.testing.assert_array_equal(variances(half)[1], known[: len(data) // 2])
    full, cut = (read_dataset(folders[name]) for name in ("full", "cut"))
    in_memory, in_files = (motif.fit(data, SETTINGS).to_dict()["heads"] for data in (cut, folders["cut"]))
    assert {name: head["label_noise"] for name, head in in_memory.items()} == {
        name: head["label_noise"] for name, head in in_files.items()
    }
    # A frame does not say how it was labelled, and a sum of two kinds has no one answer.
    for unknown in (Dataset.from_frame(full.to_frame()), full + cut):
        found = label_variances(unknown)
        assert np.isnan(found[:, :-1]).all()
        np.testing.assert_allclose(found[:, -1], unknown.equity_se.astype(float) ** 2, rtol=1e-6)
    assert np.isfinite(label_variances(full + full)).all()
