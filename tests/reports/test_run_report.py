"""The pictures and the page of a run, from the files in its folder."""

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

from motif.analysis.evaluator_analysis import MIN_BOARDS
from motif.analysis.term_report import (
    board_terms,
    dataset_boards,
    fitted_terms,
    full_value,
    observed_positions,
    term_summaries,
)
from motif.analysis.unit_report import unit_summaries
from motif.benchmarks import ErrorRate, ErrorRates, read_benchmark
from motif.benchmarks.choices import player_choices, worst_decisions
from motif.benchmarks.losses import loss_distribution
from motif.evaluators import OUTPUTS, read_weight_file
from motif.fitting.significance import write_terms
from motif.learning.bootstrap_config import BootstrapConfig, VersionStep
from motif.learning.heads import settings_of, term_errors
from motif.learning.rows import class_rows, held_out
from motif.players import load
from motif.reports import run_report
from motif.reports.next_version import advice, next_commands
from motif.reports.run_report import (
    RunBenchmark,
    draw_run,
    draw_version,
    drawn_beside,
    duration,
)
from motif.runtime.errors import DatasetError, FileError, MotifError
from motif.sampling.dataset_files import read_manifest, write_manifest
from tests.benchmarks.rates import error_rates
from tests.evaluators.made_weights import made_layer
from tests.reports.made_run import made_samples, made_summary, made_weights, write_run, write_samples

DATA = Path(__file__).resolve().parent.parent / "data"
ODD_NAME = "<b>&\"'$x_y$"
VOID = {"meta", "img", "br", "wbr"}
DRAWN_EMPTY = {"rect", "circle", "path"}
SECTIONS = ["run", "strength", "convergence", "calibration", "terms", "next", "files", "configuration"]
PNG_MARK = b"\x89PNG\r\n\x1a\n"
ROLLED_OUT = BootstrapConfig("tiny", "simple", 5, 100, versions=(VersionStep(40, 9),))


