"""A fit that reads its dataset one part at a time, compared with the same fit in memory."""

import math
import tempfile
import tracemalloc
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import motif
from motif.evaluators import OUTPUTS, StaticEvaluator
from motif.evaluators.known_players import weights_called
from motif.evaluators.static import from_weights, weights_model
from motif.fitting.problem import Problem, link_of
from motif.fitting.solvers import solver
from motif.fitting.terms import Terms
from motif.learning import rows as row_files
from motif.learning.fit import FittedWeights, fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.recalibration import fitted_to
from motif.learning.rows import held_out, pooled_parts, validation_games
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import DatasetError, FileError, FitError
from motif.sampling import dataset_files
from motif.sampling.dataset import Dataset, read_dataset, read_parts
from motif.sampling.dataset_files import read_column, read_manifest
from motif.sampling.origin import UNKNOWN
from motif.sampling.sample import SampleSettings
from tests.learning.stored import put_behind, stored
from tests.sampling.folders import made

GAMES = SampleSettings(player="simple", games=40, trials=2, candidates=4, rate=0.3, cut=4, seed=8)
SETTINGS = FitSettings(parameters="keith", terms="linear", validation=0.25, seed=3)
HIDDEN = FitSettings(parameters="keith", validation=0.25, seed=3, hidden=5, passes=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("fit") / "samples", GAMES)


@pytest.fixture(scope="module")
def samples(folder):
    return read_dataset(folder)


def fitted(folders, settings=SETTINGS, jobs=1) -> FittedWeights:
    return fit_dataset(folders, settings, name="made", jobs=jobs)


@pytest.fixture(scope="module")
def plain(folder):
    return fitted([folder])


def same(one: FittedWeights, other: FittedWeights) -> bool:
    """Whether two weight files agree in every bit, except for the name of their dataset."""
    assert list(one.heads) == list(other.heads)
    assert (one.samples, one.rmse_train, one.rmse_validation, one.choice_error) == (
        other.samples, other.rmse_train, other.rmse_validation, other.choice_error
    )  # fmt: skip
    pairs = [
        *((one.heads[place].fit.weights, other.heads[place].fit.weights) for place in one.heads),
        *((of_class, other.weights.move_filter.steps[name]) for name, of_class in steps_of(one).items()),
        *(
            (getattr(units, part), getattr(other.weights.move_filter.units[name], part))
            for name, units in one.weights.move_filter.units.items()
            for part in ("bias", "points", "outputs")
        ),
    ]
    return all(here.tobytes() == there.tobytes() for here, there in pairs)


def steps_of(fit: FittedWeights) -> dict[str, np.ndarray]:
    return fit.weights.move_filter.steps


def in_memory(
    samples: Dataset, held: np.ndarray, class_name: str, head: str, settings: FitSettings = SETTINGS
) -> np.ndarray:
    """The weights of one head, by the definition of its problem, from all samples together."""
    on_board = np.maximum(np.stack([samples.boards, -samples.boards]), 0).sum(axis=2)
    rows = samples.position_class == CLASS_NAMES.index(class_name)
    if head.startswith("win_"):
        rows &= on_board[1] == 15
    elif head.startswith("lose_"):
        rows &= on_board[0] == 15
    if settings.bearoff:
        rows &= ~both_home(samples.boards)
    equity, chosen = head == "equity", parameter_set(SETTINGS.parameters)
    training = ~held[rows]
    problem = Problem(
        features(chosen, samples.boards[rows]),
        samples.equity[rows] if equity else samples.probabilities[rows, OUTPUTS.index(head)],
        Terms.linear(len(chosen)),
        link_of(head),
        decisions=samples.decision[rows],
        training=training,
        ridge=(50.0 if equity else 5.0) / training.sum(),
        ranking=5.0 if equity else 0.0,
    )
    return solver("gauss-newton")(problem).weights


