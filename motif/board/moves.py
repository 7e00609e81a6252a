"""Rolls and legal plays, for single positions, for batches and for plays made checker by checker."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from threading import local
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import quoted, whole_number
from motif.board.movegen import MAX_PLAYS, PATH_HIT, PATH_LOW, PATH_SOURCE, generate, new_play_buffer
from motif.board.notation import MAX_MOVES, OFF, Play, find_play, parse_moves
from motif.board.outcome import finished_points_many, outcome
from motif.board.packed import (
    BOARD_SIZE,
    HOME,
    OPPONENT_BAR,
    OWN_BAR,
    PACKED_SIZE,
    PACKED_WORDS,
    Board,
    pack,
    pack_many,
    unpack,
)
from motif.board.position import Position, PositionLike
from motif.compiler.jit import WHOLE, lean_kernel, words_of
from motif.runtime.arrays import BoolArray, IntArray
from motif.runtime.errors import PlayError, PositionError, shown
from motif.runtime.settings import is_truth


class _OfThread(local):
    """Working memory of the calling thread."""

    def __init__(self) -> None:
        self.play_buffer = new_play_buffer()


_of_thread = _OfThread()
RollLike = Sequence[int | np.integer | str] | npt.NDArray[np.integer] | str | int | np.integer
"""Two dice as a pair, a text or a number."""
_ROLL = re.compile(r"([0-9])([0-9])|([0-9]+)[\s,/-]+([0-9]+)")
_Places = tuple[int, ...]


class PlayBatch(NamedTuple):
    """Legal plays of many decisions; the plays of decision k are rows ``offsets[k]:offsets[k + 1]``."""

    offsets: IntArray
    """First row of each decision, and the number of rows: (n + 1,)."""
    boards: Board
    """Resulting boards (m, 26), from the side of the next player on roll."""
    paths: npt.NDArray[np.uint64]
    """Path of each play (m,), for `decode_path`."""
    decisions: slice = slice(None)
    """The decisions in the batch, as a slice of the input."""

    @property
    def decision(self) -> IntArray:
        """Index of each play's decision in the batch: (m,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def take(self, decisions: npt.NDArray[np.integer]) -> "tuple[PlayBatch, IntArray]":
        """Return a batch with the plays of `decisions` (ascending indices), and the rows of these plays."""
        lengths = np.diff(self.offsets)[decisions]
        ends = np.cumsum(lengths)
        rows = np.repeat(self.offsets[decisions] - (ends - lengths), lengths) + np.arange(lengths.sum())
        return PlayBatch(np.concatenate([[0], ends]), self.boards[rows], self.paths[rows]), rows

    def filter(self, wanted: BoolArray) -> "tuple[PlayBatch, IntArray]":
        """Return a batch with the plays in the mask `wanted` (m,), and the indices of their decisions."""
        decisions, counts = np.unique(self.decision[wanted], return_counts=True)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return PlayBatch(offsets, self.boards[wanted], self.paths[wanted]), decisions


def check_goes_on(position: Position) -> None:
    """Raise `PositionError` if the game is over."""
    if outcome(position):
        raise PositionError(f"{position.gnubg_id}: the game is over (one player has borne off all checkers)")


def check_all_go_on(boards: Board) -> None:
    """Raise `PositionError` if the game is over on one of `boards` (n, 26)."""
    for row in np.flatnonzero(finished_points_many(pack_many(boards).view(np.int64))):
        check_goes_on(Position(boards[row]))


def legal_plays(position: PositionLike, roll: RollLike) -> list[Play]:
    """Return the legal plays of `roll` that have distinct results; a dance is one play without moves.

    `position` may also be an ID; `roll` is two dice such as ``(3, 1)`` or ``"31"``. Raises `PlayError` for
    an invalid roll, and `PositionError` if the game is over.
    """
    position = Position.of(position)
    high, low = as_roll(roll)
    check_goes_on(position)
    batch = next(play_batches(position.board[None], np.array([[high, low]])))
    return [
        Play(Position(board), *decode_path(int(path), (high, low)))
        for board, path in zip(batch.boards, batch.paths, strict=True)
    ]


def check_legal(play: Play, legal: Sequence[Play], roll: tuple[int, int]) -> None:
    """Raise `PlayError` unless `play` is one of the `legal` plays of `roll`."""
    if all(play.position != one.position for one in legal):
        raise PlayError("illegal play of {1}{2}: {0}".format(play, *roll))


