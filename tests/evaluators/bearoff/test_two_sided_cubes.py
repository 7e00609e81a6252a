"""Exact equities with the cube, compared with fractions; and damage to their file."""

import numpy as np
import pytest

from motif.evaluators.bearoff import bearoff_tables, two_sided_cubes
from motif.evaluators.bearoff.lookup import number_of
from motif.evaluators.bearoff.tables import cubeless_equities
from motif.evaluators.bearoff.two_sided_cubes import (
    CENTRED,
    MONEY_CUBES_FILE,
    OPPONENTS,
    OWN,
    home_plays_from,
    load_or_build_cubes,
    money_cubes,
    money_rules,
    pair_values,
)
from tests.evaluators.bearoff import exact

STATES = {"nobody": CENTRED, "own": OWN, "opponent": OPPONENTS}


@pytest.fixture(scope="module")
def cubes():
    return money_cubes()


def test_two_checkers_a_side_against_fractions(cubes):
    sides = [side for side in exact.sides(2) if any(side)]
    for own in sides:
        for opponent in sides:
            found = cubes[number_of(own), number_of(opponent)]
            for owner, state in STATES.items():
                assert found[state] == pytest.approx(float(exact.rolled(own, opponent, owner)), abs=1e-14)


@pytest.mark.parametrize(
    ("own", "opponent"), [((0, 1, 0, 0, 2, 0), (3, 0, 0, 1, 0, 0)), ((1, 1, 1, 1, 0, 0), (0, 0, 0, 2, 0, 1))]
)
def test_more_checkers_against_fractions(cubes, own, opponent):
    found = cubes[number_of(own), number_of(opponent)]
    for owner, state in STATES.items():
        assert found[state] == pytest.approx(float(exact.rolled(own, opponent, owner)), abs=1e-14)


def test_a_last_roll(cubes):
    """19 of 36 rolls win: every equity is 1/18, because no player who would lose by it turns the cube."""
    assert cubes[number_of((0, 1, 0, 0, 1, 0)), 1] == pytest.approx(np.full(3, 1 / 18))


def test_it_is_best_to_own_the_cube(cubes):
    going = cubes[1:, 1:]
    assert (going[..., OPPONENTS] <= going[..., CENTRED] + 1e-12).all()
    assert (going[..., CENTRED] <= going[..., OWN] + 1e-12).all()
    assert np.abs(going).max() <= 1


def test_a_cube_of_your_own_is_worth_something_and_the_opponents_costs(cubes):
    cubeless = cubeless_equities(bearoff_tables())[1:, 1:]
    assert (cubes[1:, 1:, OWN] >= cubeless - 1e-12).all()
    assert (cubes[1:, 1:, OPPONENTS] <= cubeless + 1e-12).all()


def test_single_pairs_are_those_of_the_table(cubes):
    numbers = number_of((1, 0, 2, 0, 0, 1)), number_of((0, 2, 0, 1, 2, 0))
    sides = tuple(home_plays_from(number) for number in numbers)
    values = pair_values(money_rules(), sides, lambda steps=1: None)
    first, second = (side.numbers[1:] for side in sides)
    assert np.array_equal(values[0, 1:, 1:], cubes[np.ix_(first, second)])
    assert np.array_equal(values[1, 1:, 1:], cubes[np.ix_(second, first)].transpose(1, 0, 2))


def test_a_file_is_built_once_and_mapped(cubes, tmp_path, monkeypatch):
    path = tmp_path / "bearoff" / MONEY_CUBES_FILE
    monkeypatch.setattr(two_sided_cubes, "build_money_cubes", lambda: cubes)
    first = load_or_build_cubes(path)
    monkeypatch.setattr(two_sided_cubes, "build_money_cubes", None)
    second = load_or_build_cubes(path)
    assert np.array_equal(first, cubes)
    assert np.array_equal(second, cubes)
    assert not second.flags.writeable


@pytest.mark.parametrize("place", [0, 50, 60, 64, 5000, -1])
def test_a_damaged_file_is_built_again(cubes, tmp_path, monkeypatch, place):
    path = tmp_path / MONEY_CUBES_FILE
    monkeypatch.setattr(two_sided_cubes, "build_money_cubes", lambda: cubes)
    load_or_build_cubes(path)
    sound = path.read_bytes()
    damaged = bytearray(sound)
    damaged[place] ^= 0x40
    path.write_bytes(damaged)
    assert np.array_equal(load_or_build_cubes(path), cubes)
    assert path.read_bytes() == sound


def test_a_folder_that_cannot_be_written_is_no_error(cubes, tmp_path, monkeypatch):
    monkeypatch.setattr(two_sided_cubes, "build_money_cubes", lambda: cubes.copy())
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    assert np.array_equal(load_or_build_cubes(blocker / MONEY_CUBES_FILE), cubes)
