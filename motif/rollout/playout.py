"""Compiled playouts: one game from a position to its end, and many of them added up."""

import numpy as np

from motif.board.masks import occupied
from motif.board.outcome import finished_points
from motif.board.position import PACKED_WORDS
from motif.evaluators.kernels import choose, evaluate_into
from motif.evaluators.probabilities import OUTPUTS, WIN, certain, equity_of, turn_probabilities
from motif.parameters.position_class import in_contact
from motif.runtime.jit import inline_kernel, kernel
from motif.runtime.streams import derive, next_roll

MAX_PLIES = 3000
"""A game that lasts longer is broken off as a draw; real ones end within a few hundred plies."""

COLUMNS = len(OUTPUTS) + 1
"""The five probabilities, then equity."""


@inline_kernel
def _is_race(words):
    return not in_contact(occupied(words, 0), occupied(words, PACKED_WORDS // 2))


@inline_kernel
def _play_out(model, words, board, cut, stop_at_race, space, stream, row):
    """Play from the packed board `words` (int64[8], overwritten; `board` is the same bytes) to the end.

    Writes the five probabilities of the player who was on roll at first.  After `cut` plies (0:
    never), or on entering a race when `stop_at_race`, the model's own value ends the game.
    """
    ply = 0
    contact = stop_at_race and not _is_race(words)
    while True:
        finished = finished_points(words)
        if finished != 0:
            certain(finished, row)
            break
        if (0 < cut <= ply) or (contact and ply > 0 and _is_race(words)):
            evaluate_into(model, words, board, space, row)
            break
        if ply == MAX_PLIES:
            certain(0, row)
            row[WIN] = 0.5
            break
        high, low = next_roll(stream)
        play, _ = choose(model, words, board, high, low, space, stream)
        for k in range(PACKED_WORDS):
            words[k] = space.plays.words[play, k]
        ply += 1
    if ply % 2 == 1:
        turn_probabilities(row)


@kernel
def roll_out(model, packed, items, seed, first_trial, trials, cut, stop_at_race, space, sums, squares):
    """Add `trials` playouts of each packed board (n, 64) to `sums` and `squares`, float64 (n, COLUMNS).

    Trial t of a board uses the stream (seed, its entry of `items`, t), t counted from `first_trial`.
    """
    words = packed.view(np.int64)
    stream = np.zeros(1, np.uint64)
    current = np.zeros(PACKED_WORDS, np.int64)
    board = current.view(np.int8)
    row = np.zeros(len(OUTPUTS))
    for k in range(packed.shape[0]):
        for trial in range(first_trial, first_trial + trials):
            stream[0] = derive(np.uint64(seed), np.uint64(items[k]), np.uint64(trial))
            for w in range(PACKED_WORDS):
                current[w] = words[k, w]
            _play_out(model, current, board, cut, stop_at_race, space, stream, row)
            for j in range(len(OUTPUTS)):
                sums[k, j] += row[j]
                squares[k, j] += row[j] * row[j]
            equity = equity_of(row)
            sums[k, COLUMNS - 1] += equity
            squares[k, COLUMNS - 1] += equity * equity


@kernel
def play_games(model, start, first_game, games, seed, space):
    """Play whole games of the model against itself from the packed board `start` (64,).

    Returns the legal plays generated.
    """
    stream = np.zeros(1, np.uint64)
    current = np.zeros(PACKED_WORDS, np.int64)
    board = current.view(np.int8)
    first = start.view(np.int64)
    generated = 0
    for game in range(first_game, first_game + games):
        stream[0] = derive(np.uint64(seed), np.uint64(game), np.uint64(0))
        for w in range(PACKED_WORDS):
            current[w] = first[w]
        for _ in range(MAX_PLIES):
            if finished_points(current) != 0:
                break
            high, low = next_roll(stream)
            play, count = choose(model, current, board, high, low, space, stream)
            generated += count
            for k in range(PACKED_WORDS):
                current[k] = space.plays.words[play, k]
    return generated
