"""`motif.terms` and `motif.inspect`: the same figures as the commands, from weights in any form."""

from pathlib import Path

import numpy as np
import pytest

import motif
from motif.board.identifiers import gnubg_ids
from tests.evaluators.made_weights import made_weights
from tests.games import some_boards

FEATURE_COLUMNS = ["name", "weight", "weight_sd", "mean", "std", "importance", "contribution_sd"]


@pytest.fixture(scope="module")
def fitted(dataset, tmp_path_factory):
    """A fit to the small dataset, its weight file and its table of terms."""
    folder = tmp_path_factory.mktemp("fitted")
    file, table = folder / "fitted.yaml", folder / "terms.parquet"
    return motif.fit(dataset, out=file, parameters="keith", term_table=table, jobs=1), file, table


@pytest.fixture(scope="module")
def layered():
    """Weights with hidden units."""
    return made_weights("keith", pairs=9, hidden={"contact": 6})


@pytest.fixture(scope="module")
def boards():
    return some_boards("pubeval", 1000, seed=2)


def test_the_command_prints_the_same_terms(fitted, dataset, motif_json):
    fit, file, table = fitted
    for keywords, options in (
        ({"jobs": 1, "seed": 3, "position_class": "race", "head": "win"}, "--seed 3 --class race --head win"),
        ({"data": dataset, "language": "de"}, f"--data {dataset} --language de"),
        ({"table": table, "jobs": 1}, f"--terms {table}"),
    ):
        words = ("terms", file, "--top", 4, "--jobs", 1, *options.split())
        assert {**motif.terms(fit, top=4, **keywords).to_dict(), "html": None} == motif_json(*words)
    assert motif.terms(fit, data=dataset, top=1).terms[0].se > 0
    assert motif.terms(fit, data=dataset, top=1).note == ""


def test_weights_have_any_form(fitted, boards):
    fit, file, _ = fitted
    forms = (fit, fit.weights, fit.evaluator, fit.player, file, str(file), motif.load(str(file)))
    wanted, *others = (motif.terms(form, positions=boards, top=3).to_dict() for form in forms)
    assert wanted["weights"] == "fitted"
    assert all(other == wanted for other in others)


def test_positions_have_any_form(layered, boards, tmp_path, motif_json):
    ids = gnubg_ids(boards)
    wanted = motif.terms(layered, positions=boards, top=3)
    for form in (boards.tolist(), ids, [motif.Position(board) for board in boards], np.array(ids)):
        assert motif.terms(layered, positions=form, top=3).to_dict() == wanted.to_dict()
    assert wanted.source.endswith(" given positions")
    file, positions = tmp_path / "made.yaml", tmp_path / "positions.txt"
    layered.save(file)
    positions.write_text("\n".join(ids), "utf-8")
    told = motif_json("terms", file, "--positions", positions, "--top", 3)
    assert {**wanted.to_dict(), "source": told["source"], "html": None} == told
    shown = motif_json("terms", file, "--positions", positions, "--unit", "p2", "--boards", 2)
    assert wanted.unit("p2", boards=2).to_dict() == shown


def test_a_report_is_a_table(layered, boards, tmp_path):
    pytest.importorskip("pandas")
    report = motif.terms(layered, positions=boards, top=3)
    table = report.to_frame()
    assert list(table.columns[:4]) == ["kind", "name", "sentence", "moves"]
    assert table["kind"].tolist() == ["parameter"] * 3 + ["term"] * 3 + ["hidden unit"] * 3
    assert table["moves"].tolist() == [one.moves for one in (*report.effects, *report.terms, *report.units)]
    assert table["weight"].notna().tolist() == [False] * 3 + [True] * 3 + [False] * 3
    assert {str(table[name].dtype) for name in table.columns[3:]} == {"float64"}
    assert report.unit_names == tuple(f"p{number}" for number in range(1, 7))
    for name in table["name"]:
        assert name in str(report)
        assert name in report._repr_html_()
    assert report.opening in str(report)
    page = report.write(tmp_path / "terms.html")
    assert report.terms[0].name in page.read_text("utf-8")
    with pytest.raises(motif.SettingError, match=r"terms\.png: the name must end in \.html or \.htm$"):
        report.write(tmp_path / "terms.png")
    assert not (tmp_path / "terms.png").exists()


def test_the_boards_of_a_unit_are_a_table(layered, boards):
    pytest.importorskip("pandas")
    report = motif.terms(layered, positions=boards, top=2)
    found = report.unit(report.units[0].name, boards=2)
    table = found.to_frame()
    assert list(table.columns) == ["end", "position", "activation", "equity", "adds"]
    assert table["end"].tolist() == ["largest"] * 2 + ["smallest"] * 2
    assert str(found).count("Position ID: ") == 4
    with pytest.raises(
        motif.SettingError, match=r"^unknown hidden unit 'p9' for contact positions: there are"
    ):
        report.unit("p9")
    with pytest.raises(motif.SettingError, match=r"^boards must be at least 1, not 0$"):
        report.unit("p1", boards=0)


