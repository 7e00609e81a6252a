"""A fit that reads its dataset a part at a time, against the same fit done in memory."""

import math
import tempfile
import tracemalloc
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.evaluators import OUTPUTS, StaticEvaluator, read_weight_file
from motif.evaluators.probabilities import bounds
from motif.evaluators.static import weights_model
from motif.evaluators.weight_file import HeadWeights
from motif.fitting.design import raw_predictions
from motif.fitting.problem import EQUITY, Link, Problem
from motif.fitting.solve import solver
from motif.fitting.terms import Terms
from motif.learning import rows as row_files
from motif.learning.fit import FittedWeights, fit_dataset
from motif.learning.fit_settings import FitSettings
from motif.learning.rows import held_out, pooled_parts, validation_games
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, PLANS, plans_many
from motif.runtime.errors import DatasetError, FileError, FitError
from motif.sampling import Dataset, SampleSettings, dataset, read_column, read_dataset, read_parts
from tests.learning.stored import put_behind, stored
from tests.sampling.folders import made

GAMES = SampleSettings(player="simple", games=40, trials=2, candidates=4, rate=0.3, cut=4, seed=8)
SETTINGS = FitSettings(parameters="keith", terms="linear", validation=0.25, seed=3)


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
    """Whether two weight files agree in every bit, but for which dataset they name."""
    assert (list(one.results), list(one.plans)) == (list(other.results), list(other.plans))
    assert (one.samples, one.rmse_train, one.rmse_validation, one.choice_error) == (
        other.samples, other.rmse_train, other.rmse_validation, other.choice_error
    )  # fmt: skip
    pairs = [
        *((one.results[fit].weights, other.results[fit].weights) for fit in one.results),
        *((one.plans[fit].weights, other.plans[fit].weights) for fit in one.plans),
        *((of_class, other.weights.pre_filter.steps[name]) for name, of_class in steps_of(one).items()),
    ]
    return all(here.tobytes() == there.tobytes() for here, there in pairs)


def steps_of(fit: FittedWeights) -> dict[str, np.ndarray]:
    return fit.weights.pre_filter.steps


def in_memory(
    samples: Dataset, held: np.ndarray, class_name: str, head: str, settings: FitSettings = SETTINGS
) -> np.ndarray:
    """The weights of one head, by the definition of its problem, from all samples at once."""
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
        Terms.linear(len(chosen), settings.points and not head.endswith("backgammon")),
        Link(*bounds(head)),
        decisions=samples.decision[rows],
        training=training,
        ridge=(50.0 if equity else 5.0) / training.sum(),
        ranking=5.0 if equity else 0.0,
        boards=samples.boards[rows],
    )
    return solver("gauss-newton")(problem).weights


def both_home(boards: np.ndarray) -> np.ndarray:
    """Where no checker stands outside its home board: what the bearoff tables cover."""
    return ~((boards[:, 7:] > 0).any(axis=1) | (boards[:, :19] < 0).any(axis=1))


def test_every_head_is_that_of_a_fit_in_memory(folder, samples, plain):
    held = np.isin(samples.game, held_out([folder], 0.25, 3).game)
    assert 0 < held.sum() < len(samples)
    assert len(plain.results) == 17
    for (class_name, head), result in plain.results.items():
        expected = in_memory(samples, held, class_name, head)
        assert result.weights.tobytes() == expected.tobytes(), (class_name, head)


def test_two_processes_fit_the_same(folder, plain):
    assert same(fitted([folder], jobs=2), plain)


POINTED = replace(SETTINGS, points=True)
PLANNED = replace(POINTED, plans=True, plan_rows=60, plan_shrinkage=50.0)


@pytest.fixture(scope="module")
def pointed(folder):
    return fitted([folder], POINTED)


