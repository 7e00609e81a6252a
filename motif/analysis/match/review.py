"""Match analysis in batches, for display while it runs: the decisions of `analyse_match` in order of play."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from motif.analysis.confirmation import confirming_rollout
from motif.analysis.match.decision_errors import judge_cube, judge_plays, roll_luck, valued_state
from motif.analysis.match.decisions import CostUnit, MatchDecision, RollLuck, match_decisions
from motif.analysis.match.match_analysis import both_players, result_of
from motif.analysis.match.record_walk import CubeChance, Moment, PlayedRoll, walk
from motif.board.game_record import MatchRecord, illegal_plays, occasion_of, score_jumps, uses_cube
from motif.doubling.equities import scale
from motif.evaluators import Evaluator
from motif.players.ranking import cube_model_of
from motif.runtime.errors import RecordError
from motif.runtime.frames import Record

_AT_ONCE = 8
"""Number of rolls per batch."""


@dataclass(frozen=True)
class ReviewedRoll:
    """A roll with its decision, luck and winning chance."""

    luck: RollLuck
    decision: MatchDecision | None
    """None for an illegal play, and if the game or record ended before the play."""
    chance: float
    """Player 0's static probability, before the roll, of winning the match or, in money play, the game."""

    def to_dict(self, names: tuple[str, str], unit: CostUnit) -> dict[str, object]:
        """Return the JSON record."""
        roll = self.luck.roll
        known = {} if self.decision is None else _record(self.decision, names, unit)
        return {
            "done": None,
            "best": None,
            "error": 0.0,
            "mark": "",
            "counts": False,
            **known,
            **_shown(roll),
            "is_play": True,
            "decider": roll.player,
            "dice": list(roll.roll),
            "luck": self.luck.luck,
            "luck_mark": self.luck.mark,
            "chance": self.chance,
        }


@dataclass(frozen=True)
class ReviewedCube:
    """A cube action."""

    decision: MatchDecision
    action: str
    """The right action of both players, such as ``double, take``."""

    def to_dict(self, names: tuple[str, str], unit: CostUnit) -> dict[str, object]:
        """Return the JSON record."""
        decision = _record(self.decision, names, unit)
        known = {candidate.done: candidate.equity for candidate in self.decision.candidates}
        taken = -known["take"] if "take" in known else known.get("double, take")
        return {
            **decision,
            **_shown(self.decision.moment),
            "is_play": False,
            "decider": self.decision.player,
            "action": self.action,
            "known": {
                "no_double": known.get("no double"),
                "double_take": taken,
                "source": self.decision.source,
                "se": self.decision.se,
            },
        }


Reviewed = ReviewedRoll | ReviewedCube


