"""Compiled lookahead: the value of a position some plies on, over all rolls."""

import numpy as np

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.outcome import finished_points
from motif.board.packed import copy_words
from motif.evaluators.bearoff.lookup import covered
from motif.evaluators.kernels import best_reply, trace_value
from motif.evaluators.probabilities import EQUITY_WEIGHTS, equity_of, turn_probabilities, turn_value
from motif.runtime.jit import DOUBLE, NOTHING, inline_kernel, lean_kernel, words_of

_ROLLS = len(ROLLS)
_SHARES = ROLL_COUNTS / ROLL_COUNTS.sum()
_CHANCES = len(EQUITY_WEIGHTS)


@inline_kernel
def _is_known(model, words, packed):
    """Whether a value needs no lookahead: the game is over, or the tables know."""
    return finished_points(words) != 0 or covered(model.bearoff, words, packed)


@inline_kernel
def _add_row(row, share, total):
    for j in range(_CHANCES):
        total[j] += share * row[j]


@lean_kernel(DOUBLE)
def look_ahead(model, plies, space, deep, want_rows):
    """The equity `plies` further of the packed board in ``deep.words[0]``, for the player on roll.

    With `want_rows` his five probabilities are left in ``deep.rows[0]``.  Replies are those that the model
    finds best without lookahead.
    """
    level = 0
    deep.number[0] = 0
    deep.equity[0] = 0.0
    deep.rows[0, :] = 0.0
    if _is_known(model, deep.words[0], deep.boards[0]):
        trace_value(model, deep.words[0], deep.boards[0], space, deep.rows[0])
        return equity_of(deep.rows[0])
    while True:
        number = deep.number[level]
        if number == _ROLLS:
            if level == 0:
                return deep.equity[0]
            value = turn_value(deep.equity[level])
            if want_rows:
                turn_probabilities(deep.rows[level])
            level -= 1
            number = deep.number[level]
            deep.equity[level] += _SHARES[number] * value
            if want_rows:
                _add_row(deep.rows[level + 1], _SHARES[number], deep.rows[level])
            deep.number[level] += 1
            continue
        high, low = ROLLS[number, 0], ROLLS[number, 1]
        play, equity = best_reply(model, deep.words[level], deep.boards[level], high, low, space)
        after, board = space.plays.words[play], space.plays.boards[play]
        is_leaf = level + 1 == plies
        if is_leaf or _is_known(model, after, board):
            if want_rows or not is_leaf:
                trace_value(model, after, board, space, space.row)
                turn_probabilities(space.row)
                _add_row(space.row, _SHARES[number], deep.rows[level])
                if not is_leaf:
                    equity = equity_of(space.row)
            deep.equity[level] += _SHARES[number] * equity
            deep.number[level] += 1
        else:
            level += 1
            copy_words(after, deep.words[level])
            deep.number[level] = 0
            deep.equity[level] = 0.0
            deep.rows[level, :] = 0.0


@lean_kernel(NOTHING)
def look_ahead_many(model, packed, plies, space, deep, equities, rows):
    """`look_ahead` of packed boards (n, 64): writes float64 (n,) `equities` and, unless it is empty, float64
    (n, 5) `rows`."""
    words = words_of(packed)
    for k in range(packed.shape[0]):
        copy_words(words[k], deep.words[0])
        equities[k] = look_ahead(model, plies, space, deep, rows.shape[0] > 0)
        if rows.shape[0] > 0:
            for j in range(_CHANCES):
                rows[k, j] = deep.rows[0, j]
