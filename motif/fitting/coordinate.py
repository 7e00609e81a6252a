"""Tom Keith's coordinate descent: one weight at a time, pass after pass, from all weights zero.

Source: Tom Keith, "How Motif Works" (2004): each weight in turn is set to the value of least
error, until a pass brings no further reduction.  Three things make it quick without changing what
it converges to: the raw predictions are kept up to date instead of recomputed; every weight moves
along its term's centred value (see `coordinate_kernels`); and every few passes the weights are
extrapolated, which is taken only when it lowers the error.

Source of the extrapolation: Bertrand and Massias, "Anderson acceleration of coordinate descent"
(AISTATS 2021), as in skglm: of the last K + 1 iterates, the combination with coefficients that sum
to 1 and make the combined difference smallest.
"""

from functools import partial

import numpy as np

from motif.fitting.coordinate_kernels import centred_shifts, one_pass, refresh
from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.objective import Recorder, Solver
from motif.fitting.problem import Problem, checked_weights
from motif.fitting.terms import FloatArray, Terms
from motif.runtime.errors import FitError

METHOD = "coordinate"
MEMORY = 5
"""K: passes between two extrapolations."""
_NEGLIGIBLE_SHARE = 0.01
"""Steps that all together promise less than this share of the tolerance are not worth their time."""


@partial(Solver, METHOD, 2000)
def solve_coordinate(problem: Problem, start: FloatArray | None, recorder: Recorder) -> str:
    """Fit by coordinate descent, from all weights zero unless told otherwise, on one core.

    The ranking term and point terms are not supported: `FitError`.
    """
    if problem.terms.points:
        raise FitError("coordinate descent does not know point terms: use gauss-newton or least-squares")
    if problem.ranking > 0:
        raise FitError("coordinate descent does not know the ranking term: use gauss-newton or least-squares")
    state = _State(problem, checked_weights(problem.terms, start, "start"))
    negligible = _NEGLIGIBLE_SHARE * recorder.tolerance / problem.terms.count
    extrapolation = Extrapolation(state.weights)
    while (stopped := recorder.record(state.weights, state.error, state.rmse)) is None:
        state.descend(negligible)
        _extrapolate(state, extrapolation)
    return stopped


class Extrapolation:
    """Collects iterates and proposes an extrapolated one after every `MEMORY` of them."""

    def __init__(self, start: FloatArray) -> None:
        self.restart(start)

    def restart(self, weights: FloatArray) -> None:
        """Forget the past; `weights` is the new first iterate."""
        self._iterates = [weights.copy()]

    def propose(self, weights: FloatArray) -> FloatArray | None:
        """Take the next iterate; every `MEMORY` of them, the extrapolated weights (else None)."""
        self._iterates.append(weights.copy())
        if len(self._iterates) <= MEMORY:
            return None
        iterates = np.array(self._iterates)
        differences = np.diff(iterates, axis=0)
        # Minimise |sum c_k differences_k| with sum c = 1: proportional to G^-1 1, with a trace of
        # the diagonal added because the differences soon become parallel.
        gram = differences @ differences.T
        gram[np.diag_indices_from(gram)] += 1e-12 * np.trace(gram)
        try:
            coefficients = np.linalg.solve(gram, np.ones(len(gram)))
        except np.linalg.LinAlgError:
            return None
        total = coefficients.sum()
        if not np.isfinite(total) or total == 0:
            return None
        return coefficients @ iterates[1:] / total


class _State:
    """Columns, current weights, and what follows from them on the training rows."""

    def __init__(self, problem: Problem, weights: FloatArray) -> None:
        rows, terms = problem.train, problem.terms
        shares = rows.sample_weights / rows.sample_weights.sum()
        count = len(rows)
        self.problem, self.weights = problem, weights
        self.columns = np.ones((1 + terms.size, count), np.float32)
        self.columns[1:] = rows.features.T
        self.means = term_sums(Terms.linear(terms.size), rows.features, shares)
        self.means[0] = 0.0  # the column of ones stays as it is
        linear = np.arange(1 + terms.size)
        self.first = np.concatenate([linear, terms.first + 1])
        self.second = np.concatenate([np.zeros_like(linear), terms.second + 1])
        self.shifts = centred_shifts(self.columns, self.means, shares, self.first, self.second)
        self.roots = np.sqrt(shares)
        self.targets = rows.labels - problem.link.middle
        self.residuals, self.slopes = np.empty(count), np.empty(count)
        self.move_to(weights)

    def move_to(self, weights: FloatArray) -> None:
        """Take other weights: the raw predictions are recomputed."""
        problem = self.problem
        self.weights = weights
        self.raw = raw_predictions(problem.terms, problem.train.features, weights)
        self.squares = refresh(
            self.raw, self.targets, self.roots, problem.link.half_range, self.residuals, self.slopes
        )
        self.penalty = problem.ridge * float(np.sum((weights - problem.target)[1:] ** 2))

    def descend(self, negligible: float) -> None:
        """One pass over all weights."""
        problem = self.problem
        self.squares, self.penalty = one_pass(
            self.columns, self.means, self.first, self.second, self.shifts,
            self.weights, problem.target, problem.ridge, negligible,
            self.raw, self.targets, self.roots, problem.link.half_range,
            self.residuals, self.slopes, self.squares, self.penalty,
        )  # fmt: skip

    @property
    def error(self) -> float:
        return float(self.squares + self.penalty)

    @property
    def rmse(self) -> float:
        return float(np.sqrt(self.squares))


def _extrapolate(state: _State, extrapolation: Extrapolation) -> None:
    candidate = extrapolation.propose(state.weights)
    if candidate is None:
        return
    before, error = state.weights, state.error
    state.move_to(candidate)
    if state.error >= error:
        state.move_to(before)
    extrapolation.restart(state.weights)
