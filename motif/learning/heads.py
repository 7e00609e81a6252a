"""The heads of one position class: their rows, their fits, and the standard errors of their weights."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from motif.board.packed import CHECKERS, Board
from motif.evaluators import OUTPUTS
from motif.evaluators.bearoff import bearoff_tables, covered_boards
from motif.evaluators.probabilities import HEADS, RANKING_HEAD
from motif.evaluators.weight_file import HeadKey, HeadWeights, WeightFile
from motif.fitting.objective import FitResult
from motif.fitting.problem import Problem, link_of
from motif.fitting.significance import HeadTerms, significance, term_names, term_statistics, weight_vector
from motif.fitting.solvers import pruned, solver
from motif.fitting.terms import Terms
from motif.learning.fit_settings import FitSettings
from motif.learning.rows import ClassRows, rows_where
from motif.parameters.position_class import CLASS_NAMES, REQUIRED_CLASSES
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.errors import FitError, MotifError

# Too rare in rollouts for second-degree weights.
_RARE_HEADS = ("win_backgammon", "lose_backgammon")

_KEPT_FACTS = (
    "ranking", "ridge", "equity_ridge", "prune", "validation", "seed",
)  # fmt: skip
"""Settings of a fit that `settings_of` reads from a weight file."""


@dataclass(frozen=True, eq=False)
class HeadFit:
    """The fit of one head."""

    terms: Terms
    result: FitResult
    unpruned: "HeadFit | None" = None
    """The fit with every term, if terms were pruned."""


def classes_to_fit(rows: Mapping[str, ClassRows], settings: FitSettings) -> dict[str, ClassRows]:
    """Return the classes with training rows, in the order of the weight file.

    Raises `FitError` if a required class has none, or if the bearoff tables cover all those of a class.
    """
    for class_name in REQUIRED_CLASSES:
        if class_name not in rows or not rows[class_name].training:
            raise FitError(f"the dataset has no {class_name} positions to train on: sample more games")
    chosen = {name: rows[name] for name in CLASS_NAMES if name in rows and rows[name].training}
    for class_name, part in chosen.items():
        if not rows_of_head(part.boards[: part.training], "win", settings).any():
            raise FitError(
                f"the bearoff tables cover every {class_name} position of the dataset: sample more games"
            )
    return chosen


def heads_to_fit(rows: Mapping[str, ClassRows], settings: FitSettings) -> Iterator[HeadKey]:
    """Return class and head of every fit that `rows` (by class) allow, in the order of the weight file.

    Raises `FitError` as `classes_to_fit` does.
    """
    for class_name, part in classes_to_fit(rows, settings).items():
        boards = part.boards[: part.training]
        for head in _heads(class_name, settings):
            if rows_of_head(boards, head, settings).any():
                yield HeadKey(class_name, head)


def fit_head(rows: ClassRows, head: str, settings: FitSettings) -> HeadFit:
    """Fit one head of a class to its rows, with at least one training row, and prune it if requested.

    A head without second-degree terms is not pruned. Neither is a head whose rows come from a single game,
    because it has no standard errors.
    """
    problem = head_problem(rows, head, settings)
    solve = solver(settings.method)
    fit = HeadFit(problem.terms, solve(problem, max_passes=settings.passes, tolerance=settings.tolerance))
    if settings.prune is None or not len(problem.terms.pairs):
        return fit
    games = head_clusters(rows, head, settings)
    if len(np.unique(games[: len(problem.train)])) < 2:
        return fit
    smaller = pruned(
        problem, fit.result, games, settings.prune, max_passes=settings.passes, tolerance=settings.tolerance
    )
    return HeadFit(*smaller, fit)


def possible(head: str, boards: Board) -> BoolArray:
    """Return where the result is possible: no gammon after the loser has borne off a checker."""
    if not head.startswith(("win_", "lose_")):
        return np.ones(len(boards), np.bool_)
    loser = -boards if head.startswith("win_") else boards
    return np.asarray(np.maximum(loser, 0).sum(axis=1) == CHECKERS)


def rows_of_head(boards: Board, head: str, settings: FitSettings) -> BoolArray:
    """Return which of the `boards` (n, 26) of a class are used in the fit of `head`."""
    use = possible(head, boards)
    if settings.bearoff:
        use &= ~covered_boards(bearoff_tables(), boards)
    return use


def head_clusters(rows: ClassRows, head: str, settings: FitSettings) -> IntArray:
    """Return the game of each row of `head_problem`."""
    return rows.games[rows_of_head(rows.boards, head, settings)].astype(np.int64)


def head_problem(rows: ClassRows, head: str, settings: FitSettings) -> Problem:
    """Return the problem that `fit_head` solves."""
    use = rows_of_head(rows.boards, head, settings)
    training = (np.arange(len(rows)) < rows.training)[use]
    equity = head == RANKING_HEAD
    terms = head_terms(rows.class_name, head, rows.features.shape[1], settings)
    return Problem(
        rows_where(rows.features, use),
        rows.labels[use, HEADS.index(head)].astype(np.float64),
        terms,
        link_of(head),
        decisions=rows_where(rows.decisions, use),
        training=training,
        # The error of a problem is a mean, so a fixed prior must be weaker with more rows.
        ridge=(settings.equity_ridge if equity else settings.ridge) / np.count_nonzero(training),
        ranking=settings.ranking_weight if equity else 0.0,
    )


def head_terms(class_name: str, head: str, size: int, settings: FitSettings) -> Terms:
    """Return the terms of a head of a class for a parameter set of `size` parameters."""
    if head in _RARE_HEADS and settings.backgammons not in ("pairs", class_name):
        return Terms.linear(size)
    make = Terms.all_pairs if settings.terms == "pairs" else Terms.linear
    return make(size)


def head_weights(terms: Terms, weights: FloatArray) -> HeadWeights:
    """Return a fitted weight vector (count,) in the form of a weight file."""
    bias, linear, quadratic = terms.split(weights)
    return HeadWeights(
        float(np.float32(bias)), linear.astype(np.float32), terms.pairs, quadratic.astype(np.float32)
    )


def _heads(class_name: str, settings: FitSettings) -> tuple[str, ...]:
    if settings.heads == "win":
        return ("win",)
    # An equity of 3 tanh x cannot reach that of a certain win or loss; probabilities can.
    return OUTPUTS if class_name == "race" else HEADS


def settings_of(weights: WeightFile) -> FitSettings:
    """Return the settings of a weight file's fit, with defaults for missing settings.

    Raises `FitError` for an invalid record.
    """
    facts: dict[str, Any] = {name: weights.fit[name] for name in _KEPT_FACTS if name in weights.fit}
    settings = FitSettings(parameters=weights.parameters.name, bearoff=weights.bearoff, **facts)
    try:
        settings.check_values()
    except (MotifError, TypeError, ValueError) as error:
        raise FitError(f"the weights {weights.name!r} have an invalid record of their fit: {error}") from None
    return settings


def fitted_datasets(weights: WeightFile) -> list[str]:
    """Return the fingerprints of the datasets that `weights` were fitted to, by their record."""
    return _listed(weights, "dataset")


def seen_datasets(weights: WeightFile) -> list[str]:
    """Return `fitted_datasets`, and the fingerprints of datasets of which these are parts."""
    return [*fitted_datasets(weights), *_listed(weights, "part_of")]


def _listed(weights: WeightFile, key: str) -> list[str]:
    found = weights.fit.get(key, [])
    return list(found) if isinstance(found, list) else [found]


def has_hidden_units(weights: WeightFile, class_name: str, head: str) -> bool:
    """Return whether hidden units add to a head, whose weights then have no standard errors."""
    layer = weights.hidden_of(class_name)
    return layer is not None and layer.added_to(head) is not None


def heads_in(weights: WeightFile) -> Iterator[HeadKey]:
    """Yield class and head of all heads in a weight file, in order."""
    for class_name, heads in weights.classes.items():
        yield from (HeadKey(class_name, head) for head in HEADS if head in heads)


def term_errors(
    rows: Mapping[str, ClassRows], weights: WeightFile, settings: FitSettings, class_name: str, head: str
) -> HeadTerms:
    """Return the terms of a head in `weights` (see `heads_in`), with standard errors from `rows`.

    `rows` are those of `class_rows`, by class. Standard errors are NaN if all training rows come from a
    single game, and for a head with hidden units. Raises `FitError` if there are no rows for this head.
    """
    part = rows.get(class_name)
    terms, vector = weight_vector(weights.classes[class_name][head])
    if part is None or not rows_of_head(part.boards[: part.training], head, settings).any():
        raise FitError(f"the dataset has no {class_name} positions for the fit of the {head} weights")
    problem = replace(head_problem(part, head, settings), terms=terms)
    clusters = head_clusters(part, head, settings)
    train = problem.train
    if len(np.unique(clusters[: len(train)])) > 1 and not has_hidden_units(weights, class_name, head):
        statistics = significance(problem, vector, clusters)
    else:
        statistics = term_statistics(terms, vector, problem.link, train.features, train.sample_weights)
    return HeadTerms(class_name, head, term_names(terms, weights.parameters), statistics)
