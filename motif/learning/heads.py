"""The heads of one position class and of its game plans: the rows that each is fitted to, and the fit.

The equity heads of game plans are fitted together, and shrunk toward the head of their class.  Plays of one
decision often lead to different plans: fitted one by one, plans would each find their own level, and
choices between them would suffer; `motif.fitting.joint` compares the plays across plans.

How sure a plan's weights are is judged as if those of the other plans were known, by a fit of its own.  Its
weights w are drawn to those of its class, w_class, by the penalty (c / m) |M X (w - w_class)|^2 over a sample
of m positions of the whole class, where X are their terms and M is the ranking operator.  In `plan_problem`
these are rows like others, whose labels are what the class's head predicts and whose sample weights add up
to c.

And the standard errors of the weights in a weight file, from the datasets that they were fitted to.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, Board
from motif.evaluators import OUTPUTS
from motif.evaluators.bearoff import bearoff_tables, covered_boards
from motif.evaluators.probabilities import HEADS, bounds
from motif.evaluators.weight_file import HeadWeights, WeightFile, class_of_plan
from motif.fitting.design import raw_predictions
from motif.fitting.joint import MOST_PASSES, TOLERANCE, solve_jointly
from motif.fitting.objective import FitResult, rmse
from motif.fitting.problem import Link, Problem, decision_starts
from motif.fitting.significance import HeadTerms, significance, term_names, term_statistics, weight_vector
from motif.fitting.solve import pruned, solver
from motif.fitting.terms import FloatArray, IntArray, Terms
from motif.learning.fit_settings import FitSettings
from motif.learning.rows import LABELS, ClassRows, rows_where
from motif.parameters.position_class import CLASS_NAMES, PLANS, plans_of_class
from motif.runtime.errors import FitError, MotifError

HEAD = "equity"
"""The head that a plan has of its own."""
_NEEDED_CLASSES = ("contact", "race")
"""The others are evaluated as contact where they have no weights of their own."""
# In rollouts too rare for second-degree weights, and for those of points.
_RARE_HEADS = ("win_backgammon", "lose_backgammon")
_MOST_CLASS_ROWS = 20_000

_KEPT_FACTS = (
    "ranking", "ridge", "equity_ridge", "prune", "plan_shrinkage", "plan_rows", "validation", "seed",
)  # fmt: skip
"""Settings that a weight file tells of its fit."""


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


def fit_head(rows: ClassRows, head: str, settings: FitSettings, offsets: FloatArray | None = None) -> HeadFit:
    """Fit one head of a class to its rows, at least one of which must train it, and prune it if wanted.

    A head without second-degree terms has nothing to prune, and one whose rows come from a single game
    tells nothing of what is luck: they stay as they are.  `offsets` are those of `head_problem`.
    """
    problem = head_problem(rows, head, settings, offsets)
    solve = solver(settings.method)
    fit = HeadFit(problem.terms, solve(problem, max_passes=settings.passes, tolerance=settings.tolerance))
    if settings.prune is None or not len(problem.terms.pairs):
        return fit
    games = head_clusters(rows, head, settings)
    if len(np.unique(games[: len(problem.train)])) < 2:
        return fit
    smaller = pruned(
        problem,
        fit.result,
        games,
        settings.prune,
        max_passes=settings.passes,
        tolerance=settings.tolerance,
    )
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
    rows: ClassRows,
    class_name: str,
    of_class: FloatArray,
    settings: FitSettings,
    offsets: FloatArray | None = None,
) -> dict[str, FitResult]:
    """Fit the equity heads of the plans of a class together, from the class's weights (count,) on.

    `offsets` are those of `head_problem`.  The errors told of each are those of the plan's own rows; passes
    and seconds are of all together.
    """
    plans = plans_to_fit(rows, class_name, settings)
    if not plans:
        return {}
    problem = head_problem(rows, HEAD, settings, offsets)
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
        max_passes=MOST_PASSES if settings.passes is None else settings.passes,
        tolerance=TOLERANCE if settings.tolerance is None else settings.tolerance,
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


def head_problem(
    rows: ClassRows, head: str, settings: FitSettings, offsets: FloatArray | None = None
) -> Problem:
    """What `fit_head` fits; `offsets` (rows,) are raw sums of other weights, to which it adds."""
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
        offsets=None if offsets is None else offsets[use],
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


def added(known: HeadWeights, fit: HeadWeights) -> HeadWeights:
    """The sum of two heads; `FitError` where the second one has pairs, and others than the first."""
    if len(fit.pairs) and not np.array_equal(known.pairs, fit.pairs):
        raise FitError("correct: there are not all pairs in what is corrected; use linear terms", "terms")
    points = [part for part in (known.points, fit.points) if part is not None]
    return replace(
        known,
        bias=float(np.float32(known.bias + fit.bias)),
        linear=known.linear + fit.linear,
        quadratic=known.quadratic + fit.quadratic if len(fit.pairs) else known.quadratic,
        points=sum(points[1:], points[0]) if points else None,
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


def settings_of(weights: WeightFile) -> FitSettings:
    """How a weight file was fitted, as far as it says; the rest as the defaults are.

    Raises `FitError` for facts that no fit could have had.
    """
    heads: list[HeadWeights] = []
    for group in (*weights.classes.values(), *weights.plans.values()):
        heads += group.values()
    facts: dict[str, Any] = {name: weights.fit[name] for name in _KEPT_FACTS if name in weights.fit}
    settings = FitSettings(
        parameters=weights.parameters.name,
        points=any(head.points is not None for head in heads),
        plans=bool(weights.plans),
        bearoff=weights.bearoff,
        **facts,
    )
    try:
        settings.check()
    except (MotifError, TypeError, ValueError) as error:
        raise FitError(f"the weights {weights.name!r} tell of a fit that cannot have been: {error}") from None
    return settings


def heads_in(weights: WeightFile) -> Iterator[tuple[str, str, str]]:
    """Class, plan (or nothing) and head of all weights in a file, in its order."""
    for class_name, heads in weights.classes.items():
        yield from ((class_name, "", head) for head in HEADS if head in heads)
        for plan in PLANS:
            if plan in weights.plans and class_of_plan(plan) == class_name:
                yield from ((class_name, plan, head) for head in HEADS if head in weights.plans[plan])


def term_errors(
    rows: Mapping[str, ClassRows],
    weights: WeightFile,
    settings: FitSettings,
    class_name: str,
    plan: str,
    head: str,
) -> HeadTerms:
    """The terms of one of the heads in `weights` (see `heads_in`), with standard errors from `rows`.

    `rows` are those of `class_rows`, by class.  The errors are NaN where the rows that train come from a
    single game.  Raises `FitError` when there are none for this head.
    """
    place = " ".join(filter(None, (class_name, plan)))
    part = rows.get(class_name)
    own = weights.plans[plan][head] if plan else weights.classes[class_name][head]
    terms, vector = weight_vector(own)
    if plan and (head != HEAD or head not in weights.classes[class_name]):
        raise FitError(
            f"no fit leads to the {head} weights of {plan!r}: a plan's are drawn to its class's {HEAD}"
        )
    if part is None or not _trains(part, plan, head, settings):
        raise FitError(f"the dataset holds no {place} positions to fit the {head} weights to")
    if plan:
        full = head_terms(class_name, head, terms.size, settings)
        of_class = _in_terms(full, *weight_vector(weights.classes[class_name][head]))
        problem, clusters = plan_problem(part, plan, of_class, settings)
        prior = _in_terms(terms, full, of_class)
    else:
        problem, prior = head_problem(part, head, settings), None
        clusters = head_clusters(part, head, settings)
    boards = problem.boards if terms.points else None
    problem = replace(problem, terms=terms, prior=prior, boards=boards)
    train = problem.train
    games = np.unique(clusters[: len(train)])
    if np.count_nonzero(games >= 0) > 1:
        statistics = significance(problem, vector, clusters)
    else:
        statistics = term_statistics(
            terms, vector, problem.link, train.features, train.boards, train.sample_weights
        )
    return HeadTerms(class_name, plan, head, term_names(terms, weights.parameters), statistics)


def _trains(rows: ClassRows, plan: str, head: str, settings: FitSettings) -> bool:
    here = slice(rows.training)
    if plan:
        return bool((rows.plans[here] == PLANS.index(plan)).any())
    return bool(rows_of_head(rows.boards[here], head, settings).any())


def _in_terms(target: Terms, terms: Terms, weights: FloatArray) -> FloatArray:
    """`weights` of `terms` as weights of `target`: 0 where `terms` have none."""
    parts, out = terms.split(weights), np.zeros(target.count)
    out[: 1 + terms.size] = weights[: 1 + terms.size]
    by_pair = dict(zip(map(tuple, terms.pairs.tolist()), parts.quadratic.tolist(), strict=True))
    pairs = [by_pair.get(tuple(pair), 0.0) for pair in target.pairs.tolist()]
    out[1 + terms.size : target.first_point] = pairs
    if target.points and terms.points:
        out[target.first_point :] = parts.points.ravel()
    return out
