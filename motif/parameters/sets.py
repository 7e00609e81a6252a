"""The sets that exist, and the compiled function that measures any of them."""

import numpy as np
import numpy.typing as npt

from motif.board.masks import made, occupied
from motif.board.position import PACKED_WORDS, Board, pack_many
from motif.parameters.bras_set import BRAS_SET, measure_bras
from motif.parameters.keith_set import KEITH_SET, measure_keith
from motif.parameters.motif_measures import measure_motif
from motif.parameters.motif_set import MOTIF_SET
from motif.parameters.phase_set import PHASE_SET, measure_phase
from motif.parameters.registry import ParameterSet
from motif.runtime.errors import WeightFileError
from motif.runtime.jit import inline_kernel, kernel

PARAMETER_SETS: dict[str, ParameterSet] = {
    chosen.name: chosen for chosen in (MOTIF_SET, KEITH_SET, BRAS_SET, PHASE_SET)
}
DEFAULT_SET = MOTIF_SET.name

SET_CODES = {name: code for code, name in enumerate(PARAMETER_SETS)}
"""The number by which compiled code knows each set."""
_MOTIF_CODE = SET_CODES[MOTIF_SET.name]
_BRAS_CODE = SET_CODES[BRAS_SET.name]
_PHASE_CODE = SET_CODES[PHASE_SET.name]

KNOWN = PACKED_WORDS // 2 + 1
"""Length of what `measure` remembers of a half board."""
MAX_PARAMETERS = max(map(len, PARAMETER_SETS.values()))


def parameter_set(name: str) -> ParameterSet:
    """The set called `name`; raises `WeightFileError` when there is none."""
    try:
        return PARAMETER_SETS[name]
    except KeyError:
        known = ", ".join(PARAMETER_SETS)
        raise WeightFileError(f"no parameter set is called {name!r}; there are: {known}") from None


@inline_kernel
def measure(set_code, words, packed, own, own_made, other, other_made, out, known):
    """Write the values, unscaled, of the set with the code `set_code` to `out`.

    `known` int64 (KNOWN,), zero at first, belongs to `out`: it says what `out` still holds from the
    last measurement.
    """
    if set_code == _MOTIF_CODE:
        measure_motif(words, packed, own, own_made, other, other_made, out, known)
        return
    known[KNOWN - 1] = 0
    if set_code == _BRAS_CODE:
        measure_bras(words, packed, own, own_made, other, other_made, out)
    elif set_code == _PHASE_CODE:
        measure_phase(words, packed, own, own_made, other, other_made, out)
    else:
        measure_keith(words, packed, own, own_made, other, other_made, out)


@kernel
def _measure_packed(set_code, packed, scales, features):
    words = packed.view(np.int64)
    half = PACKED_WORDS // 2
    known = np.zeros(KNOWN, np.int64)
    for row in range(packed.shape[0]):
        board = words[row]
        own, own_made = occupied(board, 0), made(board, 0)
        other, other_made = occupied(board, half), made(board, half)
        measure(set_code, board, packed[row], own, own_made, other, other_made, features[row], known)
        known[KNOWN - 1] = 0
        for k in range(features.shape[1]):
            features[row, k] *= scales[k]


def features(chosen: ParameterSet, boards: Board) -> npt.NDArray[np.float32]:
    """Scaled features float32 (n, len(chosen)) of `boards` int8 (n, 26), in the set's order."""
    values = np.empty((len(boards), len(chosen)), np.float32)
    _measure_packed(SET_CODES[chosen.name], pack_many(boards), chosen.scales, values)
    return values
