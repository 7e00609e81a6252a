"""The same settings produce the same bytes: for any number of workers, stopped anywhere, and resumed."""

import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import motif
from motif.evaluators.known_players import shipped_weights
from motif.parameters import parameter_set
from motif.players import load
from motif.runtime import parallel
from motif.runtime.errors import DatasetError, FileError
from motif.runtime.files import is_temporary
from motif.runtime.progress import heard_by
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import read_manifest
from motif.sampling.sample import SampleSettings, sample
from tests.evaluators.made_weights import made_weights
from tests.sampling.folders import QUICK, differences, files, made

ROOT = Path(__file__).resolve().parent.parent.parent
sampling = sys.modules["motif.sampling.sample"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A dataset made without a stop."""
    return made(tmp_path_factory.mktemp("whole") / "samples")


def test_a_part_for_each_few_games(whole):
    assert sorted(files(whole)) == ["_manifest.json", *(f"part-{k:05d}.parquet" for k in range(7))]


def test_the_same_bytes_for_any_number_of_workers(whole, tmp_path):
    assert differences(whole, made(tmp_path / "two", jobs=2)) == []


def test_progress_counts_games(tmp_path):
    settings = replace(QUICK, games=70, rate=0.1)
    heard = []
    with heard_by(lambda what, done, total: heard.append((done, total))):
        made(tmp_path, settings)
        (tmp_path / "part-00002.parquet").unlink()
        made(tmp_path, settings, resume=True)
    assert {total for _, total in heard} == {70}
    assert [done for done, _ in heard[-3:]] == [0, 68, 70]
    assert [done for done, _ in heard[:-3]] == [0, 0, *range(2, 71, 2)]


LOOKING_AHEAD = replace(QUICK, games=70, rate=0.1, label="pubeval@1")


@pytest.mark.parametrize("changes", [{}, {"trials": 36, "stratified": True}, {"label": "pubeval@1"}])
def test_the_same_bytes_however_many_games_are_done_at_a_time(tmp_path, monkeypatch, changes):
    settings = replace(QUICK, games=70, rate=0.1, **changes)
    made(tmp_path / "whole", settings)
    monkeypatch.setattr(sampling, "games_a_call", lambda *_: 1)
    monkeypatch.setattr(sampling, "_LABELS_AT_ONCE", 3)
    assert differences(tmp_path / "whole", made(tmp_path / "single", settings)) == []
    assert differences(tmp_path / "whole", made(tmp_path / "two", settings, jobs=2)) == []


def test_expensive_games_make_small_tasks():
    plan = SampleSettings(games=12_000, trials=36, player="pubeval")
    dear, cheap = load("pubeval@2").require_evaluator(), load("pubeval").require_evaluator()
    assert sampling.games_a_part(plan) == 52
    assert sampling.games_a_call(plan, None) == 1
    assert sampling.games_a_call(replace(plan, rate=0.05, candidates=4), None) == 94
    assert sampling.games_a_call(plan, dear) == 1
    assert sampling.games_a_call(plan, load("pubeval@1").require_evaluator()) == 14
    assert sampling.games_a_call(plan, cheap) == 42


@pytest.mark.parametrize(("settings", "patience"), [(QUICK, 4), (LOOKING_AHEAD, 40)])
def test_abandoned_work_is_repeated(tmp_path, monkeypatch, settings, patience):
    """Repeated stops after several checks abandon the work in progress."""
    made(tmp_path / "whole", settings)
    monkeypatch.setattr(parallel, "SECONDS_TO_FINISH", 0.0)
    looks = 0

    def look():
        nonlocal looks
        looks += 1
        if looks % patience == 0:
            signal.raise_signal(signal.SIGTERM)
        parallel.check_stop()

    monkeypatch.setattr(sampling, "check_stop", look)
    folder, stops = tmp_path / "stopped", 0
    with parallel.handled((signal.SIGTERM,), signal.default_int_handler):
        while True:
            try:
                made(folder, settings, resume=True)
                break
            except KeyboardInterrupt:
                stops += 1
    assert stops >= 2
    assert differences(tmp_path / "whole", folder) == []


def test_other_bytes_for_another_seed(whole, tmp_path):
    assert len(differences(whole, made(tmp_path / "other", replace(QUICK, seed=6)))) == 8


def test_parts_of_several_games_hold_the_same_games(tmp_path):
    settings = replace(QUICK, games=70, rate=0.2, candidates=1, trials=1)
    together = read_dataset(made(tmp_path / "seventy", settings))
    assert sorted(set(together.game.tolist())) == list(range(70))
    assert len(list((tmp_path / "seventy").glob("part-*"))) == 35
    first = read_dataset(made(tmp_path / "seven", replace(settings, games=7)))
    same = together.game < 7
    assert together.boards[same].tobytes() == first.boards.tobytes()
    assert together.equity[same].tobytes() == first.equity.tobytes()


@pytest.mark.parametrize("jobs", [1, 2])
def test_missing_and_truncated_parts_are_made_again(whole, tmp_path, jobs):
    folder = made(tmp_path / "samples")
    (folder / "part-00001.parquet").unlink()
    torn = folder / "part-00003.parquet"
    torn.write_bytes(torn.read_bytes()[:-100])
    (folder / "part-00006.parquet").write_bytes(b"")
    assert sample(QUICK, folder, resume=True, jobs=jobs).played == 3
    assert differences(whole, folder) == []


def test_resuming_a_finished_dataset_changes_nothing(whole, tmp_path):
    folder = made(tmp_path / "samples")
    parts = {path: path.stat().st_mtime_ns for path in folder.glob("part-*")}
    result = sample(QUICK, folder, resume=True, jobs=1)
    assert {path: path.stat().st_mtime_ns for path in parts} == parts
    assert differences(whole, folder) == []
    assert result.positions == len(read_dataset(folder))
    assert (result.played, result.to_dict()["games_per_second"]) == (0, 0)


def test_resuming_in_an_empty_folder(whole, tmp_path):
    assert differences(whole, made(tmp_path / "new", resume=True)) == []
    (tmp_path / "empty").mkdir()
    assert differences(whole, made(tmp_path / "empty", resume=True)) == []


KILLED = """
import os, signal, sys
import pyarrow.parquet
from motif.sampling.sample import sample
from tests.sampling.folders import QUICK, on_call

def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)

