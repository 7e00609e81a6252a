"""Games per part: a fixed share of a small dataset, a limited number of positions of a large one."""

from dataclasses import replace

import pytest

from motif.learning.bootstrap_config import load_preset, preset_names
from motif.sampling.dataset import read_dataset
from motif.sampling.sample import SampleSettings, games_a_call, games_a_part
from tests.sampling.folders import made

LARGE = SampleSettings(player="simple", games=2_000_000, trials=1, cut=1)


@pytest.mark.parametrize(("games", "together"), [(1, 1), (64, 1), (65, 2), (640, 10), (3200, 50)])
def test_a_small_dataset_has_64_parts(games, together):
    assert games_a_part(replace(LARGE, games=games)) == together


@pytest.mark.parametrize(
    "kinds",
    [
        {},
        {"rate": 0.05},
        {"candidates": 8, "rate": 0.06, "crashed_rate": 0.4, "race_rate": 0.04},
        {"candidates": 1},
    ],
)
def test_a_part_of_a_large_dataset_holds_some_ten_thousand_positions(tmp_path, kinds):
    settings = replace(LARGE, **kinds)
    few = read_dataset(made(tmp_path / "few", replace(settings, games=40)))
    assert 15_000 < len(few) / 40 * games_a_part(settings) < 80_000


def test_most_presets_have_small_parts():
    large = []
    for name in preset_names():
        config = load_preset(name)
        for version, step in enumerate(config.versions):
            settings = step.sample_settings(config.start, config.step_seed(version))
            if games_a_part(settings) != -(-step.games // 64):
                large.append((name, version, -(-step.games // games_a_part(settings))))
    assert large == [("strong", 3, 84), ("strong", 4, 419)]


@pytest.mark.parametrize("rate", [1e-309, 1e-320, 5e-324])
@pytest.mark.parametrize("label", ["rollout", "outcome"])
def test_a_rate_at_which_nothing_is_recorded(rate, label):
    settings = replace(LARGE, games=100, rate=rate, label=label)
    assert games_a_part(settings) == 2
    assert games_a_call(settings, None) > 100
