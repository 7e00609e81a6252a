"""Measured parameters, compared with the slow implementations of their descriptions in `reference`."""

import numpy as np
import pytest
from hypothesis import given, settings

from motif.board.outcome import Outcome, outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.parameters import PARAMETER_SETS
from motif.parameters.motif_set import MOTIF_SET, OF_PLAYER_ON_ROLL
from motif.parameters.named_sets import features
from motif.parameters.sets import code_of, measure_packed
from tests.games import some_boards
from tests.parameters import reference
from tests.strategies import positions

every_set = pytest.mark.parametrize("chosen", PARAMETER_SETS.values(), ids=PARAMETER_SETS)

START = {24: 2, 13: 5, 8: 3, 6: 5}


def values_of(chosen, position: Position) -> dict[str, float]:
    """The measured values by name, in their units."""
    row = features(chosen, position.board[None])[0] / chosen.scales
    return {name: round(float(value), 4) for name, value in zip(chosen.names, row, strict=True)}


def differences(chosen, board: np.ndarray) -> list[str]:
    """Describe the errors of `features` on one board; empty if it agrees with the reference."""
    found = values_of(chosen, Position(board))
    expected = reference.measured(chosen.name, tuple(board.tolist()))
    assert tuple(expected) == chosen.names
    return [
        f"{name} of {Position(board)!r} is {expected[name]}, not {found[name]}"
        for name in chosen.names
        if abs(found[name] - expected[name]) > 1e-3
    ]


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """Unusual positions with many blots and checkers on the bar, and ordinary positions."""
    return np.concatenate([some_boards("random", 1400, seed=1), some_boards("pubeval", 800, seed=2)])


@every_set
def test_positions_of_games_agree_with_the_reference(chosen, boards):
    found = [line for board in boards[::2] for line in differences(chosen, board)]
    assert not found, "\n".join(found[:20])


def test_the_parameters_listed_for_the_player_on_roll_are_those_that_no_opponent_changes(boards):
    own, other = boards[:1000], boards[1000:2000]
    mixed = np.maximum(own, 0) + np.minimum(other, 0) * (own <= 0)
    same = (features(MOTIF_SET, mixed) == features(MOTIF_SET, own)).all(axis=0)
    assert np.flatnonzero(same).tolist() == sorted(OF_PLAYER_ON_ROLL)


@every_set
def test_the_kernel_writes_every_parameter_to_its_own_place(chosen, boards):
    values = np.full((len(boards), len(chosen)), np.nan, np.float32)
    measure_packed(code_of(chosen), chosen.functions, pack_many(boards), chosen.scales, values)
    unwritten = np.isnan(values).any(axis=0)
    assert [name for name, missing in zip(chosen.names, unwritten, strict=True) if missing] == []
    copies = [
        (chosen.names[first], chosen.names[second])
        for first in range(len(chosen))
        for second in range(first)
        if (values[:, first] == values[:, second]).all()
    ]
    assert copies == []


def test_the_positions_vary_every_parameter(boards):
    for chosen in PARAMETER_SETS.values():
        values = features(chosen, boards)
        dull = [name for name, column in zip(chosen.names, values.T, strict=True) if np.ptp(column) == 0]
        # A player who has borne off a checker is never that far from home again.
        assert dull == (["early_borne_off"] if chosen.name == "phase" else [])
    assert (boards[:, 25] >= 2).sum() > 20
    assert (boards[:, 0] <= -2).sum() > 20


@every_set
@settings(max_examples=150, deadline=None)
@given(position=positions())
def test_any_position_agrees_with_the_reference(chosen, position):
    assert differences(chosen, position.board) == []


@every_set
@settings(max_examples=150, deadline=None)
@given(position=positions())
def test_switching_sides_swaps_the_twins(chosen, position):
    here, there = values_of(chosen, position), values_of(chosen, position.switch_sides())
    for parameter in chosen.parameters:
        if parameter.twin is not None:
            assert here[parameter.name] == there[parameter.twin]
        elif parameter.side == "difference":
            assert here[parameter.name] == -there[parameter.name]
        elif chosen.name != "phase":  # which describes the player who moved last
            assert here[parameter.name] == there[parameter.name]


@settings(max_examples=150, deadline=None)
@given(positions())
def test_contact_left_is_positive_outside_races(position):
    left = values_of(PARAMETER_SETS["motif"], position)["contact_left"]
    assert (left > 0) == (reference.position_class(tuple(position.board.tolist())) != "race")


