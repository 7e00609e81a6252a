"""Learned patterns on top of a fitted equity head: squashed sums that are adapted, not chosen.

Products of parameters are fixed before the fit; a pattern's inputs are fitted too.  What is minimised is the
error of an equity head (`motif.fitting.problem`): squared errors, and `ranking` times their spread within the
plays of each decision,

    y = squash(raw + sum_k amount_k squash(bias_k + sum_i w_ki z_i)),

with `raw` from the head as it was fitted.  The inputs z are the features and the 200 point terms, each
divided by its spread, so that all begin alike.  Steps are Adam's (Kingma and Ba, 2015) on batches of whole
decisions, the rate falling as half a cosine; after each the inputs are drawn to 0 by a soft threshold, which
leaves only those that earn their place.

Game plans may weigh the patterns in ways of their own: then amount_k is the sum of what all plans share and
of what is the plan's alone, which learns at a lower rate because it sees fewer rows.  A fit may go on from
the patterns of earlier weights instead of beginning anywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.evaluators.patterns import slopes_of_patterns, squash_patterns
from motif.evaluators.weight_file import Patterns, to_digits
from motif.fitting.problem import EQUITY, decision_starts
from motif.fitting.terms import POINT_COLUMNS, POINT_SHAPE, IntArray, fill_step_columns
from motif.runtime.parallel import one_thread

Single = npt.NDArray[np.float32]
_BATCH = 1024
"""Rows of a batch, about."""
_MEMORY, _SQUARE_MEMORY, _EPSILON = 0.9, 0.999, 1e-8
"""Adam's own settings."""
_MOST_ROWS = 50_000
"""Rows that the spread of the inputs is measured on."""
_LEAST_INPUT = 1e-3
"""Inputs that move a pattern's sum by less than this in a standard deviation are left out in the end."""
_PLAN_RATE = 0.3
"""Share of the rate at which amounts of plans learn."""
_LEAST_SPREAD = 0.1
"""Inputs that hardly ever differ are not blown up beyond this."""


@dataclass(frozen=True, eq=False)
class PatternRows:
    """The n training rows, whose decisions are consecutive: some of the rows of arrays that may be files."""

    features: Single
    """(rows, size)"""
    boards: Board
    """(rows, 26)"""
    which: IntArray
    """(n,): rows of `features` and `boards` that train."""
    raw: Single
    """(n,): the raw sums that the patterns add to."""
    labels: Single
    """(n,): equities."""
    decisions: IntArray
    """(n,)"""
    plans: IntArray | None = None
    """(n,): the number of the game plan whose amounts count for each, -1 for those of the class; None where
    all rows have those."""


class FittedPatterns(NamedTuple):
    """Patterns, and what they add in game plans of their own."""

    patterns: Patterns
    plan_amounts: dict[int, Single]
    """(m,) each, by the numbers of the plans of the rows."""


@dataclass(frozen=True)
class PatternSettings:
    """How patterns are fitted."""

    count: int
    passes: int
    """How often each row is seen."""
    ranking: float
    """Weight of the ranking term."""
    threshold: float = 0.0
    """What draws inputs, in units of their spread, to 0: each step takes this times its rate away."""
    rate: float = 2e-3
    """Adam's rate at the start; it falls to 0."""
    seed: int = 0
    start: FittedPatterns | None = None
    """What to begin with; patterns beyond its number begin anywhere."""


