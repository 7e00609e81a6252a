"""Weights by game plan, raw point terms and the bearoff tables: what they change, and what they do not."""

from dataclasses import replace

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.bearoff import bearoff_chances
from motif.evaluators.probabilities import HEADS, equities
from motif.evaluators.static import forms_of, model_fingerprint, weights_model, with_bearoff
from motif.evaluators.weight_file import class_of_plan
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, PLANS, classify_many, plans_many
from motif.runtime.errors import WeightFileError
from tests.evaluators.made_weights import evaluator_of, made_weights, random_steps
from tests.evaluators.written_out import expected, head_equity, raw_sum, row_sum
from tests.games import some_boards

WITH_EQUITY = dict.fromkeys(CLASS_NAMES, HEADS)
PLAN_HEADS = {plan: ["win", "win_gammon", "equity"][: 1 + k % 3] for k, plan in enumerate(PLANS)}
MADE = made_weights(
    "motif", classes=WITH_EQUITY, pairs=300, plans=PLAN_HEADS, points=["win", "equity"], seed=1
)
COVERED = Position.from_points({6: 3, 5: 2, 1: 3}, {4: 4, 2: 3})


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """2,000 positions of all classes and of most plans."""
    boards = np.concatenate([some_boards("random", 1_000, seed=3), some_boards("pubeval", 1_000, seed=4)])
    packed = pack_many(boards)
    assert np.bincount(classify_many(packed)).min() > 100
    assert len(np.unique(plans_many(packed))) > len(PLANS) / 2
    return boards


def plans_of(boards: np.ndarray) -> list[str | None]:
    return [PLANS[code] if code >= 0 else None for code in plans_many(pack_many(boards))]


def test_a_file_with_everything_is_evaluated_as_it_is_written(boards):
    evaluator = evaluator_of(MADE)
    found, ranked = evaluator.evaluate_many(boards), evaluator.equity_many(boards)
    positions = [Position(board) for board in boards]
    np.testing.assert_allclose(found, [expected(MADE, position) for position in positions], atol=1e-5)
    np.testing.assert_allclose(ranked, [head_equity(MADE, position) for position in positions], atol=3e-5)


def test_a_plan_changes_its_own_positions_alone(boards):
    plain = replace(MADE, plans={})
    for plan in {plan for plan in plans_of(boards) if plan}:
        chosen = evaluator_of(replace(MADE, plans={plan: MADE.plans[plan]})).evaluate_many(boards)
        same = (chosen == evaluator_of(plain).evaluate_many(boards)).all(axis=1)
        assert not same[[k for k, each in enumerate(plans_of(boards)) if each == plan]].all()
        assert same[[k for k, each in enumerate(plans_of(boards)) if each != plan]].all()


def test_weights_that_a_plan_shares_with_its_class_change_nothing(boards):
    plain = replace(MADE, plans={})
    shared = replace(MADE, plans={plan: dict(MADE.classes[class_of_plan(plan)]) for plan in PLANS})
    found, reference = evaluator_of(shared), evaluator_of(plain)
    assert found.evaluate_many(boards).tobytes() == reference.evaluate_many(boards).tobytes()
    assert found.equity_many(boards).tobytes() == reference.equity_many(boards).tobytes()
    assert len(forms_of(shared).weights) == len(forms_of(plain).weights)


def test_points_that_count_nothing_change_nothing(boards):
    none = np.zeros((2, 25, 4), np.float32)
    zero = {
        name: {head: replace(chosen, points=none) for head, chosen in heads.items()}
        for name, heads in MADE.classes.items()
    }
    plain = {
        name: {head: replace(chosen, points=None) for head, chosen in heads.items()}
        for name, heads in MADE.classes.items()
    }
    found = [evaluator_of(replace(MADE, classes=each, plans={})) for each in (zero, plain)]
    np.testing.assert_array_equal(*(each.evaluate_many(boards) for each in found))


def test_checkers_on_a_place_count_as_the_file_says():
    points = np.zeros((2, 25, 4), np.float32)
    points[0, 5], points[1, 24], points[0, 24] = [0.01, 0.02, 0.04, 0.1], [0.5, 0, 0, 0], [0.25, 0, 0, 0]
    weights = made_weights(classes={"contact": ["win"], "race": ["win"]})
    heads = {"win": replace(weights.classes["contact"]["win"], points=points)}
    details = evaluator_of(replace(weights, classes={"contact": heads, "race": heads})).details
    plain = evaluator_of(replace(weights, classes={**weights.classes, "race": weights.classes["contact"]}))
    for own, opponent, added in [
        ({6: 1, 13: 14}, {6: 15}, 0.01),
        ({6: 2, 13: 13}, {6: 15}, 0.02),
        ({6: 3, 13: 12}, {6: 15}, 0.04),
        ({6: 5, 13: 10}, {6: 15}, 0.24),
        ({6: 5, 13: 9, 25: 1}, {6: 15}, 0.49),
        ({6: 5, 13: 10}, {6: 14, 25: 1}, 0.74),
    ]:
        position = Position.from_points(own, opponent)
        gained = details(position)["raw"]["win"] - plain.details(position)["raw"]["win"]
        assert gained == pytest.approx(added, abs=1e-6)


