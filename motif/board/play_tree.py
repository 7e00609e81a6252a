"""A roll played checker by checker: what may be moved next, in any order, to come to a legal play."""

from collections.abc import Sequence
from typing import NamedTuple

from motif.board.moves import Play
from motif.board.notation import MOST_MOVES, OFF
from motif.board.packed import HOME, OPPONENT_BAR, OWN_BAR
from motif.board.position import Position

_Places = tuple[int, ...]


class Step(NamedTuple):
    """One checker moved with one die, in the mover's numbering: 25 is the bar, 0 is off."""

    start: int
    end: int
    die: int
    hits: bool
    node: int
    """Where that leads to."""


class Node(NamedTuple):
    """Where a roll stands when some of it has been played."""

    steps: tuple[Step, ...]
    """What may come next, the higher die and the rearmost checker first."""
    play: int | None
    """Which of the legal plays this is; None where more must be played."""


def play_tree(position: Position, roll: tuple[int, int], plays: Sequence[Play]) -> list[Node]:
    """Every way to come to each of the legal `plays` of `roll`; node 0 is where nothing has been moved.

    Nodes that lead to none are left out: the rules on which dice must be played are those of `plays`.
    """
    return _Tree(plays).grown(tuple(position.board.tolist()), tuple(sorted(roll, reverse=True)))


class _Tree:
    def __init__(self, plays: Sequence[Play]) -> None:
        self._results = {
            tuple(play.position.switch_sides().board.tolist()): number for number, play in enumerate(plays)
        }
        self._nodes: list[Node] = []
        self._known: dict[tuple[_Places, tuple[int, ...]], int | None] = {}

    def grown(self, board: _Places, roll: tuple[int, ...]) -> list[Node]:
        dice = roll if roll[0] != roll[1] else roll[:1] * MOST_MOVES
        self._follow(board, dice)
        last = len(self._nodes) - 1  # the root is the last one to be known
        return [
            node._replace(steps=tuple(step._replace(node=last - step.node) for step in node.steps))
            for node in reversed(self._nodes)
        ]

    def _follow(self, board: _Places, dice: tuple[int, ...]) -> int | None:
        """The number of the node at `board` with `dice` to play; None where no legal play comes of it."""
        state = board, dice
        if state not in self._known:
            self._known[state] = self._made(board, dice)
        return self._known[state]

    def _made(self, board: _Places, dice: tuple[int, ...]) -> int | None:
        steps, is_stuck = [], True
        for place, die in enumerate(dice):
            if die in dice[:place]:
                continue
            rest = dice[:place] + dice[place + 1 :]
            for start in _movable(board, die):
                is_stuck = False
                end = max(start - die, OFF)
                hits = end != OFF and board[end] < 0
                node = self._follow(_moved(board, start, end), rest)
                if node is not None:
                    steps.append(Step(start, end, die, hits, node))
        play = self._results.get(board) if is_stuck else None
        if not steps and play is None:
            return None
        self._nodes.append(Node(tuple(steps), play))
        return len(self._nodes) - 1


def _movable(board: _Places, die: int) -> list[int]:
    """Where checkers stand that `die` can move, the rearmost first."""
    starts = (
        [OWN_BAR] if board[OWN_BAR] > 0 else [place for place in range(OWN_BAR, 0, -1) if board[place] > 0]
    )
    rearmost = starts[0] if starts else 0
    return [
        start
        for start in starts
        if (board[start - die] >= -1 if start > die else rearmost <= HOME and start in (die, rearmost))
    ]


def _moved(board: _Places, start: int, end: int) -> _Places:
    places = list(board)
    places[start] -= 1
    if end != OFF:
        if places[end] < 0:
            places[end] = 0
            places[OPPONENT_BAR] -= 1
        places[end] += 1
    return tuple(places)
