"""Weight files: they are read exactly as written, and written again with the same bytes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.evaluators import OUTPUTS, WeightFile, load_static, read_weight_file
from motif.evaluators.probabilities import HEADS
from motif.evaluators.weight_file import HeadWeights
from motif.runtime.errors import WeightFileError
from tests.evaluators.made_weights import FIT, evaluator_of, made_weights
from tests.games import some_boards

Heads = Mapping[str, HeadWeights]

SHIPPED = sorted((Path(__file__).resolve().parent.parent.parent / "weights").glob("*.yaml"))
LARGEST = float(np.nextafter(np.float32(1e6), np.float32(0)))
SMALLEST = float(np.float32(1e-45))
ODD_NUMBERS = [0.0, -0.0, 1.0, -1e-7, 1e-8, 123456.7, 1.5e-30, 3.0, 0.1, LARGEST, -LARGEST, SMALLEST]

MADE = {
    "all pairs": made_weights(pairs=19 * 20 // 2),
    "motif": made_weights("motif", pairs=40),
    "bras": made_weights("bras", pairs=66),
    "phase": made_weights("phase", pairs=40),
    "linear with a filter": made_weights(kept=8),
    "equity heads": made_weights(classes=dict.fromkeys(("contact", "race"), HEADS), pairs=3),
    "win only": made_weights(classes={"race": ["win"], "contact": ["win"]}, pairs=3),
    "everything": made_weights(
        pairs=3, kept=2, filter_units=3, margin=0.5, hidden={"contact": 7, "race": 2}, bearoff=True
    ),
}
every_made = pytest.mark.parametrize("weights", MADE.values(), ids=MADE)


def round_trip(weights: WeightFile, folder: Path) -> WeightFile:
    """`weights` saved, read, and saved again to the same bytes."""
    first, second = folder / "first.yaml", folder / "second.yaml"
    weights.save(first)
    read = read_weight_file(first)
    read.save(second)
    assert second.read_bytes() == first.read_bytes()
    return read


def same_bits(one: HeadWeights, other: HeadWeights) -> bool:
    return (
        np.float32(one.bias).tobytes() == np.float32(other.bias).tobytes()
        and one.linear.tobytes() == other.linear.tobytes()
        and one.pairs.tolist() == other.pairs.tolist()
        and one.quadratic.tobytes() == other.quadratic.tobytes()
    )


def same_heads(one: Mapping[str, Heads], other: Mapping[str, Heads]) -> bool:
    """Whether the heads of all classes are the same, in any order."""
    return {name: set(heads) for name, heads in one.items()} == {
        name: set(heads) for name, heads in other.items()
    } and all(same_bits(head, other[name][key]) for name, heads in one.items() for key, head in heads.items())


def same_layers(one: WeightFile, other: WeightFile) -> bool:
    layers = [
        {
            name: (of.names, *(part.tobytes() for part in (of.bias, of.inputs, of.points, of.outputs)))
            for name, of in weights.hidden_layers.items()
        }
        for weights in (one, other)
    ]
    return layers[0] == layers[1]


def filter_bytes(weights: WeightFile) -> object:
    """Everything about a move filter, for comparison."""
    move_filter = weights.move_filter
    return move_filter and (
        move_filter.kept,
        {name: steps.tobytes() for name, steps in move_filter.steps.items()},
        {
            name: [np.asarray(part).tobytes() for part in vars(of).values()]
            for name, of in move_filter.units.items()
        },
    )


def same_content(one: WeightFile, other: WeightFile) -> bool:
    return (
        same_heads(one.classes, other.classes)
        and same_layers(one, other)
        and filter_bytes(one) == filter_bytes(other)
        and (one.name, one.version, one.parent, one.fit, one.bearoff)
        == (other.name, other.version, other.parent, other.fit, other.bearoff)
        and one.parameters is other.parameters
    )


@every_made
def test_round_trip(weights, tmp_path):
    assert same_content(round_trip(weights, tmp_path), weights)


@every_made
def test_scores_stay_the_same(weights, tmp_path):
    path = tmp_path / "weights.yaml"
    weights.save(path)
    boards = np.concatenate([some_boards("random", 100, seed=1), some_boards("pubeval", 100, seed=2)])
    before, after = evaluator_of(weights), load_static(str(path))
    assert after.name == str(path)
    assert after.evaluate_many(boards).tobytes() == before.evaluate_many(boards).tobytes()
    assert after.equity_many(boards).tobytes() == before.equity_many(boards).tobytes()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_weights_that_come_with_motif_are_written_as_motif_writes(path, tmp_path):
    weights = read_weight_file(path)
    weights.save(tmp_path / path.name)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    assert weights.name == path.stem


def with_numbers(numbers: list[float]) -> WeightFile:
    """A weight file whose linear and quadratic weights, hidden units and filter consist of `numbers`."""
    weights = made_weights(classes={"contact": ["win"], "race": ["win"]}, pairs=5, kept=3, hidden={"race": 4})
    values = np.resize(np.array(numbers, np.float32), 19)
    head = replace(
        weights.classes["race"]["win"], bias=float(values[0]), linear=values, quadratic=values[:5].copy()
    )
    steps = {name: np.resize(values, each.shape) for name, each in weights.move_filter.steps.items()}
    layer = weights.hidden_layers["race"]
    parts = {
        key: np.resize(values, getattr(layer, key).shape) for key in ("bias", "inputs", "points", "outputs")
    }
    return replace(
        weights,
        classes={"contact": {"win": head}, "race": {"win": head}},
        hidden_layers={"race": replace(layer, **parts)},
        move_filter=replace(weights.move_filter, steps=steps),
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-999_999, 999_999, width=32), min_size=1, max_size=19))
def test_any_float32_survives(tmp_path_factory, numbers):
    weights = with_numbers(numbers)
    assert same_content(round_trip(weights, tmp_path_factory.getbasetemp()), weights)


def test_odd_numbers_survive(tmp_path):
    weights = with_numbers(ODD_NUMBERS)
    assert same_content(round_trip(weights, tmp_path), weights)
    assert "1.0e-45" in (tmp_path / "first.yaml").read_text()


NAMES = [
    "motif-v1",
    "null",
    "3",
    "- a",
    "a: b",
    "#1",
    "word " * 60,
    "Größe",
    "💥",
    "'",
    '"',
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_survives(name, tmp_path):
    read = round_trip(replace(made_weights(), name=name, parent=name, fit={name: [name]}), tmp_path)
    assert (read.name, read.parent, read.fit) == (name, name, {name: [name]})


@pytest.mark.parametrize("name", ["", "two\nlines", "\x1b[31m", "word " * 300])
def test_names_that_are_not_one_line_are_not_written(name, tmp_path):
    for weights in (replace(made_weights(), name=name), replace(made_weights(), parent=name)):
        with pytest.raises(WeightFileError, match="must be a line of 1 to 1000 visible characters"):
            weights.save(tmp_path / "weights.yaml")
    assert not list(tmp_path.iterdir())


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.isprintable))
def test_any_text_survives_as_a_name(tmp_path_factory, name):
    weights = made_weights(classes={"contact": ["win"], "race": ["win"]}, name=name)
    assert round_trip(weights, tmp_path_factory.getbasetemp()).name == name


def test_checkers_that_are_off_are_no_truth_value(tmp_path):
    path = tmp_path / "bras.yaml"
    made_weights("bras").save(path)
    text = path.read_text()
    assert '        "off": ' in text
    assert isinstance(yaml.safe_load(text)["classes"]["race"]["win"]["linear"]["off"], float)
    path.write_text(text.replace('"off"', "off"))
    assert same_content(read_weight_file(path), made_weights("bras"))


def test_a_version_without_a_parent(tmp_path):
    read = round_trip(replace(made_weights(), parent=None, version=0, fit={}), tmp_path)
    assert (read.parent, read.version, read.fit) == (None, 0, {})


def test_a_person_can_read_it(tmp_path):
    path = tmp_path / "weights.yaml"
    made_weights(classes={"contact": ["win"], "race": OUTPUTS[:2]}, pairs=1, seed=3).save(path)
    lines = path.read_text().splitlines()
    assert lines[:4] == ["format: motif-weights/1", "name: made-up", "version: 1", "parent: parent"]
    assert lines[4].startswith('parameters: {set: keith, fingerprint: "sha256:')
    assert lines[5:10] == [
        "classes:",
        "  contact:",
        "    win:",
        lines[8],
        "      linear:",
    ]
    assert lines[10].startswith("        pip_count: ")
    assert sum(line.startswith("      quadratic:") for line in lines) == 3
    assert lines[-1] == "fit: {method: made up, samples: 12, rmse_train: 0.0312, rmse_validation: null}"
    assert lines[-1] == "fit: " + str(FIT).replace("'", "").replace("None", "null")


def test_hidden_units_can_be_read_too(tmp_path):
    path = tmp_path / "weights.yaml"
    weights = made_weights(hidden={"contact": 2}, bearoff=True)
    weights.save(path)
    content = yaml.safe_load(path.read_text())
    assert list(content)[5:7] == ["bearoff", "classes"]
    assert content["bearoff"] is True
    layer, units = weights.hidden_layers["contact"], content["classes"]["contact"]["hidden"]
    assert list(units) == ["p1", "p2"]
    assert list(units["p2"]) == ["bias", "outputs", "inputs", "own", "opponent"]
    assert np.float32(units["p2"]["outputs"]).tolist() == layer.outputs[:, 1].tolist()
    assert np.float32(units["p2"]["inputs"]).tolist() == layer.inputs[1].tolist()
    for side, key in enumerate(("own", "opponent")):
        assert np.float32(units["p2"][key]).tolist() == layer.points[1, side].ravel().tolist()


def test_classes_and_heads_are_written_in_one_order(tmp_path):
    weights = made_weights(pairs=2)
    backwards = {name: dict(reversed(weights.classes[name].items())) for name in reversed(weights.classes)}
    weights.save(tmp_path / "one.yaml")
    replace(weights, classes=backwards).save(tmp_path / "other.yaml")
    assert (tmp_path / "one.yaml").read_bytes() == (tmp_path / "other.yaml").read_bytes()
