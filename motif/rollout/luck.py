"""Luck: what a roll is worth above the mean of all rolls, as a control variate.

For a roll r in position x let v(x, r) be the evaluator's value of the position after its play of r.
The luck of the roll is v(x, r) - sum over r' of P(r') v(x, r'), whose mean over r is zero whatever the
evaluator thinks: so results less the luck of their rolls have the same mean and, where the evaluator is
any good, vary less.  It belongs to all five probabilities, as the player on roll at first has them.
"""

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.position import PACKED_WORDS
from motif.evaluators.bearoff.lookup import bearoff_probabilities, covered
from motif.evaluators.kernels import choose, evaluate_into
from motif.evaluators.probabilities import OUTPUTS, turn_probabilities
from motif.runtime.jit import inline_kernel
from motif.runtime.streams import THROWS


@inline_kernel
def _value_into(model, tables, words, board, space, row):
    if covered(tables, words, board):
        bearoff_probabilities(tables, words, board, row)
    else:
        evaluate_into(model, words, board, space, row)


@inline_kernel
def play_without_luck(model, rules, words, board, high, low, ply, space, stream, following, row, adjustment):
    """Write to `following` int64[8] the board after the play of a roll, at ply `ply` of a trial.

    Takes the roll's luck off `adjustment` (5,); `row` (5,) is room to work.
    """
    for number in range(ROLLS.shape[0]):
        other_high, other_low = ROLLS[number, 0], ROLLS[number, 1]
        play, _ = choose(model, words, board, other_high, other_low, space, stream)
        after = space.plays.words[play]
        _value_into(model, rules.tables, after, space.plays.boards[play], space, row)
        # The position after the play is seen by who rolls at ply + 1; at odd plies that is the other player.
        if ply % 2 == 0:
            turn_probabilities(row)
        weight = ROLL_COUNTS[number] / THROWS
        if other_high == high and other_low == low:
            weight -= 1.0
            for k in range(PACKED_WORDS):
                following[k] = after[k]
        for j in range(len(OUTPUTS)):
            adjustment[j] += weight * row[j]
