from collections import Counter

import pytest

from motif.rollout.games import SeededDice
from motif.runtime.errors import SettingError


def test_the_same_seed_throws_the_same():
    first, again, other = SeededDice(5), SeededDice(5), SeededDice(6)
    rolls = [first.roll(game, ply) for game in range(3) for ply in range(40)]
    assert rolls == [again.roll(game, ply) for game in range(3) for ply in range(40)]
    assert rolls != [other.roll(game, ply) for game in range(3) for ply in range(40)]
    assert [first.opening(game) for game in range(50)] == [again.opening(game) for game in range(50)]


def test_openings_are_fair_and_never_equal():
    openings = Counter(SeededDice(1).opening(game) for game in range(6000))
    assert len(openings) == 30
    assert all(first != second for first, second in openings)
    # Each is expected 200 times; 5 standard deviations are 70.
    assert all(abs(count - 200) < 70 for count in openings.values())


def test_rolls_are_fair():
    rolls = Counter(SeededDice(2).roll(3, ply) for ply in range(7200))
    assert len(rolls) == 21
    for (high, low), count in rolls.items():
        expected = 200 if high == low else 400
        assert high >= low
        assert abs(count - expected) < 5 * expected**0.5


def test_choices_have_seeds_of_their_own():
    dice = SeededDice(3)
    seeds = {dice.choice_seed(game, ply) for game in range(10) for ply in range(10)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_what_is_no_seed():
    with pytest.raises(SettingError, match="--seed must be at least 0"):
        SeededDice(-1)