def test_point_terms(folder, samples, plain, pointed):
    held = np.isin(samples.game, held_out([folder], 0.25, 3).game)
    for class_name, head in [("contact", "equity"), ("race", "win"), ("contact", "win_backgammon")]:
        expected = in_memory(samples, held, class_name, head, POINTED)
        assert pointed.results[class_name, head].weights.tobytes() == expected.tobytes()
        has_points = pointed.weights.classes[class_name][head].points is not None
        assert has_points == (head != "win_backgammon")
    without, with_points = (fit.results["contact", "equity"].history[-1] for fit in (plain, pointed))
    assert with_points.error < without.error


def test_bearoffs_are_left_out_of_race_fits_and_of_nothing_else(folder, samples, plain):
    settings = replace(SETTINGS, bearoff=True)
    fit = fitted([folder], settings)
    assert fit.weights.bearoff
    assert not plain.weights.bearoff
    held = np.isin(samples.game, held_out([folder], 0.25, 3).game)
    race = samples.position_class == CLASS_NAMES.index("race")
    assert 0 < both_home(samples.boards)[race].mean() < 1
    assert not both_home(samples.boards)[~race].any()
    for (class_name, head), result in fit.results.items():
        expected = (
            in_memory(samples, held, class_name, head, settings)
            if class_name == "race"
            else plain.results[class_name, head].weights
        )
        assert result.weights.tobytes() == expected.tobytes(), (class_name, head)
    for name, steps in steps_of(plain).items():
        assert steps_of(fit)[name].tobytes() == steps.tobytes()
    squares = counts = 0
    for class_name in CLASS_NAMES:
        rows = samples.position_class == CLASS_NAMES.index(class_name)
        count = (rows & held & ~both_home(samples.boards)).sum()
        squares += count * fit.results[class_name, "win"].rmse_validation ** 2
        counts += count
    assert fit.rmse_validation == pytest.approx(np.sqrt(squares / counts))


def test_a_race_of_bearoffs_alone_cannot_be_fitted(tmp_path, samples):
    race = samples.position_class == CLASS_NAMES.index("race")
    other = stored(tmp_path / "other", samples.rows(~race | both_home(samples.boards)), 10**6)
    with pytest.raises(FitError, match="the bearoff tables cover every race position of the dataset"):
        fitted([other], replace(SETTINGS, bearoff=True))


@pytest.fixture(scope="module")
def planned(folder):
    return fitted([folder], PLANNED)


def test_game_plans_get_equity_heads(folder, samples, pointed, planned):
    held = np.isin(samples.game, held_out([folder], 0.25, 3).game)
    plans = plans_many(pack_many(samples.boards[~held]))
    counts = {name: int((plans == code).sum()) for code, name in enumerate(PLANS)}
    names = {plan for _, plan in planned.plans}
    assert names == {name for name, count in counts.items() if count >= 60}
    assert len(names) > 1
    assert set(planned.as_dict()["plans"]) == names
    assert planned.results.keys() == pointed.results.keys()
    for fit, result in pointed.results.items():
        assert planned.results[fit].weights.tobytes() == result.weights.tobytes()
    assert planned.weights.fit["plan_shrinkage"] == 50
    assert "plan_shrinkage" not in pointed.weights.fit


def test_plans_and_points_from_the_fit_to_play(tmp_path, samples, planned):
    planned.weights.save(tmp_path / "planned.yaml")
    loaded = read_weight_file(tmp_path / "planned.yaml")
    chosen = parameter_set(SETTINGS.parameters)
    plans = plans_many(pack_many(samples.boards))
    for class_name in ("contact", "crashed"):
        rows = samples.position_class == CLASS_NAMES.index(class_name)
        boards, own = samples.boards[rows], {name: of for (_, name), of in planned.plans.items()}
        by_head = np.array([PLANS[plan] if PLANS[plan] in own else "" for plan in plans[rows]])
        expected = np.empty(len(boards))
        for name in np.unique(by_head):
            result = own[name] if name else planned.results[class_name, "equity"]
            here, terms = by_head == name, Terms.linear(len(chosen), True)
            measured = features(chosen, boards[here])
            expected[here] = raw_predictions(terms, measured, result.weights, boards=boards[here])
        played = StaticEvaluator("planned", weights_model(loaded)).equity_many(boards)
        np.testing.assert_allclose(played, EQUITY.predict(expected), atol=1e-4)