def die_halfway(table, handle, **options):
    handle.write(b"half a part")
    handle.flush()
    die()

def die_after(*arguments, **options):
    real_manifest(*arguments, **options)
    die()

sampling = sys.modules["motif.sampling.sample"]
real_manifest = sampling.write_manifest
moment, number = sys.argv[2], int(sys.argv[3])
if moment == "in a part":
    pyarrow.parquet.write_table = on_call(number, pyarrow.parquet.write_table, die_halfway)
elif moment == "before a manifest":
    sampling.write_manifest = on_call(number, real_manifest, die)
elif moment == "in a manifest":
    # The temporary file exists but has not been renamed; the first call was for a new folder.
    os.fsync = on_call(number, os.fsync, die)
else:
    sampling.write_manifest = on_call(number, real_manifest, die_after)
sample(QUICK, sys.argv[1], jobs=1)
"""


@pytest.mark.parametrize(
    ("moment", "number", "parts"),
    [("in a manifest", 2, 0), ("in a part", 4, 3), ("before a manifest", 4, 3), ("after a manifest", 8, 7)],
)
def test_killed_and_resumed(whole, tmp_path, moment, number, parts):
    folder = tmp_path / "samples"
    command = [sys.executable, "-c", KILLED, str(folder), moment, str(number)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == -9, ended.stderr
    assert len(list(folder.glob("part-*.parquet"))) == parts
    assert any(map(is_temporary, folder.iterdir())) == moment.startswith("in a ")
    made(folder, resume=True, jobs=1)
    assert differences(whole, folder) == []


def test_what_was_made_before_a_stop_can_be_read(tmp_path):
    folder = made(tmp_path / "samples")
    before = files(folder)
    for number in (5, 6):
        (folder / f"part-{number:05d}.parquet").unlink()
    with pytest.raises(DatasetError, match=r"part-00005\.parquet: missing, although the manifest lists it"):
        read_dataset(folder)
    made(folder, resume=True)
    assert files(folder) == before


CHANGED = {
    "games": 8,
    "trials": 4,
    "candidates": 2,
    "replies": True,
    "rate": 0.4,
    "crashed_rate": 0.5,
    "race_rate": 0.5,
    "noise": 0.1,
    "plies": 9,
    "cut": 4,
    "stop_at_race": True,
    "stop_at_bearoff": True,
    "seed": 6,
    "decide": "rollout",
    "player": "simple",
    "label": "bras",
}


@pytest.mark.parametrize("field", CHANGED)
def test_other_settings_are_refused(whole, field):
    before = files(whole)
    message = f"cannot be resumed: made with {field} = .*, not {CHANGED[field]!r}$"
    with pytest.raises(DatasetError, match=message):
        made(whole, replace(QUICK, **{field: CHANGED[field]}), resume=True)
    assert files(whole) == before


def test_stratified_dice_are_a_setting_too(tmp_path):
    plain = replace(QUICK, trials=36, games=2)
    stratified = replace(plain, stratified=True)
    folder = made(tmp_path / "plain", plain)
    with pytest.raises(DatasetError, match=r"cannot be resumed: made with stratified = False, not True$"):
        made(folder, stratified, resume=True)
    one, two = (made(tmp_path / str(jobs), stratified, jobs=jobs) for jobs in (1, 2))
    assert differences(one, two) == []
    assert read_dataset(one).boards.tobytes() == read_dataset(folder).boards.tobytes()


def test_every_setting_is_tried():
    assert {*CHANGED, "stratified"} == set(QUICK.__dataclass_fields__)


def test_other_weights_under_the_same_name_are_refused(tmp_path):
    path = tmp_path / "weights.yaml"
    settings = replace(QUICK, player=str(path), games=2)
    made_weights("keith", seed=1).save(path)
    folder = made(tmp_path / "samples", settings, player_label="keith-v0")
    made(folder, settings, resume=True, player_label="keith-v0")
    made_weights("keith", seed=2).save(path)
    with pytest.raises(
        DatasetError, match=r"cannot be resumed: made with player_fingerprint = 'sha256:\w+', not 'sha256:"
    ):
        made(folder, settings, resume=True, player_label="keith-v0")


def test_a_sample_goes_on_in_another_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_weights("keith", seed=1).save(Path("weights.yaml"))
    few = replace(QUICK, games=2)
    settings = replace(few, player="weights.yaml", label="weights.yaml@1", trials=36, cut=0)
    folder = made(tmp_path / "samples", settings)
    before = files(folder)
    (tmp_path / "there").mkdir()
    monkeypatch.chdir("there")
    there = replace(settings, player="../weights.yaml", label=f"{tmp_path}/weights.yaml@1")
    for lost in ("part-00001.parquet", "_manifest.json"):
        (folder / lost).unlink()
        made(folder, there, resume=True)
        assert files(folder) == before
    with pytest.raises(DatasetError, match=r"made with label = 'weights.yaml@1', not '../weights.yaml@2'"):
        made(folder, replace(there, label="../weights.yaml@2"), resume=True)


def test_other_weights_behind_lookahead_or_in_a_net_are_refused(tmp_path):
    path, net = tmp_path / "weights.yaml", tmp_path / "net.onnx"
    ahead = replace(QUICK, player=f"{path}@1:sparse", games=1, trials=1, cut=1, rate=0.1, candidates=1)
    by_net = replace(QUICK, label=f"onnx:{net}", games=1)
    for seed in (1, 2):
        weights = made_weights("keith", seed=seed)
        weights.save(path)
        motif.export(weights, net)
        for name, settings in (("ahead", ahead), ("net", by_net)):
            if seed == 1:
                made(made(tmp_path / name, settings), settings, resume=True)
            else:
                with pytest.raises(DatasetError, match=r"cannot be resumed: made with \w+_fingerprint = "):
                    made(tmp_path / name, settings, resume=True)


def test_a_model_that_was_fitted_again_is_refused(tmp_path):
    random = np.random.default_rng(1)
    rows, equities = random.random((50, len(parameter_set("keith")))), random.random(50)
    models = [Ridge(alpha=alpha).fit(rows, equities) for alpha in (1.0, 1.0, 2.0)]
    same, again, other = (motif.from_sklearn(model, "keith", name="ridge") for model in models)
    settings = replace(QUICK, player="ridge", games=1, trials=1, cut=1, candidates=1)
    folder = made(tmp_path / "samples", settings, player=same)
    made(folder, settings, resume=True, player=again)
    with pytest.raises(DatasetError, match="cannot be resumed: made with player_fingerprint = "):
        made(folder, settings, resume=True, player=other)


def test_a_player_by_two_names_plays_the_same_games(tmp_path):
    depth = {"games": 1, "trials": 1, "cut": 1, "rate": 0.1, "candidates": 1}
    for name in ("one.yaml", "two.yaml"):
        shutil.copy(shipped_weights()["keith-v1"], tmp_path / name)
    names = ("one.yaml@1:sparse", "two.yaml@1:sparse", "one.yaml")
    folders = [
        made(tmp_path / str(place), replace(QUICK, player=f"{tmp_path / name}", **depth))
        for place, name in enumerate(names)
    ]
    one, two, static = (read_manifest(folder).games_key for folder in folders)
    assert one == two != static


def test_a_name_may_replace_a_path(tmp_path):
    for name in ("here", "there"):
        path = tmp_path / name / "weights.yaml"
        made_weights("keith", seed=1).save(path)
        settings = replace(QUICK, player=str(path), games=2)
        made(tmp_path / f"samples {name}", settings, player_label="keith-v0")
    assert differences(tmp_path / "samples here", tmp_path / "samples there") == []


def test_a_dataset_is_not_overwritten(whole):
    before = files(whole)
    with pytest.raises(DatasetError, match=r"already contains a dataset; resume continues it$"):
        made(whole)
    assert files(whole) == before


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_with_something_else_is_left_alone(tmp_path, resume):
    (tmp_path / "thesis.txt").write_text("three years of work")
    with pytest.raises(DatasetError, match=r"not a dataset: the folder is not empty and has no _m"):
        made(tmp_path, resume=resume)
    assert files(tmp_path) == {"thesis.txt": b"three years of work"}


def test_a_folder_that_cannot_be_made(tmp_path):
    file = tmp_path / "file"
    file.write_text("no folder")
    for folder in (file, file / "samples"):
        with pytest.raises(FileError, match="cannot be created"):
            made(folder)
