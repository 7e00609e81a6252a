"""The fit of a move filter with hidden units, which imitates the choices of an evaluator.

A filter need not know what a play is worth, only which plays are the best of their roll.  So its scores s of
the plays of a decision become probabilities, proportional to exp(s / T), and the fit maximises the likelihood
of those that the evaluator's equities give in the same way.  T is a share of the mean spread of equities in a
decision.

Source: Cao, Qin, Liu, Tsai and Li, "Learning to rank: from pairwise approach to listwise approach" (ICML
2007).

The optimiser is Adam, on batches of whole decisions, with a learning rate that decays to 0 along half a
cosine.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, OPPONENT_HALF, PACKED_BAR
from motif.compiler.jit import inline_kernel, kernel
from motif.compiler.simd import GROUP, SQUASH_LIMIT
from motif.evaluators.point_columns import POINT_COLUMNS, POINT_SHAPE, columns_of
from motif.evaluators.weight_file import FilterUnits
from motif.fitting.adam import take_adam_step
from motif.runtime.arrays import Float32Array, FloatArray, IntArray

_TEMPERATURE = 0.15
"""T as a share of the mean of the standard deviations of equities within decisions.  A smaller T, such as a
share of their median, neglects decisions in which much is at stake, such as those that save a gammon.
"""
_MARGIN = 3.0
"""The margin of scores as a multiple of T: the filter takes dropped plays to be e**3 = 20 times less
likely than the play with the highest score.
"""
_MIN_TEMPERATURE = 1e-4
_PASSES = 10
_BATCH = 200
"""Number of decisions in a batch."""
_RATE = 0.02
"""Learning rate of the first step."""
_START_SPREAD = 0.1
"""Standard deviation of the first weights of hidden units."""
_PLACES = PACKED_BAR + 1
_MAX_TERMS = 4 * CHECKERS
"""Maximum number of terms of a play: two for each occupied point or bar."""
_LIMIT = np.float32(SQUASH_LIMIT)


class FilterDecisions(NamedTuple):
    """The plays of n decisions, with their equities by an evaluator; decision k is a range of plays."""

    starts: IntArray
    """(n + 1,): first play of each decision, and the number of plays m."""
    packed: npt.NDArray[np.int8]
    """Packed boards after the plays (m, 64)."""
    equities: FloatArray
    """Equities (m,) of the players who made the plays."""


class _Weights(NamedTuple):
    """Weights for logits, which are scores divided by the temperature."""

    steps: Float32Array
    """(200,): the point table; first the points and bar of the scored side, each with its steps."""
    points: Float32Array
    """(200, GROUP): the point tables of the hidden units."""
    bias: Float32Array
    """(GROUP,)"""
    outputs: Float32Array
    """(GROUP,)"""


class _Memory(NamedTuple):
    """Working memory for the k plays of a decision."""

    terms: IntArray
    """(k, _MAX_TERMS): the rows of the weights that a play reads."""
    factors: Float32Array
    """(k, _MAX_TERMS): their factors."""
    counts: IntArray
    """(k,): number of terms."""
    sums: Float32Array
    """(k, GROUP): sums of the hidden units, before the squash."""
    shares: Float32Array
    """(2, k): probabilities of the plays, by the filter and by the evaluator."""
    slopes: Float32Array
    """(GROUP,)"""


def fit_filter(
    decisions: FilterDecisions, start: Float32Array, seed: int
) -> tuple[Float32Array, FilterUnits]:
    """Fit the point table (2, 25, 4) and `GROUP` hidden units of a move filter to decisions.

    The fit begins with the point table `start`. The same arguments give the same result.
    """
    random = np.random.default_rng(seed)
    temperature = _temperature(decisions)
    weights = _Weights(
        (start / temperature).reshape(-1).astype(np.float32),
        random.normal(0, _START_SPREAD, (POINT_COLUMNS, GROUP)).astype(np.float32),
        np.zeros(GROUP, np.float32),
        random.normal(0, _START_SPREAD, GROUP).astype(np.float32),
    )
    means, squares = (_Weights(*map(np.zeros_like, weights)) for _ in range(2))
    count, memory = len(decisions.starts) - 1, _new_memory(int(np.diff(decisions.starts).max(initial=1)))
    steps_of_pass = max(1, round(count / _BATCH))
    for done in range(_PASSES):
        batches = np.array_split(random.permutation(count), steps_of_pass)
        for number, picked in enumerate(batches, done * steps_of_pass):
            slopes = _Weights(*map(np.zeros_like, weights))
            share = np.float32(1 / len(picked))
            _add_gradients(decisions, temperature, picked, share, weights, slopes, memory)
            rate = _RATE * (1 + math.cos(math.pi * number / (_PASSES * steps_of_pass))) / 2
            for weight, slope, mean, square in zip(weights, slopes, means, squares, strict=True):
                take_adam_step(weight, slope, mean, square, number + 1, rate)
    points = np.ascontiguousarray(weights.points.T).reshape(GROUP, *POINT_SHAPE)
    steps, outputs = ((temperature * part).astype(np.float32) for part in (weights.steps, weights.outputs))
    return steps.reshape(POINT_SHAPE), FilterUnits(weights.bias, points, outputs, _MARGIN * temperature)


def _temperature(decisions: FilterDecisions) -> float:
    starts, equities = decisions.starts, decisions.equities
    sizes = np.diff(starts)
    means, squares = (np.add.reduceat(each, starts[:-1]) / sizes for each in (equities, equities**2))
    spreads = np.sqrt(np.maximum(squares - means**2, 0))
    return max(_TEMPERATURE * float(spreads.mean()), _MIN_TEMPERATURE)


def _new_memory(plays: int) -> _Memory:
    return _Memory(
        np.empty((plays, _MAX_TERMS), np.int64),
        np.empty((plays, _MAX_TERMS), np.float32),
        np.empty(plays, np.int64),
        np.empty((plays, GROUP), np.float32),
        np.empty((2, plays), np.float32),
        np.empty(GROUP, np.float32),
    )


@inline_kernel
def _load_terms(packed, terms, factors):
    """Write the terms of a board after a play, whose mover is the opponent; return their number."""
    count = np.int64(0)
    for place in range(2 * _PLACES):
        byte = OPPONENT_HALF + place if place < _PLACES else place - _PLACES
        checkers = np.int64(packed[byte])
        if checkers == 0:
            continue
        terms[count], further, more = columns_of(place, checkers)
        factors[count] = 1
        count += 1
        if more > 0:
            terms[count], factors[count] = further, more
            count += 1
    return count


@inline_kernel
def _squash(x):
    """Return `squash_units` of a number, and its slope (`slopes_of_units`)."""
    three, nine, most = np.float32(3), np.float32(9), np.float32(27)
    x = min(max(x, -_LIMIT), _LIMIT)
    part = (nine - x * x) / (three + x * x)
    return x * (most + x * x) / (most + nine * x * x), part * part / nine


@inline_kernel
def _logit(weights, k, memory):
    """Return the logit of play `k`, whose terms are loaded."""
    own, logit = memory.sums[k], np.float32(0)
    for unit in range(GROUP):
        own[unit] = weights.bias[unit]
    for n in range(memory.counts[k]):
        term, factor = memory.terms[k, n], memory.factors[k, n]
        logit += factor * weights.steps[term]
        for unit in range(GROUP):
            own[unit] += factor * weights.points[term, unit]
    for unit in range(GROUP):
        logit += weights.outputs[unit] * _squash(own[unit])[0]
    return logit


@inline_kernel
def _add_gradient(weights, k, by_logit, slopes, memory):
    """Add the gradient of play `k`, given that by its logit."""
    for unit in range(GROUP):
        squashed, slope = _squash(memory.sums[k, unit])
        slopes.outputs[unit] += by_logit * squashed
        memory.slopes[unit] = by_logit * weights.outputs[unit] * slope
        slopes.bias[unit] += memory.slopes[unit]
    for n in range(memory.counts[k]):
        term, factor = memory.terms[k, n], memory.factors[k, n]
        slopes.steps[term] += factor * by_logit
        for unit in range(GROUP):
            slopes.points[term, unit] += factor * memory.slopes[unit]


@kernel
def _add_gradients(decisions, temperature, picked, share, weights, slopes, memory):
    """Add to `slopes` the gradient of minus the log-likelihood of the `picked` decisions, times a `share`."""
    shares = memory.shares
    for decision in picked:
        first = decisions.starts[decision]
        count = decisions.starts[decision + 1] - first
        highest, best = np.float32(-np.inf), -np.inf
        for k in range(count):
            memory.counts[k] = _load_terms(decisions.packed[first + k], memory.terms[k], memory.factors[k])
            shares[0, k] = _logit(weights, k, memory)
            highest, best = max(highest, shares[0, k]), max(best, decisions.equities[first + k])
        total, wanted = np.float32(0), np.float32(0)
        for k in range(count):
            shares[0, k] = math.exp(shares[0, k] - highest)
            shares[1, k] = math.exp((decisions.equities[first + k] - best) / temperature)
            total, wanted = total + shares[0, k], wanted + shares[1, k]
        for k in range(count):
            by_logit = share * (shares[0, k] / total - shares[1, k] / wanted)
            _add_gradient(weights, k, by_logit, slopes, memory)