@every_set
def test_features_are_about_zero_to_one(chosen, boards):
    values = features(chosen, boards)
    assert values.dtype == np.float32
    assert values.shape == (len(boards), len(chosen))
    assert np.isfinite(values).all()
    # A large value is 1; no value exceeds it by much, even in random games.
    assert np.abs(values).max() < 6
    assert (np.quantile(np.abs(values), 0.99, axis=0) < 3).all()


@every_set
def test_each_board_is_measured_alone(chosen, boards):
    together = features(chosen, boards[:50])
    alone = np.concatenate([features(chosen, board[None]) for board in boards[:50]])
    assert together.tobytes() == alone.tobytes()
    assert features(chosen, boards[:0]).shape == (0, len(chosen))


@every_set
def test_a_finished_game_can_be_measured(chosen):
    over = Position.from_points({}, {3: 2, 1: 4})
    assert outcome(over) != Outcome.UNFINISHED
    assert differences(chosen, over.board) == []


# The numbers below are counted by hand.
MOTIF_START_OF_ONE_SIDE = {
    "pip_count": 167.0,
    "borne_off": 0.0,
    "nothing_off": 1.0,
    "bring_home": 77.0,  # 2 x 18 + 5 x 7 + 3 x 2
    "rearmost": 24.0,
    "spread": 657.0,  # 2 x 16^2 + 5 x 5^2 + 5 x 2^2
    "stacked": 4.0,
    "spares_home": 3.0,
    "deep_checkers": 0.0,
    "on_bar": 0.0,
    "home_points": 1.0,
    "outfield_points": 2.0,
    "longest_prime": 1.0,
    "contained": 12.0,  # from the opponent's 24 point: 41 32, 61 52 43, 66 and 55 do not run
    "best_block": 14.0,  # from the opponent's 23 point: 31 22, 51 42 33, 65, 44, 66 and 64
    "board_against_bar": 0.0,
    "blots_home": 0.0,
    "blots_elsewhere": 0.0,
    "hitting_rolls": 0.0,
    "direct_shots": 0.0,
    "hit_loss": 0.0,
    "back_checkers": 2.0,
    "advanced_anchor": 0.0,
    "deep_anchors": 1.0,
    "midfield_checkers": 5.0,
    "mobility": 2234.0,  # 24 point: 2 x 18 x 24, 13 point: 5 x 7 x 34, 8 point: 3 x 2 x 30
    "second_rear": 24.0,
    "pips_to_pass": 152.0,  # 2 x 23 + 5 x 12 + 3 x 7 + 5 x 5: the opponent is on the ace point
    "pips_past": 0.0,
    "widest_gap": 5.0,  # from the 24 to the 13 point
    "spare_pips": 38.0,  # 6 point: 3 x 5, 8 point: 1 x 2, 13 point: 3 x 7
    "blots_back": 0.0,
    "points_ahead": 1.0,  # the opponent's six point
    "board_against_back": 2.0,
}


def both_sides(own: dict[str, float], opponent: dict[str, float], shared: dict[str, float]):
    return own | {f"{name}_opponent": value for name, value in opponent.items()} | shared


def test_the_start_position_by_hand():
    side = MOTIF_START_OF_ONE_SIDE
    expected = both_sides(side, side, {"pip_lead": 0.0, "contact_left": 23.0})
    assert values_of(PARAMETER_SETS["motif"], Position.start()) == expected


def test_the_start_position_by_hand_in_keiths_set():
    side = {
        "pip_count": 167.0,
        "borne_off": 0.0,
        "on_bar": 0.0,
        "points_held": 3.0,
        "home_points": 1.0,
        "blots": 0.0,
        "direct_shots": 0.0,
        "indirect_shots": 0.0,
        "rearmost": 24.0,
    }
    expected = both_sides(side, side, {"pip_lead": 0.0})
    assert values_of(PARAMETER_SETS["keith"], Position.start()) == expected


FIVE_POINT_BOARD = Position.from_points(
    {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 8: 3, 13: 2}, {25: 1, 24: 2, 13: 4, 8: 3, 6: 5}
)


