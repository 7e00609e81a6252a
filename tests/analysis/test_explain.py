"""Explanations of plays: their parts add up, and agree with the boards."""

import math
from dataclasses import replace
from html import escape

import numpy as np
import pytest

from motif.analysis.explain.explanation import explain_play
from motif.analysis.explain.split import split
from motif.analysis.explain.valued_position import SOURCE_WEIGHTS, valued_position, values_of
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, StaticEvaluator, load_evaluator, load_static
from motif.evaluators.hidden_layer import squash_units
from motif.evaluators.static import weights_model, with_bearoff
from motif.evaluators.weight_file import HiddenLayer
from motif.parameters.named_sets import features
from motif.reports.term_pages import explanation_page
from motif.runtime.errors import PlayerError, PlayError
from tests.evaluators.made_weights import made_weights
from tests.evaluators.written_out import head_equity, heads_used
from tests.evaluators.written_out import raw_sum as written_sum
from tests.games import some_boards, some_decisions

START = Position.start()
EQUITY_TOO = dict.fromkeys(("contact", "crashed", "race"), ("equity", *OUTPUTS))
CHANCES = dict.fromkeys(("contact", "crashed", "race"), OUTPUTS)
WIN_ALONE = dict.fromkeys(("contact", "race"), ("win",))


def made(**settings) -> StaticEvaluator:
    weights = made_weights(pairs=40, **settings)
    return StaticEvaluator("made", weights_model(weights), weights)


def calibrated() -> StaticEvaluator:
    knots = {"contact": np.array([[-1.0, 0.2], [0.0, 0.45], [1.0, 0.9]], np.float32)}
    weights = replace(made_weights(classes=WIN_ALONE, pairs=40), calibration=knots)
    return StaticEvaluator("made", weights_model(weights), weights)


def layered() -> StaticEvaluator:
    """Hidden units of two classes, with the same names, beside pairs; some weights are 0."""
    return made(set_name="motif", classes=CHANCES, hidden={"contact": 40, "crashed": 12})


EVALUATORS = {
    "one equity head": lambda: made(classes=EQUITY_TOO),
    "chances": lambda: made(classes=CHANCES),
    "win alone": lambda: made(classes=WIN_ALONE),
    "calibrated": calibrated,
    "tables": lambda: with_bearoff(made(classes=EQUITY_TOO)),
    "motif set": lambda: made(set_name="motif", classes=EQUITY_TOO),
    "hidden units": layered,
    "hidden units of win alone": lambda: made(classes=WIN_ALONE, hidden={"contact": 9}),
    "bras": lambda: load_static("bras"),
    "phase": lambda: load_static("phase"),
}


WRITTEN_OUT = "one equity head", "chances", "win alone", "hidden units", "hidden units of win alone"


def decisions(count: int, seed: int):
    """Random decisions from games, each with two different plays."""
    boards, rolls = some_decisions("pubeval", 3 * count, seed)
    random = np.random.default_rng(seed)
    found = 0
    for board, roll in zip(boards, rolls.tolist(), strict=True):
        plays = legal_plays(Position(board), tuple(roll))
        if len(plays) > 1:
            two = random.choice(len(plays), 2, replace=False)
            yield Position(board), tuple(roll), plays[two[0]], plays[two[1]]
            found += 1
            if found == count:
                return
    raise AssertionError("too few decisions")


def score(evaluator: StaticEvaluator, position: Position) -> float:
    """The compiled evaluator's raw sum of a position for the player on roll."""
    bound = 1 if evaluator.model.win_only else 3
    return math.atanh(np.clip(evaluator.equity_many(position.board[None])[0] / bound, -1 + 1e-13, 1 - 1e-13))


def raw_sum(evaluator: StaticEvaluator, position: Position) -> float:
    """The raw sum, computed in Python's floats."""
    weights = evaluator.weights
    if evaluator.model.win_only:
        return written_sum(weights, "win", position)
    if "equity" in heads_used(weights, position):
        return written_sum(weights, "equity", position)
    return math.atanh(head_equity(weights, position) / 3)


