"""Point tables: scores that are sums of one number per place, which depends on the checkers there.

PubEval has this form, and so do the start player `simple` and the move filter of a weight file: a table
float32 (2, 25, 16) holds, for the scored side (0) and the other side (1) and for each place in that side's
own numbering (24 is its bar), the score of 0 to 15 checkers there.
"""

import json
import math
from importlib import resources

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, HOME, OPPONENT_HALF, PACKED_BAR, POINTS, TABLE_SHAPE
from motif.compiler.jit import inline_kernel
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import Float32Array, FloatArray, IntArray

POINT_STEPS = 4
"""Weights of a point in a move filter or a hidden unit: for exactly 1, 2 and 3 checkers, and each further
one.
"""
_Table = Float32Array

_UNIT_BITS = 40
_ONE = np.uint64(1)

_PUBEVAL_INPUTS_A_POINT = 5


def tables_of(steps: Float32Array) -> Float32Array:
    """Return point tables (..., 2, 25, 16) of numbers (..., 2, 25, 4).

    The numbers are the scores of exactly 1, 2 and 3 checkers on a place, and of each further one.
    """
    tables = np.zeros((*steps.shape[:-1], CHECKERS + 1), np.float32)
    tables[..., 1:4] = steps[..., :3]
    further = np.arange(1, CHECKERS - 2, dtype=np.float32)
    tables[..., 4:] = steps[..., 2:3] + steps[..., 3:] * further
    return tables


def checkers_by_place(packed: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return the checkers (n, 2, 25) of packed boards (n, 64) by side and point.

    The player on roll comes first; each side has its own numbering, the bar last.
    """
    places = PACKED_BAR + 1
    return np.stack([packed[:, :places], packed[:, OPPONENT_HALF : OPPONENT_HALF + places]], axis=1)


def table_sums(table: Float32Array, packed: npt.NDArray[np.int8]) -> FloatArray:
    """Return the sums (n,) of a table (2, 25, 16) over packed boards (n, 64); side 0 is on roll."""
    counts = checkers_by_place(packed)[..., None].astype(np.int64)
    return np.asarray(np.take_along_axis(table[None], counts, axis=-1).sum(axis=(1, 2, 3), dtype=np.float64))


@inline_kernel
def table_score_of_mover(packed, table):
    """Return the score of the player who has just moved to `packed`, a board of the next player on roll."""
    score = table[0, 0, packed[OPPONENT_HALF]] + table[1, 0, packed[0]]
    for place in range(1, PACKED_BAR + 1):
        score += table[0, place, packed[OPPONENT_HALF + place]] + table[1, place, packed[place]]
    return score


def in_units(tables: Float32Array, largest: float = 0.0) -> tuple[IntArray, float]:
    """Return `tables` in whole numbers of a unit, and the unit, a power of two.

    The unit suits other summands up to `largest` as well.

    Sums of whole numbers do not depend on their order: a play's score is the same whether it is summed over
    the whole board or over the changes of its moves.
    """
    largest = float(np.abs(tables).max(initial=largest))
    unit = 2.0 ** (math.frexp(largest)[1] - _UNIT_BITS) if largest else 1.0
    return np.rint(tables / np.float64(unit)).astype(np.int64), unit


def steps_of(tables: IntArray) -> IntArray:
    """Return the score of one more checker on a place for tables (..., 2, 25, 16), in the same shape."""
    steps = np.zeros_like(tables)
    steps[..., :-1] = np.diff(tables, axis=-1)
    return steps


def _pubeval_table(weights: FloatArray) -> _Table:
    """Return Tesauro's 122 weights as a table.

    Inputs for points 24 down to 1 of the scored side: [n == -1, n == 1, n >= 2, n == 3, (n - 3) / 2 if n >=
    4], then the other side's checkers on the bar / 2 and own checkers off / 15.
    """
    table = np.zeros(TABLE_SHAPE)
    for block in range(POINTS):
        opponent_blot, blot, made, three, more = weights[_PUBEVAL_INPUTS_A_POINT * block :][:5]
        place = POINTS - 1 - block
        table[0, place, 1] = blot
        table[0, place, 2:] = made
        table[0, place, 3] += three
        table[0, place, 4:] += more * (np.arange(4, CHECKERS + 1) - 3) / 2
        table[1, POINTS - 1 - place, 1] = opponent_blot
    on_bar, off = weights[-2:]
    table[1, PACKED_BAR] = on_bar * np.arange(CHECKERS + 1) / 2
    # Checkers off are those not on the board: each one on the board subtracts its share, and the
    # constant 15 / 15 is the same for every play.
    table[0] -= off * np.arange(CHECKERS + 1) / CHECKERS
    return table.astype(np.float32)


def pubeval_tables() -> Float32Array:
    """Return PubEval's tables (3, 2, 25, 16), one per position class; contact and crashed share one."""
    text = resources.files("motif").joinpath("data", "pubeval.json").read_text(encoding="utf-8")
    weights = {key: np.array(value) for key, value in json.loads(text).items() if isinstance(value, list)}
    return np.stack(
        [_pubeval_table(weights["race" if name == "race" else "contact"]) for name in CLASS_NAMES]
    )


def simple_tables() -> Float32Array:
    """Return the tables of `simple`, the hand-made player with which learning starts.

    It follows only a beginner's rules: race, bear off, make points (especially home points), leave no blots
    where they cost most, do not stack, and avoid the bar. It plays badly, but its rollouts distinguish good
    positions from bad ones.
    """
    table: FloatArray = np.zeros(TABLE_SHAPE)
    checkers = np.arange(CHECKERS + 1)
    for place in range(PACKED_BAR + 1):
        # Each checker on the board costs its pips and a little more, so that it bears off.
        travel = -(0.05 * (place + 1) + 0.25) * checkers
        made = np.where(checkers >= 2, 0.45 if place < HOME else 0.2, 0.0)
        # A blot would lose the pips that it has moved already, so one near home costs most.
        blot = np.where(checkers == 1, -0.012 * (POINTS - place), 0.0)
        stack = -0.08 * np.maximum(checkers - 3, 0)
        score = travel - 0.3 * checkers if place == PACKED_BAR else travel + made + blot + stack
        table[:, place] = score, -score
    return np.repeat(table[None].astype(np.float32), len(CLASS_NAMES), axis=0)
