"""Compiled trials: games played from a position, with variance reduction.

The luck of a roll, which is its value above the mean of all rolls, is a control variate.  For a roll r in
position x, let v(x, r) be the evaluator's value of the position after its play of r.  The luck of the roll
is v(x, r) - sum over r' of P(r') v(x, r'). Its mean over r is zero for every evaluator, so luck-adjusted
results have the same mean and, with a good evaluator, a smaller variance.  All five probabilities of the
first player on roll are adjusted.

Stratified dice cover all first and second rolls evenly.  Trials come in cycles of 1,296, each with its own
arrangement: a 36 x 36 Latin square with shuffled rows, columns and symbols.  Each row of 36 trials contains
every first roll once and every second roll once; a cycle contains every pair of rolls once.  The trials of
a board therefore share their first positions (21 after one roll, 441 after two), whose plays are chosen
only once.
"""

from typing import NamedTuple

import numpy as np

from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.outcome import finished_points
from motif.board.packed import PACKED_WORDS, copy_words, occupied
from motif.compiler.jit import NOTHING, bytes_of, inline_kernel, kernel, lean_kernel, words_of
from motif.evaluators.bearoff.lookup import bearoff_probabilities, covered
from motif.evaluators.kernels import RANDOM_MODEL, best_reply, choose_within, trace_value, value_after
from motif.evaluators.probabilities import (
    EQUITY_HEAD,
    OUTPUTS,
    WIN,
    certain,
    equity_of,
    switch_probabilities,
)
from motif.parameters.position_class import in_contact
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.streams import DICE_PAIRS, derive, dice_of, mix, next_below, next_roll


@lean_kernel(NOTHING)
def measure_luck(model, rules, words, board, ply, space, adjustments):
    """Write the adjustments of a result for the luck of every roll, at ply `ply` of a trial.

    `adjustments` is float64 (21, 5).  A random player has no values, and leaves results as they are.
    """
    if model.kind == RANDOM_MODEL:
        adjustments[:] = 0.0
        return
    for number in range(ROLLS.shape[0]):
        play, scored, _ = best_reply(model, words, board, ROLLS[number, 0], ROLLS[number, 1], space)
        if covered(rules.tables, space.plays.words[play]):
            bearoff_probabilities(rules.tables, space.plays.words[play], space.row)
        else:
            value_after(model, play, scored, space)
        # The position is from the side of the player on roll at ply + 1, who is the first player at odd
        # plies.
        if ply % 2 == 0:
            switch_probabilities(space.row)
        for j in range(len(OUTPUTS)):
            adjustments[number, j] = space.row[j]
    for j in range(len(OUTPUTS)):
        mean = 0.0
        for number in range(ROLLS.shape[0]):
            mean += ROLL_COUNTS[number] / DICE_PAIRS * adjustments[number, j]
        for number in range(ROLLS.shape[0]):
            adjustments[number, j] = mean - adjustments[number, j]


ROUND = DICE_PAIRS
"""Number of trials with each first roll once and each second roll once."""
CYCLE = DICE_PAIRS * DICE_PAIRS
"""Number of trials with each pair of first rolls once."""
FIXED_ROLLS = 2
"""Number of rolls of a trial that the arrangement determines; later rolls are random."""
ARRANGEMENT_SHAPE = (3, DICE_PAIRS)
# Trial numbers are smaller, so that no trial uses these streams.
_FIRST_CYCLE_STREAM = np.uint64(1 << 62)


@inline_kernel
def arrange(seed, item, cycle, stream, arrangement):
    """Shuffle 0 to 35 into each of the three rows of `arrangement` int64 (3, 36), for a cycle of an item.

    `stream` is overwritten.
    """
    stream[0] = derive(seed, item, _FIRST_CYCLE_STREAM + np.uint64(cycle))
    for row in range(arrangement.shape[0]):
        for k in range(DICE_PAIRS):
            arrangement[row, k] = k
        for k in range(DICE_PAIRS - 1, 0, -1):
            other = next_below(stream, k + 1)
            arrangement[row, k], arrangement[row, other] = arrangement[row, other], arrangement[row, k]


