"""Packed boards, which kernels work on, and bit masks of their places.

A packed board is int8[64]: own points 1..24 at 0..23, own bar at 24; the opponent's points *in his own
numbering* at 32..55, his bar at 56; all counts positive, all other bytes zero.  Switching sides swaps the
two halves; eight 64-bit words are copied faster than 26 signed bytes.  My point p is his point 25 - p.

Of a mask bit p - 1 stands for point p, bit 24 for the bar.
"""

import numpy as np
import numpy.typing as npt

from motif.runtime.jit import inline_kernel, reversed_bits

Board = npt.NDArray[np.int8]

CHECKERS = 15
POINTS = 24
BOARD_SIZE = 26
OWN_BAR = 25
OPPONENT_BAR = 0
HOME = 6

PACKED_SIZE = 64
PACKED_WORDS = 8
PACKED_BAR = 24
OPPONENT_HALF = 32
"""Offset of the opponent's half in a packed board."""

_ONES = np.uint64(0x0101010101010101)
_GATHER = np.uint64(0x0102040810204080)
_AT_LEAST_1 = np.uint64(0x7F7F7F7F7F7F7F7F)
_AT_LEAST_2 = np.uint64(0x7E7E7E7E7E7E7E7E)
_S7, _S8, _S16, _S24, _S40, _S56 = (np.uint64(n) for n in (7, 8, 16, 24, 40, 56))

ALL_POINTS = np.uint64(0xFFFFFF)
BAR_BIT = np.uint64(1 << 24)
HOME_POINTS = np.uint64(0x3F)
_ONE = np.uint64(1)
_LONGEST = 7


@inline_kernel
def pack(board, packed):
    """Write the int8[26] `board` into the int8[64] `packed`."""
    for k in range(PACKED_SIZE):
        packed[k] = 0
    for point in range(1, OWN_BAR):
        count = board[point]
        if count > 0:
            packed[point - 1] = count
        elif count < 0:
            packed[OPPONENT_HALF + POINTS - point] = -count
    packed[PACKED_BAR] = board[OWN_BAR]
    packed[OPPONENT_HALF + PACKED_BAR] = -board[OPPONENT_BAR]


@inline_kernel
def unpack(packed, board):
    """Write the int8[64] `packed` into the int8[26] `board`."""
    for point in range(1, OWN_BAR):
        board[point] = packed[point - 1] - packed[OPPONENT_HALF + POINTS - point]
    board[OWN_BAR] = packed[PACKED_BAR]
    board[OPPONENT_BAR] = -packed[OPPONENT_HALF + PACKED_BAR]


def pack_many(boards: Board) -> Board:
    """Packed boards int8 (n, 64) of `boards` int8 (n, 26)."""
    packed = np.zeros((len(boards), PACKED_SIZE), np.int8)
    np.maximum(boards[:, 1:OWN_BAR], 0, out=packed[:, :POINTS])
    np.maximum(-boards[:, POINTS:0:-1], 0, out=packed[:, OPPONENT_HALF : OPPONENT_HALF + POINTS])
    packed[:, PACKED_BAR] = boards[:, OWN_BAR]
    packed[:, OPPONENT_HALF + PACKED_BAR] = -boards[:, OPPONENT_BAR]
    return packed


def unpack_many(packed: Board) -> Board:
    """Boards int8 (n, 26) of packed boards int8 (n, 64)."""
    boards = np.empty((len(packed), BOARD_SIZE), np.int8)
    boards[:, 1:OWN_BAR] = packed[:, :POINTS] - packed[:, OPPONENT_HALF + POINTS - 1 : OPPONENT_HALF - 1 : -1]
    boards[:, OWN_BAR] = packed[:, PACKED_BAR]
    boards[:, OPPONENT_BAR] = -packed[:, OPPONENT_HALF + PACKED_BAR]
    return boards


@inline_kernel
def _byte_flags(word, addend):
    # Each byte holds 0 to 15 checkers: adding carries into its top bit, never into its neighbour.
    return ((((word + addend) >> _S7) & _ONES) * _GATHER) >> _S56


@inline_kernel
def occupied(words, first):
    """Places with at least one checker, of the half that starts at word `first` (0 or 4) of `words`."""
    return (
        _byte_flags(np.uint64(words[first]), _AT_LEAST_1)
        | (_byte_flags(np.uint64(words[first + 1]), _AT_LEAST_1) << _S8)
        | (_byte_flags(np.uint64(words[first + 2]), _AT_LEAST_1) << _S16)
        | (_byte_flags(np.uint64(words[first + 3]), _AT_LEAST_1) << _S24)
    )


@inline_kernel
def made(words, first):
    """Places with at least two checkers, of the half that starts at word `first` of `words`."""
    return (
        _byte_flags(np.uint64(words[first]), _AT_LEAST_2)
        | (_byte_flags(np.uint64(words[first + 1]), _AT_LEAST_2) << _S8)
        | (_byte_flags(np.uint64(words[first + 2]), _AT_LEAST_2) << _S16)
        | (_byte_flags(np.uint64(words[first + 3]), _AT_LEAST_2) << _S24)
    )


@inline_kernel
def mirrored(mask):
    """The 24 points of `mask` in the other player's numbering; the bar is left out."""
    return reversed_bits(mask & ALL_POINTS) >> _S40


@inline_kernel
def longest_run(points):
    """Length of the longest run of ones; 15 checkers make seven points at most."""
    run = 0
    for _ in range(_LONGEST):
        run += np.int64(points != 0)
        points &= points >> _ONE
    return run
