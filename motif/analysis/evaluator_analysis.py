"""Analysis of one head of an evaluator on positions from a player's games or a dataset: numbers and tables.

Raw sums and values have names and units: x and a probability in per cent, or BRAS's D and S.

`features` is always float64 (n, p), one row per position. The raw sum is
``x = bias + sum w_i f_i + sum_{i<=j} w_ij f_i f_j``; written with a symmetric matrix G that holds w_ij
off the diagonal and 2 w_ii on it, ``x = bias + w.f + f.Gf / 2``, so that ``dx/df = w + Gf``.
"""

import math
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from itertools import count as count_from
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.benchmarks.losses import rows_of_classes
from motif.board.packed import Board, pack_many
from motif.evaluators import StaticEvaluator, WeightFile
from motif.evaluators.bras import BrasEvaluator
from motif.evaluators.hidden_layer import secants_of_units, slopes_of_units, squash_units
from motif.evaluators.probabilities import bounds
from motif.evaluators.static import BEAROFF_SUFFIX, weights_of
from motif.evaluators.weight_file import HEAD_WORDS, HeadWeights
from motif.fitting.problem import Link
from motif.parameters import ParameterSet
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import Player
from motif.rollouts.games import SeededDice, lockstep, starts
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.errors import DatasetError, PlayerError, SettingError
from motif.runtime.files import csv_text
from motif.runtime.package import VERSION
from motif.runtime.parallel import one_thread, run_ordered
from motif.runtime.progress import progress
from motif.sampling.dataset import read_parts

_FORMAT = "motif-analysis/1"
MAX_IMPORTANT = 6
"""Features named in the summary and plotted against the value."""
HIGH_VIF = 10.0
"""Variance inflation factor above which, as a rule of thumb, a feature's weight cannot be separated from
others."""

_DIGITS = ".6g"
"""Features are float32, so more digits would be noise."""
_QUANTILES = (5, 25, 50, 75, 95)
_FEW_UNITS = 10
_SINGULAR = 1e-10
"""Share of the variance below which a combination of features is rounding error."""
_TAKES_PART = 1e-4
"""Minimum coefficient of a feature in such a combination."""

EVERY = 10
"""Step between sampled positions of a game, because successive positions resemble each other."""
MIN_BOARDS = 100
"""Minimum number of positions for statistics of many features."""

_GAMES_AT_ONCE = 64
_GAMES_A_POSITION = 10
"""Maximum number of games played for each position wanted."""


def interactions(weights: HeadWeights) -> FloatArray:
    """Return the symmetric matrix G (p, p) of a head; zeros for a linear one."""
    size = len(weights.linear)
    matrix = np.zeros((size, size))
    low, high = weights.pairs.T
    # The derivative of a square has twice its weight.
    np.add.at(matrix, (low, high), weights.quadratic)
    np.add.at(matrix, (high, low), weights.quadratic)
    return matrix


