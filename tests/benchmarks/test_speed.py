import pytest

from motif.benchmarks.speed import speed
from motif.evaluators.static import simple
from motif.runtime.errors import SettingError

FIGURES = (
    "pubeval_games_per_second",
    "motif_games_per_second",
    "motif_filtered_games_per_second",
    "plays_per_second",
    "evaluations_per_second",
)


def test_every_figure_is_measured_for_one_core_and_for_all():
    rates = speed(simple(), jobs=1, seconds=0.01)
    assert set(rates) == {*FIGURES, *(name + "_all_cores" for name in FIGURES)}
    assert all(rate > 0 for rate in rates.values())


def test_no_time_is_refused():
    with pytest.raises(SettingError, match="seconds"):
        speed(simple(), seconds=0.0)
