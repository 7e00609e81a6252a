"""Board lines of FIBS for tests."""

from motif.board.fibs_board import FibsBoard, FibsCounts
from motif.board.position import Position


def fibs_board(position: Position, roll: tuple[int, int] | None = None) -> FibsBoard:
    """The line of a money game for the player on roll in `position`, who is "you", with `roll` to play."""
    return FibsBoard(
        you="you",
        opponent="opponent",
        length=0,
        your_score=0,
        opponent_score=0,
        points=tuple(position.board.tolist()),
        turn=1,
        your_dice=roll or (0, 0),
        counts=FibsCounts(position.own_off, position.opponent_off),
    )
