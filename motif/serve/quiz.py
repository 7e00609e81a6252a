"""Judging of answers to quiz questions."""

import json
import math
from typing import Annotated, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from motif.analysis.confirmation import (
    CONFIRMED_Z,
    DIGITS,
    compare_with_best,
    cube_source,
    difference_shown,
    estimate_kind,
)
from motif.analysis.cube_records import as_shown, cube_answers
from motif.analysis.judge import MatchOptions, for_match
from motif.board.marks import MILLIPOINTS
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.parsing import parse_decision, parse_position
from motif.evaluators import Evaluator
from motif.players.ranking import rank_plays
from motif.runtime.errors import PlayError
from motif.runtime.frames import Record
from motif.serve.analysis_store import MIN_ERROR
from motif.serve.questions import EstimateSource, Id, Known, KnownEstimate, Notation

_MAX_CANDIDATES = 100
_ANSWERS = ("take", "pass", "beaver")
"""Answers to a double; the first of equal ones is best."""
_MAX_QUESTION = 10_000
"""Largest size of a question as JSON, in characters; those of analyses have about 1,500."""


class JudgedAnswer(KnownEstimate):
    """A play or a cube action, with the equity that an analysis found."""

    model_config = ConfigDict(extra="ignore")
    source: EstimateSource = ""


class AskedQuestion(BaseModel):
    """A question of a trainer, or a decision of an analysis, which has more fields."""

    model_config = ConfigDict(extra="allow", frozen=True)
    id: Id
    is_play: StrictBool
    done: Notation | None = None
    best: Notation | None = None
    error_se: Known | None = None
    """Standard error of the cost of `done`, in millipoints."""
    action: Notation | None = None
    candidates: Annotated[tuple[JudgedAnswer, ...], Field(max_length=_MAX_CANDIDATES)] = ()

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        """Limit the other fields, which are stored as they are."""
        try:
            size = len(json.dumps(self.model_dump(), allow_nan=False))
        except ValueError:
            raise PydanticCustomError("number", "numbers must be finite") from None
        if size > _MAX_QUESTION:
            raise PydanticCustomError("size", f"must have at most {_MAX_QUESTION} characters")
        return self


class QuizVerdict(NamedTuple):
    """The cost of an answer, and the best answer."""

    cost: float
    """Equity that the answer gives up, at least 0."""
    best: str
    """The best play, or the best cube action."""
    source: str = ""
    """Source of the cost: ``2-ply``, ``rollout`` ..."""
    se: float | None = None
    """Standard error of the cost by a rollout."""
    known: list[Record] | Record | None = None
    """The estimates behind the cost, for an explanation: those of two plays, or of a cube decision."""

    @property
    def is_right(self) -> bool:
        """Whether the cost is less than that of the smallest error to become a question, or unconfirmed."""
        return self.cost < MIN_ERROR / MILLIPOINTS or self.cost <= CONFIRMED_Z * (self.se or 0.0)


def judge_answer(question: AskedQuestion, answer: str, evaluator: Evaluator) -> QuizVerdict:
    """Judge an answer by the equities of `question`, or by `evaluator` if they are missing.

    Raises `PositionError` and `PlayError`.
    """
    if not question.is_play:
        return _judged_cube(question, answer, evaluator)
    candidates = {candidate.done: candidate for candidate in question.candidates}
    best, made = candidates.get(question.best or ""), candidates.get(answer)
    kinds = {estimate_kind(one.source, one.lookahead) for one in (best, made) if one is not None}
    if best is not None and made is not None and len(kinds) == 1:
        cost = max(difference_shown(best.equity, made.equity), 0.0)
        both = None if best is made else [best.model_dump(), made.model_dump()]
        return QuizVerdict(cost, best.done, made.source, _se_of(question, answer), both)
    position, match, roll = parse_decision(question.id)
    if roll is None:
        raise PlayError("the ID of the question holds no roll")
    play = find_play(answer, legal_plays(position, roll))
    state = for_match(evaluator, MatchOptions(), match)
    ranking = rank_plays(position, roll, evaluator, state, asked=[play])
    pair = compare_with_best(ranking, evaluator, state, play)
    if pair is None:
        return QuizVerdict(0.0, ranking[0].play.notation, ranking[0].source)
    cost, se = max(pair.shown_difference, 0.0), pair.rolled and pair.rolled.se
    return QuizVerdict(
        cost, pair.better.play.notation, pair.source, se, [one.to_dict() for one in pair.known]
    )


def _se_of(question: AskedQuestion, answer: str) -> float | None:
    """Return the standard error of the cost of an answer, if the analysis has it."""
    return question.error_se / MILLIPOINTS if question.error_se and answer == question.done else None


def _judged_cube(question: AskedQuestion, answer: str, evaluator: Evaluator) -> QuizVerdict:
    known = {candidate.done: candidate.equity for candidate in question.candidates}
    source = question.candidates[0].source if question.candidates else ""
    action = question.action or ""
    if {"take", "pass"} <= known.keys():  # seen by the player who answers the double
        known = {f"double, {answer}": -equity for answer, equity in known.items()}
    elif not {"no double", "double, take", "double, pass"} <= known.keys():
        position, match = parse_position(question.id)
        asked = [(position, MatchOptions().state_of(match))]
        decision = as_shown(next(cube_answers(asked, evaluator, evaluator.name, jobs=1)).decision)
        source = cube_source(decision, evaluator)
        action, known = decision.action, decision.equities
    costs = _cube_costs(known)
    if answer not in costs:
        raise PlayError(f"answer must be one of {', '.join(costs)}, not {answer!r}")
    if answer in _ANSWERS:
        action = min(_ANSWERS, key=lambda one: known.get(f"double, {one}", math.inf))
    equities = {"no_double": known.get("no double"), "double_take": known.get("double, take")}
    cost = round(max(costs[answer], 0.0), DIGITS)
    return QuizVerdict(cost, action, source, _se_of(question, answer), equities | {"source": source})


def _cube_costs(equities: dict[str, float]) -> dict[str, float]:
    """Return the cost of every answer, from equities of the player who may double."""
    if not {"double, take", "double, pass"} <= equities.keys():
        return {"no double": 0.0}
    answered = {one: equities[f"double, {one}"] for one in _ANSWERS if f"double, {one}" in equities}
    doubled = min(answered.values())
    costs = {answer: equity - doubled for answer, equity in answered.items()}
    if "no double" in equities:
        none = equities["no double"]
        best = max(none, doubled)
        costs |= {"no double": best - none, "double": best - doubled}
        costs |= {f"double, {one}": best - doubled + costs[one] for one in answered}
    return costs
