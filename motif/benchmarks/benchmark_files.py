"""GNUbg benchmark files: decisions with the loss of each listed play, and their rollouts.

The first word of a line determines its kind:

``m KEY d1 d2 BEST EQUITY SECOND LOSS THIRD LOSS ...``
    A decision. Positions after the play are from the perspective of the next player on roll; EQUITY is the
    mover's cubeless money equity, LOSS the difference from the best play.
``o KEY p p p p p``, ``c KEY NO_DOUBLE DOUBLE_TAKE ACTION``
    The rollout of a position for cube decisions, cubeless or cubeful. Only counted.
``#R KEY p p p p p``
    The rollout of the position after a play of the next decision.
``s NAME VALUE NAME VALUE ...``
    Settings of the program that wrote the file.
``#S KEY EQUITY SE LOSS_SE TRIALS LOSS ...``
    Written by motif after the rollout (``#R``) of a play: its equity for the mover, the standard errors of
    the equity and the loss, and for each roller its trials and the loss by these trials only.
``#P KEY PLAYER ...``
    Written by motif: the players that choose the play. Other programs take these two for comments.

KEY is a 20-letter key (`motif.board.identifiers`); the five ``p`` are the probabilities of the player on
roll, in the usual order.  All lines but decisions are kept unchanged, including comments (``#``) and the
commands ``b``, ``e``, ``O`` and ``r``.  Files ending in .gz are decompressed.

Source: gnubg-nn, whose program `sagnubg` (sa/main.cc) writes these lines and whose scripts/benchmark/perr.py
measures players with them.  A source checkout contains such files in `data/bench/`.
"""

import gzip
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from motif.benchmarks.roller_rollouts import RolledPlay
from motif.board.identifiers import boards_of_lines, position_key
from motif.board.packed import Board
from motif.board.position import Position
from motif.evaluators.probabilities import switch_sides
from motif.runtime.arrays import FloatArray, IntArray, slices
from motif.runtime.errors import BenchmarkError, plain_text, shown
from motif.runtime.files import content_of, replacing
from motif.runtime.limits import (
    BENCHMARK_FILE,
    BENCHMARK_LINE,
    BENCHMARK_LINES,
    BENCHMARK_UNPACKED,
    lines_within,
)

_CUBE_LINES = ("o", "c")
_DICE = frozenset("123456")
_KEYS_AT_ONCE = 4096
_DIGITS, _ROUND = 7, 6
"""Significant digits and decimals of written numbers."""
_CHECKOUT = Path(__file__).resolve().parent.parent.parent


class Note(NamedTuple):
    """A line that is not a decision."""

    line: int
    text: str


@dataclass(frozen=True)
class BenchmarkRecord:
    """Contents of a benchmark file besides the decisions."""

    lines: IntArray
    """(n,): line number of each decision."""
    notes: tuple[Note, ...]
    """Settings, comments and all other lines, in order."""

    @property
    def cube_decisions(self) -> int:
        """Number of positions for cube decisions."""
        return sum(note.text.split()[0] in _CUBE_LINES for note in self.notes)

    @property
    def settings(self) -> dict[str, str]:
        """Settings of the ``s`` lines ("version", "nRollOutGames"); later values override earlier ones."""
        words = [note.text.split()[1:] for note in self.notes if note.text.split()[0] == "s"]
        return {name: value for pairs in words for name, value in zip(pairs[::2], pairs[1::2], strict=False)}


@dataclass(frozen=True)
class BenchmarkFile:
    """The decisions of a file, in order."""

    path: str
    boards: Board
    """(n, 26): before the roll."""
    rolls: IntArray
    """(n, 2), the higher die first."""
    offsets: IntArray
    """(n + 1,): the listed plays of decision k are rows offsets[k]:offsets[k + 1]."""
    listed: Board
    """(m, 26): boards after the listed plays, best first."""
    losses: FloatArray
    """(m,): loss of each play, in points; 0 for the best."""
    record: BenchmarkRecord | None = None
    """Other contents of the file; None for decisions that are not from a file."""

    def __len__(self) -> int:
        return len(self.boards)


def read_benchmark(path: Path | str) -> BenchmarkFile:
    """Read a benchmark file; raises `BenchmarkError` naming the file and the line."""
    path = Path(path)
    where = plain_text(str(path))
    content = content_of(path, BenchmarkError, BENCHMARK_FILE, "no such benchmark file")
    limits = BENCHMARK_UNPACKED, BENCHMARK_LINES, BENCHMARK_LINE
    content_lines = lines_within(content, path.suffix == ".gz", limits, where, BenchmarkError)
    lines = _Lines()
    try:
        for number, line in content_lines:
            lines.add(line, number)
        if not lines.rolls:
            raise BenchmarkError(f"{where}: the file has no decisions (no line starts with 'm')")
        return lines.benchmark(str(path))
    except _BadLineError as fault:
        raise BenchmarkError(f"{where}: line {fault.line or number}: {fault}") from None


