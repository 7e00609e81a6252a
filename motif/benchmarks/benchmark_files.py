"""GNUbg benchmark files: decisions with the loss of each listed play, and their rollouts.

The first word of a line determines its kind:

``m KEY d1 d2 BEST EQUITY SECOND LOSS THIRD LOSS ...``
    A decision. Positions after the play are from the perspective of the next player on roll; EQUITY is the
    mover's cubeless money equity, LOSS the difference from the best play.
``#R KEY p p p p p``
    The rollout of the position after a play of the next decision.
``o KEY p p p p p``
    The rollout of a position for cube decisions: doubles and takes at many scores.
``c KEY NO_DOUBLE DOUBLE_TAKE ACTION``
    A cubeful rollout: match-winning probabilities in percent, and ND, D/T, D/D (drop) or TG (too good).
``r SEED``
    The random seed of the next decision or position.
``s NAME VALUE NAME VALUE ...``
    Settings of the program that wrote the file.
``#S KEY EQUITY SE LOSS_SE TRIALS LOSS ...``
    Written by motif after the rollout (``#R``) of a play: its equity for the mover, the standard errors of
    the equity and the loss, and for each roller its trials and the loss by these trials only.
``#P KEY PLAYER ...``
    Written by motif: the players that choose the play. Other programs take these two for comments.

KEY is a 20-letter key (`motif.board.identifiers`); the five ``p`` are the probabilities of the player on
roll, in the usual order.  All other lines, including comments (``#``) and the commands ``e``, ``O`` and
``b``, are kept unchanged.  Files ending in .gz are decompressed.

Source: gnubg-nn, whose program `sagnubg` (sa/main.cc) writes these lines and whose scripts/benchmark/perr.py
measures players with them.  A source checkout contains such files in `data/bench/`.
"""

import gzip
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, cast, get_args

import numpy as np
import numpy.typing as npt

from motif.benchmarks.verdict import RolledPlay
from motif.board.identifiers import boards_from_keys, position_from_key, position_key
from motif.board.packed import BOARD_SIZE, Board
from motif.board.position import Position
from motif.evaluators.probabilities import turned
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import BenchmarkError, PositionError, plain_text, shown
from motif.runtime.files import content_of, replacing
from motif.runtime.limits import (
    BENCHMARK_FILE,
    BENCHMARK_LINE,
    BENCHMARK_LINES,
    BENCHMARK_UNPACKED,
    lines_of,
    pieces_of,
    unpacked_pieces,
)

CubeActionCode = Literal["ND", "D/T", "D/D", "TG"]
"""Cube actions: no double; double, take; double, drop; too good to double."""
CUBE_ACTIONS: tuple[str, ...] = get_args(CubeActionCode)
NO_SEED = -1
"""Seed of decisions without an ``r`` line."""
_DICE = frozenset("123456")
_LARGEST_SEED = 2**63 - 1
_ROUNDING = 1e-3
"""Tolerance for probabilities outside 0 to 1: some programs average them in single precision."""
_KEYS_AT_ONCE = 4096
_DIGITS, _ROUND = 7, 6
"""Significant digits and decimals of written numbers."""
_CHECKOUT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class RolledOut:
    """Positions with rollout probabilities."""

    boards: Board
    """(n, 26), from the perspective of the player on roll."""
    probabilities: FloatArray
    """(n, 5): probabilities of the player on roll, in the order of `motif.evaluators.Probabilities`."""
    seeds: IntArray
    """(n,): rollout seeds, or `NO_SEED`."""
    lines: IntArray
    """(n,): line numbers, from 1."""

    def __len__(self) -> int:
        return len(self.boards)


@dataclass(frozen=True)
class CubeRollouts:
    """Cubeful rollouts of positions."""

    boards: Board
    """(n, 26), from the perspective of the player who may double."""
    no_double: FloatArray
    """(n,): match-winning probability without a double, in percent."""
    double_take: FloatArray
    """(n,): match-winning probability after double and take, in percent."""
    actions: tuple[CubeActionCode, ...]
    """Best actions."""
    lines: IntArray
    """(n,): line numbers, from 1."""

    def __len__(self) -> int:
        return len(self.boards)


class Note(NamedTuple):
    """A line without a position."""

    line: int
    text: str


