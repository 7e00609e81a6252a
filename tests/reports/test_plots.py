"""Pictures: drawn from odd inputs too, complete or not at all, and reproducible."""

import math
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from motif.evaluators import OUTPUTS
from motif.learning.heads import possible
from motif.reports.calibration_plots import BINS, plot_calibration, reliability
from motif.reports.convergence import plot_convergence, plot_run_convergence
from motif.reports.strength_plots import plot_strength
from motif.runtime.errors import FileError, SettingError
from motif.sampling.dataset import Dataset
from tests.reports.made_run import made_rows, made_samples, made_summary

ALL_FITS = [(kind, head) for kind in ("contact", "crashed", "race") for head in (*OUTPUTS, "equity")]


def checked_size(path: Path) -> tuple[int, int]:
    """Height and width of a PNG in pixels, after checking that something is drawn on it."""
    pixels = imread(path)
    assert 0.001 < (pixels[..., :3].min(axis=2) < 0.5).mean() < 0.5
    assert path.stat().st_size < 1_000_000
    return pixels.shape[:2]


def some(samples: Dataset, rows: np.ndarray) -> Dataset:
    return samples.rows(rows)


def draw_calibration(samples: Dataset, path: Path, **more: object) -> None:
    """Draw probabilities that equal the labels, by default those of rollouts with unknown noise."""
    settings = {"variances": np.full((len(samples), 6), np.nan), "sources": ["rollouts"], **more}
    plot_calibration(samples, samples.probabilities, path, **settings)


@pytest.mark.parametrize(
    "rows",
    [
        made_rows([("contact", "win")]),
        made_rows([("contact", "win")], validation=False),
        made_rows([("contact", "win"), ("race", "win"), ("race", "win_gammon")], passes=300),
        made_rows([("contact", "win")], passes=0),
        [dict(row, rmse_train=0.1, rmse_validation="") for row in made_rows([("race", "win")])],
        [dict(row, rmse_train=0.0, rmse_validation=0.0) for row in made_rows([("race", "win")])],
    ],
    ids=["one fit", "no validation", "many passes", "no pass", "constant", "zero"],
)
def test_convergence_of_few_fits(tmp_path, rows):
    plot_convergence(rows, tmp_path / "plot.png")
    height, width = checked_size(tmp_path / "plot.png")
    assert 0.3 < height / width < 1.5


def test_convergence_of_all_fits(tmp_path):
    plot_convergence(made_rows(ALL_FITS[:-1]), tmp_path / "plot.png", title="$a_b$ <all> " * 8)
    height, width = checked_size(tmp_path / "plot.png")
    assert 1 < height / width < 2.5


def timed(seconds: list[float], first: int = 0) -> list[dict]:
    rows = zip(made_rows([("contact", "win")], passes=len(seconds) - 1), seconds, strict=True)
    return [dict(row, **{"pass": k, "seconds": at}) for k, (row, at) in enumerate(rows, first)]


def test_every_fit_shows_its_last_errors_and_its_seconds():
    """Also a fit that is so short that the seconds of its passes look the same."""

    def seconds(rows: list[dict]) -> str:
        (axes,) = plot_convergence(rows, None).axes
        errors, _, text = axes.get_title().partition("\n")
        assert " / " in errors
        return text

    assert seconds(timed([0.0, 0.1101, 0.1102])) == ".11 s"
    assert seconds(timed([0.0, 0.002, 0.0035])) == ".0035 s"
    assert seconds(timed([0.3, 0.6, 12.0], first=1)) == "12 s"
    assert not seconds(timed([0.0, 0.0, 0.0]))


def test_noise_that_is_zero_is_known():
    def words(noise: float | str) -> str:
        rows = [dict(row, label_noise=noise) for row in made_rows([("contact", "win")])]
        return plot_convergence(rows, None).legends[0].get_title().get_text()

    assert "unknown" in words("")
    assert words(0.0) == "Above each panel: last errors, training / validation / noise."


