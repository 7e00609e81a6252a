"""Working memory of the play generator."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.position import PACKED_SIZE, PACKED_WORDS

MAX_PLAYS = 3072
"""More than any decision has: four moves of at most 15 checkers can be shared out in 3,060 ways."""


class PlayBuffer(NamedTuple):
    """Working memory of the generator, to be reused; `boards` and `words` are the same bytes."""

    words: npt.NDArray[np.int64]
    """Resulting boards (MAX_PLAYS, 8)."""
    boards: npt.NDArray[np.int8]
    """The same as packed boards (MAX_PLAYS, 64)."""
    paths: npt.NDArray[np.uint64]
    """How each came about: its moves, one byte each, the first in the highest byte used."""
    scores: npt.NDArray[np.int64]
    """What each is worth to its mover by a point table, over what staying put would be."""
    hashes: npt.NDArray[np.uint64]
    node_words: npt.NDArray[np.int64]
    node_boards: npt.NDArray[np.int8]
    node_masks: npt.NDArray[np.uint64]
    node_paths: npt.NDArray[np.uint64]
    node_scores: npt.NDArray[np.int64]


def new_play_buffer() -> PlayBuffer:
    """A buffer for one thread."""
    words = np.zeros((MAX_PLAYS, PACKED_WORDS), np.int64)
    node_words = np.zeros((2, MAX_PLAYS, PACKED_WORDS), np.int64)
    return PlayBuffer(
        words,
        words.view(np.int8).reshape(MAX_PLAYS, PACKED_SIZE),
        np.zeros(MAX_PLAYS, np.uint64),
        np.zeros(MAX_PLAYS, np.int64),
        np.zeros(MAX_PLAYS, np.uint64),
        node_words,
        node_words.view(np.int8).reshape(2, MAX_PLAYS, PACKED_SIZE),
        np.zeros((2, MAX_PLAYS), np.uint64),
        np.zeros((2, MAX_PLAYS), np.uint64),
        np.zeros((2, MAX_PLAYS), np.int64),
    )