PATTERNED = replace(PLANNED, patterns=5, pattern_plans=True, pattern_passes=2)


@pytest.fixture(scope="module")
def patterned(folder):
    return fitted([folder], PATTERNED)


def test_plans_weigh_the_patterns_of_their_class(folder, planned, patterned, tmp_path):
    weights = patterned.weights
    assert weights.patterns.keys() == {"contact", "crashed"}
    assert weights.plan_amounts.keys() == planned.weights.plans.keys()
    amounts = [*weights.plan_amounts.values(), *(of.amounts for of in weights.patterns.values())]
    assert len({each.tobytes() for each in amounts}) == len(amounts)
    assert (weights.fit["pattern_plans"], "pattern_start" in weights.fit) == (True, False)
    weights.save(tmp_path / "one.yaml")
    fitted([folder], PATTERNED, jobs=2).weights.save(tmp_path / "two.yaml")
    assert (tmp_path / "one.yaml").read_bytes() == (tmp_path / "two.yaml").read_bytes()


def test_a_fit_goes_on_from_the_patterns_of_a_file(folder, patterned, tmp_path):
    path = tmp_path / "before.yaml"
    patterned.weights.save(path)
    still = replace(PATTERNED, pattern_start=str(path), pattern_rate=0.0, pattern_passes=1)
    again = fitted([folder], still).weights
    assert again.fit["pattern_start"] == "made"
    for class_name, of in patterned.weights.patterns.items():
        order = np.argsort(-np.abs(of.amounts), kind="stable")
        np.testing.assert_allclose(again.patterns[class_name].inputs, of.inputs[order], atol=2e-4)
    for plan, amounts in patterned.weights.plan_amounts.items():
        assert sorted(again.plan_amounts[plan]) == pytest.approx(sorted(amounts), abs=1e-5)


def test_patterns_of_other_parameters_are_no_start(folder):
    with pytest.raises(FitError, match="pattern_start: motif-v7 does not have the parameters keith"):
        fitted([folder], replace(PATTERNED, pattern_start="motif-v7"))


@pytest.mark.parametrize("change", [{"plans": False}, {"patterns": 0, "pattern_plans": False}])
def test_patterns_of_plans_need_both(change):
    settings = replace(PATTERNED, pattern_start="motif-v7", **change)
    with pytest.raises(FitError, match="there must be p"):
        settings.check()


@pytest.fixture(scope="module")
def shifted(patterned, folder, samples, tmp_path_factory):
    """A file with patterns, and the dataset labelled by one whose equity heads differ from its by little."""
    home = tmp_path_factory.mktemp("shifted")
    known = patterned.weights
    known.save(home / "known.yaml")
    known = read_weight_file(home / "known.yaml")

    def moved(head: HeadWeights, bias: float) -> HeadWeights:
        return replace(head, bias=head.bias + bias, linear=head.linear + np.float32(0.03))

    classes = {
        of: {**heads, **({"equity": moved(heads["equity"], 0.05)} if "equity" in heads else {})}
        for of, heads in known.classes.items()
    }
    plans = {
        plan: {"equity": moved(heads["equity"], 0.05 + 0.01 * (k % 3))}
        for k, (plan, heads) in enumerate(known.plans.items())
    }
    truth = replace(known, classes=classes, plans=plans)
    labels = StaticEvaluator("truth", weights_model(truth)).equity_many(samples.boards)
    stored(home / "labelled", replace(samples, equity=labels.astype(np.float32)), 4000)
    return home, known, truth


CORRECTING = replace(
    PLANNED, ranking=0.0, equity_ridge=1e-6, plan_shrinkage=0.0, points=False, validation=0.0
)


