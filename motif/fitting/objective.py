"""The error of a `Problem` at given weights, its gradient, and products with its curvature."""

from dataclasses import dataclass

import numpy as np

from motif.fitting.design import raw_predictions, term_sums
from motif.fitting.problem import Problem, Rows
from motif.fitting.ranking import RankingOperator
from motif.fitting.terms import FloatArray


def sum_of_squares(values: FloatArray) -> float:
    """Summed by NumPy: BLAS would give other last bits with other numbers of threads."""
    return float(np.sum(values * values))


@dataclass(frozen=True, eq=False)
class Point:
    """The training rows seen from one weight vector."""

    error: float
    residuals: FloatArray
    """(n,): root * (y - label), before the ranking operator."""
    slopes: FloatArray
    """(n,): root * dy/dx, so the Jacobian of `residuals` is diag(slopes) X."""

    @property
    def rmse(self) -> float:
        """Weighted root mean square of y - label, without ridge and ranking."""
        return float(np.sqrt(sum_of_squares(self.residuals)))


class Objective:
    """The error that `Problem` defines.  Residuals carry the root of each row's share of the weight."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        weights = problem.train.sample_weights
        self.roots = np.sqrt(weights / weights.sum())
        self.operator = RankingOperator(problem.ranking, self.roots, problem.train.starts)
        self.penalty = np.full(problem.terms.count, problem.ridge)
        self.penalty[0] = 0.0  # the bias is free

    def at(self, weights: FloatArray) -> Point:
        """Error, residuals and slopes at `weights` (count,)."""
        problem = self.problem
        raw = _raw(problem, problem.train, weights)
        residuals = self.roots * (problem.link.predict(raw) - problem.train.labels)
        stretched = self.operator.apply(residuals)
        penalty = float(np.sum(self.penalty * (weights - problem.target) ** 2))
        error = sum_of_squares(stretched) + penalty
        return Point(error, residuals, self.roots * problem.link.slope(raw))

    def term_sums(self, row_values: FloatArray, power: int = 1) -> FloatArray:
        """`motif.fitting.design.term_sums` over the training rows; (count,)."""
        train = self.problem.train
        return term_sums(self.problem.terms, train.features, row_values, power, train.boards)

    def gradient(self, weights: FloatArray, point: Point) -> FloatArray:
        """Derivative of the error by every weight (count,); `point` is `at(weights)`."""
        problem = self.problem
        rows = point.slopes * self.operator.apply_twice(point.residuals)
        sums = self.term_sums(rows)
        return 2 * (sums + self.penalty * (weights - problem.target))

    def curvature_product(self, point: Point, direction: FloatArray) -> FloatArray:
        """Gauss-Newton's approximation of the second derivative times `direction`, both (count,)."""
        moved = point.slopes * _raw(self.problem, self.problem.train, direction)
        rows = point.slopes * self.operator.apply_twice(moved)
        sums = self.term_sums(rows)
        return 2 * (sums + self.penalty * direction)


def _raw(problem: Problem, rows: Rows, weights: FloatArray) -> FloatArray:
    return raw_predictions(problem.terms, rows.features, weights, boards=rows.boards)


def rmse(problem: Problem, rows: Rows, weights: FloatArray) -> float | None:
    """Weighted root mean square of y - label over `rows`; None when they hold no weight."""
    total = rows.sample_weights.sum()
    if total == 0:
        return None
    raw = _raw(problem, rows, weights)
    squares = (problem.link.predict(raw) - rows.labels) ** 2
    return float(np.sqrt(np.sum(rows.sample_weights * squares) / total))
