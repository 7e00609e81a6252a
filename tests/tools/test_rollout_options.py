"""The table of rollout options: its positions, its bias, and its place in the page."""

import numpy as np
import pytest

from motif.board.outcome import outcome
from motif.board.position import Position
from motif.evaluators import load_static
from motif.parameters.position_class import position_class
from motif.rollouts import RolloutResult, RolloutSettings
from motif.runtime.errors import SettingError
from tools import rollout_options
from tools.marked_page import marks
from tools.rollout_options import (
    POSITIONS,
    REGION,
    bias,
    self_play_positions,
    write_table,
)


def made_result(equities: np.ndarray, errors: np.ndarray) -> RolloutResult:
    columns = np.zeros((len(equities), 5))
    mean, se = (np.column_stack([columns, values]) for values in (equities, errors))
    return RolloutResult(mean, se, np.full(len(equities), 36), 1.0, "money")


def test_positions_are_of_the_wanted_classes():
    boards = self_play_positions(load_static("pubeval"))
    positions = [Position(board) for board in boards]
    assert not any(map(outcome, positions))
    found = [position_class(position) for position in positions]
    assert {name: found.count(name) for name in POSITIONS} == POSITIONS
    assert len(set(positions)) == len(positions)
    assert (self_play_positions(load_static("pubeval")) == boards).all()
    assert (self_play_positions(load_static("pubeval"), seed=1) != boards).any()


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_chance_does_not_count_as_bias(spread):
    """Over many repetitions the estimates scatter about the true bias by their standard errors."""
    random = np.random.default_rng(5)
    errors = random.uniform(0.02, 0.06, 50)
    offsets = 0.03 + spread * random.normal(size=50)
    found = []
    for _ in range(400):
        truth = made_result(random.normal(size=50) * errors, errors)
        with_option = made_result(offsets + random.normal(size=50) * errors, errors)
        found.append(bias(with_option, truth))
    means, squares = np.array([it.mean for it in found]), np.array([it.square for it in found])
    assert means.mean() == pytest.approx(offsets.mean(), abs=4 * means.std() / 20)
    assert squares.mean() == pytest.approx((offsets**2).mean(), abs=4 * squares.std() / 20)
    assert means.std() == pytest.approx(found[0].mean_se, rel=0.15)
    assert squares.std() == pytest.approx(np.mean([it.square_se for it in found]), rel=0.25)


def test_a_missing_bias_is_reported_as_small():
    exact = made_result(np.zeros(50), np.full(50, 0.01))
    assert bias(exact, exact).rms.startswith("< 0.0")
    assert bias(made_result(np.full(50, 0.2), np.full(50, 0.01)), exact).rms == "0.199 ± 0.002"


def test_the_table_is_between_its_markers(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    start, end = marks(REGION)
    page.write_text(f"before\n{start}old\n{end}after\n")
    few = {"`--cut 1`": RolloutSettings(72, cut=1)}
    monkeypatch.setattr(rollout_options, "_OPTIONS", few)
    monkeypatch.setattr(rollout_options, "default_player", lambda: "pubeval")
    write_table(page, share=0.0015)
    before, _, rest = page.read_text().partition(start)
    table, _, after = rest.partition(end)
    assert (before, after) == ("before\n", "after\n")
    assert table == capsys.readouterr().err
    assert table.startswith("50 positions, pubeval, one core. Reference: 72 full stratified trials each")
    name, trials, *_, seconds = table.splitlines()[-1].strip("| ").split(" | ")
    assert name == "`--cut 1`"
    assert int(trials.replace(",", "")) > 0
    assert float(seconds) >= 0
    page.write_text("nothing\n")
    with pytest.raises(SettingError, match="are missing"):
        write_table(page)
