"""Fitting the pre-filter: a point table that ranks the plays of a decision nearly as the labels do."""

import numpy as np
import numpy.typing as npt

from motif.board.position import OPPONENT_HALF, PACKED_BAR, Board, pack_many
from motif.evaluators.probabilities import turned_equities
from motif.evaluators.weight_file import FILTER_STEPS
from motif.fitting.ranking import decision_starts
from motif.runtime.jit import kernel

_PLACES = PACKED_BAR + 1
_COLUMNS = 2 * _PLACES * FILTER_STEPS
_RIDGE = 1e-4
_ROWS_AT_ONCE = 1 << 14


@kernel
def _step_columns(packed, out):
    """Steps of the mover (who is the opponent of the player on roll) and of the other: (n, _COLUMNS)."""
    for row in range(packed.shape[0]):
        out[row] = 0
        for side in range(2):
            half = OPPONENT_HALF if side == 0 else 0
            for place in range(_PLACES):
                count = packed[row, half + place]
                if count == 0:
                    continue
                base = (side * _PLACES + place) * FILTER_STEPS
                if count <= 3:
                    out[row, base + count - 1] = 1
                else:
                    out[row, base + 2] = 1
                    out[row, base + 3] = count - 3


def fit_filter_steps(
    boards: Board, equity: npt.NDArray[np.floating], decision: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """The steps (2, places, steps) of a `PreFilter` for the positions of one class.

    `boards` (n, 26), `equity` (n,) of the player on roll, rows of one `decision` consecutive.  Ridge
    least squares on columns and labels centred within each decision, so only differences between the
    plays of a decision count.
    """
    gram = np.zeros((_COLUMNS, _COLUMNS))
    moment = np.zeros(_COLUMNS)
    gain = turned_equities(equity.astype(np.float64))
    starts = decision_starts(decision, len(decision))
    first = 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + _ROWS_AT_ONCE, "right")) - 1
        last = max(last, first + 1)
        part = slice(int(starts[first]), int(starts[last]))
        columns = np.empty((part.stop - part.start, _COLUMNS))
        _step_columns(pack_many(boards[part]), columns)
        here = starts[first : last + 1] - starts[first]
        columns, target = _centred(columns, here), _centred(gain[part, None], here)[:, 0]
        gram += columns.T @ columns
        moment += columns.T @ target
        first = last
    gram[np.diag_indices(_COLUMNS)] += _RIDGE * len(boards)
    return np.linalg.solve(gram, moment).reshape(2, _PLACES, FILTER_STEPS).astype(np.float32)


def _centred(values: npt.NDArray[np.float64], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    sizes = np.diff(starts)
    means = np.add.reduceat(values, starts[:-1]) / sizes[:, None]
    return np.asarray(values - np.repeat(means, sizes, axis=0))
