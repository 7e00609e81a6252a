"""Best-of-four: a random choice among the phase heuristic's four best plays.

The source draws a play with a weight of exp(score), where scores are min-max values from 0 to 1, so the four
plays have similar probabilities. With fewer than four plays it uses the best one.
"""

import numpy as np

from motif.board.movegen import MAX_PLAYS, generate
from motif.board.packed import PACKED_SIZE, pack, unpack
from motif.compiler.jit import inline_kernel, kernel, words_of
from motif.evaluators.kernels import score_plays
from motif.evaluators.phase import SLOPE, PhaseEvaluator
from motif.players.player import CompiledPlayer
from motif.runtime.streams import next_unit

_FOUR = 4
_SOFTNESS = SLOPE
"""Score difference that reduces the probability of a play by a factor of e."""


@inline_kernel
def _move_best_forward(scores, places, count):
    """Move the four best of `count` scores to the front, best first; ties are in the order of plays."""
    for slot in range(_FOUR):
        best = slot
        for k in range(slot + 1, count):
            better = scores[k] > scores[best]
            if better or (scores[k] == scores[best] and places[k] < places[best]):
                best = k
        scores[slot], scores[best] = scores[best], scores[slot]
        places[slot], places[best] = places[best], places[slot]


@inline_kernel
def _drawn(scores, stream):
    """Draw one of the first four plays, with probabilities proportional to exp(min-max score)."""
    total = 0.0
    for k in range(_FOUR):
        total += np.exp((scores[k] - scores[0]) / _SOFTNESS)
    rest = total * next_unit(stream)
    for k in range(_FOUR):
        rest -= np.exp((scores[k] - scores[0]) / _SOFTNESS)
        if rest < 0:
            return k
    return 0


@kernel
def _choose_boards(model, boards, rolls, states, space, results):
    packed = np.empty(PACKED_SIZE, np.int8)
    words = words_of(packed)
    stream = np.zeros(1, np.uint64)
    scores, places = np.empty(MAX_PLAYS), np.empty(MAX_PLAYS, np.int64)
    for row in range(boards.shape[0]):
        pack(boards[row], packed)
        count = generate(words, rolls[row, 0], rolls[row, 1], space.plays)
        score_plays(model, words, packed, count, space, scores)
        choice = np.argmax(scores[:count])
        if count >= _FOUR:
            for k in range(count):
                places[k] = k
            _move_best_forward(scores, places, count)
            stream[0] = states[row]
            choice = places[_drawn(scores, stream)]
        unpack(space.plays.boards[choice], results[row])


class BestOfFour(CompiledPlayer):
    """A player that draws one of the four best plays of `phase`."""

    _choose_boards = staticmethod(_choose_boards)


def best_of_four() -> BestOfFour:
    """Return the player ``best-of-four``, which has no evaluator: use ``phase`` for evaluations."""
    return BestOfFour("best-of-four", PhaseEvaluator().model)
