"""Calibrations from datasets with a planted error."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import motif
from motif.board.packed import pack_many
from motif.evaluators import StaticEvaluator, load_evaluator, load_static
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.learning import recalibration as module
from motif.learning.recalibration import ALL, calibrate, calibrated_weights, fitted_to, weights_behind
from motif.learning.rows import validation_games
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.errors import DatasetError, FitError, PlayerError, SettingError
from motif.sampling.dataset import Dataset
from motif.sampling.dataset_files import read_manifest, write_manifest
from motif.sampling.game_results import dataset_results
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards
from tests.learning.stored import stored

TRIALS, A_GAME = 36, 6
EQUITY = evaluator_of(
    made_weights(classes=dict.fromkeys(("contact", "race"), ("win", "win_gammon", "lose_gammon", "equity")))
)


def bent(chances: np.ndarray) -> np.ndarray:
    """The true probabilities for the estimates of a player who is too cautious."""
    odds = chances / (1 - chances)
    return odds**2 / (1 + odds**2)


def labelled(evaluator: StaticEvaluator, boards: np.ndarray, seed: int = 0) -> Dataset:
    """`boards`, A_GAME per game, with win labels drawn by the bent probabilities of `evaluator`."""
    count, rng = len(boards), np.random.default_rng(seed)
    chances = np.clip(evaluator.evaluate_many(boards)[:, 0].astype(np.float64), 1e-6, 1 - 1e-6)
    rows = np.zeros((count, 5), np.float32)
    rows[:, 0] = rng.binomial(TRIALS, bent(chances)) / TRIALS
    return Dataset(
        boards=boards,
        probabilities=rows,
        equity=2 * rows[:, 0] - 1,
        equity_se=np.full(count, 0.1, np.float32),
        trials=np.full(count, TRIALS, np.int32),
        game=np.arange(count, dtype=np.int32) // A_GAME,
        ply=np.zeros(count, np.int32),
        decision=np.arange(count, dtype=np.int64),
        chosen=np.ones(count, np.bool_),
        position_class=classify_many(pack_many(boards)),
    )


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.random.default_rng(1).permutation(some_boards("pubeval", 6000, seed=7))


@pytest.fixture(scope="module")
def folder(boards, tmp_path_factory):
    path = tmp_path_factory.mktemp("calibrate") / "bras"
    return stored(path, labelled(load_static("bras"), boards), rows_a_part=2500)


@pytest.fixture(scope="module")
def found(folder):
    return calibrate(dataset_results(folder), load_static("bras"), seed=3)


def test_the_planted_fault_is_undone_on_games_that_were_not_fitted_on(found):
    whole = found.groups[ALL]
    assert whole.log_loss.clear
    assert whole.log_loss.difference < -5 * whole.log_loss.se
    assert whole.brier.clear
    held = found.held
    assert np.abs(held.before - bent(held.before)).mean() > 0.03
    assert np.abs(held.after - bent(held.before)).mean() < 0.012


def test_no_game_is_on_both_sides(found, folder, boards):
    on_both = set(found.held.game) & set(found.fitted.game)
    assert not on_both
    assert len(found.held) + len(found.fitted) == len(boards)
    assert set(found.held.game) == set(validation_games([folder], 0.5, 3).tolist())
    other = calibrate(dataset_results(folder), load_static("bras"), share=0.8, seed=3)
    assert len(set(other.held.game)) == pytest.approx(0.2 * len(boards) / A_GAME, abs=1)


def test_a_calibration_of_the_library_writes_what_the_command_writes(folder, found, tmp_path):
    made = motif.calibrate(folder, "bras", seed=3, jobs=1)
    assert made.to_dict() == found.to_dict()
    path = made.write(tmp_path / "bras-known.yaml")
    calibrated_weights(load_static("bras"), found, "bras-known").save(tmp_path / "other.yaml")
    assert path.read_text() == (tmp_path / "other.yaml").read_text()
    assert made.weights.name == "bras-calibrated"
    assert made.plot(tmp_path / "bras.svg").axes


def test_a_calibration_is_not_the_player_without_it(folder):
    made = motif.calibrate(folder, "bras", seed=3, jobs=1)
    for use in (motif.load_player, motif.load_evaluator, partial(motif.evaluate, "4HPwATDgc/ABMA")):
        with pytest.raises(PlayerError, match=r"PlayerCalibration has no such method$"):
            use(made)


def test_scores_are_calibrated_without_a_player(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{rng.integers(2)},{rng.random()}\n" for _ in range(2000))
    (tmp_path / "scores.csv").write_text("outcome,chance\n" + rows)
    scores = motif.calibrate(tmp_path / "scores.csv", jobs=1)
    with pytest.raises(PlayerError, match=r"scores\.csv: name the player whose scores it contains, player="):
        scores.write(tmp_path / "x.yaml")
    assert scores.plot().axes
    named = motif.calibrate(tmp_path / "scores.csv", "bras", jobs=1)
    assert motif.read_weight_file(named.write(tmp_path / "x.yaml")).calibration.keys() == set(CLASS_NAMES)


def test_groups_are_those_of_the_held_out_positions(found):
    classes = [CLASS_NAMES[code] for code in np.unique(found.held.position_class)]
    assert list(found.groups) == [*classes, ALL]
    assert sum(found.groups[name].positions for name in classes) == found.groups[ALL].positions
    weighted = sum(of.positions * of.log_loss.after for name, of in found.groups.items() if name != ALL)
    assert weighted / len(found.held) == pytest.approx(found.groups[ALL].log_loss.after)


def test_the_same_figures_as_the_file(found, folder, boards, tmp_path):
    path = tmp_path / "bras-calibrated.yaml"
    calibrated_weights(load_static("bras"), found, "bras-calibrated").save(path)
    loaded = load_static(str(path))
    assert loaded.weights.name == "bras-calibrated"
    assert loaded.weights.fit["calibration"]["dataset"] == read_manifest(folder).fingerprint
    order = np.argsort(np.r_[np.flatnonzero(~on_held(found, boards)), np.flatnonzero(on_held(found, boards))])
    after = np.r_[found.fitted.after, found.held.after][order]
    assert np.abs(loaded.evaluate_many(boards)[:, 0] - after).max() < 1e-6
    # Plays of the same class keep their order.
    race = classify_many(pack_many(boards)) == CLASS_NAMES.index("race")
    before = load_static("bras").equity_many(boards[race])
    assert (
        np.argsort(before, kind="stable") == np.argsort(loaded.equity_many(boards[race]), kind="stable")
    ).all()


def on_held(found, boards) -> np.ndarray:
    return np.isin(np.arange(len(boards)) // A_GAME, found.held.game)


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(found, folder, monkeypatch):
    monkeypatch.setattr(module, "_POSITIONS_AT_ONCE", 999)
    again = calibrate(dataset_results(folder), load_static("bras"), seed=3, jobs=2)
    assert {name: rows.tobytes() for name, rows in again.knots.items()} == {
        name: rows.tobytes() for name, rows in found.knots.items()
    }
    assert again.groups == found.groups
    other = calibrate(dataset_results(folder), load_static("bras"), seed=4)
    assert other.groups != found.groups


def test_lookahead_is_measured_by_any_number_of_workers(boards, tmp_path):
    ahead = load_evaluator("bras@1")
    path = stored(tmp_path / "few", labelled(load_static("bras"), boards[:240]), rows_a_part=240)
    one, two = (calibrate(dataset_results(path), ahead, jobs=jobs) for jobs in (1, 2))
    assert one.groups == two.groups
    with pytest.raises(PlayerError, match="'bras@1' has no weights: name a weight file"):
        calibrated_weights(ahead, one, "ahead")


def test_a_calibrated_player_is_calibrated_from_his_weights(found, folder):
    once = evaluator_of(calibrated_weights(load_static("bras"), found, "once"))
    again = calibrate(dataset_results(folder), once, seed=3)
    assert {name: rows.tobytes() for name, rows in again.knots.items()} == {
        name: rows.tobytes() for name, rows in found.knots.items()
    }
    assert again.groups[ALL].log_loss.before == pytest.approx(found.groups[ALL].log_loss.after, abs=1e-6)
    assert again.groups[ALL].log_loss.difference == pytest.approx(0, abs=1e-6)


def test_right_probabilities_gain_nothing(boards, tmp_path):
    samples = labelled(load_static("bras"), boards)
    rows, rng = samples.probabilities, np.random.default_rng(9)
    rows[:, 0] = rng.binomial(TRIALS, load_static("bras").evaluate_many(boards)[:, 0]) / TRIALS
    results = dataset_results(stored(tmp_path / "right", samples, 6000))
    whole = calibrate(results, load_static("bras")).groups[ALL]
    assert abs(whole.log_loss.difference) < 2e-3


def test_equity_heads_and_bearoffs(boards, tmp_path):
    evaluator = evaluator_of(replace(EQUITY.weights, bearoff=True))
    path = stored(tmp_path / "equity", labelled(evaluator, boards), 6000)
    found = calibrate(dataset_results(path), evaluator)
    assert found.groups[ALL].log_loss.clear
    assert found.held.exact.any()
    assert (found.held.after == found.held.before)[found.held.exact].all()
    loaded = evaluator_of(calibrated_weights(evaluator, found, "equity"))
    held = on_held(found, boards)
    assert np.abs(loaded.evaluate_many(boards[held])[:, 0] - found.held.after).max() < 1e-5
    assert loaded.equity_many(boards).tobytes() == evaluator.equity_many(boards).tobytes()


def test_classes_of_few_positions_keep_their_probabilities(boards, tmp_path):
    contact = boards[classify_many(pack_many(boards)) == 0][:500]
    race = boards[classify_many(pack_many(boards)) == CLASS_NAMES.index("race")][:50]
    few = np.concatenate([contact, race])
    results = dataset_results(stored(tmp_path / "few", labelled(load_static("bras"), few), 600))
    found = calibrate(results, load_static("bras"))
    assert list(found.knots) == ["contact"]
    assert found.groups["race"].log_loss.difference == 0


def test_weights_alone():
    assert sorted(weights_behind(load_static("bras")).classes) == sorted(CLASS_NAMES)
    assert weights_behind(load_static("keith-v1+bearoff")).bearoff
    with pytest.raises(PlayerError, match="'pubeval' has no weights"):
        weights_behind(load_static("pubeval"))


def test_a_dataset_that_the_weights_know(folder):
    fingerprint = read_manifest(folder).fingerprint
    for known, expected in ((fingerprint, True), (["x", fingerprint], True), (["x"], False), ([], False)):
        evaluator = evaluator_of(replace(EQUITY.weights, fit={"dataset": known}))
        assert fitted_to(evaluator, [fingerprint]) is expected
    deep = LookaheadEvaluator(evaluator_of(replace(EQUITY.weights, fit={"dataset": fingerprint})), 1)
    assert fitted_to(deep, [fingerprint])
    assert not fitted_to(load_static("bras"), [fingerprint])
    assert not fitted_to(load_static("pubeval"), [fingerprint])


def test_what_is_refused(folder, boards, tmp_path):
    for share in (0.0, 1.0, -1.0, float("nan"), "a"):
        with pytest.raises(SettingError, match="share must be between 0 and 1"):
            calibrate(dataset_results(folder), load_static("bras"), share=share)
    samples = labelled(load_static("bras"), boards[:A_GAME])
    with pytest.raises(FitError, match="too few games for a fit and a measurement"):
        calibrate(dataset_results(stored(tmp_path / "one", samples, 100)), load_static("bras"))
    samples = labelled(load_static("bras"), boards[: 4 * A_GAME])
    samples.probabilities[3, 0] = np.nan
    with pytest.raises(DatasetError, match="the label win of a position must be 0 to 1"):
        calibrate(dataset_results(stored(tmp_path / "nan", samples, 100)), load_static("bras"))
    (tmp_path / "empty").mkdir()
    write_manifest(tmp_path / "empty", {}, [], complete=True)
    for name, message in (("empty", "the dataset is empty"), ("missing", "not a dataset")):
        with pytest.raises(DatasetError, match=message):
            calibrate(dataset_results(tmp_path / name), load_static("bras"))
