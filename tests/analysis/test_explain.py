"""Explanations of plays: what is split adds up, and says what the boards show."""

import math
from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.explain import explain_choice
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.outcome import outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, StaticEvaluator, load_evaluator, load_static
from motif.evaluators.static import weights_model, with_bearoff
from motif.parameters.game_plan import NO_PLAN, PLANS, plans_many
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.errors import PlayerError, PlayError
from tests.evaluators.made_weights import made_weights
from tests.games import some_decisions

START = Position.start()
EQUITY_TOO = dict.fromkeys(("contact", "crashed", "race"), ("equity", *OUTPUTS))
CHANCES = dict.fromkeys(("contact", "crashed", "race"), OUTPUTS)
WIN_ALONE = dict.fromkeys(("contact", "race"), ("win",))
AIMS = [f"{own} against {other}" for own in ("split", "deep anchor") for other in ("split", "deep anchor")]


def made(**settings) -> StaticEvaluator:
    weights = made_weights(pairs=40, **settings)
    return StaticEvaluator("made", weights_model(weights), weights)


def calibrated() -> StaticEvaluator:
    knots = {"contact": np.array([[-1.0, 0.2], [0.0, 0.45], [1.0, 0.9]], np.float32)}
    weights = replace(made_weights(classes=WIN_ALONE, pairs=40), calibration=knots)
    return StaticEvaluator("made", weights_model(weights), weights)


EVALUATORS = {
    "one equity head": lambda: made(classes=EQUITY_TOO, points=("equity",)),
    "plans": lambda: made(classes=EQUITY_TOO, points=("equity",), plans=dict.fromkeys(AIMS, ("equity",))),
    "chances": lambda: made(classes=CHANCES, points=("win",)),
    "win alone": lambda: made(classes=WIN_ALONE, points=("win",)),
    "calibrated": calibrated,
    "tables": lambda: with_bearoff(made(classes=EQUITY_TOO)),
    "motif set": lambda: made(set_name="motif", classes=EQUITY_TOO, points=("equity",)),
    "bras": lambda: load_static("bras"),
    "phase": lambda: load_static("phase"),
}


def decisions(count: int, seed: int):
    """Random decisions with a choice, from games, and two different plays of each."""
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
    """The compiled evaluator's value of a position for the player on roll, before the squash."""
    bound = 1 if evaluator.model.win_only else 3
    return math.atanh(np.clip(evaluator.equity_many(position.board[None])[0] / bound, -1 + 1e-13, 1 - 1e-13))


def raw_sum(evaluator: StaticEvaluator, position: Position) -> float | None:
    """The equity head's sum, term by term in Python's floats; None where it does not rank."""
    weights = evaluator.weights
    packed = pack_many(position.board[None])
    plan = int(plans_many(packed)[0])
    class_name = CLASS_NAMES[int(classify_many(packed)[0])]
    heads = weights.heads_at(class_name, None if plan == NO_PLAN else PLANS[plan])
    if "equity" not in heads:
        return None
    head = heads["equity"]
    row = [float(value) for value in features(weights.parameters, position.board[None])[0]]
    total = float(head.bias) + sum(float(w) * f for w, f in zip(head.linear, row, strict=True))
    total += sum(float(w) * row[i] * row[j] for (i, j), w in zip(head.pairs, head.quadratic, strict=True))
    if head.points is not None:
        for place, count in enumerate(position.board.tolist()):
            if count:
                side, index = (0, place - 1) if count > 0 else (1, 24 - place)
                steps, checkers = head.points[side, index].astype(float), abs(count)
                total += steps[min(checkers, 3) - 1] + max(checkers - 3, 0) * steps[3]
    return total


def check(evaluator: StaticEvaluator, position: Position, roll, better, worse) -> None:
    found = explain_choice(evaluator, position, roll, better, worse)
    assert sum(value for _, value in found.terms) == pytest.approx(found.difference_x, abs=1e-9)
    assert sum(value for _, value in found.groups) == pytest.approx(found.difference_x, abs=1e-9)
    assert len({name for name, _ in found.terms}) == len(found.terms)
    for x, equity, play in zip(found.x, found.equities, (better, worse), strict=True):
        # Kernels compute in float32; near the bounds that is far in x.
        near = 2e-4 / max(1 - math.tanh(x) ** 2, 1e-9)
        assert x == pytest.approx(-score(evaluator, play.position), abs=min(near, 31))
        assert equity == pytest.approx(-evaluator.equity_many(play.position.board[None])[0], abs=1e-4)
    assert found.equity_difference == pytest.approx(found.equities[0] - found.equities[1], abs=1e-12)
    told = sum(found.scale.amount(value) for _, value in found.groups)
    unit = 50 if found.scale.win_only else 1
    assert told == pytest.approx(unit * found.equity_difference, abs=1e-9)


def check_written_out(evaluator: StaticEvaluator, position: Position, roll, better, worse) -> bool:
    """Whether both values are sums of an equity head; if so the parts must add up to their difference."""
    if any(outcome(play.position) for play in (better, worse)):
        return False
    sums = [raw_sum(evaluator, play.position) for play in (better, worse)]
    if None in sums:
        return False
    found = explain_choice(evaluator, position, roll, better, worse)
    assert sum(value for _, value in found.terms) == pytest.approx(sums[1] - sums[0], abs=1e-6)
    return True


