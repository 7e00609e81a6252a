"""Memory of a fit to a large dataset, over all processes, with shared pages counted once."""

import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from motif.sampling.dataset import read_dataset
from motif.sampling.sample import SampleSettings
from tests.learning.stored import stored
from tests.sampling.folders import made

ROOT = Path(__file__).parents[2]
PROC = Path("/proc")
GAMES = SampleSettings(player="simple", games=200, trials=2, rate=0.25, noise=0.05, cut=4)
MILLION = 1_000_000
MAX_BYTES = 2_000_000_000


def process_tree(root: int) -> list[int]:
    children = defaultdict(list)
    for path in PROC.glob("[0-9]*/stat"):
        try:
            after_name = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(after_name[1])].append(int(path.parent.name))
    found = [root]
    for process in found:
        found += children[process]
    return found


def proportional_bytes(process: int) -> int:
    """Memory of a process; a page that k processes share counts as 1/k."""
    try:
        lines = (PROC / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def peak_of_fit(folder: Path, out: Path, jobs: int) -> int:
    """Peak memory in bytes of ``motif fit`` to `folder` and its workers."""
    command = [sys.executable, ROOT / "cli.py", "fit", folder, "--out", out, "--jobs", str(jobs), "--json"]
    peak = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(proportional_bytes, process_tree(process.pid))))
            time.sleep(0.1)
    assert process.returncode == 0
    return peak


@pytest.mark.slow
@pytest.mark.skipif(not (PROC / "self" / "smaps_rollup").exists(), reason="only Linux says what is shared")
def test_a_million_positions_fit_into_two_gigabytes(tmp_path):
    samples = read_dataset(made(tmp_path / "games", GAMES))
    times = -(-MILLION // len(samples))
    folder = stored(tmp_path / "million", samples, 15_000, times)
    peak = peak_of_fit(folder, tmp_path / "weights.yaml", jobs=2)
    figures = f"{peak / 1e6:.0f} MB for {times * len(samples)} positions"
    print(figures)
    assert peak < MAX_BYTES, figures
