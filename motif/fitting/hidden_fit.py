"""The fit of all probabilities of a position class, with pairs of parameters and a hidden layer.

The raw sum of each of the five heads is

    x_h = b_h + sum_i l_hi z_i + sum_{i <= j} q_hij z_i z_j + sum_k o_hk squash(c_k + sum_i w_ki z_i),

where z are the parameters, and in the hidden units also the 200 point terms. Backgammons, which are rare,
have no second-degree terms.

The fit minimises the squared errors of the five probabilities and of their equity, plus `ranking` times the
squared deviation of the equity error from its mean in each decision, which determines the choice of plays.

The optimiser is Adam, on batches of whole decisions, with a learning rate that decays
to 0 along half a cosine. Inputs are standardised, so that their weights learn at the same rate. Each batch is
split into a fixed number of shards, `_SHARDS`, whose gradients are added in order, so the weights do not
depend on the number of threads.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from motif.board.packed import BOARD_SIZE, CHECKERS, Board
from motif.compiler.jit import fast_kernel, kernel
from motif.compiler.simd import SQUASH_LIMIT
from motif.evaluators.point_columns import POINT_COLUMNS, POINT_SHAPE, columns_at, fill_step_columns
from motif.evaluators.probabilities import (
    EQUITY_WEIGHTS,
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
)
from motif.evaluators.weight_file import HeadWeights, HiddenLayer, linear_head
from motif.fitting.adam import take_adam_step
from motif.fitting.objective import PassRecord
from motif.fitting.problem import decision_starts
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.files import replacing
from motif.runtime.parallel import one_thread

_HEADS = len(OUTPUTS)
_PAIRED = np.array([WIN, WIN_GAMMON, LOSE_GAMMON])
"""Heads with second-degree terms."""
_BATCH = 512
"""Approximate number of rows in a batch."""
_SHARDS = 2
_LINEAR_RATE = 0.03
"""Learning rate of linear and second-degree terms, which are many and correlated, as a share of the
others'.
"""
_SCALE_ROWS = 100_000
"""Approximate number of rows from which the mean and spread of the inputs are computed."""
_MIN_SPREAD = 0.05
"""Minimum spread of an input, so that nearly constant inputs are not scaled up too much."""
_VALIDATION_ROWS = 4096
"""Number of rows per call in validation."""
_LIMIT = np.float32(SQUASH_LIMIT)
_IMPOSSIBLE = np.float32(-30)
"""Raw sum for a probability of 0, at which the gradient is 0."""


@dataclass(frozen=True, eq=False)
class HiddenRows:
    """The n rows of one class: training rows, then validation rows, with consecutive decisions."""

    features: Float32Array
    """(n, size): scaled features; may be mapped from a file."""
    boards: Board
    """(n, 26): positions."""
    labels: Float32Array
    """(n, 5): labels of the probabilities."""
    decisions: IntArray
    """(n,): ids."""
    training: int
    """Number of training rows."""


@dataclass(frozen=True)
class HiddenSettings:
    """Settings of a fit with hidden units."""

    units: int
    passes: int
    """Number of passes over the training rows."""
    rate: float
    """Initial learning rate of Adam, which decays to 0."""
    ranking: float
    """Weight of the errors between the plays of a decision."""
    seed: int


@dataclass(frozen=True)
class HiddenPass(PassRecord):
    """A pass of a fit with hidden units: its mean objective, and errors of the equity (RMSE)."""

    between_plays: float | None
    """Validation error of the equity from its mean in each decision."""

    def validation_error(self, ranking: float) -> float | None:
        """Return the squared validation errors of the equity, weighted as in the objective."""
        if self.rmse_validation is None:
            return None
        return self.rmse_validation**2 + ranking * (self.between_plays or 0.0) ** 2


class FittedClass(NamedTuple):
    """The weights of a class with hidden units."""

    heads: Mapping[str, HeadWeights]
    """Head name -> bias, linear and second-degree weights."""
    hidden: HiddenLayer
    """The hidden units; a fit names them h1, h2, ..."""


class HiddenFit(NamedTuple):
    """Result of a fit with hidden units."""

    weights: FittedClass
    best: HiddenPass
    """The pass with the returned weights."""
    history: tuple[HiddenPass, ...]


class _Weights(NamedTuple):
    """The fitted weights, for standardised or original inputs."""

    inputs: Float32Array
    """(size + 200, units): weights of the inputs of hidden units."""
    bias: Float32Array
    """(units,): biases of hidden units."""
    outputs: Float32Array
    """(5, units): output weights."""
    level: Float32Array
    """(5,): biases of the heads."""
    linear: Float32Array
    """(size, 5): linear weights."""
    pairs: Float32Array
    """(size, 3 size): weights of all products of two parameters, by head of `_PAIRED`."""


_RATES = _Weights(1.0, 1.0, 1.0, 1.0, _LINEAR_RATE, _LINEAR_RATE)  # type: ignore[arg-type]


class _Scale(NamedTuple):
    """Mean and spread (size + 200,) of each input."""

    middle: Float32Array
    spread: Float32Array


def fit_hidden(
    rows: HiddenRows,
    settings: HiddenSettings,
    *,
    start: FittedClass | None = None,
    jobs: int = 1,
    checkpoint: Path | None = None,
    on_pass: Callable[[HiddenPass], None] | None = None,
) -> HiddenFit:
    """Fit the probabilities of a class to `rows`, by default from random weights.

    `start` has the same number of hidden units. The result does not depend on the number of threads, `jobs`.
    The state is stored in the file `checkpoint` after each pass, and an interrupted fit continues from it; a
    damaged file is ignored. Returns the weights after the pass with the lowest validation error
    (`HiddenPass.validation_error`), which is usually the last one, because the learning rate decays to 0.
    """
    scale = _scale(rows)
    weights = _random_start(rows, settings) if start is None else _continued(start, scale)
    state = _FitState(weights, scale)
    if checkpoint is not None and checkpoint.exists():
        # Any error from a damaged or foreign file.
        with suppress(Exception):
            state.load(checkpoint)
    with one_thread(), ThreadPoolExecutor(max(1, min(jobs, _SHARDS))) as pool:
        while len(state.history) < settings.passes:
            before = state.history[-1].seconds if state.history else 0.0
            started = perf_counter()
            errors = _train(rows, settings, state, pool)
            validation, between = _validated(rows, state, pool)
            seconds = before + perf_counter() - started
            done = HiddenPass(len(state.history) + 1, *errors, validation, seconds, between)
            state.record(done, settings.ranking)
            if checkpoint is not None:
                state.save(checkpoint)
            if on_pass is not None:
                on_pass(done)
    return state.result()


_STORED = ("weights", "means", "squares", "best")
"""Attributes of a state that a checkpoint stores, apart from numbers."""


class _FitState:
    """Weights, Adam's moments, and the progress of the fit."""

    def __init__(self, weights: _Weights, scale: _Scale) -> None:
        self.weights = weights
        self.scale = scale
        self.means = _Weights(*map(np.zeros_like, weights))
        self.squares = _Weights(*map(np.zeros_like, weights))
        self.best, self.best_pass = _copied(weights), 0
        """The weights with the lowest validation error, and the number of their pass."""
        self.history: list[HiddenPass] = []
        self.step = 0

    def take_step(self, slopes: list[Float32Array], rate: float) -> None:
        """Take a step against the gradient by the weights for the original inputs (`_for_inputs`)."""
        middle, spread = self.scale
        by_inputs = np.asarray((slopes[0] - middle[:, None] * slopes[1]) / spread[:, None], np.float32)
        self.step += 1
        parts = zip(self.weights, [by_inputs, *slopes[1:]], self.means, self.squares, strict=True)
        for arrays, share in zip(parts, _RATES, strict=True):
            take_adam_step(*arrays, self.step, float(share * rate))

    def record(self, done: HiddenPass, ranking: float) -> None:
        """Add a pass to the history, and keep its weights if they are the best so far."""
        error = done.validation_error(ranking)
        least = self.history[self.best_pass - 1].validation_error(ranking) if self.best_pass else None
        if error is None or least is None or error <= least:
            self.best, self.best_pass = _copied(self.weights), done.number
        self.history.append(done)

    def result(self) -> HiddenFit:
        """Return the best weights, for the original inputs."""
        best, size = _for_inputs(self.best, self.scale), len(self.best.pairs)
        order = np.argsort(-np.abs(best.outputs).sum(axis=0), kind="stable")
        points = best.inputs[size:].T.reshape(-1, *POINT_SHAPE)
        hidden = HiddenLayer(
            tuple(f"h{k + 1}" for k in range(len(order))),
            best.bias[order],
            np.ascontiguousarray(best.inputs[:size].T[order]),
            np.ascontiguousarray(points[order]),
            np.ascontiguousarray(best.outputs[:, order]),
        )
        heads = {name: _head(best, self.scale, number) for number, name in enumerate(OUTPUTS)}
        return HiddenFit(FittedClass(heads, hidden), self.history[self.best_pass - 1], tuple(self.history))

    def save(self, path: Path) -> None:
        arrays: dict[str, Any] = {"step": np.array(self.step), "best_pass": np.array(self.best_pass)}
        for name in _STORED:
            arrays |= {f"{name}_{key}": each for key, each in getattr(self, name)._asdict().items()}
        passes = [[math.nan if v is None else v for v in vars(each).values()] for each in self.history]
        with replacing(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, passes=np.array(passes), **arrays)

    def load(self, path: Path) -> None:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            kept = {
                name: _Weights(*(arrays[f"{name}_{key}"] for key in _Weights._fields)) for name in _STORED
            }
            shapes = [[each.shape for each in of] for of in (self.weights, *kept.values())]
            passes = arrays["passes"].astype(object)
            passes[np.isnan(arrays["passes"])] = None
            history = [HiddenPass(int(number), *figures) for number, *figures in passes.tolist()]
            step, best_pass = int(arrays["step"]), int(arrays["best_pass"])
        if any(each != shapes[0] for each in shapes):
            raise ValueError(path)
        vars(self).update(kept, history=history, step=step, best_pass=best_pass)


