"""Kernels of lookahead: the cubeless and cubeful equity of a position at a number of plies."""

import numpy as np

from motif.board.movegen import ROLL_SHARES, ROLLS
from motif.board.outcome import finished_points
from motif.board.packed import PACKED_WORDS, copy_words
from motif.compiler.jit import FLOAT64, NOTHING, inline_kernel, lean_kernel, words_of
from motif.evaluators.bearoff.lookup import is_exact
from motif.evaluators.cube_model import MAX_STATES, first_value, hold_states, is_known, with_doubles
from motif.evaluators.kernels import (
    NOT_SCORED,
    WEIGHTS_MODEL,
    best_by_table,
    best_reply,
    filtered_plays,
    generate_for,
    is_better_play,
    place_of,
    score_boards,
    trace_value,
    value_after,
)
from motif.evaluators.probabilities import OUTPUTS, equity_of, switch_probabilities, switch_value
from motif.runtime.streams import DICE_PAIRS

CLEARLY = 0.02
"""Equity from which a reply is clearly better than another; smaller differences are mostly evaluation
errors. It is the equity of the first of the states alike (`CubeModel.like`), so that the values of states
alike are proportional.
"""
_ROLL_COUNT = len(ROLLS)
_THIRDS = np.array(
    # 11  21 22  31 32 33  41 42 43 44  51 52 53 54 55  61 62 63 64 65 66
    [0, 0, 1, 1, 2, 2, 1, 2, 0, 2, 0, 1, 2, 2, 1, 2, 0, 1, 1, 0, 0]
)
"""Group of each roll, 0 to 2. Each group has two doubles, five other rolls, every die and equally many
pips.
"""
_SEVENTHS = np.array([5, 1, 3, 0, 2, 4, 3, 0, 1, 2, 4, 6, 6, 5, 1, 2, 4, 5, 6, 3, 0])
"""Group of each roll, 0 to 6. The groups have three rolls each and are as similar in pips and dice as
possible; the last one has no double.
"""
_SEVENTH_OF_PAIR = np.repeat(np.arange(7), (5, 5, 5, 5, 5, 5, 6))
_SEVENTH_SHARES = DICE_PAIRS * ROLL_SHARES / np.bincount(_SEVENTH_OF_PAIR)[_SEVENTHS]
"""Weight of each roll when only its group is used, such that the mean over all groups is that over all
rolls.
"""
_PAIR_OF_ROLL = np.arange(len(ROLLS)) * 12 // 7
"""A number 0 to 35 for each roll, evenly spread."""
EVERY_ROLL, A_THIRD, A_SEVENTH = range(3)
"""The share of the rolls that the last ply of lookahead uses."""
_CHANCES = len(OUTPUTS)


@inline_kernel
def _is_final(model, words):
    """Return whether lookahead would change nothing: the game is over, or the tables are exact."""
    return finished_points(words) != 0 or is_exact(model.bearoff, words)


@inline_kernel
def _add_row(row, share, total):
    for j in range(_CHANCES):
        total[j] += share * row[j]


@inline_kernel
def _share(number, seen):
    """Return the weight of a roll among the rolls in use."""
    if seen == A_SEVENTH:
        return _SEVENTH_SHARES[number]
    return 3 * ROLL_SHARES[number] if seen == A_THIRD else ROLL_SHARES[number]


