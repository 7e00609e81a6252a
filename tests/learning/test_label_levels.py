"""Labels whose means over each decision come from another evaluator."""

from functools import partial

import numpy as np
import pytest

from motif.evaluators import OUTPUTS
from motif.evaluators.known_players import load_static, weights_called
from motif.evaluators.probabilities import equities
from motif.learning.fit import fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import possible
from motif.learning.label_levels import with_levels
from motif.learning.rows import class_rows
from motif.parameters.named_sets import parameter_set
from motif.sampling.dataset import read_dataset, write_pieces
from motif.sampling.sample import SampleSettings
from tests.sampling.folders import made

GAMES = SampleSettings(player="simple", label="keith-v1@1", games=40, candidates=4, rate=0.3, seed=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("levels") / "samples", GAMES)


@pytest.fixture(scope="module")
def data(folder):
    return read_dataset(folder)


def test_means_are_those_of_the_evaluator_and_differences_remain(data):
    evaluator = load_static("motif-v1")
    changed = with_levels(data, evaluator)
    assert changed.probabilities.dtype == data.probabilities.dtype
    assert changed.equity.dtype == data.equity.dtype
    inside = ((changed.probabilities > 0) & (changed.probabilities < 1))[:, 0]
    free = [number for number in np.unique(data.decision) if inside[data.decision == number].all()]
    assert len(free) > 50
    for number in free:
        rows = data.decision == number
        new, old = changed.probabilities[rows, 0], data.probabilities[rows, 0]
        assert new.mean() == pytest.approx(evaluator.evaluate_many(data.boards[rows])[:, 0].mean(), abs=1e-5)
        np.testing.assert_allclose(new - new.mean(), old - old.mean(), atol=1e-5)


def test_labels_stay_valid(data):
    changed = with_levels(data, load_static("motif-v1"))
    assert ((changed.probabilities >= 0) & (changed.probabilities <= 1)).all()
    for number, head in enumerate(OUTPUTS):
        assert not changed.probabilities[~possible(head, data.boards), number].any()
    change = equities(changed.probabilities) - equities(data.probabilities)
    np.testing.assert_allclose(changed.equity - data.equity, change, atol=1e-5)
    assert not np.allclose(change, 0)


def test_the_labels_own_levels_change_nothing(data):
    class Same:
        def evaluate_many(self, boards):
            return data.probabilities

    changed = with_levels(data, Same())
    np.testing.assert_allclose(changed.probabilities, data.probabilities, atol=1e-6)
    np.testing.assert_allclose(changed.equity, data.equity, atol=1e-5)


def test_a_fit_with_levels_learns_them(folder, tmp_path):
    weights_called("motif-v1").save(tmp_path / "copied.yaml")
    teacher = load_static(str(tmp_path / "copied.yaml"))
    settings = FitSettings(parameters="keith", terms="linear", heads="win", validation=0.25, seed=3)
    plain, moved = (
        fit_dataset([folder], settings, name="made", levels=levels, jobs=1) for levels in (None, teacher)
    )
    assert moved.weights.fit["levels"] == "motif-v1"
    assert "levels" not in plain.weights.fit
    # Labels by lookahead have no noise; that of the levels is unknown.
    assert {head.noise for head in plain.heads.values()} == {0.0}
    assert {head.noise for head in moved.heads.values()} == {None}
    assert moved.rmse_train != plain.rmse_train
    again = fit_dataset([folder], settings, name="made", levels=teacher, jobs=2)
    first, second = (fit.heads["contact", "win"].fit.weights for fit in (moved, again))
    assert first.tobytes() == second.tobytes()


def test_parts_that_end_within_a_decision_have_the_same_levels(data, tmp_path):
    cuts = range(0, len(data), 7)
    write_pieces(tmp_path / "cut", (data[first : first + 7] for first in cuts))
    write_pieces(tmp_path / "whole", [data])
    changed, parameters = partial(with_levels, evaluator=load_static("simple")), parameter_set("keith")
    labels = []
    for folder in (tmp_path / "cut", tmp_path / "whole"):
        with class_rows([folder], parameters, 0.2, 1, changed=changed) as rows:
            labels.append({name: np.array(part.labels) for name, part in rows.items()})
    cut, whole = labels
    assert cut.keys() == whole.keys()
    assert all((cut[name] == whole[name]).all() for name in whole)
