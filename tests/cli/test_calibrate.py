"""The command calibrate."""

import pytest
from matplotlib.image import imread

from motif.evaluators import read_weight_file

START = "4HPwATDgc/ABMA"


@pytest.fixture(scope="module")
def chances(tmp_path_factory):
    """A dataset large enough for a calibration of contact."""
    from motif.cli.main import main

    folder = tmp_path_factory.mktemp("chances") / "samples"
    words = ["sample", "--out", str(folder), "--player", "simple", "--games", "60", "--trials", "6"]
    assert main([*words, "--rate", "0.3", "--candidates", "1", "--cut", "6", "--jobs", "1"]) == 0
    return folder


def test_from_the_dataset_to_the_player(motif_json, chances, tmp_path):
    out, plot = tmp_path / "cautious.yaml", tmp_path / "cautious.png"
    record = motif_json("calibrate", chances, "--player", "bras", "--out", out, "--plot", plot, "--jobs", 1)
    assert record["player"] == "bras"
    assert record["files"] == {"weights": str(out), "plot": str(plot)}
    assert record["seen"] is False
    for score in ("brier", "log_loss"):
        for group in (record[score], *record[score]["classes"].values()):
            assert group["difference"] == pytest.approx(group["after"] - group["before"])
            assert group["se"] >= 0
        assert set(record[score]["classes"]) == set(record["measured"]["classes"])
    sides = record["fitted"], record["measured"]
    assert sum(side["games"] for side in sides) == 60
    weights = read_weight_file(out)
    assert weights.name == "cautious"
    assert {name: rows.tolist() for name, rows in weights.calibration.items()} == record["knots"]
    assert "contact" in record["knots"]
    pixels = imread(plot)
    assert 0.001 < (pixels[..., :3].min(axis=2) < 0.5).mean() < 0.5
    assert pixels.shape[0] > pixels.shape[1]
    before, after = (motif_json("evaluate", START, "--player", name)["win"] for name in ("bras", out))
    assert before != after


def test_what_it_says(motif, chances, tmp_path):
    out = tmp_path / "made.yaml"
    ending = motif("calibrate", chances, "--player", "bras", "--out", out, "--share", 0.6)
    assert (ending.code, ending.err) == (0, "")
    lines = ending.out.splitlines()
    assert lines[1].split()[:3] == ["class", "positions", "games"]
    assert lines[-1] == str(out)
    assert "fitted on" in ending.out
    assert " 36 games, measured on " in ending.out
    assert " of 24 others" in ending.out
    assert "log-loss" in lines[-2]


def test_a_player_without_weights_is_measured_all_the_same(motif_json, chances):
    record = motif_json("calibrate", chances, "--player", "pubeval")
    assert record["files"] == {"weights": None, "plot": None}
    assert record["log_loss"]["before"] > 0


def test_weights_that_have_seen_the_games(motif, motif_json, chances, tmp_path):
    fitted = tmp_path / "fitted.yaml"
    words = ("fit", chances, "--out", fitted, "--parameters", "bras", "--heads", "win", "--terms", "linear")
    assert motif(*words).code == 0
    assert motif_json("calibrate", chances, "--player", fitted)["seen"] is True
    assert (
        f"{fitted} was itself fitted to this dataset" in motif("calibrate", chances, "--player", fitted).out
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--share", 1), "--share must lie between 0 and 1"),
        (
            ("--player", "pubeval", "--out", "made.yaml"),
            "'pubeval' has no weights to put a calibration beside",
        ),
        (("--player", "bras@1", "--out", "made.yaml"), "'bras@1' has no weights to put a calibration beside"),
        (("--player", "random"), "cannot evaluate"),
        (("--player", "bras", "--out", "made.txt"), "a weight file's name must end in .yaml or .yml"),
        (("--player", "bras", "--plot", "made.gif"), "a picture's name must end in .png or .svg"),
        (("--player", "bras", "--out", "."), "is a folder, not a file to write"),
    ],
)
def test_bad_input(motif, chances, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    ending = motif("calibrate", chances, *words)
    assert ending.code == 2
    assert message in ending.err
    assert ending.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_no_dataset(motif, tmp_path):
    ending = motif("calibrate", tmp_path, "--player", "bras")
    assert ending.code == 2
    assert "no dataset" in ending.err