def check(evaluator: StaticEvaluator, position: Position, roll, better, worse) -> None:
    found = explain_play(evaluator, position, roll, better, worse)
    assert sum(value for _, value in found.static.parts.terms) == pytest.approx(
        found.static.difference_x, abs=1e-9
    )
    assert sum(value for _, value in found.static.parts.groups) == pytest.approx(
        found.static.difference_x, abs=1e-9
    )
    assert len({name for name, _ in found.static.parts.terms}) == len(found.static.parts.terms)
    for x, equity, play in zip(found.static.x, found.static.equities, (better, worse), strict=True):
        # Kernels compute in float32; near the bounds small errors are large in x.
        near = 2e-4 / max(1 - math.tanh(x) ** 2, 1e-9)
        assert x == pytest.approx(-score(evaluator, play.position), abs=min(near, 31))
        assert equity == pytest.approx(-evaluator.equity_many(play.position.board[None])[0], abs=1e-4)
    assert found.static.equity_difference == pytest.approx(
        found.static.equities[0] - found.static.equities[1], abs=1e-12
    )
    told = sum(found.static.parts.scale.amount(value) for _, value in found.static.parts.groups)
    unit = 50 if found.static.parts.scale.win_only else 1
    assert told == pytest.approx(unit * found.static.equity_difference, abs=1e-9)


def check_written_out(evaluator: StaticEvaluator, position: Position, roll, better, worse) -> bool:
    """Whether both values come from weights; if so, the parts must add up to their difference."""
    if any(valued_position(evaluator, play.position).source != SOURCE_WEIGHTS for play in (better, worse)):
        return False
    if any(valued_position(evaluator, play.position).source != SOURCE_WEIGHTS for play in (better, worse)):
        return False
    sums = [raw_sum(evaluator, play.position) for play in (better, worse)]
    found = explain_play(evaluator, position, roll, better, worse)
    assert sum(value for _, value in found.static.parts.terms) == pytest.approx(sums[1] - sums[0], abs=1e-6)
    return True


@pytest.mark.parametrize("name", EVALUATORS)
def test_the_parts_add_up(name):
    evaluator = EVALUATORS[name]()
    for decision in decisions(40, seed=3):
        check(evaluator, *decision)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motif-v1", "keith-v1"])
def test_the_parts_of_1000_random_decisions_add_up(name):
    evaluator = load_static(name)
    for decision in decisions(1000, seed=11):
        check(evaluator, *decision)
        check_written_out(evaluator, *decision)


@pytest.mark.slow
def test_the_parts_of_1000_decisions_with_hidden_units_add_up():
    """Terms, groups, and reasons, to a millionth of a point."""
    evaluator, written = layered(), 0
    for number, decision in enumerate(decisions(1000, seed=13)):
        check(evaluator, *decision)
        if number % 4 == 0:
            written += check_written_out(evaluator, *decision)
        found = explain_play(evaluator, *decision)
        assert sum(part.amount for part in found.parts) == pytest.approx(
            found.static.equity_difference, abs=1e-6
        )
    assert written > 200


def test_reasons_add_up_with_hidden_units():
    evaluator = layered()
    for decision in decisions(25, seed=17):
        found = explain_play(evaluator, *decision)
        assert sum(part.amount for part in found.parts) == pytest.approx(
            found.static.equity_difference, abs=1e-9
        )


def test_values_of_many_boards_are_those_of_each_with_hidden_units():
    evaluator = layered()
    boards = some_boards("pubeval", 300, seed=19)
    values = values_of(evaluator, boards)
    np.testing.assert_allclose(values, evaluator.equity_many(boards), atol=1e-5)
    np.testing.assert_allclose(
        values[:40], [valued_position(evaluator, Position(board)).value for board in boards[:40]], atol=1e-12
    )