@dataclass(frozen=True)
class BenchmarkRecord:
    """Contents of a benchmark file besides the decisions."""

    lines: IntArray
    """(n,): line number of each decision."""
    equities: FloatArray
    """(n,): the mover's equity after the best play, in points."""
    seeds: IntArray
    """(n,): rollout seed of each decision, or `NO_SEED`."""
    rollouts: RolledOut
    """Positions after plays, from the perspective of the next player on roll."""
    rollout_of: IntArray
    """(m,): row in `rollouts` of each listed play, or -1."""
    cube_positions: RolledOut
    """Positions for cube decisions at any score."""
    cube_rollouts: CubeRollouts
    notes: tuple[Note, ...]
    """Settings, comments and all other lines."""

    @property
    def cube_decisions(self) -> int:
        """Number of positions for cube decisions."""
        return len(self.cube_positions) + len(self.cube_rollouts)

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

    def pieces() -> Iterator[bytes]:
        if path.suffix == ".gz":
            return unpacked_pieces(content, "gzip", BENCHMARK_UNPACKED, where, BenchmarkError)
        return pieces_of(BytesIO(content))

    # Decompressed twice, so that a file that is too large is rejected before it fills the memory.
    BENCHMARK_LINES.check(sum(piece.count(b"\n") for piece in pieces()), where, BenchmarkError)
    lines = _Lines()
    try:
        for number, line in lines_of(pieces(), BENCHMARK_LINE, where, BenchmarkError):
            lines.add(line, number)
        if not lines.counts:
            raise BenchmarkError(f"{where}: the file has no decisions (no line starts with 'm')")
        return _benchmark(str(path), lines)
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


