"""Games played in parallel, and their dice."""

from collections import Counter

import numpy as np
import pytest

from motif.board.moves import legal_plays, play_batches
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.rollouts.games import SeededDice, lockstep, starts, stream_dice, trial_dice
from motif.runtime.errors import SettingError
from motif.runtime.streams import next_below


def test_the_same_seed_rolls_the_same():
    first, again, other = SeededDice(5), SeededDice(5), SeededDice(6)
    rolls = [first.roll(game, ply) for game in range(3) for ply in range(40)]
    assert rolls == [again.roll(game, ply) for game in range(3) for ply in range(40)]
    assert rolls != [other.roll(game, ply) for game in range(3) for ply in range(40)]
    assert [first.opening(game) for game in range(50)] == [again.opening(game) for game in range(50)]


def test_openings_are_fair_and_never_equal():
    openings = Counter(SeededDice(1).opening(game) for game in range(6000))
    assert len(openings) == 30
    assert all(first != second for first, second in openings)
    # Each roll is expected 200 times; 5 standard deviations are 70.
    assert all(abs(count - 200) < 70 for count in openings.values())


def test_rolls_are_fair():
    rolls = Counter(SeededDice(2).roll(3, ply) for ply in range(7200))
    assert len(rolls) == 21
    for (high, low), count in rolls.items():
        expected = 200 if high == low else 400
        assert high >= low
        assert abs(count - expected) < 5 * expected**0.5


def test_choices_have_separate_seeds():
    dice = SeededDice(3)
    seeds = {dice.choice_seed(game, ply) for game in range(10) for ply in range(10)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_invalid_seeds():
    with pytest.raises(SettingError, match="seed must be at least 0"):
        SeededDice(-1)


def first_play(boards, rolls, states):
    """The first of the legal plays."""
    batches = play_batches(boards, rolls)
    return np.concatenate([batch.boards[batch.offsets[:-1]] for batch in batches])


def test_parallel_games_equal_single_games():
    dice = SeededDice(7)
    together = list(lockstep(first_play, dice.of(np.array([3, 8])), starts(2)))
    for game, number in enumerate((3, 8)):
        mine = [(ply, int(np.flatnonzero(ply.games == game)[0])) for ply in together if game in ply.games]
        position = Position.start()
        for ply, (moment, row) in enumerate(mine[:-1]):
            assert moment.number == ply
            assert Position(moment.boards[row]) == position
            assert moment.points[row] == 0
            ((high, low),), _ = dice.of(np.array([number]))(np.array([0]), ply)
            assert ply or high != low
            assert dice.roll(number, ply) == (high, low) or ply == 0
            position = legal_plays(position, (int(high), int(low)))[0].position
        last, row = mine[-1]
        assert Position(last.boards[row]) == position
        assert last.points[row] == int(outcome(position)) * (1 if last.number % 2 == 0 else -1) != 0


def test_two_players_take_turns():
    asked = []

    def player(name):
        def choose(boards, rolls, states):
            asked.append(name)
            return first_play(boards, rolls, states)

        return choose

    plies = list(lockstep(player("first"), SeededDice(1).of(np.arange(3)), starts(3), player("second")))
    assert asked == (["first", "second"] * len(plies))[: len(plies) - 1]


def test_streams_go_on_where_a_game_is_not_rolled_for():
    states = np.arange(2, dtype=np.uint64)
    dice, alone = stream_dice(states), stream_dice(states)
    both = [dice(np.array([0, 1]), 0)[0], dice(np.array([1]), 1)[0]]
    rolls = [alone(np.array([1]), ply)[0][0].tolist() for ply in range(2)]
    assert [both[0][1].tolist(), both[1][0].tolist()] == rolls
    assert states.tolist() == [0, 1]


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("ply", [0, 1, 2])
def test_a_random_choice_says_nothing_of_the_next_roll(stratified, ply):
    games = np.arange(3600)
    dice = trial_dice(0, np.zeros(1, np.int64), 0, len(games), stratified)
    for earlier in range(ply):
        dice(games, earlier)
    choices = np.array([next_below(np.array([seed], np.uint64), 4) for seed in dice(games, ply)[1]])
    next_rolls = dice(games, ply + 1)[0] @ (10, 1)
    for choice in range(4):
        assert 800 < (choices == choice).sum() < 1000
        assert len(np.unique(next_rolls[choices == choice])) == 21
