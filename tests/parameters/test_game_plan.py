"""Game plans, compared with their definitions, with hand-made positions for every name."""

import numpy as np
import pytest
from hypothesis import given, settings

from motif.board.packed import pack_many
from motif.board.position import Position, as_boards
from motif.parameters.position_class import (
    AIMS,
    CLASS_NAMES,
    NO_PLAN,
    PLANS,
    PLAYERS_BACK,
    WRECKS,
    classify_many,
    plans_many,
)
from tests.games import some_boards
from tests.parameters import reference
from tests.parameters.reference import PlainBoard, other_view, own
from tests.strategies import positions


def checkers_back(board: PlainBoard) -> int:
    """Checkers in the other player's home board or on the bar."""
    return sum(own(board, place) for place in range(19, 26))


def aim(board: PlainBoard) -> str:
    """The player's plan: anchors are points made behind or on the other player's bar point."""
    anchors = [25 - point for point in range(18, 25) if reference.made(board, point)]
    if checkers_back(board) == 0:
        return "free"
    if len(anchors) >= 2:
        return "back game"
    if anchors:
        return "anchor" if anchors[0] in (7, 6, 5, 4) else "deep anchor"
    return "straggler" if checkers_back(board) == 1 else "split"


def plan(board: PlainBoard) -> str | None:
    theirs = other_view(board)
    if reference.position_class(board) == "race":
        return None
    if reference.position_class(board) == "contact":
        return f"{aim(board)} against {aim(theirs)}"
    mine_wrecked, theirs_wrecked = reference.crashed(board), reference.crashed(theirs)
    wreck = "both boards" if mine_wrecked and theirs_wrecked else "own board"
    if not mine_wrecked:
        wreck = "opponent's board"
    back = {
        (False, False): "nobody",
        (True, False): "player",
        (False, True): "opponent",
        (True, True): "both",
    }[checkers_back(board) > 0, checkers_back(theirs) > 0]
    return f"crashed {wreck}, {back} back"


def named(boards: np.ndarray) -> list[str | None]:
    return [None if code == NO_PLAN else PLANS[code] for code in plans_many(pack_many(boards))]


def plan_name(position: Position) -> str | None:
    return named(as_boards(position.board[None]))[0]


# A side's checkers in its own numbering; any two fit on one board.
AIMED = {
    "free": {13: 6, 8: 4, 6: 5},
    "straggler": {23: 1, 13: 5, 8: 4, 6: 5},
    "split": {24: 1, 22: 1, 13: 4, 8: 4, 6: 5},
    "anchor": {20: 2, 13: 4, 8: 4, 6: 5},
    "deep anchor": {23: 2, 13: 4, 8: 4, 6: 5},
    "back game": {23: 2, 22: 2, 13: 4, 8: 4, 6: 3},
}
# Crashed and intact boards, with and without a checker back.
WRECKED = {False: {13: 3, 1: 8, 2: 4}, True: {21: 1, 13: 2, 1: 8, 2: 4}}
SOUND = {False: {13: 6, 8: 4, 6: 5}, True: {21: 1, 13: 5, 8: 4, 6: 5}}


@pytest.mark.parametrize("mine", AIMS)
@pytest.mark.parametrize("theirs", AIMS)
def test_every_pair_of_aims(mine, theirs):
    position = Position.from_points(AIMED[mine], AIMED[theirs])
    assert plan_name(position) == plan(tuple(position.board.tolist())) == f"{mine} against {theirs}"


@pytest.mark.parametrize("wreck", WRECKS)
@pytest.mark.parametrize("back", PLAYERS_BACK)
def test_every_crashed_board(wreck, back):
    mine = WRECKED if wreck in ("own board", "both boards") else SOUND
    theirs = WRECKED if wreck in ("opponent's board", "both boards") else SOUND
    position = Position.from_points(mine[back in ("player", "both")], theirs[back in ("opponent", "both")])
    assert plan_name(position) == plan(tuple(position.board.tolist())) == f"crashed {wreck}, {back} back"


OPEN = {13: 4, 8: 4, 6: 5}
"""Thirteen checkers that are not part of an aim."""


@pytest.mark.parametrize(
    ("two", "name"),
    [
        pytest.param({24: 2}, "deep anchor", id="the start's two back checkers hold the ace point"),
        pytest.param({22: 2}, "deep anchor", id="the opponent's 3 point is deep"),
        pytest.param({21: 2}, "anchor", id="the opponent's 4 point is not"),
        pytest.param({19: 2}, "anchor", id="the opponent's 6 point"),
        pytest.param({18: 2}, "free", id="the opponent's bar point is outside the home board"),
        pytest.param({18: 1, 19: 1}, "straggler", id="of two blots, one back"),
        pytest.param({25: 2}, "split", id="two on the bar hold nothing"),
        pytest.param({25: 1, 24: 1}, "split", id="one of two on the bar"),
        pytest.param({25: 1, 12: 1}, "straggler", id="one on the bar"),
        pytest.param({17: 2}, "free", id="outside"),
    ],
)
def test_positions_of_the_last_two_checkers(two, name):
    position = Position.from_points(OPEN | two, {11: 15})
    assert plan_name(position) == f"{name} against free"
    assert plan_name(position.switch_sides()) == f"free against {name}"


def test_an_anchor_on_the_bar_point_counts_when_another_checker_is_back():
    position = Position.from_points({23: 1, 18: 2, 13: 4, 8: 4, 6: 4}, {11: 15})
    assert plan_name(position) == "anchor against free"


@settings(max_examples=400, deadline=None)
@given(positions())
def test_any_position_has_the_plan_of_the_sentences(position):
    assert plan_name(position) == plan(tuple(position.board.tolist()))


def swapped(name: str | None) -> str | None:
    """The name of the plan from the other player's side."""
    if name is None:
        return None
    if " against " in name:
        return " against ".join(reversed(name.split(" against ")))
    wreck, back = name.removeprefix("crashed ").removesuffix(" back").split(", ")
    wreck = {"own board": "opponent's board", "opponent's board": "own board"}.get(wreck, wreck)
    back = {"player": "opponent", "opponent": "player"}.get(back, back)
    return f"crashed {wreck}, {back} back"


@settings(max_examples=100, deadline=None)
@given(positions())
def test_the_other_player_has_the_same_plan_the_other_way_round(position):
    assert plan_name(position.switch_sides()) == swapped(plan_name(position))


def plans_of_class(class_name: str) -> list[str]:
    """Crashed positions have the plans with crashed boards, contact positions the others, races none."""
    if class_name == "race":
        return []
    return [name for name in PLANS if name.startswith("crashed ") == (class_name == "crashed")]


def test_positions_of_games_have_the_plans_of_the_sentences():
    boards = np.concatenate([some_boards("random", 1000, seed=3), some_boards("pubeval", 1000, seed=4)])
    found = named(boards)
    assert found == [plan(tuple(board.tolist())) for board in boards]
    classes = classify_many(pack_many(boards))
    for name, code in zip(found, classes, strict=True):
        assert name in (plans_of_class(CLASS_NAMES[code]) or [None])
    assert len(set(found)) > 25


def test_plans_differ():
    assert len(set(PLANS)) == len(PLANS) == len(AIMS) ** 2 + len(WRECKS) * len(PLAYERS_BACK)