@inline_kernel
def fix_rolls(arrangement, place, fixed):
    """Write the first two rolls (0 to 35) of the trial at `place` in its cycle to `fixed` int64 (2,)."""
    column, row = place % ROUND, place // ROUND
    fixed[0] = arrangement[0, column]
    fixed[1] = arrangement[1, (column + arrangement[2, row]) % DICE_PAIRS]


@inline_kernel
def _roll_number(high, low):
    """Return the row of `ROLLS` for a roll."""
    return high * (high - 1) // 2 + low - 1


@inline_kernel
def _pair_number(pair):
    """Return the row of `ROLLS` for a pair of dice from 0 to 35."""
    high, low = dice_of(pair)
    return _roll_number(high, low)


@kernel
def items_of(packed):
    """Return a hash (n,), below 2**63, of each packed board (n, 64)."""
    words = words_of(packed)
    items = np.empty(packed.shape[0], np.int64)
    for k in range(words.shape[0]):
        state = np.uint64(0)
        for w in range(words.shape[1]):
            state = mix(state ^ np.uint64(words[k, w])) + np.uint64(w + 1)
        items[k] = np.int64(state >> np.uint64(1))
    return items


@kernel
def first_rolls(seed, item, first_trial, trials):
    """Return the first two rolls of stratified trials, as rows 0 to 20 of `ROLLS`: (trials, 2)."""
    numbers = np.empty((trials, FIXED_ROLLS), np.int64)
    arrangement = np.empty(ARRANGEMENT_SHAPE, np.int64)
    fixed = np.zeros(FIXED_ROLLS, np.int64)
    stream = np.zeros(1, np.uint64)
    arranged = -1
    for k in range(trials):
        cycle = (first_trial + k) // CYCLE
        if cycle != arranged:
            arrange(np.uint64(seed), np.uint64(item), cycle, stream, arrangement)
            arranged = cycle
        fix_rolls(arrangement, (first_trial + k) % CYCLE, fixed)
        for roll in range(FIXED_ROLLS):
            numbers[k, roll] = _pair_number(fixed[roll])
    return numbers


MAX_GAME_PLIES = 3000
"""Number of plies after which a game is stopped as a draw; real games end within a few hundred plies."""
_TRIALS_AT_ONCE = CYCLE
_FIRST_POSITIONS = len(ROLLS) + len(ROLLS) ** 2
"""Number of positions after the first roll and after the first two rolls."""
_MEASURED = 1 + len(ROLLS)
"""Number of positions whose luck trials have in common: the initial one, and those after the first roll."""


class _Memory(NamedTuple):
    """Working memory of the trials from one board, and what these have in common."""

    words: IntArray
    """Boards after the plays of the first rolls, int64 (_FIRST_POSITIONS, 8)."""
    known: BoolArray
    """Which of them are known (_FIRST_POSITIONS,)."""
    lucks: FloatArray
    """Adjustments for luck (_MEASURED + 1, 21, 5), with one row for positions of a single trial."""
    measured: BoolArray
    """Which of them are known (_MEASURED + 1,)."""
    adjustment: FloatArray
    """Adjustment of the trial (5,)."""


