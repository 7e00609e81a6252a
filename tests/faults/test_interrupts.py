"""Ctrl-C, SIGTERM and SIGHUP, sent to real processes as a terminal or a supervisor does."""

import json
import os
import signal
import sys
from dataclasses import replace

import pytest

from motif.cli.main import main
from motif.sampling.sample import SampleSettings
from tests.faults.made_runs import STEP, TINY, bootstrapping, check_readable, files_below, temporaries, unlike
from tests.faults.processes import Stop, ending, living, running, wait_until, work_on
from tests.sampling.folders import QUICK, made

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

GAMES = 256
"""Games of a dataset, sampled in parts of four."""
PART = "motif.sampling.sample:sample_games"
"""The function that works on a part, in any process."""


@pytest.fixture(autouse=True, scope="module")
def compiled(tmp_path_factory):
    """Compile in advance, so that the time is spent on the work itself."""
    made(tmp_path_factory.mktemp("compiled") / "samples", QUICK, jobs=1)


def sampling(folder, jobs, games=GAMES, trials=10):
    words = ["sample", "--out", folder, "--player", "pubeval", "--games", games, "--trials", trials]
    return [*words, "--candidates", 2, "--rate", 0.2, "--resume", "--jobs", jobs]


def parts(folder) -> int:
    try:
        return len(json.loads((folder / "_manifest.json").read_text())["parts"])
    except FileNotFoundError:
        return 0


def check_left(folder, process) -> None:
    wait_until(lambda: not living(process.pid))
    assert temporaries(folder) == []
    assert not any(path.name == ".lock" for path in files_below(folder))


def to_all(process, number=signal.SIGINT):
    os.killpg(process.pid, number)


def to_all_by_hangup(process):
    to_all(process, signal.SIGHUP)


def to_one(process, number=signal.SIGTERM):
    os.kill(process.pid, number)


@pytest.mark.parametrize(
    ("jobs", "send"),
    [pytest.param(1, to_all, marks=pytest.mark.slow), (2, to_all), (2, to_one), (2, to_all_by_hangup)],
)
def test_the_first_signal_finishes_work_in_progress(tmp_path, jobs, send):
    folder = tmp_path / "samples"
    # A worker has made two parts when it stops, so that the first two are among those made.
    stop = Stop(tmp_path / "stop", PART, 3, patient=True)
    with running(*sampling(folder, jobs), stop=stop) as process:
        wait_until(lambda: stop.reached == jobs and parts(folder) >= 2, process)
        before = parts(folder)
        send(process)
        wait_until(lambda: stop.heard, process)
        stop.go()
        code, out, err = ending(process)
        check_left(folder, process)
    assert before < parts(folder) < 64
    how = "continue with the same command and --resume"
    assert err == f"motif: interrupted; {folder}: {parts(folder)} of 64 parts are complete; {how}\n"
    assert (code, out) == (130, "")
    check_readable(folder)


STARTING = {
    "before they start": "motif.runtime.parallel:starting_workers",
    "as Python starts in them": "popen_loky",
    "when all is imported": "motif.runtime.parallel:begin_worker",
    "as they begin to work": PART,
}


@pytest.mark.parametrize(
    "moment",
    [pytest.param(name, marks=() if "Python" in name else pytest.mark.slow) for name in STARTING],
)
def test_a_signal_while_workers_start_ends_the_run_normally(tmp_path, moment):
    folder = tmp_path / "samples"
    stop = Stop(tmp_path / "stop", STARTING[moment], patient=True)
    with running(*sampling(folder, 2), stop=stop) as process:
        wait_until(lambda: stop.reached == (1 if moment == "before they start" else 2), process)
        to_all(process)
        wait_until(lambda: stop.heard, process)
        stop.go()
        code, out, err = ending(process)
        check_left(folder, process)
    assert err.startswith(f"motif: interrupted; {folder}: {parts(folder)} of 64 parts are complete; continue")
    assert err.count("\n") == 1
    assert (code, out) == (130, "")
    assert parts(folder) < 64


def test_a_signal_that_comes_while_signals_are_blocked_is_heard_later(tmp_path):
    folder = tmp_path / "samples"
    stop = Stop(tmp_path / "stop", "joblib:delayed", patient=True)
    with running(*sampling(folder, 2), stop=stop) as process:
        wait_until(lambda: stop.reached, process)
        to_all(process)
        stop.go()
        code, out, err = ending(process)
        check_left(folder, process)
    assert err.startswith(f"motif: interrupted; {folder}: {parts(folder)} of 64 parts are complete; continue")
    assert (code, out) == (130, "")


