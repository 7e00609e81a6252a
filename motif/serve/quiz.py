"""Judging of answers to quiz questions."""

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from motif.analysis.confirmation import compare_with_best
from motif.analysis.cube_records import cube_answers
from motif.analysis.judge import MatchOptions, for_match
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.parsing import parse_decision, parse_position
from motif.evaluators import Evaluator
from motif.players.ranking import rank_plays
from motif.runtime.errors import PlayError
from motif.serve.analysis_store import MIN_ERROR
from motif.serve.questions import Id

_MILLIPOINTS = 1000.0
_DOUBLES = "no double", "double, take", "double, pass"


class JudgedAnswer(BaseModel):
    """A play or a cube action, with the equity that an analysis found."""

    done: str
    equity: float


class AskedQuestion(BaseModel):
    """A question of a trainer, or a decision of an analysis, which has more fields."""

    model_config = ConfigDict(extra="allow", frozen=True)
    id: Id
    is_play: bool
    best: str | None = None
    action: str | None = None
    candidates: tuple[JudgedAnswer, ...] = ()


class QuizVerdict(NamedTuple):
    """The cost of an answer, and the best answer."""

    cost: float
    """Equity that the answer gives up, at least 0."""
    best: str
    """The best play, or the best cube action."""

    @property
    def is_right(self) -> bool:
        """Whether the cost is less than that of the smallest error that becomes a question."""
        return self.cost < MIN_ERROR / _MILLIPOINTS


def judged(question: AskedQuestion, answer: str, evaluator: Evaluator) -> QuizVerdict:
    """Judge an answer by the equities of `question`, or by `evaluator` if they are missing.

    Raises `PositionError` and `PlayError`.
    """
    known = {one.done: one.equity for one in question.candidates}
    if not question.is_play:
        return _judged_cube(question, answer, evaluator, known)
    if answer in known and question.best is not None:
        return QuizVerdict(max(question.candidates[0].equity - known[answer], 0.0), question.best)
    position, match, roll = parse_decision(question.id)
    if roll is None:
        raise PlayError("the ID of the question holds no roll")
    play = find_play(answer, legal_plays(position, roll))
    context, _ = for_match(evaluator, MatchOptions(), match)
    ranking = rank_plays(position, roll, evaluator, context, asked=[play])
    pair = compare_with_best(ranking, evaluator, context, play)
    return QuizVerdict(0.0 if pair is None else max(pair.difference, 0.0), ranking[0].play.notation)


def _judged_cube(
    question: AskedQuestion, answer: str, evaluator: Evaluator, known: dict[str, float]
) -> QuizVerdict:
    action = question.action or ""
    if {"take", "pass"} <= known.keys():  # seen by the player who answers the double
        known = {"double, take": -known["take"], "double, pass": -known["pass"]}
    elif not set(_DOUBLES) <= known.keys():
        position, match = parse_position(question.id)
        asked = [(position, MatchOptions().state_of(match))]
        decision = next(cube_answers(asked, evaluator, evaluator.name, jobs=1)).decision
        action = decision.action
        equities = decision.no_double, decision.double_take, decision.double_pass
        known = {name: one for name, one in zip(_DOUBLES, equities, strict=True) if one is not None}
    costs = _cube_costs(known)
    if answer not in costs:
        raise PlayError(f"answer must be one of {', '.join(costs)}, not {answer!r}")
    return QuizVerdict(max(costs[answer], 0.0), action)


def _cube_costs(equities: dict[str, float]) -> dict[str, float]:
    """Return the cost of every answer, from equities of the player who may double."""
    if not {"double, take", "double, pass"} <= equities.keys():
        return {"no double": 0.0}
    taken, passed = equities["double, take"], equities["double, pass"]
    costs = {"take": taken - passed, "pass": passed - taken}
    if "no double" in equities:
        none, doubled = equities["no double"], min(taken, passed)
        best = max(none, doubled)
        costs |= {"no double": best - none, "double": best - doubled}
        for response in ("take", "pass"):
            costs[f"double, {response}"] = best - doubled + max(0.0, costs[response])
    return costs
