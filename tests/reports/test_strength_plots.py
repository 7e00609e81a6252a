"""The picture of a tournament's ratings: for odd tournaments too, and reproducible."""

from itertools import combinations

import numpy as np
import pytest

from motif.contests.ratings import Ratings
from motif.contests.tournament import Pairing, TournamentResult
from motif.reports.strength_plots import plot_ratings
from motif.runtime.errors import FileError, SettingError
from tests.reports.test_plots import checked_size, words_of


def made_tournament(players: int, spread: float = 1.0, error: float = 0.05) -> TournamentResult:
    names = ["onnx:weights/phase-net/" + "very-long-name/" * 4 + "refined.onnx", "$a_b$ <x>"]
    names = [*names, *(f"player {k}" for k in range(players))][:players]
    values = spread * np.linspace(1, -1, players)
    ratings = Ratings(values, np.full(players, error))
    elo = Ratings(300 * values, np.full(players, 300 * error))
    pairings = tuple(Pairing(*pair, 0, None, 0.0, 0.0) for pair in combinations(range(players), 2))
    return TournamentResult(tuple(names), 1000, 0, 0, pairings, ratings, elo, 0.5)


@pytest.mark.parametrize("players", [2, 12, 30])
def test_any_number_of_players(tmp_path, players):
    plot_ratings(made_tournament(players), tmp_path / "plot.png")
    height, width = checked_size(tmp_path / "plot.png")
    assert height / width == pytest.approx((1.5 + 0.42 * players) / 5.4, rel=0.01)


@pytest.mark.parametrize(("spread", "error"), [(0.0, 0.0), (0.0, 0.3), (1.0, 0.0)])
def test_ratings_without_spread(tmp_path, spread, error):
    plot_ratings(made_tournament(3, spread, error), tmp_path / "plot.png")
    checked_size(tmp_path / "plot.png")


def test_zero_has_no_minus_sign_and_long_names_one_ellipsis(tmp_path):
    plot_ratings(made_tournament(3, -0.0, 0.0), tmp_path / "plot.svg")
    words = words_of(tmp_path / "plot.svg")
    assert words.count("+0.00 ± 0.00") == 3
    assert words.count("+0 ± 0") == 3
    assert words.count("…") == 1
    assert "..." not in words


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_bytes_each_time(tmp_path, suffix):
    drawings = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for drawing in drawings:
        plot_ratings(made_tournament(4), drawing)
    assert drawings[0].read_bytes() == drawings[1].read_bytes()


def test_where_no_picture_can_be(tmp_path):
    with pytest.raises(SettingError, match="must end in"):
        plot_ratings(made_tournament(3), tmp_path / "plot.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError):
        plot_ratings(made_tournament(3), tmp_path / "file" / "plot.png")
