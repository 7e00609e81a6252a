"""Compiled self-play: the decisions of a game, their candidate plays and the labels of the plays.

Random streams: the dice and random choices of game g come from (seed, g, GAME_TRIAL), and the rollouts of
its d-th decision from (seed, g * DECISIONS_A_GAME + d, trial). The candidates of one decision are rolled
out with the same dice, so that their differences are more precise than their values.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import MAX_PLAYS, generate
from motif.board.outcome import finished_points
from motif.board.packed import PACKED_SIZE, PACKED_WORDS, copy_words, occupied
from motif.compiler.jit import inline_kernel, kernel, words_of
from motif.evaluators.kernels import choose, score_plays
from motif.evaluators.probabilities import EQUITY_HEAD, HEADS, OUTPUTS, equity_of, switch_value
from motif.parameters.position_class import classify
from motif.rollouts.playout import board_trials, roll_out
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.streams import derive, next_below, next_roll, next_unit

if TYPE_CHECKING:
    from motif.evaluators.model import Workspace
    from motif.rollouts.rollout_settings import PlayoutRules

DECISIONS_A_GAME = 1 << 16
GAME_TRIAL = np.uint64(1 << 63)
MAX_ROWS = 1 << 16
"""Maximum number of positions of one game; later positions are not recorded."""


class SamplingRules(NamedTuple):
    """Rules for playing games, and for recording and labelling their positions."""

    seed: int
    candidates: int
    """Maximum number of plays recorded per decision, including the actual one; 0 for all."""
    replies: bool
    """Whether the position after the best reply to each of these plays is recorded instead."""
    by_rollout: bool
    """Whether plays are chosen by rollouts of every legal play instead of the model."""
    noise: float
    """Share of plays chosen at random."""
    plies: int
    """Maximum number of plies of a game."""
    rates: FloatArray
    """Share of decisions to record, by position class."""
    trials: int
    """Number of rollout trials per position; 0 for no labels."""
    rollout: "PlayoutRules"


class SampledPositions(NamedTuple):
    """Memory for labelled positions, in rows 0:n."""

    boards: npt.NDArray[np.int8]
    """Packed boards (rows, 64), from the side of the player on roll."""
    items: IntArray
    """Item of the random streams (rows,), one per decision."""
    plies: npt.NDArray[np.int32]
    chosen: BoolArray
    sums: FloatArray
    """Sums of the rollout results (rows, 6)."""
    squares: FloatArray
    trials: FloatArray
    """Equity of each rollout trial (rows, trials); (rows, 0) if only sums are needed."""


def new_record(rows: int = MAX_ROWS, trials: int = 0) -> SampledPositions:
    """Return memory for `rows` positions, of one game or, with MAX_PLAYS, of one decision.

    With `trials`, the equity of each rollout trial is also recorded.
    """
    return SampledPositions(
        np.zeros((rows, PACKED_SIZE), np.int8),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.bool_),
        np.zeros((rows, len(HEADS))),
        np.zeros((rows, len(HEADS))),
        # Zeros take no memory until they are overwritten.
        np.zeros((rows, trials)),
    )


class SamplingMemory(NamedTuple):
    """Reusable working memory of a sampled game."""

    space: "Workspace"
    """Working memory of the model; see `motif.evaluators.static.prepared`."""
    tried: SampledPositions
    """Plays of a decision."""
    order: IntArray
    scores: FloatArray
    stream: npt.NDArray[np.uint64]


def new_memory(space: "Workspace", trials: int = 0) -> SamplingMemory:
    """Return memory that includes the `space` of a model; `trials` is the same as for `new_record`."""
    tried = new_record(MAX_PLAYS, trials)
    return SamplingMemory(
        space, tried, np.zeros(MAX_PLAYS, np.int64), np.zeros(MAX_PLAYS), np.zeros(1, np.uint64)
    )


@inline_kernel
def _put(record, row, words, item, ply, played):
    copy_words(words, words_of(record.boards[row]))
    record.items[row] = item
    record.plies[row] = ply
    record.chosen[row] = played


@inline_kernel
def _pick_candidates(count, played, wanted, scores, order, stream):
    """Put `wanted` plays first in `order`: the `played` one, the best others and some random ones.

    Half of the other plays are the best, which are hard to tell apart; half are random, to include bad
    plays.
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
def _next_roll(opening, stream):
    """Return the next roll, which is not a double if it is the `opening` roll of a game."""
    high, low = next_roll(stream)
    while opening and high == low:
        high, low = next_roll(stream)
    return high, low


@inline_kernel
def put_plays(tried, plays, count, item, ply):
    """Copy the first `count` legal plays of a decision to `tried`."""
    for k in range(count):
        _put(tried, k, plays.words[k], item, ply, False)


