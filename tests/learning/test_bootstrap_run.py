"""A small complete bootstrap run: it finishes, resumes to the same weights, and reports its progress."""

import csv
import json
import shutil
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from motif.evaluators import read_weight_file
from motif.fitting.hidden_fit import _FitState
from motif.fitting.significance import read_terms
from motif.learning import bootstrap_run
from motif.learning.bootstrap_run import CHECKPOINTS, run_bootstrap
from motif.learning.fitted_weights import HISTORY_COLUMNS
from motif.players import load
from motif.reports.run_report import draw_run, draw_version
from motif.runtime.errors import DatasetError, FileError, PlayerError, SettingError, WeightFileError
from motif.runtime.package import VERSION
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import read_manifest
from tests.faults.made_runs import STEP, TINY, unlike
from tests.sampling.folders import on_call


class StoppedError(Exception):
    """Represents Ctrl-C."""


def stop(*arguments, **options):
    raise StoppedError


def kept_bytes(folder: Path) -> dict[str, bytes]:
    """The files that must not depend on stops: weights, samples and the configuration."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("summary.json", "history.csv")
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run without a stop, with its summaries and its output."""
    folder, told, seen = tmp_path_factory.mktemp("whole") / "tiny", [], []
    summaries = run_bootstrap(
        folder, TINY, jobs=1, tell=told.append, on_version=lambda home, summary: seen.append((home, summary))
    )
    return folder, summaries, told, seen


def test_what_a_run_leaves(whole):
    folder, summaries, told, seen = whole
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    parts = [f"v{k}/samples/part-{part:05d}.parquet" for k, n in ((0, 8), (1, 6)) for part in range(n)]
    files = [f"v{k}/{name}" for k in (0, 1) for name in ("history.csv", "summary.json", "weights.yaml")]
    assert names == sorted(
        ["config.yaml", *files, *parts, "v0/samples/_manifest.json", "v1/samples/_manifest.json"]
    )
    assert seen == [(folder / "v0", summaries[0]), (folder / "v1", summaries[1])]
    assert [line.split(": ")[0] for line in told] == ["tiny-v0"] * 3 + ["tiny-v1"] * 3
    assert told[0] == "tiny-v0: sampling 8 games of simple, 2 trials each"
    assert told[3] == "tiny-v1: sampling 6 games of tiny-v0, 2 trials each"


def test_summaries(whole):
    folder, summaries, _, _ = whole
    for version, summary in enumerate(summaries):
        assert (summary.version, summary.name, summary.trials) == (version, f"tiny-v{version}", 2)
        assert json.loads((folder / f"v{version}" / "summary.json").read_text()) == summary.to_dict()
        assert summary.sample_settings["games"] == TINY.versions[version].games
        assert 0 < summary.choice_error["all"] < 1
        win, equity = (summary.validation_errors[name] for name in ("win", "equity"))
        assert win.rmse == summary.rmse_validation
        assert equity.noise > 0
        assert equity.without_noise < equity.rmse
        assert 0 < summary.rmse_train < 0.5
        assert 0 < summary.rmse_validation < 0.6
        assert summary.seconds == pytest.approx(sum(summary.seconds_by_step.values()))
        assert -3 <= summary.ppg_vs_pubeval <= 3
        assert summary.ppg_se > 0
    pooled = [read_manifest(folder / f"v{k}" / "samples").positions for k in (0, 1)]
    assert [summary.positions for summary in summaries] == [pooled[0], sum(pooled)]


def test_one_head_of_each_version_is_checked_by_scipy(whole):
    for summary in whole[1]:
        check = summary.cross_check
        facts = summary.heads[check.place]
        assert (check.method, check.check_method) == ("gauss-newton", "least-squares")
        assert (check.rmse_train, check.terms) == (facts["rmse_train"], facts["terms"])
        assert check.error_difference < 1e-4
        assert check.check_rmse_train == pytest.approx(check.rmse_train, rel=1e-3)


