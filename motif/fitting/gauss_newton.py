"""Gauss-Newton for thousands of weights and a million positions.

Each pass linearises the squash and solves the normal equations for the step by preconditioned
conjugate gradients.  Their products with the curvature are cheap (see `design`) and in float64; the
Gram matrix of the preconditioner is the one costly thing, so it comes from a part of the rows and
is kept while it serves.  A step is halved until the error falls.  Sources: Nocedal and Wright,
"Numerical Optimization" (2006), sections 7.1 (inexact Newton), 5.1 (preconditioned conjugate
gradients) and 10.3 (Gauss-Newton).

BLAS is kept to one thread and the Gram matrix shared out among threads of our own, in chunks whose
sums are added in order: the same bytes for any number of threads.
"""

from itertools import islice

import numpy as np

from motif.fitting.descent import conjugate_gradients, descend
from motif.fitting.objective import Objective, Point
from motif.fitting.preconditioner import Preconditioner
from motif.fitting.problem import Problem, checked_weights
from motif.fitting.result import FitResult, OnPass, Recorder
from motif.fitting.terms import FloatArray
from motif.runtime.parallel import one_thread

METHOD = "gauss-newton"
_INNER_TOLERANCE = 0.1
"""Of the gain so far: conjugate gradients stop when steps like the last one promise less."""
_LAST_SHARE = 0.1
"""Of the tolerance: conjugate gradients also stop when steps like the last one promise less."""
_LEAST_LAST = 10
_MOST_INNER = 100
_SLOW_INNER = 12
"""More steps than this, and a fresh preconditioner pays."""
_FRESH_PASSES = 2
"""The slopes change so much in the first passes that each gets a fresh preconditioner."""


@one_thread()
def solve_gauss_newton(
    problem: Problem,
    *,
    max_passes: int = 50,
    tolerance: float = 1e-6,
    on_pass: OnPass | None = None,
    patience: int | None = None,
    start: FloatArray | None = None,
) -> FitResult:
    """Fit by Gauss-Newton passes; ranking, ridge and prior are all supported.

    Stops when a pass reduces the error by less than `tolerance` of it, after `max_passes`, when
    the validation error has not reached a new low for `patience` passes (the weights are then those
    of that low), or when `on_pass` returns True.  `start` is where to begin; absent, at the prior
    if there is one, else at the bias alone that predicts the mean label.
    """
    recorder = Recorder(METHOD, problem, max_passes, tolerance, on_pass, patience)
    objective = Objective(problem)
    weights = _starting_weights(problem, start)
    point = objective.at(weights)
    stopped = recorder.record(weights, point.error, point.rmse)
    preconditioner, inner = None, 0
    while stopped is None:
        if preconditioner is None or len(recorder.history) <= _FRESH_PASSES or inner > _SLOW_INNER:
            preconditioner = Preconditioner(objective, point)
        direction, inner = _direction(objective, weights, point, preconditioner, tolerance)
        weights, point = descend(objective.at, weights, point, direction)
        stopped = recorder.record(weights, point.error, point.rmse)
    return recorder.result(weights, stopped)


def _starting_weights(problem: Problem, start: FloatArray | None) -> FloatArray:
    if start is not None:
        return checked_weights(problem.terms, start, "start")
    weights = problem.target.copy()
    if not weights.any():
        mean = np.average(problem.train.labels, weights=problem.train.sample_weights)
        weights[0] = problem.link.inverse(mean)
    return weights


def _direction(
    objective: Objective,
    weights: FloatArray,
    point: Point,
    preconditioner: Preconditioner,
    tolerance: float,
) -> tuple[FloatArray, int]:
    """Conjugate gradients for curvature * direction = -gradient; also the number of steps taken.

    They end when what is still to be gained looks small beside what has been gained, by the rule
    of Nash and Sofer ("Assessing a search direction within a truncated-Newton method", 1990).  A
    direction that gains too little for another pass is only believed after `_LEAST_LAST` steps.
    """
    gradient = objective.gradient(weights, point)
    direction, gained, inner = np.zeros_like(gradient), 0.0, 0
    steps = conjugate_gradients(
        gradient, lambda search: objective.curvature_product(point, search), preconditioner.solve
    )
    for inner, (reached, promise) in enumerate(islice(steps, _MOST_INNER), 1):
        direction = reached
        gain = promise / 2
        gained += gain
        enough = gained > tolerance * point.error or inner >= _LEAST_LAST
        if enough and inner * gain <= max(_INNER_TOLERANCE * gained, _LAST_SHARE * tolerance * point.error):
            break
    return direction, inner