def shipped_lines() -> list[BenchmarkFile]:
    """Return the shipped files in order, with paths relative to the checkout; none without a checkout.

    Raises `BenchmarkError` for a file that cannot be read.
    """
    paths = sorted((_CHECKOUT / "data/bench").glob("*.bm.gz"))
    return [replace(read_benchmark(path), path=path.relative_to(_CHECKOUT).as_posix()) for path in paths]


class _BadLineError(Exception):
    """An invalid line; `line` is its number, if it is not the last line read."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class _Lines:
    """The lines of a file: the words of its decisions, and notes."""

    def __init__(self) -> None:
        # Compact arrays, because a file may have a million lines.
        self.lines = array("q")
        """Line number of each decision."""
        self.keys: list[str] = []
        self.rolls: list[tuple[int, int]] = []
        self.counts = array("q")
        """Number of plays of each decision."""
        self.listed: list[str] = []
        """Keys of the listed plays of all decisions."""
        self.numbers = array("d")
        """The equity of the first play of each decision, and the losses of the others."""
        self.notes: list[Note] = []

    def add(self, content: bytes, number: int) -> None:
        """Parse the line `number`; raises `_BadLineError`."""
        if not content.isascii():
            raise _BadLineError("a benchmark file must contain only ASCII text")
        line = content.decode("ascii")
        words = line.split()
        if words and words[0] == "m":
            self._add_decision(words, number)
        elif words:
            self.notes.append(Note(number, line.strip()))

    def _add_decision(self, words: list[str], number: int) -> None:
        if len(words) < 6 or len(words) % 2:
            raise _BadLineError(
                f"expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got {len(words)} words"
            )
        first, second = words[2:4]
        if first not in _DICE or second not in _DICE:
            raise _BadLineError(f"invalid roll: {plain_text(f'{first} {second}')}")
        for word in words[5::2]:
            try:
                self.numbers.append(float(word))
            except ValueError:
                raise _BadLineError(f"{shown(word)} is not a number") from None
        plays = words[4::2]
        self.lines.append(number)
        self.keys.append(words[1])
        self.rolls.append((int(max(first, second)), int(min(first, second))))
        self.counts.append(len(plays))
        self.listed += plays

    def benchmark(self, path: str) -> BenchmarkFile:
        """Return the contents; raises `_BadLineError`, or `BenchmarkError` for an invalid key."""
        where = plain_text(path)
        lines, counts = np.array(self.lines, np.int64), np.array(self.counts, np.int64)
        boards = _decoded(self.keys, lines, where)
        over = ~((boards > 0).any(axis=1) & (boards < 0).any(axis=1))
        _raise_at_first(over, lines, "the game is over")
        offsets = np.concatenate([[0], np.cumsum(counts)])
        losses = np.array(self.numbers, np.float64)
        _raise_at_first(~np.isfinite(losses[offsets[:-1]]), lines, "the equity is not finite")
        losses[offsets[:-1]] = 0.0
        play_lines = np.repeat(lines, counts)
        _raise_at_first(~np.isfinite(losses), play_lines, "a loss is not finite")
        _raise_at_first(losses < 0, play_lines, "negative loss: the first play is not the best")
        rolls, listed = np.array(self.rolls, np.int64), _decoded(self.listed, play_lines, where)
        record = BenchmarkRecord(lines, tuple(self.notes))
        return BenchmarkFile(path, boards, rolls, offsets, listed, losses, record)


def _raise_at_first(bad: npt.ArrayLike, lines: IntArray, problem: str) -> None:
    """Raise a `_BadLineError` for the first row that is `bad` (n,), if any."""
    rows = np.flatnonzero(bad)
    if len(rows):
        raise _BadLineError(problem, int(lines[rows[0]]))


def _decoded(keys: list[str], lines: IntArray, where: str) -> Board:
    parts = slices(len(keys), _KEYS_AT_ONCE)
    numbered = (list(zip(lines[part].tolist(), keys[part], strict=True)) for part in parts)
    return np.concatenate([boards_of_lines(part, where, BenchmarkError, are_keys=True) for part in numbered])


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

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return a decision from its JSON fields; others are ignored."""
        plays = tuple((key, RolledPlay.from_dict(play)) for key, play in record["plays"])
        chosen_by = {key: tuple(players) for key, players in record["chosen_by"].items()}
        return cls(record["key"], tuple(record["roll"]), plays, chosen_by)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the decision."""
        for key, play in self.plays:
            if any(play.trials):
                # Probabilities of the player on roll; luck-adjusted ones may be outside 0 to 1.
                chances = switch_sides(np.array([play.probabilities])).clip(0, 1)[0]
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
