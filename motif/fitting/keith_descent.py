"""Tom Keith's coordinate descent: one weight after another is set to its best value over all positions.

Source: Tom Keith, "How Motif Works" (2004): from all weights zero, each weight in turn is set to the value
with the lowest error, until that brings no further reduction. `coordinate` sweeps over a model of the error
instead, which is far faster; this is the original method, on the exact error with the squash.

The weight w_j moves the raw predictions x along its column f_j, so its new value minimises

    phi(d) = sum over decisions of |M (y(x + d f_j) - label)|^2 + ridge (w_j + d)^2

over d; M is the ranking operator (`motif.fitting.problem`).  Newton's method finds the minimum, with
Gauss-Newton's second derivative where the true one is small or negative, and its step is halved until phi
falls. The raw predictions and their tangents are kept from weight to weight, so that a weight needs only a
few passes over n numbers and no product with the matrix of terms. A pass of the fit is a sweep over all
weights, the bias first.

In units of roots r^2 = share of the sample weight, |M u|^2 = (1 + ranking) sum u^2 - ranking * sum over
decisions of (sum r u)^2 / sum r^2, and its derivatives by d are sums of the same kind.
"""

from functools import partial

import numpy as np

from motif.compiler.jit import fast_kernel, kernel
from motif.fitting.design import raw_predictions
from motif.fitting.objective import Ending, Objective, Recorder, Solver
from motif.fitting.problem import fast_tanh
from motif.runtime.arrays import FloatArray

METHOD = "keith"
_MAX_STEPS = 30
"""Maximum Newton steps per weight and sweep, and halvings of each."""
_LEFT = 1e-8
"""A weight is at its best value when another step would add less than this share of its gain."""
_MIN_CURVATURE_SHARE = 0.1
"""Share of Gauss-Newton's second derivative below which the true one is not trusted."""
_MAX_CHANGE = 2.0
"""Maximum root mean square change of the raw predictions by a Newton step."""
_FLAT = 1e-8
"""A second derivative below this share of that at the steepest slope counts as rounding."""
_ERROR, _SLOPE, _MODEL_CURVATURE, _CURVATURE = range(4)
"""Results of `_derivatives`: phi, half its first derivative, and half its second by Gauss-Newton and
exactly.
"""


@partial(Solver, METHOD, 20_000)
def solve_keith(objective: Objective, start: FloatArray | None, recorder: Recorder) -> Ending:
    """Fit one weight after another; a ranking term and a ridge are supported.

    Without `start`, the fit begins with all weights zero.
    """
    problem = objective.problem
    terms, train, link = problem.terms, problem.train, problem.link
    weights = np.zeros(terms.count) if start is None else start.copy()
    raw = raw_predictions(terms, train.features, weights)
    point, failure = objective.at_raw(weights, raw), None
    variables = np.ones((1 + terms.size, len(train)), np.float32)
    variables[1:] = train.features.T
    shares = objective.roots**2
    spreads = np.sqrt(objective.term_sums(shares, 2))
    aims = (train.labels - link.middle) / link.half_range
    rows = aims, shares * link.half_range**2, train.starts, float(problem.ranking)
    while (stopped := recorder.record(weights, point, failure)) is None:
        swept, moved = weights.copy(), raw.copy()
        _sweep(variables, terms.variables, rows, objective.penalty, spreads, swept, moved)
        if not (np.isfinite(swept).all() and np.isfinite(moved).all()):
            failure = Ending.NOT_FINITE
        elif (after := objective.at_raw(swept, moved)).error > point.error:
            failure = Ending.NOT_A_DESCENT_DIRECTION
        else:
            weights, raw, point, failure = swept, moved, after, None
    return stopped


@kernel
def _sweep(variables, products, rows, penalty, spreads, weights, raw):
    """Set each of `weights` (count,) to its best value in turn, and update the predictions `raw` (n,).

    `products` are the variables of the terms, `rows` are as in `_derivatives`, `penalty` (count,) the
    strengths of the ridge, `spreads` (count,) the root mean squares of the terms.
    """
    first, second = products
    count, total = raw.shape[0], np.sum(rows[1])
    column, tangents, found = np.empty(count), np.empty((2, count)), np.empty((2, 4))
    side = 0
    _squash(raw, 0.0, raw, tangents[side])
    for j in range(weights.shape[0]):
        ridge = penalty[j], weights[j]
        if spreads[j] == 0 and ridge[0] * ridge[1] == 0:
            continue  # the term never occurs
        _multiply(variables[first[j]], variables[second[j]], column)
        _derivatives(column, tangents[side], rows, ridge, found[side])
        if found[side, _MODEL_CURVATURE] - ridge[0] <= _FLAT * spreads[j] * spreads[j] * total:
            found[side, _SLOPE] = ridge[0] * ridge[1]
            found[side, _MODEL_CURVATURE] = found[side, _CURVATURE] = ridge[0]
        longest = _MAX_CHANGE / spreads[j] if spreads[j] > 0 else np.inf
        moved, side = _settle(raw, column, tangents, side, rows, ridge, longest, found)
        if moved != 0:
            weights[j] += moved
            for k in range(count):
                raw[k] += moved * column[k]


