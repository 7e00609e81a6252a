"""A run killed repeatedly at any point resumes to the same bytes as one that was never stopped."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from motif.cli.main import main
from tests.faults.made_runs import bootstrapping, check_readable, files_below, sampling, unlike
from tests.faults.processes import Stop, done, ending, living, running, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in files_below(folder)}


def kill(process: subprocess.Popen, folder: Path, alone: bool) -> None:
    """Kill the whole group, or only the first process, whose workers must end without writing."""
    if not alone:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return
    process.kill()
    process.wait()
    left = contents(folder)
    wait_until(lambda: not living(process.pid))
    assert contents(folder) == left


FLUSHES = "os:fsync"
"""Called twice for every file: when it is complete under its temporary name, and when it has been renamed."""
PART = "motif.sampling.sample:sample_games"
GAME = "motif.sampling.sample:check_stop"
PAIRS = "motif.contests.pairs:play_pairs"
CHECKSUM = "motif.sampling.dataset_files:checksum"
"""Called for a part that has been renamed and is not in the manifest yet."""
OF_SAMPLING = {FLUSHES: 24, PART: 4, GAME: 4, CHECKSUM: 6}
OF_A_RUN = {
    **OF_SAMPLING,
    PAIRS: 2,
    "motif.learning.fit:fit_dataset": 1,
    "motif.reports.run_report:draw_run": 1,
}
OF_A_TOURNAMENT = {PAIRS: 3, FLUSHES: 2}
"""Points, each with the maximum number of times that a process has reached it when it is killed."""


class Moments:
    """Moments at which processes are killed."""

    def __init__(self, points: dict[str, int], folder: Path, seed: int) -> None:
        self._points, self._folder = points, folder
        self._chance = random.Random(seed)
        self.passed = 0
        """Number of moments so far, including those that no process reached."""

    def next(self) -> Stop:
        """Return the next point at which the processes of a command stop."""
        point = self._chance.choice(list(self._points))
        self.passed += 1
        number = self._chance.randint(1, self._points[point])
        return Stop(self._folder / f"stop-{self.passed}", point, number)

    def alone(self) -> bool:
        """Return whether only the first process is killed."""
        return self._chance.random() < 0.3


def has_come(stop: Stop, process: subprocess.Popen) -> bool:
    """Wait until a process of the command reaches the point; false if the command ends first."""
    wait_until(lambda: stop.reached or process.poll() is not None)
    return process.poll() is None


def finished(folder: Path) -> dict[Path, int]:
    """Return the modification times of the files that no later run may lose or rewrite.

    These are the parts listed in a manifest, and all files of a finished version of a run.
    """
    parts = [
        manifest.parent / part["name"]
        for manifest in (folder / "_manifest.json", *folder.glob("v?/samples/_manifest.json"))
        if manifest.exists()
        for part in json.loads(manifest.read_text())["parts"]
    ]
    weights = [summary.parent / "weights.yaml" for summary in folder.glob("v?/summary.json")]
    return {path: path.stat().st_mtime_ns for path in (*parts, *weights)}


def killed_again_and_again(tmp_path: Path, command, points: dict[str, int], kills: int, seed: int) -> None:
    """Kill and resume `command` repeatedly; check that the result is that of an undisturbed run."""
    whole, moments = tmp_path / "a" / "whole", Moments(points, tmp_path, seed)
    assert main([*map(str, command(whole)), "--jobs", "1"]) == 0
    killed = 0
    folder, kept = tmp_path / "b" / "0", dict[Path, int]()
    while killed < kills or folder.exists():
        # After enough kills, the run may finish.
        stop = moments.next() if killed < kills else None
        with running(*command(folder), stop=stop) as process:
            if stop is not None and has_come(stop, process):
                kill(process, folder, alone=moments.alone())
                killed += 1
                for samples in (folder, *folder.glob("v?/samples")):
                    check_readable(samples)
                assert kept.items() <= finished(folder).items()
                kept = finished(folder)
                continue
            code, _, err = ending(process)
        assert code == 0, err
        assert kept.items() <= finished(folder).items()
        assert unlike(folder, whole) == []
        shutil.rmtree(folder)
        folder, kept = tmp_path / "b" / str(moments.passed), {}


def test_sampling_killed_a_few_times(tmp_path):
    killed_again_and_again(tmp_path, sampling, OF_SAMPLING, 2, seed=1)


@pytest.mark.slow
def test_sampling_killed_often(tmp_path):
    killed_again_and_again(tmp_path, sampling, OF_SAMPLING, 24, seed=2)


@pytest.mark.slow
def test_bootstrap_killed_often(tmp_path):
    killed_again_and_again(tmp_path, bootstrapping, OF_A_RUN, 16, seed=3)


@pytest.mark.slow
def test_tournament_killed_often(tmp_path):
    """A tournament writes only its plot, which is either the old or the new plot."""
    path, moments = tmp_path / "ratings.svg", Moments(OF_A_TOURNAMENT, tmp_path, seed=4)
    words = ("tournament", "pubeval", "bras", "simple", "--games", 60, "--jobs", 2, "--json", "--plot", path)
    whole = done(*words)
    plot, killed = path.read_bytes(), 0
    assert whole[0] == 0
    while killed < 10:
        path.write_text("an older plot")
        with running(*words, stop=(stop := moments.next())) as process:
            if has_come(stop, process):
                kill(process, tmp_path, alone=moments.alone())
                killed += 1
                assert path.read_bytes() in (b"an older plot", plot)
                continue
            assert ending(process) == whole
        assert path.read_bytes() == plot
    assert done(*words) == whole
    assert path.read_bytes() == plot
