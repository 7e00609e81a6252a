"""Killed at any moment, again and again, a run resumes to the bytes of one that was never stopped."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.made_runs import bootstrapping, check_readable, files_below, sampling, unlike
from tests.faults.processes import done, living, running, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in files_below(folder)}


def kill(process: subprocess.Popen, folder: Path, alone: bool) -> None:
    """Kill the whole group, or the first process alone, whose workers must end without writing."""
    if not alone:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return
    process.kill()
    process.wait()
    left = contents(folder)
    wait_until(lambda: not living(process.pid))
    assert contents(folder) == left


def killed_again_and_again(tmp_path: Path, command, kills: int, seed: int) -> None:
    """Kill `command` after random times, from its very start to its end, and resume each time."""
    whole, chance = tmp_path / "a" / "whole", random.Random(seed)
    started = time.monotonic()
    assert done(*command(whole))[0] == 0
    life = time.monotonic() - started
    killed = finished = 0
    folder = tmp_path / "b" / "0"
    while killed < kills or folder.exists():
        with running(*command(folder)) as process:
            try:
                # Runs that were killed often enough are let finish.
                process.wait(chance.uniform(0, 1.1 * life) if killed < kills else None)
            except subprocess.TimeoutExpired:
                kill(process, folder, alone=chance.random() < 0.3)
                killed += 1
                for samples in (folder, *folder.glob("v?/samples")):
                    check_readable(samples)
                continue
            assert process.returncode == 0, process.communicate()
        assert unlike(folder, whole) == []
        shutil.rmtree(folder)
        finished += 1
        folder = tmp_path / "b" / str(finished)
    assert finished >= 1


def test_sampling_killed_a_few_times(tmp_path):
    killed_again_and_again(tmp_path, sampling, 4, seed=1)


@pytest.mark.slow
def test_sampling_killed_often(tmp_path):
    killed_again_and_again(tmp_path, sampling, 30, seed=2)


@pytest.mark.slow
def test_bootstrap_killed_often(tmp_path):
    killed_again_and_again(tmp_path, bootstrapping, 20, seed=3)