def recorded_play(text: str, position: Position, plays: Sequence[Play]) -> Play:
    """Return the play that `text` in a record describes: one of the legal `plays`, or an illegal play.

    Raises `PlayError`, as `find_play` does, if `text` is not a play that can be made on the board.
    """
    try:
        return find_play(text, plays)
    except PlayError:
        marked = parse_moves(text, forward=False)
        play = illegal_play([(move.start, move.end) for move in marked], position, plays)
        if play is None or not {move.end for move in marked if move.hit} <= play.hit_points:
            raise
        return play


def illegal_play(moves: Sequence[tuple[int, int]], position: Position, plays: Sequence[Play]) -> Play | None:
    """Return the play of `moves` (from, to) if a player could make it only against the rules.

    None if there is no checker to move, if a checker would land on a point of the opponent, or if one of the
    legal `plays` moves the same checkers to the same points.
    """
    board, hits = _places(position), []
    moves = sorted(moves, reverse=True)
    for start, end in moves:
        if board[start] <= 0 or (end != OFF and board[end] < -1):
            return None
        hits.append(end != OFF and board[end] < 0)
        board = after_move(board, start, end)
    if any(_own(board) == _own(_places(play.position.switch_sides())) for play in plays):
        return None
    return Play(Position(board).switch_sides(), tuple(moves), tuple(hits), is_legal=False)


def _own(board: _Places) -> list[int]:
    """Return the mover's checkers on `board`."""
    return [max(count, 0) for count in board]


def decode_path(path: int, roll: tuple[int, int]) -> tuple[tuple[tuple[int, int], ...], tuple[bool, ...]]:
    """Return the moves (from, to) and hits of a generator's path for `roll`, whose higher die is first."""
    steps = path.to_bytes(8, "big").lstrip(b"\0")
    moves = []
    for step in steps:
        source = step & PATH_SOURCE
        moves.append((source, max(source - (roll[1] if step & PATH_LOW else roll[0]), 0)))
    return tuple(moves), tuple(bool(step & PATH_HIT) for step in steps)


def play_batches(boards: Board, rolls: IntArray, rows_at_once: int = 1 << 20) -> Iterator[PlayBatch]:
    """Yield the legal plays of `boards` (n, 26) and `rolls` (n, 2; higher die first) in batches.

    Each batch contains whole decisions, in order, and at most about `rows_at_once` plays.
    """
    first = 0
    # The copy is writable, so that the kernel always gets the same type.
    boards, packed = np.array(boards, order="C"), np.empty(PACKED_SIZE, np.int8)
    capacity = min(rows_at_once, 64 * len(boards)) + MAX_PLAYS
    while first < len(boards):
        results = np.empty((capacity, BOARD_SIZE), np.int8)
        paths = np.empty(capacity, np.uint64)
        offsets = np.zeros(len(boards) - first + 1, np.int64)
        buffer = _of_thread.play_buffer
        count = _fill_batch(boards[first:], rolls[first:], packed, offsets, results, paths, buffer)
        size = offsets[count]
        yield PlayBatch(offsets[: count + 1], results[:size], paths[:size], slice(first, first + count))
        first += count


@lean_kernel(WHOLE)
def _fill_batch(boards, rolls, packed, offsets, results, paths, buffer):
    """Fill a batch until the next decision might not fit; return the number of decisions in the batch."""
    words = words_of(packed)
    row = 0
    while row < boards.shape[0] and offsets[row] + MAX_PLAYS <= results.shape[0]:
        pack(boards[row], packed)
        count = generate(words[:PACKED_WORDS], rolls[row, 0], rolls[row, 1], buffer)
        start = offsets[row]
        for k in range(count):
            unpack(buffer.boards[k], results[start + k])
            paths[start + k] = buffer.paths[k]
        row += 1
        offsets[row] = start + count
    return row


def as_roll(roll: RollLike) -> tuple[int, int]:
    """Convert two dice, text such as ``31``, ``3-1`` or ``3 1``, or a number to a roll, higher die first.

    Raises `PlayError` for anything else.
    """
    if isinstance(roll, int | np.integer):
        roll = shown(roll if isinstance(roll, bool) else int(roll))
    if isinstance(roll, str):
        match = _ROLL.fullmatch(roll.strip())
        if not match:
            raise PlayError(f"invalid roll {quoted(roll)}: a roll must be two dice, such as 31 or 3 1")
        roll = [group for group in match.groups() if group is not None]
    try:
        first, second = roll
    except (TypeError, ValueError):
        raise PlayError(f"a roll must be two dice, such as (3, 1) or '31', not {shown(roll)}") from None
    return checked_roll(first, second)