@pytest.mark.parametrize("name", EVALUATORS)
def test_the_parts_add_up(name):
    evaluator = EVALUATORS[name]()
    for decision in decisions(40, seed=3):
        check(evaluator, *decision)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motif-v5", "keith-v1"])
def test_the_parts_of_1000_random_decisions_add_up(name):
    evaluator = load_static(name)
    for decision in decisions(1000, seed=11):
        check(evaluator, *decision)
        check_written_out(evaluator, *decision)


@pytest.mark.parametrize("name", ["one equity head", "plans"])
def test_the_parts_make_the_difference_of_written_out_sums(name):
    evaluator = EVALUATORS[name]()
    checked = [check_written_out(evaluator, *decision) for decision in decisions(60, seed=5)]
    assert sum(checked) > 30


def test_exchanging_the_plays_changes_the_signs():
    evaluator = EVALUATORS["plans"]()
    for position, roll, better, worse in decisions(15, seed=7):
        one = explain_choice(evaluator, position, roll, better, worse)
        other = explain_choice(evaluator, position, roll, worse, better)
        assert {name: -value for name, value in other.terms} == pytest.approx(dict(one.terms), abs=1e-12)
        assert {name: -value for name, value in other.groups} == pytest.approx(dict(one.groups), abs=1e-9)


def test_a_term_is_weight_times_change():
    """Without a change of weights a linear term is the difference of the features times the weight."""
    evaluator = EVALUATORS["one equity head"]()
    plays = legal_plays(START, (3, 1))
    two = find_play("8/5 6/5", plays), find_play("13/10 6/5", plays)
    found = dict(explain_choice(evaluator, START, (3, 1), *two).terms)
    chosen = evaluator.weights.parameters
    weights = evaluator.weights.classes["contact"]["equity"]
    rows = features(chosen, np.array([play.position.board for play in two])).astype(float)
    for k, name in enumerate(chosen.names):
        # The mover's gain is the next player's loss.
        assert found.get(name, 0.0) == pytest.approx(-weights.linear[k] * (rows[0] - rows[1])[k], abs=1e-9)


def test_a_change_of_plan_is_a_part_of_its_own():
    evaluator = EVALUATORS["plans"]()
    plays = legal_plays(START, (4, 3))
    two = find_play("13/10 13/9", plays), find_play("24/21 13/9", plays)
    names = [name for name, _ in explain_choice(evaluator, START, (4, 3), *two).terms]
    assert names[-2:] == ["game plan: bias", "game plan: weights"]
    same = find_play("13/10 13/9", plays), find_play("13/6", plays)
    assert not any("plan" in name for name, _ in explain_choice(evaluator, START, (4, 3), *same).terms)


def test_the_choice_is_the_players_and_compared_with_the_second_best():
    evaluator = load_static("bras")
    found = explain_choice(evaluator, START, (3, 1))
    plays = legal_plays(START, (3, 1))
    values = sorted((-evaluator.equity_many(play.position.board[None])[0] for play in plays), reverse=True)
    assert found.equities == pytest.approx(values[:2], abs=1e-6)
    assert found.equity_difference >= 0
    best = found.better
    against_best = explain_choice(evaluator, START, (3, 1), better=plays[0] if plays[0] != best else plays[1])
    assert against_best.worse.position == best.position
    assert against_best.summary.split(" by ")[0].endswith(f"is worse than {best.notation}")


def test_who_has_no_terms_is_told_so():
    for name in ("pubeval", "wildbg"):
        with pytest.raises(PlayerError, match=rf"'{name}' are no sums of named terms; weight files, bras"):
            explain_choice(load_evaluator(name), START, (3, 1))


def test_plays_that_cannot_be_compared():
    evaluator = load_static("bras")
    plays = legal_plays(START, (3, 1))
    with pytest.raises(PlayError, match="cannot be compared with itself"):
        explain_choice(evaluator, START, (3, 1), plays[0], plays[0])
    with pytest.raises(PlayError, match="is not a legal play of this roll"):
        explain_choice(evaluator, START, (3, 1), legal_plays(START, (6, 4))[0])
    shut_out = Position.from_points({25: 1, 6: 14}, {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 3})
    with pytest.raises(PlayError, match="no move is the only legal play"):
        explain_choice(evaluator, shut_out, (3, 1))


def test_a_finished_game_and_tables_are_told_in_words():
    evaluator = with_bearoff(made(classes=EQUITY_TOO))
    ending = Position.from_points({2: 1, 1: 1}, {6: 2})
    found = explain_choice(evaluator, ending, (2, 1))
    assert found.terms == (("end of the game", found.difference_x),)
    assert "You win: a single game, not nothing yet." in found.group_sentences[0]
    assert found.sentences[0] == "Bears off the last checker, and wins."
    race = Position.from_points({6: 2, 5: 2, 4: 2, 3: 1}, {6: 2, 5: 2, 4: 2, 2: 1})
    found = explain_choice(evaluator, race, (4, 1))
    assert [name for name, _ in found.groups] == ["bearoff tables"]
    assert "Rolls that you need on average to bear off the rest: " in found.group_sentences[0]