def test_a_training_error_that_rises_is_explained():
    def words(rmse: list[float]) -> str:
        rows = zip(made_rows([("contact", "win")], passes=len(rmse) - 1), rmse, strict=True)
        figure = plot_convergence([dict(row, rmse_train=one, label_noise=0.0) for row, one in rows], None)
        return figure.legends[0].get_title().get_text()

    assert "plus a\npenalty for large weights" in words([0.4, 0.08, 0.1])
    assert "penalty" not in words([0.4, 0.1, 0.1])


def test_unknown_errors_are_dashes_in_their_places():
    """So noise never stands where the note says validation."""
    rows = made_rows([("contact", "win"), ("crashed", "win"), ("race", "win")])
    known = [row | {"label_noise": 0.25} for row in rows]
    for row in known:
        if row["class"] == "crashed":
            row["rmse_validation"] = None
        if row["class"] == "race":
            row["label_noise"] = None
    figure = plot_convergence(known, None)
    shown = [axes.get_title().splitlines()[0].split(" / ") for axes in figure.axes]
    assert "last errors, training / validation / noise" in figure.legends[0].get_title().get_text()
    dashes = [[one == "–" for one in each] for each in shown]
    assert dashes == [[False] * 3, [False, True, False], [False, False, True]]
    assert [each[2] for each in shown[:2]] == [".250"] * 2


def test_convergence_of_a_run_whose_versions_differ(tmp_path):
    versions = {f"v{k}": made_rows(ALL_FITS[k : k + 9], passes=3 + k) for k in range(3)}
    plot_run_convergence(versions, tmp_path / "few.png")
    plot_run_convergence({f"v{k}": made_rows(ALL_FITS[:6]) for k in range(9)}, tmp_path / "many.png")
    plot_run_convergence({"v0": made_rows([("race", "win")], validation=False)}, tmp_path / "one.png")
    for name in ("few", "many", "one"):
        checked_size(tmp_path / f"{name}.png")


def test_histories_that_say_nothing_are_refused(tmp_path):
    target = tmp_path / "plot.png"
    with pytest.raises(SettingError, match=r"plot\.png: the history of the fit is empty"):
        plot_convergence([], target)
    with pytest.raises(SettingError, match="not the history of a fit: KeyError 'rmse_train'"):
        plot_convergence([{"class": "race", "head": "win", "pass": 0}], target)
    with pytest.raises(SettingError, match="v0: not the history of a fit: ValueError"):
        plot_run_convergence(
            {"v0": [dict(made_rows([("race", "win")])[0], error="", rmse_train="x")]}, target
        )
    with pytest.raises(SettingError, match="no fit of a win probability or equity"):
        plot_run_convergence({"v0": made_rows([("race", "win_gammon")])}, target)
    assert not list(tmp_path.iterdir())


def test_the_same_data_give_the_same_bytes(tmp_path):
    samples = made_samples()
    for name in ("a.png", "b.png"):
        plot_convergence(made_rows(ALL_FITS[:2]), tmp_path / name)
        draw_calibration(samples, tmp_path / f"c{name}")
        plot_strength([made_summary("x", 0)], tmp_path / f"s{name}", start="simple")
    plot_convergence(made_rows(ALL_FITS[:2]), tmp_path / "a.svg")
    plot_convergence(made_rows(ALL_FITS[:2]), tmp_path / "b.svg")
    for first in ("a.png", "ca.png", "sa.png", "a.svg"):
        second = first.replace("a.", "b.")
        assert (tmp_path / first).read_bytes() == (tmp_path / second).read_bytes()
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


def test_a_picture_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    rows = made_rows([("contact", "win")])
    with pytest.raises(SettingError, match=r"must end in \.png or \.svg"):
        plot_convergence(rows, tmp_path / "plot.jpeg")
    (tmp_path / "plot.png").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        plot_convergence(rows, tmp_path / "plot.png")
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]


