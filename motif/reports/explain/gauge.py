"""The same evaluator, told by its parameters as far as they go.

Point terms and parameters overlap: "home points made" is a sum over places too, so a weight of one can be
moved to the other without changing any value, and a fit leaves it anywhere.  Told apart, making a point
would be worth much by the parameter and cost as much by the place.  Here what the point terms share with
the parameters that are sums over places moves to those parameters' linear weights, by least squares over
places and numbers of checkers; the point terms keep what no parameter says.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from motif.board.position import BOARD_SIZE, CHECKERS, OPPONENT_BAR, OWN_BAR, POINTS, pack_many
from motif.evaluators.point_table import TABLE_SHAPE, checkers_by_place
from motif.parameters import parameter_set
from motif.parameters.sets import features
from motif.reports.explain.form import FloatArray, Form, Seen

_PROBES = 400
_TOLERANCE = 1e-4
_RARER = 0.6
"""Each further checker on a place is that much rarer, and counts that much less in the fit."""
_RIDGE = 0.05
"""Keeps parameters that say the same from taking large opposite weights."""


@dataclass(frozen=True, eq=False)
class _Sums:
    """The parameters of a set that are sums over the places."""

    numbers: npt.NDArray[np.int64]
    """(k,) their places among the features."""
    tables: FloatArray
    """(2, 25, 16, k): what the checkers on a place add to each feature."""
    shares: FloatArray
    """(k, 800): by these the entries of a point table make the weights that come nearest to it."""


def moved_to_parameters(form: Form, set_name: str, to: Seen, since: Seen) -> tuple[FloatArray, FloatArray]:
    """What the point terms of `form`, over the parameter set `set_name`, share with its parameters.

    How the shared part differs between two positions: (n,) by parameter, and (2, 25) by side and place; the
    two have the same sum.
    """
    sums = _sums(set_name)
    by_parameter = np.zeros(len(form.linear))
    if not form.points.any() or not len(sums.numbers):
        return by_parameter, np.zeros(form.points.shape[:2])
    # Not a matrix product: its last bits may depend on the machine's threads.
    weights = (sums.shares * form.points.ravel()).sum(axis=1)
    steps = _looked_up(sums.tables, to.checkers) - _looked_up(sums.tables, since.checkers)
    shared = weights * steps
    by_parameter[sums.numbers] = shared.sum(axis=(0, 1))
    return by_parameter, shared.sum(axis=-1)


def _looked_up(tables: FloatArray, checkers: npt.NDArray[np.int64]) -> FloatArray:
    """Entries (..., 2, 25, k) of `tables` for the numbers of checkers (..., 2, 25) there."""
    places = np.broadcast_to(tables, (*checkers.shape[:-2], *tables.shape))
    return np.take_along_axis(places, checkers[..., None, None], axis=-2)[..., 0, :]


@cache
def _sums(set_name: str) -> _Sums:
    """Which features are sums over places is found by measuring stacks, and then whole boards."""
    chosen = parameter_set(set_name)
    sides, places, most = TABLE_SHAPE
    stacks = np.zeros((sides, places, most, BOARD_SIZE), np.int8)
    for place in range(places):
        stacks[0, place, :, place + 1] = np.arange(most)
        stacks[1, place, :, OWN_BAR - 1 - place] = -np.arange(most)
    empty = features(chosen, np.zeros((1, BOARD_SIZE), np.int8))[0].astype(np.float64)
    measured = features(chosen, stacks.reshape(-1, BOARD_SIZE)).astype(np.float64)
    tables = (measured - empty).reshape(*TABLE_SHAPE, len(chosen))
    boards = _probes()
    counts = checkers_by_place(pack_many(boards)).astype(np.int64)
    added = _looked_up(tables, counts).sum(axis=(1, 2))
    errors = np.abs(empty + added - features(chosen, boards)).max(axis=0)
    numbers = np.flatnonzero(errors < _TOLERANCE)
    return _Sums(numbers, tables[..., numbers], _shares(tables[..., numbers]))


def _shares(tables: FloatArray) -> FloatArray:
    """The solution of the least squares fit of a point table by `tables`, as a matrix."""
    rarity = _RARER ** (np.arange(CHECKERS + 1) / 2)
    rarity[0] = 0
    count = tables.shape[-1]
    rows = np.concatenate([(tables * rarity[:, None]).reshape(-1, count), _RIDGE * np.eye(count)])
    by_place = np.broadcast_to(rarity, TABLE_SHAPE).ravel()
    return np.asarray(np.linalg.pinv(rows)[:, : len(by_place)] * by_place)


def _probes() -> npt.NDArray[np.int8]:
    """Boards (n, 26) with checkers thrown anywhere."""
    random = np.random.default_rng(0)
    boards = np.zeros((_PROBES, BOARD_SIZE), np.int8)
    for board in boards:
        points = 1 + random.permutation(POINTS)
        half = POINTS // 2
        for places, sign in (([*points[:half], OWN_BAR], 1), ([*points[half:], OPPONENT_BAR], -1)):
            stacked = random.choice(places[: random.integers(1, half + 1)], random.integers(1, CHECKERS + 1))
            np.add.at(board, stacked, np.int8(sign))
    return boards