def test_a_correction_finds_what_equity_heads_lack(shifted, samples, tmp_path):
    home, known, truth = shifted
    settings = replace(CORRECTING, correct=str(home / "known.yaml"))
    fit = fitted([home / "labelled"], settings)
    assert fit.results.keys() == {(of, head) for of in ("contact", "crashed") for head in known.classes[of]}
    weights = fit.weights
    corrected_alone = [PLANS.index(plan) for _, plan in fit.plans]
    rows = np.isin(plans_many(pack_many(samples.boards)), corrected_alone)
    rows |= samples.position_class == CLASS_NAMES.index("crashed")
    shown, wanted, before = (
        StaticEvaluator("", weights_model(of)).equity_many(samples.boards[rows])
        for of in (weights, truth, known)
    )
    assert np.abs(wanted - before).max() > 0.1
    np.testing.assert_allclose(shown, wanted, atol=1e-4)
    for part in ("pre_filter", "patterns", "plan_amounts"):
        assert repr(getattr(weights, part)) == repr(getattr(known, part))
    assert repr(weights.classes["race"]) == repr(known.classes["race"])
    facts = weights.fit
    assert (facts["corrected"], facts["samples"]) == ("made", len(samples))
    assert facts["ranking"] == known.fit["ranking"] != facts["correction"]["ranking"] == 0.0
    weights.save(tmp_path / "one.yaml")
    fitted([home / "labelled"], settings, jobs=2).weights.save(tmp_path / "two.yaml")
    assert (tmp_path / "one.yaml").read_bytes() == (tmp_path / "two.yaml").read_bytes()
    assert read_weight_file(tmp_path / "one.yaml").fit == facts


def test_a_correction_leaves_patterns_alone(folder):
    with pytest.raises(FitError, match="patterns: a fit that corrects weights leaves theirs as they are"):
        replace(PATTERNED, correct="motif-v9").check()
    with pytest.raises(FitError, match="correct: motif-v9 does not have the parameters keith"):
        fitted([folder], replace(CORRECTING, correct="motif-v9"))
    with pytest.raises(
        FitError, match="correct: the dataset holds no positions that keith-v1 ranks by equity"
    ):
        fitted([folder], replace(CORRECTING, correct="keith-v1"))


def test_two_processes_fit_the_same_plans(folder, planned):
    assert same(fitted([folder], PLANNED, jobs=2), planned)


def test_choice_errors_are_those_of_the_plays_it_would_choose(folder, samples, planned):
    games = samples.rows(np.isin(samples.game, held_out([folder], 0.25, 3).game))
    values = StaticEvaluator("made", weights_model(planned.weights)).equity_many(games.boards)
    losses, played = defaultdict(list), defaultdict(list)
    for decision in np.unique(games.decision):
        rows = np.flatnonzero(games.decision == decision)
        if len(rows) > 1:
            # Both are seen by the player who is next on roll.
            best, chosen = rows[games.equity[rows].argmin()], rows[values[rows].argmin()]
            loss = float(games.equity[chosen]) - float(games.equity[best])
            for name in ("all", CLASS_NAMES[games.position_class[best]]):
                losses[name].append(loss)
                played[name].append(games.game[best])
    assert set(planned.choice_error) == set(losses)
    for name, errors in losses.items():
        assert planned.choice_error[name] == pytest.approx(np.mean(errors), abs=1e-6), name
        deviations = defaultdict(float)
        for loss, game in zip(errors, played[name], strict=True):
            deviations[game] += loss - np.mean(errors)
        squares = sum(deviation**2 for deviation in deviations.values())
        se = math.sqrt(squares * len(deviations) / (len(deviations) - 1)) / len(errors)
        assert planned.choices[name].se == pytest.approx(se, abs=1e-6), name
    assert planned.as_dict()["choice_error"] == planned.choice_error
    assert planned.as_dict()["choice_error_se"] == {name: it.se for name, it in planned.choices.items()}
    told = planned.weights.fit["choice_error"]
    assert told == pytest.approx(planned.choice_error, abs=1e-6)