class _Keyed:
    """Lines of one kind: position keys with the numbers of their lines."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        # Compact arrays, because a file may have a million lines.
        self.numbers = array("d")
        self.seeds = array("q")
        self.lines = array("q")

    def boards(self) -> Board:
        """Return the positions (n, 26); raise `_BadLineError` for an invalid key."""
        return _decoded(self.keys, self.lines)

    def chances(self, width: int, low: float, high: float, problem: str) -> FloatArray:
        """Return the numbers (n, `width`); raise a `_BadLineError` if one is not from `low` to `high`."""
        numbers = np.array(self.numbers, np.float64).reshape(-1, width)
        good = (numbers >= low) & (numbers <= high)
        _raise_at_first(~good.all(axis=1), self.lines, problem)
        return numbers

    def rolled_out(self) -> RolledOut:
        """Return the positions with their probabilities; raises `_BadLineError`."""
        rows = self.chances(5, -_ROUNDING, 1 + _ROUNDING, "probability outside 0 to 1")
        seeds, lines = (np.array(column, np.int64) for column in (self.seeds, self.lines))
        return RolledOut(self.boards(), rows, seeds, lines)


class _Lines:
    """All lines of a file, by kind."""

    def __init__(self) -> None:
        self.decisions, self.rollouts, self.cube_positions, self.cube_rollouts = (_Keyed() for _ in range(4))
        self.rolls: list[tuple[int, int]] = []
        self.listed: list[str] = []
        """Keys of the listed plays of all decisions."""
        self.counts: list[int] = []
        """Number of plays of each decision."""
        self.rollout_of: list[int] = []
        self.notes: list[Note] = []
        self._actions: list[str] = []
        self._rollout_rows: dict[str, int] = {}
        """Rows of the rollouts since the last decision, by key."""
        self._seed = NO_SEED
        self._kinds: dict[str, Callable[[list[str], int], None]] = {
            "m": self._decision,
            "#R": self._rollout,
            "o": self._cube_position,
            "c": self._cube_rollout,
            "r": self._next_seed,
        }

    def add(self, content: bytes, number: int) -> None:
        """Parse the line `number`; raises `_BadLineError`."""
        if not content.isascii():
            raise _BadLineError("a benchmark file must contain only ASCII text")
        line = content.decode("ascii")
        words = line.split()
        if words:
            take = self._kinds.get(words[0])
            if take is None:
                self.notes.append(Note(number, line.strip()))
            else:
                take(words, number)

    def cube(self) -> CubeRollouts:
        """Return the cubeful rollouts; raises `_BadLineError`."""
        kind, actions = self.cube_rollouts, cast("tuple[CubeActionCode, ...]", tuple(self._actions))
        rows = kind.chances(2, 0, 100, "match-winning probability outside 0 to 100")
        lines = np.array(kind.lines, np.int64)
        return CubeRollouts(kind.boards(), rows[:, 0], rows[:, 1], actions, lines)

    def _decision(self, words: list[str], number: int) -> None:
        if len(words) < 6 or len(words) % 2:
            raise _BadLineError(
                f"expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got {len(words)} words"
            )
        first, second = words[2:4]
        if first not in _DICE or second not in _DICE:
            raise _BadLineError(f"invalid roll: {plain_text(f'{first} {second}')}")
        plays = words[4::2]
        self._add(self.decisions, words[1], words[5::2], number)
        self.rolls.append((int(max(first, second)), int(min(first, second))))
        self.listed += plays
        self.counts.append(len(plays))
        self.rollout_of += [self._rollout_rows.get(play, -1) for play in plays]
        self._rollout_rows = {}
        self._seed = NO_SEED

    def _rollout(self, words: list[str], number: int) -> None:
        self._chances(self.rollouts, words, number)
        self._rollout_rows[words[1]] = len(self.rollouts.keys) - 1

    def _cube_position(self, words: list[str], number: int) -> None:
        self._chances(self.cube_positions, words, number)
        self._seed = NO_SEED

    def _cube_rollout(self, words: list[str], number: int) -> None:
        if len(words) != 5:
            raise _BadLineError(f"expected 'c KEY NO_DOUBLE DOUBLE_TAKE ACTION', got {len(words)} words")
        if words[4] not in CUBE_ACTIONS:
            raise _BadLineError(f"{shown(words[4])} is not one of {', '.join(CUBE_ACTIONS)}")
        self._add(self.cube_rollouts, words[1], words[2:4], number)
        self._actions.append(words[4])
        self._seed = NO_SEED

    def _next_seed(self, words: list[str], number: int) -> None:
        # The largest seed has 19 digits.
        seed = int(words[1]) if len(words) == 2 and words[1].isdigit() and len(words[1]) < 20 else -1
        if not 0 <= seed <= _LARGEST_SEED:
            raise _BadLineError(f"expected 'r SEED', got {plain_text(' '.join(words))}")
        self._seed = seed

    def _chances(self, kind: _Keyed, words: list[str], number: int) -> None:
        if len(words) != 7:
            raise _BadLineError(f"expected '{words[0]} KEY' and five probabilities, got {len(words)} words")
        self._add(kind, words[1], words[2:], number)

    def _add(self, kind: _Keyed, key: str, numbers: list[str], line: int) -> None:
        for word in numbers:
            try:
                kind.numbers.append(float(word))
            except ValueError:
                raise _BadLineError(f"{shown(word)} is not a number") from None
        kind.keys.append(key)
        kind.seeds.append(self._seed)
        kind.lines.append(line)


def _raise_at_first(bad: npt.ArrayLike, lines: Sequence[int] | IntArray, problem: str) -> None:
    """Raise a `_BadLineError` for the first row that is `bad` (n,), if any."""
    rows = np.flatnonzero(bad)
    if len(rows):
        raise _BadLineError(problem, int(lines[rows[0]]))


def _decoded(keys: list[str], lines: Sequence[int] | IntArray) -> Board:
    boards = np.empty((len(keys), BOARD_SIZE), np.int8)
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        part = slice(start, start + _KEYS_AT_ONCE)
        try:
            boards[part] = boards_from_keys(keys[part])
        except PositionError:
            for key, line in zip(keys[part], lines[part], strict=True):
                try:
                    position_from_key(key)
                except PositionError as error:
                    raise _BadLineError(str(error), int(line)) from None
            raise
    return boards


def _benchmark(path: str, lines: _Lines) -> BenchmarkFile:
    decisions = lines.decisions
    numbers = np.array(decisions.lines, np.int64)
    boards = decisions.boards()
    over = ~((boards > 0).any(axis=1) & (boards < 0).any(axis=1))
    _raise_at_first(over, numbers, "the game is over")
    offsets = np.concatenate([[0], np.cumsum(lines.counts, dtype=np.int64)])
    losses = np.array(decisions.numbers, np.float64)
    equities = losses[offsets[:-1]]
    losses[offsets[:-1]] = 0.0
    play_lines = np.repeat(numbers, lines.counts)
    _raise_at_first(~np.isfinite(equities), numbers, "the equity is not finite")
    _raise_at_first(~np.isfinite(losses), play_lines, "a loss is not finite")
    _raise_at_first(losses < 0, play_lines, "negative loss: the first play is not the best")
    record = BenchmarkRecord(
        numbers,
        equities,
        np.array(decisions.seeds, np.int64),
        lines.rollouts.rolled_out(),
        np.array(lines.rollout_of, np.int64),
        lines.cube_positions.rolled_out(),
        lines.cube(),
        tuple(lines.notes),
    )
    rolls, listed = np.array(lines.rolls, np.int64), _decoded(lines.listed, play_lines)
    return BenchmarkFile(path, boards, rolls, offsets, listed, losses, record)


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