def test_a_unit_is_one_term_and_shared_among_its_inputs():
    """Output weight times the difference of the activations; per input also times secant, weight and step."""
    plain = made_weights("motif", classes=WIN_ALONE, pairs=5)
    inputs, points = np.zeros((1, 70), np.float32), np.zeros((1, 2, 25, 4), np.float32)
    names = plain.parameters.names
    inputs[0, [names.index("home_points_opponent"), names.index("hitting_rolls")]] = 3, -2
    points[0, 1, 4] = 0.5, 1, 1, 0
    outputs, bias = np.array([[0.4], [9], [9], [9], [9]], np.float32), np.array([-0.3], np.float32)
    layer = HiddenLayer(("made",), bias, inputs, points, outputs)
    weights = replace(plain, hidden_layers={"contact": layer})
    plays = legal_plays(START, (3, 1))
    boards = np.array([find_play(text, plays).position.board for text in ("8/5 6/5", "13/10 6/5")])
    rows = features(plain.parameters, boards)
    sums = layer.sums(rows, pack_many(boards))[:, 0]
    squashed = squash_units(sums)
    amount = float(outputs[0, 0])
    whole = amount * (squashed[0] - squashed[1])

    evaluators = [StaticEvaluator("made", weights_model(each), each) for each in (weights, plain)]
    two, others = ([valued_position(each, Position(board)) for board in boards] for each in evaluators)
    change, before = (one.forms["win"].change(one.inputs, other.inputs) for one, other in (two, others))
    assert change.units[0] == pytest.approx([whole], rel=1e-6)
    assert change.total - before.total == pytest.approx(whole, abs=1e-9)
    by_input = change.by_feature - before.by_feature, change.by_place - before.by_place
    assert by_input[0].sum() + by_input[1].sum() == pytest.approx(whole, abs=1e-9)
    # A parameter that is not a sum over places has only its own share.
    shots, secant = names.index("hitting_rolls"), (squashed[0] - squashed[1]) / (sums[0] - sums[1])
    share = amount * secant * -2 * float(rows[0, shots] - rows[1, shots])
    assert abs(share) > 0.01
    assert by_input[0][shots] == pytest.approx(share, rel=1e-5)

    # The equity is a function of the raw sum, so every term has the same factor.
    pieces = split(weights, *two, of_other_player=False)
    terms, linear = dict(pieces.terms), weights.classes["contact"]["win"].linear
    factor = terms["hitting_rolls"] / (linear[shots] * (rows[0, shots] - rows[1, shots]))
    assert terms["contact unit made"] == pytest.approx(factor * whole, rel=1e-5)
    assert pieces.by_parameter.sum() + pieces.places.sum() + pieces.rest == pytest.approx(pieces.difference)


def test_hidden_units_are_reported_in_words():
    evaluator = layered()
    plays = legal_plays(START, (3, 1))
    found = explain_play(evaluator, START, (3, 1), find_play("8/5 6/5", plays), find_play("24/20", plays))
    names = [name for name, _ in found.static.parts.terms if " unit " in name]
    assert len(names) > 15
    assert set(found.static.parts.term_words) == set(names)
    assert all("own" in words or "opponent's" in words for words in found.static.parts.term_words.values())
    told = {term["name"]: term.get("words") for term in found.to_dict()["terms"]}
    assert {name for name, words in told.items() if words} == set(names)
    page = explanation_page(found)
    assert escape(found.static.parts.term_words[names[0]]).replace("&#x27;", "&#39;") in page


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_the_parts_make_the_difference_of_written_out_sums(name):
    evaluator = EVALUATORS[name]()
    checked = [check_written_out(evaluator, *decision) for decision in decisions(60, seed=5)]
    assert sum(checked) > 30