def parse_roll(first: str | int, second: str | int | None = None) -> tuple[int, int]:
    """Return `as_roll` of two dice, or of both in one text or number."""
    if second is None:
        return as_roll(first)
    if _ROLL.fullmatch(first.strip() if isinstance(first, str) else shown(first)):
        raise PlayError(f"invalid roll: {shown(first)} has both dice, so {shown(second)} is too much")
    return checked_roll(first, second)


def checked_roll(first: object, second: object) -> tuple[int, int]:
    """Return two dice, whole numbers or their digits, the higher first; raise `PlayError` unless 1 to 6."""
    dice = _die(first), _die(second)
    return max(dice), min(dice)


def _die(die: object) -> int:
    known = whole_number(die.strip()) if isinstance(die, str) else die
    if not isinstance(known, int | np.integer) or is_truth(known):
        rule = "1 to 6" if isinstance(die, str) else "a whole number from 1 to 6"
        raise PlayError(f"invalid roll: each die must be {rule}, not {shown(die)}")
    number = int(known)
    if not 1 <= number <= 6:
        raise PlayError(f"invalid roll: each die must be 1 to 6, not {shown(number)}")
    return number


class CheckerMove(NamedTuple):
    """A move of one checker with one die, in the mover's numbering: 25 is the bar, 0 is off."""

    start: int
    end: int
    die: int
    hits: bool
    node: int
    """Index of the node after the move."""


class PlayTreeNode(NamedTuple):
    """A partly played roll in the tree of plays."""

    steps: tuple[CheckerMove, ...]
    """Possible next moves, those of the higher die first, each with the rearmost checker first."""
    play: int | None
    """Index of the completed legal play; None if more dice must be played."""


def play_tree(position: Position, roll: tuple[int, int], plays: Sequence[Play]) -> list[PlayTreeNode]:
    """Return the tree of all move orders that complete a legal play of `roll`; node 0 is the root.

    Nodes that lead to none of `plays` are left out, so that the rules on which dice must be played are
    respected.
    """
    results = {_places(play.position.switch_sides()): number for number, play in enumerate(plays)}
    nodes: list[PlayTreeNode] = []

    @cache
    def node_of(board: _Places, dice: tuple[int, ...]) -> int | None:
        """Return the index of the node for `board` with `dice` left; None if it leads to no legal play."""
        steps, is_stuck = [], True
        for place, die in enumerate(dice):
            if die in dice[:place]:
                continue
            for start in _movable(board, die):
                is_stuck = False
                end = max(start - die, OFF)
                node = node_of(after_move(board, start, end), dice[:place] + dice[place + 1 :])
                if node is not None:
                    steps.append(CheckerMove(start, end, die, end != OFF and board[end] < 0, node))
        play = results.get(board) if is_stuck else None
        if not steps and play is None:
            return None
        nodes.append(PlayTreeNode(tuple(steps), play))
        return len(nodes) - 1

    high, low = sorted(roll, reverse=True)
    node_of(_places(position), (high, low) if high != low else (high,) * MAX_MOVES)
    last = len(nodes) - 1  # the root is added last
    return [
        node._replace(steps=tuple(step._replace(node=last - step.node) for step in node.steps))
        for node in reversed(nodes)
    ]


def _places(position: Position) -> _Places:
    return tuple(position.board.tolist())


def _movable(board: _Places, die: int) -> list[int]:
    """Return the points (or bar) from which `die` can be played, the rearmost first."""
    starts = (
        [OWN_BAR] if board[OWN_BAR] > 0 else [place for place in range(OWN_BAR, 0, -1) if board[place] > 0]
    )
    rearmost = starts[0] if starts else 0
    return [
        start
        for start in starts
        if (board[start - die] >= -1 if start > die else rearmost <= HOME and start in (die, rearmost))
    ]


def after_move(board: Sequence[int], start: int, end: int) -> _Places:
    """Return the 26 numbers of `board` after a move of one of the mover's checkers, which may hit."""
    places = list(board)
    places[start] -= 1
    if end != OFF:
        if places[end] < 0:
            places[end] = 0
            places[OPPONENT_BAR] -= 1
        places[end] += 1
    return tuple(places)
