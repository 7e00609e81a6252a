"""What a joint fit minimises, with every matrix formed, and its minimum found by SciPy."""

import numpy as np
from scipy import optimize

from motif.fitting.problem import Problem


def shares(problem: Problem) -> np.ndarray:
    """(n,): each training row's part of the sample weight."""
    return problem.train.sample_weights / problem.train.sample_weights.sum()


def expanded(problem: Problem) -> np.ndarray:
    """(n, count): the values of the training rows' terms."""
    return problem.terms.expand(problem.train.features, problem.train.boards).astype(np.float64)


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
    """A whose A^T A is half the curvature of the error at `weights` (count,) over all training rows."""
    values = expanded(problem)
    return ranked(problem, problem.link.slope(values @ weights)[:, None] * values)


def residuals(
    problem: Problem, groups: np.ndarray, common: np.ndarray, shrinkage: float, weights: np.ndarray
) -> np.ndarray:
    """A vector whose sum of squares is what a joint fit minimises, at `weights` (groups, count)."""
    values, root = expanded(problem), curvature_root(problem, common)
    raw = values @ common
    for group, own in enumerate(weights):
        raw[groups == group] = values[groups == group] @ own
    parts = [ranked(problem, problem.link.predict(raw) - problem.train.labels)]
    for own in weights:
        parts.append(np.sqrt(shrinkage / len(groups)) * (root @ (own - common)))
        parts.append(np.sqrt(problem.ridge) * (own - common)[1:])  # the bias is free
    return np.concatenate(parts)


def jacobian(
    problem: Problem, groups: np.ndarray, common: np.ndarray, shrinkage: float, weights: np.ndarray
) -> np.ndarray:
    """The derivatives of `residuals` by the flattened weights."""
    values, root = expanded(problem), curvature_root(problem, common)
    drawn = [np.sqrt(shrinkage / len(groups)) * root, np.sqrt(problem.ridge) * np.eye(len(common))[1:]]
    columns = []
    for group, own in enumerate(weights):
        slopes = np.where(groups == group, problem.link.slope(values @ own), 0.0)
        parts = [ranked(problem, slopes[:, None] * values)]
        for other in range(len(weights)):
            parts += [(other == group) * part for part in drawn]
        columns.append(np.concatenate(parts))
    return np.concatenate(columns, axis=1)


def joint_minimum(
    problem: Problem, groups: np.ndarray, common: np.ndarray, shrinkage: float
) -> tuple[np.ndarray, float]:
    """The weights (groups, count) of least error, and the error."""
    shape = (int(groups.max()) + 1, len(common))
    found = optimize.least_squares(
        lambda flat: residuals(problem, groups, common, shrinkage, flat.reshape(shape)),
        np.tile(common, shape[0]),
        lambda flat: jacobian(problem, groups, common, shrinkage, flat.reshape(shape)),
        xtol=1e-11,
        ftol=1e-11,
        gtol=1e-11,
    )
    return found.x.reshape(shape), 2 * float(found.cost)
