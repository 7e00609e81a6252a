"""Rollouts played by gnubg, and collecting the rollout-truth set, with the real program."""

import json

import numpy as np
import pytest

from motif.benchmarks.benchmark_making import roller_of
from motif.board.moves import legal_plays
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.probabilities import equities
from tools.rollout_truth import FIRST_PLY, SHARES, main


@pytest.fixture(autouse=True)
def _installed(gnubg):
    """Skip if gnubg is not installed."""


def test_gnubg_rolls_out_nearly_as_motif_does():
    plays = legal_plays(Position.start(), (3, 1))
    packed = pack_many(np.array([play.position.board for play in plays if play.notation == "8/5 6/5"]))
    for roller, trials, within in ((roller_of("gnubg", 1), 108, 0.12), (roller_of("latest", 1), 2592, 0.12)):
        rows = roller.play(packed, 3, 0, trials)
        assert rows.shape == (1, trials, 5)
        # gnubg's own rollouts and evaluations are 0.16 to 0.2.
        assert equities(rows).mean() == pytest.approx(0.18, abs=within)


def test_decisions_are_collected_from_games(tmp_path):
    folder = tmp_path / "truth"
    assert main(["collect", str(folder), "--games", "40", "--rounds", "1", "--seed", "3"]) == 0
    state = json.loads((folder / "decisions.json").read_text("utf-8"))
    assert len(state["decisions"]) == sum(SHARES.values())
    for decision in state["decisions"]:
        assert decision["game"][2] >= FIRST_PLY
    assert main(["collect", str(folder), "--games", "40"]) == 2, "decisions with results are never replaced"