def test_a_five_point_board_against_the_bar_by_hand():
    own = {
        "pip_count": 90.0,
        "borne_off": 0.0,
        "nothing_off": 1.0,
        "bring_home": 20.0,
        "rearmost": 13.0,
        "spread": 230.0,
        "stacked": 0.0,
        "spares_home": 0.0,
        "deep_checkers": 2.0,
        "on_bar": 0.0,
        "home_points": 5.0,
        "outfield_points": 2.0,
        "longest_prime": 5.0,
        "contained": 34.0,  # bar/18 with 61 is all that runs
        "best_block": 34.0,
        "board_against_bar": 25.0,
        "blots_home": 0.0,
        "blots_elsewhere": 0.0,
        "hitting_rolls": 0.0,
        "direct_shots": 0.0,
        "hit_loss": 0.0,
        "back_checkers": 0.0,
        "advanced_anchor": 0.0,
        "deep_anchors": 0.0,
        "midfield_checkers": 2.0,
        "mobility": 656.0,  # 8 point: 3 x 2 x 30, 13 point: 2 x 7 x 34
        "second_rear": 13.0,
        "pips_to_pass": 90.0,  # the opponent is on the bar
        "pips_past": 0.0,
        "widest_gap": 0.0,
        "spare_pips": 2.0,
        "blots_back": 0.0,
        "points_ahead": 1.0,  # the opponent's midpoint, my 12 point
        "board_against_back": 15.0,
    }
    opponent = {
        "pip_count": 179.0,
        "borne_off": 0.0,
        "nothing_off": 1.0,
        "bring_home": 89.0,
        "rearmost": 25.0,
        "spread": 921.0,
        "stacked": 3.0,
        "spares_home": 3.0,
        "deep_checkers": 0.0,
        "on_bar": 1.0,
        "home_points": 1.0,
        "outfield_points": 2.0,
        "longest_prime": 1.0,
        "contained": 2.0,  # 13 point: 11 and 66
        "best_block": 14.0,  # my 23 point
        "board_against_bar": 0.0,
        "blots_home": 0.0,
        "blots_elsewhere": 0.0,
        "hitting_rolls": 0.0,
        "direct_shots": 0.0,
        "hit_loss": 0.0,
        "back_checkers": 3.0,
        "advanced_anchor": 0.0,
        "deep_anchors": 1.0,
        "midfield_checkers": 4.0,
        "mobility": 1522.0,  # bar: 19 x 2, 24 point: 2 x 18 x 8, 13 point: 4 x 7 x 35, 8 point: 3 x 2 x 36
        "second_rear": 24.0,
        "pips_to_pass": 41.0,  # to the opponent's 12 point: 13 + 2 x 12 + 4 x 1
        "pips_past": 54.0,  # 3 x 8 + 5 x 6
        "widest_gap": 5.0,
        "spare_pips": 31.0,  # 6 point: 3 x 5, 8 point: 1 x 2, 13 point: 2 x 7
        "blots_back": 0.0,
        "points_ahead": 5.0,
        "board_against_back": 0.0,
    }
    expected = both_sides(own, opponent, {"pip_lead": 89.0, "contact_left": 13.0})
    assert values_of(PARAMETER_SETS["motif"], FIVE_POINT_BOARD) == expected


# Name, own checkers, the opponent's in the opponent's numbering, and by hand: rolls that hit, that hit with
# one die, and the pips lost over 36 rolls.
SHOTS: list[tuple[str, dict[int, int], dict[int, int], int, int, int]] = [
    ("six away: 6-x, 51 42 33 22", {13: 1}, {18: 1, 1: 2}, 17, 11, 17 * 7),
    ("one away", {8: 1}, {18: 1, 1: 2}, 11, 11, 11 * 7),
    ("twelve away: 66 44 33", {19: 1}, {18: 1, 1: 2}, 3, 0, 3 * 7),
    ("six away with the middle closed", {13: 1}, {18: 1, 13: 2, 14: 2, 15: 2, 16: 2, 17: 2}, 11, 11, 11 * 7),
    ("two blots: the dearer counts", {13: 1}, {13: 1, 14: 1, 1: 2}, 20, 20, 11 * 12 + 9 * 11),
    ("behind it nothing can hit", {5: 2}, {18: 1, 1: 2}, 0, 0, 0),
    ("from the bar: any 4, 31, 22, 11", {25: 1}, {4: 1, 10: 2}, 15, 11, 15 * 21),
    ("from the bar, or by another once it is in", {25: 1, 14: 1}, {4: 2, 5: 2, 12: 1}, 9, 7, 9 * 13),
    ("two on the bar only enter", {25: 2, 14: 1}, {4: 1, 12: 1}, 11, 11, 11 * 21),
]


@pytest.mark.parametrize(
    ("own", "opponent", "hitting", "direct", "loss"), [pytest.param(*row[1:], id=row[0]) for row in SHOTS]
)
def test_shots_by_hand(own, opponent, hitting, direct, loss):
    values = values_of(PARAMETER_SETS["motif"], Position.from_points(own, opponent))
    assert (values["hitting_rolls"], values["direct_shots"]) == (hitting, direct)
    assert values["hit_loss"] == pytest.approx(loss / 36, abs=1e-3)