def both_home(boards: np.ndarray) -> np.ndarray:
    """Positions with all checkers in the home boards, which the bearoff tables cover."""
    return ~((boards[:, 7:] > 0).any(axis=1) | (boards[:, :19] < 0).any(axis=1))


def test_every_head_is_that_of_a_fit_in_memory(folder, samples, plain):
    held = np.isin(samples.game, held_out([folder], 0.25, 3)[0].game)
    assert 0 < held.sum() < len(samples)
    assert len(plain.heads) == 17
    for (class_name, head), of in plain.heads.items():
        expected = in_memory(samples, held, class_name, head)
        assert of.fit.weights.tobytes() == expected.tobytes(), (class_name, head)


def test_two_processes_fit_the_same(folder, plain):
    assert same(fitted([folder], jobs=2), plain)


def test_bearoffs_are_left_out_of_race_fits_only(folder, samples, plain):
    settings = replace(SETTINGS, bearoff=True)
    fit = fitted([folder], settings)
    assert fit.weights.bearoff
    assert not plain.weights.bearoff
    held = np.isin(samples.game, held_out([folder], 0.25, 3)[0].game)
    race = samples.position_class == CLASS_NAMES.index("race")
    assert 0 < both_home(samples.boards)[race].mean() < 1
    assert not both_home(samples.boards)[~race].any()
    for (class_name, head), of in fit.heads.items():
        expected = (
            in_memory(samples, held, class_name, head, settings)
            if class_name == "race"
            else plain.heads[class_name, head].fit.weights
        )
        assert of.fit.weights.tobytes() == expected.tobytes(), (class_name, head)
    for name, steps in steps_of(plain).items():
        assert steps_of(fit)[name].tobytes() == steps.tobytes()
    squares = counts = 0
    for class_name in CLASS_NAMES:
        rows = samples.position_class == CLASS_NAMES.index(class_name)
        count = (rows & held & ~both_home(samples.boards)).sum()
        squares += count * fit.heads[class_name, "win"].fit.rmse_validation ** 2
        counts += count
    assert fit.rmse_validation == pytest.approx(np.sqrt(squares / counts))


def test_a_race_of_bearoffs_alone_cannot_be_fitted(tmp_path, samples):
    race = samples.position_class == CLASS_NAMES.index("race")
    other = stored(tmp_path / "other", samples.rows(~race | both_home(samples.boards)), 10**6)
    with pytest.raises(FitError, match="the bearoff tables cover every race position of the dataset"):
        fitted([other], replace(SETTINGS, bearoff=True))


def test_choice_errors_are_those_of_the_plays_it_would_choose(folder, samples, plain):
    games = samples.rows(np.isin(samples.game, held_out([folder], 0.25, 3)[0].game))
    values = StaticEvaluator("made", weights_model(plain.weights)).equity_many(games.boards)
    losses, played = defaultdict(list), defaultdict(list)
    for decision in np.unique(games.decision):
        rows = np.flatnonzero(games.decision == decision)
        if len(rows) > 1:
            # Both are from the perspective of the next player on roll.
            best, chosen = rows[games.equity[rows].argmin()], rows[values[rows].argmin()]
            loss = float(games.equity[chosen]) - float(games.equity[best])
            for name in ("all", CLASS_NAMES[games.position_class[best]]):
                losses[name].append(loss)
                played[name].append(games.game[best])
    assert set(plain.choice_error) == set(losses)
    for name, errors in losses.items():
        assert plain.choice_error[name] == pytest.approx(np.mean(errors), abs=1e-6), name
        deviations = defaultdict(float)
        for loss, game in zip(errors, played[name], strict=True):
            deviations[game] += loss - np.mean(errors)
        squares = sum(deviation**2 for deviation in deviations.values())
        se = math.sqrt(squares * len(deviations) / (len(deviations) - 1)) / len(errors)
        assert plain.choices[name].se == pytest.approx(se, abs=1e-6), name
    assert plain.to_dict()["choice_error"] == plain.choice_error
    assert plain.to_dict()["choice_error_se"] == {name: it.se for name, it in plain.choices.items()}
    told = plain.weights.fit["choice_error"]
    assert told == pytest.approx(plain.choice_error, abs=1e-6)


