"""The curvature of the error, with every matrix formed."""

import numpy as np

from motif.fitting.problem import Problem


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
