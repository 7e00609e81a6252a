"""Statistics of the terms of a head over positions: effects on the raw sum, and standard errors.

In a head with pairs, a weight means little in isolation, because the contribution of a feature depends on the
other features. Therefore each weight is also given for features measured from their means; a linear weight is
then the effect of its feature in an average position. The weights of pairs are the same.

Standard errors use the sandwich formula with clusters. The covariance of the weights is H^-1 B H^-1. H =
J^T M^T M J + ridge is half the curvature of the objective. B is the sum over clusters of s s^T times G / (G -
1) for G clusters, where s is the sum of a cluster's rows of J^T M^T M r minus the mean of these sums (not 0,
because of the ridge). Positions of a game share its luck and the plays of a decision share their dice, so a
cluster is a game. Sources: Huber (1967); Liang and Zeger, "Longitudinal data analysis using generalized
linear models" (1986); Cameron and Miller, "A practitioner's guide to cluster-robust inference" (2015).

The standard errors cover only the luck of the samples, not the shrinkage by the ridge or the bias of rollouts
by a weak player. The tests compare them with a bootstrap over games and the textbook formula for linear least
squares.

The table of all fitted heads is one Parquet file with one row per term; the terms of a head are consecutive,
in the order of its weight vector. The table is stored beside a weight file, whose weights it repeats with
more digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from motif.evaluators.probabilities import HEADS
from motif.evaluators.weight_file import PAIR, HeadKey, HeadWeights
from motif.fitting.curvature import centring
from motif.fitting.design import in_threads, raw_predictions, term_sums
from motif.fitting.gauss_newton import Preconditioner
from motif.fitting.objective import Objective
from motif.fitting.problem import Link, Problem, compact
from motif.fitting.terms import Terms
from motif.parameters import ParameterSet
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import Float32Array, FloatArray, IntArray, slices
from motif.runtime.errors import DatasetError, FitError, shown
from motif.runtime.limits import TERMS_ROWS
from motif.runtime.parallel import one_thread
from motif.runtime.parquet import bounded_parquet, texts_of, write_parquet

_ROWS_AT_ONCE = 1 << 16
_ROWS_PER_WEIGHT = 64
"""Rows per weight for the curvature; all rows if there are fewer than half as many. A curvature from n rows
makes variances too large by a share of about weights / n.
"""
_CLUSTERS_AT_ONCE = 256
_Rows = slice | IntArray

BIAS = "bias"
_COLUMNS = {
    "weight": "weights",
    "se": "errors",
    "z": "z",
    "spread": "spreads",
    "effect": "effects",
    "effect_se": "effect_errors",
    "effect_z": "effect_z",
    "deviation": "deviations",
    "mean": "means",
}
"""Numeric columns and their attributes of `TermStatistics`."""
_DERIVED = ("z", "effect_z")
"""Derived columns: z of the weight and of the effect."""
_MAY_LACK = ("se", "effect_se", *_DERIVED)
"""NaN if standard errors have not been computed."""
_TEXTS = ("class", "head", "term")
STATISTICS_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _TEXTS),
        *((name, pa.float64()) for name in _COLUMNS),
        ("slope", pa.float64()),
    ]
)


@dataclass(frozen=True, eq=False)
class TermStatistics:
    """Columns (count,) by term, in the order of a weight vector: bias, linear, pairs."""

    weights: FloatArray
    errors: FloatArray
    """Standard errors of the weights; NaN if not computed."""
    means: FloatArray
    """Mean of the term's value over the rows."""
    spreads: FloatArray
    """|weight| times the standard deviation of the term's value: the typical effect of the term on the raw
    sum.
    """
    effects: FloatArray
    """The weights for features measured from their means."""
    effect_errors: FloatArray
    """Standard errors of the effects, or NaN."""
    deviations: FloatArray
    """Standard deviations of the terms' values, with features measured from their means."""
    slope: float
    """Mean of dy/dx over the rows: change of the head's value per unit of the raw sum."""

    @property
    def z(self) -> FloatArray:
        """Weight / standard error; NaN if the error is unknown or 0."""
        return _ratio(self.weights, self.errors)

    @property
    def effect_z(self) -> FloatArray:
        """Effect / standard error of the effect; NaN if the error is unknown or 0."""
        return _ratio(self.effects, self.effect_errors)

    @property
    def moves(self) -> FloatArray:
        """|effect| times deviation times slope: the typical effect of the term on the head's value."""
        return np.abs(self.effects) * self.deviations * self.slope


