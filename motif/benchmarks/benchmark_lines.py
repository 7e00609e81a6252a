"""Writing of benchmark files; `benchmark_files` describes and reads them.

Motif adds two kinds of lines, which other programs treat as comments:

``#S KEY EQUITY SE LOSS_SE TRIALS LOSS ...``
    After the rollout (``#R``) of a play: its equity for the mover, the standard errors of the equity and
    the loss, and for each roller its trials and the loss by these trials only.
``#P KEY PLAYER ...``
    The players that choose the play.
"""

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motif.benchmarks.verdict import RolledPlay
from motif.board.identifiers import position_key
from motif.board.packed import Board
from motif.board.position import Position
from motif.evaluators.probabilities import turned
from motif.runtime.files import replacing

_DIGITS = 7
_ROUND = 6


@dataclass(frozen=True)
class RolledDecision:
    """A decision whose plays were rolled out."""

    key: str
    """Key of the position before the roll."""
    roll: tuple[int, int]
    """The higher die first."""
    plays: tuple[tuple[str, RolledPlay], ...]
    """Keys of the positions after the plays, with their rollouts, best first."""
    chosen_by: Mapping[str, tuple[str, ...]]
    """Players that choose a play, by its key."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the decision."""
        for key, play in self.plays:
            if any(play.trials):
                # Probabilities of the player on roll; luck-adjusted ones may be outside 0 to 1.
                chances = turned(np.array([play.probabilities])).clip(0, 1)[0]
                yield " ".join(("#R", key, *map(_number, chances.tolist())))
                yield " ".join(("#S", key, *map(_number, (play.equity, play.se, play.loss_se)), *_by(play)))
        for key, players in self.chosen_by.items():
            yield " ".join(("#P", key, *players))
        words = [
            f"{key} {_number(play.loss if number else play.equity)}"
            for number, (key, play) in enumerate(self.plays)
        ]
        yield f"m {self.key} {self.roll[0]} {self.roll[1]} {' '.join(words)}"


def keyed_decision(
    before: Board,
    roll: Sequence[int],
    after: Board,
    plays: Iterable[RolledPlay],
    choices: Mapping[str, int],
) -> RolledDecision:
    """Return a decision with positions as keys, from the board (26,) before the `roll`, the higher die first.

    `plays`, best first, and the `choices` of the players contain row numbers of the boards `after` (m, 26).
    """
    keys = [position_key(Position(board)) for board in after]
    chosen = by_play({player: keys[number] for player, number in choices.items()})
    named = tuple((keys[play.number], play) for play in plays)
    return RolledDecision(position_key(Position(before)), (int(roll[0]), int(roll[1])), named, chosen)


def by_play(choices: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the players that choose each play, from the key of each player's play."""
    chosen: dict[str, tuple[str, ...]] = {}
    for player, key in choices.items():
        chosen[key] = (*chosen.get(key, ()), player)
    return chosen


def write_benchmark(path: Path, settings: Mapping[str, object], decisions: Iterable[RolledDecision]) -> None:
    """Write a benchmark file, compressed if its name ends in .gz.

    `settings` are written to the first line, ``s``: names and values must not contain spaces.  Raises
    `FileError`, leaving an existing file unchanged, if the file cannot be written.
    """
    write_lines(path, settings, (line for decision in decisions for line in decision.lines()))


def write_lines(path: Path, settings: Mapping[str, object], lines: Iterable[str]) -> None:
    """Write a benchmark file of `lines` as `write_benchmark` does."""
    first = " ".join(("s", *(f"{name} {value}" for name, value in settings.items())))
    text = "\n".join((first, *lines, ""))
    content = text.encode("ascii")
    with replacing(path) as temporary:
        # Without a time stamp, so that equal contents give equal files.
        temporary.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def _by(play: RolledPlay) -> Iterator[str]:
    for trials, loss in zip(play.trials, play.loss_by, strict=True):
        yield f"{trials} {_number(loss)}"


def _number(value: float) -> str:
    return f"{round(value, _ROUND):.{_DIGITS}g}"
