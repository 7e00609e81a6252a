"""Random streams: repeatable, different for every (seed, item, trial), and fair."""

import numpy as np
import pytest
from scipy import stats

from motif.compiler.jit import kernel
from motif.runtime.streams import derive, derive_states, next_below, next_roll, next_uint64, next_unit

TOO_UNLIKELY = 0.001
"""Seeds are fixed, so a test that passes once passes for ever."""


@kernel
def words_of(state, number):
    stream = np.array([state], np.uint64)
    words = np.empty(number, np.uint64)
    for k in range(number):
        words[k] = next_uint64(stream)
    return words


@kernel
def rolls_of(seed, item, trial, number):
    stream = np.array([derive(np.uint64(seed), np.uint64(item), np.uint64(trial))], np.uint64)
    rolls = np.empty((number, 2), np.int64)
    for k in range(number):
        rolls[k] = next_roll(stream)
    return rolls


@kernel
def numbers_below(state, limit, number):
    stream = np.array([state], np.uint64)
    numbers = np.empty(number, np.int64)
    for k in range(number):
        numbers[k] = next_below(stream, limit)
    return numbers


@kernel
def first_units(states):
    units = np.empty(states.shape[0], np.float64)
    for k in range(states.shape[0]):
        units[k] = next_unit(states[k : k + 1].copy())
    return units


def p_value(counts: np.ndarray, chances: np.ndarray) -> float:
    return float(stats.chisquare(counts, chances * counts.sum()).pvalue)


def test_the_published_sequence_of_splitmix64():
    # Seed 1234567, as on the SplitMix64 page of Rosetta Code.
    assert words_of(np.uint64(1234567), 5).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_the_same_derivation_gives_the_same_numbers():
    assert rolls_of(5, 17, 3, 50).tolist() == rolls_of(5, 17, 3, 50).tolist()


@pytest.mark.parametrize("other", [(6, 17, 3), (5, 18, 3), (5, 17, 4), (17, 5, 3), (5, 3, 17)])
def test_other_derivations_give_other_numbers(other):
    assert rolls_of(5, 17, 3, 50).tolist() != rolls_of(*other, 50).tolist()


def test_no_two_streams_start_alike():
    states = [derive_states(seed, 0, 200, trial) for seed in range(20) for trial in range(50)]
    assert len(np.unique(np.concatenate(states))) == 20 * 50 * 200


def test_states_do_not_depend_on_how_items_are_grouped():
    together = derive_states(1, 0, 100, 2)
    assert together.tolist() == [*derive_states(1, 0, 30, 2), *derive_states(1, 30, 70, 2)]
    assert words_of(together[17], 3).tolist() == words_of(derive_states(1, 17, 1, 2)[0], 3).tolist()


def test_rolls_show_the_higher_die_first_and_come_as_often_as_they_should():
    rolls = rolls_of(1, 0, 0, 360_000)
    assert (rolls[:, 0] >= rolls[:, 1]).all()
    kinds, counts = np.unique(rolls, axis=0, return_counts=True)
    assert len(kinds) == 21
    chances = np.where(kinds[:, 0] == kinds[:, 1], 1, 2) / 36
    assert p_value(counts, chances) > TOO_UNLIKELY


def test_first_rolls_of_many_streams_come_as_often_as_they_should():
    rolls = np.concatenate([rolls_of(1, item, trial, 1) for item in range(200) for trial in range(100)])
    kinds, counts = np.unique(rolls, axis=0, return_counts=True)
    chances = np.where(kinds[:, 0] == kinds[:, 1], 1, 2) / 36
    assert p_value(counts, chances) > TOO_UNLIKELY


@pytest.mark.parametrize("limit", [1, 2, 6, 7, 36])
def test_numbers_below_a_limit(limit):
    counts = np.bincount(numbers_below(np.uint64(9), limit, 70_000))
    assert len(counts) == limit
    assert limit == 1 or p_value(counts, np.full(limit, 1 / limit)) > TOO_UNLIKELY


def test_units_fill_the_unit_interval_evenly():
    units = first_units(derive_states(1, 0, 100_000, 0))
    assert 0 <= units.min() < units.max() < 1
    assert stats.kstest(units, "uniform").pvalue > TOO_UNLIKELY


@pytest.mark.parametrize(
    "neighbour",
    [
        pytest.param((1, 1, 0), id="the next item"),
        pytest.param((1, 0, 1), id="the next trial"),
        pytest.param((2, 0, 0), id="the next seed"),
    ],
)
def test_neighbouring_streams_know_nothing_of_each_other(neighbour):
    seed, item, trial = neighbour
    here, there = derive_states(1, 0, 50_000, 0), derive_states(seed, item, 50_000, trial)
    units = first_units(here), first_units(there)
    cells = np.histogram2d(*units, bins=6, range=((0, 1), (0, 1)))[0]
    assert p_value(cells.ravel(), np.full(36, 1 / 36)) > TOO_UNLIKELY
    assert abs(np.corrcoef(units)[0, 1]) < 4 / np.sqrt(len(here))
    differing_bits = np.bitwise_count(here ^ there)  # of 64 fair ones: 32 on average, deviation 4
    assert abs(differing_bits.mean() - 32) < 4 * 4 / np.sqrt(len(here))
