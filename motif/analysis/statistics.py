"""The numbers of an analysis: what a form of the second degree does on given features, and how these relate.

Everywhere `features` is float64 (n, p), a row a position.  The raw sum is
``x = bias + sum w_i f_i + sum_{i<=j} w_ij f_i f_j``; written with a symmetric matrix G that holds w_ij
off the diagonal and 2 w_ii on it, ``x = bias + w.f + f.Gf / 2``, so that ``dx/df = w + Gf``.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.evaluators.weight_file import HeadWeights

Floats = npt.NDArray[np.float64]

_SINGULAR = 1e-10
"""Share of a feature's variance below which a combination of features is rounding, not variation."""
_TAKES_PART = 1e-4
"""Coefficient above which a feature belongs to such a combination."""


def interactions(weights: HeadWeights) -> Floats:
    """The symmetric matrix G (p, p) of a head; zeros for a linear one."""
    size = len(weights.linear)
    matrix = np.zeros((size, size))
    low, high = weights.pairs.T
    # A square's weight is added twice, as its derivative has it.
    np.add.at(matrix, (low, high), weights.quadratic)
    np.add.at(matrix, (high, low), weights.quadratic)
    return matrix


def slopes(features: Floats, linear: Floats, matrix: Floats) -> Floats:
    """What x gains a unit of each feature, at each position: dx/df (n, p)."""
    return np.asarray(linear + features @ matrix)


def contributions(features: Floats, linear: Floats, matrix: Floats) -> Floats:
    """What each feature adds to x (n, p), half of a pair's term to each of the two; rows sum to x - bias."""
    return np.asarray(features * (linear + features @ matrix / 2))


def varying(features: Floats) -> npt.NDArray[np.bool_]:
    """Whether each feature (p,) has more than one value."""
    return np.asarray(np.ptp(features, axis=0) > 0)


def correlations(features: Floats) -> Floats:
    """Pearson's correlations (p, p); NaN for a feature that is constant."""
    free = varying(features)
    matrix = np.full((len(free), len(free)), np.nan)
    if free.any():
        values = np.atleast_2d(np.corrcoef(features[:, free], rowvar=False))
        matrix[np.ix_(free, free)] = np.clip(values, -1, 1)
    return matrix


def variance_inflation(matrix: Floats) -> Floats:
    """Variance inflation factors (p,) of features whose `correlations` are given.

    That of a feature is 1 / (1 - R^2) of its regression on all others, the diagonal of the inverse of
    the correlation matrix (Marquardt 1970): 1 for one that nothing else tells, infinity for one that
    others tell exactly, NaN for a constant.
    """
    free = ~np.isnan(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix[np.ix_(free, free)])
    null = values < _SINGULAR
    # A feature outside every exact combination has its factor in the pseudo-inverse: what the others
    # span is the same without those that repeat.
    factors = ((vectors[:, ~null] ** 2) / values[~null]).sum(axis=1)
    factors[np.linalg.norm(vectors[:, null], axis=1) > _TAKES_PART] = np.inf
    inflation = np.full(len(free), np.nan)
    inflation[free] = np.maximum(factors, 1)
    return inflation


@dataclass(frozen=True)
class Components:
    """Principal components of standardised features, the one that explains most first."""

    shares: Floats
    """(k,): share of all variance that each explains; they add up to 1."""
    loadings: Floats
    """(k, p): correlation of each feature with each component; NaN for a constant feature."""

    def needed(self, share: float) -> int:
        """How many components together explain at least `share` of the variance."""
        return int(np.searchsorted(np.cumsum(self.shares), share - 1e-12)) + 1


def principal_components(features: Floats) -> Components:
    """Principal components, by scikit-learn; at least one feature must vary."""
    from sklearn.decomposition import PCA

    free = varying(features)
    columns = features[:, free]
    standardised = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    pca = PCA(svd_solver="full").fit(standardised)
    # The variance of a standardised feature is 1 over n, that of a component is taken over n - 1.
    spread = np.sqrt(pca.explained_variance_ * (len(features) - 1) / len(features))
    loadings = np.full((len(spread), len(free)), np.nan)
    loadings[:, free] = pca.components_ * spread[:, None]
    return Components(pca.explained_variance_ratio_, loadings)


@dataclass(frozen=True)
class Clusters:
    """Features ordered so that those that go together, or against each other, stand side by side."""

    order: tuple[int, ...]
    """Numbers of the features that vary, in that order."""
    branches: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]
    """The tree: of each joint four places (0, 1, ... along `order`) and four distances, 1 - |r|."""


def clusters(matrix: Floats) -> Clusters:
    """Average linkage of features whose `correlations` are given, at the distance 1 - |r|."""
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import squareform

    free = np.flatnonzero(~np.isnan(np.diag(matrix)))
    if len(free) < 2:
        return Clusters(tuple(int(k) for k in free), ())
    distance = 1 - np.abs(matrix[np.ix_(free, free)])
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    drawing = dendrogram(tree, no_plot=True)
    # scipy puts leaf k at 5 + 10 k.
    branches = [
        (tuple((place - 5) / 10 for place in places), tuple(map(float, heights)))
        for places, heights in zip(drawing["icoord"], drawing["dcoord"], strict=True)
    ]
    return Clusters(tuple(int(free[k]) for k in drawing["leaves"]), tuple(branches))