def test_calibration_pictures(tmp_path):
    samples = made_samples()
    races = some(samples, samples.position_class == 2)
    for name, chosen, outputs, tallness in (
        ("all", samples, OUTPUTS, 1.47),
        ("win", samples, ("win",), 1.47),
        ("races", races, OUTPUTS, 0.9),
        ("none", some(samples, np.zeros(len(samples), np.bool_)), OUTPUTS, 0.2),
        ("one", some(samples, np.arange(1)), OUTPUTS, 0.9),
    ):
        path = tmp_path / f"{name}.png"
        draw_calibration(chosen, path, outputs=outputs)
        height, width = checked_size(path)
        assert height / width == pytest.approx(tallness, abs=0.2)


def test_the_noise_of_labels_does_not_depend_on_the_fit():
    rng, count, trials = np.random.default_rng(4), 4000, 36
    labels = rng.binomial(trials, 0.5, count) / trials
    variances = labels * (1 - labels) / (trials - 1)
    result = reliability(np.full(count, 0.05), labels, np.arange(count), variances)
    assert result.noise == pytest.approx(labels.std(), rel=0.05)
    assert reliability(labels, labels, np.arange(count)).noise is None
    variances[7] = math.nan
    assert reliability(labels, labels, np.arange(count), variances).noise is None


def words_of(picture: Path) -> str:
    """Return the words on an SVG by matplotlib, which writes each line as a comment beside its outlines."""
    return " ".join(re.findall("<!-- (.*?) -->", picture.read_text("utf-8")))


@pytest.mark.parametrize(
    ("variance", "sources", "said"),
    [
        (0.0, ["tiny-v0@1:sparse"] * 2, "Labels by tiny-v0@1:sparse."),
        (
            0.0025,
            ["rollouts of 9 trials"],
            "Labels by rollouts of 9 trials. "
            "Noise: an estimate of the part of the RMSE that is luck in the labels.",
        ),
        (
            math.nan,
            ["rollouts of 9 trials", "rollouts of 6 trials"],
            "Labels by rollouts of 9 trials and rollouts of 6 trials. "
            "Part of the RMSE is noise of the labels, of unknown size.",
        ),
    ],
)
def test_a_calibration_says_what_its_labels_are(tmp_path, variance, sources, said):
    samples = made_samples()
    variances = np.full((len(samples), 6), variance)
    draw_calibration(samples, tmp_path / "plot.svg", variances=variances, sources=sources)
    words = words_of(tmp_path / "plot.svg")
    assert words.count("RMSE 0.000, noise ≈ 0.050" if variance > 0 else "RMSE 0.000") == 6
    assert ("noise ≈" in words) == (variance > 0)
    assert said in words
    assert "mean label" in words
    assert "rollout probability" not in words


def test_strength_pictures(tmp_path):
    for versions in (1, 3, 12):
        summaries = [made_summary("tiny", k) for k in range(versions)]
        plot_strength(summaries, tmp_path / "plot.png", start="weights/$long$_name-of-a-player.yaml")
        checked_size(tmp_path / "plot.png")
    unknown = replace(made_summary("tiny", 0), ppg_se=math.nan, ppg_vs_previous=math.nan)
    plot_strength([unknown], tmp_path / "plot.png", start="simple")


def test_many_versions_have_short_labels(tmp_path):
    summaries = [replace(made_summary("tiny", k), ppg_vs_pubeval=-0.0001) for k in range(12)]
    for versions in (12, 3):
        plot_strength(summaries[:versions], tmp_path / "plot.svg", start="bras")
        words = words_of(tmp_path / "plot.svg")
        assert words.count(f"v{versions - 1}") == 2
        assert "Below, v0 is measured against bras." in words
        assert "-0.000" not in words
    assert "v0 +0.000 ± 0.012 v1" in words


