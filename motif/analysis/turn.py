"""The best action of a turn: a play, roll or double, or the answer to a double or a resignation."""

from dataclasses import dataclass, replace
from typing import Literal

from motif.analysis.cube_records import decision_record
from motif.analysis.judge import MatchOptions, for_match
from motif.board.match_state import GameState, MatchState
from motif.board.moves import Play, check_goes_on
from motif.board.position import Position
from motif.doubling import CubeDecision, cube_decision
from motif.evaluators import Evaluator
from motif.players.ranking import Ranking, rank_plays
from motif.players.resignations import is_accepted
from motif.runtime.errors import PositionError
from motif.runtime.frames import Tabular

_OVER: tuple[GameState, ...] = ("over", "resigned", "dropped")
TurnAction = Literal["play", "roll", "double", "take", "beaver", "pass", "accept", "reject"]


@dataclass(frozen=True, repr=False)
class TurnDecision(Tabular):
    """The best action of the player to decide."""

    action: TurnAction
    play: Play | None = None
    """The best play of a roll; None without one."""
    ranking: Ranking | None = None
    """All legal plays of a roll."""
    cube: CubeDecision | None = None
    """The cube decision; None if there is a roll to play or a resignation to answer."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record."""
        return {
            "action": self.action,
            "play": None if self.play is None else self.play.notation,
            "moves": None if self.play is None else [list(move) for move in self.play.moves],
            "ranking": None if self.ranking is None else self.ranking.to_dict(),
            "cube": None if self.cube is None else decision_record(self.cube),
        }

    def records(self) -> list[dict[str, object]]:
        """Return one row."""
        return [{"action": self.action, "play": "" if self.play is None else str(self.play)}]


def decide_turn(
    position: Position,
    roll: tuple[int, int] | None,
    match: MatchState | None,
    evaluator: Evaluator,
    options: MatchOptions,
    name: str = "",
) -> TurnDecision:
    """Play a `roll`; without one, decide whether to double, or answer a double or resignation on offer.

    The position is seen by the player on roll, who makes the offer if there is one; `match` may be the state
    of an ID.  Raises `PositionError` if the game is over.
    """
    if match is not None and match.game_state in _OVER:
        raise PositionError("the game is over")
    if match is not None and match.resignation != "none" and roll in (None, match.dice):
        check_goes_on(position)
        state = replace(options.state_of(match), dice=roll)
        accepts = is_accepted(position, state, evaluator, match.resignation)
        return TurnDecision("accept" if accepts else "reject")
    if roll is not None:
        valued = for_match(evaluator, options, match)
        ranking = rank_plays(position, roll, evaluator, valued, with_probabilities=True, name=name)
        return TurnDecision("play", ranking.best, ranking)
    check_goes_on(position)
    state = options.state_of(match)
    decision = cube_decision(evaluator.evaluate(position), state, position, evaluator)
    raised = None if match is None else match.raised
    if raised is None:
        doubles = state.has_cube and decision.should_double
        return TurnDecision("double" if doubles else "roll", cube=decision)
    return TurnDecision(decision.answer_to(raised), cube=decision)
