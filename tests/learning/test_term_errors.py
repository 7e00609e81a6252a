"""Standard errors of the weights in a fitted file, from the dataset that it was fitted to."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from motif.evaluators.weight_file import class_of_plan
from motif.fitting.significance import significance
from motif.learning.fit import fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import (
    head_clusters,
    head_problem,
    heads_in,
    plan_problem,
    settings_of,
    term_errors,
)
from motif.learning.rows import class_rows
from motif.parameters.position_class import CLASS_NAMES, PLANS
from motif.runtime.errors import FitError
from tests.reports.made_run import POSITIONS_A_GAME, made_samples, write_samples

_GAMES = 150
_SETTINGS = FitSettings(
    parameters="keith",
    points=True,
    ranking=5.0,
    equity_ridge=20.0,
    plans=True,
    plan_rows=40,
    plan_shrinkage=30.0,
    seed=3,
)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors") / "samples"
    write_samples(folder, made_samples(4, _GAMES))
    return folder, fit_dataset([folder], _SETTINGS, name="made", jobs=1)


@contextmanager
def _rows(folder, weights):
    with class_rows([folder], weights.parameters, _SETTINGS.validation, _SETTINGS.seed) as rows:
        yield rows


def test_every_head_of_a_file_has_errors(fitted):
    folder, fit = fitted
    weights = fit.weights
    assert settings_of(weights) == _SETTINGS
    places = list(heads_in(weights))
    assert {plan for _, plan, _ in places} == {"", *weights.plans}
    assert len(weights.plans) > 0
    with _rows(folder, weights) as rows:
        for class_name, plan, head in places:
            found = term_errors(rows, weights, _SETTINGS, class_name, plan, head)
            assert found.place == (class_name, plan, head)
            assert len(found.names) == len(found.statistics.weights)
            own = weights.plans[plan][head] if plan else weights.classes[class_name][head]
            assert found.statistics.weights[1] == own.linear[0]
            assert np.isfinite(found.statistics.errors).all()
            assert (found.statistics.errors[:2] > 0).all()


def test_errors_are_those_of_the_fit_by_its_games(fitted):
    folder, fit = fitted
    with _rows(folder, fit.weights) as rows:
        found = term_errors(rows, fit.weights, _SETTINGS, "contact", "", "equity")
        problem = head_problem(rows["contact"], "equity", _SETTINGS)
        clusters = head_clusters(rows["contact"], "equity", _SETTINGS)
        exact = significance(problem, fit.results["contact", "equity"].weights, clusters)
        np.testing.assert_allclose(found.statistics.errors, exact.errors, rtol=1e-3)
        # Decisions are numbered through, `POSITIONS_A_GAME` in a game, one a position.
        np.testing.assert_array_equal(clusters, problem.decisions // POSITIONS_A_GAME)


def test_gammons_are_fitted_to_some_rows_alone(fitted):
    folder, fit = fitted
    with _rows(folder, fit.weights) as rows:
        clusters = head_clusters(rows["race"], "win_gammon", _SETTINGS)
        problem = head_problem(rows["race"], "win_gammon", _SETTINGS)
        assert len(clusters) == len(problem.labels) < len(rows["race"])
        np.testing.assert_array_equal(clusters, problem.decisions // POSITIONS_A_GAME)


def test_what_pulls_a_plan_to_its_class_is_no_sample(fitted):
    folder, fit = fitted
    plan = next(iter(fit.weights.plans))
    class_name = class_of_plan(plan)
    with _rows(folder, fit.weights) as rows:
        found = rows[class_name]
        problem, clusters = plan_problem(found, plan, fit.results[class_name, "equity"].weights, _SETTINGS)
        own = found.plans == PLANS.index(plan)
        real = clusters >= 0
        assert np.count_nonzero(real) == np.count_nonzero(own)
        np.testing.assert_array_equal(clusters[real], problem.decisions[real] // POSITIONS_A_GAME)
        np.testing.assert_array_equal(problem.features[real], found.features[own])
        assert (problem.sample_weights[real] == 1).all()
        assert problem.sample_weights[~real].sum() == pytest.approx(30)


def test_pruned_and_linear_heads_have_errors_too(fitted):
    folder, fit = fitted
    weights = fit.weights
    plan = next(iter(weights.plans))
    class_name = class_of_plan(plan)

    def thinned(head, keep):
        return replace(head, pairs=head.pairs[:keep], quadratic=head.quadratic[:keep], points=None)

    parent = thinned(weights.classes[class_name]["equity"], 5)
    classes = {**weights.classes, class_name: {**weights.classes[class_name], "equity": parent}}
    plans = {**weights.plans, plan: {"equity": thinned(weights.plans[plan]["equity"], 8)}}
    pruned = replace(weights, classes=classes, plans=plans)
    with _rows(folder, weights) as rows:
        for which, pairs in (("", 5), (plan, 8)):
            found = term_errors(rows, pruned, settings_of(pruned), class_name, which, "equity")
            assert len(found.names) == 1 + len(weights.parameters) + pairs
            assert np.isfinite(found.statistics.errors).all()


def test_heads_that_no_fit_leads_to(fitted):
    folder, fit = fitted
    weights, plan = fit.weights, next(iter(fit.weights.plans))
    class_name = class_of_plan(plan)
    with _rows(folder, weights) as rows:
        others = {name: found for name, found in rows.items() if name != "race"}
        with pytest.raises(FitError, match="holds no race positions to fit the win weights to"):
            term_errors(others, weights, _SETTINGS, "race", "", "win")
        odd = {plan: {"win": weights.plans[plan]["equity"]}}
        with pytest.raises(FitError, match="a plan's are drawn to its class's equity"):
            term_errors(rows, replace(weights, plans=odd), _SETTINGS, class_name, plan, "win")
    for fact in ({"ridge": "much"}, {"ridge": -1.0}, {"seed": [3]}):
        with pytest.raises(FitError, match="the weights 'made' tell of a fit that cannot have been"):
            settings_of(replace(weights, fit={**weights.fit, **fact}))
    assert settings_of(replace(weights, fit={})).seed == 0
    assert set(weights.classes) <= set(CLASS_NAMES)
