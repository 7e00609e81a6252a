"""GNU Backgammon as a player and an evaluator, in a process that is queried over a socket."""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from motif.board.fibs_board import fibs_lines
from motif.board.identifiers import gnubg_ids, quoted
from motif.board.moves import after_move, play_batches
from motif.board.notation import parse_moves
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import as_boards
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.cube_model import CubeModel
from motif.evaluators.probabilities import HEADS, write_finished
from motif.parameters.position_class import RACE, classify_many
from motif.players.gnubg_process import gnubg_path, idle_processes, installed_gnubg
from motif.players.player import EvaluatorPlayer, Player
from motif.runtime.arrays import Float32Array, IntArray
from motif.runtime.errors import PlayerError, PlayError, PositionError

__all__ = ["GnubgEvaluator", "GnubgPlayer", "gnubg_path", "load_gnubg"]

_NAME = re.compile(r"gnubg(?:@([0-9]))?")


def settings_for(plies: int) -> tuple[str, ...]:
    """Return gnubg's commands for cubeless money play with `plies` of lookahead, without noise.

    All other settings, such as move filters, are gnubg's defaults.
    """
    settings = f"plies {plies}", "cubeful off", "noise 0", "prune on"
    return tuple(f"set evaluation chequerplay evaluation {setting}" for setting in settings)


def evaluation_questions(boards: Board, plies: int) -> Iterator[str]:
    """Yield a query for the probabilities of each of `boards` (n, 26), with `plies` of lookahead."""
    for line in fibs_lines(boards):
        yield f"evaluation fibsboard {line} plies {plies} cubeless prune on jacobyrule off"


def board_after(board: list[int], answer: str) -> tuple[int, ...]:
    """Return the board (26,) after the play in `answer`, from the perspective of the next player on roll.

    gnubg lists the move of every die, so hits on the way are included. Raises `PlayerError` for an unparsable
    play; legality is not checked.
    """
    try:
        moves = parse_moves(answer)
    except PlayError:
        raise PlayerError(f"gnubg returned {quoted(answer)}, which is not a play") from None
    after = tuple(board)
    for start, end, _ in moves:
        after = after_move(after, start, end)
    return tuple(-count for count in reversed(after))


def chances(answer: str) -> list[float]:
    """Return the five probabilities in `answer`; raise `PlayerError` if it has none."""
    try:
        numbers = [float(word) for word in answer.split()]
    except ValueError:
        numbers = []
    if len(numbers) != len(HEADS) or not all(0 <= number <= 1 for number in numbers[: len(OUTPUTS)]):
        raise PlayerError(f"gnubg returned {quoted(answer)}, which is not an evaluation")
    return numbers[: len(OUTPUTS)]


_MAX_PLIES = 3
_PLAYS_AT_ONCE = 4096


