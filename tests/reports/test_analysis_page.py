"""The folder of an analysis: complete, reproducible, readable by people and programs."""

import csv
import json
import math
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow.parquet as pq
import pytest
from matplotlib.image import imread

from motif.analysis.evaluator_analysis import Clusters, analysis_of, self_play_positions
from motif.analysis.position_clusters import position_clusters
from motif.analysis.position_table import position_columns, value_ranges
from motif.board.identifiers import gnubg_ids
from motif.evaluators import load_static
from motif.evaluators.bras import ARTICLE
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.players import load
from motif.reports import analysis_page as report
from motif.reports import analysis_plots
from motif.reports.analysis_page import correlations_caption, features_caption, inspect
from motif.reports.analysis_plots import (
    bins_of,
    draw_clusters,
    draw_components,
    draw_correlations,
    draw_histograms,
    draw_importance,
    draw_inflation,
    draw_normality,
    draw_ranges,
    draw_relations,
    draw_scores,
    draw_sensitivity,
    draw_transform,
    feature_pages,
    running_mean,
)
from motif.runtime.errors import FileError, PlayerError, SettingError
from motif.runtime.progress import heard_by
from tests.evaluators.made_weights import evaluator_of, made_weights

POSITIONS = 300
VOID = {"meta", "img", "br", "wbr"}