def test_without_validation_there_is_no_choice_error(folder):
    assert fitted([folder], replace(SETTINGS, validation=0.0)).choice_error == {}


@pytest.mark.parametrize("rows", [117, 10**6])
def test_parts_do_not_matter(tmp_path, samples, plain, rows):
    other = stored(tmp_path / "other", samples, rows)
    assert same(fitted([other]), plain)


def test_large_parts_are_read_in_pieces(tmp_path, monkeypatch, samples, plain):
    other = stored(tmp_path / "one", samples, 10**6)
    monkeypatch.setattr(dataset_files, "ROWS_AT_ONCE", 100)
    assert max(map(len, read_parts(other))) == 100
    assert same(fitted([other]), plain)


def test_a_pool_is_its_datasets_one_after_the_other(tmp_path, folder, samples):
    together, others = put_behind(samples, samples), [folder, stored(tmp_path / "other", samples, 300)]
    assert same(fitted(others), fitted([stored(tmp_path / "both", together, 500)]))
    parts = list(pooled_parts(others))
    assert (np.concatenate([part.game for part in parts]) == together.game).all()
    assert (np.concatenate([part.decision for part in parts]) == together.decision).all()


def test_validation_games(folder, samples):
    games = np.unique(samples.game)
    assert len(validation_games([folder], 0, 1)) == 0
    one, other = (validation_games([folder], 0.25, seed) for seed in (1, 2))
    assert len(one) == len(set(one)) == round(len(games) / 4)
    assert set(one) < set(games)
    assert set(one) != set(other)
    assert set(held_out([folder], 0.25, 1)[0].game) == set(one)


def test_games_of_one_player_and_seed_are_held_out_together(tmp_path, folder):
    more = made(tmp_path / "more", replace(GAMES, games=50, trials=1))
    new = made(tmp_path / "new", replace(GAMES, games=6, seed=9))
    pool = [folder, new, more]
    numbers = [
        set(part.groups + first) for part, first in zip(map(read_dataset, pool), (0, 50, 0), strict=True)
    ]
    pooled = [part.game for part in pooled_parts(pool)]
    assert set(np.concatenate(pooled)) == set.union(*numbers)
    held = set(validation_games(pool, 0.5, 1))
    assert len(held) == 28
    assert all(0 < len(held & games) < len(games) for games in numbers)
    assert set(held_out(pool, 0.5, 1)[0].game) == held


def test_a_dataset_is_not_pooled_with_itself(folder):
    with pytest.raises(FitError, match="samples: the dataset is given twice"):
        fitted([folder, folder.parent / folder.name / ".." / folder.name])


