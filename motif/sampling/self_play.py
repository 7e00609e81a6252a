"""Compiled self-play: the decisions of one game, their candidate plays, and the labels of these.

Random streams: the dice and draws of game g come from (seed, g, GAME_TRIAL), the rollouts of its
d-th decision from (seed, g * DECISIONS_A_GAME + d, trial): the candidates of one decision are rolled
out with the same dice, so that their differences are more exact than their values.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.masks import occupied
from motif.board.movegen import MAX_PLAYS, generate
from motif.board.outcome import finished_points
from motif.board.position import PACKED_SIZE, PACKED_WORDS
from motif.evaluators.kernels import choose, score_plays
from motif.evaluators.probabilities import turn_value
from motif.parameters.position_class import CONTACT, classify
from motif.rollout.playout import COLUMNS, roll_out
from motif.runtime.jit import inline_kernel, kernel
from motif.runtime.streams import derive, next_below, next_roll, next_unit

DECISIONS_A_GAME = 1 << 16
GAME_TRIAL = np.uint64(1 << 63)
MAX_ROWS = 1 << 16
"""Positions of one game at most; a game that yields more is not recorded further."""
_MAX_DECISIONS = 3000

_EQUITY = COLUMNS - 1


class GameRecord(NamedTuple):
    """Room for the positions of one game; rows 0:n hold them."""

    boards: npt.NDArray[np.int8]
    """(MAX_ROWS, 64) packed, seen by the player on roll."""
    items: npt.NDArray[np.int64]
    """(MAX_ROWS,): item of the random streams, one a decision."""
    plies: npt.NDArray[np.int32]
    chosen: npt.NDArray[np.bool_]
    sums: npt.NDArray[np.float64]
    """(MAX_ROWS, 6): rollout results added up."""
    squares: npt.NDArray[np.float64]


def new_record() -> GameRecord:
    """Room for one game."""
    return GameRecord(
        np.zeros((MAX_ROWS, PACKED_SIZE), np.int8),
        np.zeros(MAX_ROWS, np.int64),
        np.zeros(MAX_ROWS, np.int32),
        np.zeros(MAX_ROWS, np.bool_),
        np.zeros((MAX_ROWS, COLUMNS)),
        np.zeros((MAX_ROWS, COLUMNS)),
    )


@inline_kernel
def _put(record, row, words, item, ply, chosen):
    target = record.boards[row].view(np.int64)
    for k in range(PACKED_WORDS):
        target[k] = words[k]
    record.items[row] = item
    record.plies[row] = ply
    record.chosen[row] = chosen


@inline_kernel
def _pick_candidates(count, chosen, wanted, scores, order, stream):
    """Put first in `order` the `chosen` play, the best others, and some drawn from the rest: `wanted` in all.

    Half of the others are the best ones, between which a player has to choose; half are any, so that
    bad plays are known too.
    """
    for k in range(count):
        order[k] = k
    order[0], order[chosen] = chosen, 0
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


@kernel
def self_play(
    model, start, seed, game, by_rollout, candidates, rates, noise, trials, cut, stop_at_race, space, record
):
    """Play one game of the model against itself; label and record positions; return their number.

    With `by_rollout` every legal play is rolled out, all are recorded and the best is played.
    Otherwise the model decides, or with the chance `noise` the dice do; a decision is recorded with
    the chance that `rates` has for its class, with at most `candidates` of its plays (0: all), the
    chosen one among them.  Finished games are not recorded.
    """
    stream = np.zeros(1, np.uint64)
    stream[0] = derive(np.uint64(seed), np.uint64(game), GAME_TRIAL)
    current = start.copy()
    words = current.view(np.int64)
    order = np.zeros(MAX_PLAYS, np.int64)
    scores = np.zeros(MAX_PLAYS)
    item = game * DECISIONS_A_GAME
    rows = 0
    if by_rollout or next_unit(stream) < rates[CONTACT]:
        _put(record, 0, words, item, 0, True)
        rows = 1
    for ply in range(1, _MAX_DECISIONS):
        high, low = next_roll(stream)
        while ply == 1 and high == low:
            high, low = next_roll(stream)
        item += 1
        first = rows
        if by_rollout:
            count = generate(words, high, low, space.plays)
            play = 0
            for k in range(count):
                order[k] = k
        else:
            play, count = choose(model, words, current, high, low, space, stream)
            if next_unit(stream) < noise:
                play = next_below(stream, count)
            wanted = 0
            own, other = occupied(words, 0), occupied(words, PACKED_WORDS // 2)
            if next_unit(stream) < rates[classify(words, current, own, other)]:
                wanted = count if candidates == 0 else min(count, candidates)
                if wanted < count:
                    score_plays(model, words, current, count, space, scores)
                _pick_candidates(count, play, wanted, scores, order, stream)
            count = wanted
        if rows + count > MAX_ROWS:
            break
        for k in range(count):
            _put(record, rows, space.plays.words[order[k]], item, ply, order[k] == play)
            rows += 1
        for k in range(PACKED_WORDS):
            words[k] = space.plays.words[play, k]
        if by_rollout:
            part = slice(first, rows)
            record.sums[part] = 0
            record.squares[part] = 0
            roll_out(
                model, record.boards[part], record.items[part], seed, 0, trials, cut, stop_at_race, space,
                record.sums[part], record.squares[part],
            )  # fmt: skip
            best = first
            for row in range(first, rows):
                if turn_value(record.sums[row, _EQUITY]) > turn_value(record.sums[best, _EQUITY]):
                    best = row
                record.chosen[row] = False
            record.chosen[best] = True
            chosen_words = record.boards[best].view(np.int64)
            for k in range(PACKED_WORDS):
                words[k] = chosen_words[k]
        over = finished_points(words) != 0
        rows = _without_finished(record, first, rows)
        if over:
            break
    if not by_rollout:
        record.sums[:rows] = 0
        record.squares[:rows] = 0
        roll_out(
            model, record.boards[:rows], record.items[:rows], seed, 0, trials, cut, stop_at_race, space,
            record.sums[:rows], record.squares[:rows],
        )  # fmt: skip
    elif rows > 0:
        record.sums[0] = 0
        record.squares[0] = 0
        roll_out(
            model, record.boards[:1], record.items[:1], seed, 0, trials, cut, stop_at_race, space,
            record.sums[:1], record.squares[:1],
        )  # fmt: skip
    return rows


@inline_kernel
def _without_finished(record, first, rows):
    """Drop finished games from the rows first:rows and return the new number of rows."""
    kept = first
    for row in range(first, rows):
        if finished_points(record.boards[row].view(np.int64)) == 0:
            if kept != row:
                record.boards[kept] = record.boards[row]
                record.items[kept] = record.items[row]
                record.plies[kept] = record.plies[row]
                record.chosen[kept] = record.chosen[row]
                record.sums[kept] = record.sums[row]
                record.squares[kept] = record.squares[row]
            kept += 1
    return kept
