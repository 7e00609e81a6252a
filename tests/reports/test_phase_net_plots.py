"""Pictures of the phase network's training, odd runs included."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

from motif.phase_net.phase_settings import PhaseNetSettings
from motif.phase_net.phase_training import Epoch, GameFigures, OutcomeStage, PhaseNetTraining, Round
from motif.reports.convergence import IMPROVEMENT, LOSS, WIN_RATE, draw_training
from motif.runtime.errors import FileError

NAMES = {LOSS, WIN_RATE, IMPROVEMENT}


def made_run(rounds: int, share: float = 0.6, epochs: int = 30) -> PhaseNetTraining:
    """Return the record of a training in which every round wins about this `share`."""
    random = np.random.default_rng(rounds)
    rows = [Epoch(0, k, 900, 0.1 / k, 0.12 / k) for k in range(1, epochs + 1)]
    rows += [Epoch(n, k, 900, 0.4, 0.41) for n in range(1, rounds + 1) for k in (1, 2)]

    def games() -> GameFigures:
        wins = float(np.clip(share + 0.03 * random.normal(), 0, 1)) if 0 < share < 1 else share
        return GameFigures(1000, round(1000 * wins), wins, 0.01 if 0 < share < 1 else 0.0, 0.0, None)

    measured = [Round(n, 900, 0.4, 0.41, games(), games(), {}) for n in range(1, rounds + 1)]
    stage = OutcomeStage("all rounds", rounds, 0.41, measured)
    settings = PhaseNetSettings(test_games=1000)
    return PhaseNetTraining(settings, None, stage, (), {}, tuple(rows), 0.0, {})


@pytest.mark.parametrize(
    ("rounds", "share", "epochs"), [(20, 0.6, 90), (1, 0.5, 1), (60, 0.2, 40), (3, 0.0, 5), (2, 1.0, 5)]
)
def test_pictures_of_runs(tmp_path, rounds, share, epochs):
    draw_training(made_run(rounds, share, epochs), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == NAMES
    for name in NAMES:
        pixels = imread(tmp_path / name)
        assert 0.001 < (pixels[..., :3].min(axis=2) < 0.5).mean() < 0.5
        assert not (pixels[:, -1, :3].min(axis=1) < 0.5).any(), f"{name} runs over its right edge"


def test_single_stages_and_several_opponents(tmp_path):
    whole = made_run(6)
    parts = {
        "1": replace(whole, epochs=whole.epochs[:30], stage_2=None),
        "2": replace(whole, epochs=whole.epochs[30:]),
    }
    for name, part in parts.items():
        (tmp_path / name).mkdir()
        draw_training(part, tmp_path / name)
    assert {path.name for path in (tmp_path / "1").iterdir()} == {LOSS}
    assert {path.name for path in (tmp_path / "2").iterdir()} == NAMES
    plain = (tmp_path / "2" / WIN_RATE).read_bytes()
    rounds = [
        replace(each, versus_opponents=dict.fromkeys(("simple", "pubeval"), each.versus_heuristic))
        for each in whole.stage_2.rounds
    ]
    draw_training(replace(whole, stage_2=replace(whole.stage_2, rounds=rounds)), tmp_path)
    assert (tmp_path / WIN_RATE).read_bytes() != plain
    pixels = imread(tmp_path / WIN_RATE)
    assert not (pixels[:, -1, :3].min(axis=1) < 0.5).any()


def test_the_same_run_gives_the_same_pictures(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        draw_training(made_run(5), tmp_path / name)
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_picture_that_cannot_be_written_is_one_error(tmp_path):
    (tmp_path / WIN_RATE).mkdir()
    with pytest.raises(FileError, match=r"win-rate\.png: cannot be written"):
        draw_training(made_run(2), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {LOSS, WIN_RATE}
