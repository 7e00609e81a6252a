"""The decisions of a match with alternatives, errors and marks; the luck of its rolls; totals by player.

Marks and ratings are gnubg's (`motif.board.marks`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

import numpy as np

from motif.analysis.confirmation import DIGITS, difference_shown, estimate_kind
from motif.analysis.match.decision_errors import (
    BEAVER,
    DOUBLE,
    MISTAKE_KINDS,
    NO_DOUBLE,
    PASS,
    TAKE,
    Candidate,
    CubeAct,
    JudgedRoll,
)
from motif.analysis.match.record_walk import CubeChance, Moment, PlayedRoll
from motif.board.game_record import Annotation
from motif.board.marks import BLUNDER, LUCK_MARKS, MARKS, MILLIPOINTS, MIN_RATED, SIGNS, Mark, mark_of, rating
from motif.board.notation import NO_MOVE
from motif.board.packed import pack_many
from motif.parameters.position_class import CLASS_NAMES, classify_many

_OPENING = "opening"
KINDS_OF_DECISION = (_OPENING, *CLASS_NAMES, DOUBLE, TAKE)
"""Plays of the opening roll, other plays by position class, and cube decisions."""
_ERROR_KEYS = (
    "game", "move", "player", "xgid", "roll", "done", "best", "error", "error_se", "mark", "source",
)  # fmt: skip
"""The keys of a decision in a list of errors."""


class CostUnit(StrEnum):
    """The unit of a cost or result: points in money play, match winning chances in a match."""

    POINTS = "points"
    MWC = "mwc"

    @classmethod
    def of_length(cls, length: int) -> Self:
        """Return the unit in a match of `length` points; 0 is money play."""
        return cls.MWC if length else cls.POINTS

    def text(self, value: float, sign: str = "") -> str:
        """Return a value with its unit; `sign` is ``+`` to mark gains."""
        return f"{100 * value:{sign}.2f} % MWC" if self is CostUnit.MWC else f"{value:{sign}.3f} points"


@dataclass(frozen=True)
class MatchDecision:
    """A play or a cube action."""

    moment: Moment
    """Seen by the player on roll, even if the opponent answers a double."""
    player: int
    """The player who decided."""
    kind: str
    """One of `KINDS_OF_DECISION`."""
    done: str
    best: str
    """The best action; the one taken if nothing is better."""
    error: float
    """Normalised equity lost, at least 0."""
    se: float | None
    """Standard error of `error`, if from a rollout."""
    counts: bool
    """Whether it counts as a decision; forced plays and clear non-doubles do not."""
    mark: Mark
    candidates: tuple[Candidate, ...]
    """The best actions and the one taken, best first."""
    mistake: str | None = None
    """Kind of cube mistake, one of `motif.analysis.match.decision_errors.MISTAKE_KINDS`."""
    source: str = ""
    """Source of `error`."""
    trials: int = 0
    """Number of trials of the rollout; 0 without one."""
    is_too_close: bool = False
    """Whether a rollout did not confirm a cube error seen by lookahead, which then does not count.

    An error of a play that a rollout does not confirm counts, but has no mark.
    """

    @property
    def is_play(self) -> bool:
        """Whether this is a play."""
        return isinstance(self.moment, PlayedRoll)

    @property
    def roll(self) -> str:
        """The roll, such as ``31``; empty for a cube action."""
        return "{}{}".format(*self.moment.roll) if isinstance(self.moment, PlayedRoll) else ""

    def rounded(self) -> "MatchDecision":
        """Return the decision with equities of `DIGITS` decimals, and the error as their difference.

        Lists and totals of rounded decisions add up as shown.
        """
        candidates = tuple(
            replace(candidate, equity=round(candidate.equity, DIGITS)) for candidate in self.candidates
        )
        known = {candidate.done: candidate for candidate in candidates}
        lost = self._difference_of(known) if self.error else 0.0
        error = round(self.error, DIGITS)
        if lost is not None and abs(lost - self.error) <= 2 * 10**-DIGITS:
            error = max(0.0, lost)
        return replace(self, candidates=candidates, error=error)

    def differences(self) -> list[float | None]:
        """Return how much less the candidates are worth than the best one, as shown.

        None for the best one, for estimates from another source, and for an opponent's mistake.
        """
        if not self.candidates:
            return []
        kinds = [estimate_kind(candidate.source, candidate.lookahead) for candidate in self.candidates]
        return [
            min(difference_shown(candidate.equity, self._value), 0) or None if kind == kinds[0] else None
            for candidate, kind in zip(self.candidates, kinds, strict=True)
        ]

    @property
    def _value(self) -> float:
        """Equity of the best candidate; a double has its best answer."""
        first, *others = (candidate.equity for candidate in self.candidates)
        return max(first, min(others)) if self.kind == DOUBLE and len(others) > 1 else first

    @property
    def _outcome(self) -> str:
        """The candidate that happened: the action or, for a double, the action with its answer."""
        if self.done == DOUBLE and isinstance(self.moment, CubeChance) and self.moment.answer:
            answers = {"drop": PASS, "beaver": BEAVER if self.moment.state.beavers else TAKE}
            return f"double, {answers.get(self.moment.answer, TAKE)}"
        return self.done

    def _difference_of(self, known: Mapping[str, Candidate]) -> float | None:
        """Return the equity lost by the action among candidates of one source; None if there are none."""
        if self.kind == DOUBLE:
            answers = [candidate.equity for name, candidate in known.items() if name != NO_DOUBLE]
            if not answers or NO_DOUBLE not in known:
                return None
            gain = difference_shown(min(answers), known[NO_DOUBLE].equity)
            return gain if self.done == NO_DOUBLE else -gain
        best, done = known.get(self.best), known.get(self.done)
        if best is None or done is None or best.source != done.source:
            return None
        return difference_shown(best.equity, done.equity)

    @property
    def loss(self) -> str:
        """The loss with its mark; empty if it rounds to less than a millipoint."""
        error = MILLIPOINTS * self.error
        return "" if error < 1 else f"loses {error:.0f} millipoints" + f" ({self.mark})" * bool(self.mark)

    def line(self, name: str) -> str:
        """Return the decision of the player `name` in one line, without candidates."""
        what = f"{self.roll}: {self.done}" if self.is_play else self.done
        lost = ("too close to call",) if self.is_too_close else (SIGNS[self.mark], self.loss)
        return "  ".join(filter(None, (f"{self.moment.heading(name)}, {what}", *lost)))

    def candidate_lines(self) -> Iterator[str]:
        """Yield one line per candidate, best first; what happened has a star.

        An answer that is an error of the opponent has no difference, and comes last if the doubler gains.
        """
        rows = list(zip(self.candidates, self.differences(), strict=True))
        if self.kind == DOUBLE:
            rows.sort(key=lambda row: (row[0].equity > self._value, -row[0].equity))
        for rank, (candidate, difference) in enumerate(rows, 1):
            star = "*" if candidate.done == self._outcome else " "
            less = "" if difference is None else f"  {difference:+z.3f}"
            label = f"  {candidate.label}" if candidate.label else ""
            yield f"{star}{rank}. {candidate.done or NO_MOVE}  {candidate.equity:+z.3f}{less}{label}"

    def error_dict(self, names: tuple[str, str]) -> dict[str, object]:
        """Return the JSON record for a list of errors; `error` is in millipoints."""
        record = self.to_dict(names, CostUnit.POINTS)
        return {key: record[key] for key in _ERROR_KEYS}

    def to_dict(self, names: tuple[str, str], unit: CostUnit) -> dict[str, object]:
        """Return the record for JSON and tables; `error` is in millipoints."""
        return {
            "game": self.moment.game,
            "move": self.moment.move,
            "player": names[self.player],
            "kind": self.kind,
            "position": self.moment.id,
            "xgid": self.moment.xgid,
            "roll": self.roll,
            "done": self.done,
            "best": self.best,
            "error": MILLIPOINTS * self.error,
            "error_se": None if self.se is None else MILLIPOINTS * self.se,
            unit: self.error * self.moment.unit,
            "mark": self.mark,
            "counts": self.counts,
            "source": self.source,
            "trials": self.trials,
            "too_close": self.is_too_close,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


@dataclass(frozen=True)
class RollLuck:
    """The luck of a roll."""

    roll: PlayedRoll
    luck: float
    """Normalised equity gained against the average roll."""

    @property
    def mark(self) -> str:
        """``very lucky``, ``lucky``, ``unlucky``, ``very unlucky`` or empty."""
        word = next((word for limit, word in LUCK_MARKS if abs(self.luck) >= limit), None)
        return "" if word is None else f"{word}{'lucky' if self.luck > 0 else 'unlucky'}"

    def line(self, name: str) -> str:
        """Return the luck of the player `name` in one line."""
        high, low = self.roll.roll
        return f"{self.roll.heading(name)}: {high}{low} gained {self.luck:+z.3f}"

    def to_dict(self, names: tuple[str, str], unit: CostUnit) -> dict[str, object]:
        """Return the JSON record."""
        return {
            "game": self.roll.game,
            "move": self.roll.move,
            "player": names[self.roll.player],
            "roll": list(self.roll.roll),
            "luck": self.luck,
            unit: self.luck * self.roll.unit,
            "mark": self.mark,
            "xgid": self.roll.xgid,
        }


def match_decisions(judgements: Sequence[JudgedRoll], acts: Iterable[CubeAct]) -> list[MatchDecision]:
    """Return all decisions in order of play."""
    decisions = [*_plays(judgements), *map(decision_of_act, acts)]
    return sorted(
        decisions, key=lambda one: (one.moment.game, one.moment.action, one.is_play, one.kind == TAKE)
    )


def _plays(judgements: Sequence[JudgedRoll]) -> Iterator[MatchDecision]:
    if not judgements:
        return
    classes = classify_many(pack_many(np.array([judged.roll.position.board for judged in judgements])))
    for judged, code in zip(judgements, classes.tolist(), strict=True):
        roll = judged.roll
        assert roll.play is not None
        yield MatchDecision(
            roll,
            roll.player,
            _OPENING if roll.opening else CLASS_NAMES[code],
            roll.play.notation,
            judged.of(judged.best).done,
            judged.error,
            judged.rolled and judged.rolled.se,
            counts=judged.legal > 1,
            mark=mark_of(judged.error) if judged.is_sure else "",
            candidates=judged.candidates,
            source=judged.source,
            trials=judged.rolled.trials if judged.rolled else 0,
        )


def decision_of_act(act: CubeAct) -> MatchDecision:
    """Return a cube action as a decision of the match."""
    decision, rolled, answers = act.decision, act.rolled, act.done in (TAKE, PASS, BEAVER)
    known = decision.equities
    if act.chance.state.beavers and decision.doubled is not None and (answers or decision.should_beaver):
        known["double, beaver"] = decision.doubled + decision.cost(BEAVER)
    none_se, taken_se = (rolled and rolled.equity_se) or (None, None)
    errors = {"no double": none_se, "double, take": taken_se, "take": taken_se}
    if answers:
        best: str = decision.answer
        # The equities are the doubler's.
        known = {name.removeprefix("double, "): -one for name, one in known.items() if name != NO_DOUBLE}
    else:
        best = DOUBLE if decision.should_double else NO_DOUBLE
    candidates = [Candidate(done, value, act.source, errors.get(done)) for done, value in known.items()]
    if answers:
        candidates.sort(key=lambda one: one.equity, reverse=True)
    return MatchDecision(
        act.chance,
        act.player,
        TAKE if answers else DOUBLE,
        act.done,
        best if act.mistake else act.done,
        act.error,
        act.se,
        counts=act.counts,
        mark=mark_of(act.error),
        candidates=tuple(candidates),
        mistake=act.mistake,
        source=act.source,
        trials=0 if rolled is None else rolled.trials,
        is_too_close=act.is_too_close,
    )


def notes_of(
    decisions: Iterable[MatchDecision], rolls: Iterable[RollLuck]
) -> dict[tuple[int, int], Annotation]:
    """Return annotations of a match's actions: the decisions and the lucky rolls."""
    notes: dict[tuple[int, int], Annotation] = {}

    def say(moment: Moment, lines: Sequence[str], mark: Mark = "") -> None:
        place = moment.game - 1, moment.action
        before = notes.get(place, Annotation(""))
        worse = max(before.mark, mark, key=tuple(SIGNS).index)
        notes[place] = Annotation("\n".join(filter(None, [before.text, *lines])), worse)

    for decision in decisions:
        if not decision.counts:
            continue
        # The answer follows the double.
        moment = replace(decision.moment, action=decision.moment.action + (decision.kind == TAKE))
        lost = " ".join(filter(None, (decision.done or NO_MOVE, decision.loss)))
        say(moment, [lost, *decision.candidate_lines()], decision.mark)
    for roll in rolls:
        if roll.mark:
            say(roll.roll, [f"{roll.mark}: {roll.luck:+z.3f}"])
    return notes


