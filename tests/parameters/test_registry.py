"""The registry: every parameter is declared once, and a fingerprint shows when weights no longer fit."""

from dataclasses import replace

import numpy as np
import pytest

from motif.parameters import DEFAULT_SET, PARAMETER_SETS, parameter_set
from motif.parameters.registry import OPPONENT_SUFFIX, SetBuilder
from motif.parameters.sets import MAX_PARAMETERS, SET_CODES
from motif.runtime.errors import ParameterError

every_set = pytest.mark.parametrize("chosen", PARAMETER_SETS.values(), ids=PARAMETER_SETS)


@every_set
def test_names_are_unique_and_can_be_joined(chosen):
    assert len(set(chosen.names)) == len(chosen.names) == len(chosen)
    # Weight files join two names by a star and write them as plain YAML keys.
    assert all(name.isidentifier() and name.islower() for name in chosen.names)


@every_set
def test_scales_are_positive_and_finite(chosen):
    assert chosen.scales.dtype == np.float32
    assert (np.isfinite(chosen.scales) & (chosen.scales > 0)).all()


@every_set
def test_each_side_has_its_block_in_the_same_order(chosen):
    n = chosen.side_count
    own, opponent, both = (
        chosen.parameters[:n],
        chosen.parameters[n : 2 * n],
        chosen.parameters[2 * n :],
    )
    for mine, twin in zip(own, opponent, strict=True):
        assert (mine.side, twin.side) == ("own", "opponent")
        assert (mine.twin, twin.twin) == (twin.name, mine.name)
        assert twin.name == mine.name + OPPONENT_SUFFIX
        assert (mine.scale, mine.unit, mine.group) == (twin.scale, twin.unit, twin.group)
        assert mine.sentence != twin.sentence
    assert all(parameter.side in ("both", "difference") and parameter.twin is None for parameter in both)


@every_set
def test_sentences_can_be_read(chosen):
    for parameter in chosen.parameters:
        assert parameter.sentence == parameter.sentence.strip()
        assert not set("{}\n") & set(parameter.sentence)
        assert "  " not in parameter.sentence
        assert parameter.unit
        assert parameter.group


def test_labels_use_the_words_of_sentences():
    labels = {parameter.name: parameter.short for parameter in PARAMETER_SETS["motif"].parameters}
    assert labels["contained"] == "rearmost checker's rolls blocked by own points"
    assert labels["contained_opponent"] == "rearmost checker's rolls blocked by opponent's points"


def test_sets_by_name():
    assert parameter_set(DEFAULT_SET) is PARAMETER_SETS["motif"]
    assert max(len(chosen) for chosen in PARAMETER_SETS.values()) <= MAX_PARAMETERS
    assert len(set(SET_CODES.values())) == len(PARAMETER_SETS)
    message = "^unknown parameter set 'tesauro': it must be one of motif, keith, bras, phase, FILE.py$"
    with pytest.raises(ParameterError, match=message):
        parameter_set("tesauro")


@every_set
def test_the_fingerprint_changes_with_the_meaning_of_weights(chosen):
    first, *others = chosen.parameters
    changed = [
        replace(chosen, name="other"),
        replace(chosen, revision=chosen.revision + 1),
        replace(chosen, parameters=(replace(first, name="other"), *others)),
        replace(chosen, parameters=(replace(first, scale=first.scale * 2), *others)),
        replace(chosen, parameters=(*others, first)),
        replace(chosen, parameters=tuple(others)),
    ]
    prints = [variant.fingerprint for variant in (chosen, *changed)]
    assert len(set(prints)) == len(prints)
    assert all(text.startswith("sha256:") and len(text) == 7 + 64 for text in prints)


@every_set
def test_the_fingerprint_stays_with_the_wording(chosen):
    first, *others = chosen.parameters
    reworded = replace(first, sentence="the same in other words", group="elsewhere", unit="steps")
    assert replace(chosen, parameters=(reworded, *others)).fingerprint == chosen.fingerprint


def test_a_declaration_gives_a_twin_and_a_place():
    builder = SetBuilder("made up", revision=3)
    sentence = "checkers of {side} that {other} sees"
    first = builder.side("seen", sentence, unit="checkers", full=4, group="safety")
    second = builder.side("hidden", "those of {side}", unit="checkers", full=2, group="safety")
    shared = builder.shared("luck", "luck of the game", unit="points", full=8, group="race")
    chosen = builder.build()
    assert (first, second, shared) == (0, 1, 0)
    assert chosen.names == ("seen", "hidden", "seen_opponent", "hidden_opponent", "luck")
    assert chosen.scales.tolist() == [0.25, 0.5, 0.25, 0.5, 0.125]
    assert chosen.parameters[0].sentence == "checkers of the player on roll that the opponent sees"
    assert chosen.parameters[2].sentence == "checkers of the opponent that the player on roll sees"
    assert (chosen.revision, chosen.side_count) == (3, 2)
