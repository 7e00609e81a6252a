"""Parameter sets by name, those of motif and files of one's own, and what they measure on boards."""

from collections.abc import Collection
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board, pack_many
from motif.parameters.own_set import SUFFIX, find_own_set, load_own_set
from motif.parameters.registry import ParameterSet
from motif.parameters.sets import PARAMETER_SETS, code_of, measure_packed
from motif.runtime.errors import ParameterError

KNOWN_SETS = (*PARAMETER_SETS, f"FILE{SUFFIX}")
"""What may stand where a set is named."""


def parameter_set(name: str) -> ParameterSet:
    """The set called `name`, or in the file at the path `name`; raises `ParameterError`."""
    if name.endswith(SUFFIX):
        return load_own_set(name)
    try:
        return PARAMETER_SETS[name]
    except KeyError:
        known = ", ".join(KNOWN_SETS)
        raise ParameterError(f"no parameter set is called {name!r}; there are: {known}") from None


def fitted_set(
    name: object, fingerprint: object, folder: Path, names: Collection[str]
) -> ParameterSet | None:
    """The set called `name` that weights over `names`, in a file in `folder`, were fitted to.

    None when there is none of the name.  Where motif's has another fingerprint, also as it was when it had
    the parameters in `names` alone, it is given as it is.  Raises `ParameterError` for a file of one's own
    that cannot be found, or is not that of `fingerprint`.
    """
    if not isinstance(name, str):
        return None
    if name.endswith(SUFFIX):
        return find_own_set(name, fingerprint, folder, names)
    return PARAMETER_SETS[name].fitted(fingerprint, names) if name in PARAMETER_SETS else None


def features(parameters: ParameterSet, boards: Board) -> npt.NDArray[np.float32]:
    """Scaled features float32 (n, len(parameters)) of `boards` int8 (n, 26), in the set's order.

    Raises `ParameterError` when a function of one's own gives a value that is not finite.
    """
    whole = parameters.whole or parameters
    values = np.empty((len(boards), len(whole)), np.float32)
    if measure_packed(code_of(whole), whole.functions, pack_many(boards), whole.scales, values):
        raise ParameterError(f"{parameters.name}: measures a value that is not finite on some positions")
    return values if whole is parameters else values.take(parameters.places, axis=1)
