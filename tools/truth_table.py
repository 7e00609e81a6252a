"""Make tables from the rollout-truth set: error rates, and paired differences between players.

The best of several plays by noisy rollouts looks better than it is, so losses against it are too high. If one
roller's trials determine the best play and the other's the losses, no noise is shared: such losses are too
low only by the errors of the first roller. The two rates enclose the true one. Differences between players
need no best play.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motif.benchmarks.benchmark_files import read_benchmark
from motif.benchmarks.losses import mean_in_millipoints
from motif.board.identifiers import position_key
from motif.board.position import Position
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import BenchmarkError

REGION = "rollout truth"


@dataclass(frozen=True)
class Truth:
    """The n decisions of a class, and the players' losses in them."""

    name: str
    players: tuple[str, ...]
    losses: FloatArray
    """(players, n): losses against the best play, in points."""
    by_roller: FloatArray
    """(rollers, players, n): the same by the trials of each roller alone."""
    crossed: FloatArray
    """(players, n): loss by one roller's trials against the other's best play; mean of both ways."""
    rollers: tuple[str, ...]
    trials: IntArray
    """(rollers,): trials of all plays together."""
    rolled: int
    """Decisions that were rolled out; in the others all players agree."""
    plays: int
    """Number of plays rolled out."""
    seconds: float
    """Seconds of computing, summed over all processes."""

    def __len__(self) -> int:
        return self.losses.shape[1]


def read_truth(path: Path) -> Truth:
    """Read a file of the set; raises `BenchmarkError` if the players' choices are missing."""
    benchmark = read_benchmark(path)
    record = benchmark.record
    assert record is not None
    keys = [position_key(Position(board)) for board in benchmark.listed]
    rows = [slice(*ends) for ends in zip(benchmark.offsets, benchmark.offsets[1:], strict=False)]
    notes = [(note.text.split(), int(np.searchsorted(record.lines, note.line))) for note in record.notes]
    place = {
        (decision, keys[k]): k for decision, part in enumerate(rows) for k in range(part.start, part.stop)
    }
    players, rollers = (tuple(record.settings.get(what, "").split(",")) for what in ("players", "rollers"))
    if len(players) < 2 or len(rollers) != 2:
        raise BenchmarkError(f"{path}: lacks the players' choices or the two rollers")
    chosen = np.full((len(players), len(benchmark)), -1)
    trials, alone = np.zeros((2, len(keys)), np.int64), np.zeros((2, len(keys)))
    for words, decision in notes:
        if words[0] == "#P":
            for name in words[2:]:
                chosen[players.index(name), decision] = place[decision, words[1]]
        elif words[0] == "#S":
            k = place[decision, words[1]]
            trials[:, k], alone[:, k] = (
                [int(word) for word in words[5::2]],
                [float(word) for word in words[6::2]],
            )
    if (chosen < 0).any():
        raise BenchmarkError(f"{path}: a decision lacks the choice of a player")
    crossed = np.zeros(len(keys))
    for part in rows:
        for one, other in ((0, 1), (1, 0)):
            best = part.start + int(np.argmin(alone[one, part]))
            crossed[part] += (alone[other, part] - alone[other, best]) / 2
    return Truth(
        path.name.partition(".")[0],
        players,
        benchmark.losses[chosen],
        alone[:, chosen],
        crossed[chosen],
        rollers,
        trials.sum(axis=1),
        sum(part.stop - part.start > 1 for part in rows),
        int(sum(part.stop - part.start for part in rows if part.stop - part.start > 1)),
        float(record.settings.get("seconds", "nan")),
    )


def table(truths: Sequence[Truth]) -> list[str]:
    """Return the lines of the page's tables."""
    return [*_cost(truths), "", *_rates(truths), "", *_differences(truths)]


def _cost(truths: Sequence[Truth]) -> Iterator[str]:
    counts = ", ".join(f"{len(truth):,} {truth.name} ({truth.rolled:,} rolled out)" for truth in truths)
    trials = np.sum([truth.trials for truth in truths], axis=0)
    names = truths[0].rollers
    yield f"Decisions: {counts}."
    yield (
        f"{sum(truth.plays for truth in truths):,} plays, {trials[0]:,} trials by `{names[0]}` and "
        f"{trials[1]:,} luck-adjusted ones by `{names[1]}`: "
        f"{sum(truth.seconds for truth in truths) / 3600:.1f} hours of one process, choices included."
    )


def _rates(truths: Sequence[Truth]) -> Iterator[str]:
    yield _row("player", [f"{truth.name}, at most | at least" for truth in truths])
    yield _rule(2 * len(truths))
    for player in truths[0].players:
        yield _row(
            f"`{player}`",
            [
                " | ".join(
                    _figure(values[truth.players.index(player)]) for values in (truth.losses, truth.crossed)
                )
                for truth in truths
            ],
        )


def pairs(players: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs to compare.

    These are each lookahead of the newest version with the next shallower one, and with other engines'.
    """
    own = [name for name in players if name.startswith("motif") and "@" not in name][-1]
    wanted = [
        *((f"{own}@1", own), (f"{own}@2", f"{own}@1"), (f"{own}@3", f"{own}@2")),
        *(("gnubg@1", "gnubg"), ("gnubg@2", "gnubg@1")),
        *(("gnubg", own), ("wildbg", own), ("bgsage", own)),
        *(
            ("gnubg@2", f"{own}@2"),
            ("gnubg@2", f"{own}@3"),
            ("bgsage@2", f"{own}@3"),
            ("bgsage@2", "gnubg@2"),
        ),
    ]
    return [(one, other) for one, other in wanted if one in players and other in players]


def _differences(truths: Sequence[Truth]) -> Iterator[str]:
    columns: list[tuple[str, Truth, Callable[[Truth], FloatArray]]] = [
        (one.name, one, lambda truth: truth.losses) for one in truths
    ]
    first = truths[0]
    columns += [
        (f"{first.name}, by {first.rollers[0]} alone", first, lambda truth: truth.by_roller[0]),
        (f"{first.name}, by {first.rollers[1]} alone", first, lambda truth: truth.by_roller[1]),
    ]
    yield _row("difference", [name for name, _, _ in columns])
    yield _rule(len(columns))
    for one, other in pairs(first.players):
        cells = []
        for _, truth, losses in columns:
            values = losses(truth)
            cells.append(
                _figure(values[truth.players.index(one)] - values[truth.players.index(other)], sign="+")
            )
        yield _row(f"`{one}` minus `{other}`", cells)


def _figure(losses: FloatArray, sign: str = "") -> str:
    mean, error = mean_in_millipoints(losses)
    return f"{mean:{sign}.2f} ± {error:.2f}"


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join([name, *cells])} |"


def _rule(columns: int) -> str:
    return f"|---{'|---:' * columns}|"
