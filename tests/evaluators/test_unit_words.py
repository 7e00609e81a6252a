"""Names and descriptions of hidden units: planted inputs are found, and a file always has the same
descriptions.
"""

import re

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.evaluators.hidden_unit_words import (
    typical_boards,
    unit_names,
    unit_words,
    words_of_units,
)
from motif.evaluators.weight_file import HiddenLayer
from motif.parameters import parameter_set
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.parameters.sets import PARAMETER_SETS
from tests.evaluators.made_weights import made_weights

MOTIF = parameter_set("motif")
BOARDS = typical_boards("contact")


def planted(points: dict[tuple[int, int], tuple[float, ...]] | None = None, **weights: float) -> HiddenLayer:
    """One unit with `weights` by parameter and `points` by side and place from 1."""
    inputs, places = np.zeros((1, len(MOTIF)), np.float32), np.zeros((1, 2, 25, 4), np.float32)
    for name, weight in weights.items():
        inputs[0, MOTIF.names.index(name)] = weight
    for (side, place), steps in (points or {}).items():
        places[0, side, place - 1] = steps
    return HiddenLayer(("made",), np.zeros(1, np.float32), inputs, places, np.ones((5, 1), np.float32))


def together(*layers: HiddenLayer) -> HiddenLayer:
    parts = [np.concatenate([getattr(of, part) for of in layers]) for part in ("bias", "inputs", "points")]
    outputs = np.concatenate([of.outputs for of in layers], axis=1)
    return HiddenLayer(tuple(f"p{k}" for k in range(len(layers))), *parts, outputs)


@pytest.mark.parametrize("class_name", CLASS_NAMES)
def test_typical_positions_are_of_their_class_and_differ(class_name):
    boards = typical_boards(class_name)
    assert boards.shape == (500, 26)
    assert len(np.unique(boards, axis=0)) == 500
    assert (classify_many(pack_many(boards)) == CLASS_NAMES.index(class_name)).all()


@pytest.mark.parametrize(
    ("unit", "name", "words"),
    [
        (
            planted(home_points=4, spare_pips_opponent=-0.8),
            "home_points_vs_few_spare_pips",
            "many own home points, few opponent's spare pips",
        ),
        (
            planted(deep_checkers_opponent=-2, stacked_opponent=-2),
            "opp_few_deep_checkers_with_few_stacked",
            "few opponent's buried checkers, few opponent's stacked checkers",
        ),
        (
            planted(pip_lead=1, blots_back_opponent=0.5),
            "pip_lead_with_opp_blots_back",
            "high pip lead, many opponent's blots back",
        ),
        (planted({(0, 5): (0, 2, 2, 0)}), "point_5", "own 5 point made"),
        (planted({(1, 25): (-2, -2, -2, 0)}), "opp_no_bar", "opponent's bar empty"),
        (
            planted({(1, 20): (1, 0, 0, 0)}, mobility=-0.1),
            "opp_blot_20",
            "blot on opponent's 20 point",
        ),
        (planted(), "steady", "much the same everywhere"),
    ],
)
def test_planted_inputs_are_named(unit, name, words):
    assert unit_names(unit, MOTIF, BOARDS) == (name,)
    (told,) = unit_words(unit, MOTIF, BOARDS)
    assert told.words == words
    assert told.share == pytest.approx(0 if name == "steady" else 1, abs=0.35)


def test_only_inputs_that_a_unit_has_are_reported():
    """Pips correlate with bringing checkers home, and would explain equally much."""
    (told,) = unit_words(planted(bring_home=1), MOTIF, BOARDS)
    assert told.words == "many own pips to bring home"


def test_names_are_identifiers_and_differ():
    layers = made_weights("motif", hidden={"contact": 60}).hidden_layers
    names = unit_names(layers["contact"], MOTIF, BOARDS)
    assert len(set(names)) == 60
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert names == unit_names(layers["contact"], MOTIF, BOARDS)
    alike = planted(home_points=4, spare_pips_opponent=-0.8)
    assert unit_names(together(alike, alike, alike), MOTIF, BOARDS) == (
        "home_points_vs_few_spare_pips",
        "home_points_vs_few_spare_pips_2",
        "home_points_vs_few_spare_pips_3",
    )


def test_words_are_by_the_files_names():
    weights = made_weights("motif", hidden={"contact": 3, "crashed": 2})
    assert list(words_of_units(weights, "contact")) == ["p1", "p2", "p3"]
    assert list(words_of_units(weights, "crashed")) == ["p1", "p2"]
    assert words_of_units(weights, "race") == {}


@pytest.mark.parametrize("set_name", PARAMETER_SETS)
def test_every_parameter_has_a_short_label(set_name):
    parameters = parameter_set(set_name).parameters
    labels = [parameter.short for parameter in parameters]
    assert len(set(labels)) == len(labels)
    for parameter, label in zip(parameters, labels, strict=True):
        assert re.fullmatch(r"[a-z0-9' ]+", label), label
        assert ("own" in label.split()) == (parameter.side == "own")
        assert ("opponent's" in label) == (parameter.side == "opponent")
