"""Coordinate descent over a model of the error: one weight at a time, sweep after sweep.

Source: Tom Keith, "How Motif Works" (2004): each weight in turn is set to the value with the lowest error,
until that brings no further reduction. That method, in `keith_descent`, reads every position for each weight.
Here all positions are read only twice per pass, whatever the number of sweeps:

1. The error is replaced by its quadratic model at the current weights: the gradient from every row, and the
curvature, a matrix (count, count), from a sample of the rows (`gauss_newton.sampled_rows`).
2. Sweeps go over the weights of the model, forwards and backwards: each is set to its best value while the
others stay unchanged. From zero weights, the forward sweep uses only the matrix left of its diagonal and the
backward sweep only the matrix right of it, so the two are triangular systems, solved row by row. Weights of
similar parameters need thousands of plain sweeps, so conjugate gradients find the combination of all sweeps
of a pass with the lowest error.
3. The step is the combination of the sweeps' result and the last pass's step that has the lowest error over
all rows, to second order; it is halved until the error falls. The model may be rough, because the following
passes correct its errors.

Weights are changed in terms of centred features, with the bias always at its best value: the model is the
same, but the directions are far less correlated. At first only linear weights are fitted, which is fast and
brings the slopes of the squash close to their final values. BLAS uses one thread and sums are added in a
fixed order, so the result is bit-identical for any number of threads.

Sources: Friedman, Hastie and Tibshirani, "Regularization paths for generalized linear models via coordinate
descent" (2010), sections 2.2 and 3 (sweeps over a matrix of products instead of rows; a quadratic model of
the squashed error); Axelsson, "Iterative solution methods" (1994), section 7 (symmetric sweeps with conjugate
gradients); Pilanci and Wainwright, "Iterative Hessian sketch" (2016).
"""

from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import strsv

from motif.fitting.curvature import centres, centring, curvature_over, moment_curvature, sums_needed
from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.gauss_newton import MAX_HALVINGS, conjugate_gradients, faulty, leverages, sampled_rows
from motif.fitting.objective import Ending, Linearization, Objective, Recorder, Solver, starting_weights
from motif.fitting.terms import Terms
from motif.runtime.arrays import FloatArray

METHOD = "coordinate"
_ROWS_PER_WEIGHT = 8
"""Rows per weight for the model's curvature; half as many for the first model, which is soon replaced."""
MAX_SWEEPS = 60
"""Maximum sweeps back and forth per pass."""
_MIN_SWEEPS = 5
_LAST_GAIN = 0.02
"""Sweeps end when the same number again, each with the gain of the last one, would add less than this share
of the gain so far.
"""
_LAST_SHARE = 0.1
"""Sweeps also end when the same number again would gain less than this share of the tolerance."""
_LINEAR_PASSES = 4
_LINEAR_GAIN = 0.5
"""Only linear weights are fitted until a pass gains less than this share of the error."""
_MAX_CHANGE = 0.05
"""Maximum relative change of the squared slopes before the model's curvature is computed again."""
_JITTER = 1e-6
"""Share of the diagonal that is added to it, because float32 sums may not be positive definite."""
_MIN_ANGLE = 1e-9
"""Squared sine of the angle between two steps, measured over the rows, below which they count as parallel."""


@partial(Solver, METHOD, 500)
def solve_coordinate(objective: Objective, start: FloatArray | None, recorder: Recorder) -> Ending:
    """Fit by coordinate descent; a ranking term and a ridge are supported.

    Without `start`, the fit begins at the bias that predicts the mean label, and the first few passes fit
    only the linear weights. A pass consists of all sweeps over one model.
    """
    problem, failure = objective.problem, None
    state = _CoordinateState(objective, starting_weights(problem, start))
    if not state.weights[1:].any():
        state.terms = Terms.linear(problem.terms.size)
    while (stopped := recorder.record(state.weights, state.point, failure)) is None:
        if state.terms is not problem.terms and _is_fitted_enough(recorder):
            state.move_all()
        moves_all = state.terms is problem.terms
        failure = state.do_pass(recorder.tolerance)
        if not moves_all:  # the other weights may still lower the error
            failure = None
    return stopped


