"""Pruned fits, and the table with the standard errors of the remaining terms."""

from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.term_report import fitted_terms
from motif.evaluators import StaticEvaluator, read_weight_file
from motif.evaluators.static import weights_model
from motif.fitting.problem import link_of
from motif.fitting.significance import read_terms, weight_vector
from motif.fitting.solvers import solver
from motif.learning.fit import fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import head_problem, heads_in, settings_of, term_errors
from motif.learning.rows import class_rows
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES
from tests.reports.made_run import made_samples, write_samples

_WHOLE = FitSettings(parameters="keith", ranking=5.0, validation=0.3, seed=3)
_SETTINGS = replace(_WHOLE, prune=2.0)
_KEY = ("contact", "equity")


@pytest.fixture(scope="module")
def samples():
    """Random boards with random labels, five per decision."""
    found = made_samples(4, 150)
    return replace(found, decision=found.decision // 5)


@pytest.fixture(scope="module")
def made(tmp_path_factory, samples):
    """A dataset, its pruned fit and the table of terms."""
    home = tmp_path_factory.mktemp("pruned")
    write_samples(home / "samples", samples)
    table = home / "terms.parquet"
    return home / "samples", _fit(home / "samples", _SETTINGS, table), table


def _fit(folder, settings, table=None, jobs=1):
    return fit_dataset([folder], settings, name="made", term_table=table, jobs=jobs)


@pytest.fixture(scope="module")
def whole(made):
    return _fit(made[0], _WHOLE)


def test_what_was_before_is_the_fit_without_pruning(made, whole):
    fit = made[1]
    assert fit.heads.keys() == whole.heads.keys()
    for place, head in whole.heads.items():
        kept = fit.heads[place].unpruned
        assert (kept is None) == ("backgammon" in place[1])
        assert (kept or fit.heads[place].fit).weights.tobytes() == head.fit.weights.tobytes()
    assert fit.unpruned_choice_error == whole.choice_error
    assert whole.unpruned_choice_error == {}
    assert "prune" not in whole.weights.fit
    assert fit.weights.fit["prune"] == 2.0


def test_terms_and_errors_are_reported_before_and_after(made, whole):
    told, before = made[1].to_dict(), whole.to_dict()
    assert told["choice_error_before_pruning"] == before["choice_error"]
    assert before["choice_error_before_pruning"] == {}
    for name, facts in told["heads"].items():
        assert before["heads"][name]["before_pruning"] is None
        old = facts["before_pruning"]
        if "backgammon" in name:
            assert old is None
            continue
        for key in ("terms", "rmse_train", "rmse_validation", "sweeps", "stopped"):
            assert old[key] == before["heads"][name][key]
        class_name, head = name.split(".")
        kept = made[1].weights.classes[class_name][head]
        assert facts["terms"] == len(kept.linear) + len(kept.pairs) < old["terms"]
        assert facts["rmse_train"] > old["rmse_train"]


def test_the_terms_that_are_left_are_fitted_as_if_there_were_no_others(made):
    folder, fit, _ = made
    with class_rows([folder], fit.weights.parameters, 0.3, 3) as rows:
        for head in ("win", "equity"):
            terms, _ = weight_vector(fit.weights.classes["contact"][head])
            problem = replace(head_problem(rows["contact"], head, _SETTINGS), terms=terms)
            alone = solver("gauss-newton")(problem)
            assert fit.heads["contact", head].fit.history[-1].error == pytest.approx(
                alone.history[-1].error, rel=1e-5
            )


def test_pruned_weights_play_as_they_were_fitted(made, samples, tmp_path):
    fit = made[1]
    fit.weights.save(tmp_path / "made.yaml")
    loaded = read_weight_file(tmp_path / "made.yaml")
    boards = samples.boards[samples.position_class == CLASS_NAMES.index("contact")]
    terms, _ = weight_vector(loaded.classes["contact"]["equity"])
    raw = terms.expand(features(loaded.parameters, boards)) @ fit.heads["contact", "equity"].fit.weights
    played = StaticEvaluator("made", weights_model(loaded)).equity_many(boards)
    np.testing.assert_allclose(played, link_of("equity").inverse_link(raw), atol=1e-5)


def test_the_table_covers_every_head(made):
    folder, fit, table = made
    weights = fit.weights
    assert settings_of(weights) == _SETTINGS
    tables = read_terms(table)
    assert [found.key for found in tables] == list(heads_in(weights))
    with class_rows([folder], weights.parameters, 0.3, 3) as rows:
        for found in tables:
            expected = term_errors(rows, weights, _SETTINGS, *found.key)
            assert found.names == expected.names
            np.testing.assert_array_equal(found.statistics.errors, expected.statistics.errors)


def test_a_report_holds_out_the_games_that_the_fit_held_out(made):
    folder, fit, table = made
    found, count = fitted_terms([folder], fit.weights, *_KEY)
    with class_rows([folder], fit.weights.parameters, 0.3, 3) as rows:
        assert count == rows["contact"].training < len(rows["contact"])
    stored = next(one for one in read_terms(table) if one.key == _KEY)
    np.testing.assert_array_equal(found.statistics.errors, stored.statistics.errors)


def test_two_processes_prune_the_same(made, tmp_path):
    folder, fit, table = made
    other = _fit(folder, _SETTINGS, tmp_path / "other.parquet", jobs=2)
    for name, weights in (("one", fit.weights), ("two", other.weights)):
        weights.save(tmp_path / name)
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()
    assert (tmp_path / "other.parquet").read_bytes() == table.read_bytes()


def test_a_class_from_one_game_stays_whole_and_unsure(tmp_path, samples):
    first = samples.game == 0
    race = samples.position_class == CLASS_NAMES.index("race")
    assert (race & first).any()
    write_samples(tmp_path / "samples", samples.rows(~race | first))
    settings = replace(_SETTINGS, heads="win", validation=0.0)
    fit = _fit(tmp_path / "samples", settings, tmp_path / "terms.parquet")
    assert [place for place, head in fit.heads.items() if head.unpruned is None] == [("race", "win")]
    errors = {found.class_name: found.statistics.errors for found in read_terms(tmp_path / "terms.parquet")}
    assert np.isnan(errors["race"]).all()
    assert np.isfinite(errors["contact"]).all()