def test_weights_know_where_they_come_from(whole):
    folder, summaries, _, _ = whole
    for version, parent in enumerate(("simple", "tiny-v0")):
        home = folder / f"v{version}"
        weights = read_weight_file(home / "weights.yaml")
        assert (weights.name, weights.version, weights.parent) == (f"tiny-v{version}", version, parent)
        assert weights.parameters.name == "keith"
        assert {"contact", "race"} <= set(weights.classes)
        assert set(weights.classes["contact"]) >= {"win", "win_gammon", "lose_gammon", "equity"}
        assert all(not len(head.pairs) for heads in weights.classes.values() for head in heads.values())
        assert weights.move_filter is not None
        assert weights.fit["samples"] == summaries[version].positions
        assert weights.fit["motif"] == VERSION
        pools = [read_manifest(folder / f"v{k}" / "samples").fingerprint for k in range(version + 1)]
        assert weights.fit["dataset"] == (pools[0] if version == 0 else pools)
        settings = read_manifest(home / "samples").settings
        assert (settings["player"], settings["seed"]) == (parent, 4000 + version)
        assert np.isfinite(
            load(str(home / "weights.yaml")).evaluate_many(read_dataset(home / "samples").boards)
        ).all()


def test_a_version_fits_in_its_own_way(tmp_path):
    config = replace(TINY, versions=(replace(STEP, fit={"heads": "win", "terms": "linear"}),))
    (summary,) = run_bootstrap(tmp_path / "own", config, jobs=1)
    assert {head.partition(".")[2] for head in summary.heads} == {"win"}
    weights = read_weight_file(tmp_path / "own" / "v0" / "weights.yaml")
    assert len(weights.classes["contact"]["win"].pairs) == 0


def test_lookahead_labels_a_version(tmp_path):
    config = replace(TINY, versions=(STEP, replace(STEP, labels="@1")))
    run_bootstrap(tmp_path / "own", config, jobs=1)
    manifests = [read_manifest(tmp_path / "own" / f"v{version}" / "samples") for version in (0, 1)]
    assert [manifest.settings["label"] for manifest in manifests] == ["rollout", "tiny-v0@1"]


def test_a_stopped_fit_of_hidden_units_goes_on(tmp_path, monkeypatch):
    steps = (replace(STEP, fit={"hidden": 3, "passes": 3}),)
    config = replace(TINY, fit={"parameters": "keith"}, versions=steps)
    run_bootstrap(tmp_path / "whole", config, jobs=1)
    recorded, passes = _FitState.record, []

    def record(state, done, ranking):
        recorded(state, done, ranking)
        passes.append(done.number)
        if len(passes) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(_FitState, "record", record)
    with pytest.raises(KeyboardInterrupt):
        run_bootstrap(tmp_path / "run", config, jobs=1)
    run_bootstrap(tmp_path / "run", config, jobs=1)
    # The third pass was not stored yet.
    assert passes[:5] == [1, 2, 3, 3, 1]
    kept = [tmp_path / name / "v0" for name in ("whole", "run")]
    assert kept[0].joinpath("weights.yaml").read_bytes() == kept[1].joinpath("weights.yaml").read_bytes()
    assert not (kept[1] / CHECKPOINTS).exists()


def test_terms_of_hidden_units_have_no_table(tmp_path):
    steps = (replace(STEP, fit={"hidden": 3}),)
    config = replace(TINY, fit={"parameters": "keith"}, terms=True, versions=steps)
    with pytest.raises(SettingError, match="terms: terms fitted together with hidden units"):
        run_bootstrap(tmp_path, config, jobs=1)


