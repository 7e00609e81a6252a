"""Hidden units over positions: compared with written-out sums, and where they are largest."""

import re
from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.evaluator_analysis import judgement
from motif.analysis.term_report import board_terms
from motif.analysis.unit_report import extremes, unit_summaries
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS
from motif.evaluators.hidden_layer import squash_units
from motif.evaluators.static import from_weights
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.errors import DatasetError, SettingError
from tests.evaluators.made_weights import made_weights
from tests.evaluators.written_out import head_equity, raw_sum
from tests.games import some_boards
from tools.marked_page import region
from tools.unit_page import REGION, lines, main, unit_markdown

MADE = made_weights("motif", pairs=30, hidden={"contact": 20, "crashed": 5}, seed=5)
LAYER = MADE.hidden_layers["contact"]
WORTH = dict(zip(OUTPUTS, (2, 1, 1, -1, -1), strict=True))
"""Points of equity that each probability is worth."""


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return some_boards("pubeval", 600, seed=6)


@pytest.fixture(scope="module")
def contact(boards) -> np.ndarray:
    return boards[classify_many(pack_many(boards)) == 0]


def squashed_on(boards: np.ndarray) -> np.ndarray:
    return squash_units(LAYER.sums(features(MADE.parameters, boards), pack_many(boards)))


def worth_of_units(boards: np.ndarray) -> np.ndarray:
    """Points of equity (units,) of each unit at 1, by the mean slope of each probability."""
    slopes = [
        WORTH[head] * (0.5 / np.cosh(judgement(MADE, head, boards).raw) ** 2).mean() for head in OUTPUTS
    ]
    return np.array(slopes) @ LAYER.outputs


@pytest.mark.parametrize("head", ["win", "lose_gammon"])
def test_a_judgement_has_the_hidden_units(boards, head):
    judged = judgement(MADE, head, boards)
    written = [raw_sum(MADE, head, Position(board)) for board in boards[:100]]
    np.testing.assert_allclose(judged.raw[:100], written, atol=1e-5)
    assert judged.hidden_units == 25
    ranking = made_weights(classes=dict.fromkeys(CLASS_NAMES, ("win", "equity")))
    assert judgement(ranking, "equity", boards).hidden_units == 0


def test_slopes_are_those_of_the_raw_sum(contact, monkeypatch):
    judged, step = judgement(MADE, "win", contact), 1e-3
    for feature in (0, 20, 50):
        raws = []
        for side in (1, -1):
            moved = judged.features.copy()
            moved[:, feature] += side * step
            with monkeypatch.context() as patch:
                patch.setattr("motif.analysis.evaluator_analysis.features", lambda *_, moved=moved: moved)
                raws.append(judgement(MADE, "win", contact).raw)
        slopes = (raws[0] - raws[1]) / (2 * step)
        np.testing.assert_allclose(judged.slopes[:, feature], slopes, atol=1e-4)


def test_features_add_what_they_change(contact):
    """Without features and checkers on points, a unit depends only on its bias."""
    layer = replace(LAYER, points=np.zeros_like(LAYER.points))
    with_units = judgement(replace(MADE, hidden_layers={"contact": layer}), "win", contact)
    alone = judgement(replace(MADE, hidden_layers={}), "win", contact)
    at_nothing = float(squash_units(layer.bias.astype(float)) @ layer.outputs[0])
    gained = (with_units.contributions - alone.contributions).sum(axis=1)
    np.testing.assert_allclose(gained + at_nothing, with_units.raw - alone.raw, atol=1e-9)


def test_the_slope_of_terms_is_that_of_the_whole_value(contact):
    terms, _ = board_terms(contact, MADE, "contact", "win")
    raw = judgement(MADE, "win", contact).raw
    assert terms.statistics.slope == pytest.approx(float((0.5 / np.cosh(raw) ** 2).mean()), rel=1e-6)


