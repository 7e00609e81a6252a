"""What a roll can make of a home position when the other side is not in the way."""

from motif.board.movegen import generate
from motif.board.position import PACKED_WORDS
from motif.evaluators.bearoff.numbering import home_number
from motif.runtime.jit import lean_kernel

_AFTER_SWITCHING = PACKED_WORDS // 2
"""Where the mover's half starts in the boards that the generator writes."""


@lean_kernel
def home_plays(word, high, low, board, buffer, found):
    """Write to int64 `found` the numbers of the home positions after each play of a roll.

    `word` is the side's as `home_number` reads it; the packed board `board` int64[8] must be empty but
    for its first word, and `buffer` is the generator's.  Returns how many there are, at least one.
    """
    board[0] = word
    count = generate(board, high, low, buffer)
    for k in range(count):
        found[k] = home_number(buffer.words[k, _AFTER_SWITCHING])
    return count
