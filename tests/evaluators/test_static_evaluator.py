"""Evaluation by weights, compared with the sum written out from the weight file."""

import pickle
from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given, settings

from motif.board.match_state import MatchState
from motif.board.moves import play_batches
from motif.board.position import Position
from motif.compiler.kernel_digest import type_text
from motif.doubling.cube_states import cube_model_for
from motif.evaluators import OUTPUTS, Probabilities, StaticEvaluator
from motif.evaluators.cube_model import NO_CUBE
from motif.evaluators.known_players import load_evaluator, load_static
from motif.evaluators.probabilities import equities
from motif.evaluators.static import filtered, model_fingerprint, prepared, weights_model
from motif.players import CompiledPlayer
from motif.runtime.errors import PositionError, SettingError
from motif.runtime.parallel import run_ordered
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.evaluators.test_probabilities import is_consistent
from tests.evaluators.written_out import chance, class_used, expected, head_equity
from tests.games import some_boards, some_decisions
from tests.parameters import reference
from tests.strategies import positions

ALL = ("contact", "crashed", "race")
WIN_ONLY = {"contact": ["win"], "crashed": ["win"], "race": ["win"]}
WITH_EQUITY = {"contact": [*OUTPUTS, "equity"], "crashed": [*OUTPUTS, "equity"], "race": OUTPUTS}


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """Positions of all classes, without finished games."""
    return np.concatenate([some_boards("random", 250, seed=5), some_boards("pubeval", 250, seed=6)])