def term_statistics(
    terms: Terms,
    weights: FloatArray,
    link: Link,
    features: Float32Array,
    sample_weights: FloatArray | None = None,
) -> TermStatistics:
    """Return the statistics of `weights` (count,) over rows of features (n, size), without standard errors.

    `sample_weights` (n,) are 1 by default.
    """
    shares = np.ones(len(features)) if sample_weights is None else sample_weights
    shares = shares / shares.sum()
    means = term_sums(terms, features, shares)
    squares = term_sums(terms, features, shares, 2)
    spreads = np.abs(weights) * _deviations(means, squares)
    origin = means[1 : 1 + terms.size]
    sums, centred = np.zeros(terms.count), np.zeros(terms.count)
    for rows in slices(len(features), _ROWS_AT_ONCE):
        here = features[rows] - origin.astype(np.float32)[: terms.size]
        sums += term_sums(terms, here, shares[rows])
        centred += term_sums(terms, here, shares[rows], 2)
    raw = raw_predictions(terms, features, weights)
    unknown = np.full(terms.count, np.nan)
    return TermStatistics(
        weights=np.array(weights, np.float64),
        errors=unknown,
        means=means,
        spreads=spreads,
        effects=centring(terms, origin) @ weights,
        effect_errors=unknown,
        deviations=_deviations(sums, centred),
        slope=float(np.sum(shares * link.slope(raw))),
    )


@one_thread()
def significance(problem: Problem, weights: FloatArray, clusters: IntArray | None = None) -> TermStatistics:
    """Return the statistics of fitted `weights` (count,) over the training rows, with standard errors.

    `clusters` (n,) are integers for all rows of the problem, training or not: the game of each row. By
    default each decision is a cluster. The rows of a game need not be consecutive. The result is
    bit-identical for any number of threads. Raises `FitError` if there are fewer than two clusters, or if a
    decision of a fit with a ranking term is in two of them.
    """
    train = problem.train
    groups = _cluster_rows(problem, clusters)
    objective = Objective(problem)
    point = objective.at(weights)
    # A product with the inverse lets other threads run at the same time, unlike SciPy's solver.
    inverse = Preconditioner(objective, point, _ROWS_PER_WEIGHT).inverse()
    scores = objective.row_gradient(point)
    statistics = term_statistics(problem.terms, weights, problem.link, train.features, train.sample_weights)
    transform = centring(problem.terms, statistics.means[1 : 1 + problem.terms.size])

    def score(rows: _Rows) -> FloatArray:
        return term_sums(problem.terms, train.features[rows], scores[rows])

    def moments(chunk: slice) -> tuple[FloatArray, FloatArray]:
        """Return the sums and sums of squares over clusters of H^-1 s, of weights and effects."""
        totals = np.stack([score(rows) for rows in groups[chunk]], axis=1)
        steps = inverse @ totals
        both = np.stack([steps, transform @ steps])
        return both.sum(axis=2), (both**2).sum(axis=2)

    sums, squares = np.zeros((2, len(weights))), np.zeros((2, len(weights)))
    for part, part_squares in in_threads(moments, slices(len(groups), _CLUSTERS_AT_ONCE)):
        sums += part
        squares += part_squares
    count = len(groups)
    variances = np.maximum(squares - sums**2 / count, 0) * count / (count - 1)
    errors, effect_errors = np.sqrt(variances)
    return replace(statistics, errors=errors, effect_errors=effect_errors)


def _deviations(means: FloatArray, squares: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(squares - means**2, 0))


def _ratio(values: FloatArray, errors: FloatArray) -> FloatArray:
    return np.divide(values, errors, out=np.full(len(values), np.nan), where=errors > 0)


def _cluster_rows(problem: Problem, clusters: IntArray | None) -> list[_Rows]:
    """Return the training rows of each cluster."""
    starts = problem.train.starts
    lengths = np.diff(starts)
    if clusters is None:
        ids = np.repeat(np.arange(len(lengths)), lengths)
    else:
        ids = clusters if problem.training is None else clusters[problem.training]
    breaks = np.flatnonzero(ids != np.repeat(ids[starts[:-1]], lengths))
    if problem.ranking > 0 and len(breaks):
        raise FitError(f"the decision of training row {breaks[0]} belongs to more than one cluster")
    order = np.argsort(ids, kind="stable")
    cuts = np.flatnonzero(np.diff(ids[order])) + 1
    groups = [compact(rows) for rows in np.split(order, cuts)]
    if len(groups) < 2:
        raise FitError(f"standard errors need at least 2 clusters of training rows, not {len(groups)}")
    return groups