def _random_start(rows: HiddenRows, settings: HiddenSettings) -> _Weights:
    """Return weights with random hidden units and output weights of 0."""
    size, units = rows.features.shape[1], settings.units
    random = np.random.default_rng(settings.seed)
    width = size + POINT_COLUMNS
    return _Weights(
        random.normal(0, 1 / math.sqrt(width), (width, units)).astype(np.float32),
        *(np.zeros(shape, np.float32) for shape in (units, (_HEADS, units), _HEADS)),
        *(np.zeros((size, count), np.float32) for count in (_HEADS, len(_PAIRED) * size)),
    )


def _continued(start: FittedClass, scale: _Scale) -> _Weights:
    """Return fitted weights for standardised inputs: the inverse of `_FitState.result`."""
    hidden = start.hidden
    inputs = np.concatenate([hidden.inputs, hidden.points.reshape(len(hidden.bias), -1)], axis=1).T
    size = hidden.inputs.shape[1]
    middle, spread = (part[:size].astype(np.float64) for part in scale)
    level, linear = np.zeros(_HEADS), np.zeros((size, _HEADS))
    pairs = np.zeros((size, len(_PAIRED) * size))
    for number, name in enumerate(OUTPUTS):
        head = start.heads[name]
        square = np.zeros((size, size))
        square[head.pairs[:, 0], head.pairs[:, 1]] = head.quadratic / 2
        square += square.T
        level[number] = head.bias + middle @ head.linear + middle @ square @ middle
        linear[:, number] = spread * (head.linear + 2 * square @ middle)
        if number in _PAIRED:
            begin = size * int(np.flatnonzero(number == _PAIRED)[0])
            pairs[:, begin : begin + size] = square * np.outer(spread, spread)
    weights = (
        inputs * scale.spread[:, None],
        hidden.bias + scale.middle @ inputs,
        hidden.outputs,
        level,
        linear,
        pairs,
    )
    return _Weights(*(np.ascontiguousarray(each, np.float32) for each in weights))