MADE = {
    "motif, 60 pairs": made_weights("motif", pairs=60, seed=1),
    "motif, all pairs": made_weights("motif", pairs=54 * 55 // 2, seed=2),
    "keith, all pairs": made_weights("keith", pairs=19 * 20 // 2, seed=3),
    "keith, linear": made_weights("keith", seed=4),
    "keith, with equity heads": made_weights("keith", classes=WITH_EQUITY, pairs=20, seed=5),
    "no crashed class": made_weights("keith", classes=dict.fromkeys(("contact", "race"), OUTPUTS), pairs=9),
    "win only": made_weights("keith", classes=WIN_ONLY, pairs=30, seed=7),
    "no backgammons": made_weights("keith", classes=dict.fromkeys(ALL, OUTPUTS[:2]), pairs=30, seed=8),
    "hidden units": made_weights("keith", pairs=9, hidden={"contact": 20, "race": 3}, seed=9),
    "hidden units, one class": made_weights(
        "motif", classes={"contact": OUTPUTS, "race": OUTPUTS[:2]}, hidden={"contact": 5}, seed=10
    ),
}
every_made = pytest.mark.parametrize("weights", MADE.values(), ids=MADE)


@every_made
def test_probabilities_are_the_sums_of_the_weight_file(weights, boards):
    found = evaluator_of(weights).evaluate_many(boards)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [expected(weights, Position(board)) for board in boards], atol=1e-5)


def test_those_boards_show_every_class(boards):
    names = [reference.position_class(tuple(board.tolist())) for board in boards]
    assert min(names.count(name) for name in ALL) > 20


def test_a_mix_of_linear_and_quadratic_heads(boards):
    linear, pairs = made_weights(seed=1), made_weights(pairs=50, seed=2)
    mixed = {name: linear.classes[name] | {"win": pairs.classes[name]["win"]} for name in ALL}
    weights = replace(linear, classes=mixed)
    found = evaluator_of(weights).evaluate_many(boards)
    np.testing.assert_allclose(found, [expected(weights, Position(board)) for board in boards], atol=1e-5)


def test_classes_have_weights_of_their_own(boards):
    weights = made_weights(pairs=5)
    for name in ALL:
        others = made_weights(pairs=5, seed=99).classes
        changed = replace(weights, classes={**others, name: weights.classes[name]})
        same = (
            evaluator_of(changed).evaluate_many(boards) == evaluator_of(weights).evaluate_many(boards)
        ).all(axis=1)
        assert same.tolist() == [class_used(weights, Position(board)) == name for board in boards]


@every_made
def test_one_position_is_evaluated_as_many_are(weights, boards):
    evaluator = evaluator_of(weights)
    rows = evaluator.evaluate_many(boards[:20])
    assert [evaluator.evaluate(Position(board)) for board in boards[:20]] == [
        Probabilities(*row) for row in rows.tolist()
    ]


@settings(max_examples=150, deadline=None)
@given(positions())
def test_probabilities_of_any_position_are_consistent(position):
    for name in ("motif, 60 pairs", "keith, with equity heads"):
        row = evaluator_of(MADE[name]).evaluate(position)
        # Probabilities are rounded to float32, so a win and a loss may add up to slightly more than 1.
        assert is_consistent(row, position.own_off, position.opponent_off, tolerance=1e-6)


@every_made
def test_ranking_equities(weights, boards):
    """The equity head's value if there is one; the tanh of ``win`` if it is the only head; otherwise the
    equity of the probabilities.
    """
    found = evaluator_of(weights).equity_many(boards)
    for board, equity in zip(boards, found, strict=True):
        position = Position(board)
        if weights.head_names() == ("win",):
            value = 2 * chance(weights, "win", position) - 1
        else:
            value = head_equity(weights, position)
        assert equity == pytest.approx(value, abs=3e-5)


@every_made
def test_players_choose_the_play_that_ranks_best(weights):
    evaluator = evaluator_of(weights)
    before, rolls = some_decisions("pubeval", 200, seed=9)
    player = CompiledPlayer("made up", evaluator.model)
    chosen = player.choose_many(before, rolls, np.zeros(len(before), np.uint64))
    (batch,) = play_batches(before, rolls)
    equity = evaluator.equity_many(batch.boards)
    for k, (start, end) in enumerate(zip(batch.offsets[:-1], batch.offsets[1:], strict=True)):
        # The best play for the mover is the worst position for the next player on roll.
        assert (chosen[k] == batch.boards[start + np.argmin(equity[start:end])]).all()


@pytest.mark.parametrize("name", ["latest", "motif-v1", "keith-v1"])
def test_an_equity_has_the_same_bits_beside_any_other_boards(name):
    evaluator = load_static(name)
    (batch,) = play_batches(*some_decisions("pubeval", 60, seed=11))
    found = evaluator.equity_many(batch.boards)
    assert found.tolist() == [float(evaluator.equity_many(board[None])[0]) for board in batch.boards]
    order = np.random.default_rng(3).permutation(len(found))
    assert evaluator.equity_many(batch.boards[order]).tolist() == found[order].tolist()


def test_scores_rank_beyond_the_resolution_of_floats():
    # Probabilities this close to 1 are the same float32, but the raw sums differ.
    weights = made_weights(classes=WIN_ONLY)
    steep = {
        name: {"win": replace(heads["win"], bias=9.0, linear=heads["win"].linear * np.float32(1e-3))}
        for name, heads in weights.classes.items()
    }
    evaluator = evaluator_of(replace(weights, classes=steep))
    boards = some_boards("pubeval", 100, seed=1)
    assert len(np.unique(evaluator.evaluate_many(boards)[:, 0])) == 1
    assert len(np.unique(evaluator.equity_many(boards))) > 80


def test_an_evaluator_survives_pickling(boards):
    evaluator = evaluator_of(MADE["motif, 60 pairs"])
    copy: StaticEvaluator = pickle.loads(pickle.dumps(evaluator))
    assert copy.evaluate_many(boards).tobytes() == evaluator.evaluate_many(boards).tobytes()
    assert model_fingerprint(copy.model) == model_fingerprint(evaluator.model)


def test_the_models_fingerprint_distinguishes_players():
    weights = made_weights(pairs=3, kept=4)
    other_bias = {
        **weights.classes,
        "race": {**weights.classes["race"], "win": replace(weights.classes["race"]["win"], bias=0.5)},
    }
    models = [
        weights_model(weights),
        weights_model(made_weights(pairs=3, kept=4, seed=1)),
        weights_model(replace(weights, classes=other_bias)),
        weights_model(replace(weights, move_filter=None)),
        weights_model(made_weights(pairs=3, kept=4, filter_units=2)),
        weights_model(made_weights(pairs=3, kept=4, filter_units=2, margin=0.5)),
        filtered(evaluator_of(weights)).model,
        filtered(evaluator_of(weights), 5).model,
    ]
    prints = [model_fingerprint(model) for model in models]
    assert len(set(prints)) == len(prints)
    assert model_fingerprint(weights_model(weights)) == prints[0]


def test_switching_the_move_filter_on():
    plain, chosen = evaluator_of(made_weights()), evaluator_of(made_weights(kept=4))
    assert filtered(plain) is plain
    assert plain.model.kept == chosen.model.kept == 0
    assert filtered(chosen).model.kept == 4
    assert filtered(chosen, 7).model.kept == 7
    assert [filtered(chosen, share=share).model.kept for share in (0.1, 0.625, 1.25, 100)] == [1, 3, 5, 32]


@pytest.mark.parametrize("kept", [0, -1, 33])
def test_a_move_filter_has_room_for_that_many_plays(kept):
    with pytest.raises(SettingError, match=f"a move filter keeps 1 to 32 plays, not {kept}"):
        filtered(evaluator_of(made_weights(kept=4)), kept)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((2, 25), np.int8), r"the shape \(n, 26\), not \(2, 25\)"),
        (np.zeros(26, np.int8), r"the shape \(n, 26\), not \(26,\)"),
        (np.full((2, 26), 0.5), "whole numbers"),
        (np.stack([Position.start().board, np.zeros(26, np.int8)]), "row 1: invalid position"),
    ],
)
def test_rows_that_are_no_positions_are_refused(rows, message):
    evaluator = evaluator_of(made_weights())
    with pytest.raises(PositionError, match=message):
        evaluator.evaluate_many(rows)
    with pytest.raises(PositionError, match=message):
        evaluator.equity_many(rows)


def test_no_positions_no_values():
    evaluator = evaluator_of(made_weights())
    assert evaluator.evaluate_many(np.zeros((0, 26), np.int8)).shape == (0, 5)
    assert evaluator.equity_many(np.zeros((0, 26), np.int8)).shape == (0,)


def test_equities_of_probabilities_and_ranking_agree_without_an_equity_head(boards):
    evaluator = evaluator_of(MADE["keith, all pairs"])
    np.testing.assert_allclose(
        evaluator.equity_many(boards), equities(evaluator.evaluate_many(boards).astype(float)), atol=1e-6
    )


def _types(evaluator, cube_model):
    return [type_text(numba.typeof(each)) for each in (prepared(evaluator.model)[0], cube_model)]


def test_kernels_are_compiled_for_one_type_of_evaluators_here_and_in_workers():
    players = ("latest", "keith-v1", "simple", "pubeval")
    calls = [(load_evaluator(player), cube_model_for(MatchState(7))) for player in players]
    assert list(run_ordered(_types, calls, 2)) == [_types(load_evaluator("latest"), NO_CUBE)] * len(calls)
