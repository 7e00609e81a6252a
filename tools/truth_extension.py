"""Add a version of motif to the rollout-truth set.

``python -m tools.truth_extension latest data/bench/rollout-truth`` lets the version and its lookahead
choose in every decision. Where a choice is not among the plays rolled out, all plays of the decision are
rolled out again together with it, by the version and gnubg. All other lines remain as they are. The same
command continues an interrupted extension with the files that remain.
"""

import argparse
import gzip
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from motif.benchmarks.benchmark_files import by_play, keyed_decision, read_benchmark, write_lines
from motif.benchmarks.choices import player_choices
from motif.benchmarks.roller_rollouts import rolled_plays
from motif.board.identifiers import boards_from_keys, position_key
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators.known_players import own_name
from motif.players import load
from motif.runtime.parallel import run_ordered
from tools.marked_page import reporting
from tools.rollout_truth import SHARES
from tools.truth_decision import RULES, rollers

_PLIES = ("", "@1", "@2", "@3")


@dataclass
class _Decision:
    """The lines of a decision, and the key of each player's choice."""

    lines: list[str]
    choices: dict[str, str]

    @property
    def plays(self) -> list[str]:
        """Keys of the listed plays, best first."""
        return self.lines[-1].split()[4::2]

    def renewed(self) -> list[str]:
        """Return the lines with all choices."""
        rolled = [line for line in self.lines[:-1] if not line.startswith("#P")]
        chosen = [" ".join(("#P", key, *names)) for key, names in by_play(self.choices).items()]
        return [*rolled, *chosen, self.lines[-1]]


def extend(path: Path, own: str, jobs: int) -> None:
    """Add the choices of `own` to a file of the set, unless it has them already."""
    benchmark = read_benchmark(path)
    assert benchmark.record is not None
    settings = dict(benchmark.record.settings)
    players = [own + plies for plies in _PLIES]
    if set(players) & set(settings["players"].split(",")):
        print(f"{path.name}: has {own} already", file=sys.stderr)
        return
    decisions = list(_decisions(path))
    for name in players:
        after = player_choices(load(name), benchmark, jobs=jobs).chosen
        for decision, board in zip(decisions, after, strict=True):
            decision.choices[name] = position_key(Position(board))
    new = [k for k, one in enumerate(decisions) if not set(one.choices.values()) <= set(one.plays)]
    roll = partial(_rolled_again, own, path.name.partition(".")[0], int(settings["seed"]))
    start = time.monotonic()
    calls = ((k, benchmark.boards[k], benchmark.rolls[k].tolist(), decisions[k].choices) for k in new)
    for count, (k, lines) in enumerate(zip(new, run_ordered(roll, calls, jobs), strict=True), 1):
        decisions[k].lines = lines
        print(f"{path.name}: {count} of {len(new)}, {time.monotonic() - start:.0f} s", file=sys.stderr)
    one, other = settings["rollers"].split(",")
    spent = round(float(settings["seconds"]) + jobs * (time.monotonic() - start))
    settings |= {
        "rollers": f"{one}/{own},{other}",
        "players": ",".join([settings["players"], *players]),
        "rerolled": str(int(settings.get("rerolled", 0)) + len(new)),
        "seconds": str(spent),
    }
    write_lines(path, settings, (line for decision in decisions for line in decision.renewed()))


def _decisions(path: Path) -> Iterator[_Decision]:
    """Yield the decisions of a file."""
    lines = gzip.decompress(path.read_bytes()).decode("ascii").splitlines()[1:]
    ends = [row + 1 for row, line in enumerate(lines) if line.startswith("m ")]
    for start, end in pairwise([0, *ends]):
        listed = lines[start:end]
        words = [line.split() for line in listed if line.startswith("#P")]
        yield _Decision(listed, {name: key for _, key, *names in words for name in names})


def _rolled_again(
    own: str,
    class_name: str,
    seed: int,
    number: int,
    before: Board,
    roll: Sequence[int],
    choices: dict[str, str],
) -> list[str]:
    """Roll out every chosen play of a decision; runs in a worker."""
    keys = list(dict.fromkeys(choices.values()))
    after = boards_from_keys(keys)
    plays = rolled_plays(rollers(own, class_name, seed), pack_many(after), number, RULES[class_name])
    rows = {name: keys.index(key) for name, key in choices.items()}
    return list(keyed_decision(before, roll, after, plays, rows).lines())


@reporting
def main(arguments: Sequence[str] | None = None) -> None:
    """Add a version to every file of the set."""
    parser = argparse.ArgumentParser(
        prog="tools.truth_extension", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("own", help="static player, such as latest")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    for name in SHARES:
        extend(options.folder / f"{name}.bm.gz", own_name(options.own), options.jobs)


if __name__ == "__main__":
    sys.exit(main())