def _is_fitted_enough(recorder: Recorder) -> bool:
    """Return whether the linear weights have had enough passes of their own."""
    errors = [record.error for record in recorder.history]
    return len(errors) > _LINEAR_PASSES or (
        len(errors) > 1 and errors[-2] - errors[-1] < _LINEAR_GAIN * errors[-2]
    )


class _Step(NamedTuple):
    """A step of the active weights, and its effect on the raw predictions (n,)."""

    weights: FloatArray
    raw: FloatArray

    def times(self, length: float) -> "_Step":
        return _Step(length * self.weights, length * self.raw)


class _CoordinateState:
    """Current weights, their predictions on the training rows, and the current model."""

    def __init__(self, objective: Objective, weights: FloatArray) -> None:
        self.weights, self.terms = weights, objective.problem.terms
        self._objective, self._train = objective, objective.problem.train
        self._raw = np.full(len(self._train), weights[0])
        if weights[1:].any():
            self._raw = raw_predictions(self.terms, self._train.features, weights)
        self.point = objective.at_raw(weights, self._raw)
        self._model: _Model | None = None
        self._leverages = np.empty(0)
        self._last: _Step | None = None

    def move_all(self) -> None:
        """Fit the weights of all terms from now on, instead of only those of the first terms."""
        self.terms = self._objective.problem.terms
        self._model = self._last = None

    def do_pass(self, tolerance: float) -> Ending | None:
        """Do one pass: sweeps over the model and the resulting step; return the reason if it fails."""
        rows = _ROWS_PER_WEIGHT * self.terms.count
        if self._model is None:
            self._leverages = leverages(self._objective, self.terms, self.point)
            self._model = _Model(self._objective, self.terms, self.point, self._leverages, rows // 2)
        elif self._model.is_stale(self.point):
            self._model = _Model(self._objective, self.terms, self.point, self._leverages, rows)
        gradient = self._gradient()
        swept = self._model.swept(gradient, _LAST_SHARE * tolerance * self.point.error)
        raw = raw_predictions(self.terms, self._train.features, swept)
        return self._take(self._combined(gradient, _Step(swept, raw)), gradient)

    def _gradient(self) -> FloatArray:
        """Return half the derivative of the error by the active weights."""
        objective = self._objective
        sums = term_sums(self.terms, self._train.features, objective.row_gradient(self.point))
        return sums + (objective.penalty * self.weights)[: self.terms.count]

    def _combined(self, gradient: FloatArray, step: _Step) -> _Step:
        """Return the best combination of `step` and the last step, to second order."""
        steps = [step] if self._last is None else [step, self._last]
        descents = np.array([-np.sum(gradient * each.weights) for each in steps])
        model_steps = [self._objective.operator.apply(self.point.slopes * each.raw) for each in steps]
        penalty_gradients = [self._objective.penalty[: self.terms.count] * each.weights for each in steps]
        curvatures = np.array(
            [
                [np.sum(a * b) + np.sum(p * each.weights) for b, each in zip(model_steps, steps, strict=True)]
                for a, p in zip(model_steps, penalty_gradients, strict=True)
            ]
        )
        if len(steps) == 2 and np.linalg.det(curvatures) > _MIN_ANGLE * curvatures[0, 0] * curvatures[1, 1]:
            new, old = np.linalg.solve(curvatures, descents)
            last = steps[1].times(old)
            return _Step(new * step.weights + last.weights, new * step.raw + last.raw)
        return step.times(descents[0] / curvatures[0, 0] if curvatures[0, 0] > 0 else 0.0)

    def _take(self, step: _Step, gradient: FloatArray) -> Ending | None:
        """Take the step, halved until the error falls; return the reason if this fails."""
        self._last = None
        if (failure := faulty(step.weights, gradient)) is not None:
            return failure
        for _ in range(MAX_HALVINGS):
            weights, raw = self.weights.copy(), self._raw + step.raw
            weights[: self.terms.count] += step.weights
            point = self._objective.at_raw(weights, raw)
            if point.error < self.point.error:
                self.weights, self._raw, self.point, self._last = weights, raw, point, step
                return None
            step = step.times(0.5)
        return Ending.LINE_SEARCH_FAILED


class _Model:
    """Quadratic model of the error in the weights of centred features, with the bias at its best value."""

    def __init__(
        self, objective: Objective, terms: Terms, point: Linearization, shares: FloatArray, size: int
    ) -> None:
        self._squares = point.slopes**2
        train, penalty = objective.problem.train, objective.penalty[: terms.count]
        means = centres(terms, train, self._squares)
        rows, factors, operator = sampled_rows(objective, point, shares, size)
        if operator.strength == 0 and 2 * sums_needed(terms.size) < terms.count**2:
            matrix = moment_curvature(terms, train, rows, factors, means)
        else:
            matrix = curvature_over(terms, train, rows, factors, operator, means)
        matrix[np.diag_indices_from(matrix)] *= 1 + _JITTER
        self._from_centred = centring(terms, -means.astype(np.float64))
        # Only the rows of the penalty's root for penalised weights.
        matrix += (self._from_centred.T @ self._from_centred.multiply(penalty[:, None]).tocsr()).toarray()
        self._bias_curvature = matrix[0, 0]
        # If the link is flat in every row, there is no curvature.
        self._bias = (
            matrix[0] / self._bias_curvature if self._bias_curvature > 0 else np.zeros_like(matrix[0])
        )
        matrix -= np.outer(self._bias, matrix[0])
        matrix[0] = matrix[:, 0] = 0.0
        # Terms that never occur, and the bias, are not penalised and stay unchanged.
        silent = np.flatnonzero(matrix.diagonal() <= 0)
        matrix[silent, silent] = 1.0
        self._matrix = np.asfortranarray(matrix, np.float32)
        self._diagonal = self._matrix.diagonal().copy()

    def is_stale(self, point: Linearization) -> bool:
        """Return whether the slopes have changed enough to justify a new model."""
        change = float(np.sum(np.abs(point.slopes**2 - self._squares)))
        return change > _MAX_CHANGE * float(np.sum(self._squares))

    def swept(self, gradient: FloatArray, enough: float) -> FloatArray:
        """Return the weights (count,) that sweeps over the model lead to, from a zero step.

        `gradient` is half the derivative of the error. The sweeps end when the same number again, each with
        the gain of the last one, would add less than `enough`, or little compared with the gain so far.
        """
        descents = -(self._from_centred.T @ gradient)
        reduced = self._bias * descents[0] - descents
        steps, gained, best = conjugate_gradients(reduced, self._product, self._sweep), 0.0, 0 * reduced
        for number, (step, gain) in enumerate(islice(steps, MAX_SWEEPS), 1):
            best = step
            gained += gain
            if number >= _MIN_SWEEPS and number * gain <= max(enough, _LAST_GAIN * gained):
                break
        alone = descents[0] / self._bias_curvature if self._bias_curvature > 0 else 0.0
        best[0] = alone - np.sum(self._bias[1:] * best[1:])
        return np.asarray(self._from_centred @ best)

    def _product(self, vector: FloatArray) -> FloatArray:
        return (self._matrix @ vector.astype(np.float32)).astype(np.float64)

    def _sweep(self, residuals: FloatArray) -> FloatArray:
        """Return the weights after a forward and a backward sweep from zero."""
        there = strsv(self._matrix, residuals.astype(np.float32), lower=1)
        return np.asarray(strsv(self._matrix, self._diagonal * there), np.float64)
