"""The curvature of the error, with every matrix formed."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from motif.fitting.curvature import centres, centring, curvature_over, factorised
from motif.fitting.problem import FitRows, Problem, RankingOperator


def shares(problem: Problem) -> np.ndarray:
    """(n,): each training row's share of the sample weight."""
    return problem.train.sample_weights / problem.train.sample_weights.sum()


def expanded(problem: Problem) -> np.ndarray:
    """(n, count): the terms of the training rows."""
    return problem.terms.expand(problem.train.features).astype(np.float64)


def ranked(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Rows whose sum of squares is the weighted mean square of `values` (n, ...) and its ranking term."""
    weights, apart = shares(problem), np.array(values, np.float64)
    for begin, end in zip(problem.train.starts[:-1], problem.train.starts[1:], strict=True):
        here = weights[begin:end]
        if here.any():
            apart[begin:end] -= np.average(values[begin:end], axis=0, weights=here)
    roots = np.sqrt(weights).reshape(-1, *[1] * (apart.ndim - 1))
    return np.concatenate([roots * values, np.sqrt(problem.ranking) * roots * apart])


def curvature_root(problem: Problem, weights: np.ndarray) -> np.ndarray:
    """A matrix A for which A^T A is half the curvature of the error at `weights` (count,)."""
    values = expanded(problem)
    return ranked(problem, problem.link.slope(values @ weights)[:, None] * values)


class Curvature(NamedTuple):
    """The curvature T^T G T of terms, from that of centred terms, G."""

    centred: np.ndarray
    transform: sparse.csr_array

    def matrix(self) -> np.ndarray:
        return self.transform.T @ self.centred @ self.transform

    def factor(self, penalty: np.ndarray) -> np.ndarray:
        return np.triu(factorised(self.centred, self.transform, penalty))


def curvature(
    problem: Problem, rows: np.ndarray, slopes: np.ndarray, operator: RankingOperator, most_rows: int
) -> Curvature:
    """Half the curvature of the error from the training rows `rows`, ascending numbers.

    `slopes` and `operator` are those of all training rows; plays that are not among `rows` are left out. If
    there are more than `most_rows` rows, about that many are used, whole decisions spread evenly, and the
    result is scaled up.
    """
    train, terms = problem.train, problem.terms
    decision = np.searchsorted(operator.starts, rows, side="right")
    first = np.flatnonzero(np.diff(decision, prepend=-1))
    step = max(1, -(-len(rows) // most_rows))
    lengths = np.diff(first, append=len(rows))
    mask = np.repeat(np.arange(len(first)) % step == 0, lengths)
    sample, starts = rows[mask], np.concatenate([[0], np.cumsum(lengths[::step])])
    part = RankingOperator(operator.strength, operator.roots[sample], starts)
    factors = slopes[sample] * np.sqrt(len(rows) / max(1, len(sample)))
    chosen = FitRows(train.features[sample], train.labels[sample], train.sample_weights[sample], starts)
    means = centres(terms, chosen, factors**2)
    return Curvature(curvature_over(terms, train, sample, factors, part, means), centring(terms, means))
