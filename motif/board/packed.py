"""Packed boards for kernels, bit masks of points, and sums over checkers.

A packed board is int8[64]: the player's own points 1..24 are at 0..23 and the own bar at 24; the opponent's
points *in the opponent's numbering* are at 32..55 and the opponent's bar at 56. All counts are positive,
and all other bytes are zero.  To switch sides, the two halves are swapped; eight 64-bit words are copied
faster than 26 signed bytes.  Point p of one player is point 25 - p of the other.

In a bit mask, bit p - 1 is point p and bit 24 is the bar.

Half of a packed board is four 64-bit words of eight bytes, one byte per point.  Multiplying a word by eight
weights of one byte each leaves the weighted sum of its bytes in the highest byte, if no sum reaches 256. A
side has 15 checkers, so weights up to 17 are safe.
"""

import numpy as np
import numpy.typing as npt

from motif.compiler.jit import inline_kernel, popcount, reversed_bits

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
TABLE_SHAPE = (2, PACKED_BAR + 1, CHECKERS + 1)
"""Shape of tables by side (the player on roll first), point or bar, and number of checkers."""
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
OUTFIELD_POINTS = np.uint64(0x03FFC0)
OPPONENT_HOME_POINTS = np.uint64(0xFC0000)
_ONE = np.uint64(1)
_MAX_RUN = 7


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
    """Return packed boards int8 (n, 64) of `boards` int8 (n, 26)."""
    packed = np.zeros((len(boards), PACKED_SIZE), np.int8)
    np.maximum(boards[:, 1:OWN_BAR], 0, out=packed[:, :POINTS])
    np.maximum(-boards[:, POINTS:0:-1], 0, out=packed[:, OPPONENT_HALF : OPPONENT_HALF + POINTS])
    packed[:, PACKED_BAR] = boards[:, OWN_BAR]
    packed[:, OPPONENT_HALF + PACKED_BAR] = -boards[:, OPPONENT_BAR]
    return packed


def unpack_many(packed: Board) -> Board:
    """Return boards int8 (n, 26) of packed boards int8 (n, 64)."""
    boards = np.empty((len(packed), BOARD_SIZE), np.int8)
    boards[:, 1:OWN_BAR] = packed[:, :POINTS] - packed[:, OPPONENT_HALF + POINTS - 1 : OPPONENT_HALF - 1 : -1]
    boards[:, OWN_BAR] = packed[:, PACKED_BAR]
    boards[:, OPPONENT_BAR] = -packed[:, OPPONENT_HALF + PACKED_BAR]
    return boards


@inline_kernel
def copy_words(source, target):
    """Copy a packed board int64[8]; assigning slices is slower, and much slower to compile."""
    for k in range(PACKED_WORDS):
        target[k] = source[k]


@inline_kernel
def has_same_half(words, other):
    """Return whether the player on roll has the same checkers on two boards int64[8]."""
    same = True
    for k in range(PACKED_WORDS // 2):
        same &= words[k] == other[k]
    return same


@inline_kernel
def _byte_flags(word, addend):
    # Each byte is 0 to 15, so that the addition can carry into its top bit but not into the next byte.
    return ((((word + addend) >> _S7) & _ONES) * _GATHER) >> _S56


@inline_kernel
def occupied(words, first):
    """Return the mask of points with a checker in the half at word `first` (0 or 4) of `words`."""
    return (
        _byte_flags(np.uint64(words[first]), _AT_LEAST_1)
        | (_byte_flags(np.uint64(words[first + 1]), _AT_LEAST_1) << _S8)
        | (_byte_flags(np.uint64(words[first + 2]), _AT_LEAST_1) << _S16)
        | (_byte_flags(np.uint64(words[first + 3]), _AT_LEAST_1) << _S24)
    )


@inline_kernel
def made(words, first):
    """Return the mask of points with two or more checkers in the half at word `first` of `words`."""
    return (
        _byte_flags(np.uint64(words[first]), _AT_LEAST_2)
        | (_byte_flags(np.uint64(words[first + 1]), _AT_LEAST_2) << _S8)
        | (_byte_flags(np.uint64(words[first + 2]), _AT_LEAST_2) << _S16)
        | (_byte_flags(np.uint64(words[first + 3]), _AT_LEAST_2) << _S24)
    )


@inline_kernel
def mirrored(mask):
    """Return the 24 points of `mask` in the other player's numbering, without the bar."""
    return reversed_bits(mask & ALL_POINTS) >> _S40


@inline_kernel
def longest_run(points):
    """Return the length of the longest run of ones, at most 7 because 15 checkers make at most 7 points."""
    run = np.int64(0)
    for _ in range(_MAX_RUN):
        run += np.int64(points != 0)
        points &= points >> _ONE
    return run


_ONE_TO_EIGHT = np.uint64(0x0102030405060708)
_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
# Squares of 1 to 8 would overflow a byte, so the even and the odd bytes are summed in 16 bits each.
_EVEN_SQUARES = np.uint64(0x0001000900190031)
_ODD_SQUARES = np.uint64(0x0004001000240040)
_ADD_TO_FLAG_FOUR = np.uint64(0x7C7C7C7C7C7C7C7C)
_S48 = np.uint64(48)


@inline_kernel
def checkers_in(word):
    """Count the checkers in one word."""
    return np.int64((word * _ONES) >> _S56)


@inline_kernel
def pips_in(word):
    """Sum the checkers of one word with the weights 1 to 8."""
    return np.int64((word * _ONE_TO_EIGHT) >> _S56)


@inline_kernel
def squares_in(word):
    """Sum the checkers of one word with the weights 1, 4, 9 ... 64."""
    even = ((word & _EVEN_BYTES) * _EVEN_SQUARES) >> _S48
    odd = (((word >> _S8) & _EVEN_BYTES) * _ODD_SQUARES) >> _S48
    return np.int64(even + odd)


@inline_kernel
def above_third(first, second, third, fourth):
    """Count the checkers beyond the third on each point of four words."""
    excess, piles = np.uint64(0), np.int64(0)
    for word in (first, second, third, fourth):
        flags = ((word + _ADD_TO_FLAG_FOUR) >> _S7) & _ONES
        excess += word & ((flags << _S8) - flags)
        piles += np.int64(popcount(flags))
    return checkers_in(excess) - 3 * piles