def test_details_are_those_of_the_plan(boards):
    evaluator = evaluator_of(MADE)
    for board, plan in zip(boards[::100], plans_of(boards)[::100], strict=True):
        details = evaluator.details(Position(board))
        assert details.get("plan") == plan
        for head, raw in details["raw"].items():
            assert raw == pytest.approx(raw_sum(MADE, head, Position(board)), abs=1e-5)
    assert "plan" not in evaluator_of(replace(MADE, plans={})).details(Position.start())


def test_the_chances_come_near_the_equity_that_ranks_plays(boards):
    """Their equity is the head's wherever the win chance may move so far, and nowhere farther from it."""
    evaluator, boards = evaluator_of(MADE), boards[::3]
    rows = evaluator.evaluate_many(boards).astype(float)
    five = np.array([equities(np.array(expected_without_equity(Position(board)))) for board in boards])
    ranked = evaluator.equity_many(boards)
    after = np.abs(equities(rows) - ranked)
    at_bound = (rows[:, 0] <= rows[:, 1] + 1e-6) | (rows[:, 0] >= 1 - rows[:, 3] - 1e-6)
    assert (after <= np.abs(five - ranked) + 1e-5).all()
    assert after[~at_bound].max() < 1e-5
    assert 0.1 < at_bound.mean() < 0.9


def expected_without_equity(position: Position) -> tuple[float, ...]:
    def without(heads):
        return {head: chosen for head, chosen in heads.items() if head != "equity"}

    classes = {name: without(heads) for name, heads in MADE.classes.items()}
    plans = {name: without(heads) for name, heads in MADE.plans.items()}
    return expected(replace(MADE, classes=classes, plans=plans), position)


def test_a_file_that_asks_for_the_tables_has_them():
    plain, asked = (evaluator_of(replace(MADE, bearoff=bearoff)) for bearoff in (False, True))
    np.testing.assert_allclose(asked.evaluate(COVERED), bearoff_chances(COVERED).probabilities, atol=1e-6)
    assert asked.evaluate(Position.start()) == plain.evaluate(Position.start())
    again = with_bearoff(asked)
    assert again.name == asked.name + "+bearoff"
    prints = [model_fingerprint(each.model) for each in (asked, with_bearoff(plain), again, plain)]
    assert prints[0] == prints[1] == prints[2] != prints[3]


def test_the_models_fingerprint_sees_plans_and_points():
    other_points = {PLANS[0]: {"win": replace(MADE.plans[PLANS[0]]["win"], points=more_points())}}
    files = [
        MADE,
        replace(MADE, plans={}),
        replace(MADE, plans=dict(list(MADE.plans.items())[:1])),
        replace(MADE, plans={**MADE.plans, **other_points}),
        replace(MADE, plans={**MADE.plans, PLANS[1]: MADE.plans[PLANS[2]], PLANS[2]: MADE.plans[PLANS[1]]}),
    ]
    assert len({model_fingerprint(weights_model(each)) for each in files}) == len(files)


def more_points() -> np.ndarray:
    return random_steps(np.random.default_rng(99))


def test_heads_in_force():
    plan = PLANS[0]
    assert MADE.heads_at("contact", None) == MADE.classes["contact"]
    chosen = MADE.heads_at("contact", plan)
    assert chosen["win"] is MADE.plans[plan]["win"] is not MADE.classes["contact"]["win"]
    assert chosen["equity"] is MADE.classes["contact"]["equity"]
    assert MADE.head_names() == HEADS
    assert made_weights(classes={"contact": ["win"], "race": ["win"]}).head_names() == ("win",)


@pytest.mark.parametrize(
    ("plans", "message"),
    [
        ({"hope": {}}, "no game plan is called 'hope'"),
        ({PLANS[-1]: {}}, "the plan '.*' has weights, but its class has none"),
    ],
)
def test_plans_that_cannot_be(plans, message):
    weights = made_weights(classes={"contact": ["win"], "race": ["win"]})
    with pytest.raises(WeightFileError, match=message):
        replace(weights, plans=plans)


def test_a_raw_sum_without_points_is_that_of_the_features(boards):
    row = features(MADE.parameters, boards[:1])[0]
    head = replace(MADE.classes["contact"]["win"], points=None)
    low, high = head.pairs.T
    total = head.bias + (head.linear * row).sum() + (head.quadratic * row[low] * row[high]).sum()
    assert row_sum(head, row, boards[0]) == pytest.approx(total, abs=1e-5)
