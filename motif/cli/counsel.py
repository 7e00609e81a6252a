"""What one evaluator thinks of the decisions at the table of `motif play`: of plays, and of the cube.

Plays are valued as `motif analyse` does: cubeless; in a match by the match winning chances of the five
probabilities.  With the Jacoby rule gammons count in full, for the cube will be turned before most of them.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.game_record import CubeKind
from motif.board.moves import Play, play_batches
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import turned
from motif.players.game_session import GameSession
from motif.players.player import Player
from motif.reports.match_analysis.cube_errors import CubeAct, judge_cube
from motif.reports.match_analysis.record_walk import CubeChance
from motif.reports.match_analysis.values import stakes_of

if TYPE_CHECKING:
    from motif.cube import CubeDecision


_SCORES_ALONE = ("pubeval", "simple", "bras", "phase")
"""Their win chances only rank positions: in games of a motif-v5 they are wrong by 0.09 to 0.23 on
average, and two of them would double each other time and again."""


class RankedPlay(NamedTuple):
    """A legal play and what it is worth."""

    play: Play
    number: int
    """Its place among the session's legal plays, from 1."""
    equity: float
    """Normalised equity of the mover."""


def cube_counsel(player: Player | None, adviser: "Counsel") -> "Counsel":
    """Who turns the cube for `player`: his evaluator, or the `adviser` where that gives no chances."""
    evaluator = None if player is None else player.evaluator
    if evaluator is None or evaluator.without_lookahead.name in _SCORES_ALONE:
        return adviser
    return Counsel(evaluator)


class Counsel:
    """Decides, advises and judges by `evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.name = evaluator.name

    def ranked(self, session: GameSession) -> list[RankedPlay]:
        """The plays of the roll, the best first."""
        values = self._values(session)
        order = np.argsort(values, kind="stable")[::-1].tolist()
        return [RankedPlay(session.plays[k], k + 1, float(values[k])) for k in order]

    def cube(self, session: GameSession) -> "CubeDecision":
        """The decision on a double that could be made, or was."""
        return self._judged_cube(session).decision

    def sees_cube_action(self, session: GameSession) -> bool:
        """Whether it takes a thought not to double, as gnubg counts cube decisions."""
        return self._judged_cube(session).counts

    def answer(self, session: GameSession) -> CubeKind:
        """How to answer the double that is on offer."""
        decision = self.cube(session)
        if decision.should_beaver and "beaver" in session.answers:
            return "beaver"
        return "take" if decision.should_take else "drop"

    def _judged_cube(self, session: GameSession) -> CubeAct:
        before = replace(session.state(), doubled=False, decision="me")
        moment = session.games + 1, session.ply, session.on_roll, session.position
        return judge_cube([CubeChance(*moment, before, doubled=False)], self.evaluator)[0]

    def _values(self, session: GameSession) -> npt.NDArray[np.float64]:
        """What each of the session's plays is worth to its mover."""
        assert session.roll is not None
        board = session.position.board[None]
        plays = next(play_batches(board, np.array([session.roll])))
        stakes = stakes_of(replace(session.state(), jacoby=False))
        if stakes.plain:
            return self.evaluator.play_equities(board, plays)
        chances = turned(self.evaluator.evaluate_many(plays.boards).astype(np.float64))
        return np.asarray((chances * stakes.weights).sum(axis=1) - 1)


def decision_lines(decision: "CubeDecision") -> list[str]:
    """Equities of the three cube actions to whoever doubles; in a match his chances to win it, too."""
    rows = (
        ("no double", decision.no_double, decision.mwc_no_double),
        ("double, take", decision.double_take, decision.mwc_double_take),
        ("double, pass", decision.double_pass, decision.mwc_double_pass),
    )
    lines = []
    for words, equity, mwc in rows:
        if equity is not None:
            lines.append(
                f"      {words:14}{equity:+.3f}" + ("" if mwc is None else f"{mwc:9.2%} of the match")
            )
    return [*lines, f"      {decision.words}"]
