"""The compiled choice of plays for many decisions at once."""

import numpy as np

from motif.board.position import PACKED_SIZE, pack, unpack
from motif.evaluators.kernels import choose
from motif.runtime.jit import inline_kernel, kernel


@inline_kernel
def _choose_board(model, board, roll, state, space, packed, words, stream, result):
    pack(board, packed)
    stream[0] = state
    play, _ = choose(model, words, packed, roll[0], roll[1], space, stream)
    unpack(space.plays.boards[play], result)


@kernel
def choose_boards(model, boards, rolls, states, space, results):
    """For each of `boards` int8 (n, 26) and `rolls` (n, 2) write the board after the chosen play.

    `states` uint64 (n,) seed the random choices of the decision, where the model makes any.
    """
    packed = np.empty(PACKED_SIZE, np.int8)
    words = packed.view(np.int64)
    stream = np.zeros(1, np.uint64)
    for row in range(boards.shape[0]):
        _choose_board(model, boards[row], rolls[row], states[row], space, packed, words, stream, results[row])