class GnubgEvaluator(Evaluator):
    """gnubg's cubeless evaluation with `plies` of lookahead.

    Raises `PlayerError` if gnubg is not installed.  gnubg is started on first use in each process.
    """

    def __init__(self, plies: int = 0) -> None:
        if not 0 <= plies <= _MAX_PLIES:
            raise PlayerError(f"gnubg@{plies}: lookahead must be 0 to {_MAX_PLIES} plies")
        self.name = f"gnubg@{plies}" if plies else "gnubg"
        self.plies = plies
        self._program = installed_gnubg()

    @property
    def without_lookahead(self) -> "GnubgEvaluator":
        """See `Evaluator.without_lookahead`."""
        return GnubgEvaluator() if self.plies else self

    def __reduce__(self) -> tuple[type["GnubgEvaluator"], tuple[int]]:
        # The path may differ on another machine of a cluster.
        return GnubgEvaluator, (self.plies,)

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`; probabilities have six decimals."""
        boards = as_boards(positions)
        packed = pack_many(boards)
        rows = np.empty((len(boards), len(OUTPUTS)), np.float32)
        write_finished(packed, rows)
        going = np.flatnonzero(finished_points_many(packed.view(np.int64)) == 0)
        questions = evaluation_questions(boards[going], self.plies)
        for row, question in zip(going, questions, strict=True):
            answer = self.ask(question)
            try:
                rows[row] = chances(answer)
            except PlayerError as error:
                raise PlayerError(f"{error}, for the probabilities of {_identifier(boards[row])}") from None
        return rows

    def sources_of(self, boards: Board) -> IntArray:
        """See `Evaluator.sources_of`."""
        return np.full(len(boards), self.plies)

    def ask(self, question: str) -> str:
        """Return gnubg's answer to a query of one line."""
        return idle_processes.ask(self._program, settings_for(self.plies), question)


class GnubgPlayer(Player):
    """gnubg's choice of plays with `plies` of lookahead; raises `PlayerError` if gnubg is not installed.

    At 0-ply, ties between plays in a race are broken like those of other players, by the order of legal
    plays. gnubg's bearoff tables have many exact ties between plays that its nets, the source of benchmark
    labels, rate differently, so tie-breaking would otherwise dominate the error rates.
    """

    evaluator: GnubgEvaluator

    def __init__(self, plies: int = 0) -> None:
        self.evaluator = GnubgEvaluator(plies)
        self.name = self.evaluator.name
        self._by_value = EvaluatorPlayer(self.evaluator)

    def __reduce__(self) -> tuple[type["GnubgPlayer"], tuple[int]]:
        return GnubgPlayer, (self.evaluator.plies,)

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> Player:
        """See `Player.with_cube`; requires gnubg's probabilities of every play."""
        return self if cube_model.is_cubeless else EvaluatorPlayer(self.evaluator.with_cube(cube_model, side))

    def choose_many(self, boards: Board, rolls: IntArray, states: npt.NDArray[np.uint64]) -> Board:
        """See `Player.choose_many`; gnubg is not queried for forced plays.

        Raises `PositionError` for a finished game, `PlayerError` if gnubg returns an illegal play.
        """
        packed = pack_many(boards)
        finished = finished_points_many(packed.view(np.int64)) != 0
        if finished.any():
            raise PositionError(f"row {int(np.argmax(finished))}: no plays: the game is over")
        results = np.empty_like(boards)
        by_value = (classify_many(packed) == RACE) & (self.evaluator.plies == 0)
        if by_value.any():
            results[by_value] = self._by_value.choose_many(
                boards[by_value], rolls[by_value], states[by_value]
            )
        results[~by_value] = self.own_plays(boards[~by_value], rolls[~by_value])
        return results

    def close(self) -> None:
        """End the idle gnubg processes of this process immediately."""
        idle_processes.end()

    def own_plays(self, boards: Board, rolls: IntArray) -> Board:
        """Return the boards int8 (n, 26) after gnubg's choices, with gnubg's tie-breaking."""
        results = np.empty_like(boards)
        for batch in play_batches(boards, rolls, _PLAYS_AT_ONCE):
            here = batch.decisions
            results[here] = batch.boards[batch.offsets[:-1]]
            free = np.flatnonzero(np.diff(batch.offsets) > 1)
            questions = fibs_lines(boards[here][free], rolls[here][free])
            for decision, question in zip(free.tolist(), questions, strict=True):
                legal = batch.boards[batch.offsets[decision] : batch.offsets[decision + 1]]
                row = here.start + decision
                results[row] = self._legal_answer(question, boards[row], rolls[row], legal)
        return results

    def _legal_answer(self, question: str, board: Board, roll: IntArray, legal: Board) -> Board:
        """Return the board among `legal` that gnubg's answer leads to."""
        answer = self.evaluator.ask(question)
        asked = f"for {roll[0]}{roll[1]} in {_identifier(board)}"
        try:
            after = board_after(board.tolist(), answer)
        except PlayerError as error:
            raise PlayerError(f"{error}, {asked}") from None
        same = (legal == np.array(after)).all(axis=1)
        if not same.any():
            raise PlayerError(f"gnubg returned the illegal play {quoted(answer)}, {asked}")
        choice: Board = legal[np.argmax(same)]
        return choice


def _identifier(board: Board) -> str:
    return gnubg_ids(board[None])[0]


def load_gnubg(name: str = "gnubg") -> GnubgPlayer:
    """Return the player ``gnubg`` (0-ply), or ``gnubg@1`` to ``gnubg@3`` with lookahead.

    Raises `PlayerError` for another name, or if gnubg is not installed.
    """
    match = _NAME.fullmatch(name)
    if not match:
        raise PlayerError(
            f"no player is called {quoted(name)}; there are gnubg and gnubg@1 to gnubg@{_MAX_PLIES}"
        )
    return GnubgPlayer(int(match[1] or 0))
