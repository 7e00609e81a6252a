"""The fit of a weight file's move filter, which selects the plays for full evaluation.

The filter of weights without hidden units is a point table, fitted to the labels (`filter_steps`).  That of
weights with hidden units has some of its own and imitates the weights: they evaluate all plays of rolls in
positions of the datasets, and the filter learns which plays they prefer (`imitate`).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from motif.board.movegen import ROLL_SHARES, ROLLS
from motif.board.moves import play_batches
from motif.board.packed import Board, pack_many
from motif.evaluators import StaticEvaluator, WeightFile
from motif.evaluators.evaluator import ranks
from motif.evaluators.model import MAX_KEPT
from motif.evaluators.point_columns import POINT_COLUMNS, POINT_SHAPE, step_columns
from motif.evaluators.probabilities import EQUITY_HEAD, switched_equities
from motif.evaluators.static import weights_model
from motif.evaluators.weight_file import FilterUnits, FilterWeights, to_digits
from motif.fitting.curvature import decision_chunks
from motif.fitting.filter_fit import FilterDecisions, fit_filter
from motif.fitting.problem import decision_starts
from motif.learning.rows import ClassRows
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.parallel import one_thread

KEPT_PLAYS = 8
"""Number of plays that a filter without hidden units keeps."""
MAX_LOSS = 0.0009
"""Maximum equity per decision that a filter with hidden units may lose, which determines what it keeps."""
DECISIONS = 200_000
"""Maximum number of decisions of a class that a filter with hidden units is fitted to; each takes 2 kB."""
_HELD_DECISIONS = 10_000
"""Maximum number of decisions of a class on which its loss is measured."""
_RIDGE = 1e-4
_ROWS_AT_ONCE = 1 << 14


@one_thread()  # otherwise the last bits would depend on the number of cores
def filter_steps(rows: ClassRows) -> Float32Array:
    """Fit the steps (2, points, steps) of a `FilterWeights` for one class to the training rows.

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


class ImitatingClass(NamedTuple):
    """The move filter of one class, fitted to the choices of weights."""

    steps: Float32Array
    """(2, 25, POINT_STEPS): the point table."""
    units: FilterUnits
    losses: FloatArray
    """(MAX_KEPT,): the equity that is lost if 1, 2, ... plays are kept, summed over held-out decisions."""
    decisions: int
    """Number of these decisions."""


@one_thread()
def imitate(
    rows: ClassRows, weights: WeightFile, seed: int, most_decisions: int = DECISIONS
) -> ImitatingClass:
    """Fit the move filter of one class to the choices of `weights`.

    Without held-out positions, its losses are those on training positions.
    """
    random = np.random.default_rng(seed)
    decisions = _decisions(rows.boards[: rows.training], weights, most_decisions, random)
    steps, units = fit_filter(decisions, filter_steps(rows), seed)
    bias, points, outputs = map(to_digits, (units.bias, units.points, units.outputs))
    steps, units = to_digits(steps), FilterUnits(bias, points, outputs, float(f"{units.margin:.4g}"))
    boards = rows.boards[rows.training :] if rows.training < len(rows) else rows.boards
    held = _decisions(boards, weights, _HELD_DECISIONS, random)
    scores = FilterWeights(1, {rows.class_name: steps}, {rows.class_name: units}).scores(
        rows.class_name, held.packed
    )
    return ImitatingClass(steps, units, _losses(held, scores, units.margin), len(held.starts) - 1)


def imitating_filter(fitted: Mapping[str, ImitatingClass]) -> FilterWeights:
    """Return the move filter of all classes.

    It keeps the smallest number of plays with which it loses at most `MAX_LOSS` per decision.
    """
    decisions = sum(of_class.decisions for of_class in fitted.values())
    losses = np.sum([of_class.losses for of_class in fitted.values()], axis=0) / decisions
    kept = int(np.argmax(np.append(losses[:-1] <= MAX_LOSS, True))) + 1
    return FilterWeights(
        kept,
        {name: of_class.steps for name, of_class in fitted.items()},
        {name: of_class.units for name, of_class in fitted.items()},
    )


def _decisions(
    boards: Board, weights: WeightFile, limit: int, random: np.random.Generator
) -> FilterDecisions:
    """Return random rolls in at most `limit` of the `boards`, with all plays as `weights` evaluate them."""
    picked = np.sort(random.permutation(len(boards))[:limit])
    boards = np.ascontiguousarray(boards[picked])
    rolls = ROLLS[random.choice(len(ROLLS), len(boards), p=ROLL_SHARES)]
    evaluator = StaticEvaluator(weights.name, weights_model(weights), weights)
    starts, packed, equities = [np.zeros(1, np.int64)], [], []
    for plays in play_batches(boards, rolls):
        starts.append(starts[-1][-1] + plays.offsets[1:])
        packed.append(pack_many(plays.boards))
        equities.append(evaluator.play_equities(boards[plays.decisions], plays))
    return FilterDecisions(np.concatenate(starts), np.concatenate(packed), np.concatenate(equities))


def _losses(decisions: FilterDecisions, scores: FloatArray, margin: float) -> FloatArray:
    """Return the equity (MAX_KEPT,) that is lost if at most the best 1, 2, ... plays are kept, summed.

    The best plays are those with the highest `scores`, within the `margin` of the highest one.
    """
    starts, equities = decisions.starts, decisions.equities
    sizes = np.diff(starts)
    decision = np.repeat(np.arange(len(sizes)), sizes)
    rank = ranks(decision, -scores)
    best = np.maximum.reduceat(equities, starts[:-1])
    kept = np.full((len(sizes), MAX_KEPT), -np.inf)
    gaps = np.maximum.reduceat(scores, starts[:-1])[decision] - scores
    among = (rank < MAX_KEPT) & (gaps <= margin)
    kept[decision[among], rank[among]] = equities[among]
    return np.asarray((best[:, None] - np.maximum.accumulate(kept, axis=1)).sum(axis=0))


def _centred(values: FloatArray, starts: IntArray) -> FloatArray:
    sizes = np.diff(starts)
    means = np.add.reduceat(values, starts[:-1]) / sizes[:, None]
    return np.asarray(values - np.repeat(means, sizes, axis=0))