def _for_inputs(weights: _Weights, scale: _Scale) -> _Weights:
    """Return weights for standardised inputs with those of hidden units for the original inputs."""
    inputs = weights.inputs / scale.spread[:, None]
    return weights._replace(inputs=inputs, bias=weights.bias - scale.middle @ inputs)


def _copied(weights: _Weights) -> _Weights:
    return _Weights(*(each.copy() for each in weights))


def _head(weights: _Weights, scale: _Scale, number: int) -> HeadWeights:
    """Return the bias, linear and second-degree weights of a head, for the original parameters."""
    size = len(weights.pairs)
    middle, spread = (part[:size].astype(np.float64) for part in scale)
    single = weights.linear[:, number] / spread
    if number not in _PAIRED:
        return linear_head(float(np.float32(weights.level[number] - single @ middle)), single)
    begin = size * int(np.flatnonzero(number == _PAIRED)[0])
    square = weights.pairs[:, begin : begin + size].astype(np.float64)
    square = (square + square.T) / (2 * np.outer(spread, spread))
    bias = weights.level[number] - single @ middle + middle @ square @ middle
    first, second = np.triu_indices(size)
    pairs = square[first, second] * np.where(first == second, 1, 2)
    return HeadWeights(
        float(np.float32(bias)),
        (single - 2 * square @ middle).astype(np.float32),
        np.column_stack([first, second]).astype(np.int64),
        pairs.astype(np.float32),
    )


