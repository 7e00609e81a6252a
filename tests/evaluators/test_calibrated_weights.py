"""Weight files with a calibration: its effect on probabilities and on the order of plays, and bad files."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.moves import legal_plays
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, StaticEvaluator, WeightFile, load_static, read_weight_file
from motif.evaluators.calibration import calibrated_chances, knot_fault, raw_knots
from motif.evaluators.nets import exported
from motif.evaluators.probabilities import equities
from motif.evaluators.static import model_fingerprint, with_bearoff, without_calibration
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players.player import CompiledPlayer
from motif.rollouts.rollout_settings import valued_for
from motif.runtime.errors import PlayerError, WeightFileError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards, some_decisions

KNOTS = {
    "contact": np.array([[-1.5, 0.2], [-0.25, 0.3], [0.5, 0.45], [1.5, 0.9]], np.float32),
    "race": np.array([[0.0, 0.25]], np.float32),
}
BOARDS = np.concatenate([some_boards("pubeval", 400, seed=3), some_boards("random", 100, seed=4)])
WIN_ONLY = made_weights(classes={"contact": ["win"], "race": ["win"]}, pairs=3)
CHANCES = made_weights(pairs=3)
EQUITY = made_weights(classes=dict.fromkeys(("contact", "race"), (*OUTPUTS, "equity")))
HIDDEN = made_weights("motif", hidden={"contact": 6, "race": 2})


def calibrated(weights: WeightFile) -> StaticEvaluator:
    return evaluator_of(replace(weights, calibration=KNOTS))


def by_numpy(chances: np.ndarray, boards: np.ndarray) -> np.ndarray:
    """The calibrated win probabilities, computed independently."""
    found = np.clip(chances.astype(np.float64), 1e-13, 1 - 1e-13)
    for code, name in enumerate(CLASS_NAMES):
        if name not in KNOTS:
            continue
        rows = classify_many(pack_many(boards)) == code
        x, y = KNOTS[name].astype(np.float64).T
        y = np.log(y / (1 - y)) / 2
        # Beyond the outer knots the shift is constant: distant knots have the same shift.
        x, y = (np.r_[values[0] - 30, values, values[-1] + 30] for values in (x, y))
        raw = np.log(found[rows] / (1 - found[rows])) / 2
        found[rows] = 1 / (1 + np.exp(-2 * np.interp(raw, x, y)))
    return found


@pytest.mark.parametrize(
    "weights", [WIN_ONLY, CHANCES, EQUITY, HIDDEN], ids=["win only", "chances", "equity", "hidden"]
)
def test_shown_probabilities_follow_the_knots(weights):
    plain, shown = evaluator_of(weights).evaluate_many(BOARDS), calibrated(weights).evaluate_many(BOARDS)
    expected = by_numpy(plain[:, 0], BOARDS)
    assert np.abs(shown[:, 0] - expected).max() < 2e-6
    assert np.abs(shown[:, 0] - plain[:, 0]).max() > 0.1
    # Gammon probabilities are unchanged, except those above the probability of the win or loss.
    limits = np.column_stack([expected, expected, 1 - expected, 1 - expected])
    assert np.abs(shown[:, 1:] - np.minimum(plain[:, 1:], limits)).max() < 2e-6
    crashed = classify_many(pack_many(BOARDS)) == CLASS_NAMES.index("crashed")
    assert crashed.any()
    assert shown[crashed].tobytes() == plain[crashed].tobytes()


def test_where_win_alone_ranks_only_comparisons_between_classes_change():
    plain, after = evaluator_of(WIN_ONLY), calibrated(WIN_ONLY)
    equity = after.equity_many(BOARDS)
    assert equity == pytest.approx(2 * after.evaluate_many(BOARDS)[:, 0] - 1, abs=1e-6)
    classes, before = classify_many(pack_many(BOARDS)), plain.equity_many(BOARDS)
    assert not (np.argsort(equity) == np.argsort(before)).all()
    for code in range(len(CLASS_NAMES)):
        rows = classes == code
        assert (np.argsort(equity[rows]) == np.argsort(before[rows])).all()


def test_an_equity_head_ranks_as_before():
    plain, after = evaluator_of(EQUITY), calibrated(EQUITY)
    assert after.equity_many(BOARDS).tobytes() == plain.equity_many(BOARDS).tobytes()
    boards, rolls = some_decisions("pubeval", 60, seed=5)
    seeds = np.zeros(len(boards), np.uint64)
    chosen = [CompiledPlayer("made", each.model).choose_many(boards, rolls, seeds) for each in (plain, after)]
    assert chosen[0].tobytes() == chosen[1].tobytes()


def test_without_an_equity_head_the_calibrated_probabilities_rank():
    after = calibrated(CHANCES)
    by_chances = equities(after.evaluate_many(BOARDS).astype(np.float64))
    assert after.equity_many(BOARDS) == pytest.approx(by_chances, abs=2e-6)


@pytest.mark.parametrize(
    "weights", [WIN_ONLY, CHANCES, EQUITY, HIDDEN], ids=["win only", "chances", "equity", "hidden"]
)
@pytest.mark.parametrize("scoring", ["money", "dmp"])
def test_compiled_play_takes_what_evaluation_ranks_first(weights, scoring):
    evaluator = valued_for(calibrated(weights), scoring)
    assert isinstance(evaluator, StaticEvaluator)
    boards, rolls = some_decisions("pubeval", 40, seed=6)
    chosen = CompiledPlayer("made", evaluator.model).choose_many(
        boards, rolls, np.zeros(len(boards), np.uint64)
    )
    for board, roll, after in zip(boards, rolls, chosen, strict=True):
        plays = legal_plays(Position(board), (int(roll[0]), int(roll[1])))
        values = evaluator.equity_many(np.array([play.position.board for play in plays]))
        taken = next(k for k, play in enumerate(plays) if (play.position.board == after).all())
        assert values[taken] == values.min()


def test_exact_bearoffs_stay_exact():
    home = np.zeros((1, 26), np.int8)
    home[0, 1:4], home[0, 22:25] = 2, -2
    exact = with_bearoff(evaluator_of(WIN_ONLY)).evaluate_many(home)
    assert with_bearoff(calibrated(WIN_ONLY)).evaluate_many(home).tobytes() == exact.tobytes()


def test_a_calibration_taken_away_leaves_the_weights():
    plain, after = evaluator_of(CHANCES), without_calibration(calibrated(CHANCES))
    assert after.evaluate_many(BOARDS).tobytes() == plain.evaluate_many(BOARDS).tobytes()
    assert model_fingerprint(after.model) == model_fingerprint(plain.model)
    assert model_fingerprint(calibrated(CHANCES).model) != model_fingerprint(plain.model)
    assert without_calibration(plain) is plain


def test_a_file_with_a_calibration_plays_the_same_after_reading(tmp_path):
    path = tmp_path / "made.yaml"
    replace(EQUITY, calibration=KNOTS).save(path)
    read = read_weight_file(path)
    assert {name: rows.tobytes() for name, rows in read.calibration.items()} == {
        name: rows.tobytes() for name, rows in KNOTS.items()
    }
    again = tmp_path / "again.yaml"
    read.save(again)
    assert again.read_bytes() == path.read_bytes()
    before, after = calibrated(EQUITY), load_static(str(path))
    assert after.evaluate_many(BOARDS).tobytes() == before.evaluate_many(BOARDS).tobytes()


RISING = st.lists(
    st.floats(-30, 30, width=32), min_size=1, max_size=20, unique_by=lambda value: np.float32(value).item()
).map(sorted)


@settings(max_examples=60, deadline=None)
@given(RISING, st.integers(0, 2**32 - 1), st.lists(st.floats(1e-9, 1 - 1e-9), min_size=2, max_size=30))
def test_the_map_rises_everywhere(scores, seed, chances):
    shares = np.sort(np.random.default_rng(seed).random(len(scores)))
    rows = np.column_stack([scores, 0.01 + 0.98 * shares]).astype(np.float32)
    if knot_fault(rows):
        return
    chances = np.unique(chances)
    found = calibrated_chances(raw_knots(rows), chances)
    assert (np.diff(found) >= 0).all()
    # It is strictly increasing far beyond float64's resolution of the probabilities.
    apart = (np.diff(chances) > 1e-3) & (chances[1:] < 0.999) & (chances[:-1] > 0.001)
    inside = (found[1:] < 1 - 1e-9) & (found[:-1] > 1e-9)
    assert (np.diff(found)[apart & inside] > 0).all()


WRONG = [
    ("calibration: 3", "calibration: must be a mapping, not 3"),
    ("calibration: {back: {}}", "calibration.back: unknown key; known keys: contact, crashed, race"),
    ("calibration: {race: 1}", "calibration.race: must be a mapping, not 1"),
    ("calibration: {race: {equity: []}}", "calibration.race.equity: unknown key; known keys: win"),
    ("calibration: {race: {}}", "calibration.race.win: must be a list of knots [score, chance], not None"),
    ("calibration: {race: {win: []}}", "calibration.race.win: must be a list of knots"),
    ("calibration: {race: {win: [0.5]}}", "calibration.race.win.1: must be two numbers [score, chance]"),
    ("calibration: {race: {win: [[0.1, 0.2, 0.3]]}}", "calibration.race.win.1: must be two numbers"),
    ("calibration: {race: {win: [[.nan, 0.2]]}}", "calibration.race.win.1: must be a finite number, not nan"),
    ("calibration: {race: {win: [[0, .nan]]}}", "calibration.race.win.1: must be a finite number, not nan"),
    ("calibration: {race: {win: [[0, '1']]}}", "calibration.race.win.1: must be a number, not '1'"),
    (
        "calibration: {race: {win: [[0, 1.0]]}}",
        "calibration.race.win.1: the chance must be above 0 and below 1",
    ),
    (
        "calibration: {race: {win: [[0, 0.0]]}}",
        "calibration.race.win.1: the chance must be above 0 and below 1",
    ),
    (
        "calibration: {race: {win: [[0, -1]]}}",
        "calibration.race.win.1: the chance must be above 0 and below 1",
    ),
    ("calibration: {race: {win: [[0, 0.2], [0, 0.3]]}}", "calibration.race.win.2: scores must rise"),
    ("calibration: {race: {win: [[0, 0.2], [1, 0.2]]}}", "calibration.race.win.2: chances must rise"),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[row[0] for row in WRONG])
def test_what_is_refused(line, message, tmp_path):
    path = tmp_path / "bad.yaml"
    WIN_ONLY.save(path)
    path.write_text(path.read_text().replace("fit:", f"{line}\nfit:"))
    with pytest.raises(WeightFileError, match=re.escape(f"{path}: {message}")):
        read_weight_file(path)


@pytest.mark.parametrize(
    ("name", "rows"), [("race", [[0, 1]]), ("race", [[1, 0.5], [0, 0.6]]), ("race", []), ("back", [[0, 0.5]])]
)
def test_no_weight_file_is_made_with_invalid_knots(name, rows):
    with pytest.raises(WeightFileError):
        replace(WIN_ONLY, calibration={name: np.array(rows, np.float32).reshape(-1, 2)})


def test_no_net_is_made_of_it():
    with pytest.raises(PlayerError, match="a calibration cannot be exported"):
        exported(replace(WIN_ONLY, calibration=KNOTS))
