"""Cube decisions of positions, and their JSON records."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motif.analysis.confirmation import DIGITS, difference_shown
from motif.analysis.phrases import LANGUAGE, phrases
from motif.analysis.position_records import probabilities_of_each
from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on
from motif.board.packed import BOARD_SIZE
from motif.board.position import Position
from motif.doubling import CubeDecision, MatchEquityTable, cube_decision
from motif.doubling.bras_windows import DROP_FROM, LIVE_FROM, MEASURED, score_action
from motif.doubling.decision import with_rollout
from motif.doubling.equities import efficiency_class
from motif.evaluators import Evaluator
from motif.evaluators.bras import ARTICLE, BrasEvaluator, BrasFormula
from motif.runtime.frames import Record


class CubeRow(NamedTuple):
    """A possible cube action with its value for the player who may double."""

    action: str
    equity: float
    difference: float | None
    """From the best action; None for that, for the opponent's mistakes, and outside a `CubeTable`."""
    mwc: float | None
    """Chance of winning the match, if any."""

    def for_opponent(self) -> "CubeRow":
        """Return the answer to the double, with its value for the player who answers."""
        mwc = None if self.mwc is None else 1 - self.mwc
        return CubeRow(self.action.partition(", ")[2], -self.equity, None, mwc)


class CubeTable(NamedTuple):
    """The right action and the possible ones, for display."""

    right: str
    rows: list[CubeRow]

    def to_dict(self) -> Record:
        """Return the JSON record."""
        return {"right": self.right, "rows": [row._asdict() for row in self.rows]}


def cube_rows(decision: CubeDecision) -> list[CubeRow]:
    """Return the possible cube actions, with a beaver if it is the right answer."""
    double = decision.double_name
    mwc = decision.mwc_no_double, decision.mwc_double_take, decision.mwc_double_pass
    rows = [
        CubeRow(name.replace("double", double), value, None, one)
        for (name, value), one in zip(decision.equities.items(), mwc, strict=False)
    ]
    if decision.should_beaver and decision.doubled is not None:
        rows.append(CubeRow(f"{double}, beaver", decision.doubled, None, None))
    return rows


class CubeAnswer(NamedTuple):
    """A position's cube decision and its evaluator."""

    position: Position
    decision: CubeDecision
    evaluator: Evaluator
    """Source of the decision's probabilities."""
    player: str
    """Name of `evaluator`."""

    def with_equities(self, no_double: float | None, double_take: float | None) -> "CubeAnswer":
        """Return the answer with known equities, such as those of a rollout, where they are not None."""
        decision = self.decision
        assert decision.double_take is not None
        none = decision.no_double if no_double is None else no_double
        taken = decision.double_take if double_take is None else double_take
        return self._replace(decision=with_rollout(decision, none, taken))

    def table(self, *, answer: bool = False) -> CubeTable:
        """Return the actions of the player who may double or, with `answer`, of the opponent who answers."""
        decision = as_shown(self.decision)
        # Equities are rounded before they are subtracted; match-winning probabilities are not.
        exact = cube_rows(self.decision)
        rows = [row._replace(mwc=one.mwc) for row, one in zip(cube_rows(decision), exact, strict=True)]
        if answer and decision.double_take is not None:
            rows = [row.for_opponent() for row in rows[1:]]
        best = max(row.equity for row in rows) if answer else decision.value
        rows = [row._replace(difference=min(difference_shown(row.equity, best), 0) or None) for row in rows]
        return CubeTable(decision.answer if answer else decision.action, rows)

    def record(self) -> Record:
        """Return the JSON record."""
        record = {
            **decision_record(self.decision),
            "class": efficiency_class(self.position),
            "player": self.player,
            "position": self.position.gnubg_id,
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
    for position, _ in questions:
        check_goes_on(position)
    boards = np.array([position.board for position, _ in questions], np.int8).reshape(-1, BOARD_SIZE)
    each = probabilities_of_each(boards, evaluator, jobs)
    for (position, state), chances in zip(questions, each, strict=True):
        decision = cube_decision(chances, state, position, evaluator, efficiency=efficiency, table=table)
        yield CubeAnswer(position, decision, evaluator, player)


def decision_record(decision: CubeDecision) -> Record:
    """Return a decision for JSON, with a description in English."""
    return {**decision.to_dict(), "words": cube_words(decision)}


def cube_words(decision: CubeDecision, language: str = LANGUAGE, *, answer: bool = False) -> str:
    """Describe a decision in a `language` of `motif.analysis.phrases.languages`.

    With `answer`, only the answer to the double is described.  Costs are differences of the equities as
    shown.
    """
    table, decision = phrases(language), as_shown(decision)
    verdicts = decision.verdicts[answer and decision.doubled is not None :]
    double = table.say("cube", "doubles", decision.double_name)
    return " ".join(
        table.say(
            "cube",
            verdict.key,
            cost=table.amount(verdict.cost),
            degree=verdict.degree and table.say("cube", "degrees", verdict.degree),
            double=double,
        )
        for verdict in verdicts
    )


def as_shown(decision: CubeDecision) -> CubeDecision:
    """Return a decision with equities of `DIGITS` decimals, if they decide alike."""
    if decision.double_take is None:
        return decision
    none, taken = round(decision.no_double, DIGITS), round(decision.double_take, DIGITS)
    shown = replace(with_rollout(decision, none, taken), exact=decision.exact)
    return shown if shown.action == decision.action else decision


def _bras_record(position: Position, formula: BrasFormula) -> Record:
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