@pytest.mark.parametrize(("versions", "known", "is_numbered"), [(3, 3, True), (5, 2, True), (5, 3, False)])
def test_numbers_of_versions_that_would_overlap_are_left_out(tmp_path, versions, known, is_numbered):
    rows = [dict(row, label_noise=0.05 if known == 3 else None) for row in made_rows([("race", "win")])]
    plot_run_convergence({f"v{k}": rows for k in range(versions)}, tmp_path / "plot.svg")
    words = words_of(tmp_path / "plot.svg")
    assert words.count(".060 / .070") == (versions if is_numbered else 0)
    assert ("last errors" in words) == is_numbered


def test_names_and_panels_that_cannot_be_drawn_give_no_warning(tmp_path):
    """Boxes for letters that no font has, and only a heading for a panel without positions."""
    samples = made_samples()
    races = (samples.position_class == 2) & ((np.abs(samples.boards).sum(axis=1)) < 24)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_calibration(some(samples, races), tmp_path / "plot.png", title="\u540d\u524d")


def test_reliability_of_true_probabilities():
    rng, games, plies, trials = np.random.default_rng(1), 400, 25, 8
    fitted = rng.random(games * plies)
    rollout = rng.binomial(trials, fitted) / trials
    variances = rollout * (1 - rollout) / (trials - 1)
    result = reliability(fitted, rollout, np.repeat(np.arange(games), plies), variances)
    assert result.counts.sum() == len(fitted)
    assert (np.abs(result.label - result.fitted) < 4 * result.se).all()
    assert result.rmse == pytest.approx(result.noise, rel=0.03)
    independent = np.sqrt(result.fitted * (1 - result.fitted) / trials / result.counts)
    assert result.se == pytest.approx(independent, rel=0.2)


def test_positions_of_one_game_count_as_one_observation():
    rng, games, plies = np.random.default_rng(2), 300, 50
    fitted, game = np.full(games * plies, 0.55), np.repeat(np.arange(games), plies)
    rollout = np.repeat(rng.random(games), plies)
    result = reliability(fitted, rollout, game)
    assert result.se[5] == pytest.approx(rollout.std() / math.sqrt(games), rel=0.01)


def test_bins_of_few_games_are_left_out():
    fitted = np.array([0.0, 0.01, 0.02, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0])
    result = reliability(fitted, fitted, np.array([1, 2, 3, 1, 1, 2, 1, 2, 3]))
    assert list(np.flatnonzero(np.isfinite(result.fitted))) == [0, BINS - 1]
    assert list(result.counts[[0, 5, 9]]) == [3, 3, 3]
    assert result.rmse == 0


def test_no_gammon_once_a_checker_is_off():
    samples = made_samples()
    own, other = samples.boards.clip(min=0).sum(axis=1), -samples.boards.clip(max=0).sum(axis=1)
    assert possible("win", samples.boards).all()
    assert (possible("win_gammon", samples.boards) == (other == 15)).all()
    assert (possible("lose_gammon", samples.boards) == (own == 15)).all()
    assert 0 < possible("lose_gammon", samples.boards).sum() < len(samples)


@pytest.mark.slow
def test_drawing_leaves_no_global_state(tmp_path):
    code = """
import sys, pathlib, matplotlib
from types import SimpleNamespace
settings = lambda: dict(dict.items(matplotlib.rcParams))
before = settings()
import motif.reports.run_report
from motif.reports.strength_plots import plot_strength
keys = ("ppg_vs_pubeval", "ppg_se", "ppg_vs_previous", "ppg_vs_previous_se")
summary = SimpleNamespace(version=0, **dict.fromkeys(keys, 0.1))
plot_strength([summary], pathlib.Path(sys.argv[1]), start="")
assert "matplotlib.pyplot" not in sys.modules
assert settings() == before
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "plot.png")], check=True)


def test_the_package_itself_imports_nothing():
    code = "import sys, motif.reports; assert not {'matplotlib', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
