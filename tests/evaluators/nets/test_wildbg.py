"""The player ``wildbg``, compared with its nets multiplied out in numpy."""

import pickle
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import motif
from motif.benchmarks import read_benchmark
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.evaluators import load_evaluator
from motif.evaluators.nets import load_net, load_wildbg
from motif.evaluators.nets.net_evaluators import contact_inputs, race_inputs
from motif.parameters.position_class import position_class
from motif.players import load
from motif.runtime.errors import PositionError
from tests.benchmarks.rates import error_rate
from tests.evaluators.nets.made_nets import one_ply_equity
from tests.games import some_boards

FOLDER = Path(motif.__file__).parent / "data" / "wildbg"
BENCHMARK_FOLDER = Path(__file__).resolve().parents[2] / "data"
LAYERS = ("hidden1", "hidden2", "hidden3", "output")

START = (0.38713, 0.15152, 0.00619, 0.34263, 0.10826, 0.00427)
"""Outputs of wildbg's contact net: single win, gammon, backgammon, then the same losses."""


def slow_net(kind: str, inputs: np.ndarray) -> np.ndarray:
    """Six probabilities (n, 6) in double precision, from the numbers in the file."""
    graph = onnx.load(FOLDER / f"{kind}.onnx").graph
    numbers = {part.name: numpy_helper.to_array(part).astype(float) for part in graph.initializer}
    values = inputs.astype(float)
    for layer in LAYERS:
        values = values @ numbers[f"base_model.{layer}.weight"].T + numbers[f"base_model.{layer}.bias"]
        if layer != LAYERS[-1]:
            values = np.clip(values / 6 + 0.5, 0, 1) if kind == "contact" else np.maximum(values, 0)
    chances = np.exp(values - values.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def slow_values(boards: np.ndarray) -> np.ndarray:
    """Cumulative probabilities (n, 5), one position at a time."""
    rows = []
    for board in boards:
        position = Position(board)
        if ended := int(outcome(position)):
            rows.append([ended > 0, ended > 1, ended > 2, ended < -1, ended < -2])
            continue
        race = position_class(position) == "race"
        inputs = race_inputs(board[None]) if race else contact_inputs(board[None])
        w, wg, wb, _, lg, lb = slow_net("race" if race else "contact", inputs)[0]
        win = w + wg + wb
        gammons = [0, 0] if position.opponent_off else [wg + wb, wb]
        losses = [0, 0] if position.own_off else [lg + lb, lb]
        rows.append([win, *gammons, *losses])
    return np.array(rows, float)


@pytest.fixture(scope="module")
def wildbg():
    return load_wildbg()


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    ended = [
        Position.from_points({}, {25: 1, 6: 14}),
        Position.from_points({3: 15}, {}),
        Position.from_points({3: 14}, {}),
    ]
    played = some_boards("pubeval", 250, seed=1), some_boards("random", 50, seed=2)
    return np.concatenate([*played, [position.board for position in ended]])


def test_the_start_position(wildbg):
    single, gammon, backgammon, _, lose_gammon, lose_backgammon = START
    expected = [single + gammon + backgammon, gammon + backgammon, backgammon]
    expected += [lose_gammon + lose_backgammon, lose_backgammon]
    np.testing.assert_allclose(wildbg.evaluate(Position.start()), expected, atol=2e-5)
    exclusive = slow_net("contact", contact_inputs(Position.start().board[None]))[0]
    np.testing.assert_allclose(exclusive, START, atol=5e-6)


def test_every_class_of_position(wildbg, boards):
    classes = {position_class(Position(board)) for board in boards}
    assert classes == {"contact", "crashed", "race"}
    found = wildbg.evaluate_many(boards)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slow_values(boards), atol=3e-6)


def test_finished_games_are_certain(wildbg):
    won = Position.from_points({}, {25: 1, 6: 14})
    assert wildbg.evaluate(won) == (1, 1, 1, 0, 0)
    assert wildbg.evaluate(won.switch_sides()) == (0, 0, 0, 1, 1)


def test_each_alone_or_many_at_once(wildbg, boards):
    together = wildbg.evaluate_many(boards)
    alone = np.concatenate([wildbg.evaluate_many(board[None]) for board in boards])
    assert together.tobytes() == alone.tobytes()
    order = np.random.default_rng(3).permutation(len(boards))
    assert wildbg.evaluate_many(boards[order]).tobytes() == together[order].tobytes()
    assert wildbg.evaluate_many(boards[:0]).shape == (0, 5)


def test_it_travels_to_other_processes(wildbg, boards):
    copy = pickle.loads(pickle.dumps(wildbg))
    assert copy.name == "wildbg"
    assert copy.evaluate_many(boards).tobytes() == wildbg.evaluate_many(boards).tobytes()


def test_any_number_of_workers_measures_the_same(wildbg):
    benchmark = read_benchmark(BENCHMARK_FOLDER / "contact.bm")
    rates = [error_rate(load("wildbg"), benchmark, jobs=jobs) for jobs in (1, 2)]
    assert rates[0] == rates[1]
    assert rates[0].er < 20  # PubEval loses about twice that


def test_looking_ahead_by_name():
    position = Position.from_points({6: 1, 2: 1}, {3: 2})
    equity = one_ply_equity(load_evaluator("wildbg"), position)
    ahead = load_evaluator("wildbg@1")
    assert ahead.name == "wildbg@1"
    assert ahead.equity_many(position.board[None])[0] == pytest.approx(equity, abs=1e-6)
    assert ahead.evaluate(position).equity == pytest.approx(equity, abs=1e-6)


def test_a_folder_of_your_own_is_the_same(wildbg, boards):
    own = load_net(str(FOLDER))
    assert own.name == f"onnx:{FOLDER}"
    assert own.evaluate_many(boards).tobytes() == wildbg.evaluate_many(boards).tobytes()


def test_the_contact_net_alone_plays_races_too():
    alone = load_net(str(FOLDER / "contact.onnx"))
    race = Position.from_points({6: 5, 5: 5, 4: 5}, {6: 15})
    chances = slow_net("contact", contact_inputs(race.board[None]))[0]
    assert alone.evaluate(race).win == pytest.approx(chances[:3].sum(), abs=1e-6)


def test_rows_that_are_no_positions_are_refused(wildbg):
    with pytest.raises(PositionError, match="row 1: invalid position"):
        wildbg.evaluate_many(np.stack([Position.start().board, np.zeros(26, np.int8)]))
