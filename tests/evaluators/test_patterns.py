"""Patterns: what they add, to which heads, and that files and models keep them."""

from dataclasses import replace

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import WeightFile
from motif.evaluators.patterns import slopes_of_patterns, squash_patterns
from motif.evaluators.probabilities import HEADS
from motif.evaluators.static import model_fingerprint, weights_model
from motif.evaluators.weight_reader import keep_weights, kept_weights, read_weight_file
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, PLANS, classify_many
from motif.runtime.errors import WeightFileError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.evaluators.written_out import expected, head_equity, pattern_sum
from tests.games import some_boards

MADE = made_weights(
    "motif",
    classes=dict.fromkeys(CLASS_NAMES, HEADS),
    pairs=100,
    points=["equity"],
    plans={plan: ["equity"] for plan in PLANS[::2]},
    patterns={"contact": 45, "crashed": 3},
    amounts=PLANS[::4],
    seed=2,
)


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.concatenate([some_boards("random", 400, seed=3), some_boards("pubeval", 400, seed=4)])


def test_values_are_as_they_are_written(boards):
    positions = [Position(board) for board in boards]
    evaluator = evaluator_of(MADE)
    ranked = evaluator.equity_many(boards)
    np.testing.assert_allclose(ranked, [head_equity(MADE, position) for position in positions], atol=3e-5)
    rows = [expected(MADE, position) for position in positions]
    np.testing.assert_allclose(evaluator.evaluate_many(boards), rows, atol=2e-5)


def test_a_class_without_weights_of_its_own_has_contacts_heads_and_patterns(boards):
    weights = made_weights(
        "motif", classes=dict.fromkeys(("contact", "race"), HEADS), pairs=20, patterns={"contact": 9}, seed=3
    )
    assert set(weights.patterns_by_class) == {"contact", "crashed"}
    crashed = boards[classify_many(pack_many(boards)) == CLASS_NAMES.index("crashed")]
    expected_equities = [head_equity(weights, Position(board)) for board in crashed]
    np.testing.assert_allclose(evaluator_of(weights).equity_many(crashed), expected_equities, atol=3e-5)
    plain = evaluator_of(replace(weights, patterns={})).equity_many(crashed)
    assert (plain != evaluator_of(weights).equity_many(crashed)).any()


def test_only_the_equity_of_its_class_has_a_pattern(boards):
    without = replace(MADE, plan_amounts={})
    plain = evaluator_of(replace(without, patterns={})).equity_many(boards)
    other = evaluator_of(replace(without, patterns={"crashed": MADE.patterns["crashed"]})).equity_many(boards)
    crashed = classify_many(pack_many(boards)) == CLASS_NAMES.index("crashed")
    assert (plain[~crashed] == other[~crashed]).all()
    assert (plain[crashed] != other[crashed]).any()


def test_sums_are_those_of_every_pattern(boards):
    contact = boards[classify_many(pack_many(boards)) == 0]
    patterns = MADE.patterns["contact"]
    sums = patterns.sums(features(MADE.parameters, contact), pack_many(contact))
    added = squash_patterns(sums) @ patterns.amounts
    without = replace(MADE, plan_amounts={})
    written = [pattern_sum(without, Position(board)) for board in contact]
    np.testing.assert_allclose(added, written, atol=1e-5)


def test_the_squash_and_its_slope():
    x = np.linspace(-4, 4, 4001)
    y = squash_patterns(x)
    assert np.abs(y - np.tanh(x)).max() < 0.024
    assert (y[x >= 3] == 1).all()
    assert (y[x <= -3] == -1).all()
    np.testing.assert_allclose(np.gradient(y, x), slopes_of_patterns(x), atol=1e-5)


def test_a_file_keeps_them(tmp_path):
    path, again = tmp_path / "made.yaml", tmp_path / "again.yaml"
    MADE.save(path)
    back = read_weight_file(path)
    back.save(again)
    assert path.read_bytes() == again.read_bytes()
    assert same_patterns(back, MADE)
    keep_weights("0" * 64, MADE)
    kept = kept_weights("0" * 64, tmp_path)
    assert kept is not None
    assert same_patterns(kept, MADE)


def same_patterns(first: WeightFile, second: WeightFile) -> bool:
    amounts = [{plan: of.tobytes() for plan, of in one.plan_amounts.items()} for one in (first, second)]
    return (
        amounts[0] == amounts[1]
        and first.patterns.keys() == second.patterns.keys()
        and all(
            of.names == second.patterns[name].names
            and all(
                getattr(of, part).tobytes() == getattr(second.patterns[name], part).tobytes()
                for part in ("amounts", "bias", "inputs", "points")
            )
            for name, of in first.patterns.items()
        )
    )


def test_what_a_model_is_called_depends_on_them():
    without = replace(MADE, plan_amounts={})
    some, of_class = model_fingerprint(weights_model(MADE)), model_fingerprint(weights_model(without))
    assert len({some, of_class, model_fingerprint(weights_model(replace(without, patterns={})))}) == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("        amount: ", "        amuont: ", "classes.contact.patterns.p1.amuont: unknown key"),
        ("          pip_count: ", "          pip_cuont: ", "no such parameter in the set motif"),
        ("        inputs:\n", "        inputs: 3\n", "not YAML"),
    ],
)
def test_faults_are_named(tmp_path, old, new, message):
    path = tmp_path / "made.yaml"
    one = made_weights("motif", classes=dict.fromkeys(CLASS_NAMES, HEADS), patterns={"contact": 1}, seed=3)
    inputs = one.patterns["contact"].inputs.copy()
    inputs[0, 0] = 1
    one = replace(one, patterns={"contact": replace(one.patterns["contact"], inputs=inputs)})
    one.save(path)
    text = path.read_text()
    begin = text.index("    patterns:\n")
    assert old in text[begin:]
    path.write_text(text[:begin] + text[begin:].replace(old, new, 1))
    with pytest.raises(WeightFileError, match=message):
        read_weight_file(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("          p2: ", "          p3: ", "amounts.p3: unknown key"),
        ("        amounts:\n", "        amounts: 3\n", "not YAML"),
        ("    patterns:\n", "    pattern:\n", "contact.pattern: unknown key"),
    ],
)
def test_faults_of_amounts_are_named(tmp_path, old, new, message):
    path, plan = tmp_path / "made.yaml", PLANS[0]
    made_weights(
        "keith",
        classes=dict.fromkeys(CLASS_NAMES, HEADS),
        plans={plan: []},
        patterns={"contact": 2},
        amounts=[plan],
    ).save(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(WeightFileError, match=message):
        read_weight_file(path)


def test_a_plans_amounts_are_as_many_as_its_class_has_patterns():
    short = {PLANS[0]: MADE.plan_amounts[PLANS[0]][:-1]}
    with pytest.raises(WeightFileError, match="its class must have as many patterns"):
        replace(MADE, plan_amounts=short)
    with pytest.raises(WeightFileError, match="its class must have as many patterns"):
        replace(MADE, plans={}, plan_amounts=dict(MADE.plan_amounts))


def test_patterns_need_an_equity_head():
    with pytest.raises(WeightFileError, match="patterns of race: it has no equity head"):
        made_weights("keith", patterns={"race": 2})