@dataclass(frozen=True)
class Errors:
    """Totals of a set of decisions."""

    decisions: int
    total: float
    """Normalised equity lost."""
    cost: float | None
    """Points lost in money play, or match winning chances (0 to 1) in a match; None for a mixture."""
    blunders: int
    rate: float | None
    """Millipoints of normalised equity per decision; None without decisions."""
    se: float | None
    """Standard error of `rate`, assuming independent decisions; None for fewer than two."""


@dataclass(frozen=True)
class Sum:
    """Total luck of rolls, or total loss of cube mistakes of one kind."""

    count: int
    """Number of rolls or mistakes."""
    total: float
    """Normalised equity."""
    result: float | None
    """Points in money play, or match winning chances in a match; None for a mixture."""


@dataclass(frozen=True)
class PlayerAnalysis:
    """The results of one player."""

    name: str
    unit: CostUnit | None
    """Unit of costs and results, which are None without one: for money play and matches together."""
    chequer: Errors
    cube: Errors
    overall: Errors
    forced: int
    """Rolls with a single legal play, which are not decisions."""
    luck: Sum
    mistakes: dict[str, Sum] = field(hash=False)
    """Cube mistakes by kind, in the order of `motif.analysis.match.decision_errors.MISTAKE_KINDS`."""
    is_analyst: bool = False
    """Whether the player is the analyst, at any depth, and so is not rated."""
    kinds: dict[str, Errors] = field(default_factory=dict, hash=False)
    """Totals by `KINDS_OF_DECISION`, for the kinds that occurred."""
    marks: dict[str, int] = field(default_factory=dict, hash=False)
    """Number of ``doubtful``, ``bad`` and ``very bad`` decisions."""
    rolls_of_both: int = 0
    """Number of rolls played by both players, including forced plays."""
    result: float | None = None
    """Points won in money play, or MWC gained (-0.5 to 0.5 from even) in a match."""
    luck_adjusted: float | None = None
    """`result` minus the player's luck plus the opponent's."""

    @property
    def rating(self) -> str | None:
        """Rating of the overall error rate; None for fewer than `MIN_RATED` decisions and for the analyst."""
        if self.overall.rate is None or self.is_analyst or self.overall.decisions < MIN_RATED:
            return None
        return rating(self.overall.rate)

    @property
    def pr(self) -> float | None:
        """Performance rating as in eXtreme Gammon: half the error rate."""
        return None if self.overall.rate is None else self.overall.rate / 2

    @property
    def snowie(self) -> float | None:
        """Snowie error rate as in gnubg: millipoints lost per roll of both players, including forced ones."""
        return MILLIPOINTS * self.overall.total / self.rolls_of_both if self.rolls_of_both else None

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record; costs are named by their unit, and left out without one."""
        return {
            "name": self.name,
            "unit": self.unit,
            "rating": self.rating,
            "decisions": self.overall.decisions,
            "error_rate": self.overall.rate,
            "error_rate_se": self.overall.se,
            "pr": self.pr,
            "snowie_error_rate": self.snowie,
            **{kind: self._errors_dict(getattr(self, kind)) for kind in ("chequer", "cube", "overall")},
            "forced": self.forced,
            "luck": {"rolls": self.luck.count, **self._sum_dict(self.luck)},
            "mistakes": {
                kind: {"count": mistakes.count, **self._sum_dict(mistakes)}
                for kind, mistakes in self.mistakes.items()
            },
            "marks": self.marks,
            "kinds": {kind: self._errors_dict(errors) for kind, errors in self.kinds.items()},
            "result": self.result,
            "luck_adjusted_result": self.luck_adjusted,
        }

    def _errors_dict(self, errors: Errors) -> dict[str, object]:
        return {
            "decisions": errors.decisions,
            "error_rate": errors.rate,
            "se": errors.se,
            "total": errors.total,
            **self._in_unit(errors.cost),
            "blunders": errors.blunders,
        }

    def _sum_dict(self, amounts: Sum) -> dict[str, object]:
        return {"total": amounts.total, **self._in_unit(amounts.result)}

    def _in_unit(self, amount: float | None) -> dict[str, object]:
        return {} if self.unit is None else {self.unit: amount}


def player_analysis(
    name: str,
    decisions: Sequence[MatchDecision],
    rolls: Sequence[RollLuck],
    unit: CostUnit | None,
    *,
    is_analyst: bool = False,
    rolls_of_both: int = 0,
) -> PlayerAnalysis:
    """Return the totals of one player from `decisions` and `rolls`, with costs and results in `unit`."""
    plays = [decision for decision in decisions if decision.is_play]
    free = [decision for decision in plays if decision.counts]
    cubes = [decision for decision in decisions if not decision.is_play and decision.counts]
    counted = [decision for decision in decisions if decision.counts]
    mistakes = {}
    for kind in MISTAKE_KINDS:
        wrong = [decision for decision in cubes if decision.mistake == kind]
        mistakes[kind] = _sum([(decision.error, decision.moment.unit) for decision in wrong], unit)
    by_kind = {
        kind: [decision for decision in counted if decision.kind == kind] for kind in KINDS_OF_DECISION
    }
    return PlayerAnalysis(
        name,
        unit,
        chequer=_errors(free, unit),
        cube=_errors(cubes, unit),
        overall=_errors([*free, *cubes], unit),
        forced=len(plays) - len(free),
        luck=_sum([(luck.luck, luck.roll.unit) for luck in rolls], unit),
        mistakes=mistakes,
        is_analyst=is_analyst,
        kinds={kind: _errors(some, unit) for kind, some in by_kind.items() if some},
        marks={mark: sum(decision.mark == mark for decision in counted) for _, mark in reversed(MARKS)},
        rolls_of_both=rolls_of_both,
    )


def _errors(decisions: Sequence[MatchDecision], unit: CostUnit | None) -> Errors:
    losses, count = np.array([decision.error for decision in decisions], np.float64), len(decisions)
    costs = losses * np.array([decision.moment.unit for decision in decisions], np.float64)
    return Errors(
        decisions=count,
        total=float(losses.sum()),
        cost=None if unit is None else float(costs.sum()),
        blunders=int((losses >= BLUNDER).sum()),
        rate=MILLIPOINTS * float(losses.mean()) if count else None,
        se=MILLIPOINTS * float(losses.std(ddof=1)) / math.sqrt(count) if count > 1 else None,
    )


def _sum(amounts: Sequence[tuple[float, float]], unit: CostUnit | None) -> Sum:
    """Return the total of normalised equities, each with its value in `unit`."""
    values, units = np.array(amounts, np.float64).reshape(-1, 2).T
    result = None if unit is None else float((values * units).sum())
    return Sum(len(values), float(values.sum()), result)