@dataclass(frozen=True, eq=False)
class HeadTerms:
    """The statistics of one fitted head."""

    class_name: str
    head: str
    names: tuple[str, ...]
    """See `term_names`."""
    statistics: TermStatistics

    @property
    def key(self) -> HeadKey:
        """Class and head."""
        return HeadKey(self.class_name, self.head)


def term_names(terms: Terms, parameters: ParameterSet) -> tuple[str, ...]:
    """Return the names of the weights (count,): ``bias``, ``blots``, ``blots*pip_lead``."""
    names = parameters.names
    return BIAS, *names, *(f"{names[i]}{PAIR}{names[j]}" for i, j in terms.pairs)


def weight_vector(head: HeadWeights) -> tuple[Terms, FloatArray]:
    """Return the terms of a head of a weight file, and its weights (count,) in order."""
    terms = Terms(len(head.linear), head.pairs)
    return terms, np.concatenate([[head.bias], head.linear, head.quadratic]).astype(np.float64)


TERM_TABLE_SUFFIX = ".parquet"
"""Suffix of the table of terms."""


def write_terms(path: Path, heads: Sequence[HeadTerms]) -> None:
    """Write the table atomically; raises `FileError` if it cannot be written."""
    columns: dict[str, list[object]] = {name: [] for name in STATISTICS_SCHEMA.names}
    for head in heads:
        count = len(head.names)
        columns["term"] += head.names
        for name, value in zip(("class", "head"), head.key, strict=True):
            columns[name] += [value] * count
        columns["slope"] += [head.statistics.slope] * count
        for name, attribute in _COLUMNS.items():
            columns[name] += getattr(head.statistics, attribute).tolist()
    write_parquet(Path(path), pa.table(columns, schema=STATISTICS_SCHEMA))


def read_terms(path: Path) -> tuple[HeadTerms, ...]:
    """Return the heads of a table of terms, in order.

    Raises `DatasetError`, which names the file and the fault, for a missing or invalid table.
    """
    try:
        with bounded_parquet(path, _TEXTS, TERMS_ROWS, DatasetError) as (file, schema):
            if not schema.equals(STATISTICS_SCHEMA):
                names = ", ".join(STATISTICS_SCHEMA.names)
                raise DatasetError(f"{path}: not a table of terms: the columns must be {names}")
            table = file.read()
            table.validate(full=True)
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: not a table of terms: {' '.join(str(error).split())}") from None
    if any(column.null_count for column in table.columns):
        raise DatasetError(f"{path}: a value is missing")
    texts = {name: texts_of(table.column(name), str(path), DatasetError) for name in _TEXTS}
    numbers = {name: table.column(name).to_numpy() for name in (*_COLUMNS, "slope")}
    _check_numbers(path, numbers, texts["term"])
    keys = list(map(HeadKey, texts["class"], texts["head"]))
    starts = [row for row, key in enumerate(keys) if row == 0 or key != keys[row - 1]]
    heads: list[HeadTerms] = []
    for start, end in pairwise([*starts, len(keys)]):
        rows = slice(start, end)
        _check_key(path, keys[start], {head.key for head in heads})
        values = {of: numbers[name][rows].copy() for name, of in _COLUMNS.items() if name not in _DERIVED}
        statistics = TermStatistics(**values, slope=float(numbers["slope"][start]))
        heads.append(HeadTerms(*keys[start], tuple(texts["term"][rows]), statistics))
    return tuple(heads)


def _check_numbers(path: Path, numbers: dict[str, FloatArray], terms: Sequence[str]) -> None:
    for name, column in numbers.items():
        faulty = np.isinf(column) | (np.isnan(column) if name not in _MAY_LACK else False)
        if name in ("se", "spread", "effect_se", "deviation", "slope"):
            faulty |= column < 0
        for row in np.flatnonzero(faulty)[:1]:
            raise DatasetError(f"{path}: the {name} of {shown(terms[row])} in row {row} is {column[row]}")


def _check_key(path: Path, key: HeadKey, before: set[HeadKey]) -> None:
    if key.class_name not in CLASS_NAMES or key.head not in HEADS:
        raise DatasetError(f"{path}: no class and head are called {', '.join(map(shown, key))}")
    if key in before:
        raise DatasetError(f"{path}: the terms of {' '.join(key)} are not consecutive")