def test_numbers_are_those_of_the_positions(boards, contact):
    told = unit_summaries(MADE, "contact", "win", boards)
    assert {one.name for one in told} == set(LAYER.names)
    assert [one.moves for one in told] == sorted((one.moves for one in told), reverse=True)
    squashed, worth = squashed_on(contact), worth_of_units(contact)
    for one in told:
        k = LAYER.names.index(one.name)
        assert one.on == (squashed[:, k] >= 0.5).mean()
        assert one.off == (squashed[:, k] <= -0.5).mean()
        assert one.amount == LAYER.outputs[0, k]
        assert one.moves == pytest.approx(abs(worth[k]) * squashed[:, k].std(), rel=1e-5)
        assert one.high * worth[k] >= 0 >= one.low * worth[k]
        assert 0 <= one.share <= 1
    of_losses = {one.name: one for one in unit_summaries(MADE, "contact", "lose_gammon", boards)}
    for one in told:
        k = LAYER.names.index(one.name)
        assert of_losses[one.name] == replace(one, amount=float(LAYER.outputs[3, k]))
    assert unit_summaries(MADE, "contact", "equity", boards) == ()
    assert unit_summaries(replace(MADE, hidden_layers={}), "contact", "win", boards) == ()
    races = boards[classify_many(pack_many(boards)) == CLASS_NAMES.index("race")]
    with pytest.raises(DatasetError, match="no contact positions to evaluate hidden units on"):
        unit_summaries(MADE, "contact", "win", races)


def test_extremes_are_the_most_extreme(boards, contact):
    place = 3
    found = extremes(MADE, "contact", LAYER.names[place], np.concatenate([boards, boards]), 4)
    sums = LAYER.sums(features(MADE.parameters, contact), pack_many(contact))[:, place]
    for some, rank in ((found.largest, -1), (found.smallest, 1)):
        assert len(some) == 4
        assert len(np.unique([one.board for one in some], axis=0)) == 4
        best = np.sort(rank * np.unique(sums.round(9)))[:4]
        shown = LAYER.sums(
            features(MADE.parameters, np.array([one.board for one in some])),
            pack_many(np.array([one.board for one in some])),
        )[:, place]
        np.testing.assert_allclose(rank * shown, best, atol=1e-8)
        for one in some:
            assert one.equity == pytest.approx(head_equity(MADE, Position(one.board)), abs=1e-4)
    lines = list(unit_markdown(unit_summaries(MADE, "contact", "win", boards)[0], found))
    assert lines[0].startswith("### p")
    assert sum(line.startswith(" Position ID: ") for line in lines) == 8
    with pytest.raises(SettingError, match="unknown hidden unit 'none' for contact positions: there are 20"):
        extremes(MADE, "contact", "none", boards, 1)
    with pytest.raises(SettingError, match="have no hidden units for race positions"):
        extremes(MADE, "race", "p1", boards, 1)


def test_what_a_unit_adds_is_the_equity_less_that_with_the_unit_at_its_mean(boards, contact):
    place = 2
    found = extremes(MADE, "contact", LAYER.names[place], boards, 3)
    mean = squashed_on(np.unique(contact, axis=0))[:, place].mean()
    outputs = LAYER.outputs.copy()
    outputs[:, place] = 0
    heads = {
        name: replace(head, bias=head.bias + float(LAYER.outputs[OUTPUTS.index(name), place]) * mean)
        for name, head in MADE.classes["contact"].items()
    }
    without = replace(
        MADE,
        classes={**MADE.classes, "contact": heads},
        hidden_layers={"contact": replace(LAYER, outputs=outputs)},
    )
    for one in (*found.largest, *found.smallest):
        at = [head_equity(each, Position(one.board)) for each in (MADE, without)]
        assert one.adds == pytest.approx(at[0] - at[1], abs=1e-5)


def test_the_page_shows_no_board_twice():
    """Units with the same inputs have the same most extreme boards."""
    same = replace(
        LAYER,
        bias=np.full_like(LAYER.bias, LAYER.bias[1]),
        inputs=np.broadcast_to(LAYER.inputs[1], LAYER.inputs.shape).copy(),
        points=np.broadcast_to(LAYER.points[1], LAYER.points.shape).copy(),
    )
    weights = replace(MADE, hidden_layers={"contact": same})
    ids = re.findall(r"Position ID: (\S+)", "\n".join(lines(from_weights(weights), 100)))
    assert len(ids) == len(set(ids)) == 6


def test_the_page_says_where_there_are_none(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"<!-- generated: {REGION} -->\n<!-- end of {REGION} -->\n")
    assert main([str(page), "motif-v1"]) == 0
    assert region(page, REGION) == "motif-v1 has no hidden units.\n"
    assert main([str(tmp_path / "none.md")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