def slopes(features: FloatArray, linear: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return the derivative of x with respect to each feature at each position: (n, p)."""
    return np.asarray(linear + features @ matrix)


def contributions(features: FloatArray, linear: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return each feature's contribution to x (n, p), including half of each pair; rows sum to x - bias."""
    return np.asarray(features * (linear + features @ matrix / 2))


def varying(features: FloatArray) -> BoolArray:
    """Return whether each feature (p,) has more than one value."""
    return np.asarray(np.ptp(features, axis=0) > 0)


def correlations(features: FloatArray) -> FloatArray:
    """Return Pearson's correlations (p, p); NaN for a constant feature."""
    free = varying(features)
    matrix = np.full((len(free), len(free)), np.nan)
    if free.any():
        values = np.atleast_2d(np.corrcoef(features[:, free], rowvar=False))
        matrix[np.ix_(free, free)] = np.clip(values, -1, 1)
    return matrix


def variance_inflation(matrix: FloatArray) -> FloatArray:
    """Return the variance inflation factors (p,) of features with the given `correlations`.

    A feature's factor is 1 / (1 - R^2) of its regression on all others, the diagonal of the inverse
    correlation matrix (Marquardt 1970): 1 if independent of the others, infinite if they determine it, NaN if
    constant.
    """
    free = ~np.isnan(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix[np.ix_(free, free)])
    null = values < _SINGULAR
    # A feature outside every exact combination has its factor in the pseudo-inverse.
    factors = ((vectors[:, ~null] ** 2) / values[~null]).sum(axis=1)
    factors[np.linalg.norm(vectors[:, null], axis=1) > _TAKES_PART] = np.inf
    inflation = np.full(len(free), np.nan)
    inflation[free] = np.maximum(factors, 1)
    return inflation


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of standardised features, largest first."""

    shares: FloatArray
    """(k,): explained share of the variance; adds up to 1."""
    loadings: FloatArray
    """(k, p): correlation of each feature with each component; NaN for a constant feature."""

    def needed(self, share: float) -> int:
        """Return the number of components that explain at least `share` of the variance."""
        return int(np.searchsorted(np.cumsum(self.shares), share - 1e-12)) + 1


def standardised(features: FloatArray) -> FloatArray:
    """Return the features that vary, standardised to mean 0 and standard deviation 1: (n, p)."""
    columns = features[:, varying(features)]
    return np.asarray((columns - columns.mean(axis=0)) / columns.std(axis=0))


def principal_components(features: FloatArray) -> Components:
    """Return the principal components; at least one feature must vary."""
    from sklearn.decomposition import PCA

    free = varying(features)
    pca = PCA(svd_solver="full").fit(standardised(features))
    # Features are standardised with n, but scikit-learn's variances use n - 1.
    spread = np.sqrt(pca.explained_variance_ * (len(features) - 1) / len(features))
    loadings = np.full((len(spread), len(free)), np.nan)
    loadings[:, free] = pca.components_ * spread[:, None]
    return Components(pca.explained_variance_ratio_, loadings)


@dataclass(frozen=True)
class Clusters:
    """Features ordered so that strongly correlated ones are neighbours."""

    order: tuple[int, ...]
    """Indices of the varying features, in that order."""
    branches: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]
    """The tree: four places (0, 1, ... along `order`) and four distances, 1 - |r|, for each joint."""


def clusters(matrix: FloatArray) -> Clusters:
    """Cluster features with the given `correlations` by average linkage at the distance 1 - |r|."""
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


@dataclass(frozen=True)
class ValueScale:
    """Names and units of a head's raw sum and value."""

    raw: str
    """Name of the raw sum."""
    raw_factor: float
    """Raw sum per unit of x."""
    value: str
    """Name of the value, which the inverse link function gives for the raw sum."""
    unit: str
    """Unit of the value; may be empty."""
    low: float
    high: float
    """Bounds of the value, in its unit."""

    @property
    def _link(self) -> Link:
        return Link(self.low, self.high)

    @property
    def value_label(self) -> str:
        """The value and its unit, for an axis."""
        return f"{self.value} ({self.unit})" if self.unit else self.value

    @property
    def named(self) -> str:
        """The value's name for a sentence."""
        return self.value if len(self.value) == 1 else f"the {self.value}"

    def shown(self, value: float) -> str:
        """Return a value with suitable precision."""
        # Values range over 100 per cent or 6 points.
        return format(value, ".1f" if self.high - self.low > _FEW_UNITS else ".2f")

    def values(self, raw: npt.ArrayLike) -> FloatArray:
        """Return the value of each raw sum."""
        return np.asarray(self._link.inverse_link(np.asarray(raw) / self.raw_factor))

    def steepness(self, raw: npt.ArrayLike) -> FloatArray:
        """Return the derivative of the value with respect to the raw sum."""
        return np.asarray(self._link.slope(np.asarray(raw) / self.raw_factor) / self.raw_factor)


def scale_of(evaluator: StaticEvaluator, head: str) -> ValueScale:
    """Return the names and units of a head of an evaluator."""
    if isinstance(evaluator, BrasEvaluator):
        return ValueScale("D", evaluator.formula.sigma, "S", "", 0.0, 100.0)
    low, high = bounds(head)
    if head == "equity":
        return ValueScale("x", 1.0, "equity", "points", low, high)
    return ValueScale("x", 1.0, f"{HEAD_WORDS[head]} probability", "%", 100 * low, 100 * high)


@dataclass(frozen=True, eq=False)
class Judgement:
    """Raw sums of one head on n positions with p features, in the scale's unit."""

    features: FloatArray
    """(n, p), scaled."""
    classes: npt.NDArray[np.int8]
    """(n,): index into `CLASS_NAMES`."""
    raw: FloatArray
    """(n,): raw sums."""
    slopes: FloatArray
    """(n, p): derivative of the raw sum with respect to each feature."""
    contributions: FloatArray
    """(n, p): each feature's contribution to the raw sum."""
    second_degree: bool
    """Whether there are weights of pairs."""
    hidden_units: int
    """Number of hidden units."""

    @property
    def class_counts(self) -> dict[str, int]:
        """Number of positions by class, for the classes that occur."""
        return {name: len(rows) for name, rows in rows_of_classes(self.classes).items()}

    def sensitivities(self, scale: ValueScale) -> FloatArray:
        """Return the derivatives (n, p) of the value, in the unit of `scale`, by feature."""
        return np.asarray(self.slopes * scale.steepness(self.raw)[:, None])


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Statistics of each feature (p,); see the columns of features.csv in docs/how-to/analysis.md."""

    weight: FloatArray
    """Mean slope; without pairs, the weight itself."""
    weight_sd: FloatArray
    """Standard deviation of the slope over positions."""
    mean: FloatArray
    std: FloatArray
    importance: FloatArray
    """|weight| x std, in units of the raw sum."""
    contribution_sd: FloatArray
    """Standard deviation of the feature's contribution to the raw sum, including its share of pairs."""
    sensitivity: FloatArray
    """Mean derivative of the value with respect to the feature."""
    sensitivity_size: FloatArray
    """Mean absolute derivative."""
    vif: FloatArray
    """Variance inflation factor; infinite if others determine the feature, NaN if it is constant."""


@dataclass(frozen=True, eq=False)
class EvaluatorAnalysis:
    """The analysis of an evaluator's head on positions."""

    name: str
    """Name of the evaluator."""
    head: str
    class_name: str | None
    """Class of all positions; None for mixed classes."""
    source: str
    """Source of the positions, in words."""
    parameters: ParameterSet
    scale: ValueScale
    boards: Board
    judged: Judgement
    values: FloatArray
    """(n,): values of the raw sums, in the scale's unit."""
    table: FeatureTable
    correlation: FloatArray
    """(p, p); NaN for a constant feature."""
    clusters: Clusters
    components: Components

    @property
    def by_importance(self) -> IntArray:
        """Indices of the features, most important first."""
        return np.argsort(-self.table.importance, kind="stable")


def weights_to_analyse(evaluator: StaticEvaluator, head: str, class_name: str | None) -> WeightFile:
    """Return the weights to analyse; raises `PlayerError` if there are none or they lack the head."""
    weights = weights_of(evaluator)
    if evaluator.name.endswith(BEAROFF_SUFFIX):
        plain = evaluator.name.removesuffix(BEAROFF_SUFFIX)
        raise PlayerError(f"tables have no parameters to analyse: give {plain!r} without {BEAROFF_SUFFIX}")
    if class_name is not None and class_name not in CLASS_NAMES:
        names = ", ".join(CLASS_NAMES)
        raise SettingError(f"class_name must be {names} or all, not {class_name!r}", "class_name")
    for name in CLASS_NAMES if class_name is None else (class_name,):
        heads = weights.heads_of(name)
        if head not in heads:
            names = ", ".join(heads)
            raise PlayerError(
                f"{evaluator.name} has no head {head!r} for {name} positions: it has {names}"
                + (" ({position_class} selects one class)" if class_name is None else ""),
                "position_class",
            )
    return weights


def analysis_of(
    evaluator: StaticEvaluator,
    boards: Board,
    *,
    source: str,
    head: str = "win",
    class_name: str | None = None,
) -> EvaluatorAnalysis:
    """Analyse one head of an evaluator on `boards` (n, 26), all of the class `class_name` if given.

    `source` describes where the boards come from.  Raises `PlayerError` as `weights_to_analyse` does, and
    `SettingError` if no feature varies.
    """
    weights = weights_to_analyse(evaluator, head, class_name)
    scale = scale_of(evaluator, head)
    with one_thread():
        judged = judgement(weights, head, boards, scale.raw_factor)
        if not varying(judged.features).any():
            raise SettingError(
                f"nothing to analyse: every parameter is the same on all {len(boards)} positions"
            )
        correlation = correlations(judged.features)
        table = feature_table(judged, judged.sensitivities(scale), variance_inflation(correlation))
        return EvaluatorAnalysis(
            name=evaluator.name,
            head=head,
            class_name=class_name,
            source=source,
            parameters=weights.parameters,
            scale=scale,
            boards=boards,
            judged=judged,
            values=scale.values(judged.raw),
            table=table,
            correlation=correlation,
            clusters=clusters(correlation),
            components=principal_components(judged.features),
        )


def judgement(weights: WeightFile, head: str, boards: Board, factor: float = 1.0) -> Judgement:
    """Return the raw sums of one head on `boards` (n, 26), times `factor`, with slopes and contributions.

    A feature's share of a hidden unit is weight times feature times the secant of the activation function,
    measured from the unit's value without features and points.  The contributions of points belong to no
    feature.
    """
    rows = features(weights.parameters, boards).astype(np.float64)
    packed = pack_many(boards)
    classes = classify_many(packed)
    raw = np.zeros(len(rows))
    slope, parts = np.zeros_like(rows), np.zeros_like(rows)
    second_degree, hidden_units = False, 0
    for code in np.unique(classes):
        form, here = weights.heads_of(CLASS_NAMES[code])[head], classes == code
        linear, matrix = form.linear.astype(np.float64), interactions(form)
        slope[here] = slopes(rows[here], linear, matrix)
        parts[here] = contributions(rows[here], linear, matrix)
        raw[here] = form.bias + parts[here].sum(axis=1)
        second_degree |= len(form.pairs) > 0
        layer = weights.hidden_of(CLASS_NAMES[code])
        outputs = None if layer is None else layer.added_to(head)
        if layer is None or outputs is None:
            continue
        sums, bias = layer.sums(rows[here], packed[here]), layer.bias.astype(np.float64)
        raw[here] += squash_units(sums) @ outputs
        slope[here] += (slopes_of_units(sums) * outputs) @ layer.inputs
        parts[here] += rows[here] * ((secants_of_units(sums, bias) * outputs) @ layer.inputs)
        hidden_units += len(layer.names)
    return Judgement(rows, classes, factor * raw, factor * slope, factor * parts, second_degree, hidden_units)


def feature_table(judged: Judgement, sensitivity: FloatArray, vif: FloatArray) -> FeatureTable:
    """Return the statistics of each feature; `sensitivity` is (n, p)."""
    weight, std = judged.slopes.mean(axis=0), judged.features.std(axis=0)
    return FeatureTable(
        weight=weight,
        weight_sd=judged.slopes.std(axis=0),
        mean=judged.features.mean(axis=0),
        std=std,
        importance=np.abs(weight) * std,
        contribution_sd=judged.contributions.std(axis=0),
        sensitivity=sensitivity.mean(axis=0),
        sensitivity_size=np.abs(sensitivity).mean(axis=0),
        vif=vif,
    )


def features_csv(analysis: EvaluatorAnalysis) -> str:
    """Return one row per feature, in the set's order: its name and the columns of `FeatureTable`."""
    names = [field.name for field in fields(FeatureTable)]
    columns = [getattr(analysis.table, name) for name in names]
    rows = ([name, *row] for name, *row in zip(analysis.parameters.names, *columns, strict=True))
    return _csv(["name", *names], rows)


def correlation_csv(analysis: EvaluatorAnalysis) -> str:
    """Return the correlation matrix with names; cells of constant features are empty."""
    names = analysis.parameters.names
    rows = ([name, *row] for name, row in zip(names, analysis.correlation, strict=True))
    return _csv(["name", *names], rows)


def components_csv(analysis: EvaluatorAnalysis) -> str:
    """Return one row per principal component: its explained share and its correlations."""
    components = analysis.components
    columns = zip(count_from(1), components.shares, components.loadings, strict=False)
    rows = ([number, share, *loadings] for number, share, loadings in columns)
    return _csv(["component", "explained_share", *analysis.parameters.names], rows)


def analysis_summary(analysis: EvaluatorAnalysis, files: Sequence[str]) -> dict[str, object]:
    """Return the main numbers, and the names of the `files` that contain the rest."""
    table, names, scale = analysis.table, analysis.parameters.names, analysis.scale
    return {
        "format": _FORMAT,
        "motif": VERSION,
        "player": analysis.name,
        "parameters": analysis.parameters.name,
        "head": analysis.head,
        "class": analysis.class_name or "all",
        "source": analysis.source,
        "positions": len(analysis.judged.classes),
        "positions_by_class": analysis.judged.class_counts,
        "raw": {"name": scale.raw, **spread(analysis.judged.raw)},
        "value": {"name": scale.value, "unit": scale.unit, **spread(analysis.values)},
        "slope_at_zero": rounded(float(scale.steepness(0.0))),
        "mean_slope": rounded(scale.steepness(analysis.judged.raw).mean()),
        "second_degree": analysis.judged.second_degree,
        "hidden_units": analysis.judged.hidden_units,
        "most_important": [
            {"name": names[k], "weight": rounded(table.weight[k]), "importance": rounded(table.importance[k])}
            for k in analysis.by_importance[:MAX_IMPORTANT]
        ],
        "constant": [names[k] for k in np.flatnonzero(np.isnan(table.vif))],
        "collinear": [names[k] for k in np.flatnonzero(np.isinf(table.vif))],
        "vif_above_10": int((table.vif > HIGH_VIF).sum()),
        "components_for_90_percent": analysis.components.needed(0.9),
        "explained_shares": [rounded(share) for share in analysis.components.shares[:MAX_IMPORTANT]],
        "files": list(files),
    }


def spread(values: FloatArray) -> dict[str, float]:
    """Return the mean, standard deviation and quantiles."""
    quantiles = np.percentile(values, _QUANTILES)
    by_share = {f"p{share}": rounded(value) for share, value in zip(_QUANTILES, quantiles, strict=True)}
    return {"mean": rounded(values.mean()), "std": rounded(values.std()), **by_share}


def rounded(value: float) -> float:
    """Return a number, rounded as in tables."""
    return float(format(float(value), _DIGITS))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return csv_text(header, ([_cell(value) for value in row] for row in rows))


def _cell(value: object) -> str:
    if not isinstance(value, float | np.floating):
        return str(value)
    return "" if math.isnan(value) else format(value, _DIGITS)


def self_play_positions(
    player: Player, wanted: int, class_name: str | None, *, seed: int, jobs: int | None = None
) -> Board:
    """Return `wanted` positions (n, 26) before a roll, of one class or all, from `player`'s money games.

    The result depends on `seed` but not on `jobs`.  Raises `PlayerError` if the class is too rare.
    """
    most_games = _GAMES_AT_ONCE + _GAMES_A_POSITION * wanted
    calls = ((first, _GAMES_AT_ONCE) for first in count_from(0, _GAMES_AT_ONCE))
    pieces: list[Board] = []
    count = games = 0
    with (
        progress(f"positions from games of {player.name}", wanted) as advance,
        closing(run_ordered(partial(_game_positions, player, seed), calls, jobs)) as played,
    ):
        for boards in played:
            piece = of_class(boards, class_name)[: wanted - count]
            pieces.append(piece)
            count += len(piece)
            games += _GAMES_AT_ONCE
            advance(len(piece))
            if count == wanted or games >= most_games:
                break
    if count < wanted:
        kind = f"{class_name} " if class_name else ""
        raise PlayerError(
            f"{games} games of {player.name!r} have only {count} {kind}positions, not {wanted}: give a "
            "dataset or a file of positions"
        )
    return np.concatenate(pieces)


def dataset_positions(folder: Path, most: int, class_name: str | None, least: int = MIN_BOARDS) -> Board:
    """Return at most `most` positions (n, 26) of a dataset, of one class or all, spread evenly over it.

    Raises `DatasetError` for an unreadable dataset or fewer than `least` positions.
    """
    boards = np.concatenate([of_class(piece.boards, class_name) for piece in read_parts(folder)])
    if len(boards) < least:
        kind = f"{class_name} " if class_name else ""
        raise DatasetError(f"{folder}: an analysis needs at least {least} {kind}positions, not {len(boards)}")
    return boards[spread_rows(len(boards), most)]


def spread_rows(count: int, most: int) -> IntArray:
    """Return at most `most` of `count` rows, evenly spread."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.int64)


def of_class(boards: Board, class_name: str | None) -> Board:
    """Return those of `boards` (n, 26) that belong to a class; all without `class_name`."""
    if class_name is None or not len(boards):
        return boards
    return boards[classify_many(pack_many(boards)) == CLASS_NAMES.index(class_name)]


def _game_positions(player: Player, seed: int, first: int, games: int) -> Board:
    """Return every `EVERY`-th position of games first .. first + games - 1, game by game."""
    taken = []
    dice = SeededDice(seed).of(np.arange(first, first + games))
    for ply in lockstep(player.choose_many, dice, starts(games)):
        # Games start at different plies, so that all stages occur.
        due = (ply.points == 0) & ((ply.number + first + ply.games) % EVERY == 0)
        taken.append((ply.games[due], ply.boards[due]))
    numbers, boards = (np.concatenate(column) for column in zip(*taken, strict=True))
    return boards[np.argsort(numbers, kind="stable")]
