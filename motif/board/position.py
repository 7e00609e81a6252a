"""Positions, and the conventions for sides, signs and indices.

A **board** is ``int8[26]``, always from the side of the player ON ROLL, who moves from 24 to 1. Indices 1
to 24 are the points, 25 is the player's own bar and 0 is the opponent's bar; a *place* is any of these.
The player's own checkers are positive and the opponent's negative, bars included: ``board[0] <= 0 <=
board[25]``. The checkers borne off are 15 minus the checkers on the board.  (This is wildbg's convention.)
Kernels work on packed boards; see `motif.board.packed`.

The result of a play is a board from the side of the OTHER player, the next player on roll.
"""

from collections.abc import Iterable, Iterator, Mapping, Sized
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from motif.board.packed import BOARD_SIZE, CHECKERS, HOME, OPPONENT_BAR, OWN_BAR, POINTS, Board
from motif.compiler.jit import kernel
from motif.runtime.arrays import ArrayLike
from motif.runtime.errors import PositionError, shown

if TYPE_CHECKING:
    from motif.board.match_state import MatchState

_START = {24: 2, 13: 5, 8: 3, 6: 5}


def faults(board: ArrayLike) -> list[str]:
    """List every reason why `board` (26 numbers) is not a valid position."""
    try:
        values = _numbers(board)
    except ValueError:
        return [f"a board must have {BOARD_SIZE} numbers, not nested lists of different lengths"]
    if values.shape != (BOARD_SIZE,):
        hint = ""
        if values.dtype.kind == "U" and not values.shape:
            hint = "; Position.of reads an ID"
        elif values.shape[1:] == (BOARD_SIZE,):
            hint = "; evaluate_many takes several boards"
        size = "x".join(map(str, values.shape)) or "one"
        return [f"a board must have {BOARD_SIZE} numbers, not {size}{hint}"]
    kind = values.dtype.kind
    if kind not in "iuf" or (kind == "f" and not (np.isfinite(values) & (values == np.trunc(values))).all()):
        return ["a board must contain whole numbers of checkers"]
    # The sums of Python's integers cannot overflow.
    counts = [int(count) for count in values.tolist()]
    reasons = []
    if counts[OPPONENT_BAR] > 0:
        reasons.append(f"own checkers on the opponent's bar (index 0 holds {shown(counts[OPPONENT_BAR])})")
    if counts[OWN_BAR] < 0:
        reasons.append(f"opponent's checkers on the own bar (index 25 holds {shown(counts[OWN_BAR])})")
    own = sum([count for count in counts if count > 0])
    opponent = own - sum(counts)
    if own > CHECKERS:
        reasons.append(f"the player on roll has {shown(own)} checkers (maximum {CHECKERS})")
    if opponent > CHECKERS:
        reasons.append(f"the opponent has {shown(opponent)} checkers (maximum {CHECKERS})")
    if own == 0 and opponent == 0:
        reasons.append("both players have borne off all their checkers")
    closed_by_own = min(counts[1 : HOME + 1]) >= 2 and counts[OPPONENT_BAR] < 0
    closed_by_opponent = max(counts[POINTS - HOME + 1 : POINTS + 1]) <= -2 and counts[OWN_BAR] > 0
    if closed_by_own and closed_by_opponent:
        reasons.append("both players are on the bar against closed boards, so neither can ever move")
    return reasons


