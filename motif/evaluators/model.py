"""The compiled form of an evaluator: plain arrays.

Every static evaluator becomes one `Model`, so that one compiled playout serves them all.
"""

from typing import Any, NamedTuple

import numpy as np

from motif.board.movegen import MAX_PLAYS, PlayBuffer, new_play_buffer
from motif.board.packed import TABLE_SHAPE
from motif.compiler.simd import GROUP, aligned
from motif.evaluators.bearoff import BearoffTables, no_tables
from motif.evaluators.filter_units import FilterTables, no_filter_units
from motif.evaluators.hidden_layer import MAX_UNITS, HiddenTables, no_hidden_layers
from motif.evaluators.kernels import RANDOM_MODEL, TABLE_MODEL
from motif.evaluators.point_table import in_units, steps_of
from motif.evaluators.probabilities import HEADS, OUTPUTS
from motif.evaluators.quadratic_forms import MAX_ROW, BoardBatch, FormTables, new_board_batch
from motif.parameters.named_sets import OwnSet
from motif.parameters.own_measures import OwnFunctions, no_functions
from motif.parameters.position_class import CLASS_NAMES
from motif.parameters.sets import KNOWN
from motif.runtime.arrays import BoolArray, Float32Array, FloatArray, IntArray

MAX_KEPT = 32


class MeasuredSet(NamedTuple):
    """How kernels measure a parameter set."""

    code: int = 0
    """See `motif.parameters.sets.code_of`."""
    own_functions: OwnFunctions = no_functions()
    """Functions that measure your own parameters, by addresses valid only in this process."""
    places: IntArray = np.zeros(0, np.int64)
    """(n,): the places of the features among the measured parameters, if the set has grown since the fit."""
    leading: int = 0
    """How many of the first features come last in `FormTables` and `HiddenTables`."""
    steady: IntArray = np.zeros(MAX_ROW // GROUP, np.int64)
    """(MAX_ROW / GROUP,): bits of the features that depend only on the checkers of the player on roll, and so
    rarely differ between plays, by group of features.
    """


class Model(NamedTuple):
    """The arrays of one evaluator; unused ones are small dummies."""

    kind: int = TABLE_MODEL
    measured: MeasuredSet = MeasuredSet()
    win_only: bool = True
    """Whether ``win`` is the only head: plays are ranked by its raw sum."""
    scores_equities: bool = False
    """Whether scores are cubeless equities, not raw sums of the equity or of the win probability."""
    kept: int = 0
    """Maximum number of plays that the move filter keeps for the full evaluation; 0 for all."""
    ranking: FormTables = FormTables()
    """The form of the head that ranks plays: the equity, or the win probability if that is the only head."""
    chances: FormTables = FormTables()
    """The forms of the five probabilities."""
    tables: IntArray = np.zeros((len(CLASS_NAMES), *TABLE_SHAPE), np.int64)
    """(classes, 2, 25, 16): the point tables, or those of the move filter, in units."""
    steps: IntArray = steps_of(np.zeros((len(CLASS_NAMES), *TABLE_SHAPE), np.int64))
    """(classes, 2, 25, 16): change of the scores by one more checker."""
    unit: float = 1.0
    calibration: FloatArray = np.tile([0.0, 1.0], (len(CLASS_NAMES), 1))
    """(classes, 2): intercept and slope from a table's score to a raw sum for ``win``."""
    knots: FloatArray = np.zeros((0, 0, 2))
    """(classes, k, 2): the calibration of the win probability for `motif.evaluators.calibration`; (0, 0, 2)
    without one.
    """
    bearoff: BearoffTables = no_tables()
    """Bearoff tables; empty if the weights evaluate bearoffs."""
    hidden: HiddenTables = no_hidden_layers()
    """The hidden layers of the classes."""
    filter_units: FilterTables = no_filter_units()
    """The hidden units of the move filter."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        own_set = own_set_of(self)
        if own_set is None:
            return Model, tuple(self)
        measured = self.measured._replace(own_functions=no_functions())
        return with_own_set, (self._replace(measured=measured), own_set)


_own_sets: dict[tuple[bytes, bytes], OwnSet] = {}
"""Your own parameter sets that models of this process measure, by their functions and places."""


def with_own_set(model: Model, own_set: OwnSet) -> Model:
    """Return `model` with the functions of your own parameter set."""
    measured = model.measured._replace(own_functions=own_set.functions, places=own_set.places)
    _own_sets[measured.own_functions.tobytes(), measured.places.tobytes()] = own_set
    return model._replace(measured=measured)


def own_set_of(model: Model) -> OwnSet | None:
    """Return your own parameter set that a model measures; None for motif's sets."""
    measured = model.measured
    if not len(measured.own_functions):
        return None
    return _own_sets[measured.own_functions.tobytes(), measured.places.tobytes()]


class Workspace(NamedTuple):
    """Working memory of one thread."""

    plays: PlayBuffer
    features: Float32Array
    known: IntArray
    """The contents of `features`, for `motif.parameters.sets.measure`."""
    filter_scores: IntArray
    filter_kept: IntArray
    scores: FloatArray
    """Scores of the fully evaluated plays."""
    rows: FloatArray
    """Their five probabilities (MAX_PLAYS, 5), if scoring needed them."""
    has_row: BoolArray
    """Which of `rows` are filled (MAX_PLAYS,)."""
    groups: IntArray
    """Group of each scored board: see `motif.evaluators.kernels`."""
    row: FloatArray
    raws: FloatArray
    """Raw sums by head, in the order of `HEADS`."""
    batch: BoardBatch


def new_workspace() -> Workspace:
    """Return working memory for one thread."""
    plays = new_play_buffer()
    return Workspace(
        plays,
        aligned(np.zeros(MAX_ROW, np.float32)),
        np.zeros(KNOWN, np.int64),
        np.zeros(MAX_KEPT, np.int64),
        np.zeros(MAX_KEPT, np.int64),
        np.zeros(MAX_PLAYS),
        np.zeros((MAX_PLAYS, len(OUTPUTS))),
        np.zeros(MAX_PLAYS, np.bool_),
        np.zeros(MAX_PLAYS, np.int64),
        np.zeros(len(OUTPUTS)),
        np.zeros(len(HEADS)),
        new_board_batch(MAX_UNITS),
    )


def random_model() -> Model:
    """Return the model of a player that chooses any legal play with equal probability."""
    return Model(kind=RANDOM_MODEL)


def table_model(tables: Float32Array, largest: float = 0.0) -> Model:
    """Return a model that scores by point tables (3, 2, 25, 16), and other summands up to `largest`."""
    whole, unit = in_units(tables, largest)
    return Model(tables=whole, steps=steps_of(whole), unit=unit)
