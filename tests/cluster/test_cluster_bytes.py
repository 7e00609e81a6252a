"""A cluster produces the same bytes as this machine, also when a worker dies on the way."""

import sys
from dataclasses import replace

import pytest

import motif
from motif.contests import play_money_games
from motif.runtime.parallel import working_on
from motif.sampling.dataset_files import write_part
from tests.sampling.folders import QUICK, differences, made, on_call
from tools.local_cluster import machines

sampling = sys.modules["motif.sampling.sample"]

SETTINGS = replace(QUICK, games=60, trials=10, rate=0.6)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Make the dataset on this machine; the workers also use the kernels compiled for it."""
    return made(tmp_path_factory.mktemp("here") / "samples", SETTINGS)


def test_the_same_dataset_although_a_worker_is_killed(here, tmp_path, monkeypatch):
    def write_and_kill(*arguments):
        started.workers[0].kill()
        assert started.workers[0].wait() == -9
        return write_part(*arguments)

    folder = tmp_path / "samples"
    monkeypatch.setattr(sampling, "write_part", on_call(11, write_part, write_and_kill))
    with machines(2) as started, working_on(started.address):
        made(folder, SETTINGS)
        assert started.workers[0].poll() == -9
    assert differences(here, folder) == []


@pytest.mark.slow
def test_a_cluster_resumes_what_this_machine_began(here, cluster, tmp_path):
    folder = made(tmp_path / "samples", SETTINGS, jobs=2)
    for number in (0, 7, 8):
        (folder / f"part-{number:05d}.parquet").unlink()
    with working_on(cluster):
        made(folder, SETTINGS, resume=True)
    assert differences(here, folder) == []


def test_the_same_match_and_rollout(cluster):
    players = motif.load("pubeval"), motif.load("simple")
    position, settings = motif.Position.start(), motif.RolloutSettings(trials=2600, cut=4)

    def results():
        rolled = motif.rollout(position, motif.load_static("pubeval"), settings, jobs=1)
        return play_money_games(*players, 1100, seed=3, jobs=1), rolled.mean.tolist(), rolled.se.tolist()

    expected = results()
    with working_on(cluster):
        assert results() == expected