class Position:
    """An immutable, hashable position from the side of the player on roll, compared by value.

    ``Position(board)`` takes 26 numbers in the layout of `motif.board.position`; invalid numbers raise a
    `PositionError` that lists every fault.  ``print(position)`` draws the position as text, and notebooks
    show a picture.  ``Position.from_id`` reads any ID, including its match, cube and dice.
    """

    __slots__ = ("board", "match")

    board: Board
    """Board, a read-only int8[26] in the layout of `motif.board.position`."""
    match: "MatchState | None"
    """Match, cube and dice, if known; ignored in comparisons."""

    def __init__(self, board: ArrayLike, match: "MatchState | None" = None) -> None:
        if reasons := faults(board):
            raise PositionError("; ".join(reasons), about="invalid position")
        values = np.array(board, dtype=np.int8)
        values.setflags(write=False)
        object.__setattr__(self, "board", values)
        object.__setattr__(self, "match", match)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Position cannot be changed")

    def __reduce__(self) -> tuple[type["Position"], tuple[list[int], "MatchState | None"]]:
        return Position, (self.board.tolist(), self.match)

    @classmethod
    def start(cls) -> "Position":
        """Return the starting position."""
        return cls.from_points(_START, _START)

    @classmethod
    def of(cls, value: "PositionLike") -> "Position":
        """Convert a position, an ID or 26 numbers to a position.

        Raises `PositionError` if `value` is none of these.
        """
        if isinstance(value, Position):
            return value
        if isinstance(value, str):
            return cls.from_id(value)
        # Lists of different lengths have no number of dimensions; `faults` refuses them.
        if hasattr(value, "boards") or (not isinstance(value, list | tuple) and np.ndim(value) == 0):
            raise PositionError(
                f"a position must be a Position, an ID or {BOARD_SIZE} numbers, not {_wrong(value)}"
            )
        return cls(value)

    @classmethod
    def from_id(cls, text: str) -> "Position":
        """Parse a GNUbg ID, ``PositionID:MatchID``, an XGID, an OGID or a 20-letter key.

        Raises `PositionError` with the reason.
        """
        from motif.board.parsing import parse_position

        return parse_position(text)[0]

    @classmethod
    def from_points(cls, own: Mapping[int, int], opponent: Mapping[int, int]) -> "Position":
        """Build a position from {point: checkers} per side, each in its OWN numbering with 25 for the bar.

        ``Position.from_points({6: 5, 8: 3}, {24: 2})``
        """
        for side in (own, opponent):
            if not isinstance(side, Mapping):
                raise PositionError(f"a side must be a dict {{point: checkers}}, not {shown(side)}")
        board = np.zeros(BOARD_SIZE, np.int64)
        for point, count in _checked(own):
            board[point] += count
        for point, count in _checked(opponent):
            place = OWN_BAR - point
            if count and board[place] > 0:
                raise PositionError(f"both players have checkers on point {place}", about="invalid position")
            board[place] -= count
        return cls(board)

    def switch_sides(self) -> "Position":
        """Return the position from the other player's side."""
        return Position(-self.board[::-1])

    @property
    def own_off(self) -> int:
        """Checkers that the player on roll has borne off, 0 to 15."""
        return CHECKERS - int(self.board[self.board > 0].sum())

    @property
    def opponent_off(self) -> int:
        """Checkers that the opponent has borne off, 0 to 15."""
        return CHECKERS + int(self.board[self.board < 0].sum())

    @property
    def pip_count(self) -> int:
        """Pip count of the player on roll."""
        return int((np.maximum(self.board, 0) * np.arange(BOARD_SIZE)).sum())

    @property
    def pip_count_opponent(self) -> int:
        """Pip count of the opponent."""
        return int((np.maximum(-self.board, 0) * np.arange(BOARD_SIZE)[::-1]).sum())

    @property
    def gnubg_id(self) -> str:
        """The 14-character GNUbg position ID."""
        from motif.board.identifiers import gnubg_id

        return gnubg_id(self)

    @property
    def xgid(self) -> str:
        """The XGID, with its prefix; if `match` is None, for money play with a centred cube."""
        from motif.board.xgid_ogid import xgid

        return xgid(self, self.match)

    @property
    def ogid(self) -> str:
        """The OGID, without a prefix; if `match` is None, for money play with a centred cube."""
        from motif.board.xgid_ogid import ogid

        return ogid(self, self.match)

    def __str__(self) -> str:
        from motif.board.diagram import text_diagram

        return text_diagram(self, self.match)

    def _repr_svg_(self) -> str:
        from motif.board.diagram import svg_diagram

        return svg_diagram(self, self.match)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and bool((self.board == other.board).all())

    def __hash__(self) -> int:
        return hash(self.board.tobytes())

    def __repr__(self) -> str:
        own = {p: int(n) for p, n in enumerate(self.board) if n > 0}
        opponent = {OWN_BAR - p: -int(n) for p, n in enumerate(self.board) if n < 0}
        return f"Position.from_points({own}, {opponent})"


PositionLike = Position | str | ArrayLike
"""A position, its ID, or 26 numbers."""
Positions = Iterable[Position | str] | ArrayLike
"""Several positions: (n, 26) numbers, or any sequence of positions and IDs."""


def one_or_more(positions: PositionLike | Positions) -> Positions:
    """Return several positions unchanged, and a single one in any form as a list."""
    if isinstance(positions, Position | str):
        return [positions]
    # A data frame iterates over the names of its columns, which may be numbers.
    if isinstance(positions, Iterable) and getattr(positions, "ndim", 1) == 1:
        positions = positions if isinstance(positions, Sized) else list(positions)
        first = next(iter(cast("Iterable[object]", positions)), None)
        if isinstance(first, Real):
            return [Position.of(cast(PositionLike, positions))]
    return cast(Positions, positions)


