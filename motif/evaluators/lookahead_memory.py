"""The memory that the kernels of lookahead work in, one for each thread."""

from threading import local
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import PACKED_SIZE, PACKED_WORDS
from motif.evaluators.cube_model import MAX_STATES
from motif.evaluators.probabilities import OUTPUTS

MAX_PLIES = 3
"""Plies of lookahead at most."""


class CubeTree(NamedTuple):
    """Memory of lookahead with a cube, by level of the tree of rolls and state of the cube."""

    wanted: npt.NDArray[np.int64]
    """(levels,): the states of the cube, as bits, in which the board's value is asked for."""
    states: npt.NDArray[np.int64]
    """(levels,): these, and those after a double."""
    held: npt.NDArray[np.float64]
    """(levels, states): the values without a double, summed up until now."""
    best: npt.NDArray[np.float64]
    """(levels, states): what the best reply to the present roll is worth without lookahead."""
    play: npt.NDArray[np.int64]
    """(levels, states): which reply that is."""
    waiting: npt.NDArray[np.int64]
    """(levels,): boards after replies to the present roll that are still to be looked at."""
    next_words: npt.NDArray[np.int64]
    """(levels, states, 8): these boards."""
    next_states: npt.NDArray[np.int64]
    """(levels, states): for which states."""
    held_after: npt.NDArray[np.float64]
    """(states,): the values of a board after a play."""
    played: npt.NDArray[np.float64]
    """(states,): what the best reply in the present state is worth in each of them."""


class Tree(NamedTuple):
    """Memory of one thread, by level of the tree of rolls."""

    words: npt.NDArray[np.int64]
    """Packed boards (levels, 8)."""
    boards: npt.NDArray[np.int8]
    """The same memory as bytes (levels, 64)."""
    number: npt.NDArray[np.int64]
    """(levels,): the roll that comes next."""
    equity: npt.NDArray[np.float64]
    """(levels,): summed up until now."""
    rows: npt.NDArray[np.float64]
    """(levels, 5): the same for the probabilities."""
    share: npt.NDArray[np.float64]
    """(levels,): how likely the present roll is."""
    cube: CubeTree
    """The same with a cube."""


_thread = local()


def thread_tree() -> Tree:
    """Return the calling thread's own memory for lookahead."""
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
                np.zeros(MAX_PLIES, np.int64),
                np.zeros((*shape, PACKED_WORDS), np.int64),
                np.zeros(shape, np.int64),
                np.zeros(MAX_STATES),
                np.zeros(MAX_STATES),
            ),
        )
        _thread.tree = tree
    return tree
