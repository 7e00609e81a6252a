"""The fit of a weight file's move filter: a point table that selects the plays for full evaluation."""

import numpy as np

from motif.evaluators.point_columns import POINT_COLUMNS, POINT_SHAPE, step_columns
from motif.evaluators.probabilities import EQUITY_HEAD, switched_equities
from motif.fitting.curvature import decision_chunks
from motif.fitting.problem import decision_starts
from motif.learning.rows import ClassRows
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.parallel import one_thread

KEPT_PLAYS = 8
"""Number of plays that the filter of a new weight file keeps."""
_RIDGE = 1e-4
_ROWS_AT_ONCE = 1 << 14


@one_thread()  # otherwise the last bits would depend on the number of cores
def filter_steps(rows: ClassRows) -> Float32Array:
    """Fit the steps (2, points, steps) of a `PointTableFilter` for one class to the training rows.

    The table ranks the plays of a decision like the labels: ridge regression on columns and labels that are
    centred within each decision, so that only differences between the plays of a decision count.
    """
    train = slice(rows.training)
    boards, decision = rows.boards[train], rows.decisions[train]
    equity = rows.labels[train, EQUITY_HEAD]
    gram = np.zeros((POINT_COLUMNS, POINT_COLUMNS))
    moment = np.zeros(POINT_COLUMNS)
    gain = switched_equities(equity.astype(np.float64))
    starts = decision_starts(decision, len(decision))
    for first, last in decision_chunks(starts, _ROWS_AT_ONCE):
        part = slice(int(starts[first]), int(starts[last]))
        # The scored side is the mover, who is the opponent of the player on roll.
        columns = step_columns(-boards[part, ::-1])
        here = starts[first : last + 1] - starts[first]
        columns, target = _centred(columns, here), _centred(gain[part, None], here)[:, 0]
        gram += columns.T @ columns
        moment += columns.T @ target
    gram[np.diag_indices(POINT_COLUMNS)] += _RIDGE * len(boards)
    return np.linalg.solve(gram, moment).reshape(POINT_SHAPE).astype(np.float32)


def _centred(values: FloatArray, starts: IntArray) -> FloatArray:
    sizes = np.diff(starts)
    means = np.add.reduceat(values, starts[:-1]) / sizes[:, None]
    return np.asarray(values - np.repeat(means, sizes, axis=0))
