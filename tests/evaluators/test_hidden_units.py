"""Hidden units: their contribution to each probability, alone and with others, and their storage in files."""

from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.explain.split import split
from motif.analysis.explain.valued_position import valued_position
from motif.analysis.unit_report import extremes, unit_summaries
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.probabilities import HEADS, equities
from motif.evaluators.static import model_fingerprint, weights_model
from motif.evaluators.weight_cache import keep_weights, kept_weights
from motif.evaluators.weight_file import WeightFile
from motif.evaluators.weight_reader import read_weight_file
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.errors import WeightFileError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.evaluators.written_out import expected
from tests.games import some_boards

MADE = made_weights("motif", pairs=100, hidden={"contact": 130, "crashed": 3, "race": 64}, seed=5)


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.concatenate([some_boards("random", 300, seed=3), some_boards("pubeval", 300, seed=4)])


def test_values_are_as_they_are_written(boards):
    evaluator = evaluator_of(MADE)
    rows = [expected(MADE, Position(board)) for board in boards[::3]]
    np.testing.assert_allclose(evaluator.evaluate_many(boards[::3]), rows, atol=2e-5)


def test_plays_are_ranked_by_the_equity_of_the_probabilities(boards):
    evaluator = evaluator_of(MADE)
    by_rows = equities(evaluator.evaluate_many(boards).astype(np.float64))
    np.testing.assert_allclose(evaluator.equity_many(boards), by_rows, atol=2e-6)


@pytest.mark.parametrize("classes", [("contact", "crashed", "race"), ("contact",), ("contact", "race")])
def test_a_board_has_the_same_value_whatever_is_beside_it(boards, classes):
    evaluator = evaluator_of(replace(MADE, hidden_layers={of: MADE.hidden_layers[of] for of in classes}))
    together = evaluator.equity_many(boards)
    alone = np.concatenate([evaluator.equity_many(board[None]) for board in boards])
    assert (together == alone).all()


def test_a_class_without_units_has_its_heads_alone(boards):
    without = replace(MADE, hidden_layers={"contact": MADE.hidden_layers["contact"]})
    plain, some = (
        evaluator_of(each).equity_many(boards) for each in (replace(MADE, hidden_layers={}), without)
    )
    contact = classify_many(pack_many(boards)) == CLASS_NAMES.index("contact")
    assert (plain[~contact] == some[~contact]).all()
    assert (plain[contact] != some[contact]).any()


def test_differences_are_reported_by_terms_that_add_up(boards):
    evaluator = evaluator_of(MADE)
    for first, second in zip(boards[:120], boards[120:240], strict=True):
        two = [valued_position(evaluator, Position(board)) for board in (first, second)]
        told = split(MADE, *two, of_other_player=False)
        assert told.difference == pytest.approx(two[0].x - two[1].x, abs=1e-9)
        shares = told.by_parameter.sum() + told.places.sum() + told.rest
        assert shares == pytest.approx(told.difference, abs=1e-9)


def test_what_units_do_is_reported_in_points(boards):
    told = unit_summaries(MADE, "contact", "win", boards)
    assert len(told) == 130
    assert {of.name for of in told} == set(MADE.hidden_layers["contact"].names)
    name = told[0].name
    best = extremes(MADE, "contact", name, boards, 1).largest[0]
    equity = equities(evaluator_of(MADE).evaluate_many(best.board[None]).astype(np.float64))[0]
    assert best.equity == pytest.approx(equity, abs=1e-4)
    assert unit_summaries(MADE, "contact", "equity", boards) == ()


def test_a_file_keeps_them(tmp_path):
    path, again = tmp_path / "made.yaml", tmp_path / "again.yaml"
    MADE.save(path)
    back = read_weight_file(path)
    back.save(again)
    assert path.read_bytes() == again.read_bytes()
    keep_weights("1" * 64, MADE)
    kept = kept_weights("1" * 64, tmp_path)
    assert kept is not None
    for one in (back, kept):
        assert model_fingerprint(weights_model(one)) == model_fingerprint(weights_model(MADE))
        assert one.hidden_layers["crashed"].names == MADE.hidden_layers["crashed"].names


@pytest.mark.parametrize(
    "name", ["@x", "*x", "[x", "{x", "%x", "!x", "`x", '"x"', "a\\b: c", "1e3", "off", "über"]
)
def test_units_of_any_name_are_saved(tmp_path, name):
    layer = MADE.hidden_layers["crashed"]
    named = replace(layer, names=(name, *layer.names[1:]))
    path = tmp_path / "made.yaml"
    replace(MADE, hidden_layers=MADE.hidden_layers | {"crashed": named}).save(path)
    assert read_weight_file(path).hidden_layers["crashed"].names == named.names


@pytest.mark.parametrize(
    ("line", "other", "message"),
    [
        ("outputs: [", "outputs: [1.0, ", r"outputs: must be 5 numbers"),
        ("inputs: [", "inputs: [1.0, ", r"inputs: must be 70 numbers"),
        ("own: [", "mine: [", r"mine"),
        ("bias: ", "bias: x", r"bias"),
    ],
)
def test_a_damaged_unit_is_named(tmp_path, line, other, message):
    path = tmp_path / "made.yaml"
    MADE.save(path)
    head, mark, units = path.read_text().partition("    hidden:\n")
    path.write_text(head + mark + units.replace(line, other, 1))
    with pytest.raises(WeightFileError, match=message):
        read_weight_file(path)


def test_an_equity_head_has_no_units_beside_it():
    heads = dict.fromkeys(CLASS_NAMES, HEADS)
    with pytest.raises(WeightFileError, match="it adds to probabilities"):
        made_weights("motif", classes=heads, hidden={"contact": 3})


def test_the_first_screen_of_a_file_is_for_people(tmp_path):
    weights: WeightFile = replace(MADE, words={"contact": ("Blots cost.",)})
    weights.save(tmp_path / "made.yaml")
    top = (tmp_path / "made.yaml").read_text().splitlines()[:10]
    assert any("Blots cost." in line for line in top)
