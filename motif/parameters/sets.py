"""The built-in sets, and the kernel that measures a set."""

import numpy as np

from motif.board.packed import PACKED_WORDS, made, occupied
from motif.compiler.jit import inline_kernel, kernel, words_of
from motif.parameters.bras_set import BRAS_SET, measure_bras
from motif.parameters.keith_set import KEITH_SET, measure_keith
from motif.parameters.motif_set import MOTIF_SET, OF_PLAYER_ON_ROLL, measure_motif
from motif.parameters.own_measures import BOARD_WORDS, measure_own
from motif.parameters.phase_set import PHASE_SET, measure_phase
from motif.parameters.registry import ParameterSet
from motif.runtime.arrays import BoolArray

PARAMETER_SETS: dict[str, ParameterSet] = {
    parameters.name: parameters for parameters in (MOTIF_SET, KEITH_SET, BRAS_SET, PHASE_SET)
}
DEFAULT_SET = MOTIF_SET.name

SET_CODES = {name: code for code, name in enumerate(PARAMETER_SETS)}
"""Number of each set in kernels."""
_MOTIF_CODE, _KEITH_CODE, _BRAS_CODE, _PHASE_CODE = SET_CODES.values()
_NOTHING_CODE = -1

_FLAG = PACKED_WORDS // 2
KNOWN = _FLAG + 1 + 2 * BOARD_WORDS
"""Length of the memory of `measure`: half a board with its flag, and two boards."""
MAX_PARAMETERS = 256
"""Maximum number of parameters in a set."""


def code_of(parameters: ParameterSet) -> int:
    """Return the number of a set, or of its base, in kernels."""
    return _NOTHING_CODE if parameters.compiled_name is None else SET_CODES[parameters.compiled_name]


def of_player_on_roll(parameters: ParameterSet) -> BoolArray:
    """Return which parameters (n,) are known to depend only on the checkers of the player on roll.

    They are known for sets that are, or extend, the set ``motif``.
    """
    of_motif = parameters.compiled_name == MOTIF_SET.name
    known = {MOTIF_SET.names[index] for index in OF_PLAYER_ON_ROLL} if of_motif else set()
    return np.array([name in known for name in parameters.names])


@inline_kernel
def measure(set_code, own_functions, words, packed, own, own_made, other, other_made, out, known):
    """Write a set's unscaled values to `out`; return how many of your own parameters are not finite.

    `set_code` is the set's `code_of`, and `own_functions` are its `functions`. `known` int64 (KNOWN,),
    initially zero, records which values in `out` are still valid from the last measurement.
    """
    if set_code == _MOTIF_CODE:
        measure_motif(words, packed, own, own_made, other, other_made, out, known)
    else:
        known[_FLAG] = 0
        if set_code == _BRAS_CODE:
            measure_bras(words, packed, own, own_made, other, other_made, out)
        elif set_code == _PHASE_CODE:
            measure_phase(words, packed, own, own_made, other, other_made, out)
        elif set_code == _KEITH_CODE:
            measure_keith(words, packed, own, own_made, other, other_made, out)
    if own_functions.shape[0] > 0:
        return measure_own(own_functions, packed, out, known[_FLAG + 1 :])
    return 0


@inline_kernel
def take_places(places, out, known):
    """Move the values at the ascending indices `places` (n,) to the start of `out`, after a measurement."""
    for k in range(places.shape[0]):
        out[k] = out[places[k]]
    known[_FLAG] = 0


@kernel
def measure_packed(set_code, own_functions, packed, scales, features):
    """Write the scaled values of packed boards (n, 64) to `features`, float32 (n, size of the set).

    Returns how many values are not finite; only your own parameters can have such values.
    """
    words = words_of(packed)
    half = PACKED_WORDS // 2
    known = np.zeros(KNOWN, np.int64)
    strange = 0
    for row in range(packed.shape[0]):
        board, out = words[row], features[row]
        own, own_made = occupied(board, 0), made(board, 0)
        other, other_made = occupied(board, half), made(board, half)
        strange += measure(
            set_code, own_functions, board, packed[row], own, own_made, other, other_made, out, known
        )
        known[_FLAG] = 0
        for k in range(features.shape[1]):
            out[k] *= scales[k]
    return strange