@kernel
def _settle(raw, column, tangents, side, rows, ridge, longest, found):
    """Return the step along `column` from `raw` with the lowest error, and the row of the results for it.

    Rows `side` of `tangents` (2, n) and `found` (2, 4) belong to `raw`; the other rows are working memory.
    """
    moved, gained = 0.0, 0.0
    for _ in range(_MAX_STEPS):
        here, there = found[side], found[1 - side]
        curvature = here[_CURVATURE]
        if not curvature > _MIN_CURVATURE_SHARE * here[_MODEL_CURVATURE]:
            curvature = here[_MODEL_CURVATURE]
        if not curvature > 0 or here[_SLOPE] == 0:
            break
        step = max(-longest, min(longest, -here[_SLOPE] / curvature))
        if moved != 0 and -step * here[_SLOPE] <= _LEFT * gained:
            break
        halvings = 0
        while halvings < _MAX_STEPS:
            _squash(raw, moved + step, column, tangents[1 - side])
            _derivatives(column, tangents[1 - side], rows, (ridge[0], ridge[1] + moved + step), there)
            if there[_ERROR] < here[_ERROR]:
                break
            step /= 2
            halvings += 1
        if halvings == _MAX_STEPS:
            break
        moved += step
        gained += here[_ERROR] - there[_ERROR]
        side = 1 - side
    return moved, side


@kernel
def _derivatives(column, tangents, rows, ridge, found):
    """Write phi and half its derivatives by a step along `column`, at `tangents` (n,), to `found` (4,).

    `rows` are the aims, shares and decisions of the rows and the weight of the ranking term; labels and
    shares are in units of the link, so that the link is the hyperbolic tangent and `aims` (n,) are the
    correct tangents. `ridge` is its strength and the weight.
    """
    aims, shares, starts, ranking = rows
    strength, away = ridge
    _row_derivatives(column, tangents, aims, shares, found)
    if ranking > 0:
        _add_ranking(column, tangents, aims, shares, starts, ranking, found)
    found[_ERROR] += strength * away * away
    found[_SLOPE] += strength * away
    found[_MODEL_CURVATURE] += strength
    found[_CURVATURE] += strength


@fast_kernel
def _multiply(one, other, column):
    for k in range(column.shape[0]):
        column[k] = np.float64(one[k]) * np.float64(other[k])


@fast_kernel
def _squash(raw, step, column, tangents):
    """Write the tangents of `raw` + `step` * `column`."""
    for k in range(raw.shape[0]):
        tangents[k] = fast_tanh(raw[k] + step * column[k])


@fast_kernel
def _row_derivatives(column, tangents, aims, shares, found):
    """Do the same as `_derivatives` without ranking and ridge."""
    error, slope, model_curvature, rest = 0.0, 0.0, 0.0, 0.0
    for k in range(column.shape[0]):
        tangent = tangents[k]
        left = tangent - aims[k]
        rise = (1.0 - tangent * tangent) * column[k]
        weighted, weighted_rise = shares[k] * left, shares[k] * rise
        error += weighted * left
        slope += weighted * rise
        model_curvature += weighted_rise * rise
        rest += weighted * tangent * (rise * column[k])
    found[_ERROR], found[_SLOPE] = error, slope
    found[_MODEL_CURVATURE], found[_CURVATURE] = model_curvature, model_curvature - 2.0 * rest


@fast_kernel
def _add_ranking(column, tangents, aims, shares, starts, ranking, found):
    """Add the ranking term: `ranking` times the same, with the means of decisions subtracted."""
    error, slope, model_curvature, rest = 0.0, 0.0, 0.0, 0.0
    for d in range(starts.shape[0] - 1):
        share, sum_left, sum_rise, sum_turn = 0.0, 0.0, 0.0, 0.0
        for k in range(starts[d], starts[d + 1]):
            tangent = tangents[k]
            rise = (1.0 - tangent * tangent) * column[k]
            share += shares[k]
            sum_left += shares[k] * (tangent - aims[k])
            sum_rise += shares[k] * rise
            sum_turn -= 2.0 * shares[k] * tangent * rise * column[k]
        if share > 0:
            error += sum_left * sum_left / share
            slope += sum_left * sum_rise / share
            model_curvature += sum_rise * sum_rise / share
            rest += sum_left * sum_turn / share
    found[_ERROR] += ranking * (found[_ERROR] - error)
    found[_SLOPE] += ranking * (found[_SLOPE] - slope)
    found[_MODEL_CURVATURE] += ranking * (found[_MODEL_CURVATURE] - model_curvature)
    found[_CURVATURE] += ranking * (found[_CURVATURE] - model_curvature - rest)
