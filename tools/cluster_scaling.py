"""Measure the cost of a label on a cluster with 1, 2 and 4 workers on this machine.

`make cluster-scaling` runs it in a few minutes on an idle machine, and writes the figures into
docs/how-to/cluster.md.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil

from motif.evaluators import load_static
from motif.evaluators.static import filtered
from motif.runtime.layout import percent
from motif.runtime.parallel import run_ordered, worker_count, working_on
from motif.sampling.dataset import Dataset
from motif.sampling.dataset_files import DatasetPart, write_manifest, write_part
from motif.sampling.sample import SampleSettings, sample, sample_games
from tools.import_graph import ROOT
from tools.local_cluster import Machines, machines
from tools.marked_page import write_region
from tools.relay import relay

PAGE = ROOT / "docs" / "how-to" / "cluster.md"
REGION = "scaling"
WORKERS = (1, 2, 4)
LARGE_PART = 50_000
"""Number of labels in a part of a large dataset."""
WANTED = 50_000_000
"""Number of labels in a run that is too large for one machine."""
CORES = (2, 16, 64, 256)
_FREE_PARTS = 64
PLAYER = "motif-v1"


def settings(games: int) -> SampleSettings:
    """Return the settings of a run, as in a preset."""
    return SampleSettings(
        player=PLAYER,
        games=games,
        trials=12,
        rate=0.06,
        crashed_rate=0.4,
        race_rate=0.04,
        candidates=8,
        noise=0.1,
        cut=10,
        stop_at_race=True,
        seed=1,
    )


@dataclass(frozen=True)
class Measured:
    """Figures of one run."""

    who: str
    labels: int
    seconds: float
    client: float
    """Processor seconds of the client, which writes the dataset."""
    scheduler: float
    scheduler_bytes: int
    """Memory of the scheduler at the end."""
    worker_bytes: int
    """Memory of the largest worker at the end."""
    disk: int = 0

    @property
    def rate(self) -> float:
        """Labels per second."""
        return self.labels / self.seconds

    def row(self, first: "Measured") -> str:
        """Row of the table."""
        cells = (
            self.who,
            f"{self.rate:,.0f}",
            f"{self.rate / first.rate:.2f}",
            f"{1e6 * self.client / self.labels:.1f}",
            f"{1e6 * self.scheduler / self.labels:.1f}" if self.scheduler else "",
            f"{self.scheduler_bytes / 1e6:.0f}" if self.scheduler_bytes else "",
            f"{self.worker_bytes / 1e6:.0f}" if self.worker_bytes else "",
        )
        return f"| {' | '.join(cells)} |"


class _Meter:
    """Costs of the client and of a cluster since its start."""

    def __init__(self, cluster: Machines | None) -> None:
        processes = (cluster.scheduler, *cluster.workers) if cluster else ()
        self._processes = [psutil.Process(process.pid) for process in processes]
        self._begin = self._spent()

    def _spent(self) -> tuple[float, float, float]:
        """Return the time, and processor seconds of the client and the scheduler."""
        used = [process.cpu_times() for process in self._processes[:1]]
        return time.monotonic(), time.process_time(), sum(times.user + times.system for times in used)

    def measured(self, who: str, labels: int) -> Measured:
        """Return the figures of a run that made a number of `labels`."""
        seconds, client, passing = (now - then for now, then in zip(self._spent(), self._begin, strict=True))
        scheduler, *workers = [process.memory_info().rss for process in self._processes] or [0]
        return Measured(who, labels, seconds, client, passing, scheduler, max(workers, default=0))


def measured(who: str, games: int, cluster: Machines | None, jobs: int | None = None) -> Measured:
    """Measure one run of `games`, on `cluster` or on this machine."""
    with tempfile.TemporaryDirectory() as name, working_on(cluster.address if cluster else None):
        sample(settings(64), Path(name) / "warm", jobs=jobs)  # every worker has its kernels
        meter = _Meter(cluster)
        run = meter.measured(who, sample(settings(games), Path(name) / "samples", jobs=jobs).positions)
        return replace(run, disk=sum(path.stat().st_size for path in (Path(name) / "samples").iterdir()))


def passed_on(parts: int) -> Measured:
    """Measure only the client and the scheduler, with large `parts` that need no computing."""
    few = replace(settings(1500), trials=1)
    samples = sample_games(few, filtered(load_static(PLAYER)).model, 0, few.games)
    # Random, so that a compressor finds no repetition.
    large = samples[np.random.default_rng(1).integers(len(samples), size=LARGE_PART)]
    with tempfile.TemporaryDirectory() as name, machines(2) as cluster, working_on(cluster.address):
        for _ in run_ordered(partial(_ready, large), [(0,)]):
            meter = _Meter(cluster)
        whole: list[DatasetPart] = []
        for number, made in enumerate(run_ordered(partial(_ready, large), ((k,) for k in range(parts)))):
            whole.append(write_part(Path(name), number, made.columns(), {}))
            write_manifest(Path(name), {}, whole, complete=False)
        return meter.measured("parts without computing", parts * LARGE_PART)


def _ready(samples: Dataset, number: int) -> Dataset:
    """Return a finished part from a worker."""
    return samples


def moved(games: int) -> tuple[float, float]:
    """Return the bytes per label that the client sends and receives."""
    with (
        tempfile.TemporaryDirectory() as name,
        machines(2) as cluster,
        relay(cluster.address) as between,
        working_on(between.address),
    ):
        sent, received = between.sent, between.received
        labels = sample(settings(games), Path(name) / "samples").positions
        return (between.sent - sent) / labels, (between.received - received) / labels


def report(games: int, say: Callable[[str], None]) -> str:
    """Return the figures as Markdown."""
    runs = []
    for jobs in (1, worker_count(None)):
        say(f"this machine, --jobs {jobs}")
        runs.append(measured(f"`--jobs {jobs}`", games, None, jobs))
    for workers in WORKERS:
        say(f"a cluster of {workers}")
        with machines(workers) as cluster:
            runs.append(measured(f"{workers} workers" if workers > 1 else "1 worker", games, cluster))
    say("bytes moved")
    sent, received = moved(games)
    say("parts without computing")
    free = passed_on(_FREE_PARTS)
    one, labels = runs[2], runs[2].labels
    disk = one.disk / labels
    cost, passing = free.client / free.labels, free.scheduler / free.labels
    lines = [
        f"{games:,} games of `{PLAYER}`, {labels:,} labels of 12 trials, {worker_count(None)} cores, "
        f"load {psutil.getloadavg()[0]:.1f} at the end:",
        "",
        "| workers | labels per second | against 1 job | client, µs per label | scheduler, µs per label "
        "| scheduler, MB | worker, MB |",
        "|---|---|---|---|---|---|---|",
        *(run.row(runs[0]) for run in (*runs, free)),
        "",
        f"The runs have small parts of {labels // 64} labels, each with some overhead; the last line is for "
        f"{_FREE_PARTS} parts of {LARGE_PART:,} labels, as in a large dataset, that workers send "
        "without computing anything. The plan below uses the costs of that line.",
        "",
        f"A label takes {received:.0f} bytes on its way to the client and {disk:.0f} on disk; the client "
        f"sends {sent:.1f} bytes per label, mostly the weights, which are sent once.",
        "",
        f"For {WANTED // 10**6} million labels: {WANTED * received / 1e9:.1f} GB received, "
        f"{WANTED * disk / 1e9:.1f} GB on disk, {WANTED / one.rate / 3600:.1f} core hours.",
        "",
        "| cores like these | hours | labels per second | network, MB/s | client's core | scheduler's core |",
        "|---|---|---|---|---|---|",
    ]
    for cores in CORES:
        rate = cores * one.rate
        lines.append(
            f"| {cores} | {WANTED / rate / 3600:.2g} | {rate:,.0f} | {rate * received / 1e6:.1f} "
            f"| {percent(rate * cost)} | {percent(rate * passing)} |"
        )
    limit = min(1 / cost, 1 / passing)
    lines += [
        "",
        f"With one core each, the client can write {1e-3 / cost:,.0f} thousand labels per second and the "
        f"scheduler can pass on {1e-3 / passing:,.0f} thousand: the "
        f"{'client' if cost >= passing else 'scheduler'} would "
        f"be the limit, at about {limit / one.rate:,.0f} such cores.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the figures into the page."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    load_static(PLAYER)
    text = report(games, lambda line: print(line, file=sys.stderr, flush=True))
    print(text)
    write_region(PAGE, REGION, text.splitlines())


if __name__ == "__main__":
    main()
