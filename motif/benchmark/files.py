"""GNUbg benchmark files: decisions with the cost of each listed play, and how they were rolled out.

One line each, the first word says which kind:

``m KEY d1 d2 BEST EQUITY SECOND LOSS THIRD LOSS ...``
    A decision.  Positions after the play are seen by the next player on roll; EQUITY is the mover's,
    cubeless money; LOSS is what the play loses against the best.
``#R KEY p p p p p``
    The rollout of one of the plays of the next decision, by the position after it.
``o KEY p p p p p``
    The rollout of a position.  gnubg's own measure decides double and take with it at many scores:
    these are the cube decisions.
``c KEY NO_DOUBLE DOUBLE_TAKE ACTION``
    A rollout with the cube: match chances in per cent, and ND, D/T, D/D (drop) or TG (too good).
``r SEED``
    The random seed of the next decision or position.
``s NAME VALUE NAME VALUE ...``
    How the program that wrote the file was set.

KEY is a 20-letter key (`motif.board.identifiers`); the five ``p`` are the probabilities of the player
on roll there, in the usual order.  All other lines are kept as they are, comments (``#``) and the
commands ``e``, ``O`` and ``b`` of the same program among them.  Names ending in .gz are read as gzip.

Source: gnubg-nn, in whose sa/main.cc the program `sagnubg` writes these lines and explains them, and
whose scripts/benchmark/perr.py measures a player with them.
"""

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from motif.benchmark.line_kinds import BadLineError, Lines, raise_at_first
from motif.benchmark.records import Record
from motif.board.position import Board
from motif.runtime.errors import BenchmarkError


@dataclass(frozen=True)
class BenchmarkFile:
    """The decisions of a file, in order."""

    path: str
    boards: Board
    """Before the roll (n, 26)."""
    rolls: npt.NDArray[np.int64]
    """(n, 2), the higher die first."""
    offsets: npt.NDArray[np.int64]
    """(n + 1,): the listed plays of decision k are rows offsets[k]:offsets[k + 1]."""
    listed: Board
    """Boards after the listed plays (m, 26), the best one first."""
    losses: npt.NDArray[np.float64]
    """(m,): what each loses, in points; 0 for the best."""
    record: Record | None = None
    """What else the file holds; None where the decisions come from no file."""

    def __len__(self) -> int:
        return len(self.boards)


def read_benchmark(path: Path | str) -> BenchmarkFile:
    """Read a benchmark file; raises `BenchmarkError` naming the file and the line."""
    path = Path(path)
    lines = Lines()
    number = 0
    opener: Callable[..., IO[str]] = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="ascii") as handle:
            for number, line in enumerate(handle, 1):
                lines.add(line, number)
        if not lines.counts:
            raise BenchmarkError(f"{path}: holds no decision (no line that starts with 'm')")
        return _benchmark(str(path), lines)
    except BadLineError as fault:
        raise BenchmarkError(f"{path}: line {fault.line or number}: {fault}") from None
    except FileNotFoundError:
        raise BenchmarkError(f"{path}: no such benchmark file") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{path}: cannot be read: {error}") from None


def _benchmark(path: str, lines: Lines) -> BenchmarkFile:
    decisions = lines.decisions
    numbers = np.array(decisions.lines, np.int64)
    boards = decisions.boards()
    over = ~((boards > 0).any(axis=1) & (boards < 0).any(axis=1))
    raise_at_first(over, numbers, "no decision: the game is over")
    offsets = np.concatenate([[0], np.cumsum(lines.counts, dtype=np.int64)])
    losses = np.array(decisions.numbers, np.float64)
    equities = losses[offsets[:-1]]
    losses[offsets[:-1]] = 0.0
    play_lines = np.repeat(numbers, lines.counts)
    raise_at_first(~np.isfinite(equities), numbers, "an equity is not a finite number")
    raise_at_first(~np.isfinite(losses), play_lines, "a loss is not a finite number")
    raise_at_first(losses < 0, play_lines, "a loss is below 0: the first play is not the best")
    record = Record(
        numbers,
        equities,
        np.array(decisions.seeds, np.int64),
        lines.rollouts.rolled_out(),
        np.array(lines.rollout_of, np.int64),
        lines.cube_positions.rolled_out(),
        lines.cube(),
        tuple(lines.notes),
    )
    rolls = np.array(lines.rolls, np.int64)
    return BenchmarkFile(path, boards, rolls, offsets, lines.listed_boards(), losses, record)