def _train(
    rows: HiddenRows, settings: HiddenSettings, state: _FitState, pool: ThreadPoolExecutor
) -> tuple[float, float]:
    """Train on all rows once; return the objective and the root mean square error of the equity."""
    random = np.random.default_rng([settings.seed, len(state.history)])
    starts = decision_starts(rows.decisions[: rows.training], rows.training)
    steps = settings.passes * max(1, -(-rows.training // _BATCH))
    errors = np.zeros(2)
    for shards in _batches(starts, random):
        weights = _for_inputs(state.weights, state.scale)
        count = sum(len(picked) for picked, _ in shards)
        slopes_of = partial(_slopes, rows, state.scale, weights, settings.ranking, count)
        outcomes = list(pool.map(slopes_of, shards))
        slopes = [sum(parts[1:], parts[0]) for parts in zip(*(of for of, _ in outcomes), strict=True)]
        errors += sum(error for _, error in outcomes)
        state.take_step(slopes, settings.rate * (1 + math.cos(math.pi * min(1.0, state.step / steps))) / 2)
    error, squares = (errors / max(1, rows.training)).tolist()
    return error, math.sqrt(squares)


_Shard = tuple[IntArray, IntArray]
"""Rows of whole decisions, and the start of each decision among them, with the end last."""
_Slopes = tuple[list[Float32Array], FloatArray]


def _slopes(
    rows: HiddenRows, scale: _Scale, weights: _Weights, ranking: float, count: int, shard: _Shard
) -> _Slopes:
    """Return the gradient of a batch of `count` rows from one of its shards, and sums (2,) over the shard.

    The sums are those of the objective and of the squared errors of the equity.
    """
    picked, groups = shard
    features, scaled, squashed, slopes, raw = _forward(rows, picked, scale, weights)
    size = len(weights.pairs)
    by_raw = np.empty((len(picked), _HEADS), np.float32)
    share = np.float32(1 / count)
    sums = np.zeros(2)
    _raw_gradients(raw, rows.labels, picked, groups, np.float32(ranking), share, by_raw, sums)
    by_sum = np.empty_like(squashed)
    _unit_gradients(by_raw, weights.outputs, slopes, by_sum)
    by_inputs = np.zeros_like(weights.inputs)
    np.matmul(features.T, by_sum, out=by_inputs[:size])
    _point_gradients(rows.boards, picked, by_sum, by_inputs[size:])
    weighted = np.empty((len(picked), len(_PAIRED) * size), np.float32)
    _pair_gradients(by_raw, scaled, weighted)
    return [
        by_inputs,
        by_sum.sum(axis=0),
        by_raw.T @ squashed,
        by_raw.sum(axis=0),
        scaled.T @ by_raw,
        scaled.T @ weighted,
    ], sums


def _forward(
    rows: HiddenRows, picked: IntArray, scale: _Scale, weights: _Weights
) -> tuple[Float32Array, Float32Array, Float32Array, Float32Array, Float32Array]:
    """Return the network's values on n rows.

    These are the features, as they are and standardised; values and slopes (n, units) of the hidden units;
    and the raw sums (n, 5).
    """
    size, units = len(weights.pairs), len(weights.bias)
    features = rows.features[picked]
    sums = features @ weights.inputs[:size]
    _add_points(rows.boards, picked, weights.inputs[size:], weights.bias, sums)
    slopes, squashed = (np.empty((len(picked), units), np.float32) for _ in range(2))
    _squash(sums, squashed, slopes)
    scaled = (features - scale.middle[:size]) / scale.spread[:size]
    raw = np.asarray(squashed @ weights.outputs.T + scaled @ weights.linear + weights.level, np.float32)
    _add_pairs(scaled, scaled @ weights.pairs, raw)
    _exclude_gammons(rows.boards, picked, raw)
    return features, scaled, squashed, slopes, raw


def _validated(
    rows: HiddenRows, state: _FitState, pool: ThreadPoolExecutor
) -> tuple[float | None, float | None]:
    """Return validation errors (RMSE) of the equity: overall, and from the mean of each decision."""
    count = len(rows.labels) - rows.training
    if not count:
        return None, None
    weights = _for_inputs(state.weights, state.scale)
    firsts = range(rows.training, len(rows.labels), _VALIDATION_ROWS)

    def errors(first: int) -> FloatArray:
        picked = np.arange(first, min(first + _VALIDATION_ROWS, len(rows.labels)))
        *_, raw = _forward(rows, picked, state.scale, weights)
        shown = (np.tanh(raw.astype(np.float64)) + 1) / 2
        return np.asarray(((shown - rows.labels[picked]) * EQUITY_WEIGHTS).sum(axis=1))

    error = np.concatenate(list(pool.map(errors, firsts)))
    starts = decision_starts(rows.decisions[rows.training :], count)
    lengths = np.diff(starts)
    apart = error - np.repeat(np.add.reduceat(error, starts[:-1]) / lengths, lengths)
    chosen = np.repeat(lengths > 1, lengths)
    between = math.sqrt(np.mean(apart[chosen] ** 2)) if chosen.any() else None
    return math.sqrt(np.mean(error**2)), between


def _scale(rows: HiddenRows) -> _Scale:
    """Measure the mean and spread of the inputs on some of the training rows."""
    picked = np.arange(0, rows.training, max(1, rows.training // _SCALE_ROWS))
    size = rows.features.shape[1]
    columns = np.empty((len(picked), size + POINT_COLUMNS), np.float32)
    columns[:, :size] = rows.features[picked]
    fill_step_columns(np.ascontiguousarray(rows.boards[picked]), size, columns)
    middle, spread = columns.mean(axis=0, dtype=np.float64), columns.std(axis=0, dtype=np.float64)
    return _Scale(middle.astype(np.float32), np.maximum(spread, _MIN_SPREAD).astype(np.float32))


def _batches(starts: IntArray, random: np.random.Generator) -> Iterator[list[_Shard]]:
    """Yield batches of shards, which consist of whole decisions in random order."""
    order = random.permutation(len(starts) - 1)
    lengths = (starts[1:] - starts[:-1])[order]
    ends = np.cumsum(lengths)
    size = _BATCH // _SHARDS
    cuts = np.searchsorted(ends, np.arange(size, ends[-1] + size, size), side="left") + 1
    shards: list[_Shard] = []
    begin = 0
    for cut in np.unique(np.minimum(cuts, len(order))).tolist():
        here = slice(begin, cut)
        groups = np.concatenate([[0], np.cumsum(lengths[here])])
        firsts = np.repeat(starts[order[here]] - groups[:-1], lengths[here])
        shards.append((firsts + np.arange(groups[-1]), groups))
        begin = cut
        if len(shards) == _SHARDS:
            yield shards
            shards = []
    if shards:
        yield shards


@kernel
def _add_points(boards, picked, weights, bias, sums):
    """Add to each row of `sums` the bias and the weights (200, units) of its board's point terms."""
    width = bias.shape[0]
    for row in range(picked.shape[0]):
        board, total = boards[picked[row]], sums[row]
        for k in range(width):
            total[k] += bias[k]
        for index in range(BOARD_SIZE):
            step, further, more = columns_at(index, np.int64(board[index]))
            if step < 0:
                continue
            for k in range(width):
                total[k] += weights[step, k]
            if more > 0:
                for k in range(width):
                    total[k] += more * weights[further, k]


@kernel
def _point_gradients(boards, picked, by_sum, by_weights):
    """Add the gradient by the weights of point terms to `by_weights` (200, units), from `by_sum`."""
    width = by_sum.shape[1]
    for row in range(picked.shape[0]):
        board, slope = boards[picked[row]], by_sum[row]
        for index in range(BOARD_SIZE):
            step, further, more = columns_at(index, np.int64(board[index]))
            if step < 0:
                continue
            for k in range(width):
                by_weights[step, k] += slope[k]
            if more > 0:
                for k in range(width):
                    by_weights[further, k] += more * slope[k]


@kernel
def _exclude_gammons(boards, picked, raw):
    """Set the raw sums of gammons that are impossible, because a checker is off, to `_IMPOSSIBLE`."""
    for row in range(picked.shape[0]):
        own, opponent = np.int64(0), np.int64(0)
        for index in range(BOARD_SIZE):
            signed = np.int64(boards[picked[row], index])
            own += max(signed, np.int64(0))
            opponent -= min(signed, np.int64(0))
        if opponent < CHECKERS:
            raw[row, WIN_GAMMON] = raw[row, WIN_BACKGAMMON] = _IMPOSSIBLE
        if own < CHECKERS:
            raw[row, LOSE_GAMMON] = raw[row, LOSE_BACKGAMMON] = _IMPOSSIBLE


@kernel
def _squash(sums, squashed, slopes):
    """Write `squash_units` and `slopes_of_units` of `sums`."""
    three, nine, most = np.float32(3), np.float32(9), np.float32(27)
    for row in range(sums.shape[0]):
        for k in range(squashed.shape[1]):
            x = min(max(sums[row, k], -_LIMIT), _LIMIT)
            square = x * x
            squashed[row, k] = x * (most + square) / (most + nine * square)
            part = (nine - square) / (three + square)
            slopes[row, k] = part * part / nine


@kernel
def _unit_gradients(by_raw, outputs, slopes, by_sum):
    """Write the gradient by the sum of each hidden unit."""
    o = outputs
    for row in range(by_raw.shape[0]):
        to, of = by_sum[row], slopes[row]
        a, b, c, d, e = by_raw[row, 0], by_raw[row, 1], by_raw[row, 2], by_raw[row, 3], by_raw[row, 4]
        for k in range(o.shape[1]):
            to[k] = of[k] * (a * o[0, k] + b * o[1, k] + c * o[2, k] + d * o[3, k] + e * o[4, k])


@fast_kernel
def _add_pairs(scaled, products, raw):
    """Add the second-degree terms to `raw`; `products` are those of parameters and pair weights."""
    size = scaled.shape[1]
    for row in range(scaled.shape[0]):
        for number in range(_PAIRED.shape[0]):
            total = np.float32(0)
            for k in range(size):
                total += scaled[row, k] * products[row, number * size + k]
            raw[row, _PAIRED[number]] += total


@kernel
def _pair_gradients(by_raw, scaled, weighted):
    """Write the products of each row's gradient by a paired head and its parameters."""
    size = scaled.shape[1]
    for row in range(scaled.shape[0]):
        for number in range(_PAIRED.shape[0]):
            slope = by_raw[row, _PAIRED[number]]
            for k in range(size):
                weighted[row, number * size + k] = slope * scaled[row, k]


@kernel
def _raw_gradients(raw, labels, picked, groups, ranking, share, by_raw, sums):
    """Write the gradient by the raw sums to `by_raw`; add the objective and squared errors to `sums`."""
    errors = np.empty(raw.shape[0])
    for group in range(groups.shape[0] - 1):
        first, last = groups[group], groups[group + 1]
        mean = 0.0
        for row in range(first, last):
            error = 0.0
            for head in range(_HEADS):
                value = 0.5 * (math.tanh(raw[row, head]) + 1.0)
                error += EQUITY_WEIGHTS[head] * (value - labels[picked[row], head])
            errors[row] = error
            sums[1] += error * error
            mean += error
        mean /= last - first
        for row in range(first, last):
            apart = errors[row] - mean
            whole = errors[row] + ranking * apart
            sums[0] += errors[row] * errors[row] + ranking * apart * apart
            for head in range(_HEADS):
                value = 0.5 * (math.tanh(raw[row, head]) + 1.0)
                slope = 2.0 * value * (1.0 - value)
                error = value - labels[picked[row], head]
                sums[0] += error * error
                by_raw[row, head] = share * slope * (error + EQUITY_WEIGHTS[head] * whole)
