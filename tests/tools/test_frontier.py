"""Error against time: all players get the same lines, and the table and the picture show them."""

import json

import pytest

from motif.benchmarks.benchmark_files import read_benchmark
from motif.players import load
from tests.benchmarks.rates import error_rate
from tools.frontier import FIGURES, draw, measure, on_all_lines, table, ways, whole_table

LINES = "tests/data/contact.bm"


def test_all_players_are_measured_on_the_same_lines(tmp_path, capsys):
    benchmark = read_benchmark(LINES)
    count = len(benchmark)
    measured = measure(["pubeval", "simple", "onnx:nothing"], benchmark, count)
    assert [(one.name, one.decisions) for one in measured] == [("pubeval", count), ("simple", count)]
    assert "onnx:nothing: not measured" in capsys.readouterr().err
    expected = error_rate(load("pubeval"), benchmark, jobs=1)
    assert abs(measured[0].error_rate - expected.er) < 1e-9
    assert all(one.milliseconds > 0 for one in measured)
    lines = table(measured)
    assert len(lines) == 4
    assert f"{expected.er:.2f}" in "".join(lines)
    draw(measured, "pubeval", tmp_path / "frontier.png")
    assert (tmp_path / "frontier.png").read_bytes().startswith(b"\x89PNG")


def test_judges_are_measured_on_all_lines():
    benchmark = read_benchmark(LINES)
    few = measure(["simple", "simple@1", "pubeval"], benchmark, 3)
    whole = on_all_lines(few, "simple", benchmark)
    assert [one.decisions for one in whole] == [len(benchmark), len(benchmark), 3]
    assert [one.milliseconds for one in whole] == [one.milliseconds for one in few]
    expected = error_rate(load("simple"), benchmark, jobs=1)
    assert whole[0].error_rate == pytest.approx(expected.er)
    assert whole[2] == few[2]
    assert [line.split(" | ")[0] for line in whole_table(whole, "simple")[2:]] == [
        "| `simple`",
        "| `simple@1`",
    ]


def test_stored_figures_belong_to_current_players():
    kept = json.loads(FIGURES.read_text("utf-8"))
    own = kept[0]["name"].partition("@")[0]
    names = {one["name"] for one in kept}
    assert {own, f"{own}@2"} <= names <= set(ways(own))
