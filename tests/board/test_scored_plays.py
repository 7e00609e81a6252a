"""Scores that the generator adds up move by move, compared with scores of whole boards."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.movegen import ROLLS, generate, generate_scored, new_play_buffer
from motif.board.packed import OPPONENT_HALF, TABLE_SHAPE, pack_many
from motif.board.position import Position
from tests.strategies import positions

BUFFERS = new_play_buffer(), new_play_buffer()
TABLE = np.random.default_rng(3).integers(-1000, 1000, TABLE_SHAPE)
STEPS = np.zeros_like(TABLE)
STEPS[..., :-1] = np.diff(TABLE, axis=-1)
PLACES = np.arange(TABLE_SHAPE[1])


def score(mover: np.ndarray, other: np.ndarray) -> int:
    """The table's score of a whole board, given as the two halves of a packed board."""
    return int(TABLE[0, PLACES, mover[:25]].sum() + TABLE[1, PLACES, other[:25]].sum())


@settings(max_examples=300, deadline=None)
@given(positions(), st.sampled_from(ROLLS.tolist()))
def test_scores_are_differences_of_whole_boards(position: Position, roll):
    packed = pack_many(position.board[None])[0]
    words = packed.view(np.int64)
    plain, scored = BUFFERS
    count = generate(words, *roll, plain)
    assert generate_scored(words, packed, *roll, scored, STEPS) == count
    np.testing.assert_array_equal(scored.words[:count], plain.words[:count])
    np.testing.assert_array_equal(scored.paths[:count], plain.paths[:count])
    before = score(packed[:OPPONENT_HALF], packed[OPPONENT_HALF:])
    for k in range(count):
        after = scored.boards[k]
        # The board after a play is from the other player's side, so the mover's half is the opponent's
        # half.
        assert scored.scores[k] == score(after[OPPONENT_HALF:], after[:OPPONENT_HALF]) - before