class Review:
    """A match analysis in batches, which `parts` yields.

    If the record says that there is no cube, it is ignored, as by `analyse_match`.  It does not say whether
    `beavers` and `raccoons` are allowed.
    """

    def __init__(
        self, record: MatchRecord, evaluator: Evaluator, *, beavers: bool = False, raccoons: bool = False
    ) -> None:
        """Raise `RecordError` if there are no rolls."""
        self.record = record
        self.evaluator, self._confirm = evaluator, confirming_rollout(evaluator)
        self._walk = walk(record).with_beavers(beavers, raccoons)
        self._cube_used = uses_cube(record)
        if not self._walk.rolls:
            raise RecordError("nothing to analyse: the record has no rolls")
        self._decisions: list[MatchDecision] = []
        self._lucks: list[RollLuck] = []

    def heading(self) -> dict[str, object]:
        """Return the match and the analyst for JSON."""
        return {
            "names": list(self.record.players),
            "length": self.record.length,
            "player": self.evaluator.name,
            "rolls": len(self._walk.rolls),
            **occasion_of(self.record)._asdict(),
            "score_jumps": [jump._asdict() for jump in score_jumps(self.record)],
            "illegal_plays": [illegal._asdict() for illegal in illegal_plays(self.record)],
        }

    def own_part(self, records: Sequence[Record]) -> list[Record] | None:
        """Return those of the `records` of a finished review that are of this one's games.

        None unless they have the same rolls, played in the same way.
        """
        games = {roll.game for roll in self._walk.rolls}
        part = [record for record in records if record["game"] in games]
        known = [(record["xgid"], record["done"]) for record in part if record["is_play"]]
        return part if known == [(roll.xgid, _done(roll)) for roll in self._walk.rolls] else None

    def parts(self) -> Iterator[list[Reviewed]]:
        """Yield the decisions in order, with forced plays but without clear non-doubles."""
        chances = list(self._walk.chances) if self._cube_used else []
        rolls = self._walk.rolls
        for start in range(0, len(rolls), _AT_ONCE):
            part: list[Reviewed] = []
            for reviewed in self._judged(rolls[start : start + _AT_ONCE]):
                while chances and _order(chances[0]) <= _order(reviewed.luck.roll):
                    part += self._cube(chances.pop(0))
                part.append(reviewed)
            yield part
        yield [act for chance in chances for act in self._cube(chance)]

    def records(self, part: Sequence[Reviewed]) -> list[dict[str, object]]:
        """Return a part's JSON records, with rounded equities and errors."""
        shown = (
            record if record.decision is None else replace(record, decision=record.decision.rounded())
            for record in part
        )
        return [one.to_dict(self.record.players, CostUnit.of_length(self.record.length)) for one in shown]

    def players(self) -> list[dict[str, object]]:
        """Return both players' totals for JSON after all `parts`; see `PlayerAnalysis.to_dict`.

        ``total`` is the sum of the rounded errors, as listed; rates are those of a match analysis.
        """
        records, shown = (
            self._totals(decisions)
            for decisions in (self._decisions, [decision.rounded() for decision in self._decisions])
        )
        for record, rounded in zip(records, shown, strict=True):
            for part in ("overall", "chequer", "cube"):
                record[part]["total"] = rounded[part]["total"]
        return records

    def _totals(self, decisions: Sequence[MatchDecision]) -> list[dict[str, Any]]:
        record, lucks = self.record, self._lucks
        both = both_players(record, self.evaluator.name, decisions, lucks, result_of(record))
        return [player.to_dict() for player in both]

    def _judged(self, rolls: Sequence[PlayedRoll]) -> Iterator[ReviewedRoll]:
        evaluator, cube = self.evaluator, self._cube_used
        played = [roll for roll in rolls if roll.is_judged]
        judgements = judge_plays(played, evaluator, cube=cube, confirm=self._confirm, jobs=1)
        decisions = match_decisions(judgements, ())
        self._decisions += decisions
        left = iter(decisions)
        static = evaluator.without_lookahead
        for luck in map(RollLuck, rolls, roll_luck(rolls, static, cube=cube).tolist()):
            self._lucks.append(luck)
            decision = next(left) if luck.roll.is_judged else None
            yield ReviewedRoll(luck, decision, _chance(luck.roll, static, cube))

    def _cube(self, chance: CubeChance) -> list[ReviewedCube]:
        acts = judge_cube([chance], self.evaluator, confirm=self._confirm)
        decisions = match_decisions((), acts)
        self._decisions += decisions
        # Both are in order of play.
        reviewed = zip(decisions, acts, strict=True)
        return [ReviewedCube(decision, act.decision.action) for decision, act in reviewed if decision.counts]


def _record(decision: MatchDecision, names: tuple[str, str], unit: CostUnit) -> dict[str, object]:
    """Return a decision's JSON record, with the candidates' differences from the best one."""
    differences = zip(decision.candidates, decision.differences(), strict=True)
    candidates = [{**one.to_dict(), "difference": less} for one, less in differences]
    return {**decision.to_dict(names, unit), "candidates": candidates}


def _done(roll: PlayedRoll) -> str | None:
    """Return the play that is judged, in notation."""
    return roll.play.notation if roll.play is not None and roll.is_judged else None


def _order(moment: Moment) -> tuple[int, int]:
    return moment.game, moment.action


def _chance(roll: PlayedRoll, static: Evaluator, cube: bool) -> float:
    """Return player 0's winning probability before `roll`; without `cube`, the cube is ignored."""
    state = valued_state(roll.state, cube)
    if state.length:
        cubeful = static.with_cube(cube_model_of(state))
        value = float(cubeful.equity_many(roll.position.board[None])[0])
        chance = min(max(scale(state).value(value), 0.0), 1.0)
    else:
        chance = static.evaluate(roll.position).win
    return chance if roll.player == 0 else 1 - chance


def _shown(moment: Moment) -> dict[str, object]:
    """Return what a board display needs, as seen by the player on roll."""
    state = moment.state
    return {
        "game": moment.game,
        "move": moment.move,
        "on_roll": moment.player,
        "id": moment.xgid if state.beavers else moment.id,  # a Match ID does not include beavers
        "xgid": moment.xgid,
        "board": moment.position.board.tolist(),
        "cube": state.cube,
        "owner": state.cube_owner,
        "score": [state.own_score, state.opponent_score],
    }