def as_boards(positions: Positions) -> Board:
    """Convert positions to a C-contiguous int8 array (n, 26).

    They may also be a data frame with a row for each board.  Raises `PositionError`, which names the first
    invalid row.
    """
    if len(getattr(positions, "shape", ())) == 2 and hasattr(positions, "to_numpy"):
        positions = positions.to_numpy()
    if not isinstance(positions, np.ndarray) or positions.dtype.kind in "OU":
        rows = [_row(number, item) for number, item in enumerate(_listed(positions))]
        positions = rows or np.empty((0, BOARD_SIZE), np.int8)
    try:
        values = _numbers(positions)
    except ValueError:  # rows of different lengths
        raise _fault_of_rows(positions) from None
    if values.dtype.kind not in "iuf" or (values.ndim == 1 and np.isnan(values).any()):
        raise _fault_of_rows(values)
    if values.ndim != 2 or values.shape[1] != BOARD_SIZE:
        raise PositionError(f"positions must have the shape (n, {BOARD_SIZE}), not {values.shape}")
    with np.errstate(invalid="ignore"):  # a NaN becomes some number and is found below
        boards = np.array(values, dtype=np.int8, order="C")
    # Boards of int8 skip the comparison, which would take a noticeable part of the time for a single board.
    if values.dtype != np.int8 and not np.array_equal(boards, values):
        raise _fault_of_rows(values, int(np.flatnonzero((boards != values).any(axis=1))[0]))
    bad = first_bad_board(boards)
    if bad >= 0:
        raise PositionError("; ".join(faults(boards[bad])), about=f"row {bad}: invalid position")
    return boards


def _numbers(values: object) -> npt.NDArray[Any]:
    """Return `values` as an array, of numbers if they are objects, as in a row of a mixed data frame."""
    array = np.asarray(values)
    return np.array(array.tolist()) if array.dtype.kind == "O" else array


def _listed(positions: object) -> Iterable[Any]:
    if isinstance(positions, str | Position) or not isinstance(positions, Iterable):
        what = "one position" if isinstance(positions, str | Position) else _wrong(positions)
        raise PositionError(f"positions must be a list or an array of shape (n, {BOARD_SIZE}), not {what}")
    return positions


def _wrong(value: object) -> str:
    """Return `value` for a message; of a dataset, also where its boards are."""
    return shown(value) + "; evaluate_many takes its boards, data.boards" * hasattr(value, "boards")


def _fault_of_rows(rows: Any, first: int = 0) -> PositionError:
    """Return the error of the first row, from row `first` on, that is not a position."""
    rows = rows[first:]
    for number, item in enumerate(rows.tolist() if getattr(rows, "ndim", 2) == 1 else rows, first):
        try:
            Position.of(item)
        except PositionError as error:
            return PositionError(f"row {number}: {error}")
    return PositionError("positions must contain whole numbers of checkers")


def _row(number: int, item: Any) -> Any:
    try:
        return Position.of(item).board if isinstance(item, Position | str) else item
    except PositionError as error:
        raise PositionError(f"row {number}: {error}") from None


@kernel
def first_bad_board(boards):
    """Return the first row of `boards` (n, 26) that has `faults`, or -1."""
    for row in range(boards.shape[0]):
        own, opponent, own_home, opponent_home = np.int64(0), np.int64(0), 0, 0
        for place in range(BOARD_SIZE):
            count = np.int64(boards[row, place])
            if count > 0:
                own += count
            else:
                opponent -= count
            if 1 <= place <= HOME and count >= 2:
                own_home += 1
            if POINTS - HOME < place <= POINTS and count <= -2:
                opponent_home += 1
        bar, opponent_bar = boards[row, OWN_BAR], boards[row, OPPONENT_BAR]
        if own > CHECKERS or opponent > CHECKERS or own + opponent == 0 or bar < 0 or opponent_bar > 0:
            return row
        if own_home == HOME and opponent_home == HOME and bar > 0 and opponent_bar < 0:
            return row
    return -1


def _checked(side: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the points and checkers of one side; raises `PositionError` for invalid ones."""
    for point, count in side.items():
        for value, low, high, rule in (
            (point, 1, OWN_BAR, "each point must be 1 to 24, or 25 for the bar"),
            (count, 0, CHECKERS, f"each number of checkers must be a whole number from 0 to {CHECKERS}"),
        ):
            if not (isinstance(value, Integral) and low <= value <= high):
                raise PositionError(f"{rule}, not {shown(value)}", about="invalid position")
        yield point, count
