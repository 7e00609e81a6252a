"""The compiled form of an evaluator: plain arrays.

Every static evaluator becomes one `Model`, so that one compiled playout serves them all.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import MAX_PLAYS, PlayBuffer, new_play_buffer
from motif.evaluators.bearoff import BearoffTables, no_tables
from motif.evaluators.kernels import ABSENT, RANDOM, TABLE
from motif.evaluators.patterns import PatternRoom, PatternTables, new_pattern_room, no_patterns
from motif.evaluators.point_table import TABLE_SHAPE, in_units, steps_of
from motif.evaluators.probabilities import HEADS, OUTPUTS
from motif.parameters.named_sets import OwnSet
from motif.parameters.own_measures import OwnFunctions, no_functions
from motif.parameters.position_class import CLASS_NAMES
from motif.parameters.sets import KNOWN, MAX_PARAMETERS
from motif.runtime.simd import ALIGNMENT, LANES, blocks_of

MAX_ROW = LANES * blocks_of(MAX_PARAMETERS)
"""Features are padded with zeros to this length."""
LEAST_ROW = 72
"""Linear weights are padded to this length at least: datasets name models by fingerprints of such rows."""
MAX_KEPT = 32


class Model(NamedTuple):
    """Arrays of one evaluator; those that a kind does not use are small dummies."""

    kind: int = TABLE
    set_code: int = 0
    blocks: int = 0
    """Features of the parameter set, in blocks of `LANES`."""
    win_only: bool = True
    """No head but ``win`` anywhere: plays are ranked by its raw sum."""
    kept: int = 0
    """Plays that the pre-filter leaves to the full evaluation; 0 for all."""
    form: npt.NDArray[np.int16] = np.full((len(CLASS_NAMES), len(HEADS)), ABSENT, np.int16)
    """(slots, heads): the form of a head's raw sum, as `motif.evaluators.static.Forms` numbers them."""
    quadratic: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
    """(forms,): whether a form has second-degree terms."""
    pointed: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
    """(forms,): whether it has point terms."""
    bias: npt.NDArray[np.float32] = np.zeros(0, np.float32)
    """(forms,)"""
    linear: npt.NDArray[np.float32] = np.zeros((0, LANES), np.float32)
    """(forms, at least LEAST_ROW)"""
    tiles: npt.NDArray[np.float32] = np.zeros((0, LANES), np.float32)
    """(forms, length): second-degree weights as `motif.runtime.simd.weighted_form` reads them."""
    points: npt.NDArray[np.float32] = np.zeros((0, *TABLE_SHAPE), np.float32)
    """(forms, 2, 25, 16): point terms, by side, the player on roll's first, place and checkers there;
    (0, 2, 25, 16) where no form has any."""
    tables: npt.NDArray[np.int64] = np.zeros((len(CLASS_NAMES), *TABLE_SHAPE), np.int64)
    """(classes, 2, 25, 16): the point tables, or the pre-filter's, in units."""
    steps: npt.NDArray[np.int64] = steps_of(np.zeros((len(CLASS_NAMES), *TABLE_SHAPE), np.int64))
    """(classes, 2, 25, 16): what one more checker adds to them."""
    unit: float = 1.0
    calibration: npt.NDArray[np.float64] = np.tile([0.0, 1.0], (len(CLASS_NAMES), 1))
    """(classes, 2): intercept and slope that turn a table's score into a raw sum for ``win``."""
    knots: npt.NDArray[np.float64] = np.zeros((0, 0, 2))
    """(slots, k, 2): what the raw sums of shown win chances really stand for, as
    `motif.evaluators.calibration`
    reads it; (0, 0, 2) for a model without a calibration."""
    bearoff: BearoffTables = no_tables()
    """What a weights model knows of bearoffs; tables that cover nothing leave them to the weights."""
    own_functions: OwnFunctions = no_functions()
    """What measures the parameters of one's own, by addresses that this process alone knows."""
    places: npt.NDArray[np.int64] = np.zeros(0, np.int64)
    """(n,): which of the measured parameters are the features, where the set has grown since the fit."""
    patterns: PatternTables = no_patterns()
    """What the learned patterns of each class add to its equity heads."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        own_set = own_set_of(self)
        if own_set is None:
            return Model, tuple(self)
        return with_own_set, (self._replace(own_functions=no_functions()), own_set)


_own_sets: dict[tuple[bytes, bytes], OwnSet] = {}
"""By their functions and places: those that models of this process measure."""


def with_own_set(model: Model, own_set: OwnSet) -> Model:
    """`model` with the functions of a set of one's own."""
    own = model._replace(own_functions=own_set.functions, places=own_set.places)
    _own_sets[own.own_functions.tobytes(), own.places.tobytes()] = own_set
    return own


def own_set_of(model: Model) -> OwnSet | None:
    """The set of one's own that a model measures, None where it is motif's."""
    if not len(model.own_functions):
        return None
    return _own_sets[model.own_functions.tobytes(), model.places.tobytes()]


class Workspace(NamedTuple):
    """Reusable memory of one thread."""

    plays: PlayBuffer
    features: npt.NDArray[np.float32]
    known: npt.NDArray[np.int64]
    """What `features` holds, for `motif.parameters.sets.measure`."""
    filter_scores: npt.NDArray[np.int64]
    filter_kept: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    """Scores of the plays that are fully evaluated."""
    row: npt.NDArray[np.float64]
    raws: npt.NDArray[np.float64]
    """Raw sums by head, in the order of `HEADS`."""
    patterns: PatternRoom


def new_workspace() -> Workspace:
    """Memory for one thread."""
    plays = new_play_buffer()
    return Workspace(
        plays,
        aligned(np.zeros(MAX_ROW, np.float32)),
        np.zeros(KNOWN, np.int64),
        np.zeros(MAX_KEPT, np.int64),
        np.zeros(MAX_KEPT, np.int64),
        np.zeros(MAX_PLAYS),
        np.zeros(len(OUTPUTS)),
        np.zeros(len(HEADS)),
        new_pattern_room(MAX_ROW),
    )


def aligned(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """`array`, or a copy of it that begins where vector instructions load fastest."""
    if array.ctypes.data % ALIGNMENT == 0:
        return array
    room = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def random_model() -> Model:
    """The player that takes any legal play."""
    return Model(kind=RANDOM)


def table_model(tables: npt.NDArray[np.float32]) -> Model:
    """A model that scores by point tables (3, 2, 25, 16)."""
    whole, unit = in_units(tables)
    return Model(tables=whole, steps=steps_of(whole), unit=unit)
