"""The tutor at the table of `motif play`: speaks up before a person errs, and sums up in the end.

He goes by a `Counsel`: what one evaluator thinks of plays and of the cube.  Plays are valued for the score
and with the cube where it lies; without a cube by what the game itself is worth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from motif.analysis.confirmation import (
    ComparedPair,
    JudgedCube,
    compare_with_best,
    confirming_rollout,
    roll_out_cubes,
)
from motif.analysis.match.decision_errors import CubeAct, judge_cube, judge_plays
from motif.analysis.match.decisions import MILLIPOINTS, Errors, errors_of
from motif.analysis.match.record_walk import CubeChance, walk
from motif.board.game_record import CubeKind
from motif.board.moves import Play
from motif.evaluators import Evaluator
from motif.players.player import Player, cube_evaluator
from motif.players.ranking import Ranking, rank_plays
from motif.runtime.errors import PlayerError
from motif.session.asking import Asking
from motif.session.session import GameSession

if TYPE_CHECKING:
    from motif.cube import CubeDecision


BEAVERED_CUBE = 4
"""How often the cube before a double is that after a beaver."""


def cube_counsel(player: Player | None, adviser: "Counsel") -> "Counsel":
    """Who turns the cube for `player`: his evaluator, or the `adviser` where that gives no chances."""
    evaluator = None if player is None else cube_evaluator(player)
    return adviser if evaluator is None else Counsel(evaluator)


class Counsel:
    """Decides, advises and judges by `evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.name = evaluator.name

    def ranked(self, session: GameSession) -> Ranking:
        """Return the plays of the roll, the best first."""
        assert session.roll is not None
        return rank_plays(session.position, session.roll, self.evaluator, session.context())

    def compared(self, session: GameSession, play: Play) -> ComparedPair | None:
        """Return the best play of the roll compared with `play`; None where that is the best."""
        assert session.roll is not None
        context = session.context()
        ranking = rank_plays(session.position, session.roll, self.evaluator, context, asked=[play])
        return compare_with_best(ranking, self.evaluator, context, play)

    def cube(self, session: GameSession) -> "CubeDecision":
        """Return the decision on a double that could be made, or was, or on a beaver."""
        return self._judged_cube(session).decision

    def cube_cost(self, session: GameSession, doing: str) -> "tuple[CubeDecision, float]":
        """Return the decision on a double, and what `doing` gives up: see `CubeDecision.cost`.

        What lookahead calls an error costs what a rollout confirms.
        """
        chance = self._cube_chance(session)
        question = JudgedCube(chance.position, chance.state, self.cube(session), doing)
        settings = confirming_rollout(self.evaluator)
        if settings is None or not question.is_doubtful:
            return question.decision, question.decision.cost(doing)
        (rolled,) = roll_out_cubes([question], self.evaluator, settings, jobs=1)
        return rolled.decision, rolled.confirmed

    def raccoons(self, session: GameSession) -> bool:
        """Whether to double a beaver."""
        return self.cube(session).should_raccoon

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
        return judge_cube([self._cube_chance(session)], self.evaluator)[0]

    def _cube_chance(self, session: GameSession) -> CubeChance:
        """Return the double that could be made, or was."""
        before = replace(session.state(), doubled=False, decision="me")
        if session.can_raccoon:
            # The question is that of the double before: only who owns the cube may have turned it from 2 on.
            cube = before.cube // BEAVERED_CUBE
            before = replace(before, cube=cube, cube_owner="me" if cube > 1 else "centre")
        moment = session.games + 1, session.ply, session.on_roll, session.position
        return CubeChance(*moment, before, doubled=False)


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


_DOING = {
    "roll": "to roll without a double", "double": "to double", "take": "to take", "pass": "to pass",
    "beaver": "to beaver", "raccoon": "to raccoon", "no raccoon": "to play on without a raccoon",
}  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The errors of one person, in normalised equity."""

    name: str
    chequer: Errors
    cube: Errors
    overall: Errors

    def to_dict(self) -> dict[str, Any]:
        """For JSON: points of normalised equity."""
        kinds = {"chequer": self.chequer, "cube": self.cube, "overall": self.overall}
        return {
            kind: {
                "decisions": errors.decisions,
                "lost": errors.total,
                "per_decision": errors.total / errors.decisions if errors.decisions else None,
            }
            for kind, errors in kinds.items()
        }

    def in_words(self, tutor: str) -> str:
        """One sentence."""
        parts = [
            f"{errors.decisions} {what}{'s' * (errors.decisions != 1)} ({errors.total:.3f} lost)"
            for what, errors in (("play", self.chequer), ("cube decision", self.cube))
            if errors.decisions
        ]
        if self.overall.rate is None:
            return f"{tutor} saw no decision of {self.name}."
        rate = self.overall.rate / MILLIPOINTS
        return f"{tutor} on {self.name}: {rate:.3f} points lost a decision, over {' and '.join(parts)}."


class Tutor:
    """Watches what persons decide in `session`, by the evaluation of its `counsel`."""

    def __init__(self, counsel: Counsel, limit: float, session: GameSession, asking: Asking) -> None:
        """Return what costs more than `limit`, in normalised equity, is objected to."""
        self._counsel = counsel
        self._limit = limit
        self._session = session
        self._asking = asking

    def lets_pass_play(self, play: Play) -> bool:
        """Whether `play` is to be made: good enough, or wanted although it is not."""
        choice = self._counsel.compared(self._session, play)
        if choice is None or choice.difference <= self._limit:
            return True
        cost, better = choice.difference, choice.better.play.notation
        self._asking.say(f"{self._counsel.name}: that costs {cost:.3f} points; {better} is better.")
        return self._agreed("Play it anyway?", lambda: self._why(choice))

    def lets_pass_cube(self, doing: str) -> bool:
        """Whether to go on with what is done with the cube: see `CubeDecision.cost`."""
        decision, cost = self._counsel.cube_cost(self._session, doing)
        if cost <= self._limit:
            return True
        self._asking.say(f"{self._counsel.name}: {_DOING[doing]} costs {cost:.3f} points.")
        question = f"{'Roll' if doing in ('roll', 'no raccoon') else doing.capitalize()} anyway?"
        return self._agreed(question, lambda: self._why_cube(decision))

    def reports(self) -> list[Report]:
        """Return the errors of each person in all that was played and not taken back."""
        session = self._session
        rules, record = session.rules, session.record()
        decisions = walk(record, jacoby=rules.jacoby)
        rolls = [roll for roll in decisions.rolls if roll.play is not None]
        evaluator = self._counsel.evaluator
        confirm = confirming_rollout(evaluator)
        judgements = judge_plays(rolls, evaluator, cube=rules.cube, confirm=confirm, jobs=1)
        acts = judge_cube(decisions.chances if rules.cube else (), evaluator, confirm=confirm)
        reports = []
        for side in (0, 1):
            if not session.seats[side].is_person:
                continue
            pairs = zip(rolls, judgements, strict=True)
            plays = [one.error for roll, one in pairs if roll.player == side and one.legal > 1]
            cubes = [act.error for act in acts if act.player == side and act.counts]
            three = (_errors(plays), _errors(cubes), _errors([*plays, *cubes]))
            reports.append(Report(record.players[side], *three))
        return reports

    def sum_up(self) -> None:
        """Say what every person lost a decision."""
        self._asking.say(*(report.in_words(self._counsel.name) for report in self.reports()))

    def _agreed(self, question: str, explain: Callable[[], None]) -> bool:
        while True:
            word = self._asking.ask(question, ["yes", "no", "why"]).lower()
            if word in ("yes", "y", "no", "n"):
                return word[0] == "y"
            if word in ("why", "w"):
                explain()
            else:
                self._asking.say("please type one of: yes, no, why")

    def _why(self, choice: ComparedPair) -> None:
        """Tell why the one play beats the other: in sentences, or in figures where there are no terms."""
        from motif.analysis.explain import explain_play

        session, evaluator = self._session, self._counsel.evaluator
        assert session.roll is not None
        plays = choice.better.play, choice.worse.play
        values = zip(plays, choice.equities, strict=True)
        self._asking.say(*(f"  {play.notation:24} {equity:+.3f}" for play, equity in values))
        try:
            explanation = explain_play(
                evaluator, session.position, session.roll, context=session.context(), choice=choice
            )
        except PlayerError:
            self._asking.say(*self._chances(plays))
        else:
            self._asking.say(*(f"  {line}" for line in explanation.lines))

    def _chances(self, plays: Sequence[Play]) -> Sequence[str]:
        """Return what the two plays lead to, for the mover."""
        lines = ["                           wins  gammons  loses gammons"]
        for play in plays:
            chances = self._counsel.evaluator.evaluate(play.position).turned()
            figures = f"{chances.win:6.1%} {chances.win_gammon:8.1%} {chances.lose_gammon:14.1%}"
            lines.append(f"  {play.notation:24} {figures}")
        return lines

    def _why_cube(self, decision: "CubeDecision") -> None:
        self._asking.say(*decision_lines(decision))


def _errors(losses: list[float]) -> Errors:
    return errors_of(np.array(losses), np.ones(len(losses)))
