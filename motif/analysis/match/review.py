"""A match decision by decision, as it is judged: what each cost, how lucky its roll was, and who was ahead.

For whoever shows a match while it is analysed: decisions come in the order of play, in parts.  Their errors
are those of `analyse_match` with the same settings.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from motif.analysis.match.confirmation import SHORT, can_roll_out, rolled_errors
from motif.analysis.match.decision_errors import (
    CubeAct,
    JudgedPlay,
    judge_cube,
    judge_plays,
    roll_luck,
    stakes_of,
)
from motif.analysis.match.match_analysis import player_analysis
from motif.analysis.match.record_walk import CubeChance, Moment, PlayedRoll, walk
from motif.board.game_record import MatchRecord
from motif.board.identifiers import gnubg_id
from motif.board.match_state import match_id
from motif.board.moves import legal_plays
from motif.board.xgid import xgid
from motif.cube.equities import scale
from motif.evaluators import Evaluator
from motif.evaluators.named import without_plies
from motif.rollout.rollout_settings import RolloutSettings
from motif.runtime.errors import RecordError

_AT_ONCE = 8
"""Rolls that are judged before something is told."""


@dataclass(frozen=True)
class ReviewedRoll:
    """A roll, as it was played and as it is judged."""

    roll: PlayedRoll
    judged: JudgedPlay | None
    """None where the game ended before the roll was played."""
    luck: float
    """Normalised equity of the player."""
    chance: float
    """Of player 0, before the roll, without lookahead: to win the match, or in money play the game."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON; errors and luck are normalised equity of the player."""
        roll, judged = self.roll, self.judged
        state = replace(roll.state, dice=roll.roll)
        legal = legal_plays(roll.position, roll.roll)
        return {
            **_moment_dict(roll, replace(roll, state=state)),
            "kind": "play",
            "roll": list(roll.roll),
            "played": None if roll.play is None else roll.play.notation,
            "best": None if judged is None else legal[judged.best].notation,
            "legal": len(legal),
            "error": 0.0 if judged is None else judged.error,
            "sure": judged is not None and judged.is_sure,
            "luck": self.luck,
            "chance": self.chance,
        }


@dataclass(frozen=True)
class ReviewedCube:
    """A double, one that was not made, or an answer."""

    act: CubeAct

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the error is normalised equity of who decided."""
        chance, decision = self.act.chance, self.act.decision
        return {
            **_moment_dict(chance, chance),
            "kind": "cube",
            "decider": self.act.player,
            "done": self.act.done,
            "action": decision.action,
            "error": self.act.error,
            "sure": self.act.mistake is not None,
        }


Reviewed = ReviewedRoll | ReviewedCube


class Review:
    """A match that is judged while one looks on; `parts` does the work."""

    def __init__(
        self, record: MatchRecord, evaluator: Evaluator, *, confirm: RolloutSettings | None = SHORT
    ) -> None:
        """`confirm` is what `analyse_match` means by it.  Raises `RecordError` for nothing to analyse."""
        self.record = record
        self._evaluator = evaluator
        self._confirm = confirm if can_roll_out(evaluator) else None
        self._walk = walk(record)
        if not self._walk.rolls:
            raise RecordError("nothing to analyse: the record has no roll")
        self._plays: tuple[list[tuple[JudgedPlay, float]], ...] = ([], [])
        self._acts: tuple[list[CubeAct], ...] = ([], [])
        self._luck: tuple[list[float], ...] = ([], [])
        self._units: tuple[list[float], ...] = ([], [])

    def heading(self) -> dict[str, Any]:
        """What is judged, and by whom, for JSON."""
        record = self.record
        return {
            "names": list(record.players),
            "length": record.length,
            "games": [{"score": game.score, "result": _result(game)} for game in record.games],
            "player": self._evaluator.name,
            "rolls": len(self._walk.rolls),
        }

    def parts(self) -> Iterator[list[Reviewed]]:
        """The decisions in the order of play."""
        chances = list(self._walk.chances)
        rolls = self._walk.rolls
        for start in range(0, len(rolls), _AT_ONCE):
            part: list[Reviewed] = []
            for reviewed in self._judged(rolls[start : start + _AT_ONCE]):
                while chances and _order(chances[0]) <= _order(reviewed.roll):
                    part += self._cube(chances.pop(0))
                part.append(reviewed)
            yield part
        yield [act for chance in chances for act in self._cube(chance)]

    def players(self) -> list[dict[str, Any]]:
        """Figures of both players, for JSON, when all `parts` are judged; see `PlayerAnalysis.as_dict`."""
        names = self.record.players
        return [
            player_analysis(
                names[side],
                without_plies(names[side]) == without_plies(self._evaluator.name),
                self._plays[side],
                self._acts[side],
                np.array(self._luck[side]),
                np.array(self._units[side]),
            ).as_dict(bool(self.record.length))
            for side in (0, 1)
        ]

    def _judged(self, rolls: Sequence[PlayedRoll]) -> list[ReviewedRoll]:
        evaluator = self._evaluator
        played = [roll for roll in rolls if roll.play is not None]
        judgements = judge_plays(played, evaluator, jobs=1)
        if self._confirm is not None:
            errors = rolled_errors(played, judgements, evaluator, settings=self._confirm, jobs=1)
            for row, one in enumerate(judgements):
                error = errors.get(row)
                judgements[row] = (
                    one._replace(is_sure=False)
                    if error is None
                    else one._replace(error=max(0.0, error.error), se=error.se, is_sure=error.is_confirmed)
                )
        static = evaluator.without_lookahead
        luck = roll_luck(rolls, static).tolist()
        left = iter(judgements)
        reviewed = []
        for roll, one_luck in zip(rolls, luck, strict=True):
            judged = None if roll.play is None else next(left)
            unit = stakes_of(roll.state).unit
            if judged is not None:
                self._plays[roll.player].append((judged, unit))
            self._luck[roll.player].append(one_luck)
            self._units[roll.player].append(unit)
            reviewed.append(ReviewedRoll(roll, judged, one_luck, _chance(roll, static)))
        return reviewed

    def _cube(self, chance: CubeChance) -> list[ReviewedCube]:
        acts = judge_cube([chance], self._evaluator)
        for act in acts:
            self._acts[act.player].append(act)
        return [ReviewedCube(act) for act in acts if act.counts]


def _order(moment: Moment) -> tuple[int, int, int]:
    return moment.game, moment.move, moment.player


def _chance(roll: PlayedRoll, static: Evaluator) -> float:
    """That of player 0 to win, before `roll`."""
    state = replace(roll.state, dice=None)
    if state.length:
        stakes = stakes_of(state)
        value = float(static.staked(stakes.stakes, stakes.side).equity_many(roll.position.board[None])[0])
        unit = scale(state)
        chance = min(max(unit.middle + unit.half * value, 0.0), 1.0)
    else:
        chance = static.evaluate(roll.position).win
    return chance if roll.player == 0 else 1 - chance


def _moment_dict(moment: Moment, shown: Moment) -> dict[str, Any]:
    return {
        "game": moment.game,
        "move": moment.move,
        "player": moment.player,
        "id": f"{gnubg_id(shown.position)}:{match_id(shown.state)}",
        "xgid": xgid(shown.position, shown.state),
        "board": shown.position.board.tolist(),
        "cube": moment.state.cube,
        "owner": moment.state.cube_owner,
        "score": [moment.state.own_score, moment.state.opponent_score],
    }


def _result(game: Any) -> dict[str, Any] | None:
    return None if game.result is None else {"winner": game.result.winner, "points": game.result.points}