def test_datasets_without_a_record_are_the_same_games_only_if_they_are_equal(tmp_path, samples):
    unknown = replace(samples, origin=UNKNOWN)
    one, other = (unknown.write(tmp_path / name) for name in ("one", "other"))
    half = unknown[: len(samples) // 2].write(tmp_path / "half")
    assert [int(part.game.min()) for part in pooled_parts([one, other, half])] == [0, 0, 40]


def test_rows_of_a_dataset_are_of_its_games(tmp_path, samples):
    whole, half = samples.write(tmp_path / "whole"), samples[: len(samples) // 2].write(tmp_path / "half")
    assert [int(part.game.min()) for part in pooled_parts([whole, half])] == [0, 0]


def test_one_column(folder, samples):
    assert read_column(folder, "game").tolist() == samples.game.tolist()
    assert read_column(folder, "equity").tolist() == samples.equity.tolist()


def test_parts_are_read_when_they_are_wanted(tmp_path, samples):
    other = stored(tmp_path / "other", samples, 200)
    parts = pooled_parts([other])
    assert len(next(parts)) == 200
    (other / "part-00001.parquet").unlink()
    with pytest.raises(DatasetError, match=r"part-00001\.parquet: missing"):
        next(parts)


def test_reading_takes_no_more_memory_for_more_parts(tmp_path, samples):
    def peak(times: int) -> int:
        other = stored(tmp_path / str(times), samples, len(samples), times)
        tracemalloc.start()
        try:
            assert sum(map(len, pooled_parts([other]))) == times * len(samples)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)
    assert peak(16) < 1.2 * peak(4)


def only(samples: Dataset, class_name: str) -> Dataset:
    return samples.rows(samples.position_class == CLASS_NAMES.index(class_name))


def test_a_class_that_is_missing(tmp_path, monkeypatch, samples):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    other = stored(tmp_path / "contact", only(samples, "contact"), 10**6)
    for settings in (SETTINGS, HIDDEN):
        with pytest.raises(FitError, match="the dataset has no race positions to train on"):
            fitted([other], settings)
    assert [path.name for path in tmp_path.iterdir()] == ["contact"]
    with pytest.raises(FitError, match="at least one dataset is needed"):
        fitted([])


def test_temporary_files_that_cannot_be_written(tmp_path, monkeypatch, folder):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(FileError) as caught:
        fitted([folder])
    assert str(caught.value) == "a temporary folder: cannot be written: No such file or directory"


def test_nothing_is_left_behind(tmp_path, monkeypatch, folder, plain):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert same(fitted([folder]), plain)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("least", [0, 1 << 30])
def test_a_choice_of_rows_is_the_same_in_memory_and_in_a_file(least, monkeypatch):
    monkeypatch.setattr(row_files, "_MIN_MAPPED", least)
    monkeypatch.setattr(row_files, "_ROWS_AT_ONCE", 7)
    values, mask = np.arange(120, dtype=np.float32).reshape(40, 3), np.arange(40) % 3 != 1
    some = row_files.rows_where(values, mask)
    assert some.dtype == np.float32
    assert some.flags.writeable
    np.testing.assert_array_equal(some, values[mask])
    assert row_files.rows_where(values, np.ones(40, bool)) is values
    assert len(row_files.rows_where(values, np.zeros(40, bool))) == 0


def test_a_fit_with_hidden_units(folder, samples, tmp_path):
    result = fitted([folder], HIDDEN)
    weights = result.weights
    assert set(weights.hidden_layers) == {CLASS_NAMES[code] for code in np.unique(samples.position_class)}
    assert all(set(heads) == set(OUTPUTS) for heads in weights.classes.values())
    assert (weights.fit["method"], weights.fit["hidden"], weights.fit["samples"]) == ("adam", 5, len(samples))
    assert {row["head"] for row in result.history_rows()} == {"equity"}
    assert {row["pass"] for row in result.history_rows()} == {1, 2}
    weights.save(tmp_path / "one.yaml")
    fitted([folder], HIDDEN, jobs=2).weights.save(tmp_path / "two.yaml")
    assert (tmp_path / "one.yaml").read_bytes() == (tmp_path / "two.yaml").read_bytes()


def test_errors_are_measured_on_positions_that_the_tables_do_not_cover(folder, samples):
    settings = replace(HIDDEN, bearoff=True)
    fit = fitted([folder], settings)
    games = held_out([folder], 0.25, 3)[0].game
    rest = samples.rows(np.isin(samples.game, games) & ~both_home(samples.boards))
    errors = (
        StaticEvaluator("made", weights_model(fit.weights)).evaluate_many(rest.boards) - rest.probabilities
    )
    assert fit.rmse_validation == pytest.approx(np.sqrt((errors[:, 0] ** 2).mean()), rel=1e-5)


def test_the_equity_error_of_a_fit_with_hidden_units_is_that_of_its_file(folder, samples):
    fit = fitted([folder], HIDDEN)
    held = samples.split(HIDDEN.validation, HIDDEN.seed)[1]
    evaluator = StaticEvaluator("made", weights_model(fit.weights))
    error = evaluator.equity_many(held.boards) - held.equity
    found = fit.to_dict()
    overall = found["validation_errors"]["equity"]["rmse_validation"]
    assert overall == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-6)
    heads = [one for name, one in found["heads"].items() if name.endswith(".equity")]
    assert all(1 <= one["kept_pass"] <= one["sweeps"] == HIDDEN.passes for one in heads)
    assert min(one["rmse_validation"] for one in heads) < overall
    assert overall < max(one["rmse_validation"] for one in heads)


