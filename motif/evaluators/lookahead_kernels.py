"""Compiled lookahead: the value of a position some plies on, over all rolls."""

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.outcome import finished_points
from motif.board.packed import copy_words
from motif.evaluators.bearoff.lookup import is_exact
from motif.evaluators.kernels import best_reply, trace_value
from motif.evaluators.probabilities import OUTPUTS, turn_probabilities, turn_value
from motif.evaluators.stakes import value_for_side
from motif.runtime.jit import DOUBLE, NOTHING, inline_kernel, lean_kernel, words_of

_ROLLS = len(ROLLS)
_SHARES = ROLL_COUNTS / ROLL_COUNTS.sum()
_CHANCES = len(OUTPUTS)


@inline_kernel
def _is_known(model, words, packed):
    """Whether lookahead would change nothing: the game is over, or the tables are exact."""
    return finished_points(words) != 0 or is_exact(model.bearoff, words, packed)


@inline_kernel
def _add_row(row, share, total):
    for j in range(_CHANCES):
        total[j] += share * row[j]


@inline_kernel
def _worth(model, stakes, side, words, packed, space, row):
    """Write the five probabilities of the player on roll, who is `side`, to `row`; return his equity."""
    trace_value(model, words, packed, space, row)
    return value_for_side(stakes, side, words, packed, row)


@lean_kernel(DOUBLE)
def look_ahead(model, stakes, side, plies, space, tree, wants_rows):
    """The equity, `plies` further, of the packed board in ``tree.words[0]`` to the player on roll.

    He is `side` of the `stakes`.  With `wants_rows` his five probabilities are left in ``tree.rows[0]``.
    Replies are those that the model finds best without lookahead.
    """
    if plies == 0 or _is_known(model, tree.words[0], tree.boards[0]):
        return _worth(model, stakes, side, tree.words[0], tree.boards[0], space, tree.rows[0])
    level = 0
    tree.number[0], tree.equity[0] = 0, 0.0
    tree.rows[0, :] = 0.0
    while True:
        number = tree.number[level]
        if number < _ROLLS:
            high, low = ROLLS[number, 0], ROLLS[number, 1]
            mover = (side + level) % 2
            words, packed = tree.words[level], tree.boards[level]
            play, equity = best_reply(model, stakes, mover, words, packed, high, low, space)
            after, board = space.plays.words[play], space.plays.boards[play]
            is_leaf = level + 1 == plies
            if not is_leaf and not _is_known(model, after, board):
                level += 1
                copy_words(after, tree.words[level])
                tree.number[level], tree.equity[level] = 0, 0.0
                tree.rows[level, :] = 0.0
                continue
            if wants_rows or not is_leaf:
                worth = turn_value(_worth(model, stakes, 1 - mover, after, board, space, space.row))
                turn_probabilities(space.row)
                _add_row(space.row, _SHARES[number], tree.rows[level])
                equity = equity if is_leaf else worth
        elif level == 0:
            return tree.equity[0]
        else:
            equity = turn_value(tree.equity[level])
            turn_probabilities(tree.rows[level])
            level -= 1
            number = tree.number[level]
            _add_row(tree.rows[level + 1], _SHARES[number], tree.rows[level])
        tree.equity[level] += _SHARES[number] * equity
        tree.number[level] += 1


@lean_kernel(NOTHING)
def look_ahead_many(model, stakes, side, packed, plies, space, tree, equities, rows):
    """`look_ahead` of packed boards (n, 64): writes float64 (n,) `equities` and, unless it is empty, float64
    (n, 5) `rows`."""
    words, wants_rows = words_of(packed), rows.shape[0] > 0
    for k in range(packed.shape[0]):
        copy_words(words[k], tree.words[0])
        equities[k] = look_ahead(model, stakes, side, plies, space, tree, wants_rows)
        if wants_rows:
            for j in range(_CHANCES):
                rows[k, j] = tree.rows[0, j]