@pytest.mark.parametrize("name", ["one equity head", "hidden units"])
def test_exchanging_the_plays_changes_the_signs(name):
    evaluator = EVALUATORS[name]()
    for position, roll, better, worse in decisions(15, seed=7):
        one = explain_play(evaluator, position, roll, better, worse)
        other = explain_play(evaluator, position, roll, worse, better)
        assert {name: -value for name, value in other.static.parts.terms} == pytest.approx(
            dict(one.static.parts.terms), abs=1e-12
        )
        assert {name: -value for name, value in other.static.parts.groups} == pytest.approx(
            dict(one.static.parts.groups), abs=1e-9
        )


def test_a_term_is_weight_times_change():
    """If the weights do not change, a linear term is the difference of the features times the weight."""
    evaluator = EVALUATORS["one equity head"]()
    plays = legal_plays(START, (3, 1))
    two = find_play("8/5 6/5", plays), find_play("13/10 6/5", plays)
    found = dict(explain_play(evaluator, START, (3, 1), *two).static.parts.terms)
    chosen = evaluator.weights.parameters
    weights = evaluator.weights.classes["contact"]["equity"]
    rows = features(chosen, np.array([play.position.board for play in two])).astype(float)
    for k, name in enumerate(chosen.names):
        # The mover's gain is the next player's loss.
        assert found.get(name, 0.0) == pytest.approx(-weights.linear[k] * (rows[0] - rows[1])[k], abs=1e-9)


def test_the_choice_is_the_players_and_compared_with_the_second_best():
    evaluator = load_static("bras")
    found = explain_play(evaluator, START, (3, 1))
    plays = legal_plays(START, (3, 1))
    values = sorted((-evaluator.equity_many(play.position.board[None])[0] for play in plays), reverse=True)
    assert found.static.equities == pytest.approx(values[:2], abs=1e-6)
    assert found.static.equity_difference >= 0
    best = found.better
    against_best = explain_play(evaluator, START, (3, 1), better=plays[0] if plays[0] != best else plays[1])
    assert against_best.worse.position == best.position
    assert against_best.summary.split(" by ")[0].endswith(f"is worse than {best.notation}")


def test_a_player_without_terms_is_reported():
    for name in ("pubeval", "wildbg"):
        with pytest.raises(PlayerError, match=rf"'{name}' has no named terms to explain; weight files, bras"):
            explain_play(load_evaluator(name), START, (3, 1))


def test_plays_that_cannot_be_compared():
    evaluator = load_static("bras")
    plays = legal_plays(START, (3, 1))
    with pytest.raises(PlayError, match="cannot be compared with itself"):
        explain_play(evaluator, START, (3, 1), plays[0], plays[0])
    with pytest.raises(PlayError, match=r"illegal play '.*' for this roll"):
        explain_play(evaluator, START, (3, 1), legal_plays(START, (6, 4))[0])
    shut_out = Position.from_points({25: 1, 6: 14}, {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 3})
    with pytest.raises(PlayError, match="no play is legal: there is nothing to compare"):
        explain_play(evaluator, shut_out, (3, 1))


def test_a_finished_game_and_tables_are_reported_in_words():
    evaluator = with_bearoff(made(classes=EQUITY_TOO))
    ending = Position.from_points({2: 1, 1: 1}, {6: 2})
    found = explain_play(evaluator, ending, (2, 1))
    assert found.static.parts.terms == (("end of the game", found.static.difference_x),)
    assert "You win: a single game, not nothing yet." in found.static.parts.sentences[0]
    assert found.sentences[0] == "Bears off the last checker and wins."
    race = Position.from_points({6: 2, 5: 2, 4: 2, 3: 1}, {6: 2, 5: 2, 4: 2, 2: 1})
    found = explain_play(evaluator, race, (4, 1))
    assert [name for name, _ in found.static.parts.groups] == ["bearoff tables"]
    assert "Average number of rolls you need to bear off: " in found.static.parts.sentences[0]
