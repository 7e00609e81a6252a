"""Board lines of FIBS for tests."""

from itertools import chain

from motif.board.fibs_board import FibsBoard, FibsCounts, FibsCube, FibsView
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
        opponent_dice=(0, 0),
        cube=FibsCube(value=1, you_may_double=1, opponent_may_double=1, was_doubled=0),
        view=FibsView(colour=1, direction=-1, home=0, bar=25),
        counts=FibsCounts(position.own_off, position.opponent_off, 0, 0, 0, 0),
        did_crawford=0,
        redoubles=0,
    )


def line_of(board: FibsBoard) -> str:
    """The text of a board line."""
    groups = (value if isinstance(value, tuple) else (value,) for value in vars(board).values())
    return ":".join(map(str, ("board", *chain.from_iterable(groups))))
