"""The heads of one position class and of its game plans: the rows that each is fitted to, and the fit.

The equity heads of game plans are fitted together, and shrunk toward the head of their class.  Plays of one
decision often lead to different plans: fitted one by one, plans would each find their own level, and
choices between them would suffer; `motif.fitting.joint` compares the plays across plans.

How sure a plan's weights are is judged as if those of the other plans were known, by a fit of its own.  Its
weights w are drawn to those of its class, w_class, by the penalty (c / m) |M X (w - w_class)|^2 over a sample
of m positions of the whole class, where X are their terms and M is the ranking operator.  In `plan_problem`
these are rows like others, whose labels are what the class's head predicts and whose sample weights add up
to c.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, Board
from motif.evaluators import OUTPUTS
from motif.evaluators.bearoff import bearoff_tables, covered_boards
from motif.evaluators.probabilities import bounds
from motif.evaluators.weight_file import HeadWeights
from motif.fitting.design import raw_predictions
from motif.fitting.joint import MOST_PASSES, solve_jointly
from motif.fitting.link import Link
from motif.fitting.objective import FitResult, rmse
from motif.fitting.problem import Problem, decision_starts
from motif.fitting.solve import pruned, solver
from motif.fitting.terms import FloatArray, IntArray, Terms
from motif.learning.fit_settings import FitSettings
from motif.learning.rows import LABELS, ClassRows, rows_where
from motif.parameters.position_class import CLASS_NAMES, PLANS, plans_of_class
from motif.runtime.errors import FitError

HEAD = "equity"
"""The head that a plan has of its own."""
_NEEDED_CLASSES = ("contact", "race")
"""The others are evaluated as contact where they have no weights of their own."""
# In rollouts too rare for second-degree weights, and for those of points.
_RARE_HEADS = ("win_backgammon", "lose_backgammon")
_MOST_CLASS_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class HeadFit:
    """The fit of one head."""

    terms: Terms
    result: FitResult
    unpruned: "HeadFit | None" = None
    """The fit with every term, where superfluous ones were dropped."""


def heads_to_fit(rows: Mapping[str, ClassRows], settings: FitSettings) -> Iterator[tuple[str, str]]:
    """Class and head of every fit that `rows`, by class, allow, in the weight file's order.

    Raises `FitError` when a class that no evaluator can do without has no rows to train on.
    """
    for class_name in CLASS_NAMES:
        if class_name not in rows or not rows[class_name].training:
            if class_name in _NEEDED_CLASSES:
                raise FitError(f"the dataset holds no {class_name} positions to train on: sample more games")
            continue
        boards = rows[class_name].boards[: rows[class_name].training]
        for head in _heads(class_name, settings):
            if rows_of_head(boards, head, settings).any():
                yield class_name, head
            elif head == "win":
                raise FitError(
                    f"the bearoff tables cover every {class_name} position of the dataset: sample more games"
                )


def fit_head(rows: ClassRows, head: str, settings: FitSettings) -> HeadFit:
    """Fit one head of a class to its rows, at least one of which must train it, and prune it if wanted.

    A head without second-degree terms has nothing to prune, and one whose rows come from a single game
    tells nothing of what is luck: they stay as they are.
    """
    problem = head_problem(rows, head, settings)
    fit = HeadFit(problem.terms, solver(settings.method)(problem, max_passes=settings.max_passes))
    if settings.prune is None or not len(problem.terms.pairs):
        return fit
    games = head_clusters(rows, head, settings)
    if len(np.unique(games[: len(problem.train)])) < 2:
        return fit
    smaller = pruned(problem, fit.result, games, settings.prune, max_passes=settings.max_passes)
    return HeadFit(smaller.terms, smaller.result, fit)


def plans_to_fit(rows: ClassRows, class_name: str, settings: FitSettings) -> list[str]:
    """Names of the plans of a class that have positions enough to be fitted."""
    plans = rows.plans[: rows.training]
    return [
        plan
        for plan in plans_of_class(class_name)
        if np.count_nonzero(plans == PLANS.index(plan)) >= settings.plan_rows
    ]


def fit_plans(
    rows: ClassRows, class_name: str, of_class: FloatArray, settings: FitSettings
) -> dict[str, FitResult]:
    """Fit the equity heads of the plans of a class together, from the class's weights (count,) on.

    The errors told of each are those of the plan's own rows; passes and seconds are of all together.
    """
    plans = plans_to_fit(rows, class_name, settings)
    if not plans:
        return {}
    problem = head_problem(rows, HEAD, settings)
    codes = np.full(len(PLANS) + 1, -1)
    codes[[PLANS.index(plan) for plan in plans]] = np.arange(len(plans))
    own = rows.plans[rows_of_head(rows.boards, HEAD, settings)]
    groups = codes[own]
    train, validation = np.split(groups, [len(problem.train)])
    joint = solve_jointly(
        problem,
        train,
        of_class,
        settings.plan_shrinkage,
        max_passes=MOST_PASSES if settings.max_passes is None else settings.max_passes,
    )
    results = {}
    for group, plan in enumerate(plans):
        weights = joint.weights[group]
        of_train = rmse(problem, problem.train.some(np.flatnonzero(train == group)), weights)
        of_validation = rmse(problem, problem.validation.some(np.flatnonzero(validation == group)), weights)
        assert of_train is not None  # a plan that is fitted has rows
        results[plan] = replace(joint, weights=weights, rmse_train=of_train, rmse_validation=of_validation)
    return results


def plan_problem(
    rows: ClassRows, plan: str, of_class: FloatArray, settings: FitSettings
) -> tuple[Problem, IntArray]:
    """The plan's fit by itself, and the game of each of its rows.

    -1 for the rows that only pull the weights to those of the class: they are no samples.
    """
    own = np.flatnonzero(rows.plans == PLANS.index(plan))
    train, validation = np.split(own, [int(np.searchsorted(own, rows.training))])
    anchors = _spread(rows) if settings.plan_shrinkage > 0 else own[:0]
    which = np.concatenate([train, anchors, validation])
    parts = np.repeat([0, 1, 2], [len(train), len(anchors), len(validation)])
    terms = head_terms(rows.class_name, HEAD, rows.features.shape[1], settings)
    features = rows.features[which]
    boards = rows.boards[which] if terms.points else None
    link = Link(*bounds(HEAD))
    labels = rows.labels[which, LABELS.index(HEAD)].astype(np.float64)
    anchor_labels = link.predict(raw_predictions(terms, features, of_class, boards=boards))
    decisions = rows.decisions[which]
    problem = Problem(
        features,
        np.where(parts == 1, anchor_labels, labels),
        terms,
        link,
        np.where(parts == 1, settings.plan_shrinkage / max(1, len(anchors)), 1.0),
        # The same decision can be among both, as two.
        decisions + (parts == 1) * (decisions.max() + 1),
        parts != 2,
        ridge=settings.equity_ridge / (len(train) + settings.plan_shrinkage),
        ranking=settings.equity_ranking,
        prior=of_class,
        boards=boards,
    )
    return problem, np.where(parts == 1, -1, rows.games[which])


def possible(head: str, boards: Board) -> npt.NDArray[np.bool_]:
    """Where the chance is not 0 by the rules: no gammon once the loser has borne off a checker."""
    if not head.startswith(("win_", "lose_")):
        return np.ones(len(boards), np.bool_)
    loser = -boards if head.startswith("win_") else boards
    all_there: npt.NDArray[np.bool_] = np.maximum(loser, 0).sum(axis=1) == CHECKERS
    return all_there


def rows_of_head(boards: Board, head: str, settings: FitSettings) -> npt.NDArray[np.bool_]:
    """Which of the `boards` (n, 26) of a class its head `head` is fitted to."""
    use = possible(head, boards)
    if settings.bearoff:
        use &= ~covered_boards(bearoff_tables(), boards)
    return use


def head_clusters(rows: ClassRows, head: str, settings: FitSettings) -> IntArray:
    """The game of each row of `head_problem`."""
    return rows.games[rows_of_head(rows.boards, head, settings)].astype(np.int64)


def head_problem(rows: ClassRows, head: str, settings: FitSettings) -> Problem:
    """What `fit_head` fits."""
    use = rows_of_head(rows.boards, head, settings)
    training = (np.arange(len(rows)) < rows.training)[use]
    equity = head == "equity"
    terms = head_terms(rows.class_name, head, rows.features.shape[1], settings)
    return Problem(
        rows_where(rows.features, use),
        rows.labels[use, LABELS.index(head)].astype(np.float64),
        terms,
        Link(*bounds(head)),
        decisions=rows_where(rows.decisions, use),
        training=training,
        # A problem's error is a mean, so the same prior weighs less the more rows there are.
        ridge=(settings.equity_ridge if equity else settings.ridge) / np.count_nonzero(training),
        ranking=settings.equity_ranking if equity else 0.0,
        boards=rows_where(rows.boards, use) if terms.points else None,
    )


def head_terms(class_name: str, head: str, size: int, settings: FitSettings) -> Terms:
    """What is weighted in a head of a class for a parameter set of `size` parameters."""
    if head in _RARE_HEADS and settings.backgammons not in ("pairs", class_name):
        return Terms.linear(size)
    make = Terms.all_pairs if settings.terms == "pairs" else Terms.linear
    return make(size, settings.points)


def head_weights(terms: Terms, weights: FloatArray) -> HeadWeights:
    """A fitted weight vector (count,) as a weight file holds it."""
    parts = terms.split(weights)
    return HeadWeights(
        float(np.float32(parts.bias)),
        parts.linear.astype(np.float32),
        terms.pairs,
        parts.quadratic.astype(np.float32),
        parts.points.astype(np.float32) if terms.points else None,
    )


def _heads(class_name: str, settings: FitSettings) -> tuple[str, ...]:
    if settings.heads == "win":
        return ("win",)
    # A squashed equity cannot say that a race is won or lost for certain; chances can.
    return OUTPUTS if class_name == "race" else LABELS


def _spread(rows: ClassRows) -> IntArray:
    """Training rows of whole decisions, spread evenly over the class, `_MOST_CLASS_ROWS` at most."""
    starts = decision_starts(rows.decisions[: rows.training], rows.training)
    lengths = np.diff(starts)
    step = -(-rows.training // _MOST_CLASS_ROWS)
    while step < len(lengths) and lengths[::step].sum() > _MOST_CLASS_ROWS:
        step += 1
    mask = np.zeros(len(lengths), np.bool_)
    mask[::step] = True
    return np.flatnonzero(np.repeat(mask, lengths))