def test_a_pruned_run_with_tables_of_terms(tmp_path):
    fit = {"parameters": "keith", "heads": "win", "prune": 2.0}
    config = replace(TINY, fit=fit, versions=(STEP,), terms=True)
    folder = tmp_path / "one"
    (summary,) = run_bootstrap(folder, config, jobs=1)
    home = folder / "v0"
    weights = read_weight_file(home / "weights.yaml")
    tables = read_terms(home / "terms.parquet")
    assert [table.key for table in tables] == [(name, "win") for name in weights.classes]
    for table in tables:
        facts = summary.heads[f"{table.class_name}.win"]
        assert len(table.names) - 1 == facts["terms"]
    contact = summary.heads["contact.win"]
    assert contact["terms"] < contact["before_pruning"]["terms"]
    assert summary.choice_error_before_pruning.keys() == summary.choice_error.keys()
    draw_run(folder, top=2)
    assert "How tiny-v0 evaluates contact positions" in (folder / "report.html").read_text(encoding="utf-8")
    run_bootstrap(tmp_path / "two", config, jobs=2)
    (folder / "report.html").unlink()
    for picture in folder.glob("*.png"):
        picture.unlink()
    assert kept_bytes(tmp_path / "two") == kept_bytes(folder)


def test_history(whole):
    folder, summaries, _, _ = whole
    with open(folder / "v1" / "history.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0]) == list(HISTORY_COLUMNS)
    noise = {(row["class"], row["head"]): row["label_noise"] for row in rows}
    # Truncated rollouts of two trials: only the equity has an error.
    assert {head for (_, head), value in noise.items() if value} == {"equity"}
    heads = {f"{row['class']}.{row['head']}" for row in rows}
    assert heads == set(summaries[1].heads)
    for head, facts in summaries[1].heads.items():
        passes = [int(row["pass"]) for row in rows if f"{row['class']}.{row['head']}" == head]
        assert passes[: facts["sweeps"] + 1] == list(range(facts["sweeps"] + 1))


def test_a_finished_run_is_not_done_again(whole):
    folder, summaries, _, _ = whole
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    told: list[str] = []
    assert run_bootstrap(folder, TINY, jobs=1, tell=told.append) == summaries
    assert told == []
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize(("jobs", "asked"), [(1, 0), (2, 1)])
def test_a_second_process_compiles_for_the_whole_run(whole, monkeypatch, jobs, asked):
    folder, _, _, _ = whole
    calls: list[str] = []
    monkeypatch.setattr(bootstrap_run, "precompile_in_background", calls.append)
    run_bootstrap(folder, TINY, jobs=jobs)
    assert calls == ["motif.learning.bootstrap_run:warm_up"] * asked


def test_the_same_weights_for_any_number_of_workers_any_folder_and_versions_added_later(whole, tmp_path):
    folder, _, _, _ = whole
    other = tmp_path / "deep" / "other"
    run_bootstrap(other, replace(TINY, versions=TINY.versions[:1]), jobs=2)
    run_bootstrap(other, TINY, jobs=2)
    assert kept_bytes(other) == kept_bytes(folder)


def stop_between_versions(patch):
    return {"on_version": stop}


def stop_in_sampling(patch):
    sampling = sys.modules["motif.sampling.sample"]
    patch.setattr(sampling, "write_part", on_call(11, sampling.write_part, stop))
    return {}


def stop_before_the_fit(patch):
    running = sys.modules["motif.learning.bootstrap_run"]
    patch.setattr(running, "fit_dataset", on_call(2, running.fit_dataset, stop))
    return {}


def stop_before_the_matches(patch):
    running = sys.modules["motif.learning.bootstrap_run"]
    patch.setattr(running, "play_money_games", on_call(1, running.play_money_games, stop))
    return {}


@pytest.mark.parametrize("versions", [0, -1, 1.5])
def test_at_least_one_version(tmp_path, versions):
    with pytest.raises(SettingError, match=f"versions must be .*, not {versions}"):
        run_bootstrap(tmp_path / "run", TINY, versions=versions, jobs=1)
    assert not (tmp_path / "run").exists()


STOPS = [stop_between_versions, stop_in_sampling, stop_before_the_fit, stop_before_the_matches]


@pytest.mark.parametrize("stopping", STOPS)
def test_stopped_and_resumed(whole, tmp_path, monkeypatch, stopping):
    folder, summaries, _, _ = whole
    with monkeypatch.context() as patch:
        options = stopping(patch)
        with pytest.raises(StoppedError):
            run_bootstrap(tmp_path / "run", TINY, jobs=1, **options)
    assert not (tmp_path / "run" / "v1" / "summary.json").exists()
    resumed = run_bootstrap(tmp_path / "run", TINY, jobs=1)
    assert kept_bytes(tmp_path / "run") == kept_bytes(folder)
    for one, other in zip(resumed, summaries, strict=True):
        told, wanted = one.figures(), other.figures()
        for key in (
            "positions",
            "rmse_train",
            "rmse_validation",
            "ppg_vs_pubeval",
            "ppg_se",
            "ppg_vs_previous",
        ):
            assert told[key] == wanted[key]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (replace(TINY, seed=5), f"seed = {TINY.seed}, not 5"),
        (replace(TINY, strength_games=80), f"strength_games = {TINY.strength_games}, not 80"),
        (replace(TINY, fit={**TINY.fit, "ridge": 1.0}), f"fit = {TINY.fit}, not {TINY.fit | {'ridge': 1.0}}"),
        (replace(TINY, versions=TINY.versions[:1]), "2 versions, not 1"),
        (
            replace(TINY, versions=(STEP, replace(STEP, games=7))),
            f"versions[1].games = {TINY.versions[1].games}, not 7",
        ),
    ],
)
def test_another_configuration_is_refused(whole, changed, said):
    folder, _, _, _ = whole
    before = kept_bytes(folder)
    with pytest.raises(SettingError) as refusal:
        run_bootstrap(folder, changed)
    assert str(refusal.value) == f"{folder}: contains a run with {said}; choose another folder"
    assert kept_bytes(folder) == before