@pytest.mark.slow
def test_a_run_interrupted_repeatedly_resumes_to_the_same_bytes(tmp_path):
    folder, codes = tmp_path / "stopped", []
    while 0 not in codes:
        stop = Stop(tmp_path / f"stop-{len(codes)}", PART, 2)
        with running(*sampling(folder, 2, games=64), stop=stop) as process:
            wait_until(lambda at=stop: at.reached or process.poll() is not None)
            if process.poll() is None:
                to_all(process)
                wait_until(lambda at=stop: at.heard, process)
                stop.go()
            codes.append(ending(process)[0])
    assert codes.count(130) >= 4
    assert set(codes) == {0, 130}
    with running(*sampling(tmp_path / "whole", 2, games=64)) as process:
        assert ending(process)[0] == 0
    assert unlike(tmp_path / "whole", folder) == []


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_the_second_signal_stops_immediately(tmp_path, jobs):
    folder = tmp_path / "samples"
    stop = Stop(tmp_path / "stop", "motif.sampling.sample:self_play")
    stop.go()
    # A part takes hours, so a command that ends has not waited for one.
    with running(*sampling(folder, jobs, games=640, trials=10_000_000), stop=stop) as process:
        wait_until(lambda: stop.reached == jobs, process)
        work_on(process)
        to_all(process)
        if jobs > 1:
            # Otherwise compiled work delays Python's handlers.
            wait_until(lambda: stop.heard)
        to_all(process)
        code, out, err = ending(process)
        wait_until(lambda: not living(process.pid))
    assert (code, out) == (130, "")
    assert err == "motif: interrupted; continue with the same command and --resume\n"
    assert temporaries(folder) == []
    assert parts(folder) == 0


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_is_enough_however_long_a_game_lasts(tmp_path, jobs, number):
    """Compiled work cannot be interrupted."""
    folder = tmp_path / "samples"
    stop = Stop(tmp_path / "stop", "motif.sampling.sample:self_play")
    stop.go()
    with running(*sampling(folder, jobs, games=640, trials=10_000_000), stop=stop) as process:
        wait_until(lambda: stop.reached == jobs, process)
        work_on(process)
        to_one(process, number)
        code, out, err = ending(process)
        wait_until(lambda: not living(process.pid))
    assert (code, out) == (130, "")
    assert err == "motif: interrupted; continue with the same command and --resume\n"
    assert temporaries(folder) == []
    assert parts(folder) == 0


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_expensive_labels_are_given_up(tmp_path, jobs):
    """The labels of a game take about a minute, and so do those of a part with one game."""
    folder = tmp_path / "samples"
    stop = Stop(tmp_path / "stop", "motif.sampling.sample:check_stop", 3)
    stop.go()
    words = ["sample", "--out", folder, "--player", "pubeval", "--games", 64, "--label", "pubeval@2:full"]
    with running(*words, "--jobs", jobs, stop=stop) as process:
        wait_until(lambda: stop.reached == jobs, process)
        to_one(process)
        code, out, err = ending(process)
        check_left(folder, process)
    assert (code, out) == (130, "")
    how = "continue with the same command and --resume"
    assert err == f"motif: interrupted; {folder}: {parts(folder)} of 64 parts are complete; {how}\n"
    assert parts(folder) < 64


