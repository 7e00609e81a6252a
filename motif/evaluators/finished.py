"""Finished games, which no net is asked about."""

import numpy as np

from motif.board.outcome import finished_points
from motif.evaluators.probabilities import certain
from motif.runtime.jit import kernel


@kernel
def write_finished(packed, rows):
    """Write the certain probabilities of those of `packed` (n, 64) that are finished into `rows` (n, 5)."""
    words = packed.view(np.int64)
    for k in range(packed.shape[0]):
        points = finished_points(words[k])
        if points != 0:
            certain(points, rows[k])
