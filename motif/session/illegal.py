"""Explanations of why a typed play is illegal."""

from collections import Counter
from collections.abc import Sequence

from motif.board.moves import Play
from motif.board.notation import MAX_MOVES, OFF, MarkedMove, parse_moves
from motif.board.packed import HOME, OWN_BAR
from motif.board.position import Position
from motif.runtime.errors import PlayError
from motif.runtime.layout import counted


def why_illegal(text: str, position: Position, roll: tuple[int, int], plays: Sequence[Play]) -> str | None:
    """Return why `text` is not among the legal `plays` of `roll`; None if it is unreadable or ambiguous."""
    try:
        moves = parse_moves(text)
    except PlayError:
        return None
    board = position.board.tolist()
    left: Counter[int] = Counter()
    entering = sum(move.start == OWN_BAR for move in moves)
    if board[OWN_BAR] > 0 and entering < min(len(moves), board[OWN_BAR]):
        return "checkers on the bar must enter first"
    dice = "{}{}".format(*roll)
    for move in sorted(moves, reverse=True):
        if fault := _fault(board, left[move.start], move):
            return fault
        if move.end != OFF and move.start - move.end not in _distances(roll):
            return f"{move.start}/{move.end} is {move.start - move.end} pips, which {dice} does not allow"
        board[move.start] -= 1
        left[move.start] += 1
        if move.end != OFF:
            board[move.end] = max(board[move.end], 0) + 1
    if any(_own(board) == _own(play.position.switch_sides().board.tolist()) for play in plays):
        return None
    pips, most = sum(move.start - move.end for move in moves), sum(roll) * (1 + (roll[0] == roll[1]))
    if pips > most:
        return f"that is {pips} pips, but {dice} is only {most}"
    if pips < max(_pips(play) for play in plays):
        return f"you must play as much of {dice} as you can"
    return f"{dice} cannot be played like that"


def _fault(board: list[int], left: int, move: MarkedMove) -> str | None:
    """Return the fault of a move on `board`, apart from the dice; `left` checkers have left its start."""
    start = "the bar" if move.start == OWN_BAR else str(move.start)
    if board[move.start] <= 0:
        if left:
            return f"you have only {counted(left, 'checker')} on {start}"
        return f"you have no checker on {start}"
    if move.end == OFF:
        outside = any(count > 0 for count in board[HOME + 1 :])
        return "you cannot bear off before all checkers are home" if outside else None
    if board[move.end] < -1:
        return f"the opponent has made the {move.end} point"
    if move.hit and board[move.end] >= 0:
        return f"there is no blot to hit on {move.end}"
    return None


def _pips(play: Play) -> int:
    return sum(start - end for start, end in play.moves)


def _distances(roll: tuple[int, int]) -> set[int]:
    """Return the distances that one checker could move on an empty board."""
    high, low = roll
    return {high * steps for steps in range(1, MAX_MOVES + 1)} if high == low else {high, low, high + low}


def _own(board: list[int]) -> list[int]:
    return [max(count, 0) for count in board]