def fit_patterns(rows: PatternRows, settings: PatternSettings) -> FittedPatterns:
    """The patterns that bring `rows` nearest to their labels; called p1, p2, ... by the largest amount.

    The same rows and settings give the same bits on one machine, whatever else runs there: one thread does
    the sums.
    """
    size = rows.features.shape[1]
    random = np.random.default_rng(settings.seed)
    starts = decision_starts(rows.decisions, len(rows.raw))
    middle, spread = _scale(rows)
    width = size + POINT_COLUMNS
    inputs = random.normal(0, 1 / np.sqrt(width), (width, settings.count)).astype(np.float32)
    bias, amounts = np.zeros((2, settings.count), np.float32)
    plans = np.unique(rows.plans[rows.plans >= 0]) if rows.plans is not None else np.empty(0, np.int64)
    by_plan = np.zeros((len(plans), settings.count), np.float32)
    if settings.start is not None:
        known, of_plans = settings.start
        own = slice(min(settings.count, len(known.names)))
        columns = np.concatenate([known.inputs, known.points.reshape(len(known.names), -1)], axis=1)[own].T
        inputs[:, own] = columns * spread[:, None]
        bias[own], amounts[own] = known.bias[own] + middle @ columns, known.amounts[own]
        for row, plan in zip(by_plan, plans.tolist(), strict=True):
            row[own] = of_plans.get(plan, known.amounts)[own] - known.amounts[own]
    weights = [inputs, bias, amounts, by_plan]
    adam = _Adam(weights, [1, 1, 1, _PLAN_RATE])
    batches = settings.passes * max(1, -(-len(rows.raw) // _BATCH))
    with one_thread():
        for _ in range(settings.passes):
            for picked, groups in _batches(starts, random):
                columns = (_columns(rows, picked) - middle) / spread
                rate = settings.rate * (1 + np.cos(np.pi * min(1.0, adam.step / batches))) / 2
                slopes = _slopes(rows, picked, groups, columns, weights, plans, settings.ranking)
                adam.descend(slopes, rate)
                if settings.threshold:
                    least = np.float32(rate * settings.threshold)
                    inputs[...] = np.sign(inputs) * np.maximum(np.abs(inputs) - least, 0)
    inputs[np.abs(inputs) < _LEAST_INPUT] = 0.0
    order = np.argsort(-np.abs(amounts), kind="stable")
    scaled = inputs / spread[:, None]
    level = bias - middle @ scaled
    points = scaled[size:].T.reshape(-1, *POINT_SHAPE)
    patterns = Patterns(
        tuple(f"p{k + 1}" for k in range(settings.count)),
        *(to_digits(part[order]) for part in (amounts, level, scaled[:size].T, points)),
    )
    amounts_there = to_digits((amounts + by_plan)[:, order])
    return FittedPatterns(patterns, dict(zip(plans.tolist(), amounts_there, strict=True)))


class _Adam:
    def __init__(self, weights: list[Single], rates: list[float]) -> None:
        self._weights, self._rates = weights, rates
        self._means = [np.zeros_like(each) for each in weights]
        self._squares = [np.zeros_like(each) for each in weights]
        self.step = 0

    def descend(self, slopes: list[Single], rate: float) -> None:
        self.step += 1
        first = rate / (1 - _MEMORY**self.step)
        second = np.float32(1 / (1 - _SQUARE_MEMORY**self.step))
        for weight, share, slope, mean, square in zip(
            self._weights, self._rates, slopes, self._means, self._squares, strict=True
        ):
            mean += np.float32(1 - _MEMORY) * (slope - mean)
            square += np.float32(1 - _SQUARE_MEMORY) * (slope * slope - square)
            weight -= np.float32(share * first) * mean / (np.sqrt(square * second) + np.float32(_EPSILON))


def _slopes(
    rows: PatternRows,
    picked: IntArray,
    groups: IntArray,
    columns: Single,
    weights: list[Single],
    plans: IntArray,
    ranking: float,
) -> list[Single]:
    """How the error of a batch rises with each weight; `groups` are where its decisions begin and end."""
    inputs, bias, amounts, by_plan = weights
    sums = columns @ inputs + bias
    squashed = squash_patterns(sums)
    raw = rows.raw[picked] + squashed @ amounts
    if rows.plans is not None:
        # Rows by plans, 1 where a row's plan is.
        is_of = (rows.plans[picked][:, None] == plans).astype(np.float32)
        amounts = amounts + is_of @ by_plan
        raw = rows.raw[picked] + (squashed * amounts).sum(axis=1)
    error = EQUITY.predict(raw) - rows.labels[picked]
    lengths = np.diff(groups)
    mean = np.add.reduceat(error, groups[:-1]) / lengths
    pull = error + ranking * (error - np.repeat(mean, lengths))
    by_raw = (pull * EQUITY.slope(raw) / len(picked)).astype(np.float32)
    by_sum = by_raw[:, None] * amounts * slopes_of_patterns(sums)
    of_plans = by_plan if rows.plans is None else is_of.T @ (squashed * by_raw[:, None])
    return [columns.T @ by_sum, by_sum.sum(axis=0), squashed.T @ by_raw, of_plans]


def _columns(rows: PatternRows, picked: IntArray) -> Single:
    """The inputs of some rows: features, then point terms."""
    size = rows.features.shape[1]
    columns = np.empty((len(picked), size + POINT_COLUMNS), np.float32)
    lines = rows.which[picked]
    columns[:, :size] = rows.features[lines]
    fill_step_columns(np.ascontiguousarray(rows.boards[lines]), size, columns)
    return columns


def _scale(rows: PatternRows) -> tuple[Single, Single]:
    """Mean and spread of each input."""
    step = max(1, len(rows.raw) // _MOST_ROWS)
    columns = _columns(rows, np.arange(0, len(rows.raw), step))
    return columns.mean(axis=0), np.maximum(columns.std(axis=0), np.float32(_LEAST_SPREAD))


def _batches(starts: IntArray, random: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows of whole decisions in random order, and where in them each decision begins, the end last."""
    order = random.permutation(len(starts) - 1)
    lengths = (starts[1:] - starts[:-1])[order]
    ends = np.cumsum(lengths)
    cuts = np.unique(np.searchsorted(ends, np.arange(_BATCH, ends[-1] + _BATCH, _BATCH), side="left") + 1)
    begin = 0
    for cut in np.minimum(cuts, len(order)):
        if cut == begin:
            continue
        here = slice(begin, cut)
        groups = np.concatenate([[0], np.cumsum(lengths[here])])
        firsts = np.repeat(starts[order[here]] - groups[:-1], lengths[here])
        yield firsts + np.arange(groups[-1]), groups
        begin = cut