class Page(HTMLParser):
    """Checks that tags are balanced; collects pictures and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.pictures: list[dict] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag != "script"
        if tag == "img":
            self.pictures.append(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def bras(tmp_path_factory):
    """An analysis of BRAS: its folder and its summary."""
    out, heard = tmp_path_factory.mktemp("analysis") / "deep" / "bras", []
    with heard_by(lambda *news: heard.append(news)):
        found = inspect(load_static("bras"), out, positions=POSITIONS, jobs=1).summary
    pictures = sum(name.endswith(".png") for name in found["files"])
    assert heard[-1] == ("drawing pictures", pictures, pictures)
    return out, found


def looks_drawn(path, tallest=3) -> bool:
    pixels = imread(path)
    height, width = pixels.shape[:2]
    ink = (pixels[..., :3].min(axis=2) < 0.5).mean()
    return bool(0.005 < ink < 0.6 and 0.5 < height / width < tallest and path.stat().st_size < 1_000_000)


def test_everything_named_is_there(bras):
    out, found = bras
    assert sorted(path.name for path in out.iterdir()) == sorted(found["files"])
    assert sorted(path.name for path in out.parent.iterdir()) == [out.name]
    assert json.loads((out / "summary.json").read_text()) == found
    pictures = [name for name in found["files"] if name.endswith(".png")]
    assert sorted(name[:2] for name in pictures) == [f"{k:02}" for k in range(1, 14)]
    assert all(effect["sentence"].endswith(".") for effect in found["effects"])
    assert all(looks_drawn(out / name) for name in pictures)


def test_the_summary_says_what_was_analysed(bras):
    _, found = bras
    assert (found["player"], found["parameters"], found["head"], found["class"]) == (
        "bras",
        "bras",
        "win",
        "all",
    )
    assert found["positions"] == sum(found["positions_by_class"].values()) == POSITIONS
    assert found["slope_at_zero"] == pytest.approx(50 / 3, rel=1e-5)
    assert found["source"] == "games of bras against itself, one in 10 of each game"


def test_the_page_needs_nothing_else_and_shows_each_picture(bras):
    out, found = bras
    text = (out / "report.html").read_text()
    page = Page(text)
    assert len(page.pictures) == sum(name.endswith(".png") for name in found["files"])
    assert all(picture["src"].startswith("data:image/png;base64,") for picture in page.pictures)
    assert all(len(picture["alt"]) > 80 for picture in page.pictures)
    # The boards are drawings; their namespace is not an address that is loaded.
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "The slope is 16.67 at D = 0" in page.text
    assert "the article finds pip, bar, off and blot" in page.text
    assert "the means of the article's doubling set" in page.text
    assert all(f"Cluster {one['number']}: " in page.text for one in found["clusters"])
    assert all(one["typical"] in page.text for one in found["clusters"])
    assert 'href="tests.html"' in text


def test_the_page_of_tests_is_self_contained_too(bras):
    out, found = bras
    text = (out / "tests.html").read_text()
    page = Page(text)
    assert len(page.pictures) == 1
    assert "http" not in text
    assert [test["verdict"] for test in found["tests"] if test["p"] is None] == ["holds"] * 6
    assert "6 of 6 properties hold" in page.text
    for test in found["tests"]:
        # A rejected hypothesis shows its p-value.
        assert test["question"] in page.text
        assert test["found"] in page.text


def test_tables_hold_what_was_found(bras):
    out, _ = bras
    boards = self_play_positions(load("bras"), POSITIONS, None, seed=0, jobs=1)
    analysis = analysis_of(load_static("bras"), boards, source="made")
    with open(out / "features.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["name"] for row in rows] == list(analysis.parameters.names)
    for name in ("weight", "mean", "std", "importance", "contribution_sd", "sensitivity", "vif"):
        np.testing.assert_allclose(
            [float(row[name]) for row in rows], getattr(analysis.table, name), rtol=1e-5
        )
    with open(out / "correlation.csv", newline="") as handle:
        matrix = np.array([row[1:] for row in list(csv.reader(handle))[1:]], np.float64)
    np.testing.assert_allclose(matrix, analysis.correlation, rtol=1e-5)
    with open(out / "components.csv", newline="") as handle:
        shares = [float(row["explained_share"]) for row in csv.DictReader(handle)]
    assert sum(shares) == pytest.approx(1, abs=1e-5)


def test_positions_are_a_table(bras):
    out, _ = bras
    with open(out / "positions.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == POSITIONS
    boards = self_play_positions(load("bras"), POSITIONS, None, seed=0, jobs=1)
    assert [row["position"] for row in rows] == gnubg_ids(boards)
    score, mine, other = (np.array([float(row[name]) for row in rows]) for name in ("D", "S_me", "S_op"))
    # The article's own check of its dataset.csv.
    assert np.abs(mine + other - 100).max() < 1e-12
    assert np.abs((mine - 50) / 50 - np.tanh(score / 3)).max() < 1e-12
    np.testing.assert_allclose(score, ARTICLE.raw_scores(boards), atol=1e-6)
    expected = features(parameter_set("bras"), boards)
    for k, name in enumerate(parameter_set("bras").names):
        assert (np.array([row[name] for row in rows], np.float32) == expected[:, k]).all()
    table = pq.read_table(out / "positions.parquet")
    assert table.column_names == list(rows[0])
    for name in ("position", "class"):
        assert table[name].to_pylist() == [row[name] for row in rows]
    for name in ("D", "S_me", "pip", "cluster"):
        assert [str(value) for value in table[name].to_numpy()] == [row[name] for row in rows]
    with open(out / "clusters.csv", newline="") as handle:
        groups = list(csv.DictReader(handle))
    labels = [row["cluster"] for row in rows]
    assert {row["cluster"]: int(row["positions"]) for row in groups} == {
        label: labels.count(label) for label in set(labels)
    }
    with open(out / "ranges.csv", newline="") as handle:
        ranges = list(csv.DictReader(handle))
    assert sum(int(row["positions"]) for row in ranges) == POSITIONS
    for row in ranges:
        low, high = float(row["low"]), float(row["high"])
        here = (low <= score) & (score < high)
        assert (high - low, int(row["positions"])) == (0.5, here.sum())
        assert float(row["value"]) == pytest.approx(mine[here].mean(), rel=1e-5)


def test_parameters_leave_other_columns_alone(races):
    names = ("position", "x", *races.parameters.names[2:])
    renamed = [replace(one, name=name) for one, name in zip(races.parameters.parameters, names, strict=True)]
    parameters = replace(races.parameters, parameters=tuple(renamed))
    groups = np.zeros(len(races.boards), np.int64)
    columns = position_columns(replace(races, parameters=parameters), groups)
    assert list(columns["position"]) == gnubg_ids(races.boards)
    np.testing.assert_array_equal(columns["x"], races.judged.raw)
    for k, name in enumerate(("parameter_position", "parameter_x", *names[2:])):
        np.testing.assert_array_equal(columns[name], races.judged.features[:, k].astype(np.float32))


@pytest.mark.slow
def test_the_same_bytes_each_time_for_any_number_of_workers(bras, tmp_path):
    out, found = bras
    inspect(load_static("bras"), tmp_path / "again", positions=POSITIONS, jobs=2)
    for name in found["files"]:
        assert (out / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


def test_a_folder_that_exists_is_left_alone(bras):
    out, found = bras
    with pytest.raises(SettingError, match="bras: already exists: choose a new folder"):
        inspect(load_static("bras"), out, positions=POSITIONS, jobs=1)
    assert len(list(out.iterdir())) == len(found["files"])


def test_a_folder_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(analysis_plots, "draw_scores", fail)
    with pytest.raises(KeyboardInterrupt):
        inspect(load_static("bras"), tmp_path / "out", positions=100, jobs=1)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="cannot be created"):
        inspect(load_static("bras"), tmp_path / "file" / "out", positions=100, jobs=1)


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    with report.new_folder(tmp_path / "out") as folder:
        (folder / "whole").write_text("x")
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == [
        "out",
        "out/whole",
    ]


def test_an_empty_folder_behind_a_link_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    with report.new_folder(tmp_path / "link") as folder:
        (folder / "whole").write_text("x")
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["whole"]


def test_what_a_killed_process_left_is_removed(tmp_path):
    with report.new_folder(tmp_path / "other") as folder:
        (folder / "torn").write_text("x")
        left = tmp_path / folder.name.replace("other", "out")
        shutil.copytree(folder, left)
    assert left.exists()
    with report.new_folder(tmp_path / "out") as folder:
        (folder / "whole").write_text("x")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["whole"]
    assert not left.exists()


def test_two_do_not_write_the_same_folder(tmp_path):
    with report.new_folder(tmp_path / "out") as folder:
        with pytest.raises(FileError, match=r"another run .*is working in this folder"):
            report.new_folder(tmp_path / "out").__enter__()
        (folder / "whole").write_text("x")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["whole"]


def test_options_that_make_no_sense_are_refused_before_any_work(tmp_path):
    bras, out = load_static("bras"), tmp_path / "out"
    with pytest.raises(SettingError, match="positions must be at least 100, not 99"):
        inspect(bras, out, positions=99)
    with pytest.raises(SettingError, match="cannot be combined"):
        inspect(bras, out, positions=100, player=load("bras"), dataset=tmp_path)
    with pytest.raises(PlayerError, match="no head 'equity'"):
        inspect(bras, out, positions=100, head="equity")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def races():
    """Races, in which much is constant, judged by weights with pairs and an unusual name."""
    boards = self_play_positions(load("bras"), 120, "race", seed=0, jobs=1)
    weights = made_weights("keith", pairs=40, name="$odd_name$ <b>" * 4)
    return analysis_of(evaluator_of(weights), boards, source="made", class_name="race", head="lose_gammon")


DRAWINGS = [
    draw_scores, draw_transform, draw_relations, draw_importance, draw_sensitivity, draw_inflation,
    draw_correlations, draw_components, lambda found, path: draw_histograms(found, (0, 2, 3, 18), path),
    draw_normality, lambda found, path: draw_ranges(found, value_ranges(found), path),
    lambda found, path: draw_clusters(found, position_clusters(found), path),
]  # fmt: skip


@pytest.mark.parametrize("draw", DRAWINGS)
def test_pictures_of_odd_positions(races, draw, tmp_path):
    draw(races, tmp_path / "picture.png")
    assert looks_drawn(tmp_path / "picture.png")


def test_constant_features_are_reported(races):
    names = np.array(races.parameters.names)[np.isnan(races.table.vif)]
    assert {"on_bar", "direct_shots", "indirect_shots"} <= set(names)
    assert "Constant: on_bar, " in features_caption(races)


def test_a_single_feature_that_varies_has_no_correlations(races):
    alone = replace(races, clusters=Clusters((0,), ()))
    assert correlations_caption(alone).endswith("Fewer than two features vary, so there are no correlations.")


def test_every_feature_has_its_place_on_a_page(races):
    assert [k for page in feature_pages(races) for k in page] == list(range(19))


@pytest.mark.slow
def test_a_set_of_many_features(tmp_path):
    motif = load_static("motif-v1")
    found = inspect(motif, tmp_path / "out", positions=500, jobs=1).summary
    # At most 18 histograms per page; their number grows with the set.
    pages = math.ceil(len(motif.weights.parameters) / 18)
    assert pages > 1
    assert sum(name.startswith("02_") for name in found["files"]) == pages
    for name in found["files"]:
        if name.endswith(".png"):
            # The table of components has a row for each feature.
            assert looks_drawn(tmp_path / "out" / name, tallest=4 if "components" in name else 3), name
    assert {"pip_count", "pip_count_opponent", "pip_lead"} <= set(found["collinear"])


def test_bins_are_centred_on_the_values_of_counts():
    values = np.array([0, 1, 1, 3, 3, 3]) / 6
    edges = bins_of(values)
    counts, _ = np.histogram(values, edges)
    assert counts.tolist() == [1, 2, 0, 3]
    many = np.random.default_rng(0).normal(size=5000)
    edges = bins_of(many)
    assert 20 < len(edges) < 30
    # One bin is centred on 0.
    middle = (edges[:-1] + edges[1:]) / 2
    assert np.abs(middle).min() < 1e-12


def test_means_along_a_feature_leave_frequent_values_alone():
    features = np.array([0.0] * 60 + [0.5, 0.6] * 15 + [1.0] * 30)
    values = 2 * features + 1
    places, means = running_mean(features, values)
    assert (places[0], places[-1]) == (0, 1)
    np.testing.assert_allclose(means, 2 * places + 1)
    assert len(places) == 4
    assert running_mean(np.full(9, 2.0), np.arange(9.0))[1].tolist() == [4.0]
