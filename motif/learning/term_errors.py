"""Standard errors of the weights in a weight file, from the datasets that they were fitted to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from motif.evaluators.probabilities import HEADS
from motif.evaluators.weight_file import HeadWeights, WeightFile, class_of_plan
from motif.fitting.significance import significance, term_statistics
from motif.fitting.term_table import HeadTerms, term_names, weight_vector
from motif.fitting.terms import FloatArray, Terms
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import HEAD, head_clusters, head_problem, head_terms, plan_problem, rows_of_head
from motif.learning.rows import ClassRows
from motif.parameters.position_class import PLANS
from motif.runtime.errors import FitError, MotifError

_KEPT_FACTS = (
    "ranking", "ridge", "equity_ridge", "prune", "plan_shrinkage", "plan_rows", "validation", "seed",
)  # fmt: skip
"""Settings that a weight file tells of its fit."""


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
