"""One game plan's fit by itself, for the standard errors of its weights.

Plans are fitted together (`motif.bootstrap.plan_heads`); how sure a plan's weights are is judged as if
those of the other plans were known.  Its weights w are drawn to those of its class, w_class, by the penalty
(c / m) |M X (w - w_class)|^2 over a sample of m positions of the whole class, where X are their terms and M
is the ranking operator.  Here these are rows like others, whose labels are what the class's head predicts
and whose sample weights add up to c.
"""

import numpy as np

from motif.bootstrap.class_rows import LABELS, ClassRows
from motif.bootstrap.fit_settings import FitSettings
from motif.bootstrap.heads import head_terms
from motif.bootstrap.plan_heads import HEAD
from motif.evaluators.probabilities import bounds
from motif.fitting.design import raw_predictions
from motif.fitting.link import Link
from motif.fitting.problem import Problem
from motif.fitting.ranking import decision_starts
from motif.fitting.terms import FloatArray, IntArray
from motif.parameters.game_plan import PLANS

_MOST_CLASS_ROWS = 20_000


def plan_problem(
    rows: ClassRows, plan: str, of_class: FloatArray, settings: FitSettings
) -> tuple[Problem, int]:
    """The plan's fit by itself, and how many of its first training rows are the plan's own."""
    own = np.flatnonzero(rows.plans == PLANS.index(plan))
    train, held = np.split(own, [int(np.searchsorted(own, rows.training))])
    drawn = _spread(rows) if settings.plan_shrinkage > 0 else own[:0]
    which = np.concatenate([train, drawn, held])
    parts = np.repeat([0, 1, 2], [len(train), len(drawn), len(held)])
    terms = head_terms(HEAD, rows.features.shape[1], settings)
    features = rows.features[which]
    boards = rows.boards[which] if terms.points else None
    link = Link(*bounds(HEAD))
    labels = rows.labels[which, LABELS.index(HEAD)].astype(np.float64)
    predicted = link.predict(raw_predictions(terms, features, of_class, boards=boards))
    decisions = rows.decisions[which]
    problem = Problem(
        features,
        np.where(parts == 1, predicted, labels),
        terms,
        link,
        np.where(parts == 1, settings.plan_shrinkage / max(1, len(drawn)), 1.0),
        # The same decision can be among both, as two.
        decisions + (parts == 1) * (decisions.max() + 1),
        parts != 2,
        ridge=settings.equity_ridge / (len(train) + settings.plan_shrinkage),
        ranking=settings.equity_ranking,
        prior=of_class,
        boards=boards,
    )
    return problem, len(train)


def _spread(rows: ClassRows) -> IntArray:
    """Training rows of whole decisions, spread evenly over the class, `_MOST_CLASS_ROWS` at most."""
    starts = decision_starts(rows.decisions[: rows.training], rows.training)
    lengths = np.diff(starts)
    step = -(-rows.training // _MOST_CLASS_ROWS)
    while step < len(lengths) and lengths[::step].sum() > _MOST_CLASS_ROWS:
        step += 1
    wanted = np.zeros(len(lengths), np.bool_)
    wanted[::step] = True
    return np.flatnonzero(np.repeat(wanted, lengths))
