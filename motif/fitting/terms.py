"""What is weighted: a constant, every feature, products of chosen pairs of them, and the points themselves.

The raw prediction is x = bias + sum w_i f_i + sum over pairs (i <= j) of w_ij f_i f_j, and with point
terms what each place of the board adds.  A weight vector holds the bias first, then `size` linear
weights, then one weight a pair, in `pairs` order, then those of the point terms, if any.

Point terms say how many checkers stand on each place, coded in steps, as columns of a fit.  For each
side, the player on roll and then the opponent, and each place in that side's own numbering (the bar
last), four columns tell 1, 2, 3 and more checkers: exactly one of the first three is 1 on a place with
checkers, and the fourth counts those beyond three.  A weight of one of the first three is so the whole
amount that 1, 2 or 3 checkers add.

A board has few of these columns that are not 0, so nothing but `fill_step_columns` forms them: what a
place adds to a product, or collects from one, stands in a table by the number of checkers there.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import BOARD_SIZE, CHECKERS, OWN_BAR, PACKED_BAR, Board
from motif.evaluators.point_table import tables_of
from motif.evaluators.weight_file import FILTER_STEPS
from motif.runtime.errors import FitError
from motif.runtime.jit import fast_kernel, kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
STEPS = FILTER_STEPS
"""Columns a place: 1, 2 and 3 checkers, and each further one."""
PLACES = PACKED_BAR + 1
POINT_SHAPE = (2, PLACES, STEPS)
"""Side (own, opponent), place, step."""
POINT_COLUMNS = 2 * PLACES * STEPS
_STEP_VALUES = np.ascontiguousarray(tables_of(np.eye(STEPS, dtype=np.float32)).T.astype(np.float64))
"""(16, STEPS): the columns of one place, by the number of checkers there."""
_SIGNED_COUNTS = 2 * CHECKERS + 1
"""What a place of a board can hold: 15 of the opponent's checkers (-15) to 15 of one's own."""


class SplitWeights(NamedTuple):
    """A weight vector taken apart."""

    bias: float
    linear: FloatArray
    """(size,) weights of the features."""
    quadratic: FloatArray
    """(number of pairs,) weights of the products, in the order of `Terms.pairs`."""
    points: FloatArray
    """`POINT_SHAPE` weights of the point terms; empty (0,) where there are none."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a head with `size` features; `pairs` is (number of pairs, 2), i <= j in each.

    With `points` there are the 200 point terms too, which are read off boards.
    Raises `FitError` for a pair that is out of range, out of order or listed twice.
    """

    size: int
    pairs: IntArray
    points: bool = False
    first: IntArray = field(init=False)
    """(number of pairs,): the first feature of each pair."""
    second: IntArray = field(init=False)
    """(number of pairs,): the second feature of each pair."""

    def __post_init__(self) -> None:
        pairs = np.array(self.pairs, np.int64).reshape(-1, 2)
        _check_pairs(self.size, pairs)
        for name, values in (("pairs", pairs), ("first", pairs[:, 0].copy()), ("second", pairs[:, 1].copy())):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @classmethod
    def all_pairs(cls, size: int, points: bool = False) -> "Terms":
        """Every pair (i, j) with i <= j, squares included: (0,0), (0,1), ... (size-1, size-1)."""
        return cls(size, np.column_stack(np.triu_indices(max(size, 0))), points)

    @classmethod
    def linear(cls, size: int, points: bool = False) -> "Terms":
        """The constant and the features alone, or with the point terms."""
        return cls(size, np.empty((0, 2), np.int64), points)

    @property
    def count(self) -> int:
        """Number of weights, the bias included."""
        return self.first_point + POINT_COLUMNS * self.points

    @property
    def first_point(self) -> int:
        """Where the point terms begin in a weight vector: the number of weights before them."""
        return 1 + self.size + len(self.pairs)

    def split(self, weights: npt.ArrayLike) -> SplitWeights:
        """The parts of a weight vector (count,), which must have the right length."""
        vector = np.asarray(weights, np.float64)
        if vector.shape != (self.count,):
            raise FitError(
                f"{self.count} weights are needed for these terms, not an array of shape {vector.shape}"
            )
        linear, pairs = vector[1 : 1 + self.size], vector[1 + self.size : self.first_point]
        points = vector[self.first_point :]
        return SplitWeights(
            float(vector[0]),
            linear.copy(),
            pairs.copy(),
            points.reshape(POINT_SHAPE if self.points else 0).copy(),
        )

    @cached_property
    def variables(self) -> tuple[IntArray, IntArray]:
        """(first_point,) each: what the terms but those of points are products of, 0 for the constant 1, then
        the features in their order."""
        first = np.concatenate([np.zeros(1 + self.size, np.int64), 1 + self.first])
        return first, np.concatenate([np.arange(1 + self.size), 1 + self.second])

    def among(self, features: IntArray) -> tuple["Terms", IntArray]:
        """The terms of some of the features alone, ascending numbers, and their places among all terms."""
        place = np.full(self.size, -1)
        place[features] = np.arange(len(features))
        pairs = np.flatnonzero((place[self.first] >= 0) & (place[self.second] >= 0))
        some = Terms(len(features), place[self.pairs[pairs]], self.points)
        points = np.arange(self.first_point, self.count)
        places = np.concatenate([[0], 1 + features, 1 + self.size + pairs, points])
        return some, places

    def expand(
        self,
        features: npt.NDArray[np.float32],
        boards: Board | None = None,
        factors: npt.ArrayLike = 1.0,
        points: npt.NDArray[np.float32] | None = None,
    ) -> npt.NDArray[np.float32]:
        """The values of every term: features float32 (n, size) -> float32 (n, count).

        `boards` (n, 26) are needed for point terms alone, from which `points` (200,) are taken off.  All is
        multiplied by `factors` (n,) in the end.  Large: call it on a few thousand rows at a time.
        """
        rows = np.ascontiguousarray(features, np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.size:
            raise FitError(f"the terms need features of shape (n, {self.size}), not {rows.shape}")
        out = np.empty((len(rows), self.count), np.float32)
        by_row = np.array(np.broadcast_to(factors, len(rows)), np.float32)
        first, second = self.variables
        begins = np.flatnonzero((np.diff(first, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 1))
        _expand(rows, by_row, first[begins], second[begins], np.append(begins, len(first)), out)
        if self.points:
            fill_step_columns(self.needed_boards(boards, len(rows)), self.first_point, out)
            of_points = out[:, self.first_point :]
            if points is not None:
                of_points -= points
            of_points *= by_row[:, None]
        return out

    def needed_boards(self, boards: Board | None, count: int) -> Board:
        """`boards` as they are when they are `count` boards; `FitError` when they are not."""
        if boards is None:
            raise FitError("point terms are read off the board of every row, and no boards are given")
        if boards.shape != (count, BOARD_SIZE) or boards.dtype != np.int8:
            raise FitError(
                f"there must be one board a row, int8 ({count}, {BOARD_SIZE}), "
                f"not {boards.dtype} {boards.shape}"
            )
        return boards


def add_products(boards: Board, weights: FloatArray, power: int, out: FloatArray) -> None:
    """Add to `out` (n,) the point terms of `boards` (n, 26), each to `power`, times `weights` (200,)."""
    amounts = np.asarray(weights).reshape(POINT_SHAPE) @ (_STEP_VALUES**power).T
    table = np.zeros((BOARD_SIZE, _SIGNED_COUNTS))
    table[1:, CHECKERS:] = amounts[0]
    table[:OWN_BAR, CHECKERS::-1] += amounts[1, ::-1]
    _look_up(boards, table, out)


def add_sums(boards: Board, row_values: FloatArray, power: int, sums: FloatArray) -> None:
    """Add to `sums` (200,) those over `boards` (n, 26) of each point term, to `power`, times `row_values`."""
    table = np.zeros((BOARD_SIZE, _SIGNED_COUNTS))
    _collect(boards, row_values, table)
    collected = np.stack([table[1:, CHECKERS:], table[:OWN_BAR, CHECKERS::-1][::-1]])
    sums += (collected @ _STEP_VALUES**power).ravel()


def step_columns(boards: Board) -> FloatArray:
    """The point terms of `boards` int8 (n, 26), seen by the player on roll: (n, 200)."""
    out = np.empty((len(boards), POINT_COLUMNS))
    fill_step_columns(np.ascontiguousarray(boards), 0, out)
    return out


@kernel
def fill_step_columns(boards, first, out):
    """Write the point terms of `boards` int8 (n, 26) to columns `first`, ... of `out` (n, ...)."""
    for row in range(boards.shape[0]):
        for column in range(first, first + POINT_COLUMNS):
            out[row, column] = 0
        for index in range(BOARD_SIZE):
            signed = np.int64(boards[row, index])
            if signed == 0:
                continue
            side, place, checkers = 0, index - 1, signed
            if signed < 0:
                side, place, checkers = 1, OWN_BAR - 1 - index, -signed
            column = first + (side * PLACES + place) * STEPS
            for step in range(STEPS):
                out[row, column + step] = _STEP_VALUES[checkers, step]


@kernel
def fill_point_column(boards, number, out):
    """Write the point term `number` of all boards to `out` (n,); `boards` int8 (26, n), by place."""
    side, place, step = number // (PLACES * STEPS), number // STEPS % PLACES, number % STEPS
    index = place + 1 if side == 0 else OWN_BAR - 1 - place
    for row in range(out.shape[0]):
        signed = np.int64(boards[index, row])
        checkers = signed if side == 0 else -signed
        out[row] = _STEP_VALUES[checkers, step] if checkers > 0 else 0.0


@fast_kernel
def _look_up(boards, table, out):
    for row in range(boards.shape[0]):
        total = 0.0
        for index in range(BOARD_SIZE):
            total += table[index, np.int64(boards[row, index]) + CHECKERS]
        out[row] += total


@fast_kernel
def _collect(boards, row_values, table):
    for row in range(boards.shape[0]):
        value = row_values[row]
        for index in range(BOARD_SIZE):
            table[index, np.int64(boards[row, index]) + CHECKERS] += value


@kernel
def _expand(features, factors, first, second, begins, out):
    """Terms of a stretch, from one of `begins` to the next, are a variable times neighbouring ones."""
    size = features.shape[1]
    variables = np.empty(1 + size, np.float32)
    variables[0] = 1.0
    for k in range(len(features)):
        for i in range(size):
            variables[1 + i] = features[k, i]
        for stretch in range(len(first)):
            begin, variable, start = begins[stretch], variables[first[stretch]], second[stretch]
            for p in range(begins[stretch + 1] - begin):
                out[k, begin + p] = (variable * variables[start + p]) * factors[k]


def _check_pairs(size: int, pairs: IntArray) -> None:
    if size < 1:
        raise FitError(f"at least one feature is needed, not {size}")
    for i, j in pairs[(pairs[:, 0] < 0) | (pairs[:, 0] > pairs[:, 1]) | (pairs[:, 1] >= size)][:1]:
        raise FitError(f"the pair ({i}, {j}) must have 0 <= first <= second < {size}")
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    for i, j in unique[counts > 1][:1]:
        raise FitError(f"the pair ({i}, {j}) is listed twice")