class Page(HTMLParser):
    """The page's text, headings and pictures; reports tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.pictures: list[bytes] = []
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        values = dict(attrs)
        if "id" in values:
            self.anchors.append(values["id"])
        if tag == "a":
            assert set(values) == {"href"}
            self.links.append(values["href"])
        elif tag == "img":
            assert values["alt"]
            head, data = values["src"].split(",")
            assert head == "data:image/png;base64"
            self.pictures.append(base64.b64decode(data))
        else:
            assert "src" not in values
            assert "href" not in values

    def handle_startendtag(self, tag, attrs):
        assert tag in DRAWN_EMPTY
        assert not {"src", "href"} & set(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            assert "url(" not in data
            assert "@import" not in data
        elif self.open:
            self.words.append(data)


def read_page(folder: Path) -> Page:
    text = (folder / "report.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    # The namespace of drawings is not an address that is loaded.
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    page = Page(text)
    assert page.links == [f"#{anchor}" for anchor in page.anchors]
    assert "script" not in page.tags
    return page


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_whole_run(tmp_path):
    write_run(tmp_path, 2, heads=("win", "equity"))
    before = set(files(tmp_path))
    for version in range(2):
        draw_version(tmp_path / f"v{version}", made_summary("tiny", version))
    report = draw_run(tmp_path, top=3)
    assert [row["version"] for row in report.records()] == [0, 1]
    assert len(repr(report)) < 4000
    drawn = {name: data for name, data in files(tmp_path).items() if name not in before}
    of_versions = {f"v{k}/{name}.png" for k in range(2) for name in ("convergence", "calibration")}
    assert set(drawn) == of_versions | {
        "convergence.png", "calibration.png", "strength.png", "report.html",
    }  # fmt: skip
    assert all(data.startswith(PNG_MARK) for name, data in drawn.items() if name.endswith("png"))
    assert drawn["calibration.png"] == drawn["v1/calibration.png"] != drawn["v0/calibration.png"]

    page = read_page(tmp_path)
    of_run = [drawn[f"{name}.png"] for name in ("strength", "convergence", "calibration")]
    assert page.pictures[:-1] == of_run  # the last is that of the parameters
    assert page.anchors == SECTIONS
    for number in ("12,345", "0.1234", "0.1432", "+0.222 ±\u00a00.012", "\u22120.222 ±\u00a00.013"):
        assert number.replace("\u00a0", " ") in page.text
    assert "trials end at the game's end ply 7" in page.text
    assert "sampling 30 30 fitting 20 20 measuring 10 10 all steps 60 60" in page.text
    assert "The run took 2.0 minutes: 60 seconds of sampling" in page.text
    assert "strength_games: 100" in page.text
    assert "noise of the labels \N{EN DASH} \N{EN DASH} without label noise \N{EN DASH}" in page.text
    assert "noise of the labels 0.3172 0.3210 without label noise 0.1260 0.1160" in page.text
    assert "Truncated rollouts, and rollouts with stratified dice" in page.text
    assert "head race win gammon race win gammon weights 210 210 positions 4,321 4,321" in page.text
    assert "SciPy's least squares 0.071111 0.071111" in page.text
    assert "of the objective 3.0e-09 3.0e-09" in page.text

    draw_run(tmp_path, top=3)
    assert files(tmp_path).items() >= drawn.items()


@pytest.fixture(scope="module")
def odd_page(tmp_path_factory) -> Page:
    """The page of an unfinished run, with HTML-like text in a name and a summary."""
    folder = tmp_path_factory.mktemp("odd")
    write_run(folder, 1, name=ODD_NAME, planned=3, heads=("win", "equity"))
    path = folder / "v0" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"stopped": "<pass limit>"}), "utf-8")
    draw_run(folder)
    return read_page(folder)


def test_an_unfinished_run_is_drawn_so_far(odd_page):
    assert "One version of 3" in odd_page.text
    assert "2 versions are still missing" in odd_page.text


def test_names_are_escaped(odd_page):
    assert not {"b", "pass"} & set(odd_page.tags)
    assert f"{ODD_NAME}: bootstrap report" in odd_page.text
    assert f"{ODD_NAME}-v0" in odd_page.text
    assert "stopped <pass limit>" in odd_page.text


def test_terms_have_the_errors_that_the_samples_show(odd_page, tmp_path):
    write_run(tmp_path, 1, heads=("win", "equity"))
    weights = read_weight_file(tmp_path / "v0" / "weights.yaml")
    settings = settings_of(weights)
    pool = [tmp_path / "v0" / "samples"]
    with class_rows(pool, weights.parameters, settings.validation, settings.seed) as rows:
        found = term_errors(rows, weights, settings, "contact", "equity")
    boards = dataset_boards(tmp_path / "v0" / "samples", "contact")
    told = term_summaries(weights, found, observed_positions(weights, boards, "contact", "equity"), 20)
    assert all(term.sentence in odd_page.text and term.effect_se > 0 for term in told)
    assert f"the 20 most important of the {len(found.names) - 1:,} terms of the equity head" in odd_page.text


@pytest.mark.slow
def test_samples_that_are_gone_leave_its_own_games(tmp_path):
    write_run(tmp_path, 1)
    shutil.rmtree(tmp_path / "v0" / "samples")
    draw_version(tmp_path / "v0", made_summary("tiny", 0))
    draw_run(tmp_path, seed=3, jobs=1, top=5)
    page = read_page(tmp_path)
    assert len(page.pictures) == 3
    assert "calibration" not in page.anchors
    assert not list(tmp_path.rglob("calibration.png"))
    assert "the 5 most important of the" in page.text
    assert "measured on 2,000 self-play positions" in page.text
    assert "one standard error, clustered" not in page.text


def test_samples_with_few_contact_positions_leave_its_own_games(tmp_path):
    write_run(tmp_path, 1)
    folder, samples = tmp_path / "v0" / "samples", made_samples()
    contact = np.flatnonzero(samples.position_class == 0)
    write_samples(folder, samples.rows(np.delete(np.arange(len(samples)), contact[MIN_BOARDS - 1 :])))
    report = draw_run(tmp_path, seed=3, jobs=1, top=5)
    assert report.terms.source == "2,000 self-play positions"
    assert len(report.pictures) == 3
    assert "measured on 2,000 self-play positions" in read_page(tmp_path).text


@pytest.fixture
def told_run(tmp_path):
    """A run with a table of terms whose standard errors are a tenth, and that table."""
    write_run(tmp_path, 1)
    weights = read_weight_file(tmp_path / "v0" / "weights.yaml")
    found, _ = board_terms(made_samples().boards, weights, "contact", "equity")
    tenth = np.full(len(found.names), 0.1)
    known = replace(found, statistics=replace(found.statistics, errors=tenth, effect_errors=tenth))
    write_terms(tmp_path / "v0" / "terms.parquet", [known])
    return tmp_path, weights, known


@pytest.mark.slow
def test_a_table_of_terms_is_reported_by_what_matters(told_run):
    folder, weights, known = told_run
    draw_run(folder)
    text = read_page(folder).text
    assert f"How {weights.name} evaluates contact positions" in text
    boards = dataset_boards(folder / "v0" / "samples", "contact")
    told = term_summaries(weights, known, observed_positions(weights, boards, "contact", "equity"), 21)
    moves = [term.moves for term in told]
    assert moves == sorted(moves, reverse=True)
    for term in told[:20]:
        assert term.sentence in text
        assert f"{term.effect_z:+.1f}" in text
    assert told[20].sentence not in text
    assert "z is a number divided by its standard error" in text


def test_a_table_of_other_terms_is_refused(told_run):
    folder, weights, _ = told_run
    classes = {**weights.classes, "contact": weights.classes["race"]}
    replace(weights, classes=classes).save(folder / "v0" / "weights.yaml")
    with pytest.raises(DatasetError, match=r"terms\.parquet: the table belongs to weights other than"):
        draw_run(folder)
    assert not list(folder.glob("*.png"))


def test_versions_are_drawn_beside_the_run_in_turn(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        run_report, "draw_version", lambda home, summary: drawn.append((home, summary.version))
    )
    with drawn_beside() as draw:
        for version in range(3):
            draw(Path(f"v{version}"), made_summary("tiny", version))
    assert drawn == [(Path(f"v{version}"), version) for version in range(3)]


def test_a_version_that_cannot_be_drawn_ends_the_run(monkeypatch):
    def refuse(home, summary):
        raise FileError(f"{home}: no room")

    monkeypatch.setattr(run_report, "draw_version", refuse)
    versions = []

    def go_through(numbers):
        with drawn_beside() as draw:
            for version in numbers:
                versions.append(version)
                draw(Path(f"v{version}"), {})

    with pytest.raises(FileError, match=r"^v0: no room$"):
        go_through(range(3))
    assert versions == [0, 1]
    with pytest.raises(FileError, match=r"^v7: no room$"):
        go_through([7])


def test_words_of_a_parameter():
    chosen = made_weights("x", ["win"]).parameters.parameters
    assert {full_value(p).split()[0] for p in chosen if p.name.startswith("pip")} <= {"167", "100"}


@pytest.mark.slow
def test_win_only_heads_and_no_validation(tmp_path):
    write_run(tmp_path, 1, heads=["win"], validation=0.0)
    draw_version(tmp_path / "v0", made_summary("tiny", 0, validation=False))
    draw_run(tmp_path)
    page = read_page(tmp_path)
    assert "none held out" in page.text
    assert "the win head" in page.text
    assert len(page.pictures) == 4


@pytest.mark.slow
def test_a_run_with_hidden_units(tmp_path):
    write_run(tmp_path, 1, heads=OUTPUTS)
    file = tmp_path / "v0" / "weights.yaml"
    plain = read_weight_file(file)
    layer = made_layer(np.random.default_rng(0), len(plain.parameters), 4)
    weights = replace(plain, hidden_layers={"contact": layer})
    for each in (plain, weights):
        each.save(file)
        draw_run(tmp_path)
        text = read_page(tmp_path).text
        boards = dataset_boards(tmp_path / "v0" / "samples", "contact")
        told = unit_summaries(each, "contact", "win", boards)
        assert len(told) == (4 if each is weights else 0)
        assert ("hidden unit" in text) == (each is weights)
        for unit in told:
            assert f"{unit.words[0].upper()}{unit.words[1:]}." in text
            assert f"output weight {unit.amount:+.3f}" in text
        # The slope of the link, and so the size of a term, depends on the hidden units.
        place = "contact", "win"
        expected = (
            board_terms(boards, each, *place)[0]
            if each is weights
            else fitted_terms([tmp_path / "v0" / "samples"], each, *place)[0]
        )
        seen = observed_positions(each, boards, *place)
        assert all(term.sentence in text for term in term_summaries(each, expected, seen, 5))
        assert ("positions of its samples" in text) == (each is weights)


def test_held_out_positions_are_those_of_the_fit(tmp_path):
    config = write_run(tmp_path, 2, pooled=1)
    pools = [tmp_path / f"v{k}" / "samples" for k in range(2)]
    settings = config.fit_settings()
    held, variances = held_out(pools, settings.validation, settings.seed)
    # A fifth of twice the 40 games, ten positions each.
    assert len(np.unique(held.game)) == 16
    assert len(held) == len(variances) == 160
    first = held.boards[held.game < 40]
    whole = {board.tobytes() for board in made_samples(0).boards}
    assert {board.tobytes() for board in first} <= whole


def test_the_calibration_of_a_version_names_the_labels_of_its_datasets(tmp_path, monkeypatch):
    write_run(tmp_path, 2, pooled=1)
    for version, settings in enumerate(({"player": "simple", "trials": 9}, {"label": "tiny-v0@1:sparse"})):
        folder = tmp_path / f"v{version}" / "samples"
        write_manifest(folder, settings, read_manifest(folder).parts, complete=True)
    drawn = {}
    monkeypatch.setattr(run_report, "plot_calibration", lambda *_, **given: drawn.update(given))
    draw_version(tmp_path / "v1", made_summary("tiny", 1))
    assert drawn["sources"] == ["rollouts of 9 trials", "tiny-v0@1:sparse"]
    assert set(drawn["variances"][:, 0] == 0) == {True, False}


def spoil_summary(folder: Path, **values: object) -> None:
    path = folder / "v0" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "v0" / "summary.json").unlink(), r"no version is finished yet"),
        (lambda f: (f / "v0" / "summary.json").write_text("{"), r"summary\.json: cannot be read"),
        (lambda f: (f / "v0" / "summary.json").write_text("{}"), r"summary\.json: version: missing"),
        (
            lambda f: (f / "v0" / "summary.json").write_text("[]"),
            r"summary\.json: is not a version's summary",
        ),
        (lambda f: spoil_summary(f, ppg_se="x"), r"summary\.json: ppg_se: must be a number, not 'x'"),
        (lambda f: spoil_summary(f, version=3), r"summary\.json: version: must be 0, not 3"),
        (lambda f: spoil_summary(f, seconds_by_step={"fit": 1}), r"json: seconds_by_step\.sample: missing"),
        (lambda f: spoil_summary(f, choice_error=[0.1]), r"summary\.json: choice_error: must be a mapping"),
        (
            lambda f: spoil_summary(f, choice_error={"all": "x"}),
            r"choice_error\.all: must be a number or null",
        ),
        (lambda f: spoil_summary(f, validation_errors={"win": 3}), r"errors\.win: must be a mapping"),
        (
            lambda f: spoil_summary(f, cross_check={"place": 3}),
            r"json: cross_check\.place: must be text, not 3",
        ),
        (lambda f: (f / "v0" / "weights.yaml").unlink(), r"weights\.yaml: no such weight file"),
        (lambda f: (f / "v0" / "weights.yaml").write_text("a: ["), r"weights\.yaml: "),
        (lambda f: (f / "v0" / "terms.parquet").write_text("torn"), r"terms\.parquet: not a table of terms"),
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
    with pytest.raises(MotifError, match=message) as failure:
        draw_run(tmp_path, top=1)
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
    fit = {"method": "coordinate", "ridge": 0.001, "heads": "win", "ranking": None, "passes": 9}
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
    assert "16 % above the training error: more games" in advice(ROLLED_OUT, [summary])[0]
    assert "does not clearly beat its predecessor: another" in advice(ROLLED_OUT, [summary])[1]
    good = replace(summary, rmse_validation=0.12, ppg_vs_previous=0.1)
    assert "3 % below the training error" in advice(ROLLED_OUT, [good])[0]
    assert "clearly beats" in advice(ROLLED_OUT, [summary, good])[1]
    assert "and neither did the version before it: another" in advice(ROLLED_OUT, [good, summary, summary])[1]
    assert "and neither did the 2 versions before it: another" in advice(ROLLED_OUT, [summary] * 3)[1]


def test_only_labels_by_rollouts_gain_by_more_trials():
    good = replace(made_summary("tiny", 0), rmse_validation=0.12)
    by_lookahead = replace(ROLLED_OUT, versions=(VersionStep(40, labels="@1:sparse"),))
    assert "more trials per position or other parameters might." in advice(ROLLED_OUT, [good])[0]
    assert advice(by_lookahead, [good])[0].endswith("more games would change little; other parameters might.")


def test_advice_looks_into_classes_and_endings():
    fits = {"crashed.win": (0.2, 0.25), "race.win": (0.1, 0.12), "contact.win": (0.1, 0.2)}
    heads = {name: {"rmse_train": low, "rmse_validation": high} for name, (low, high) in fits.items()}
    summary = replace(made_summary("tiny", 0), heads=heads)
    sentences = " ".join(advice(ROLLED_OUT, [summary]))
    assert "In crashed positions it is 25 % above" in sentences
    assert "--crashed-rate" in sentences
    assert "more passes" not in sentences
    limited = replace(summary, stopped="pass limit")
    assert "more passes may lower its error" in " ".join(advice(ROLLED_OUT, [limited]))
    told = replace(summary, stopped="saturated", warnings=["race win: saturated: no step helps"])
    assert "tiny-v0: race win: saturated: no step helps." in " ".join(advice(ROLLED_OUT, [told]))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A run of two versions measured on benchmark lines: its folder, and its pictures."""
    folder = tmp_path_factory.mktemp("measured")
    write_run(folder, 2, heads=("win", "equity"))
    spoil_summary(
        folder, choice_error={"all": 0.05, "race": 0.01}, choice_error_se={"all": 0.002, "race": None}
    )
    lines = [read_benchmark(DATA / name) for name in ("contact.bm", "race.bm")]
    return folder, lines, draw_run(folder, benchmarks=lines, worst=3)


