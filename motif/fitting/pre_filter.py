"""Fitting the pre-filter: a point table that ranks the plays of a decision nearly as the labels do."""

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.evaluators.probabilities import turned_equities
from motif.fitting.curvature import decision_chunks
from motif.fitting.problem import decision_starts
from motif.fitting.terms import POINT_COLUMNS, POINT_SHAPE, step_columns

_RIDGE = 1e-4
_ROWS_AT_ONCE = 1 << 14


def fit_filter_steps(
    boards: Board, equity: npt.NDArray[np.floating], decision: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """The steps (2, places, steps) of a `PreFilter` for the positions of one class.

    `boards` (n, 26), `equity` (n,) of the player on roll, rows of one `decision` consecutive.  Ridge
    least squares on columns and labels centred within each decision, so only differences between the
    plays of a decision count.
    """
    gram = np.zeros((POINT_COLUMNS, POINT_COLUMNS))
    moment = np.zeros(POINT_COLUMNS)
    gain = turned_equities(equity.astype(np.float64))
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


def _centred(values: npt.NDArray[np.float64], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    sizes = np.diff(starts)
    means = np.add.reduceat(values, starts[:-1]) / sizes[:, None]
    return np.asarray(values - np.repeat(means, sizes, axis=0))