def test_without_validation_there_is_no_choice_error(folder):
    assert fitted([folder], replace(SETTINGS, validation=0.0)).choice_error == {}


@pytest.mark.parametrize("rows", [117, 10**6])
def test_parts_do_not_matter(tmp_path, samples, plain, rows):
    other = stored(tmp_path / "other", samples, rows)
    assert same(fitted([other]), plain)


def test_large_parts_are_read_in_pieces(tmp_path, monkeypatch, samples, plain):
    other = stored(tmp_path / "one", samples, 10**6)
    monkeypatch.setattr(dataset, "ROWS_AT_ONCE", 100)
    assert max(map(len, read_parts(other))) == 100
    assert same(fitted([other]), plain)


def test_a_pool_is_its_datasets_one_after_the_other(tmp_path, folder, samples):
    together = put_behind(samples, samples)
    assert same(fitted([folder, folder]), fitted([stored(tmp_path / "both", together, 500)]))
    parts = list(pooled_parts([folder, folder]))
    assert (np.concatenate([part.game for part in parts]) == together.game).all()
    assert (np.concatenate([part.decision for part in parts]) == together.decision).all()


def test_validation_games(folder, samples):
    games = np.unique(samples.game)
    assert len(validation_games([folder], 0, 1)) == 0
    one, other = (validation_games([folder], 0.25, seed) for seed in (1, 2))
    assert len(one) == len(set(one)) == round(len(games) / 4)
    assert set(one) < set(games)
    assert set(one) != set(other)
    assert set(held_out([folder], 0.25, 1).game) == set(one)
    assert validation_games([folder, folder], 0.5, 1).max() > games.max()


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
    with pytest.raises(FitError, match="the dataset holds no race positions to train on"):
        fitted([other])
    assert [path.name for path in tmp_path.iterdir()] == ["contact"]
    with pytest.raises(FitError, match="no dataset is given"):
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
    monkeypatch.setattr(row_files, "_LEAST_MAPPED", least)
    monkeypatch.setattr(row_files, "_ROWS_AT_ONCE", 7)
    values, mask = np.arange(120, dtype=np.float32).reshape(40, 3), np.arange(40) % 3 != 1
    some = row_files.rows_where(values, mask)
    assert some.dtype == np.float32
    assert some.flags.writeable
    np.testing.assert_array_equal(some, values[mask])
    assert row_files.rows_where(values, np.ones(40, bool)) is values
    assert len(row_files.rows_where(values, np.zeros(40, bool))) == 0


HIDDEN = FitSettings(parameters="keith", validation=0.25, seed=3, hidden=5, hidden_passes=2)


def test_a_fit_with_hidden_units(folder, samples, tmp_path):
    result = fitted([folder], HIDDEN)
    weights = result.weights
    assert set(weights.patterns) == {CLASS_NAMES[code] for code in np.unique(samples.position_class)}
    assert all(set(heads) == set(OUTPUTS) for heads in weights.classes.values())
    assert (weights.fit["method"], weights.fit["hidden"], weights.fit["samples"]) == ("adam", 5, len(samples))
    assert {row["head"] for row in result.history_rows()} == {"equity"}
    assert {row["pass"] for row in result.history_rows()} == {1, 2}
    weights.save(tmp_path / "one.yaml")
    fitted([folder], HIDDEN, jobs=2).weights.save(tmp_path / "two.yaml")
    assert (tmp_path / "one.yaml").read_bytes() == (tmp_path / "two.yaml").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"plans": True}, "plans: hidden units are fitted without"),
        ({"patterns": 3}, "patterns: hidden units are fitted without"),
        ({"terms": "linear"}, "hidden: hidden units go with heads all and terms pairs"),
        ({"hidden": 513}, "hidden must be 0 to 512 units, not 513"),
        ({"hidden_passes": 0}, "hidden_passes must be at least 1, not 0"),
    ],
)
def test_what_does_not_go_with_hidden_units(folder, change, message):
    with pytest.raises(FitError, match=message):
        fitted([folder], replace(HIDDEN, **change))
