"""Clusters of positions: planted groups are found, a cloud is recognised, every position has a group."""

import numpy as np
import pytest

from motif.analysis.evaluator_analysis import analysis_of
from motif.analysis.position_clusters import _centres, clusters_csv, position_clusters
from motif.evaluators import load_static
from tests.games import some_boards


@pytest.fixture(scope="module")
def analysis():
    return analysis_of(load_static("bras"), some_boards("pubeval", 900, seed=3), source="made")


@pytest.mark.parametrize("count", [3, 5, 8])
def test_planted_groups_are_found(count):
    random = np.random.default_rng(count)
    middles = 20 * random.permutation(np.eye(8))[:count]
    rows = np.concatenate([middle + random.normal(size=(40, 8)) for middle in middles])
    centres, silhouettes = _centres(rows)
    assert len(centres) == count == max(silhouettes, key=silhouettes.get)
    assert silhouettes[count] > 0.7
    distances = np.linalg.norm(centres[:, None] - middles, axis=2)
    assert distances.min(axis=1).max() < 1
    assert sorted(distances.argmin(axis=1)) == list(range(count))


def test_a_cloud_has_no_groups():
    rows = np.random.default_rng(1).normal(size=(400, 6))
    _, silhouettes = _centres(rows)
    assert max(silhouettes.values()) < 0.25


def test_silhouettes_by_the_definition():
    random = np.random.default_rng(2)
    groups = np.repeat([0, 1, 2, 3], [14, 9, 6, 1])
    rows = random.normal(size=(30, 3)) + 6 * np.vstack([np.eye(3), np.ones(3)])[groups]
    distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    widths = []
    for k in range(30):
        others = [distances[k, (groups == g) & (np.arange(30) != k)] for g in range(4)]
        if not len(others[groups[k]]):
            widths.append(0.0)
            continue
        inside = others[groups[k]].mean()
        outside = min(others[g].mean() for g in range(4) if g != groups[k])
        widths.append((outside - inside) / max(inside, outside))
    _, silhouettes = _centres(rows)
    assert silhouettes[4] == pytest.approx(np.mean(widths))


def test_rows_that_are_all_alike():
    centres, silhouettes = _centres(np.ones((50, 4)))
    assert (len(centres), silhouettes) == (1, {})


def test_every_position_has_its_group(analysis):
    found = position_clusters(analysis)
    assert set(found.labels) == {one.number for one in found.groups}
    sizes = [one.positions for one in found.groups]
    assert sum(sizes) == 900
    assert [one.number for one in found.groups] == list(range(1, len(sizes) + 1))
    features = analysis.judged.features
    for one in found.groups:
        here = found.labels == one.number
        assert sum(one.classes.values()) == one.positions == here.sum()
        assert here[one.typical]
        assert one.value == pytest.approx(analysis.values[here].mean())
        away = (features[here].mean(axis=0) - features.mean(axis=0)) / features.std(axis=0)
        np.testing.assert_allclose(one.centre, away, atol=1e-9)
        name, amount = one.marks(analysis.parameters.names)[0]
        assert abs(amount) == pytest.approx(np.abs(away).max())
        assert analysis.parameters.names.index(name) == np.abs(away).argmax()
    assert (position_clusters(analysis).labels == found.labels).all()
    assert clusters_csv(analysis, found).count("\n") == len(found.groups) + 1
