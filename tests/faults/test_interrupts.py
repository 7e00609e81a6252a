"""Ctrl-C and SIGTERM, sent to real processes as a terminal or a supervisor sends them."""

import json
import os
import signal
import sys
import time
from dataclasses import replace

import pytest

from tests.faults.made_runs import STEP, TINY, bootstrapping, check_readable, files_below, temporaries, unlike
from tests.faults.processes import ending, living, running, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

GAMES = 256
"""In parts of four."""


def sampling(folder, jobs, games=GAMES, trials=10):
    words = ["sample", "--out", folder, "--player", "pubeval", "--games", games, "--trials", trials]
    return [*words, "--candidates", 2, "--rate", 0.2, "--resume", "--jobs", jobs]


def parts(folder) -> int:
    try:
        return len(json.loads((folder / "manifest.json").read_text())["parts"])
    except FileNotFoundError:
        return 0


def check_left(folder, process) -> None:
    wait_until(lambda: not living(process.pid))
    assert temporaries(folder) == []
    assert not any(path.name == ".lock" for path in files_below(folder))


def to_all(process, number=signal.SIGINT):
    os.killpg(process.pid, number)


def to_one(process, number=signal.SIGTERM):
    os.kill(process.pid, number)


@pytest.mark.parametrize(("jobs", "send"), [(1, to_all), (2, to_all), (2, to_one)])
def test_the_first_signal_finishes_what_is_under_way(tmp_path, jobs, send):
    folder = tmp_path / "samples"
    with running(*sampling(folder, jobs)) as process:
        wait_until(lambda: parts(folder) >= 2, process)
        before = parts(folder)
        send(process)
        code, out, err = ending(process)
        check_left(folder, process)
    assert before < parts(folder) < 64
    how = "the same command with --resume goes on"
    assert err == f"motif: interrupted; {folder}: {parts(folder)} of 64 parts are done; {how}\n"
    assert (code, out) == (130, "")
    check_readable(folder)


@pytest.mark.parametrize(
    "delay", [0.1, *(pytest.param(k / 10, marks=pytest.mark.slow) for k in (0, 2, 3, 4, 6, 8, 10))]
)
def test_a_signal_while_workers_start_is_no_accident(tmp_path, delay):
    folder = tmp_path / "samples"
    with running(*sampling(folder, 2)) as process:
        wait_until((folder / "manifest.json").exists, process)
        time.sleep(delay)
        to_all(process)
        code, out, err = ending(process)
        check_left(folder, process)
    assert err.startswith(f"motif: interrupted; {folder}: {parts(folder)} of 64 parts are done; the same")
    assert err.count("\n") == 1
    assert (code, out) == (130, "")


@pytest.mark.slow
def test_what_was_interrupted_again_and_again_resumes_to_the_same_bytes(tmp_path):
    folder, codes = tmp_path / "stopped", []
    while 0 not in codes:
        before = parts(folder)
        with running(*sampling(folder, 2, games=64, trials=60)) as process:
            wait_until(lambda least=before: parts(folder) > least or process.poll() is not None)
            if process.poll() is None:
                to_all(process)
            codes.append(ending(process)[0])
    assert codes.count(130) >= 4
    assert set(codes) == {0, 130}
    with running(*sampling(tmp_path / "whole", 2, games=64, trials=60)) as process:
        assert ending(process)[0] == 0
    assert unlike(tmp_path / "whole", folder) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_second_signal_stops_at_once(tmp_path, jobs):
    folder = tmp_path / "samples"
    # A part lasts for hours.
    with running(*sampling(folder, jobs, games=640, trials=10_000_000)) as process:
        wait_until((folder / "manifest.json").exists, process)
        time.sleep(1)
        to_all(process)
        time.sleep(1)
        assert process.poll() is None
        started = time.monotonic()
        to_all(process)
        code, out, err = ending(process)
        assert time.monotonic() - started < 10
        wait_until(lambda: not living(process.pid))
    assert (code, out) == (130, "")
    assert err == "motif: interrupted; the same command with --resume goes on\n"
    assert temporaries(folder) == []
    assert parts(folder) == 0


LONG_SAMPLING = replace(TINY, versions=(replace(STEP, games=640, trials=6),))
LONG_FIT = replace(
    TINY,
    versions=(replace(STEP, games=60),),
    fit={"parameters": "motif", "method": "coordinate", "ridge": 1e-6, "equity_ridge": 1e-6},
)
LONG_MATCH = replace(TINY, versions=TINY.versions[:1], strength_games=2_000_000)


def sampled(home):
    path = home / "samples" / "manifest.json"
    return path.exists() and json.loads(path.read_text())["complete"]


STEPS = {
    "sampling": (LONG_SAMPLING, lambda home: parts(home / "samples") >= 2),
    "fit": (LONG_FIT, sampled),
    "matches": (LONG_MATCH, lambda home: (home / "history.csv").exists()),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_bootstrap_that_is_interrupted(tmp_path, step):
    config, reached = STEPS[step]
    folder = tmp_path / "b" / "run"
    with running(*bootstrapping(folder, config)) as process:
        wait_until(lambda: reached(folder / "v0"), process)
        if step != "sampling":
            time.sleep(1)
        to_all(process)
        started = time.monotonic()
        code, out, err = ending(process)
        took = time.monotonic() - started
        check_left(folder, process)
    done = {
        "sampling": f"{folder}/v0/samples: {parts(folder / 'v0' / 'samples')} of 64 parts are done",
        "fit": f"{folder}: 0 of 1 versions are done",
        "matches": f"{folder}: 0 of 1 versions are done",
    }
    assert err == f"motif: interrupted; {done[step]}; the same command goes on\n"
    assert (code, out) == (130, "")
    assert step == "sampling" or took < 10
    check_readable(folder / "v0" / "samples")
    assert not (folder / "v0" / "summary.json").exists()