def test_a_dataset_without_a_record_of_the_fit_says_so(layered, dataset):
    assert motif.terms(layered, data=dataset).note == "weights fitted together with hidden units have none"


def test_the_command_writes_the_same_analysis(fitted, dataset, tmp_path, motif_json):
    pytest.importorskip("pandas")
    _, file, _ = fitted
    words = ("--dataset", dataset, "--positions", 120, "--class", "race", "--head", "win_gammon")
    told = motif_json("inspect", file, "--out", tmp_path / "command", *words)
    found = motif.inspect(
        file,
        tmp_path / "library",
        dataset=str(dataset),
        positions=120,
        position_class="race",
        head="win_gammon",
    )
    folders = {"out": str(found.out), "files": [*map(str, found.files)]}
    assert found.to_dict() == {**told, **folders}
    for one, other in zip(map(Path, told["files"]), found.files, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    assert found.page == tmp_path / "library" / "report.html"
    assert found.page in found.files
    table = found.to_frame()
    assert list(table.columns[:7]) == FEATURE_COLUMNS
    assert table["name"].tolist()[:6] == [one["name"] for one in found.summary["most_important"]]
    assert table["name"][0] in str(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: motif.terms("pubeval"), "the player 'pubeval' has no weights"),
        (lambda: motif.terms("gnubg"), "the player 'gnubg' has no weights"),
        (lambda: motif.terms("motif-v0@1"), "'motif-v0@1' looks ahead"),
        (lambda: motif.terms(motif.load("motif-v0@1")), "the player 'motif-v0@1' has no weights"),
        (lambda: motif.terms("nobody"), "no player is called 'nobody'"),
        (lambda: motif.terms("none.yaml"), "none.yaml: no such weight file"),
        (lambda: motif.terms(3), "a player must be a name such as"),
        (lambda: motif.terms("motif-v0", data="a", table="b"), "table and data cannot be combined"),
        (lambda: motif.terms("motif-v0", data=3), "data must be a dataset or its folder, not 3"),
        (lambda: motif.terms("motif-v0", data="nowhere"), "nowhere: not a dataset"),
        (lambda: motif.terms("motif-v0", table="nowhere"), "nowhere: there is no such file"),
        (lambda: motif.terms("motif-v0", positions="4HPwATDgc/ABMA"), "positions must be a list or an array"),
        (lambda: motif.terms("motif-v0", positions=["x"]), "row 0: invalid position 'x'"),
        (lambda: motif.terms("motif-v0", positions=[]), "at least 100 contact positions are needed"),
        (
            lambda: motif.terms("motif-v0", position_class="blot"),
            "position_class must be contact, crashed or",
        ),
        (
            lambda: motif.terms("motif-v0", position_class=np.zeros(0)),
            "position_class must be contact, crash",
        ),
        (lambda: motif.terms("motif-v0", head="luck"), "head must be win, win_gammon, "),
        (lambda: motif.terms("motif-v0", head=["win"]), "head must be win, win_gammon, "),
        (lambda: motif.terms("motif-v0", top=0), "top must be at least 1, not 0"),
        (lambda: motif.terms("motif-v0", language="xx"), "unknown language 'xx'"),
        (lambda: motif.terms("motif-v0", seed=-1), "seed must be at least 0, not -1"),
        (lambda: motif.terms("motif-v0", jobs=0), "jobs must be at least 1"),
        (lambda: motif.inspect("pubeval", "out"), "the player 'pubeval' has no weights"),
        (lambda: motif.inspect("bras", 3), "out must be a path, not 3"),
        (lambda: motif.inspect("bras", "out", player=3), "a player must be a name such as"),
        (lambda: motif.inspect("bras", "out", player="nobody"), "no player is called 'nobody'"),
        (
            lambda: motif.inspect("bras", "out", player="random", dataset="a"),
            "player and dataset cannot be combined",
        ),
        (lambda: motif.inspect("bras", "out", dataset="nowhere"), "nowhere: not a dataset"),
        (lambda: motif.inspect("bras", "out", positions=7), "positions must be at least 100, not 7"),
        (lambda: motif.inspect("bras", "out", positions=["x"]), "positions must be a whole number, not"),
        (
            lambda: motif.inspect("bras", "out", position_class="blot"),
            "position_class must be contact, crashe",
        ),
        (lambda: motif.inspect("bras", "out", head="luck"), "head must be win, win_gammon, "),
        (
            lambda: motif.inspect("motif-v1", "out", head="equity"),
            r"motif-v1 has no head 'equity' for race positions: .* \(position_class selects one class\)$",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(motif.MotifError, match=f"^{message}") as caught:
        call()
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
