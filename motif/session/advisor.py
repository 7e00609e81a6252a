"""An evaluator's advice on plays and cube decisions at the score and cube of the game."""

from dataclasses import replace
from functools import cache

from motif.analysis.confirmation import ComparedPair, compare_with_best, confirming_rollout
from motif.analysis.judge import JUDGE
from motif.analysis.match.decision_errors import NO_DOUBLE, CubeAct, confirmed_acts, judge_cube
from motif.analysis.match.record_walk import CubeChance
from motif.board.game_record import CubeKind
from motif.board.moves import Play
from motif.doubling import CubeDecision
from motif.evaluators import Evaluator
from motif.players.player import Player, cube_evaluator, evaluator_of
from motif.players.ranking import Ranking, rank_plays
from motif.session.session import GameSession


class Advisor:
    """Ranks plays, decides on the cube and measures errors with one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.name = evaluator.name

    def ranked(self, session: GameSession) -> Ranking:
        """Return the plays of the roll, the best first."""
        assert session.roll is not None
        return rank_plays(session.position, session.roll, self.evaluator, session.valued_state())

    def compared(self, session: GameSession, play: Play) -> ComparedPair | None:
        """Compare the best play of the roll with `play`; return None if they are the same."""
        assert session.roll is not None
        context = session.valued_state()
        ranking = rank_plays(session.position, session.roll, self.evaluator, context, asked=[play])
        return compare_with_best(ranking, self.evaluator, context, play)

    def cube(self, session: GameSession) -> CubeDecision:
        """Return the decision on a possible or offered double, or on a beaver."""
        return self._no_double(session).decision

    def judged_cube(self, session: GameSession, action: str) -> CubeAct:
        """Judge a cube `action`: as in match analysis, a rollout measures its error if that is doubtful."""
        seen, done = self._no_double(session), NO_DOUBLE if action == "roll" else action
        act = replace(seen, player=session.to_decide, done=done, error=seen.decision.cost(done))
        return confirmed_acts([act], self.evaluator, confirming_rollout(self.evaluator))[0]

    def sees_cube_action(self, session: GameSession) -> bool:
        """Return whether not doubling counts as a decision, as in gnubg."""
        return self._no_double(session).counts

    def answer(self, session: GameSession) -> CubeKind:
        """Return the answer to the double on offer."""
        answer = self.cube(session).answer
        if answer == "pass":
            return "drop"
        return answer if answer in session.answers else "take"

    def raises(self, session: GameSession) -> CubeKind | None:
        """Return the right cube action before the roll; None if it is to leave the cube alone."""
        decision = self.cube(session)
        if session.can_raccoon:
            return "raccoon" if decision.should_raccoon else None
        return "double" if decision.should_double else None

    def _no_double(self, session: GameSession) -> CubeAct:
        """Return the decision on a double by lookahead, as the action not to double."""
        return judge_cube([self._cube_chance(session)], self.evaluator)[0]

    def _cube_chance(self, session: GameSession) -> CubeChance:
        state = session.state()
        if session.can_raccoon:
            # Judge the original double; the session's cube includes the beaver.
            state = replace(state, cube=state.cube // 2, doubled=True)
        moment = session.games + 1, session.ply, session.on_roll, session.position
        return CubeChance(*moment, state.before_double(), doubled=False)


@cache
def default_advisor() -> Advisor:
    """Return the advisor with the default judge."""
    return Advisor(evaluator_of(JUDGE))


def cube_advisor(player: Player | None, default: Advisor) -> Advisor:
    """Return an advisor with the evaluator of `player`, or `default` if that has no probabilities."""
    evaluator = None if player is None else cube_evaluator(player)
    return default if evaluator is None else Advisor(evaluator)
