"""Working memory of the lookahead kernels, one for each thread."""

from threading import local
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import PACKED_SIZE, PACKED_WORDS
from motif.evaluators.cube_model import MAX_STATES
from motif.evaluators.probabilities import OUTPUTS
from motif.runtime.arrays import FloatArray, IntArray

MAX_PLIES = 3
"""Maximum plies of lookahead."""


class CubeTree(NamedTuple):
    """Working memory of cubeful lookahead, by level of the tree of rolls and cube state."""

    wanted: IntArray
    """(levels,): bit mask of the cube states for which the board's value is needed."""
    states: IntArray
    """(levels,): bit mask of these states and those after a double."""
    held: FloatArray
    """(levels, states): values without a double, summed so far."""
    best: FloatArray
    """(levels, states): value of the best reply to the present roll, without lookahead."""
    play: IntArray
    """(levels, states): number of that reply."""
    score: FloatArray
    """(states,): score of that reply, without the cube."""
    waiting: IntArray
    """(levels,): number of boards after replies to the present roll that still wait."""
    next_words: IntArray
    """(levels, states, 8): the waiting boards."""
    next_states: IntArray
    """(levels, states): bit mask of the states for which each board waits."""
    held_after: FloatArray
    """(states,): values of a board after a play."""
    played: FloatArray
    """(states,): value in each state of the best reply of the present state."""
    played_row: FloatArray
    """(5,): probabilities after this reply of the player on roll."""


class Tree(NamedTuple):
    """Working memory of one thread, by level of the tree of rolls."""

    words: IntArray
    """Packed boards (levels, 8)."""
    boards: npt.NDArray[np.int8]
    """The same memory as bytes (levels, 64)."""
    number: IntArray
    """(levels,): number of the next roll."""
    equity: FloatArray
    """(levels,): equity, summed so far."""
    rows: FloatArray
    """(levels, 5): probabilities, summed so far."""
    share: FloatArray
    """(levels,): weight of the present roll."""
    cube: CubeTree
    """Memory of cubeful lookahead."""


_thread = local()


def thread_tree() -> Tree:
    """Return the calling thread's memory for lookahead."""
    tree: Tree | None = getattr(_thread, "tree", None)
    if tree is None:
        words = np.zeros((MAX_PLIES, PACKED_WORDS), np.int64)
        boards = words.view(np.int8).reshape(MAX_PLIES, PACKED_SIZE)
        rows = np.zeros((MAX_PLIES, len(OUTPUTS)))
        shape = MAX_PLIES, MAX_STATES
        tree = Tree(
            words,
            boards,
            np.zeros(MAX_PLIES, np.int64),
            np.zeros(MAX_PLIES),
            rows,
            np.zeros(MAX_PLIES),
            CubeTree(
                np.zeros(MAX_PLIES, np.int64),
                np.zeros(MAX_PLIES, np.int64),
                np.zeros(shape),
                np.zeros(shape),
                np.zeros(shape, np.int64),
                np.zeros(MAX_STATES),
                np.zeros(MAX_PLIES, np.int64),
                np.zeros((*shape, PACKED_WORDS), np.int64),
                np.zeros(shape, np.int64),
                np.zeros(MAX_STATES),
                np.zeros(MAX_STATES),
                np.zeros(len(OUTPUTS)),
            ),
        )
        _thread.tree = tree
    return tree