@inline_kernel
def _best_by_rollouts(tried, count, scores):
    """Return the best of `count` plays by rollouts, and write their values for the mover to `scores`."""
    best = 0
    for k in range(count):
        scores[k] = switch_value(tried.sums[k, EQUITY_HEAD])
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
            for j in range(len(HEADS)):
                record.sums[rows, j] = tried.sums[play, j]
                record.squares[rows, j] = tried.squares[play, j]
            for number in range(tried.trials.shape[1]):
                record.trials[rows, number] = tried.trials[play, number]
            rows += 1
    return rows


@inline_kernel
def _record_replies(model, record, rows, order, wanted, played, memory):
    """Add the positions after one roll and the best reply to each of the plays; return the number of rows.

    They differ by the checkers of the player on roll, which one ply of lookahead compares; the plays of a
    decision differ by those of the other player.
    """
    space, stream, tried = memory.space, memory.stream, memory.tried
    high, low = next_roll(stream)
    for k in range(wanted):
        play = order[k]
        after = words_of(tried.boards[play])
        if finished_points(after) == 0:
            reply, _ = choose(model, after, tried.boards[play], high, low, space, stream)
            words = space.plays.words[reply]
            if finished_points(words) == 0:
                _put(record, rows, words, tried.items[play], tried.plies[play] + 1, play == played)
                rows += 1
    return rows


@inline_kernel
def record_decision(model, words, current, play, count, rules, memory, record, rows):
    """Record a decision at the rate of its position class; return the number of rows.

    The `count` plays are in ``memory.tried``; `play` is the actual play.  Returns -1 if the record is full.
    """
    own, other = occupied(words, 0), occupied(words, PACKED_WORDS // 2)
    if next_unit(memory.stream) < rules.rates[classify(words, current, own, other)]:
        wanted = count if rules.candidates == 0 else min(count, rules.candidates)
        if wanted < count and not rules.by_rollout:
            score_plays(model, words, current, count, memory.space, memory.scores)
        _pick_candidates(count, play, wanted, memory.scores, memory.order, memory.stream)
        if rows + wanted > MAX_ROWS:
            return -1
        if rules.replies:
            return _record_replies(model, record, rows, memory.order, wanted, play, memory)
        rows = _record(record, rows, memory.tried, memory.order, wanted, play)
    return rows


@inline_kernel
def begin_game(rules, game, memory):
    """Start the random stream of a game, and clear the scores of the previous game."""
    memory.stream[0] = derive(np.uint64(rules.seed), np.uint64(game), GAME_TRIAL)
    memory.scores[:] = 0


@kernel
def self_play(model, start, opening, game, rules, memory, record):
    """Play one game of the model against itself; record and label positions, and return their number.

    The game begins at the packed board `start`, with an `opening` roll or any roll. `rules` are
    `SamplingRules`, and `memory` is a `SamplingMemory`. Final positions are not recorded.
    """
    begin_game(rules, game, memory)
    space, stream, tried = memory.space, memory.stream, memory.tried
    current = start.copy()
    words = words_of(current)
    item = game * DECISIONS_A_GAME
    rows = 0
    own, other = occupied(words, 0), occupied(words, PACKED_WORDS // 2)
    if next_unit(stream) < rules.rates[classify(words, current, own, other)]:
        _put(record, 0, words, item, 0, True)
        rows = 1
    for ply in range(1, rules.plies + 1):
        high, low = _next_roll(opening and ply == 1, stream)
        item += 1
        if rules.by_rollout:
            count = generate(words, high, low, space.plays)
            put_plays(tried, space.plays, count, item, ply)
            label(model, tried, count, rules, space)
            play = _best_by_rollouts(tried, count, memory.scores)
        else:
            play, count = choose(model, words, current, high, low, space, stream)
            put_plays(tried, space.plays, count, item, ply)
        if next_unit(stream) < rules.noise:
            play = next_below(stream, count)
        more = record_decision(model, words, current, play, count, rules, memory, record, rows)
        if more < 0:
            break
        rows = more
        copy_words(words_of(tried.boards[play]), words)
        if finished_points(words) != 0:
            break
    if not rules.by_rollout:
        label(model, record, rows, rules, space)
    elif rows > 0 and record.plies[0] == 0:
        label(model, record, 1, rules, space)
    return rows


@kernel
def label(model, record, count, rules, space):
    """Roll out the first `count` rows of `record`; omit squares if each rollout trial is recorded."""
    sums, squares = record.sums[:count], record.squares[:count]
    sums[:] = 0
    squares[:] = 0
    boards, items, trials = record.boards[:count], record.items[:count], rules.trials
    if record.trials.shape[1] == 0:
        roll_out(model, rules.rollout, boards, items, rules.seed, 0, trials, space, sums, squares)
        return
    starts, results = words_of(boards), np.empty((trials, len(OUTPUTS)))
    for k in range(count):
        board_trials(model, rules.rollout, starts[k], items[k], rules.seed, 0, space, results)
        for number in range(trials):
            row = results[number]
            for j in range(len(OUTPUTS)):
                sums[k, j] += row[j]
            record.trials[k, number] = equity_of(row)
            sums[k, EQUITY_HEAD] += record.trials[k, number]
