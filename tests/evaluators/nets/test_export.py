"""Exported evaluators, compared with the compiled evaluators."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest

from motif.board.moves import legal_plays
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, StaticEvaluator, load_static
from motif.evaluators.known_players import shipped_weights
from motif.evaluators.nets import CHECKERS_INPUTS, exported, graph_inputs, load_net, write_exported
from motif.evaluators.probabilities import HEADS
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players.player import EvaluatorPlayer
from motif.runtime.errors import FileError, PositionError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards, some_decisions

TOLERANCE = 1e-5

ENDED = [
    Position.from_points({}, {25: 1, 6: 14}),
    Position.from_points({}, {19: 1, 6: 14}),
    Position.from_points({}, {18: 1, 6: 14}),
    Position.from_points({}, {3: 14}),
    Position.from_points({}, {24: 15}),
]

MADE = {
    "all chances": made_weights("keith", pairs=30, seed=1),
    "linear": made_weights("motif", seed=2),
    "equity": made_weights("motif", classes=dict.fromkeys(CLASS_NAMES, HEADS), pairs=200, seed=3),
    "equity in contact alone": made_weights(
        "keith", classes={"contact": HEADS, "race": ["win", "win_gammon"]}, pairs=9, seed=4
    ),
    "win only": made_weights("keith", classes={"contact": ["win"], "race": ["win"]}, pairs=9, seed=5),
    "no gammons but the equity's": made_weights(
        "keith", classes={"contact": ["win", "equity"], "race": ["win"]}, seed=6
    ),
    "backgammons without gammons": made_weights(
        "phase", classes={"contact": ["win", "win_backgammon", "lose_backgammon"], "race": ["win"]}, seed=7
    ),
    "one class": made_weights("bras", classes={"contact": OUTPUTS}, pairs=5, seed=8),
    "hidden units": made_weights("keith", pairs=30, hidden={"contact": 70, "race": 5}, seed=16),
    "hidden units and tables": made_weights(
        "motif", hidden=dict.fromkeys(CLASS_NAMES, 9), bearoff=True, seed=17
    ),
    "win only, with tables": made_weights(
        "keith", classes={"contact": ["win"], "race": ["win"]}, pairs=9, bearoff=True, seed=12
    ),
}


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """10,000 positions from all stages and in all classes, including finished games."""
    ended = [position.board for won in ENDED for position in (won, won.switch_sides())]
    parts = some_boards("pubeval", 6_000, seed=1), some_boards("random", 3_990, seed=2), np.array(ended)
    boards = np.concatenate(parts)
    assert len(boards) == 10_000
    assert set(classify_many(pack_many(boards))) == {0, 1, 2}
    points = finished_points_many(pack_many(boards).view(np.int64))
    assert {-3, -2, -1, 1, 2, 3} <= set(points.tolist())
    return boards


def assert_same(static: StaticEvaluator, folder, boards: np.ndarray) -> None:
    path = write_exported(static.weights, folder / "out.onnx")
    net = load_net(str(path))
    rows, expected = net.evaluate_many(boards), static.evaluate_many(boards)
    assert (rows.dtype, rows.shape) == (np.float32, (len(boards), 5))
    assert np.abs(rows - expected).max() < TOLERANCE
    assert np.abs(net.equity_many(boards) - static.equity_many(boards)).max() < TOLERANCE


@pytest.mark.parametrize("name", [*shipped_weights(), "bras", "phase"])
def test_shipped_weights(name, tmp_path, boards):
    assert_same(load_static(name), tmp_path, boards)


@pytest.mark.parametrize("weights", MADE.values(), ids=MADE)
def test_made_weights(weights, tmp_path, boards):
    assert_same(evaluator_of(weights), tmp_path, boards)


@pytest.mark.parametrize("weights", MADE.values(), ids=MADE)
def test_probabilities_agree_with_each_other(weights, boards):
    session = onnxruntime.InferenceSession(exported(weights))
    facts = session.get_modelmeta().custom_metadata_map
    inputs = graph_inputs(weights.parameters, boards, facts["motif.inputs"])
    rows, _ = session.run(None, inputs)
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = rows.astype(float).T
    assert ((rows >= 0) & (rows <= 1)).all()
    assert ((win_backgammon <= win_gammon) & (win_gammon <= win)).all()
    assert ((lose_backgammon <= lose_gammon) & (lose_gammon <= 1 - win + 1e-7)).all()


def test_plays_are_ranked_alike(tmp_path):
    static = load_static("motif-v1")
    path = write_exported(static.weights, tmp_path)
    player = EvaluatorPlayer(load_net(str(path)))
    boards, rolls = some_decisions("pubeval", 200, seed=5)
    chosen = player.choose_many(boards, rolls, np.zeros(len(boards), np.uint64))
    for board, roll, after in zip(boards, rolls, chosen, strict=True):
        plays = legal_plays(Position(board), tuple(roll.tolist()))
        worth = -static.equity_many(np.array([play.position.board for play in plays]))
        assert -static.equity_many(after[None])[0] >= worth.max() - 2 * TOLERANCE


def test_plays_tied_by_tanh_in_single_precision(tmp_path):
    """Near certainty, equities differ by less than float32 can represent; the ranking must still be
    correct.
    """
    weights = made_weights("keith", classes={"contact": ["win"]}, seed=9)
    head = weights.classes["contact"]["win"]
    sure = replace(weights, classes={"contact": {"win": replace(head, bias=8.0)}})
    static = evaluator_of(sure)
    net = load_net(str(write_exported(sure, tmp_path / "sure.onnx")))
    boards = some_boards("pubeval", 200, seed=6)
    expected, found = static.equity_many(boards), net.equity_many(boards)
    assert len(np.unique(found.astype(np.float32))) < len(np.unique(found)) / 4
    raw = np.arctanh(expected)
    first, second = np.nonzero(raw[:, None] > raw + 1e-3)
    assert (found[first] > found[second]).all()


def test_a_graph_on_its_own():
    """Another program sees a checked model of an old operator set with three inputs."""
    weights = MADE["equity"]
    model = onnx.load_model_from_string(exported(weights))
    onnx.checker.check_model(model, full_check=True)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 13)]
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert facts["motif.parameters"] == "motif"
    assert facts["motif.fingerprint"] == weights.parameters.fingerprint
    assert facts["motif.names"].split(",") == list(weights.parameters.names)
    assert facts["motif.classes"].split(",")[:3] == ["contact", "crashed", "race"]
    session = onnxruntime.InferenceSession(model.SerializeToString())
    assert [(put.name, put.type, put.shape) for put in session.get_inputs()] == [
        ("features", "tensor(float)", ["positions", len(weights.parameters)]),
        ("position_class", "tensor(int64)", ["positions"]),
        ("checkers_off", "tensor(int64)", ["positions", 2]),
    ]
    assert [(put.name, put.type, put.shape) for put in session.get_outputs()] == [
        ("probabilities", "tensor(float)", ["positions", 5]),
        ("equity", "tensor(double)", ["positions"]),
    ]


def test_the_same_weights_make_the_same_bytes():
    assert exported(MADE["equity"]) == exported(MADE["equity"])


def test_inputs_of_a_graph(boards):
    chosen = MADE["win only"].parameters
    inputs = graph_inputs(chosen, boards)
    assert inputs["features"].dtype == np.float32
    assert inputs["features"].shape == (len(boards), len(chosen))
    own, other = np.maximum(boards, 0).sum(axis=1), np.maximum(-boards, 0).sum(axis=1)
    assert (inputs["checkers_off"] == 15 - np.stack([own, other], axis=1)).all()
    points = np.abs(finished_points_many(pack_many(boards).view(np.int64)))
    classes = inputs["position_class"]
    assert (classes[points > 0] == 2 + points[points > 0]).all()
    assert (classes[points == 0] == classify_many(pack_many(boards))[points == 0]).all()
    with pytest.raises(PositionError, match="row 0: invalid position"):
        graph_inputs(chosen, np.zeros((1, 26), np.int8))


def test_inputs_of_a_graph_with_hidden_units(boards):
    inputs = graph_inputs(MADE["hidden units"].parameters, boards, CHECKERS_INPUTS)
    assert list(inputs) == ["features", "position_class", "checkers_off", "checkers"]
    own, other = np.split(inputs["checkers"], 2, axis=1)
    assert (own == np.maximum(boards[:, 1:], 0)).all()
    assert (other == np.maximum(-boards[:, 24::-1], 0)).all()


def test_a_graph_says_what_it_leaves_to_tables():
    facts = {}
    for name in ("hidden units and tables", "win only, with tables", "equity"):
        model = onnx.load_model_from_string(exported(MADE[name]))
        facts[name] = {entry.key: entry.value for entry in model.metadata_props}
    assert [each.get("motif.bearoff") for each in facts.values()] == ["equity", "win", None]


def test_where_it_is_written(tmp_path):
    weights = MADE["win only"]
    assert write_exported(weights, tmp_path) == tmp_path / "evaluator.onnx"
    assert write_exported(weights, tmp_path / "new" / "name") == tmp_path / "new" / "name"
    assert load_net(str(tmp_path / "new" / "name")).evaluate(Position.start()).win > 0
    before = (tmp_path / "evaluator.onnx").read_bytes()
    with pytest.raises(FileError, match=r"evaluator\.onnx"):
        write_exported(weights, tmp_path / "evaluator.onnx" / "below.onnx")
    assert (tmp_path / "evaluator.onnx").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evaluator.onnx", "new"]
