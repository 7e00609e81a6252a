"""Equity heads of game plans: fitted together, and shrunk toward the head of their class.

Plays of one decision often lead to different plans.  Fitted one by one, plans would each find their own
level, and choices between them would suffer: `motif.fitting.joint` compares the plays across plans.
"""

import numpy as np

from motif.bootstrap.class_rows import ClassRows
from motif.bootstrap.fit_settings import FitSettings
from motif.bootstrap.heads import head_problem, rows_of_head
from motif.fitting.joint import METHOD, MOST_PASSES, solve_jointly
from motif.fitting.objective import rmse
from motif.fitting.result import FitResult
from motif.fitting.terms import FloatArray
from motif.parameters.game_plan import PLANS, plans_of_class

HEAD = "equity"
"""The head that a plan has of its own."""


def plans_to_fit(rows: ClassRows, class_name: str, settings: FitSettings) -> list[str]:
    """Names of the plans of a class that have positions enough to be fitted."""
    trained = rows.plans[: rows.training]
    return [
        plan
        for plan in plans_of_class(class_name)
        if np.count_nonzero(trained == PLANS.index(plan)) >= settings.plan_rows
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
    used = rows.plans[rows_of_head(rows.boards, HEAD, settings)]
    groups = codes[used]
    trained, held = np.split(groups, [len(problem.train)])
    found = solve_jointly(
        problem,
        trained,
        of_class,
        settings.plan_shrinkage,
        max_passes=MOST_PASSES if settings.max_passes is None else settings.max_passes,
    )
    results = {}
    for group, plan in enumerate(plans):
        weights = found.weights[group]
        of_train = rmse(problem, problem.train.some(np.flatnonzero(trained == group)), weights)
        of_held = rmse(problem, problem.validation.some(np.flatnonzero(held == group)), weights)
        assert of_train is not None  # a plan that is fitted has rows
        results[plan] = FitResult(
            METHOD, weights, found.history, found.stopped, of_train, of_held, found.seconds
        )
    return results
