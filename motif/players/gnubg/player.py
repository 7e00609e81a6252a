"""gnubg as a player and as an evaluator."""

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import gnubg_ids, quoted
from motif.board.moves import play_batches
from motif.board.outcome import finished_points_many
from motif.board.position import Board, as_boards, pack_many
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.finished import write_finished
from motif.parameters.position_class import RACE, classify_many
from motif.players.gnubg.idle import idle_processes
from motif.players.gnubg.program import installed_gnubg
from motif.players.gnubg.questions import (
    board_after,
    chances,
    evaluation_questions,
    play_questions,
    settings_for,
)
from motif.players.player import EvaluatorPlayer, Player
from motif.runtime.errors import PlayerError, PositionError

MAX_PLIES = 3
_PLAYS_AT_ONCE = 4096


class GnubgEvaluator(Evaluator):
    """What gnubg thinks of positions, cubeless, `plies` ahead.

    Raises `PlayerError` when gnubg is not installed.  It is started when it is first needed, and in each
    process that it is sent to anew.
    """

    def __init__(self, plies: int = 0) -> None:
        if not 0 <= plies <= MAX_PLIES:
            raise PlayerError(f"gnubg@{plies}: lookahead must be 0 to {MAX_PLIES} plies")
        self.name = f"gnubg@{plies}" if plies else "gnubg"
        self.plies = plies
        self._program = installed_gnubg()

    @property
    def without_lookahead(self) -> "GnubgEvaluator":
        """See `Evaluator.without_lookahead`."""
        return GnubgEvaluator() if self.plies else self

    def __reduce__(self) -> tuple[type["GnubgEvaluator"], tuple[int]]:
        # Another machine of a cluster may have it elsewhere.
        return GnubgEvaluator, (self.plies,)

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`.  gnubg gives six decimals."""
        boards = as_boards(positions)
        packed = pack_many(boards)
        rows = np.empty((len(boards), len(OUTPUTS)), np.float32)
        write_finished(packed, rows)
        going = np.flatnonzero(finished_points_many(packed.view(np.int64)) == 0)
        questions = evaluation_questions(boards[going], self.plies)
        for row, question in zip(going, questions, strict=True):
            rows[row] = self._chances(question, boards[row])
        return rows

    def ask(self, question: str) -> str:
        """What gnubg answers to one line."""
        return idle_processes.ask(self._program, settings_for(self.plies), question)

    def _chances(self, question: str, board: Board) -> list[float]:
        answer = self.ask(question)
        try:
            return chances(answer)
        except PlayerError as error:
            raise PlayerError(f"{error}, asked for the chances in {_identifier(board)}") from None


class GnubgPlayer(Player):
    """gnubg's own choice of plays, `plies` ahead; raises `PlayerError` when gnubg is not installed.

    But of plays in a race that gnubg at 0-ply values alike the first is chosen, as all other players do.
    Many are exactly alike there by its bearoff tables, and benchmark lines that come from a net say that
    they are not: error rates would tell more of who breaks ties how than of anything else.
    """

    evaluator: GnubgEvaluator

    def __init__(self, plies: int = 0) -> None:
        self.evaluator = GnubgEvaluator(plies)
        self.name = self.evaluator.name
        self._by_value = EvaluatorPlayer(self.evaluator)

    def __reduce__(self) -> tuple[type["GnubgPlayer"], tuple[int]]:
        return GnubgPlayer, (self.evaluator.plies,)

    def choose_many(
        self, boards: Board, rolls: npt.NDArray[np.int64], states: npt.NDArray[np.uint64]
    ) -> Board:
        """See `Player.choose_many`.  Where there is one play only, gnubg is not asked.

        Raises `PositionError` for a finished game, `PlayerError` when gnubg answers with an illegal play.
        """
        packed = pack_many(boards)
        finished = finished_points_many(packed.view(np.int64)) != 0
        if finished.any():
            raise PositionError(f"row {int(np.argmax(finished))}: no plays: the game is over")
        results = np.empty_like(boards)
        by_value = (classify_many(packed) == RACE) & (self.evaluator.plies == 0)
        if by_value.any():
            chosen = self._by_value.choose_many(boards[by_value], rolls[by_value], states[by_value])
            results[by_value] = chosen
        results[~by_value] = self._asked_for(boards[~by_value], rolls[~by_value])
        return results

    def close(self) -> None:
        """End the gnubgs of this process that wait for questions, at once and not in a few seconds."""
        idle_processes.end()

    def _asked_for(self, boards: Board, rolls: npt.NDArray[np.int64]) -> Board:
        """Boards after gnubg's own choices."""
        results = np.empty_like(boards)
        done = 0
        for batch in play_batches(boards, rolls, _PLAYS_AT_ONCE):
            counts = np.diff(batch.offsets)
            here = slice(done, done + len(counts))
            results[here] = batch.boards[batch.offsets[:-1]]
            free = np.flatnonzero(counts > 1)
            questions = play_questions(boards[here][free], rolls[here][free])
            for decision, question in zip(free.tolist(), questions, strict=True):
                legal = batch.boards[batch.offsets[decision] : batch.offsets[decision + 1]]
                row = done + decision
                results[row] = self._chosen(question, boards[row], rolls[row], legal)
            done += len(counts)
        return results

    def _chosen(self, question: str, board: Board, roll: npt.NDArray[np.int64], legal: Board) -> Board:
        """The one of the `legal` boards that gnubg's answer leads to."""
        answer = self.evaluator.ask(question)
        asked = f"asked for {roll[0]}{roll[1]} in {_identifier(board)}"
        try:
            after = board_after(board.tolist(), answer)
        except PlayerError as error:
            raise PlayerError(f"{error}, {asked}") from None
        same = (legal == np.array(after)).all(axis=1)
        if not same.any():
            raise PlayerError(f"gnubg plays {quoted(answer)}, which is not legal, {asked}")
        chosen: Board = legal[np.argmax(same)]
        return chosen


def _identifier(board: Board) -> str:
    return gnubg_ids(board[None])[0]
