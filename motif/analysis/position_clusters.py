"""Clusters of an analysis's positions with similar features, and the features that characterise them.

Ward's method builds a tree from the standardised features.  The tree is cut at the number of groups with the
highest mean silhouette (Rousseeuw 1987).  The silhouette of a position is (b - a) / max(a, b), where a is its
mean distance from its own group and b that from the nearest other group: 1 for well separated groups, about 0
for a cloud without gaps.
"""

from dataclasses import dataclass

import numpy as np

from motif.analysis.evaluator_analysis import EvaluatorAnalysis, rounded, spread_rows, standardised, varying
from motif.benchmarks.losses import rows_of_classes
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.files import csv_text
from motif.runtime.parallel import one_thread

MIN_GROUPS, MAX_GROUPS = 3, 8
"""Two groups would mostly separate winning from losing positions, which the value already shows."""
SAMPLED = 2000
"""Maximum number of positions in the tree; the others join the group with the nearest centre."""
_MARKS = 4
"""Number of features named for a group."""


@dataclass(frozen=True, eq=False)
class PositionCluster:
    """A group of positions with similar features."""

    number: int
    """Counted from 1, largest group first."""
    positions: int
    share: float
    classes: dict[str, int]
    """Number of positions by class, for the classes that occur."""
    raw: float
    """Mean raw sum."""
    value: float
    """Mean value."""
    value_sd: float
    centre: FloatArray
    """(p,): mean of each feature, in standard deviations from the mean of all positions; 0 if constant."""
    typical: int
    """Row of the position nearest to the centre."""

    def marks(self, names: tuple[str, ...]) -> list[tuple[str, float]]:
        """Return the features that differ most from the mean of all positions, in SD."""
        order = np.argsort(-np.abs(self.centre), kind="stable")[:_MARKS]
        return [(names[k], float(self.centre[k])) for k in order if self.centre[k] != 0]


@dataclass(frozen=True, eq=False)
class PositionClusters:
    """All clusters of an analysis's positions."""

    labels: IntArray
    """(n,): number of each position's group."""
    groups: tuple[PositionCluster, ...]
    silhouettes: dict[int, float]
    """Mean silhouette by number of groups."""

    @property
    def silhouette(self) -> float:
        """Mean silhouette of the chosen groups."""
        return max(self.silhouettes.values(), default=0.0)


def position_clusters(analysis: EvaluatorAnalysis) -> PositionClusters:
    """Group the positions of an analysis by their features."""
    free, standard = varying(analysis.judged.features), standardised(analysis.judged.features)
    with one_thread():
        centres, silhouettes = _centres(standard[spread_rows(len(standard), SAMPLED)])
        nearest = _squared_distances(standard, centres).argmin(axis=1)
    order = np.argsort(-np.bincount(nearest, minlength=len(centres)), kind="stable")
    labels = np.argsort(order)[nearest] + 1
    numbers = range(1, int(labels.max()) + 1)
    groups = tuple(_cluster(analysis, standard, free, labels, number) for number in numbers)
    return PositionClusters(labels, groups, silhouettes)


def _centres(rows: FloatArray) -> tuple[FloatArray, dict[int, float]]:
    """Return the centres of the best grouping of `rows` (n, p), and the silhouettes of all groupings."""
    # Slow imports.
    from scipy.cluster.hierarchy import fcluster, linkage
    from sklearn.metrics import silhouette_score

    distinct = np.unique(rows, axis=0)
    most = min(MAX_GROUPS, len(distinct) - 1)
    if most < MIN_GROUPS:
        return distinct[:1], {}
    tree = linkage(rows, "ward")
    distances = np.sqrt(_squared_distances(rows, rows))
    cuts = {count: fcluster(tree, count, "maxclust") - 1 for count in range(MIN_GROUPS, most + 1)}
    # Ties in the tree may leave fewer groups than asked for.
    cuts = {count: cut for count, cut in cuts.items() if cut.max() + 1 == count}
    silhouettes = {
        count: float(silhouette_score(distances, cut, metric="precomputed")) for count, cut in cuts.items()
    }
    if not silhouettes:
        return rows.mean(axis=0)[None], {}
    best = cuts[max(silhouettes, key=lambda count: silhouettes[count])]
    return np.stack([rows[best == group].mean(axis=0) for group in range(best.max() + 1)]), silhouettes


def _squared_distances(rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return the squared distances (n, m) between `rows` (n, p) and `others` (m, p)."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(rows, others, "sqeuclidean"))


def _cluster(
    analysis: EvaluatorAnalysis, standard: FloatArray, free: BoolArray, labels: IntArray, number: int
) -> PositionCluster:
    here = np.flatnonzero(labels == number)
    middle = standard[here].mean(axis=0)
    centre = np.zeros(len(free))
    centre[free] = middle
    return PositionCluster(
        number=number,
        positions=len(here),
        share=len(here) / len(labels),
        classes={name: len(rows) for name, rows in rows_of_classes(analysis.judged.classes[here]).items()},
        raw=float(analysis.judged.raw[here].mean()),
        value=float(analysis.values[here].mean()),
        value_sd=float(analysis.values[here].std()),
        centre=centre,
        typical=int(here[_squared_distances(standard[here], middle[None])[:, 0].argmin()]),
    )


def clusters_csv(analysis: EvaluatorAnalysis, clusters: PositionClusters) -> str:
    """Return one row per group: its numbers, positions by class, and centre in SD of each feature."""
    names = analysis.parameters.names
    header = ["cluster", "positions", "share", *CLASS_NAMES, "raw", "value", "value_sd", *names]
    rows = [
        [
            group.number,
            group.positions,
            rounded(group.share),
            *(group.classes.get(name, 0) for name in CLASS_NAMES),
            *map(rounded, (group.raw, group.value, group.value_sd, *group.centre)),
        ]
        for group in clusters.groups
    ]
    return csv_text(header, rows)
