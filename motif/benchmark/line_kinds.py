"""The kinds of lines in GNUbg benchmark files, gathered one by one and then made into arrays."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from motif.benchmark.records import CUBE_ACTIONS, NO_SEED, CubeRollouts, Note, RolledOut
from motif.board.identifiers import boards_from_keys, position_from_key
from motif.board.position import BOARD_SIZE, Board
from motif.runtime.errors import PositionError, plain_text, shown

_DICE = frozenset("123456")
_LARGEST_SEED = 2**63 - 1
_ROUNDING = 1e-3
"""By which a probability may miss 0 and 1: some programs average them in single precision."""
_KEYS_AT_ONCE = 4096


class BadLineError(Exception):
    """What is wrong in a line, and in which if it is not the one just read."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class Keyed:
    """Lines of one kind: keys of positions with what belongs to each."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.numbers: list[float] = []
        self.seeds: list[int] = []
        self.lines: list[int] = []

    def boards(self) -> Board:
        """The positions (n, 26); raises `BadLineError` for a key that is none."""
        return _decoded(self.keys, self.lines)

    def rolled_out(self) -> RolledOut:
        """The positions with their probabilities; raises `BadLineError`."""
        probabilities = np.array(self.numbers, np.float64).reshape(-1, 5)
        lines = np.array(self.lines, np.int64)
        good = (probabilities >= -_ROUNDING) & (probabilities <= 1 + _ROUNDING)
        raise_at_first(~good.all(axis=1), lines, "a probability lies outside 0 to 1")
        return RolledOut(self.boards(), probabilities, np.array(self.seeds, np.int64), lines)


class Lines:
    """All lines of a file, by kind."""

    def __init__(self) -> None:
        self.decisions, self.rollouts, self.cube_positions, self.cube_rollouts = (Keyed() for _ in range(4))
        self.rolls: list[tuple[int, int]] = []
        self.listed: list[str] = []
        """Keys of the listed plays of all decisions."""
        self.counts: list[int] = []
        """How many plays each decision lists."""
        self.rollout_of: list[int] = []
        self.notes: list[Note] = []
        self._actions: list[str] = []
        self._rollout_rows: dict[str, int] = {}
        """Rows of the rollouts since the last decision, by their keys."""
        self._seed = NO_SEED
        self._kinds: dict[str, Callable[[list[str], int], None]] = {
            "m": self._decision,
            "#R": self._rollout,
            "o": self._cube_position,
            "c": self._cube_rollout,
            "r": self._next_seed,
        }

    def add(self, line: str, number: int) -> None:
        """Take in the line of that `number`; raises `BadLineError`."""
        words = line.split()
        if words:
            take = self._kinds.get(words[0])
            if take is None:
                self.notes.append(Note(number, line.strip()))
            else:
                take(words, number)

    def cube(self) -> CubeRollouts:
        """The rollouts with the cube; raises `BadLineError`."""
        kind = self.cube_rollouts
        chances = np.array(kind.numbers, np.float64).reshape(-1, 2)
        lines = np.array(kind.lines, np.int64)
        raise_at_first(
            ~((chances >= 0) & (chances <= 100)).all(axis=1), lines, "a match chance lies outside 0 to 100"
        )
        actions: tuple = tuple(self._actions)
        return CubeRollouts(kind.boards(), chances[:, 0], chances[:, 1], actions, lines)

    def listed_boards(self) -> Board:
        """Boards after the listed plays (m, 26); raises `BadLineError`."""
        return _decoded(self.listed, np.repeat(self.decisions.lines, self.counts))

    def _decision(self, words: list[str], number: int) -> None:
        if len(words) < 6 or len(words) % 2:
            raise BadLineError(f"expected 'm KEY die die PLAY EQUITY [PLAY LOSS]...', got {len(words)} words")
        first, second = words[2:4]
        if first not in _DICE or second not in _DICE:
            raise BadLineError(f"no roll: {plain_text(f'{first} {second}')}")
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
            raise BadLineError(f"expected 'c KEY NO_DOUBLE DOUBLE_TAKE ACTION', got {len(words)} words")
        if words[4] not in CUBE_ACTIONS:
            raise BadLineError(f"{shown(words[4])} is not one of {', '.join(CUBE_ACTIONS)}")
        self._add(self.cube_rollouts, words[1], words[2:4], number)
        self._actions.append(words[4])
        self._seed = NO_SEED

    def _next_seed(self, words: list[str], number: int) -> None:
        # No more digits are looked at than the largest seed has.
        seed = int(words[1]) if len(words) == 2 and words[1].isdigit() and len(words[1]) < 20 else -1
        if not 0 <= seed <= _LARGEST_SEED:
            raise BadLineError(f"expected 'r SEED', got {plain_text(' '.join(words))}")
        self._seed = seed

    def _chances(self, kind: Keyed, words: list[str], number: int) -> None:
        if len(words) != 7:
            raise BadLineError(f"expected '{words[0]} KEY' and five probabilities, got {len(words)} words")
        self._add(kind, words[1], words[2:], number)

    def _add(self, kind: Keyed, key: str, numbers: list[str], line: int) -> None:
        try:
            kind.numbers += map(float, numbers)
        except ValueError:
            raise BadLineError(f"{shown(next(filter(_is_no_number, numbers)))} is no number") from None
        kind.keys.append(key)
        kind.seeds.append(self._seed)
        kind.lines.append(line)


def raise_at_first(bad: npt.ArrayLike, lines: npt.NDArray[np.int64], problem: str) -> None:
    """Raise a `BadLineError` for the first row that is `bad` (n,), if there is one."""
    rows = np.flatnonzero(bad)
    if len(rows):
        raise BadLineError(problem, int(lines[rows[0]]))


def _is_no_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return True
    return False


def _decoded(keys: list[str], lines: Sequence[int] | npt.NDArray[np.int64]) -> Board:
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
                    raise BadLineError(str(error), int(line)) from None
            raise
    return boards
