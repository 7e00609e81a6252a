"""Random streams: SplitMix64, derived from a seed, an item and a trial, and passed explicitly.

A stream is its uint64 state in a one-element array.  Streams of different (seed, item, trial) start at
hashed, unrelated points of the generator's sequence.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), with the mixing
function of Stafford's variant 13.
"""

import numpy as np

from motif.compiler.jit import inline_kernel, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_S11 = np.uint64(11)

DICE_PAIRS = 36
"""Number of equally likely pairs of two dice."""


@inline_kernel
def mix(value):
    """Return a bijective hash of a uint64."""
    value = (value ^ (value >> _S30)) * _MIX1
    value = (value ^ (value >> _S27)) * _MIX2
    return value ^ (value >> _S31)


@inline_kernel
def derive(seed, item, trial):
    """Return the initial state of the stream of a trial of an item; all three are uint64."""
    state = mix(seed + _GOLDEN)
    state = mix(state ^ mix(item + _GOLDEN + _GOLDEN))
    return mix(state ^ mix(trial + _GOLDEN + _GOLDEN + _GOLDEN))


@inline_kernel
def next_uint64(stream):
    """Advance the one-element uint64 array `stream` and return 64 random bits."""
    stream[0] += _GOLDEN
    return mix(stream[0])


@inline_kernel
def next_below(stream, limit):
    """Return a random int64 from 0 to limit - 1; its bias is below limit / 2**32."""
    return np.int64(((next_uint64(stream) >> _S32) * np.uint64(limit)) >> _S32)


@inline_kernel
def next_unit(stream):
    """Return a random float64 in [0, 1)."""
    return np.float64(next_uint64(stream) >> _S11) * (1.0 / 9007199254740992.0)


@inline_kernel
def dice_of(pair):
    """Return the two dice of the pair with an index from 0 to 35, the higher die first."""
    first, second = pair // 6 + 1, pair % 6 + 1
    if first >= second:
        return first, second
    return second, first


@inline_kernel
def next_roll(stream):
    """Return two random dice, each 1 to 6, the higher first."""
    return dice_of(next_below(stream, DICE_PAIRS))


@kernel
def derive_states(seed, first_item, count, trial):
    """Return the initial states of the streams of `count` items from `first_item` on: uint64 (count,)."""
    states = np.empty(count, np.uint64)
    for k in range(count):
        states[k] = derive(np.uint64(seed), np.uint64(first_item + k), np.uint64(trial))
    return states
