"""Bit masks of packed boards: one bit a place, bit p - 1 for point p, bit 24 for the bar."""

import numpy as np

from motif.runtime.jit import inline_kernel, reversed_bits

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
