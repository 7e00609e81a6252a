"""Standard errors of the weights in a fitted file, from the dataset that it was fitted to."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import motif
from motif.analysis.term_report import board_terms, dataset_boards, fitted_terms, no_errors
from motif.evaluators import load_evaluator
from motif.fitting.significance import significance
from motif.learning.fit import fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import (
    head_clusters,
    head_problem,
    heads_in,
    settings_of,
    term_errors,
)
from motif.learning.rows import class_rows
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import FitError
from tests.reports.made_run import POSITIONS_A_GAME, made_samples, write_samples

_GAMES = 150
_SETTINGS = FitSettings(parameters="keith", ranking=5.0, equity_ridge=20.0, seed=3)


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
    with _rows(folder, weights) as rows:
        for class_name, head in places:
            found = term_errors(rows, weights, _SETTINGS, class_name, head)
            assert found.key == (class_name, head)
            assert len(found.names) == len(found.statistics.weights)
            assert found.statistics.weights[1] == weights.classes[class_name][head].linear[0]
            assert np.isfinite(found.statistics.errors).all()
            assert (found.statistics.errors[:2] > 0).all()


def test_errors_are_those_of_the_fit_by_its_games(fitted):
    folder, fit = fitted
    with _rows(folder, fit.weights) as rows:
        found = term_errors(rows, fit.weights, _SETTINGS, "contact", "equity")
        problem = head_problem(rows["contact"], "equity", _SETTINGS)
        clusters = head_clusters(rows["contact"], "equity", _SETTINGS)
        exact = significance(problem, fit.heads["contact", "equity"].fit.weights, clusters)
        np.testing.assert_allclose(found.statistics.errors, exact.errors, rtol=1e-3)
        # Decisions are numbered consecutively, `POSITIONS_A_GAME` per game, one per position.
        np.testing.assert_array_equal(clusters, problem.decisions // POSITIONS_A_GAME)


def test_gammons_are_fitted_to_some_rows_alone(fitted):
    folder, fit = fitted
    with _rows(folder, fit.weights) as rows:
        clusters = head_clusters(rows["race"], "win_gammon", _SETTINGS)
        problem = head_problem(rows["race"], "win_gammon", _SETTINGS)
        assert len(clusters) == len(problem.labels) < len(rows["race"])
        np.testing.assert_array_equal(clusters, problem.decisions // POSITIONS_A_GAME)


def test_pruned_and_linear_heads_have_errors_too(fitted):
    folder, fit = fitted
    weights = fit.weights
    of_contact = weights.classes["contact"]
    for keep in (5, 0):
        head = of_contact["equity"]
        thinned = replace(head, pairs=head.pairs[:keep], quadratic=head.quadratic[:keep])
        pruned = replace(weights, classes={**weights.classes, "contact": {**of_contact, "equity": thinned}})
        with _rows(folder, weights) as rows:
            found = term_errors(rows, pruned, settings_of(pruned), "contact", "equity")
            assert len(found.names) == 1 + len(weights.parameters) + keep
            assert np.isfinite(found.statistics.errors).all()


def test_heads_that_no_fit_leads_to(fitted):
    folder, fit = fitted
    weights = fit.weights
    with _rows(folder, weights) as rows:
        others = {name: found for name, found in rows.items() if name != "race"}
        with pytest.raises(FitError, match="has no race positions for the fit of the win weights"):
            term_errors(others, weights, _SETTINGS, "race", "win")
    for fact in ({"ridge": "much"}, {"ridge": -1.0}, {"seed": [3]}):
        with pytest.raises(FitError, match="the weights 'made' have an invalid record of their fit"):
            settings_of(replace(weights, fit={**weights.fit, **fact}))
    assert settings_of(replace(weights, fit={})).seed == 0
    assert set(weights.classes) <= set(CLASS_NAMES)


def test_weights_fitted_with_hidden_units_have_no_errors(fitted):
    folder, _ = fitted
    settings = FitSettings(parameters="keith", seed=3, hidden=2, passes=1)
    weights = fit_dataset([folder], settings, name="made", jobs=1).weights
    assert (
        no_errors(folder, weights, "contact", "win") == "weights fitted together with hidden units have none"
    )
    report = motif.terms(weights, data=folder, head="win")
    boards = dataset_boards(folder, "contact")
    expected, _ = board_terms(boards, weights, "contact", "win")
    found = report.statistics.statistics
    assert report.source == f"{len(boards):,} positions in {folder}"
    assert np.isnan(found.errors).all()
    np.testing.assert_array_equal(found.moves, expected.statistics.moves)
    with _rows(folder, weights) as rows:
        assert np.isnan(term_errors(rows, weights, settings, "contact", "win").statistics.errors).all()


def test_weights_have_errors_only_from_the_dataset_they_were_fitted_to(fitted, tmp_path):
    folder, fit = fitted
    assert no_errors(folder, fit.weights, "contact", "win") == ""
    assert np.isfinite(fitted_terms([folder], fit.weights, "contact", "win")[0].statistics.errors).all()
    write_samples(tmp_path / "other", made_samples(5, 20))
    problem = no_errors(tmp_path / "other", fit.weights, "contact", "win")
    assert problem == f"made has no record of a fit to {tmp_path / 'other'}"
    report = motif.terms(fit.weights, data=tmp_path / "other", head="win")
    assert report.note == problem
    assert np.isnan(report.statistics.statistics.errors).all()


def test_weights_have_no_errors_from_one_of_several_datasets(fitted, tmp_path):
    folder, _ = fitted
    other, table = tmp_path / "other", tmp_path / "terms.parquet"
    write_samples(other, made_samples(5, 20))
    weights = fit_dataset([folder, other], _SETTINGS, name="pooled", term_table=table, jobs=1).weights
    for one, count in ((folder, 1500), (other, 200)):
        report = motif.terms(weights, data=one, head="win")
        fitted_to = f"pooled was fitted to 1700 positions, not to the {count} of {one}"
        assert report.note == f"{fitted_to}; a table of its terms has them"
        assert np.isnan(report.statistics.statistics.errors).all()
    assert np.isfinite(motif.terms(weights, table=table, head="win").statistics.statistics.errors).all()


def test_weights_fitted_to_a_part_of_a_dataset_have_errors_only_from_this_part(fitted, tmp_path):
    folder, _ = fitted
    whole = motif.read_dataset(folder)
    part = whole[: 100 * POSITIONS_A_GAME].write(tmp_path / "part")
    weights = fit_dataset([part], _SETTINGS, name="made", jobs=1).weights
    assert no_errors(part, weights, "contact", "win") == ""
    assert no_errors(folder, weights, "contact", "win") == f"made has no record of a fit to {folder}"
    weights = fit_dataset([whole.write(tmp_path / "copy")], _SETTINGS, name="made", jobs=1).weights
    found = [fitted_terms([one], weights, "contact", "win")[0] for one in (folder, tmp_path / "copy")]
    np.testing.assert_array_equal(*(one.statistics.errors for one in found))
    assert no_errors(folder, weights, "contact", "win") == ""
    assert no_errors(tmp_path / "copy", weights, "contact", "win") == ""


def test_weights_fitted_with_levels_have_no_errors_from_their_dataset(fitted):
    folder, _ = fitted
    settings = FitSettings(parameters="keith", heads="win", seed=3)
    weights = fit_dataset([folder], settings, name="made", levels=load_evaluator("motif-v1"), jobs=1).weights
    report = motif.terms(weights, data=folder, head="win")
    assert report.note == "made was fitted with the levels of motif-v1; a table of its terms has them"
    assert np.isnan(report.statistics.statistics.errors).all()
