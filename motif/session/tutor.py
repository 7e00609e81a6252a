"""The tutor of `motif play`: warns about errors before they are made and sums them up at the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from motif.analysis.confirmation import ComparedPair, confirming_rollout
from motif.analysis.cube_records import cube_rows, cube_words
from motif.analysis.match.decision_errors import judge_cube, judge_plays
from motif.analysis.match.decisions import Errors, match_decisions, player_analysis
from motif.analysis.match.record_walk import walk
from motif.board.marks import MILLIPOINTS
from motif.board.moves import Play
from motif.doubling import CubeDecision
from motif.runtime.errors import PlayerError
from motif.runtime.frames import Record
from motif.runtime.layout import counted, percent
from motif.session.advisor import Advisor
from motif.session.event_game import EventGame, Objection
from motif.session.prompter import Prompter


def decision_lines(decision: CubeDecision) -> list[str]:
    """Return lines with the doubler's equities, and MWC in a match, of the possible cube actions."""
    rows = cube_rows(decision)
    width = 2 + max(len(row.action) for row in rows)
    lines = [
        f"      {row.action:{width}}{row.equity:+z.3f}"
        + ("" if row.mwc is None else f"{percent(row.mwc, 2):>10} MWC")
        for row in rows
    ]
    return [*lines, f"      {cube_words(decision)}"]


_DOING = {
    "roll": "not doubling", "double": "doubling", "take": "taking", "pass": "passing",
    "beaver": "a beaver", "raccoon": "a raccoon", "no raccoon": "not answering with a raccoon",
}  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The errors of one person, in normalised equity."""

    name: str
    chequer: Errors
    cube: Errors
    overall: Errors

    def to_dict(self) -> Record:
        """Return the JSON record, in points of normalised equity."""
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
        """Return a sentence on the errors."""
        parts = [
            f"{counted(errors.decisions, what)} ({errors.total:.3f} lost)"
            for what, errors in (("play", self.chequer), ("cube decision", self.cube))
            if errors.decisions
        ]
        if self.overall.rate is None:
            return f"{self.name} made no decisions to judge."
        rate = self.overall.rate / MILLIPOINTS
        return f"{self.name}, judged by {tutor}: {rate:.3f} points lost per decision; {' and '.join(parts)}."


class Tutor:
    """Objects to people's decisions in `game` that cost more than `limit`, in normalised equity."""

    def __init__(self, advisor: Advisor, limit: float, game: EventGame, prompter: Prompter) -> None:
        self._advisor = advisor
        self._limit = limit
        self._game = game
        self._prompter = prompter

    def lets_pass(self, word: str, detail: str = "") -> bool:
        """Return whether a decision is acceptable or confirmed; arguments as for `EventGame.decide`."""
        objection = self._game.objection(word, detail, self._limit, self._advisor)
        if objection is None:
            return True
        action, cost = objection.action, f"costs {objection.cost:.3f} points{_rolled_out(objection)}"
        if action == "play":
            said, question = f"that {cost}; {objection.better} is better.", "Play it anyway?"
        else:
            verb = "Roll" if action in ("roll", "no raccoon") else action.capitalize()
            said, question = f"{_DOING[action]} {cost}.", f"{verb} anyway?"
        self._prompter.say(f"{self._advisor.name}: {said}")
        while (word := self._prompter.choose(question, ["yes", "no", "why"])) == "why":
            if objection.choice is not None:
                self._why(objection.choice)
            elif objection.cube is not None:
                self._prompter.say(*decision_lines(objection.cube.decision))
        return word == "yes"

    def reports(self) -> list[Report]:
        """Return the errors of each person, without undone decisions."""
        session = self._game.session
        rules, record = session.rules, session.record()
        decisions = walk(record, jacoby=rules.jacoby).with_beavers(rules.beavers, rules.raccoons)
        rolls = [roll for roll in decisions.rolls if roll.play is not None]
        chances = decisions.chances if rules.cube else ()
        evaluator = self._advisor.evaluator
        confirm = confirming_rollout(evaluator)
        judgements = judge_plays(rolls, evaluator, cube=rules.cube, confirm=confirm, jobs=1)
        judged = match_decisions(judgements, judge_cube(chances, evaluator, confirm=confirm))
        reports = []
        for side, seat in enumerate(session.seats):
            if seat.is_person:
                of = player_analysis(seat.name, [one for one in judged if one.player == side], (), None)
                reports.append(Report(seat.name, of.chequer, of.cube, of.overall))
        return reports

    def sum_up(self) -> None:
        """Print each person's errors per decision."""
        self._prompter.say(*(report.in_words(self._advisor.name) for report in self.reports()))

    def _why(self, choice: ComparedPair) -> None:
        """Explain why one play is better: in sentences, or with probabilities if the advisor has no terms."""
        from motif.analysis.explain.explanation import explain_play

        session, evaluator = self._game.session, self._advisor.evaluator
        assert session.roll is not None
        plays = choice.better.play, choice.worse.play
        values = zip(plays, choice.equities, strict=True)
        self._prompter.say(*(f"  {play.notation:24} {equity:+z.3f}" for play, equity in values))
        try:
            explanation = explain_play(
                evaluator, session.position, session.roll, state=session.valued_state(), choice=choice
            )
        except PlayerError:
            self._prompter.say(*self._chances(plays))
        else:
            self._prompter.say(*(f"  {line}" for line in explanation.lines))

    def _chances(self, plays: Sequence[Play]) -> Sequence[str]:
        row = "  {:24} {:>7} {:>8} {:>14}"
        lines = [row.format("", "wins", "gammons", "loses gammons")]
        for play in plays:
            chances = self._advisor.evaluator.evaluate(play.position).switch_sides()
            shares = chances.win, chances.win_gammon, chances.lose_gammon
            lines.append(row.format(play.notation, *map(percent, shares)))
        return lines


def _rolled_out(objection: Objection) -> str:
    """Return in words that a rollout measured the cost, with its standard error."""
    measured = objection.cube if objection.cube is not None else objection.choice and objection.choice.rolled
    se = measured and measured.se
    return "" if se is None else f" (rollout, \u00b1 {se:.3f})"
