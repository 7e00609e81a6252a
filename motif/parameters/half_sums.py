"""Sums over the checkers of one side, eight places at a time.

A half of a packed board is four 64-bit words of eight places, a byte each.  Multiplying a word by a
row of eight byte weights leaves the weighted sum of its bytes in the highest byte, as long as no sum
reaches 256; a side has 15 checkers, so weights up to 17 are safe.
"""

import numpy as np

from motif.runtime.jit import inline_kernel, popcount

_ONES = np.uint64(0x0101010101010101)
_ONE_TO_EIGHT = np.uint64(0x0102030405060708)
_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
# Squares of 1 to 8 would overflow a byte: the even and the odd places are summed in 16 bits each.
_EVEN_SQUARES = np.uint64(0x0001000900190031)
_ODD_SQUARES = np.uint64(0x0004001000240040)
_ADD_TO_FLAG_FOUR = np.uint64(0x7C7C7C7C7C7C7C7C)
_S7, _S8, _S48, _S56 = (np.uint64(n) for n in (7, 8, 48, 56))


@inline_kernel
def checkers_in(word):
    """Checkers in one word."""
    return np.int64((word * _ONES) >> _S56)


@inline_kernel
def pips_in(word):
    """Checkers times 1 to 8, for the eight places of one word."""
    return np.int64((word * _ONE_TO_EIGHT) >> _S56)


@inline_kernel
def squares_in(word):
    """Checkers times the squares of 1 to 8, for the eight places of one word."""
    even = ((word & _EVEN_BYTES) * _EVEN_SQUARES) >> _S48
    odd = (((word >> _S8) & _EVEN_BYTES) * _ODD_SQUARES) >> _S48
    return np.int64(even + odd)


@inline_kernel
def above_third(first, second, third, fourth):
    """Checkers above the third on each place of four words."""
    excess, piles = np.uint64(0), 0
    for word in (first, second, third, fourth):
        flags = ((word + _ADD_TO_FLAG_FOUR) >> _S7) & _ONES
        excess += word & ((flags << _S8) - flags)
        piles += np.int64(popcount(flags))
    return checkers_in(excess) - 3 * piles