def test_versions_are_measured_on_benchmark_lines(measured):
    folder, lines, drawn = measured
    page = read_page(folder)
    assert page.anchors == [*SECTIONS[:5], "worst", *SECTIONS[5:]]
    for version in range(2):
        player = load(str(folder / f"v{version}" / "weights.yaml"))
        rates = error_rates(player, lines, jobs=1)
        assert drawn.benchmark.rates[version] == rates
        for rate in (*rates.files.values(), rates.overall):
            assert f"{rate.er:.1f} ± {rate.se:.1f}" in page.text
    assert "all 50.0 ± 2.0 \N{EN DASH}" in page.text
    assert "race 10.0 \N{EN DASH}" in page.text
    choices = [player_choices(player, file, jobs=1) for file in lines]
    assert list(drawn.benchmark.worst) == worst_decisions(choices, 3)
    assert page.tags.count("svg") == 6


def test_the_figures_of_a_report_are_json(measured):
    folder, lines, drawn = measured
    found = json.loads(json.dumps(drawn.to_dict(), allow_nan=False))
    assert found["html"] == str(folder / "report.html")
    assert all(Path(path).exists() for path in found["pictures"])
    assert [version["name"] for version in found["versions"]] == ["tiny-v0", "tiny-v1"]
    for version, rates in zip(found["versions"], drawn.benchmark.rates, strict=True):
        assert version["benchmark"][lines[0].path]["er"] == rates.files[lines[0].path].er
    assert len(found["terms"]["told"]) == 20
    assert len(found["worst"]) == 3
    assert found["next"] == advice(drawn.run.config, drawn.run.summaries)


def test_a_page_in_another_folder_has_the_same_bytes(measured, tmp_path):
    folder, lines, _ = measured
    before = files(folder)
    again = draw_run(folder, tmp_path / "pages" / "x.html", benchmarks=lines, worst=3)
    assert files(folder) == before
    assert again.page.read_bytes() == before["report.html"]


def test_files_of_one_name_are_distinguished():
    rate = ErrorRate(1.0, 0.1, 5, 0)
    spread = loss_distribution(np.ones(1), np.ones(1, np.bool_))

    def rows(*paths: str) -> list[str]:
        return list(RunBenchmark([ErrorRates(dict.fromkeys(paths, rate), {}, rate, spread)], []).rows())

    assert rows("a/race.bm.gz", "a/contact.bm.gz") == ["race", "contact", "all"]
    assert rows("a/race.bm.gz") == ["race"]
    assert rows("a/race.bm", "b/race.bm") == ["a/race.bm", "b/race.bm", "all"]


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 seconds"), (1.2, "1 second"), (119, "119 seconds"),
    (120, "2.0 minutes"), (2040, "34 minutes"), (7200, "2.0 hours"), (90000, "25 hours")])  # fmt: skip
def test_durations(seconds, text):
    assert duration(seconds) == text
