"""What gnubg is asked over its socket, and what its answers mean."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from motif.board.fibs_board import fibs_lines
from motif.board.identifiers import quoted
from motif.board.notation import OFF, parse_moves
from motif.board.position import OPPONENT_BAR, Board
from motif.evaluators import OUTPUTS
from motif.runtime.errors import PlayerError, PlayError

# gnubg's own numbers in an evaluation: the five, and the equity.
_NUMBERS = len(OUTPUTS) + 1


def settings_for(plies: int) -> tuple[str, ...]:
    """gnubg's commands for choosing plays for money without a cube, `plies` ahead and without noise.

    Everything else, such as the filters of lookahead and its pruning nets, is as gnubg has it.
    """
    chequer_play = "set evaluation chequerplay evaluation"
    return (
        f"{chequer_play} plies {plies}",
        f"{chequer_play} cubeful off",
        f"{chequer_play} noise 0",
        f"{chequer_play} prune on",
    )


def play_questions(boards: Board, rolls: npt.NDArray[np.int64]) -> Iterator[str]:
    """Which play is best, for each of `boards` (n, 26) and `rolls` (n, 2)?"""
    return fibs_lines(boards, rolls)


def evaluation_questions(boards: Board, plies: int) -> Iterator[str]:
    """What are the chances, `plies` ahead, for each of `boards` (n, 26)?"""
    for line in fibs_lines(boards):
        yield f"evaluation fibsboard {line} plies {plies} cubeless prune on jacobyrule off"


def board_after(board: list[int], answer: str) -> tuple[int, ...]:
    """`board` (26) after the play in `answer`, seen by the next player on roll.

    gnubg names each die's move, so that no hit is left out.  Raises `PlayerError` for what is no play;
    whether it is legal is not asked.
    """
    try:
        moves = parse_moves(answer)
    except PlayError:
        raise PlayerError(f"gnubg has answered {quoted(answer)}, which is no play") from None
    after = list(board)
    for start, end, _ in moves:
        after[start] -= 1
        if end == OFF:
            continue
        if after[end] == -1:
            after[end] = 0
            after[OPPONENT_BAR] -= 1
        after[end] += 1
    return tuple(-count for count in reversed(after))


def chances(answer: str) -> list[float]:
    """The five probabilities in `answer`; raises `PlayerError` for what are none."""
    words = answer.split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) != _NUMBERS or not all(0 <= number <= 1 for number in numbers[: len(OUTPUTS)]):
        raise PlayerError(f"gnubg has answered {quoted(answer)}, which is no evaluation")
    return numbers[: len(OUTPUTS)]
