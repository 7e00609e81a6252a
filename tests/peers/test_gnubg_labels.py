"""A dataset labelled by a real gnubg."""

import numpy as np

from motif.players.gnubg import GnubgEvaluator
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import read_manifest
from motif.sampling.sample import SampleSettings, sample


def test_labels_are_gnubgs(gnubg, tmp_path):
    settings = SampleSettings(player="pubeval", games=3, candidates=3, rate=0.3, label="gnubg", seed=2)
    sample(settings, tmp_path / "taught", jobs=1)
    samples = read_dataset(tmp_path / "taught")
    expected = GnubgEvaluator().evaluate_many(samples.boards)
    assert np.array_equal(samples.probabilities, expected)
    assert read_manifest(tmp_path / "taught").settings["label"] == "gnubg"
