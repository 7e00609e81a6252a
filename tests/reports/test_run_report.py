"""The pictures and the page of a run, from what lies in its folder."""

import base64
import json
import shlex
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import typer

from motif.bootstrap import BootstrapConfig, VersionStep
from motif.bootstrap.pool import held_out
from motif.evaluators import OUTPUTS, read_weight_file
from motif.evaluators.weight_file import class_of_plan
from motif.fitting.term_table import write_terms
from motif.parameters import parameter_set
from motif.parameters.game_plan import PLANS
from motif.reports.largest_terms import full_value, largest_terms
from motif.reports.next_version import advice, next_commands
from motif.reports.run_report import draw_run, draw_version
from motif.reports.terms import board_terms, told_terms
from motif.runtime.errors import DatasetError, FileError, SettingError
from tests.reports.made_run import made_samples, made_summary, made_weights, write_run

ODD_NAME = "<b>&\"'$x_y$"
VOID = {"meta", "img", "br"}
PNG_MARK = b"\x89PNG\r\n\x1a\n"


class Page(HTMLParser):
    """The page's text, headings and pictures; complains of tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.pictures: list[bytes] = []
        self.feed(text)
        self.close()
        assert self.open == []
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        values = dict(attrs)
        if tag == "img":
            assert values["alt"]
            head, data = values["src"].split(",")
            assert head == "data:image/png;base64"
            self.pictures.append(base64.b64decode(data))
        else:
            assert "src" not in values
            assert "href" not in values

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def read_page(folder: Path) -> Page:
    text = (folder / "report.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "http" not in text
    return Page(text)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_whole_run(tmp_path):
    write_run(tmp_path, 2)
    before = set(files(tmp_path))
    for version in range(2):
        draw_version(tmp_path / f"v{version}", made_summary("tiny", version))
    draw_run(tmp_path)
    drawn = {name: data for name, data in files(tmp_path).items() if name not in before}
    of_versions = {f"v{k}/{name}.png" for k in range(2) for name in ("convergence", "calibration")}
    assert set(drawn) == of_versions | {
        "convergence.png", "calibration.png", "strength.png", "report.html",
    }  # fmt: skip
    assert all(data.startswith(PNG_MARK) for name, data in drawn.items() if name.endswith("png"))
    assert drawn["calibration.png"] == drawn["v1/calibration.png"] != drawn["v0/calibration.png"]

    page = read_page(tmp_path)
    assert page.pictures == [drawn[f"{name}.png"] for name in ("strength", "convergence", "calibration")]
    assert "script" not in page.tags
    for number in ("12,345", "0.1234", "0.1432", "+0.222 ±\u00a00.012", "\u22120.222 ±\u00a00.013"):
        assert number.replace("\u00a0", " ") in page.text
    assert "the game ply 7" in page.text
    assert "strength_games: 100" in page.text

    draw_run(tmp_path)
    assert files(tmp_path).items() >= drawn.items()


@pytest.fixture(scope="module")
def odd_page(tmp_path_factory) -> Page:
    """The page of a run that is not finished, with a name and a word in a summary that are not HTML."""
    folder = tmp_path_factory.mktemp("odd")
    write_run(folder, 1, name=ODD_NAME, planned=3)
    path = folder / "v0" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"stopped": "<pass limit>"}), "utf-8")
    draw_run(folder)
    return read_page(folder)


def test_a_run_that_goes_on_is_drawn_as_far_as_it_came(odd_page):
    assert "One version of 3" in odd_page.text


def test_names_are_escaped(odd_page):
    assert not {"b", "pass"} & set(odd_page.tags)
    assert f"{ODD_NAME}: bootstrap report" in odd_page.text
    assert f"{ODD_NAME}-v0" in odd_page.text
    assert "ended <pass limit>" in odd_page.text


def test_the_largest_terms_are_told_in_words(odd_page):
    terms = largest_terms(made_weights("x", (*OUTPUTS, "equity")), 20)
    assert (terms.class_name, terms.head) == ("contact", "equity")
    # The set keith has fewer parameters than that.
    assert (len(terms.linear), len(terms.quadratic)) == (len(parameter_set("keith")), 20)
    for chosen in (terms.linear, terms.quadratic):
        weights = [abs(term.weight) for term in chosen]
        assert weights == sorted(weights, reverse=True)
        for term in chosen:
            assert f"{term.weight:+.3f}".replace("-", "\u2212") in odd_page.text
            assert all(parameter.sentence in odd_page.text for parameter in term.parameters)


@pytest.fixture
def told_run(tmp_path):
    """A run whose version has a table of terms, with errors of a tenth, and that table."""
    write_run(tmp_path, 1)
    weights = read_weight_file(tmp_path / "v0" / "weights.yaml")
    found, _ = board_terms(made_samples().boards, weights, "contact", "", "equity")
    tenth = np.full(len(found.names), 0.1)
    known = replace(found, statistics=replace(found.statistics, errors=tenth, effect_errors=tenth))
    write_terms(tmp_path / "v0" / "terms.parquet", [known])
    return tmp_path, weights, known


def test_a_table_of_terms_is_told_by_what_matters(told_run):
    folder, weights, known = told_run
    draw_run(folder)
    text = read_page(folder).text
    assert "Largest terms" not in text
    assert f"Most important terms of {weights.name}" in text
    told = told_terms(weights, known, 21)
    moves = [term.moves for term in told]
    assert moves == sorted(moves, reverse=True)
    for term in told[:20]:
        assert term.sentence in text
        assert f"{term.effect_z:+.1f}" in text
    assert told[20].sentence not in text
    assert "z is how many of them lie between" in text


def test_a_table_of_other_terms_is_refused(told_run):
    folder, weights, _ = told_run
    classes = {**weights.classes, "contact": weights.classes["race"]}
    replace(weights, classes=classes).save(folder / "v0" / "weights.yaml")
    with pytest.raises(DatasetError, match=r"terms\.parquet: the table is that of other weights than"):
        draw_run(folder)
    assert not list(folder.glob("*.png"))


def test_words_of_a_parameter():
    chosen = made_weights("x", ["win"]).parameters.parameters
    assert {full_value(p).split()[0] for p in chosen if p.name.startswith("pip")} <= {"167", "100"}
    weights = made_weights("x", ["win"], pairs=False)
    terms = largest_terms(weights, 5)
    assert (terms.head, len(terms.linear), terms.quadratic) == ("win", 5, ())
    best = int(np.abs(weights.classes["contact"]["win"].linear).argmax())
    assert terms.linear[0].parameters == (chosen[best],)


def test_win_only_heads_and_no_validation(tmp_path):
    write_run(tmp_path, 1, heads=["win"], validation=0.0)
    draw_version(tmp_path / "v0", made_summary("tiny", 0, validation=False))
    draw_run(tmp_path)
    page = read_page(tmp_path)
    assert "none held out" in page.text
    assert "the win head" in page.text
    assert len(page.pictures) == 3


def test_a_run_of_game_plans_and_points(tmp_path):
    write_run(tmp_path, 1)
    file = tmp_path / "v0" / "weights.yaml"
    plain = read_weight_file(file)
    contact = dict(plain.classes["contact"])
    contact["equity"] = replace(contact["equity"], points=np.ones((2, 25, 4), np.float32))
    plan = next(plan for plan in PLANS if class_of_plan(plan) == "contact")
    chosen = replace(plain, classes={**plain.classes, "contact": contact}, plans={plan: contact})
    for weights, sentence in (
        (plain, None),
        (chosen, "Not shown: weights of 1 game plan, and what the checkers on each point add."),
    ):
        weights.save(file)
        draw_version(file.parent, made_summary("tiny", 0))
        draw_run(tmp_path)
        text = read_page(tmp_path).text
        assert sentence in text if sentence else "Not shown" not in text


def test_samples_that_are_gone_leave_out_calibration(tmp_path):
    write_run(tmp_path, 1)
    shutil.rmtree(tmp_path / "v0" / "samples")
    draw_version(tmp_path / "v0", made_summary("tiny", 0))
    draw_run(tmp_path)
    assert len(read_page(tmp_path).pictures) == 2
    assert not list(tmp_path.rglob("calibration.png"))


def test_held_out_positions_are_those_of_the_fit(tmp_path):
    config = write_run(tmp_path, 2, pooled=1)
    pools = [tmp_path / f"v{k}" / "samples" for k in range(2)]
    settings = config.fit_settings()
    held = held_out(pools, settings.validation, settings.seed)
    # A fifth of twice the 40 games, ten positions each.
    assert len(np.unique(held.game)) == 16
    assert len(held) == 160
    first = held.boards[held.game < 40]
    whole = {board.tobytes() for board in made_samples(0).boards}
    assert {board.tobytes() for board in first} <= whole


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "v0" / "summary.json").unlink(), r"no version is finished yet"),
        (lambda f: (f / "v0" / "summary.json").write_text("{"), r"summary\.json: cannot be read"),
        (lambda f: (f / "v0" / "summary.json").write_text("{}"), r"summary\.json: name: missing"),
        (lambda f: (f / "v0" / "summary.json").write_text("[]"), r"summary\.json: name: missing"),
        (lambda f: (f / "v0" / "history.csv").unlink(), r"history\.csv: cannot be read"),
        (lambda f: (f / "v0" / "history.csv").write_bytes(b"\xff\n"), r"history\.csv: cannot be read"),
        (lambda f: (f / "v0" / "history.csv").write_text("class\nrace\n"), r"v0: not the history of a fit"),
        (lambda f: (f / "config.yaml").unlink(), r"config\.yaml: cannot be read"),
        (lambda f: (f / "report.html").mkdir(), r"report\.html: cannot be written"),
    ],
)
def test_what_cannot_be_read_or_written_is_named(tmp_path, spoil, message):
    write_run(tmp_path, 1)
    spoil(tmp_path)
    with pytest.raises((SettingError, FileError), match=message) as failure:
        draw_run(tmp_path)
    assert "\n" not in str(failure.value)
    assert not list(tmp_path.rglob("*.tmp*"))


def test_damaged_samples_are_named(tmp_path):
    write_run(tmp_path, 1)
    (tmp_path / "v0" / "samples" / "part-00000.parquet").write_bytes(b"torn")
    with pytest.raises(DatasetError, match="part-00000"):
        draw_run(tmp_path)


def test_the_next_version_can_be_made_by_the_commands_given():
    from motif.cli.main import app

    last = VersionStep(20, 3, decide="rollout", candidates=4, rate=0.5, cut=6, stop_at_race=True, pooled=1)
    fit = {"method": "coordinate", "ridge": 0.001, "heads": "win", "ranking": None, "max_passes": 9}
    fit["prune"] = 2.5
    config = BootstrapConfig("my run", "simple", 7, 100, fit, (VersionStep(10, 2), last), terms=True)
    lines = [shlex.split(line.replace("\\\n", " ")) for line in next_commands(config, 1)]
    group = typer.main.get_command(app)
    values = {}
    for program, command, *rest in lines:
        assert program == "motif"
        values[command] = group.commands[command].make_context(command, rest).params
    sample, made = values["sample"], values["fit"]
    expected = {"games": 20, "trials": 3, "decide": "rollout", "candidates": 4, "rate": 0.5, "cut": 6}
    expected |= {"stop_at_race": True, "seed": 7002, "player": "v1/weights.yaml"}
    assert sample.items() >= expected.items()
    assert [str(path) for path in made["folders"]] == ["v1/samples", "v2/samples"]
    assert (made["name"], made["parent"], made["version"]) == ("my run-v2", "my run-v1", 2)
    assert (made["method"], made["ridge"], made["heads"], made["seed"]) == ("coordinate", 0.001, "win", 7)
    assert (made["prune_z"], str(made["term_table"])) == (2.5, "v2/terms.parquet")
    assert values["match"]["games"] == 100


def test_advice_follows_the_numbers():
    summary = made_summary("tiny", 0)
    assert "16% above the training error: more games" in advice(summary)[0]
    assert "does not clearly beat" in advice(summary)[1]
    good = dict(summary, rmse_validation=0.12, ppg_vs_previous=0.1)
    assert "3% below the training error" in advice(good)[0]
    assert "clearly beats" in advice(good)[1]
    assert len(advice(dict(summary, rmse_validation=None))) == 1
