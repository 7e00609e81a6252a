"""The decisions of a match that cost most: plays with the better ones and why, and cube decisions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from motif.analysis.explain import explain_choice
from motif.analysis.explain.reasons import Reason
from motif.analysis.match.decision_errors import NO_DOUBLE, CubeAct, JudgedPlay, stakes_of
from motif.analysis.match.record_walk import Moment, PlayedRoll
from motif.benchmark.losses import MILLIPOINTS
from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.moves import Play, legal_plays
from motif.board.xgid import xgid
from motif.evaluators import Evaluator
from motif.evaluators.stakes import Stakes
from motif.runtime.errors import PlayerError


@dataclass(frozen=True)
class Why:
    """Why one play is better than another, in words; empty where the evaluator has no terms to tell."""

    summary: str = ""
    sentences: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    """All of them, see `motif.analysis.explain.Explanation`."""


@dataclass(frozen=True)
class WorstPlay:
    """A play that cost something, and the best one."""

    moment: PlayedRoll
    name: str
    """Who played it."""
    played: Play
    better: Play
    error: float
    """Normalised equity."""
    cost: float
    """Points in money play, match winning chances in a match."""
    why: Why

    @property
    def heading(self) -> str:
        """Where it was, and the roll."""
        return _heading(self.moment, self.name) + ", to play {}{}".format(*self.moment.roll)

    @property
    def line(self) -> str:
        """All of it in a line."""
        loss = f"{MILLIPOINTS * self.error:.0f} millipoints"
        return f"{self.heading}: {self.played}; {self.better} is better by {loss}"

    def as_dict(self, in_match: bool) -> dict[str, Any]:
        """For JSON; the equities are the player's."""
        return {
            **_moment_dict(self.moment, self.name),
            "roll": list(self.moment.roll),
            "played": self.played.notation,
            "better": self.better.notation,
            "loss": MILLIPOINTS * self.error,
            "mwc" if in_match else "points": self.cost,
            "summary": self.why.summary,
            "sentences": list(self.why.sentences),
            "reasons": [reason.to_dict() for reason in self.why.reasons],
        }


@dataclass(frozen=True)
class WorstCube:
    """A cube decision that cost something."""

    act: CubeAct
    name: str
    """Whose decision it was."""

    @property
    def cost(self) -> float:
        """Points in money play, match winning chances in a match."""
        return self.act.error * self.act.unit

    @property
    def heading(self) -> str:
        """Where it was, and what was wrong."""
        return f"{_heading(self.act.chance, self.name)}: {self.act.mistake}"

    @property
    def shown_state(self) -> MatchState:
        """The state to draw: with the double on offer where there was one."""
        state = self.act.chance.state
        return state if self.act.done == NO_DOUBLE else replace(state, doubled=True, decision="opponent")

    @property
    def equities(self) -> tuple[tuple[str, float], ...]:
        """What each action is worth to the player on roll, normalised."""
        decision = self.act.decision
        equities = (
            ("no double", decision.no_double),
            ("double, take", decision.double_take),
            ("double, pass", decision.double_pass),
        )
        return tuple((what, value) for what, value in equities if value is not None)

    def as_dict(self, in_match: bool) -> dict[str, Any]:
        """For JSON; the equities belong to the player on roll."""
        return {
            **_moment_dict(self.act.chance, self.name),
            "mistake": self.act.mistake,
            "done": self.act.done,
            "action": self.act.decision.action,
            "loss": MILLIPOINTS * self.act.error,
            "mwc" if in_match else "points": self.cost,
            **{what.replace(", ", "_").replace(" ", "_"): value for what, value in self.equities},
            "words": self.act.decision.words,
        }


def worst_plays(
    rolls: Sequence[PlayedRoll],
    judgements: Sequence[JudgedPlay],
    units: Sequence[float],
    names: tuple[str, str],
    evaluator: Evaluator,
    count: int,
    *,
    cube: bool = True,
) -> list[WorstPlay]:
    """The `count` plays that cost most, or fewer if fewer surely cost anything; the first of equal ones.

    The terms of `evaluator`, and what it sees when it looks ahead, tell why.
    """
    sure = [row for row in range(len(rolls)) if judgements[row].is_sure]
    order = sorted(sure, key=lambda row: judgements[row].error, reverse=True)[:count]
    plays = []
    for row in order:
        roll, error = rolls[row], judgements[row].error
        if error <= 0 or roll.play is None:
            continue
        better = legal_plays(roll.position, roll.roll)[judgements[row].best]
        why = _why(evaluator, roll, better, roll.play, stakes_of(roll.state, cube).stakes)
        cost = error * units[row]
        plays.append(WorstPlay(roll, names[roll.player], roll.play, better, error, cost, why))
    return plays


def worst_cubes(acts: Sequence[CubeAct], names: tuple[str, str], count: int) -> list[WorstCube]:
    """The `count` cube decisions that cost most, or fewer if fewer cost anything."""
    wrong = sorted((act for act in acts if act.mistake), key=lambda act: act.error, reverse=True)
    return [WorstCube(act, names[act.player]) for act in wrong[:count]]


def _why(evaluator: Evaluator, roll: PlayedRoll, better: Play, worse: Play, stakes: Stakes) -> Why:
    try:
        explanation = explain_choice(evaluator, roll.position, roll.roll, better, worse, stakes=stakes)
    except PlayerError:
        return Why()
    return Why(explanation.summary, explanation.sentences, explanation.reasons)


def _heading(moment: Moment, name: str) -> str:
    return f"Game {moment.game}, move {moment.move}: {name}"


def _moment_dict(moment: Moment, name: str) -> dict[str, Any]:
    return {
        "game": moment.game,
        "move": moment.move,
        "player": name,
        "position": f"{gnubg_id(moment.position)}:{match_id(moment.state)}",
        "xgid": xgid(moment.position, moment.state),
    }
