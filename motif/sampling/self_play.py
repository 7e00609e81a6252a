"""Compiled self-play: the decisions of one game, their candidate plays, and the labels of these.

Random streams: the dice and draws of game g come from (seed, g, GAME_TRIAL), the rollouts of its
d-th decision from (seed, g * DECISIONS_A_GAME + d, trial): the candidates of one decision are rolled
out with the same dice, so that their differences are more exact than their values.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import MAX_PLAYS, generate
from motif.board.outcome import finished_points
from motif.board.packed import PACKED_SIZE, PACKED_WORDS, copy_words, occupied
from motif.evaluators.kernels import choose, score_plays
from motif.evaluators.probabilities import equity_of, turn_value
from motif.parameters.position_class import CONTACT, classify
from motif.rollout.playout import COLUMNS, MAX_PLIES, board_trials, roll_out
from motif.runtime.jit import inline_kernel, kernel, words_of
from motif.runtime.streams import derive, next_below, next_roll, next_unit

DECISIONS_A_GAME = 1 << 16
GAME_TRIAL = np.uint64(1 << 63)
MAX_ROWS = 1 << 16
"""Positions of one game at most; a game that yields more is not recorded further."""

_EQUITY = COLUMNS - 1
"""The last column; the chances stand before it."""


class SampledPositions(NamedTuple):
    """Room for labelled positions; rows 0:n hold them."""

    boards: npt.NDArray[np.int8]
    """(rows, 64) packed, seen by the player on roll."""
    items: npt.NDArray[np.int64]
    """(rows,): item of the random streams, one a decision."""
    plies: npt.NDArray[np.int32]
    chosen: npt.NDArray[np.bool_]
    sums: npt.NDArray[np.float64]
    """(rows, 6): rollout results added up."""
    squares: npt.NDArray[np.float64]
    trials: npt.NDArray[np.float64]
    """(rows, trials): the equity of each rollout; (rows, 0) where the sums alone are wanted."""


def new_record(rows: int = MAX_ROWS, trials: int = 0) -> SampledPositions:
    """Room for `rows` positions: those of one game, or with MAX_PLAYS those of one decision.

    With `trials` the equity of each rollout is recorded too.
    """
    return SampledPositions(
        np.zeros((rows, PACKED_SIZE), np.int8),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.bool_),
        np.zeros((rows, COLUMNS)),
        np.zeros((rows, COLUMNS)),
        # Zeros take no memory until something is written over them.
        np.zeros((rows, trials)),
    )


@inline_kernel
def _put(record, row, words, item, ply, played):
    copy_words(words, words_of(record.boards[row]))
    record.items[row] = item
    record.plies[row] = ply
    record.chosen[row] = played


@inline_kernel
def _pick_candidates(count, played, wanted, scores, order, stream):
    """Put first in `order` the `played` one, the best others, and some drawn from the rest: `wanted` in all.

    Half of the others are the best ones, between which a player has to choose; half are any, so that
    bad plays are known too.
    """
    for k in range(count):
        order[k] = k
    order[0], order[played] = played, 0
    best_end = 1 + wanted // 2
    for k in range(1, wanted):
        other = k
        if k < best_end:
            for rival in range(k + 1, count):
                if scores[order[rival]] > scores[order[other]]:
                    other = rival
        else:
            other = k + next_below(stream, count - k)
        order[k], order[other] = order[other], order[k]


@inline_kernel
def _roll_of(ply, stream):
    """Return the roll of a ply; the first one of a game is no double."""
    high, low = next_roll(stream)
    while ply == 1 and high == low:
        high, low = next_roll(stream)
    return high, low


@inline_kernel
def put_plays(tried, plays, count, item, ply):
    """Put the first `count` legal plays of a decision into `tried`."""
    for k in range(count):
        _put(tried, k, plays.words[k], item, ply, False)


@inline_kernel
def _best_by_rollouts(tried, count, scores):
    """Return the best of `count` plays that were rolled out, whose values for the mover go to `scores`."""
    best = 0
    for k in range(count):
        scores[k] = turn_value(tried.sums[k, _EQUITY])
        if scores[k] > scores[best]:
            best = k
    return best


@inline_kernel
def _record(record, rows, tried, order, wanted, played):
    """Add the first `wanted` of the plays in `order` that do not end the game; return the number of rows."""
    for k in range(wanted):
        play = order[k]
        source = words_of(tried.boards[play])
        if finished_points(source) == 0:
            _put(record, rows, source, tried.items[play], tried.plies[play], play == played)
            for j in range(COLUMNS):
                record.sums[rows, j] = tried.sums[play, j]
                record.squares[rows, j] = tried.squares[play, j]
            for number in range(tried.trials.shape[1]):
                record.trials[rows, number] = tried.trials[play, number]
            rows += 1
    return rows


@inline_kernel
def record_decision(
    model,
    words,
    current,
    play,
    count,
    candidates,
    by_rollout,
    rates,
    stream,
    space,
    order,
    scores,
    record,
    rows,
    tried,
):
    """Record a decision with the chance that `rates` has for its class; return the number of rows then.

    It has `count` plays, which lie in `tried`; `play` is the one made.  Where there is no room for more it
    is -1.
    """
    own, other = occupied(words, 0), occupied(words, PACKED_WORDS // 2)
    if next_unit(stream) < rates[classify(words, current, own, other)]:
        wanted = count if candidates == 0 else min(count, candidates)
        if wanted < count and not by_rollout:
            score_plays(model, words, current, count, space, scores)
        _pick_candidates(count, play, wanted, scores, order, stream)
        rows = -1 if rows + wanted > MAX_ROWS else _record(record, rows, tried, order, wanted, play)
    return rows


@kernel
def self_play(
    model,
    start,
    seed,
    game,
    by_rollout,
    candidates,
    rates,
    noise,
    trials,
    rules,
    space,
    record,
    tried,
):
    """Play one game of the model against itself; label and record positions; return their number.

    `rules` are those of the rollouts (`motif.rollout.rollout_settings.PlayoutRules`).
    The model decides, or with `by_rollout` the rollouts of every legal play, in room `tried`; with
    the chance `noise` the dice do.  A decision is recorded with the chance that `rates` has for its
    class, with at most `candidates` of its plays (0: all), the chosen one among them.  Finished games
    are not recorded.
    """
    stream = np.zeros(1, np.uint64)
    stream[0] = derive(np.uint64(seed), np.uint64(game), GAME_TRIAL)
    current = start.copy()
    words = words_of(current)
    order = np.zeros(MAX_PLAYS, np.int64)
    scores = np.zeros(MAX_PLAYS)
    item = game * DECISIONS_A_GAME
    rows = 0
    if next_unit(stream) < rates[CONTACT]:
        _put(record, 0, words, item, 0, True)
        rows = 1
    for ply in range(1, MAX_PLIES):
        high, low = _roll_of(ply, stream)
        item += 1
        if by_rollout:
            count = generate(words, high, low, space.plays)
            put_plays(tried, space.plays, count, item, ply)
            label(model, tried, count, seed, trials, rules, space)
            play = _best_by_rollouts(tried, count, scores)
        else:
            play, count = choose(model, words, current, high, low, space, stream)
            put_plays(tried, space.plays, count, item, ply)
        if next_unit(stream) < noise:
            play = next_below(stream, count)
        more = record_decision(
            model,
            words,
            current,
            play,
            count,
            candidates,
            by_rollout,
            rates,
            stream,
            space,
            order,
            scores,
            record,
            rows,
            tried,
        )
        if more < 0:
            break
        rows = more
        copy_words(words_of(tried.boards[play]), words)
        if finished_points(words) != 0:
            break
    if not by_rollout:
        label(model, record, rows, seed, trials, rules, space)
    elif rows > 0 and record.plies[0] == 0:
        label(model, record, 1, seed, trials, rules, space)
    return rows


@kernel
def label(model, record, count, seed, trials, rules, space):
    """Roll out the first `count` rows of `record`; where each rollout is kept, squares are left out."""
    sums, squares = record.sums[:count], record.squares[:count]
    sums[:] = 0
    squares[:] = 0
    boards, items = record.boards[:count], record.items[:count]
    if record.trials.shape[1] == 0:
        roll_out(model, rules, boards, items, seed, trials, space, sums, squares)
        return
    starts, results = words_of(boards), np.empty((trials, _EQUITY))
    for k in range(count):
        board_trials(model, rules, starts[k], items[k], seed, 0, space, results)
        for number in range(trials):
            row = results[number]
            for j in range(_EQUITY):
                sums[k, j] += row[j]
            record.trials[k, number] = equity_of(row)
            sums[k, _EQUITY] += record.trials[k, number]