def test_a_fit_with_hidden_units_starts_from_weights(folder):
    first = fitted([folder], replace(HIDDEN, passes=40)).weights
    settings = replace(HIDDEN, passes=1)
    on, anew = (fit_dataset([folder], settings, name="on", start=start, jobs=1) for start in (first, None))
    assert on.weights.fit["start"] == "made"
    assert on.rmse_train < 0.95 * anew.rmse_train


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("keith-v1", {}, "start: keith-v1 has 0 hidden units, not 5"),
        ("latest", {}, r"start: the parameters of motif-v\d+ must be keith"),
        ("latest", {"hidden": 0}, "start: only a fit with hidden units can start from weights"),
    ],
)
def test_weights_from_which_a_fit_cannot_start(folder, name, change, message):
    with pytest.raises(FitError, match=message):
        fit_dataset([folder], replace(HIDDEN, **change), name="on", start=weights_called(name))


def test_weights_without_a_head_are_no_start(folder):
    first = fitted([folder], HIDDEN).weights
    heads = {of: {k: v for k, v in each.items() if k != "win_gammon"} for of, each in first.classes.items()}
    with pytest.raises(FitError, match="start: made has no head win_gammon in class"):
        fit_dataset([folder], HIDDEN, name="on", start=replace(first, classes=heads))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prune": 2.0}, "prune: not available with hidden units"),
        ({"heads": "win"}, "hidden: hidden units need heads all and terms pairs"),
        ({"terms": "linear"}, "hidden: hidden units need heads all and terms pairs"),
        ({"hidden": 513}, "hidden must be 0 to 512 units, not 513"),
        ({"passes": 0}, "passes must be at least 1, not 0"),
    ],
)
def test_what_does_not_go_with_hidden_units(folder, change, message):
    with pytest.raises(FitError, match=message):
        fitted([folder], replace(HIDDEN, **change))


def test_weights_name_the_dataset_that_was_read(tmp_path, folder, samples):
    """A copy is the same dataset; rows of it are another one, and a part of it."""
    settings = FitSettings(parameters="keith", terms="linear", heads="win", method="coordinate", passes=1)
    whole, copy = read_manifest(folder).fingerprint, read_dataset(folder).write(tmp_path / "copy")
    for data in (folder, read_dataset(folder), copy):
        assert motif.fit(data, settings).weights.fit["dataset"] == whole
    train, held = read_dataset(folder).split(0.3)
    part = train.write(tmp_path / "train")
    weights = motif.fit(train, settings).weights
    assert weights.fit == motif.fit(part, settings).weights.fit
    assert (weights.fit["dataset"], weights.fit["part_of"]) == (read_manifest(part).fingerprint, [whole])
    assert fitted_to(from_weights(weights), read_manifest(folder).fingerprints)
    # A sum is that of its datasets only if it has their positions and no others.
    plain, other = (
        Dataset.from_frame(train.to_frame()),
        read_dataset(made(tmp_path / "other", replace(GAMES, games=4, seed=9))),
    )
    sums = (read_dataset(folder) + plain, read_dataset(folder) + read_dataset(folder), train + held)
    for place, data in enumerate((*sums, read_dataset(folder) + other)):
        written = read_manifest(data.write(tmp_path / f"sum {place}"))
        assert (whole in written.fingerprints) == (place == len(sums))
        assert whole in written.origin.datasets
    # The other part was not fitted.
    assert not fitted_to(from_weights(weights), read_manifest(held.write(tmp_path / "held")).fingerprints)
