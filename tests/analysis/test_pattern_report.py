"""What patterns do along positions: against sums written out, and where they are largest."""

from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.evaluator_analysis import judgement
from motif.analysis.pattern_report import extremes, pattern_markdown, told_patterns
from motif.analysis.term_report import board_terms
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.patterns import squash_patterns
from motif.evaluators.probabilities import HEADS
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, PLANS, classify_many, plans_many
from motif.runtime.errors import DatasetError, SettingError
from tests.evaluators.made_weights import made_weights
from tests.evaluators.written_out import raw_sum
from tests.games import some_boards
from tools.marked_page import region
from tools.pattern_page import REGION, main

MADE = made_weights(
    "motif",
    classes=dict.fromkeys(CLASS_NAMES, HEADS),
    pairs=30,
    points=["equity"],
    patterns={"contact": 20, "crashed": 5},
    seed=5,
)


PLANNED = made_weights(
    "motif",
    classes=dict.fromkeys(CLASS_NAMES, HEADS),
    plans=dict.fromkeys(PLANS[::2], ("equity",)),
    patterns={"contact": 20, "crashed": 5},
    amounts=PLANS[::4],
    seed=5,
)


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return some_boards("pubeval", 600, seed=6)


@pytest.fixture(scope="module")
def contact(boards) -> np.ndarray:
    return boards[classify_many(pack_many(boards)) == 0]


def test_a_judgement_has_the_patterns(boards):
    judged = judgement(MADE, "equity", boards)
    written = [raw_sum(MADE, "equity", Position(board)) for board in boards[:100]]
    np.testing.assert_allclose(judged.raw[:100], written, atol=1e-5)
    assert judged.patterns == 25
    assert judgement(MADE, "win", boards).patterns == 0


def test_game_plans_weigh_patterns_in_their_own_ways(boards, contact):
    judged = judgement(PLANNED, "equity", boards)
    written = [raw_sum(PLANNED, "equity", Position(board)) for board in boards[:100]]
    np.testing.assert_allclose(judged.raw[:100], written, atol=1e-5)
    assert judged.patterns == 25
    told = {one.name: one for one in told_patterns(PLANNED, "contact", "equity", boards)}
    patterns = PLANNED.patterns["contact"]
    squashed = squash_patterns(patterns.sums(features(PLANNED.parameters, contact), pack_many(contact)))
    plans = [PLANS[plan] for plan in plans_many(pack_many(contact))]
    amounts = np.array([PLANNED.plan_amounts.get(plan, patterns.amounts) for plan in plans])
    slope = (3 / np.cosh(judgement(PLANNED, "equity", contact).raw) ** 2).mean()
    for k, name in enumerate(patterns.names):
        assert told[name].amount == pytest.approx(amounts[:, k].mean(), rel=1e-5)
        assert told[name].moves == pytest.approx((amounts[:, k] * squashed[:, k]).std() * slope, rel=1e-5)
    name = patterns.names[2]
    most = extremes(PLANNED, "contact", name, boards, 1).largest[0]
    without = replace(
        PLANNED,
        patterns={
            **PLANNED.patterns,
            "contact": replace(patterns, amounts=np.where(np.arange(20) == 2, 0, patterns.amounts)),
        },
        plan_amounts={p: np.where(np.arange(len(of)) == 2, 0, of) for p, of in PLANNED.plan_amounts.items()},
    )
    at = [judgement(each, "equity", most.board[None]).raw[0] for each in (PLANNED, without)]
    own = dict(zip(map(bytes, contact), amounts[:, 2], strict=True))[bytes(most.board)]
    mean = squash_patterns(patterns.sums(*_seen_of(np.unique(contact, axis=0))))[:, 2].mean()
    assert most.adds == pytest.approx(3 * np.tanh(at[0]) - 3 * np.tanh(at[1] + own * mean), abs=1e-6)


def _without_third(amounts: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(amounts)) == 2, np.float32(0), amounts)