MATCH = ("match", "pubeval", "bras", "--games", 200_000_000, "--jobs", 2)
ROLLOUT = ("rollout", "4HPwATDgc/ABMA", "--player", "pubeval", "--trials", 100_000_000, "--jobs", 2)
TOURNAMENT = ("tournament", "pubeval", "bras", "--games", 200_000_000, "--jobs", 2)
BENCHMARK = ("benchmark", "data/bench/race.bm.gz", "--player", "pubeval@2:full", "--jobs", 2)
ENDLESS = {"match": MATCH, "rollout": ROLLOUT, "tournament": TOURNAMENT, "benchmark": BENCHMARK}
WORK = {
    "match": "motif.contests.pairs:play_pairs",
    "rollout": "motif.rollouts.trials:_play",
    "tournament": "motif.contests.pairs:play_pairs",
    "benchmark": "motif.evaluators.lookahead:_looked_ahead",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_sigterm_ends_other_commands_like_ctrl_c(tmp_path, name):
    stop = Stop(tmp_path / "stop", WORK[name])
    stop.go()
    with running(*ENDLESS[name], stop=stop) as process:
        wait_until(lambda: stop.reached == 2, process)
        work_on(process)
        to_one(process)
        code, out, err = ending(process)
        wait_until(lambda: not living(process.pid))
    assert (code, out, err) == (130, "", "motif: interrupted\n")


KILLED = "a worker process was killed, probably for lack of memory; fewer --jobs need less memory"


def workers(stop: Stop, process) -> list[int]:
    return [number for number in stop.numbers if number != process.pid]


@pytest.mark.parametrize("name", ["sample", pytest.param("match", marks=pytest.mark.slow)])
def test_a_killed_worker_is_reported(tmp_path, name):
    folder = tmp_path / "samples"
    words = sampling(folder, 2, games=64) if name == "sample" else MATCH
    stop = Stop(tmp_path / "stop", *((PART, 3) if name == "sample" else (WORK[name], 2)))
    with running(*words, stop=stop) as process:
        wait_until(lambda: stop.reached == 2, process)
        os.kill(workers(stop, process)[0], signal.SIGKILL)
        code, out, err = ending(process)
        wait_until(lambda: not living(process.pid))
    how = "; continue with the same command and --resume" if name == "sample" else ""
    assert (code, out, err) == (1, "", f"motif: error: {KILLED}{how}\n")
    if name == "sample":
        check_left(folder, process)
        check_readable(folder)
        before = parts(folder)
        assert main([str(word) for word in sampling(folder, 1, games=64)]) == 0
        assert before < parts(folder) == 64
        settings = SampleSettings(player="pubeval", games=64, trials=10, candidates=2, rate=0.2)
        made(tmp_path / "whole", settings)
        assert unlike(tmp_path / "whole", folder) == []


@pytest.mark.slow
def test_a_bootstrap_with_a_killed_worker_resumes(tmp_path):
    folder, stop = tmp_path / "b" / "run", Stop(tmp_path / "stop", PART, 2)
    with running(*bootstrapping(folder), stop=stop) as process:
        wait_until(lambda: stop.reached == 2, process)
        os.kill(workers(stop, process)[0], signal.SIGKILL)
        code, out, err = ending(process)
        check_left(folder, process)
    assert (code, out, err) == (1, "", f"motif: error: {KILLED}; the same command continues\n")
    for again in (folder, tmp_path / "a" / "whole"):
        with running(*bootstrapping(again)) as process:
            assert ending(process)[0] == 0
    assert unlike(tmp_path / "a" / "whole", folder) == []


SAMPLING = replace(TINY, versions=(replace(STEP, games=64),))
COORDINATE_FIT = replace(
    TINY, versions=TINY.versions[:1], fit={"parameters": "keith", "terms": "linear", "method": "coordinate"}
)
LONG_MATCH = replace(TINY, versions=TINY.versions[:1], strength_games=200_000_000)
"""A run with a match that takes hours."""

STEPS = {
    "sampling": (SAMPLING, PART, 3),
    "fit": (COORDINATE_FIT, "motif.fitting.coordinate:_CoordinateState.do_pass", 2),
    "matches": (LONG_MATCH, "motif.contests.pairs:play_pairs", 1),
}


@pytest.mark.parametrize(
    "step", [pytest.param(step, marks=() if step == "sampling" else pytest.mark.slow) for step in STEPS]
)
def test_a_bootstrap_that_is_interrupted(tmp_path, step):
    config, *point = STEPS[step]
    folder, stop = tmp_path / "b" / "run", Stop(tmp_path / "stop", *point)
    with running(*bootstrapping(folder, config), stop=stop) as process:
        wait_until(lambda: stop.reached == 2, process)
        if step == "matches":
            stop.go()
            work_on(process)
        to_all(process)
        if step == "sampling":
            wait_until(lambda: stop.heard, process)
            stop.go()
        # The fit is stopped and the match takes hours, so neither has ended by itself.
        code, out, err = ending(process)
        check_left(folder, process)
    done = {
        "sampling": f"{folder}/v0/samples: {parts(folder / 'v0' / 'samples')} of 64 parts are complete",
        "fit": f"{folder}: 0 of 1 versions are done",
        "matches": f"{folder}: 0 of 1 versions are done",
    }
    assert err == f"motif: interrupted; {done[step]}; the same command continues\n"
    assert (code, out) == (130, "")
    assert step != "sampling" or 2 <= parts(folder / "v0" / "samples") < 64
    check_readable(folder / "v0" / "samples")
    assert not (folder / "v0" / "summary.json").exists()
