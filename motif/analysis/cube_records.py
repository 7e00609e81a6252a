"""Cube decisions of positions, and their JSON records."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from motif.analysis.phrases import LANGUAGE, phrases
from motif.analysis.position_records import evaluations
from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on
from motif.board.packed import BOARD_SIZE
from motif.board.position import Position
from motif.doubling import CubeDecision, MatchEquityTable, cube_decision_by, match_equity_table
from motif.doubling.bras_windows import DROP_FROM, LIVE_FROM, MEASURED, score_action
from motif.doubling.equities import efficiency_class
from motif.doubling.match_equity import DEFAULT_TABLE
from motif.evaluators import Evaluator, Probabilities
from motif.evaluators.bras import ARTICLE, BrasEvaluator, BrasFormula


class CubeAnswer(NamedTuple):
    """A position's cube decision, with the evaluation behind it."""

    position: Position
    probabilities: Probabilities
    decision: CubeDecision
    evaluator: Evaluator
    """Source of the probabilities."""
    evaluation: dict[str, Any]
    """The position's record from `evaluations`."""

    def record(self) -> dict[str, Any]:
        """Return the JSON record."""
        record = {
            **decision_record(self.decision),
            **self.probabilities._asdict(),
            "cubeless": self.probabilities.equity,
            "class": efficiency_class(self.position)[0],
            "player": self.evaluation["player"],
            "position": self.evaluation["position"],
        }
        if isinstance(self.evaluator, BrasEvaluator):
            record["bras"] = _bras_record(self.position, self.evaluator.formula)
        return record


def cube_answers(
    questions: Sequence[tuple[Position, MatchState]],
    evaluator: Evaluator,
    player: str,
    *,
    efficiency: float | None = None,
    table: MatchEquityTable | None = None,
    jobs: int | None = None,
) -> Iterator[CubeAnswer]:
    """Yield the decisions of `questions` in order; raises `PositionError` for a finished game.

    `player` is the name of `evaluator`.  By default the cube efficiency depends on the position class, and
    the match equity table is motif's own.
    """
    table = table or match_equity_table(DEFAULT_TABLE)
    for position, _ in questions:
        check_goes_on(position)
    boards = np.array([position.board for position, _ in questions], np.int8).reshape(-1, BOARD_SIZE)
    records = evaluations(boards, evaluator, player, jobs)
    for (position, state), evaluation in zip(questions, records, strict=True):
        chances = Probabilities(*(evaluation[name] for name in Probabilities._fields))
        decision = cube_decision_by(evaluator, position, chances, state, efficiency=efficiency, table=table)
        yield CubeAnswer(position, chances, decision, evaluator, evaluation)


def decision_record(decision: CubeDecision) -> dict[str, Any]:
    """Return a decision for JSON, with a description in English."""
    return {**decision.to_dict(), "words": cube_words(decision)}


def cube_words(decision: CubeDecision, language: str = LANGUAGE) -> str:
    """Describe a decision in a `language` of `motif.analysis.phrases.languages`."""
    table = phrases(language)
    double = table.say("cube", "doubles", decision.double_name)
    return " ".join(
        table.say(
            "cube",
            verdict.key,
            cost=table.amount(verdict.cost),
            degree=verdict.degree and table.say("cube", "degrees", verdict.degree),
            double=double,
        )
        for verdict in decision.verdicts
    )


def _bras_record(position: Position, formula: BrasFormula) -> dict[str, Any]:
    """Return BRAS's score and its cube actions, by the article's windows and by the measured ones."""
    score = float(formula.percent(position.board[None])[0])
    record = {
        "S": score,
        "live_from": list(LIVE_FROM),
        "drop_from": DROP_FROM,
        "action": score_action(score, LIVE_FROM[0], DROP_FROM),
    }
    if formula != ARTICLE:
        # The window was measured for the article's formula.
        return record
    measured = score_action(score, MEASURED.double_from, MEASURED.drop_from)
    return {**record, "measured": vars(MEASURED), "measured_action": measured}