def test_a_finished_version_that_has_lost_samples(whole, tmp_path):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    part, summaries = (
        folder / "v0/samples/part-00002.parquet",
        [folder / f"v{k}/summary.json" for k in (0, 1)],
    )
    part.unlink()
    summaries[1].unlink()
    said = f"{part}: missing; delete {summaries[0]} to make the version again"
    with pytest.raises(DatasetError) as refusal:
        run_bootstrap(folder, TINY, jobs=1)
    assert str(refusal.value) == said
    summaries[0].unlink()
    run_bootstrap(folder, TINY, jobs=1)
    assert kept_bytes(folder) == kept_bytes(whole[0])


def test_a_run_goes_on_in_another_working_folder():
    made = replace(TINY, start="w.yaml", fit={"parameters": "my.py"})
    there = replace(made, start="../w.yaml", fit={"parameters": "/runs/my.py"})
    assert bootstrap_run._difference(made, there) == ""
    other = replace(there, fit={"parameters": "/runs/other.py"})
    assert bootstrap_run._difference(made, other).startswith("fit = ")


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("three years of work")
    with pytest.raises(
        SettingError, match=r"not a bootstrap run: the folder is not empty and has no config\.yaml$"
    ):
        run_bootstrap(tmp_path, TINY)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_remains_of_a_kill_at_the_start_are_no_obstacle(tmp_path):
    (tmp_path / ".config.77.tmp.yaml").write_text("half a conf")
    with pytest.raises(StoppedError):
        run_bootstrap(tmp_path, TINY, tell=stop)
    assert (tmp_path / "config.yaml").exists()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("no folder")
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(FileError, match="cannot be created"):
            run_bootstrap(folder, TINY)


@pytest.mark.parametrize(
    ("start", "error"), [("nobody", PlayerError), ("random", PlayerError), ("none.yaml", WeightFileError)]
)
def test_a_start_player_that_does_not_exist_claims_no_folder(tmp_path, start, error):
    with pytest.raises(error):
        run_bootstrap(tmp_path / "run", replace(TINY, start=start))
    assert not (tmp_path / "run").exists()