@inline_kernel
def _is_race(words):
    return not in_contact(occupied(words, 0), occupied(words, PACKED_WORDS // 2))


@inline_kernel
def _dice(rules, fixed, ply, stream):
    """Return the roll at a ply, and the number of the first position to which it leads, or -1."""
    if not rules.stratified or ply >= FIXED_ROLLS:
        high, low = next_roll(stream)
        return high, low, -1
    high, low = dice_of(fixed[ply])
    first = _pair_number(fixed[0])
    return high, low, first if ply == 0 else ROLLS.shape[0] * (1 + first) + _pair_number(fixed[1])


@inline_kernel
def _adjust(model, rules, words, board, fixed, ply, roll, memory, space):
    """Subtract the luck of a roll at a ply from the trial's result; the roll is a row of `ROLLS`."""
    place = _MEASURED
    if ply == 0:
        place = 0
    elif ply == 1 and rules.stratified:
        place = 1 + _pair_number(fixed[0])
    if not memory.measured[place]:
        measure_luck(model, rules, words, board, ply, space, memory.lucks[place])
        memory.measured[place] = place != _MEASURED
    for j in range(len(OUTPUTS)):
        memory.adjustment[j] += memory.lucks[place, roll, j]


@inline_kernel
def _ends(model, rules, words, board, ply, contact, space, row):
    """Return whether a trial ends at a ply; if so, write its value to `row` (5,)."""
    finished = finished_points(words)
    if finished != 0:
        certain(finished, row)
    elif covered(rules.tables, words):
        bearoff_probabilities(rules.tables, words, row)
    elif (0 < rules.cut <= ply) or (contact and ply > 0 and _is_race(words)):
        trace_value(model, words, board, space, row)
    elif ply == MAX_GAME_PLIES:
        certain(0, row)
        row[WIN] = 0.5
    else:
        return False
    return True


@lean_kernel(NOTHING)
def play_out(model, rules, words, board, fixed, memory, space, stream, row):
    """Play to the end from the packed board `words` (int64[8], overwritten; `board` is the same bytes).

    Writes the five probabilities of the first player on roll, luck-adjusted if the `rules` say so, to `row`.
    With stratified dice, the first rolls are `fixed`.
    """
    ply = 0
    contact = rules.stop_at_race and not _is_race(words)
    memory.adjustment[:] = 0.0
    while not _ends(model, rules, words, board, ply, contact, space, row):
        high, low, place = _dice(rules, fixed, ply, stream)
        if ply < rules.luck_plies:
            roll = _roll_number(high, low)
            _adjust(model, rules, words, board, fixed, ply, roll, memory, space)
        if place >= 0 and memory.known[place]:
            copy_words(memory.words[place], words)
        else:
            play, _ = choose_within(model, words, board, high, low, space, stream)
            copy_words(space.plays.words[play], words)
            # Plays of a random player are not stored.
            if place >= 0 and model.kind != RANDOM_MODEL:
                copy_words(words, memory.words[place])
                memory.known[place] = True
        ply += 1
    if ply % 2 == 1:
        switch_probabilities(row)
    for j in range(len(OUTPUTS)):
        row[j] += memory.adjustment[j]


@kernel
def board_trials(model, rules, start, item, seed, first_trial, space, results):
    """Play trials `first_trial`, ... of the packed board `start` int64[8] into `results` float64 (trials, 5).

    Trial t uses the random stream (seed, `item`, t), so that boards with the same item have the same dice.
    The results are the five probabilities of the player on roll.
    """
    stream = np.zeros(1, np.uint64)
    words = np.zeros(PACKED_WORDS, np.int64)
    board = bytes_of(words)
    arrangement = np.zeros(ARRANGEMENT_SHAPE, np.int64)
    fixed = np.zeros(FIXED_ROLLS, np.int64)
    first_positions = _FIRST_POSITIONS if rules.stratified else 0
    measured = _MEASURED + 1 if rules.luck_plies > 0 else 0
    memory = _Memory(
        np.empty((first_positions, PACKED_WORDS), np.int64),
        np.zeros(first_positions, np.bool_),
        np.empty((measured, ROLLS.shape[0], len(OUTPUTS))),
        np.zeros(measured, np.bool_),
        np.zeros(len(OUTPUTS)),
    )
    arranged = -1
    for number in range(results.shape[0]):
        trial = first_trial + number
        if rules.stratified:
            cycle = trial // CYCLE
            if cycle != arranged:
                arrange(np.uint64(seed), np.uint64(item), cycle, stream, arrangement)
                arranged = cycle
            fix_rolls(arrangement, trial % CYCLE, fixed)
        stream[0] = derive(np.uint64(seed), np.uint64(item), np.uint64(trial))
        copy_words(start, words)
        play_out(model, rules, words, board, fixed, memory, space, stream, results[number])


@kernel
def end_trials(model, rules, packed, ply, contact, space):
    """Return which trials, at packed boards (n, 64), end before the roll of a ply, and their values.

    `contact` bool (n,) says which trials began with contact.  The results are bool (n,) and, for trials
    that end, the five probabilities of the player on roll, float64 (n, 5).
    """
    words = words_of(packed)
    ended, rows = np.empty(packed.shape[0], np.bool_), np.zeros((packed.shape[0], len(OUTPUTS)))
    for k in range(ended.shape[0]):
        ended[k] = _ends(
            model, rules, words[k], packed[k], ply, rules.stop_at_race and contact[k], space, rows[k]
        )
    return ended, rows


@kernel
def luck_adjustments(model, rules, packed, rolls, ply, space):
    """Return the adjustments float64 (n, 5) of results for the luck of `rolls` (n, 2) at a ply.

    The model measures the luck, even if another player chooses the plays.  The packed boards (n, 64) are
    the positions before the rolls.
    """
    words = words_of(packed)
    every = np.zeros((ROLLS.shape[0], len(OUTPUTS)))
    adjustments = np.zeros((packed.shape[0], len(OUTPUTS)))
    for k in range(adjustments.shape[0]):
        measure_luck(model, rules, words[k], packed[k], ply, space, every)
        adjustments[k] = every[_roll_number(rolls[k, 0], rolls[k, 1])]
    return adjustments


@kernel
def roll_trials(model, rules, packed, items, seed, first_trial, space, results):
    """Play the trials of packed boards (n, 64) with `items` into `results` float64 (n, trials, 5)."""
    starts = words_of(packed)
    for k in range(results.shape[0]):
        board_trials(model, rules, starts[k], items[k], seed, first_trial, space, results[k])


@kernel
def roll_out(model, rules, packed, items, seed, first_trial, trials, space, sums, squares):
    """Add `trials` trials of each packed board (n, 64) to `sums` and `squares`, float64 (n, 6).

    The columns are the five probabilities and the money equity; the dice are the same as in `board_trials`.
    """
    starts = words_of(packed)
    results = np.empty((min(trials, _TRIALS_AT_ONCE), len(OUTPUTS)))
    for k in range(packed.shape[0]):
        for done in range(0, trials, _TRIALS_AT_ONCE):
            part = results[: min(trials - done, _TRIALS_AT_ONCE)]
            board_trials(model, rules, starts[k], items[k], seed, first_trial + done, space, part)
            for number in range(part.shape[0]):
                row = part[number]
                for j in range(len(OUTPUTS)):
                    sums[k, j] += row[j]
                    squares[k, j] += row[j] * row[j]
                equity = equity_of(row)
                sums[k, EQUITY_HEAD] += equity
                squares[k, EQUITY_HEAD] += equity * equity


@inline_kernel
def _play_game(model, words, board, space, stream):
    """Play a game from `words` (overwritten; `board` is the same bytes); return the number of legal plays."""
    generated = 0
    for _ in range(MAX_GAME_PLIES):
        if finished_points(words) != 0:
            break
        high, low = next_roll(stream)
        play, count = choose_within(model, words, board, high, low, space, stream)
        generated += count
        copy_words(space.plays.words[play], words)
    return generated


@kernel
def play_games(model, start, first_game, games, seed, space):
    """Play complete games of the model against itself from the packed board `start` (64,).

    Returns the number of legal plays generated.
    """
    stream = np.zeros(1, np.uint64)
    current = np.zeros(PACKED_WORDS, np.int64)
    board = bytes_of(current)
    first = words_of(start)
    generated = 0
    for game in range(first_game, first_game + games):
        stream[0] = derive(np.uint64(seed), np.uint64(game), np.uint64(0))
        copy_words(first, current)
        generated += _play_game(model, current, board, space, stream)
    return generated
