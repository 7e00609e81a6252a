"""Files and folders of nets: what is read from them, and one-line errors."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import motif
from motif.board.position import Position
from motif.evaluators.nets import NetDescription, described, load_net, load_wildbg
from motif.evaluators.nets.net import (
    CHECKERS_INPUTS,
    EVALUATOR_INPUTS,
    FEATURES,
    INPUTS,
    WILDBG_RACE,
    Net,
    read_description,
)
from motif.parameters import PARAMETER_SETS, parameter_set
from motif.parameters.phase_set import PHASE_SET
from motif.players import load
from motif.runtime.errors import MotifError, PlayerError
from tests.evaluators.nets.made_nets import linear_net, linear_parts, made_model, score_net, softmax_net
from tests.games import some_boards

WILDBG = Path(motif.__file__).parent / "data" / "wildbg"
SCORE = NetDescription("made", FEATURES, PHASE_SET)


def write(path: Path, model: bytes) -> str:
    path.write_bytes(model)
    return str(path)


def refused(path: str, message: str) -> None:
    with pytest.raises(PlayerError, match=message) as caught:
        load_net(path)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 1500


# --- descriptions


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("name", PARAMETER_SETS)
def test_descriptions_are_read_as_they_were_written(inputs, name):
    chosen = None if inputs.startswith("wildbg") else parameter_set(name)
    description = NetDescription("my net, 2", inputs, chosen, "win" if "checkers" in inputs else None)
    model = described(described(score_net(), SCORE), description)
    stored = {entry.key: entry.value for entry in onnx.load_model_from_string(model).metadata_props}
    assert stored == description.metadata()
    assert read_description(stored) == description


def test_other_metadata_stay_and_mean_nothing():
    proto = onnx.load_model_from_string(score_net())
    helper.set_model_props(proto, {"author": "somebody"})
    model = described(proto.SerializeToString(), SCORE)
    stored = {entry.key: entry.value for entry in onnx.load_model_from_string(model).metadata_props}
    assert stored["author"] == "somebody"
    assert read_description(stored) == SCORE
    assert read_description({"author": "somebody"}) is None


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("motif.format", "motif-net/9", "motif.format must be 'motif-net/1', not 'motif-net/9'"),
        ("motif.format", None, "motif.format must be 'motif-net/1', not missing"),
        ("motif.inputs", "pips", "motif.inputs must be one of wildbg-contact; .*, not 'pips'"),
        ("motif.outputs", "colours", "motif.outputs must be 'score of .*', not 'colours'"),
        ("motif.bearoff", "maybe", "motif.bearoff must be equity or win, not 'maybe'"),
        ("motif.parameters", "keyth", "motif.parameters must be one of motif, .*, not 'keyth'"),
        ("motif.fingerprint", "sha256:0", "motif.fingerprint must be that of the set phase, .*'sha256:0'"),
        ("motif.parameters", "keith", "motif.fingerprint must be that of the set keith"),
    ],
)
def test_descriptions_that_cannot_be_followed(tmp_path, key, value, message):
    proto = onnx.load_model_from_string(score_net())
    texts = {**SCORE.metadata(), key: value}
    helper.set_model_props(proto, {name: text for name, text in texts.items() if text is not None})
    path = write(tmp_path / "net.onnx", proto.SerializeToString())
    refused(path, f"^{re.escape(path)}: the metadata {message}")


# --- files and folders


def test_paths_without_a_net(tmp_path):
    refused(str(tmp_path / "none.onnx"), r"none\.onnx: no such net$")
    refused("", "^'onnx:' must be followed by the path of a net$")
    refused("a\0b", "cannot be read")
    refused("x" * 5000, "cannot be read")


def test_folders(tmp_path):
    where = re.escape(str(tmp_path))
    refused(str(tmp_path), f"^{where}: the folder has 0 .onnx files: there must be one, or contact.onnx and")
    model = described(score_net(), SCORE)
    write(tmp_path / "only.onnx", model)
    write(tmp_path / ".only.1.tmp.onnx", b"left by a process that was killed")
    (tmp_path / "README").write_text("not a net")
    assert load_net(str(tmp_path)).evaluate(Position.start()) == load(f"onnx:{tmp_path}/only.onnx").evaluate(
        Position.start()
    )
    write(tmp_path / "other.onnx", model)
    refused(str(tmp_path), f"^{where}: the folder has 2 .onnx files")


def test_folders_of_two_nets(tmp_path):
    for name in ("contact.onnx", "race.onnx"):
        shutil.copy(WILDBG / name, tmp_path)
    shutil.copy(WILDBG / "contact.onnx", tmp_path / "older.onnx")
    assert load_net(str(tmp_path)).evaluate(Position.start()) == load_wildbg().evaluate(Position.start())
    shutil.copy(WILDBG / "contact.onnx", tmp_path / "race.onnx")
    refused(str(tmp_path), "race.onnx: the net must be for wildbg-race, not for wildbg-contact$")
    refused(str(WILDBG / "race.onnx"), "the net is for races only: contact.onnx must be beside race.onnx$")


@pytest.mark.parametrize("size", [0, 1, 1000, 500_000, 751_987])
def test_torn_files(tmp_path, capfd, size):
    path = write(tmp_path / "torn.onnx", (WILDBG / "contact.onnx").read_bytes()[:size])
    refused(path, "torn.onnx: (not an ONNX net that onnxruntime can run, or cut short|the net)")
    assert capfd.readouterr() == ("", "")


def test_files_that_are_no_nets(tmp_path, capfd):
    refused(write(tmp_path / "a.yaml", b"format: motif-weights/1\n"), "not an ONNX net")
    damaged = bytearray(score_net())
    random = np.random.default_rng(5)
    for _ in range(30):
        damaged[random.integers(len(damaged))] = random.integers(256)
        path = write(tmp_path / "damaged.onnx", bytes(damaged))
        with pytest.raises(MotifError):
            load_net(path)
    assert capfd.readouterr() == ("", "")


# --- shapes


def test_nets_of_another_width(tmp_path):
    path = write(tmp_path / "net.onnx", softmax_net(77))
    refused(path, r"must have 202 \(wildbg-contact\) or 186 \(wildbg-race\), not an input of width 77$")
    two = made_model(
        [helper.make_node("Add", ["a", "b"], ["y"])], {}, [("a", ["n", 2]), ("b", ["n", 2])], ["n", 2]
    )
    refused(write(tmp_path / "net.onnx", two), "must have 202 .*, not 2 inputs$")
    short = described(linear_net(47, 1), SCORE)
    refused(write(tmp_path / "net.onnx", short), "the net must have one input of width 48, not 47$")
    short = described(softmax_net(202), NetDescription("made", WILDBG_RACE))
    refused(write(tmp_path / "net.onnx", short), "the net must have one input of width 186, not 202$")


def test_nets_with_other_outputs(tmp_path):
    wide = described(linear_net(48, 2), SCORE)
    refused(write(tmp_path / "net.onnx", wide), "the net must return 1 numbers per position, not 2$")
    refused(write(tmp_path / "net.onnx", linear_net(202, 5)), "must return 6 numbers per position, not 5$")
    total = made_model([helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)], {}, [("x", ["n", 48])], [])
    refused(
        write(tmp_path / "net.onnx", described(total, SCORE)),
        "must return one row of outputs for each row of inputs$",
    )


def test_nets_for_other_numbers(tmp_path):
    double = made_model(
        [helper.make_node("Identity", ["x"], ["y"])], {}, [("x", ["n", 48])], ["n", 48], TensorProto.DOUBLE
    )
    refused(write(tmp_path / "net.onnx", described(double, SCORE)), "cannot be evaluated: .*double")


@pytest.mark.parametrize(
    ("inputs", "more"), [(EVALUATOR_INPUTS, ""), (CHECKERS_INPUTS, r"checkers \(50\), ")]
)
def test_an_evaluator_must_have_its_inputs(inputs, more, tmp_path):
    description = NetDescription("made", inputs, PHASE_SET)
    path = write(tmp_path / "net.onnx", described(score_net(), description))
    three = r"features \(48\), position_class \(1\), checkers_off \(2\), "
    refused(path, rf"the inputs must be {three}{more}not x \(48\)")


def test_values_that_are_not_finite(tmp_path):
    model = made_model(
        [helper.make_node("Log", ["x"], ["l"]), helper.make_node("Gemm", ["l", "A"], ["y"])],
        {"A": np.ones((48, 1), np.float32)},
        [("x", ["n", 48])],
        ["n", 1],
    )
    refused(write(tmp_path / "net.onnx", described(model, SCORE)), "returned a value that is not finite$")


# --- nets stored for one position


def reshaping_net(stored_shape: list[int], as_node: bool) -> bytes:
    """A net for one row whose hidden layer is reshaped to (1, 4, 3) and back."""
    rng, shape = np.random.default_rng(1), np.array(stored_shape, np.int64)
    constants = {
        "A": rng.normal(size=(202, 12)).astype(np.float32),
        "B": rng.normal(size=(12, 6)).astype(np.float32),
        "back": np.array([1, -1], np.int64),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "A"], ["hidden"]),
        helper.make_node("Reshape", ["hidden", "shape"], ["cube"]),
        helper.make_node("Tanh", ["cube"], ["bent"]),
        helper.make_node("Reshape", ["bent", "back"], ["flat"]),
        helper.make_node("MatMul", ["flat", "B"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["y"], axis=1),
    ]
    if as_node:
        nodes.insert(
            0, helper.make_node("Constant", [], ["shape"], value=onnx.numpy_helper.from_array(shape))
        )
    else:
        constants["shape"] = shape
    return made_model(nodes, constants, [("x", [1, 202])], [1, 6])


@pytest.mark.parametrize("as_node", [False, True])
@pytest.mark.parametrize("shape", [[1, 4, 3], [1, -1, 3], [-1, 4, 3], [0, 4, 3]])
def test_reshaped_rows_are_freed(shape, as_node):
    model = reshaping_net(shape, as_node)
    rows = np.random.default_rng(2).random((150, 202)).astype(np.float32)
    parts = {
        p.name: onnx.numpy_helper.to_array(p) for p in onnx.load_model_from_string(model).graph.initializer
    }
    logits = np.tanh(rows @ parts["A"]) @ parts["B"]
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Net(model, "made").run_one(rows), expected, atol=1e-5)


def test_nets_that_mix_rows_are_refused(tmp_path):
    nodes = [
        helper.make_node("MatMul", ["x", "A"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["y"], axis=0),
    ]
    constants = {"A": np.random.default_rng(3).normal(size=(202, 6)).astype(np.float32)}
    model = made_model(nodes, constants, [("x", [1, 202])], [1, 6])
    refused(write(tmp_path / "net.onnx", model), "the net accepts only one position at a time$")


def test_one_row_or_many_are_the_same_for_a_stored_row():
    model = linear_net(202, 6, rows=1)
    matrix, bias = linear_parts(model)
    rows = np.random.default_rng(4).random((130, 202)).astype(np.float32)
    net = Net(model, "made")
    np.testing.assert_allclose(net.run_one(rows), rows @ matrix + bias, atol=1e-5)
    assert net.run_one(rows[100:101]).tobytes() == net.run_one(rows)[100:101].tobytes()


# --- packages


@pytest.mark.parametrize("package", ["onnxruntime", "onnx"])
def test_without_the_packages(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        PlayerError, match=rf"^a net needs {package}: pip install '\.\[onnx\]' in the checkout$"
    ):
        load("wildbg")


def test_a_net_that_takes_many_rows_needs_onnxruntime_alone(tmp_path, monkeypatch):
    path = write(tmp_path / "net.onnx", described(score_net(), SCORE))
    monkeypatch.setitem(sys.modules, "onnx", None)
    boards = some_boards("random", 20, seed=1)
    assert load_net(path).evaluate_many(boards).shape == (20, 5)