def test_settings_that_make_no_sense_claim_no_folder(tmp_path):
    with pytest.raises(SettingError, match=r"^versions\[0\]: games must be at least 1, not 0$"):
        run_bootstrap(tmp_path / "run", replace(TINY, versions=(replace(STEP, games=0),)))
    assert not (tmp_path / "run").exists()


def test_a_damaged_summary_is_named(whole, tmp_path):
    folder, _, _, _ = whole
    (tmp_path / "config.yaml").write_bytes((folder / "config.yaml").read_bytes())
    (tmp_path / "v0").mkdir()
    (tmp_path / "v0" / "summary.json").write_text("{")
    with pytest.raises(
        SettingError, match=r"v0/summary\.json: cannot be read: .*; delete the file to make it again$"
    ):
        run_bootstrap(tmp_path, TINY)


class KilledError(BaseException):
    """Represents the end of the process: nothing catches it."""


def die_at(patch, name: str, when: str) -> None:
    """End the process before or after the file `name` of the last version is given its final name."""
    real = Path.replace

    def replace_or_die(temporary, target):
        if when == "before" and (target.parent.name, target.name) == ("v1", name):
            raise KilledError
        real(temporary, target)
        if when == "after" and (target.parent.name, target.name) == ("v1", name):
            raise KilledError

    patch.setattr(Path, "replace", replace_or_die)


ONE_HEAD = replace(TINY, fit={**TINY.fit, "heads": "win"})
"""Has smaller pictures."""


def draw_last(home: Path, summary: dict) -> None:
    """Draw the version that is killed."""
    if home.name == "v1":
        draw_version(home, summary)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A run without a stop, with the pictures of its last version."""
    folder = tmp_path_factory.mktemp("drawn") / "tiny"
    run_bootstrap(folder, ONE_HEAD, jobs=1, on_version=draw_last)
    return folder


FILES = ["weights.yaml", "history.csv", "summary.json", "convergence.png", "calibration.png"]
QUICK_CASES = [("summary.json", "before")]


@pytest.mark.parametrize(
    ("name", "when"),
    [
        pytest.param(*case, marks=() if case in QUICK_CASES else pytest.mark.slow)
        for case in product(FILES, ("before", "after"))
    ],
)
def test_killed_between_the_files_of_a_version(drawn, tmp_path, monkeypatch, name, when):
    folder = tmp_path / "run"
    shutil.copytree(drawn, folder)
    for path in (folder / "v1").glob("*.*"):
        path.unlink()
    with monkeypatch.context() as patch:
        die_at(patch, name, when)
        with pytest.raises(KilledError):
            run_bootstrap(folder, ONE_HEAD, jobs=1, on_version=draw_last)
    # A file that a real crash leaves beside them.
    for home in (folder, folder / "v0", folder / "v1"):
        (home / ".weights.77.tmp.yaml").write_text("half")
    run_bootstrap(folder, ONE_HEAD, jobs=1, on_version=draw_last)
    assert unlike(folder, drawn) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "is not a version's summary"),
        ("null", "is not a version's summary"),
        ("{}", "version: missing"),
        ('{"version": 1}', "version: must be 0, not 1"),
        ('{"version": 0}', "name: missing"),
    ],
)
def test_a_foreign_summary_is_named(tmp_path, text, said):
    TINY.save(tmp_path)
    (tmp_path / "v0").mkdir()
    (tmp_path / "v0" / "summary.json").write_text(text)
    with pytest.raises(SettingError, match=rf"json: {said}; delete the file to make it again$"):
        run_bootstrap(tmp_path, TINY)


def test_a_run_of_fewer_versions_goes_on_later(whole, tmp_path):
    folder = tmp_path / "run"
    assert run_bootstrap(folder, TINY, versions=1, jobs=1)[-1].version == 0
    assert not (folder / "v1").exists()
    assert len(run_bootstrap(folder, TINY, jobs=1)) == 2
    assert kept_bytes(folder) == kept_bytes(whole[0])