def _seen_of(boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return features(PLANNED.parameters, boards), pack_many(boards)


def test_slopes_are_those_of_the_raw_sum(contact, monkeypatch):
    judged, step = judgement(MADE, "equity", contact), 1e-3
    for feature in (0, 20, 50):
        raws = []
        for side in (1, -1):
            moved = judged.features.copy()
            moved[:, feature] += side * step
            with monkeypatch.context() as patch:
                patch.setattr("motif.analysis.evaluator_analysis.features", lambda *_, moved=moved: moved)
                raws.append(judgement(MADE, "equity", contact).raw)
        slopes = (raws[0] - raws[1]) / (2 * step)
        np.testing.assert_allclose(judged.slopes[:, feature], slopes, atol=1e-4)


def test_what_features_add_is_what_they_change(contact):
    """Without features, and without checkers on places, the pattern is what its bias makes it."""
    plain = replace(MADE, patterns={})
    patterns = MADE.patterns["contact"]
    patterns = replace(patterns, points=np.zeros_like(patterns.points))
    with_patterns = judgement(replace(MADE, patterns={"contact": patterns}), "equity", contact)
    alone = judgement(plain, "equity", contact)
    at_nothing = float(squash_patterns(patterns.bias.astype(float)) @ patterns.amounts)
    gained = (with_patterns.contributions - alone.contributions).sum(axis=1)
    np.testing.assert_allclose(gained + at_nothing, with_patterns.raw - alone.raw, atol=1e-9)


def test_the_slope_of_terms_is_that_of_the_whole_value(contact):
    terms, _ = board_terms(contact, MADE, "contact", "", "equity")
    raw = judgement(MADE, "equity", contact).raw
    assert terms.statistics.slope == pytest.approx(float((3 / np.cosh(raw) ** 2).mean()), rel=1e-6)


def test_numbers_are_those_of_the_positions(boards, contact):
    told = told_patterns(MADE, "contact", "equity", boards)
    assert {one.name for one in told} == set(MADE.patterns["contact"].names)
    assert [one.moves for one in told] == sorted((one.moves for one in told), reverse=True)
    patterns = MADE.patterns["contact"]
    squashed = squash_patterns(patterns.sums(features(MADE.parameters, contact), pack_many(contact)))
    slope = (3 / np.cosh(judgement(MADE, "equity", contact).raw) ** 2).mean()
    for one in told:
        k = patterns.names.index(one.name)
        assert one.on == (squashed[:, k] >= 0.5).mean()
        assert one.off == (squashed[:, k] <= -0.5).mean()
        assert one.moves == pytest.approx(abs(patterns.amounts[k]) * squashed[:, k].std() * slope, rel=1e-5)
        assert one.high * one.amount >= 0 >= one.low * one.amount
        assert 0 <= one.share <= 1
    assert told_patterns(MADE, "contact", "win", boards) == ()
    assert told_patterns(replace(MADE, patterns={}), "contact", "equity", boards) == ()
    races = boards[classify_many(pack_many(boards)) == CLASS_NAMES.index("race")]
    with pytest.raises(DatasetError, match="no contact positions to see patterns on"):
        told_patterns(MADE, "contact", "equity", races)


def test_extremes_are_the_most_extreme(boards, contact):
    patterns, place = MADE.patterns["contact"], 3
    found = extremes(MADE, "contact", patterns.names[place], np.concatenate([boards, boards]), 4)
    sums = patterns.sums(features(MADE.parameters, contact), pack_many(contact))[:, place]
    for some, rank in ((found.largest, -1), (found.smallest, 1)):
        assert len(some) == 4
        assert len(np.unique([one.board for one in some], axis=0)) == 4
        best = np.sort(rank * np.unique(sums.round(9)))[:4]
        shown = patterns.sums(
            features(MADE.parameters, np.array([one.board for one in some])),
            pack_many(np.array([one.board for one in some])),
        )[:, place]
        np.testing.assert_allclose(rank * shown, best, atol=1e-8)
        for one in some:
            assert one.equity == pytest.approx(
                3 * np.tanh(raw_sum(MADE, "equity", Position(one.board))), abs=1e-4
            )
    lines = list(pattern_markdown(told_patterns(MADE, "contact", "equity", boards)[0], found))
    assert lines[0].startswith("### p")
    assert sum(line.startswith(" Position ID: ") for line in lines) == 8
    with pytest.raises(SettingError, match="no pattern of contact positions is called 'none': there are 20"):
        extremes(MADE, "contact", "none", boards, 1)
    with pytest.raises(SettingError, match="have no patterns for race positions"):
        extremes(MADE, "race", "p1", boards, 1)


def test_the_page_says_where_there_are_none(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- generated: patterns -->\n<!-- end of patterns -->\n")
    assert main([str(page), "motif-v6"]) == 0
    assert region(page, REGION) == "motif-v6 has no patterns.\n"
    assert main([str(tmp_path / "none.md")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
