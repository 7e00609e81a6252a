"""The command report."""

from pathlib import Path

import pytest

from tests.reports.made_run import write_run

LINES = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of one version."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    write_run(folder, 1, heads=("win", "equity"))
    return folder


def test_a_run(motif, motif_json, run, tmp_path):
    page, words = tmp_path / "run.html", ("--benchmark", LINES / "race.bm", "--worst", 2, "--top", 4)
    found = motif_json("report", run, "--html", page, *words)
    assert found["html"] == str(page)
    assert not (run / "report.html").exists()
    (version,) = found["versions"]
    assert version["ppg_vs_pubeval"] == 0.111
    assert set(version["benchmark"]) == {str(LINES / "race.bm")}
    assert (len(found["terms"]["told"]), len(found["worst"])) == (4, 2)
    ending = motif("report", run, *words)
    assert (ending.code, ending.err) == (0, "")
    assert "tiny-v0" in ending.out
    assert "+0.111 ± 0.012" in ending.out
    assert f"{version['benchmark_all']['er']:.1f} ± " in ending.out
    assert ending.out.splitlines()[-1] == str(run / "report.html")
    assert (run / "report.html").read_bytes() == page.read_bytes()


@pytest.mark.slow
def test_a_run_is_measured_on_the_lines_that_come_along(motif_json, run):
    found = motif_json("report", run, "--worst", 0)
    files = found["versions"][0]["benchmark"]
    assert list(files) == [f"data/bench/{name}.bm.gz" for name in ("contact", "crashed", "race")]
    assert [rate["decisions"] for rate in files.values()] == [8000, 4000, 4000]
    assert found["worst"] == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("motif-v1", "--worst", "3"),
            "'motif-v1' is not the folder of a run; use `motif terms WEIGHTS`",
        ),
        (("{run}", "--benchmark", "nowhere.bm"), "nowhere.bm: no such benchmark file"),
        (("{run}/v0",), "config.yaml: cannot be read: there is no such file, so this is not a bootstrap run"),
        (("{run}", "--html", "{run}"), "{run}: is a folder, not a file"),
    ],
)
def test_bad_input_for_a_run_is_one_line(motif, run, words, line):
    ending = motif("report", *(word.format(run=run) for word in words), "--jobs", 1)
    assert ending.code == 2
    assert ending.out == ""
    assert ending.err.count("\n") == 1
    assert line.format(run=run) in ending.err
