"""The compiled form of an evaluator: plain arrays.

Every static evaluator becomes one `Model`, so that one compiled playout serves them all.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import PlayBuffer, new_play_buffer
from motif.evaluators.point_table import TABLE_SHAPE
from motif.evaluators.probabilities import OUTPUTS
from motif.parameters.position_class import CLASS_NAMES
from motif.parameters.sets import MAX_PARAMETERS

HEADS = (*OUTPUTS, "equity")
EQUITY_HEAD = HEADS.index("equity")

RANDOM, TABLE, WEIGHTS = range(3)
"""Kinds of model."""
ABSENT, LINEAR, QUADRATIC = range(3)
"""What a head of a weights model consists of."""

ROW_ALIGNMENT = 8
MAX_ROWS = -(-(MAX_PARAMETERS + 1) // ROW_ALIGNMENT) * ROW_ALIGNMENT
MAX_KEPT = 32


class Model(NamedTuple):
    """Arrays of one evaluator; those that a kind does not use are small dummies."""

    kind: int
    set_code: int
    size: int
    """Number of parameters n; the feature at n is the constant 1 that carries linear weights."""
    win_only: bool
    """No head but ``win`` anywhere: plays are ranked by its raw sum."""
    kept: int
    """Plays that the pre-filter leaves to the full evaluation; 0 for all."""
    terms: npt.NDArray[np.int8]
    """(classes, heads): ABSENT, LINEAR or QUADRATIC."""
    weights: npt.NDArray[np.float32]
    """(classes, heads, n + 1, rows): lower triangle; row n holds linear weights and, at n, the bias."""
    tables: npt.NDArray[np.float32]
    """(classes, 2, 25, 16): the point tables, or the pre-filter's."""
    calibration: npt.NDArray[np.float64]
    """(classes, 2): intercept and slope that turn a table's score into a raw sum for ``win``."""


class Workspace(NamedTuple):
    """Reusable memory of one thread."""

    plays: PlayBuffer
    features: npt.NDArray[np.float32]
    filter_scores: npt.NDArray[np.float32]
    filter_kept: npt.NDArray[np.int64]
    row: npt.NDArray[np.float64]


def new_workspace() -> Workspace:
    """Memory for one thread."""
    plays = new_play_buffer()
    return Workspace(
        plays,
        np.zeros(MAX_ROWS, np.float32),
        np.zeros(MAX_KEPT, np.float32),
        np.zeros(MAX_KEPT, np.int64),
        np.zeros(len(OUTPUTS)),
    )


def random_model() -> Model:
    """The player that takes any legal play."""
    return table_model(np.zeros((len(CLASS_NAMES), *TABLE_SHAPE), np.float32))._replace(kind=RANDOM)


def table_model(tables: npt.NDArray[np.float32], calibration: npt.NDArray[np.float64] | None = None) -> Model:
    """A model that scores by point tables (3, 2, 25, 16)."""
    return Model(
        TABLE,
        0,
        0,
        True,
        0,
        np.zeros((len(CLASS_NAMES), len(HEADS)), np.int8),
        np.zeros((len(CLASS_NAMES), len(HEADS), 1, ROW_ALIGNMENT), np.float32),
        tables,
        np.tile([0.0, 1.0], (len(CLASS_NAMES), 1)) if calibration is None else calibration,
    )
