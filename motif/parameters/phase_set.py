"""Parameter set ``phase``: 16 features for each phase of the player who moved last.

They come from a course project whose heuristic, best-of-four player and network are also part of motif.  A
player is in the early game with more than 8 checkers outside the home board, in the late game with fewer
than 3, and otherwise in the middle game.  Each phase has its own 16 features; the features of the other
phases are 0.

Two details are not in the source.  Distances are the pips needed to bear off the checkers on points (the
source's largest sums, 360 and 270, exclude the bar). Checkers on the bar count as outside the home board
and as in play.
"""

import numpy as np

from motif.board.outcome import checkers_on_board
from motif.board.packed import BAR_BIT, CHECKERS, HOME, OPPONENT_HALF, PACKED_BAR
from motif.compiler.jit import NOTHING, inline_kernel, kernel, lean_kernel, popcount, trailing_zeros, words_of
from motif.parameters.registry import SetBuilder

PHASES = ("early", "mid", "late")
EARLY, MID, LATE = range(3)
_EARLY_ABOVE, _LATE_BELOW = 8, 3

# Name, sentence, unit, largest value in the source, and group, in the order of the source's vector.
_FEATURES = (
    ("occupied_points", "points that {side} has made", "points", 7, "blocking"),
    ("borne_off", "checkers that {side} has borne off", "checkers", 15, "race"),
    ("on_bar", "checkers of {side} on the bar", "checkers", 15, "attack"),
    ("blot_distance", "pips that the blots of {side} must still travel", "pips", 360, "safety"),
    ("total_distance", "pips that the checkers of {side} on points must still travel", "pips", 360, "race"),
    ("excess_distance", "pips that {side} needs to bring these checkers home", "pips", 270, "race"),
    ("blots", "blots of {side}", "blots", 15, "safety"),
    ("on_board", "checkers of {side} in play", "checkers", 15, "race"),
)
OCCUPIED, BORNE_OFF, ON_BAR, BLOT_DISTANCE, TOTAL_DISTANCE, EXCESS_DISTANCE, BLOTS, ON_BOARD = range(8)
SIDE_FEATURES = len(_FEATURES)
PHASE_FEATURES = 2 * SIDE_FEATURES
"""Number of features per phase: the mover's in the order above, then the opponent's in reverse order."""

_builder = SetBuilder("phase", revision=1)
_MOVER, _OTHER = "the player who moved last", "the player on roll"
for _phase in PHASES:
    _when = f", while {_MOVER} is in the {_phase} game"
    for _prefix, _side, _features in (("", _MOVER, _FEATURES), ("opponent_", _OTHER, _FEATURES[::-1])):
        for _name, _sentence, _unit, _full, _group in _features:
            _text = _sentence.format(side=_side) + _when
            _builder.shared(f"{_phase}_{_prefix}{_name}", _text, _unit, _full, _group)

PHASE_SET = _builder.build()

_SIZE = len(PHASE_SET)
_ONE = np.uint64(1)


@inline_kernel
def phase_of_mover(words, packed):
    """Return the phase of the player who moved last, the opponent on a packed board."""
    out_of_home = checkers_on_board(words, OPPONENT_HALF // 8)
    for place in range(HOME):
        out_of_home -= np.int64(packed[OPPONENT_HALF + place])
    if out_of_home < _LATE_BELOW:
        return LATE
    return EARLY if out_of_home > _EARLY_ABOVE else MID


@inline_kernel
def _measure_side(words, packed, half, own, own_made, out, first, step):
    """Write the features of one side to every `step`-th entry of `out` from `first`."""
    distance, excess, blot_distance = np.int64(0), np.int64(0), np.int64(0)
    rest = own & ~BAR_BIT
    while rest:
        place = np.int64(trailing_zeros(rest))
        rest &= rest - _ONE
        count = np.int64(packed[half + place])
        distance += count * (place + 1)
        excess += count * max(place + 1 - HOME, np.int64(0))
        if count == 1:
            blot_distance += place + 1
    in_play = checkers_on_board(words, half // 8)
    out[first + step * OCCUPIED] = np.int64(popcount(own_made & ~BAR_BIT))
    out[first + step * BORNE_OFF] = CHECKERS - in_play
    out[first + step * ON_BAR] = packed[half + PACKED_BAR]
    out[first + step * BLOT_DISTANCE] = blot_distance
    out[first + step * TOTAL_DISTANCE] = distance
    out[first + step * EXCESS_DISTANCE] = excess
    out[first + step * BLOTS] = np.int64(popcount(own & ~own_made & ~BAR_BIT))
    out[first + step * ON_BOARD] = in_play


@lean_kernel(NOTHING)
def measure_phase(words, packed, own, own_made, other, other_made, out):
    """Write the set's unscaled values for a packed board and its masks to `out`."""
    out[:_SIZE] = 0
    first = PHASE_FEATURES * phase_of_mover(words, packed)
    _measure_side(words, packed, OPPONENT_HALF, other, other_made, out, first, 1)
    last = first + PHASE_FEATURES - 1
    _measure_side(words, packed, 0, own, own_made, out, last, -1)


@kernel
def mover_phases(packed):
    """Return the phases int8 (n,) of the players who moved last, for packed boards int8 (n, 64)."""
    words = words_of(packed)
    phases = np.empty(packed.shape[0], np.int8)
    for row in range(packed.shape[0]):
        phases[row] = phase_of_mover(words[row], packed[row])
    return phases
