"""Names of files that are not UTF-8: files are read and written, and the names are escaped in texts."""

import csv
import os

import pyarrow.parquet as pq
import pytest
from matplotlib.image import imread

from tests.analysis.test_match_analysis import MATCH

ESCAPED = "q\\udcff"


@pytest.fixture
def odd(tmp_path):
    """The beginning of the path of a file."""
    path = tmp_path / os.fsdecode(b"q\xff")
    try:
        path.touch()
    except OSError:
        pytest.skip("this file system refuses such names")
    return path


def test_a_dataset(motif, odd, tmp_path):
    folder, fitted = odd.with_suffix(".samples"), odd.with_suffix(".yaml")
    sampled = motif("sample", "--player", "simple", "--games", 4, "--trials", 2, "--out", folder, "--jobs", 1)
    assert (sampled.code, sampled.err) == (0, "")
    words = ("fit", folder, "--passes", 1, "--parameters", "keith", "--name", "odd", "--out", fitted)
    assert motif(*words).code == 0
    picture = tmp_path / "ratings.png"
    assert motif("tournament", "pubeval", fitted, "--games", 2, "--jobs", 1, "--plot", picture).code == 0
    assert (imread(picture)[..., :3].min(axis=2) < 0.5).any()


def test_tables_of_a_match(motif, odd, tmp_path):
    match = odd.with_suffix(".mat")
    match.write_text(MATCH)
    tables = tmp_path / "rows.csv", tmp_path / "rows.parquet", odd.with_suffix(".parquet")
    exports = [word for table in tables for word in ("--export", table)]
    page = tmp_path / "page.html"
    assert motif("analyse", match, "--player", "bras", *exports, "--html", page).code == 0
    with open(tables[0], encoding="utf-8", newline="") as handle:
        assert {row["file"].rpartition("/")[2] for row in csv.DictReader(handle)} == {f"{ESCAPED}.mat"}
    for table in tables[1:]:
        with open(table, "rb") as handle:
            assert pq.read_table(handle)["file"][0].as_py().endswith(f"{ESCAPED}.mat")


@pytest.mark.parametrize("command", ["calibrate", "fit"])
def test_weights_have_a_printable_name(fault, odd, command):
    said = fault(command, "none", "--out", odd.with_suffix(".yaml"))
    rule = "must be a line of 1 to 1000 visible characters"
    assert said == f"--out: the name of the weights {rule}, not '{ESCAPED}'"


def test_a_message_about_such_a_name(fault, odd):
    folder = odd.with_suffix(".run")
    folder.mkdir()
    assert f"{ESCAPED}.run/config.yaml: cannot be read" in fault("report", folder)


def test_two_exports_to_one_file(fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ann.mat").write_text(MATCH)
    (tmp_path / "here").symlink_to(".")
    said = fault("analyse", "ann.mat", "--export", "rows.csv", "--export", "here/rows.csv")
    assert said == "here/rows.csv: would be written twice; name another file"
