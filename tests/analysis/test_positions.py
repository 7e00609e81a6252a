"""Positions for an analysis: the same for any number of workers, from all stages of games, of one class."""

import numpy as np
import pytest

from motif.analysis import evaluator_analysis as positions
from motif.analysis.evaluator_analysis import dataset_positions, self_play_positions
from motif.board.packed import pack_many
from motif.board.position import first_bad_board
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import load
from motif.runtime.errors import DatasetError, PlayerError
from motif.sampling.dataset import read_dataset
from motif.sampling.sample import SampleSettings, sample


def test_more_positions_go_on_where_fewer_end():
    few = self_play_positions(load("random"), 200, None, seed=4, jobs=1)
    many = self_play_positions(load("random"), 900, None, seed=4, jobs=1)
    other = self_play_positions(load("random"), 200, None, seed=5, jobs=1)
    assert (many[:200] == few).all()
    assert (other != few).any()


@pytest.mark.slow
def test_workers_change_nothing():
    alone = self_play_positions(load("bras"), 1500, None, seed=4, jobs=1)
    assert (self_play_positions(load("bras"), 1500, None, seed=4, jobs=2) == alone).all()


def test_positions_are_of_all_stages_and_seldom_repeat():
    boards = self_play_positions(load("pubeval"), 2000, None, seed=1, jobs=1)
    assert boards.shape == (2000, 26)
    assert first_bad_board(boards) == -1
    codes = classify_many(pack_many(boards))
    assert (np.bincount(codes) > 50).all()
    assert len(np.unique(boards, axis=0)) > 1900


@pytest.mark.parametrize("class_name", CLASS_NAMES)
def test_positions_of_one_class(class_name):
    boards = self_play_positions(load("pubeval"), 150, class_name, seed=1, jobs=1)
    assert len(boards) == 150
    assert set(classify_many(pack_many(boards))) == {CLASS_NAMES.index(class_name)}


def test_a_class_that_hardly_occurs_is_given_up(monkeypatch):
    monkeypatch.setattr(positions, "_GAMES_A_POSITION", 0)
    few = r"64 games of 'pubeval' have only \d+ crashed positions, not 5000: give a dataset or a file"
    with pytest.raises(PlayerError, match=few):
        self_play_positions(load("pubeval"), 5000, "crashed", seed=1, jobs=1)
    with pytest.raises(PlayerError, match=r"have only \d+ positions, not 5000"):
        self_play_positions(load("pubeval"), 5000, None, seed=1, jobs=1)


def test_positions_of_a_dataset_are_evenly_spread(tmp_path):
    settings = SampleSettings(games=12, trials=1, rate=0.6, candidates=1, player="pubeval", seed=2)
    sample(settings, tmp_path, jobs=1)
    boards = read_dataset(tmp_path).boards
    assert len(boards) > 200
    assert (dataset_positions(tmp_path, 100_000, None) == boards).all()
    some = dataset_positions(tmp_path, 101, None)
    assert len(some) == 101
    assert (some[[0, -1]] == boards[[0, -1]]).all()
    contact = dataset_positions(tmp_path, 100_000, "contact")
    assert (classify_many(pack_many(contact)) == 0).all()
    with pytest.raises(DatasetError, match="an analysis needs at least 100 crashed positions, not"):
        dataset_positions(tmp_path, 1000, "crashed")
    with pytest.raises(DatasetError, match="not a dataset"):
        dataset_positions(tmp_path / "none", 1000, None)
