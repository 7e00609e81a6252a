"""The command calibrate."""

import pytest
from matplotlib.image import imread

from motif.board.identifiers import gnubg_ids
from motif.evaluators import read_weight_file
from motif.sampling.game_results import outcome_samples
from motif.sampling.recorded_games import finished, read_games

START = "4HPwATDgc/ABMA"


@pytest.fixture(scope="module")
def chances(tmp_path_factory):
    """A dataset large enough to calibrate contact positions."""
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
    assert "fitted to" in ending.out
    assert " 36 games, measured on " in ending.out
    assert " of 24 other games" in ending.out
    assert "log-loss" in lines[-2]


def test_a_player_without_weights_is_measured_anyway(motif_json, chances):
    record = motif_json("calibrate", chances, "--player", "pubeval")
    assert record["files"] == {"weights": None, "plot": None}
    assert record["log_loss"]["before"] > 0


def test_weights_that_have_seen_the_games(motif, motif_json, chances, tmp_path):
    fitted = tmp_path / "fitted.yaml"
    words = ("fit", chances, "--out", fitted, "--parameters", "bras", "--heads", "win", "--terms", "linear")
    assert motif(*words).code == 0
    assert motif_json("calibrate", chances, "--player", fitted)["seen"] is True
    assert f"{fitted} was fitted to this dataset" in motif("calibrate", chances, "--player", fitted).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--share", 1), "--share must be between 0 and 1"),
        (
            ("--player", "pubeval", "--out", "made.yaml"),
            "'pubeval' has no weights: name a weight file",
        ),
        (("--player", "bras@1", "--out", "made.yaml"), "'bras@1' has no weights: name a weight file"),
        (("--player", "random"), "cannot evaluate"),
        (("--player", "bras", "--out", "made.txt"), "made.txt: the name must end in .yaml or .yml"),
        (("--player", "bras", "--plot", "made.gif"), "the name of a picture must end in .png or .svg"),
        (("--player", "bras", "--out", "."), "is a folder, not a file"),
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
    assert "not a dataset" in ending.err


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """BRAS scores that are too cautious: the player at 60 wins four games of five."""
    path = tmp_path_factory.mktemp("scores") / "my_games.csv"
    rows = [f"{60 if row % 2 else 40},{int((row % 10 < 8) == row % 2)}" for row in range(1000)]
    path.write_text("\n".join(["S_me,outcome", *rows]), "utf-8")
    return path


def test_match_files_and_a_csv_of_the_same_positions(motif_json, matches, tmp_path):
    """Each position with its winner, from either source; in the CSV each position is a separate game."""
    out = tmp_path / "real.yaml"
    record = motif_json("calibrate", matches, "--player", "bras", "--out", out, "--seed", 3)
    samples = outcome_samples(finished(read_games([matches])))
    counted = record["fitted"]["positions"] + record["measured"]["positions"]
    assert counted == len(samples)
    assert record["fitted"]["games"] + record["measured"]["games"] == len(set(samples.game.tolist()))
    assert read_weight_file(out).fit["calibration"]["dataset"].startswith("sha256:")
    rows = zip(gnubg_ids(samples.boards), samples.probabilities[:, 0], samples.game, strict=True)
    path = tmp_path / "positions.csv"
    path.write_text("position,outcome,game\n" + "".join(f"{id},{won:.0f},{game}\n" for id, won, game in rows))
    again = motif_json("calibrate", path, "--player", "bras", "--seed", 3)
    assert again["knots"] == record["knots"]
    assert again["log_loss"] == record["log_loss"]


def test_scores_are_calibrated_as_they_are(motif, motif_json, scores, tmp_path):
    plot = tmp_path / "scores.png"
    record = motif_json("calibrate", scores, "--plot", plot)
    assert record["player"] is None
    assert list(record["knots"]) == ["all"]
    assert record["log_loss"]["before"] > record["log_loss"]["after"]
    assert record["log_loss"]["classes"] == {}
    chances = dict(record["knots"]["all"])
    assert min(chances.values()) == pytest.approx(0.2, abs=0.05)
    assert max(chances.values()) == pytest.approx(0.8, abs=0.05)
    assert imread(plot).size > 0
    said = motif("calibrate", scores).out
    assert "500 positions of 500 games" in said
    assert "improved: " in said


def test_scores_become_the_calibration_of_the_player_that_gave_them(motif, motif_json, scores, tmp_path):
    out = tmp_path / "bras-mine.yaml"
    record = motif_json("calibrate", scores, "--player", "bras", "--out", out)
    calibration = read_weight_file(out).calibration
    assert sorted(calibration) == ["contact", "crashed", "race"]
    assert all(rows.tolist() == record["knots"]["all"] for rows in calibration.values())
    ending = motif("calibrate", scores, "--out", tmp_path / "nobody.yaml")
    assert ending.code == 2
    assert "requires --player, whose scores" in ending.err
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "score,outcome\n50,2\n", "a.csv: line 2: outcome must be 0 or 1, not '2'"),
        ("a.csv", "50,1\n", "the first line must name the columns"),
        ("a.csv", "score,outcome\n50,1\n", "too few games for a fit and a measurement"),
        ("a.mat", "hello\n", "a.mat: "),
        ("a.json", "{}", "a.json: "),
    ],
)
def test_bad_files(motif, tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    ending = motif("calibrate", tmp_path / name, "--player", "bras", "--out", tmp_path / "made.yaml")
    assert ending.code == 2
    assert message in ending.err
    assert ending.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
