"""The tutor at the table of `motif play`: speaks up before a person errs, and sums up in the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from motif.board.moves import Play
from motif.cli.asking import Asking
from motif.cli.counsel import Counsel, RankedPlay, decision_lines
from motif.players.game_session import GameSession
from motif.reports.match_analysis.chequer import judge_plays
from motif.reports.match_analysis.cube_errors import judge_cube
from motif.reports.match_analysis.record_walk import walk
from motif.reports.match_analysis.totals import MILLIPOINTS, Errors, errors_of
from motif.runtime.errors import PlayerError

if TYPE_CHECKING:
    from motif.cube import CubeDecision

_SHOWN = 4
_DOING = {
    "roll": "to roll without a double", "double": "to double", "take": "to take", "pass": "to pass",
    "beaver": "to beaver",
}  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The errors of one person, in normalised equity."""

    name: str
    chequer: Errors
    cube: Errors
    overall: Errors

    def as_dict(self) -> dict[str, Any]:
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
        """What costs more than `limit`, in normalised equity, is objected to."""
        self._counsel = counsel
        self._limit = limit
        self._session = session
        self._asking = asking

    def lets_pass_play(self, play: Play) -> bool:
        """Whether `play` is to be made: good enough, or wanted although it is not."""
        ranked = self._counsel.ranked(self._session)
        best = ranked[0]
        made = next(one for one in ranked if one.play is play)
        cost = best.equity - made.equity
        if cost <= self._limit:
            return True
        better = best.play.notation
        self._asking.say(f"{self._counsel.name}: that costs {cost:.3f} points; {better} is better.")
        return self._agreed("Play it anyway?", lambda: self._why(best, made))

    def lets_pass_cube(self, doing: str) -> bool:
        """Whether to go on with ``roll`` (no double), ``double``, ``take``, ``pass`` or ``beaver``."""
        decision = self._counsel.cube(self._session)
        cost = decision.cost(doing)
        if cost <= self._limit:
            return True
        self._asking.say(f"{self._counsel.name}: {_DOING[doing]} costs {cost:.3f} points.")
        question = f"{'Roll' if doing == 'roll' else doing.capitalize()} anyway?"
        return self._agreed(question, lambda: self._why_cube(decision))

    def reports(self) -> list[Report]:
        """The errors of each person in all that was played and not taken back."""
        session = self._session
        rules, record = session.rules, session.record()
        walked = walk(record, jacoby=rules.jacoby)
        # As the counsel values plays.
        played = [
            replace(roll, state=replace(roll.state, jacoby=False))
            for roll in walked.rolls
            if roll.play is not None
        ]
        judged = judge_plays(played, self._counsel.evaluator, jobs=1)
        acts = judge_cube(walked.chances if rules.cube else (), self._counsel.evaluator)
        found = []
        for side in (0, 1):
            if not session.seats[side].is_person:
                continue
            pairs = zip(played, judged, strict=True)
            plays = [one.error for roll, one in pairs if roll.player == side and one.legal > 1]
            cubes = [act.error for act in acts if act.player == side and act.counts]
            three = (_errors(plays), _errors(cubes), _errors([*plays, *cubes]))
            found.append(Report(record.players[side], *three))
        return found

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

    def _why(self, best: RankedPlay, made: RankedPlay) -> None:
        """Tell why the one play beats the other: in sentences, or in figures where there are no terms."""
        from motif.reports.explain import explain_choice

        session, evaluator = self._session, self._counsel.evaluator
        assert session.roll is not None
        self._asking.say(*(f"  {one.play.notation:24} {one.equity:+.3f}" for one in (best, made)))
        try:
            found = explain_choice(evaluator, session.position, session.roll, best.play, made.play)
        except PlayerError:
            self._asking.say(*self._chances(best, made))
        else:
            asked = "For money " if session.rules.length else ""
            lines = (f"{asked}{found.summary}", *found.sentences[:_SHOWN])
            self._asking.say(*(f"  {line}" for line in lines))

    def _chances(self, best: RankedPlay, made: RankedPlay) -> Sequence[str]:
        """What the two plays lead to, for the mover."""
        lines = ["                           wins  gammons  loses gammons"]
        for one in (best, made):
            chances = self._counsel.evaluator.evaluate(one.play.position).turned()
            shown = f"{chances.win:6.1%} {chances.win_gammon:8.1%} {chances.lose_gammon:14.1%}"
            lines.append(f"  {one.play.notation:24} {shown}")
        return lines

    def _why_cube(self, decision: "CubeDecision") -> None:
        self._asking.say(*decision_lines(decision))


def _errors(lost: list[float]) -> Errors:
    return errors_of(np.array(lost), np.ones(len(lost)))