@inline_kernel
def _group_offset(words):
    """Return a number 0 to 35 from the player on roll's checkers, so that plays without a hit share it."""
    key = np.uint64(0)
    for k in range(PACKED_WORDS // 2):
        key = (key ^ np.uint64(words[k])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return np.int64((key >> np.uint64(33)) % np.uint64(DICE_PAIRS))


@inline_kernel
def _is_seen(number, before, seen, offset):
    """Return whether the last ply uses roll `number` after roll `before`."""
    if seen == A_SEVENTH:
        return _SEVENTHS[number] == _SEVENTH_OF_PAIR[(_PAIR_OF_ROLL[before] + offset) % DICE_PAIRS]
    return seen == EVERY_ROLL or _THIRDS[number] == _THIRDS[before]


@lean_kernel(FLOAT64)
def look_ahead(model, plies, last, space, tree, wants_rows):
    """Return the cubeless equity, at `plies`, of the packed board in ``tree.words[0]``.

    The equity is that of the player on roll. With `wants_rows`, the five probabilities are written to
    ``tree.rows[0]``. Replies are the plays that the model ranks best without lookahead. With two or more
    plies, `last` says which rolls the last ply uses: all of them; a third, the group of the previous roll; or
    a seventh, a group that depends on the position and the previous roll, each group being equally likely.
    """
    if plies == 0 or _is_final(model, tree.words[0]):
        trace_value(model, tree.words[0], tree.boards[0], space, tree.rows[0])
        return equity_of(tree.rows[0])
    level, offset = 0, _group_offset(tree.words[0])
    tree.number[0], tree.equity[0] = 0, 0.0
    tree.rows[0, :] = 0.0
    while True:
        number = tree.number[level]
        seen = last if 0 < level == plies - 1 else EVERY_ROLL
        if number < _ROLL_COUNT and seen and not _is_seen(number, tree.number[level - 1], seen, offset):
            tree.number[level] += 1
            continue
        if number < _ROLL_COUNT:
            high, low = ROLLS[number, 0], ROLLS[number, 1]
            words, packed = tree.words[level], tree.boards[level]
            play, scored, equity = best_reply(model, words, packed, high, low, space)
            after = space.plays.words[play]
            is_leaf = level + 1 == plies
            if not is_leaf and not _is_final(model, after):
                level += 1
                copy_words(after, tree.words[level])
                tree.number[level], tree.equity[level] = 0, 0.0
                tree.rows[level, :] = 0.0
                continue
            if wants_rows or not is_leaf:
                value_after(model, play, scored, space)
                value = switch_value(equity_of(space.row))
                switch_probabilities(space.row)
                _add_row(space.row, _share(number, seen), tree.rows[level])
                equity = equity if is_leaf else value
        elif level == 0:
            return tree.equity[0]
        else:
            equity = switch_value(tree.equity[level])
            switch_probabilities(tree.rows[level])
            level -= 1
            number, seen = tree.number[level], EVERY_ROLL
            _add_row(tree.rows[level + 1], ROLL_SHARES[number], tree.rows[level])
        tree.equity[level] += _share(number, seen) * equity
        tree.number[level] += 1


@lean_kernel(NOTHING)
def look_ahead_many(model, packed, plies, last, space, tree, equities, rows):
    """Call `look_ahead` for packed boards (n, 64).

    Write float64 (n,) `equities` and, unless it is empty, float64 (n, 5) `rows`.
    """
    words, wants_rows = words_of(packed), rows.shape[0] > 0
    for k in range(packed.shape[0]):
        copy_words(words[k], tree.words[0])
        equities[k] = look_ahead(model, plies, last, space, tree, wants_rows)
        if wants_rows:
            for j in range(_CHANCES):
                rows[k, j] = tree.rows[0, j]


@inline_kernel
def _is_settled(cube_model, words):
    """Return whether cubeful lookahead would change nothing: the game is over, or the values are exact."""
    return finished_points(words) != 0 or is_known(cube_model, words)


@inline_kernel
def _take_if_better(cube_model, states, side, play, score, row, tree, level):
    """Record a `play` of `side` for each of `states` in which it is the best so far.

    ``tree.cube.held_after`` has the values after the play for the opponent, on roll, without a double, and
    `row` (5,) the probabilities; `score` is the play's score without the cube.
    """
    cube, now = tree.cube, cube_model.like[cube_model.state]
    value = switch_value(first_value(cube_model, now, 1 - side, cube.held_after))
    is_played = is_better_play(value, score, cube.best[level, now], cube.score[now])
    if is_played:
        for j in range(_CHANCES):
            cube.played_row[j] = row[j]
    for state in range(MAX_STATES):
        if states >> state & 1:
            value = switch_value(first_value(cube_model, state, 1 - side, cube.held_after))
            if is_played:
                cube.played[state] = value
            if is_better_play(value, score, cube.best[level, state], cube.score[state]):
                cube.best[level, state], cube.play[level, state] = value, play
                cube.score[state] = score


@inline_kernel
def _follow_the_present(cube_model, states, tree, level):
    """Use the reply of the present state in all `states` in which no other reply is clearly better.

    The difference between doubling now and a roll later is then due to the cube, not to random errors in the
    values of plays.
    """
    now = cube_model.like[cube_model.state]
    for state in range(MAX_STATES):
        if states >> state & 1 and tree.cube.best[level, state] < tree.cube.played[state] + CLEARLY:
            tree.cube.best[level, state], tree.cube.play[level, state] = (
                tree.cube.played[state],
                tree.cube.play[level, now],
            )


@lean_kernel(NOTHING)
def choose_replies(model, cube_model, side, level, high, low, space, tree):
    """Generate the plays of a roll into ``space.plays``, and find the best one in each cube state.

    The board is ``tree.words[level]``, `side` moves, and the cube states are ``tree.cube.states[level]``. The
    best plays are written to ``tree.cube.play[level]``, their values for `side` to ``tree.cube.best[level]``.
    """
    words, packed = tree.words[level], tree.boards[level]
    # Also the present state, which other branches may have led away from: see `_follow_the_present`.
    states = tree.cube.states[level] | np.int64(1) << cube_model.like[cube_model.state]
    after_states = with_doubles(cube_model, states, 1 - side)
    count = generate_for(model, words, packed, high, low, space)
    considered, order = 1, space.filter_kept[:0]
    first = np.int64(0)
    if model.kind != WEIGHTS_MODEL:
        first = np.int64(best_by_table(count, space.plays.scores))
    elif count > 1:
        considered, order = filtered_plays(model, words, packed, count, space)
        first = place_of(order, np.int64(0))
        if considered > 1:
            score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
    for state in range(MAX_STATES):
        tree.cube.best[level, state], tree.cube.play[level, state] = -np.inf, first
    for k in range(considered):
        play, scored, score = first, NOT_SCORED, 0.0
        if considered > 1:
            play, scored, score = place_of(order, k), np.int64(k), switch_value(space.scores[k])
        after, board = space.plays.words[play], space.plays.boards[play]
        value_after(model, play, scored, space)
        hold_states(cube_model, after_states, 1 - side, after, board, space.row, tree.cube.held_after)
        _take_if_better(cube_model, states, side, play, score, space.row, tree, level)
    _follow_the_present(cube_model, states, tree, level)


@inline_kernel
def _open_level(tree, level):
    tree.number[level], tree.cube.waiting[level] = 0, 0
    tree.cube.held[level, :] = 0.0
    tree.rows[level, :] = 0.0


@inline_kernel
def _go_deeper(cube_model, mover, level, tree):
    """Move one of the boards that wait at a `level`, where `mover` has moved, to the next level."""
    tree.cube.waiting[level] -= 1
    place = tree.cube.waiting[level]
    copy_words(tree.cube.next_words[level, place], tree.words[level + 1])
    tree.cube.wanted[level + 1] = tree.cube.next_states[level, place]
    tree.cube.states[level + 1] = with_doubles(cube_model, tree.cube.wanted[level + 1], 1 - mover)
    _open_level(tree, level + 1)


@inline_kernel
def _close_level(cube_model, side, level, tree, wants_rows):
    """Add the value of this level's board, where `side` is on roll and may double, to the level above."""
    share = tree.share[level - 1]
    for state in range(MAX_STATES):
        if tree.cube.wanted[level] >> state & 1:
            value = switch_value(first_value(cube_model, state, side, tree.cube.held[level]))
            tree.cube.held[level - 1, state] += share * value
    if wants_rows and tree.cube.wanted[level] >> cube_model.like[cube_model.state] & 1:
        switch_probabilities(tree.rows[level])
        _add_row(tree.rows[level], share, tree.rows[level - 1])


@inline_kernel
def _with_same_play(tree, level, states, first):
    """Return those of `states`, from the state `first` on, that have the same reply as the `first`."""
    alike = 0
    for state in range(first, MAX_STATES):
        if states >> state & 1 and tree.cube.play[level, state] == tree.cube.play[level, first]:
            alike |= 1 << state
    return alike


@inline_kernel
def _take_replies(cube_model, level, is_leaf, space, tree, wants_rows):
    """Add the values of the replies ``tree.cube.play[level]`` to the level, or let their boards wait."""
    left, share = tree.cube.states[level], tree.share[level]
    for first in range(MAX_STATES):
        if not left >> first & 1:
            continue
        play = tree.cube.play[level, first]
        alike = _with_same_play(tree, level, left, first)
        left &= ~alike
        after = space.plays.words[play]
        if not is_leaf and not _is_settled(cube_model, after):
            place = tree.cube.waiting[level]
            copy_words(after, tree.cube.next_words[level, place])
            tree.cube.next_states[level, place] = alike
            tree.cube.waiting[level] += 1
            continue
        for state in range(first, MAX_STATES):
            if alike >> state & 1:
                tree.cube.held[level, state] += share * tree.cube.best[level, state]
        if wants_rows and alike >> cube_model.like[cube_model.state] & 1:
            switch_probabilities(tree.cube.played_row)
            _add_row(tree.cube.played_row, share, tree.rows[level])


@lean_kernel(NOTHING)
def look_ahead_with_cube(model, cube_model, side, plies, last, space, tree, wants_rows):
    """Compute the cubeful values, at `plies`, of the packed board in ``tree.words[0]`` for `side`, on roll.

    The values without a double before this roll are written to ``tree.cube.held[0]``, for each of the states
    ``tree.cube.states[0]``.

    Both sides make the best cube decision at every later node. A reply is the play that is best, without
    lookahead, for the present cube state, unless another play is clearly better for the cube state of the
    branch. `last` and `wants_rows` are those of `look_ahead`; the probabilities are those of the present
    state.
    """
    if plies == 0 or _is_settled(cube_model, tree.words[0]):
        trace_value(model, tree.words[0], tree.boards[0], space, tree.rows[0])
        states, board = tree.cube.states[0], tree.boards[0]
        hold_states(cube_model, states, side, tree.words[0], board, tree.rows[0], tree.cube.held[0])
        return
    level, offset = 0, _group_offset(tree.words[0])
    _open_level(tree, 0)
    while level >= 0:
        mover = (side + level) % 2
        if tree.cube.waiting[level] > 0:
            _go_deeper(cube_model, mover, level, tree)
            level += 1
            continue
        number = tree.number[level]
        if number == _ROLL_COUNT:
            if level > 0:
                _close_level(cube_model, mover, level, tree, wants_rows)
            level -= 1
            continue
        tree.number[level] += 1
        is_leaf = level + 1 == plies
        seen = last if level > 0 and is_leaf else EVERY_ROLL
        if seen and not _is_seen(number, tree.number[level - 1] - 1, seen, offset):
            continue
        tree.share[level] = _share(number, seen)
        choose_replies(model, cube_model, mover, level, ROLLS[number, 0], ROLLS[number, 1], space, tree)
        _take_replies(cube_model, level, is_leaf, space, tree, wants_rows)


@lean_kernel(NOTHING)
def look_ahead_with_cube_many(model, cube_model, side, packed, plies, last, space, tree, pairs, rows):
    """Call `look_ahead_with_cube` for packed boards (n, 64).

    Write float64 (n, 2) `pairs`, the equities without a double and after double and take, and, unless it is
    empty, float64 (n, 5) `rows`.
    """
    words, wants_rows = words_of(packed), rows.shape[0] > 0
    state, ratio = cube_model.like[cube_model.state], cube_model.ratio[cube_model.state]
    doubled = cube_model.doubled[cube_model.state, side]
    states = np.int64(1) << state
    for k in range(packed.shape[0]):
        copy_words(words[k], tree.words[0])
        tree.cube.states[0] = states if doubled < 0 else states | np.int64(1) << cube_model.like[doubled]
        look_ahead_with_cube(model, cube_model, side, plies, last, space, tree, wants_rows)
        pairs[k, 0] = pairs[k, 1] = ratio * tree.cube.held[0, state]
        if doubled >= 0:
            pairs[k, 1] = cube_model.ratio[doubled] * tree.cube.held[0, cube_model.like[doubled]]
        if wants_rows:
            for j in range(_CHANCES):
                rows[k, j] = tree.rows[0, j]
