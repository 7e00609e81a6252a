"""The analysis of a match: both players rated, their errors and luck, and what cost most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.analysis.judge import known_error_rate
from motif.analysis.match.confirmation import SHORT, can_roll_out, rolled_errors
from motif.analysis.match.decision_errors import (
    KINDS,
    CubeAct,
    JudgedPlay,
    judge_cube,
    judge_plays,
    roll_luck,
    stakes_of,
)
from motif.analysis.match.record_walk import jacoby_rule, walk
from motif.analysis.match.totals import PlayerAnalysis, errors_of, luck_of, mistakes_of
from motif.analysis.match.worst import WorstCube, WorstPlay, worst_cubes, worst_plays
from motif.board.game_record import MatchRecord
from motif.evaluators import Evaluator
from motif.evaluators.named import without_plies
from motif.rollout.rollout_settings import RolloutSettings
from motif.runtime.errors import RecordError, SettingError
from motif.runtime.layout import html_lines, html_table, text_table

WORST = 10


@dataclass(frozen=True)
class MatchAnalysis:
    """What an evaluator finds in a match."""

    analyst: str
    """The evaluator's name."""
    own_error_rate: float | None
    """What it errs itself, in millipoints a decision on benchmark lines with contact; None where unknown."""
    trials: int
    """How often what looked like an error was rolled out; 0 where the evaluator was believed."""
    names: tuple[str, str]
    length: int
    """Points that the match is played to; 0 is money play."""
    jacoby: bool
    """Whether gammons of money play count only after a double."""
    games: int
    finished: int
    """How many of the games have a result."""
    score: tuple[int, int]
    """Points of the two players after the last game."""
    players: tuple[PlayerAnalysis, PlayerAnalysis]
    plays: tuple[WorstPlay, ...]
    """The plays that cost most."""
    cubes: tuple[WorstCube, ...]
    """The cube decisions that cost most."""

    def _rows(self) -> list[tuple[str, ...]]:
        def error_rate(player: PlayerAnalysis) -> str:
            rate = player.overall.rate
            return "" if rate is None else f"{rate:.1f}" + f" ({player.rating})" * (player.rating is not None)

        first, second = self.players
        return [
            ("error rate, millipoints a decision", error_rate(first), error_rate(second)),
            ("decisions", str(first.overall.decisions), str(second.overall.decisions)),
            ("luck", f"{first.luck.total:+.3f}", f"{second.luck.total:+.3f}"),
        ]

    @property
    def title(self) -> str:
        """Who played what."""
        first, second = self.names
        what = f"{self.length}-point match" if self.length else "money play"
        return f"{first} - {second}, {what}"

    @property
    def opening(self) -> str:
        """A sentence on how far the match went, and who judges it."""
        first, second = self.score
        games = f"{self.games} game{'s' * (self.games != 1)}"
        unfinished = self.games - self.finished
        if unfinished:
            games += f", {unfinished} of them without an end"
        rule = ", Jacoby rule" if self.jacoby else ""
        return f"{games}{rule}, score {first} to {second}; analysed by {self.analyst}."

    def __str__(self) -> str:
        worst = (play.line for play in self.plays)
        return "\n".join(
            [f"{self.title}: {self.opening}", text_table(("", *self.names), self._rows()), *worst]
        )

    def _repr_html_(self) -> str:
        table = html_table(("", *self.names), self._rows())
        return (
            html_lines([f"{self.title}: {self.opening}"])
            + table
            + html_lines(play.line for play in self.plays)
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON; rates and losses are millipoints, totals and luck normalised equity."""
        in_match = bool(self.length)
        return {
            "analyst": self.analyst,
            "own_error_rate": self.own_error_rate,
            "trials": self.trials,
            "length": self.length,
            "jacoby": self.jacoby,
            "games": self.games,
            "finished": self.finished,
            "score": list(self.score),
            "players": [player.as_dict(in_match) for player in self.players],
            "worst": [play.as_dict(in_match) for play in self.plays],
            "worst_cube": [cube.as_dict(in_match) for cube in self.cubes],
        }


def analyse_match(
    record: MatchRecord,
    evaluator: Evaluator,
    *,
    worst: int = WORST,
    cube: bool = True,
    jacoby: bool | None = None,
    confirm: RolloutSettings | None = SHORT,
    jobs: int | None = None,
) -> MatchAnalysis:
    """Rate the two players of `record` by `evaluator`; list the `worst` plays and cube decisions.

    What looks like an error is rolled out as `confirm` says, where the evaluator can, and counts as what the
    rollout makes of it; errors that it does not confirm are not listed.  None: the evaluator is believed.
    Without `cube` its decisions are left out, as is right where nobody had one.  `jacoby` is the rule in
    money play, by default as the record shows.  Raises `RecordError` for a record in which nothing was
    rolled, or that goes on after the end of the match; `SettingError` for a number of decisions below 0.
    """
    if worst < 0:
        raise SettingError(f"so many of the worst decisions cannot be shown: {worst}")
    decisions = walk(record, jacoby=jacoby)
    if not decisions.rolls:
        raise RecordError("nothing to analyse: the record has no roll")
    static = evaluator.without_lookahead
    rolls = [roll for roll in decisions.rolls if roll.play is not None]
    judgements = judge_plays(rolls, evaluator, cube=cube, jobs=jobs)
    if confirm is not None and can_roll_out(evaluator):
        errors = rolled_errors(rolls, judgements, evaluator, settings=confirm, cube=cube, jobs=jobs)
        judgements = [
            one._replace(
                error=max(0.0, errors[row].error), se=errors[row].se, is_sure=errors[row].is_confirmed
            )
            if row in errors
            else one._replace(is_sure=False)
            for row, one in enumerate(judgements)
        ]
    luck = roll_luck(decisions.rolls, static, cube=cube)
    acts = judge_cube(decisions.chances, evaluator, jobs=jobs) if cube else []
    units = [stakes_of(roll.state, cube).unit for roll in rolls]
    rolls_units = np.array([stakes_of(roll.state, cube).unit for roll in decisions.rolls])
    owners = np.array([roll.player for roll in decisions.rolls])
    first, second = (
        _player_analysis(
            record.players[player],
            without_plies(record.players[player]) == without_plies(evaluator.name),
            [
                (one, unit)
                for roll, one, unit in zip(rolls, judgements, units, strict=True)
                if roll.player == player
            ],
            [act for act in acts if act.player == player],
            luck[owners == player],
            rolls_units[owners == player],
        )
        for player in (0, 1)
    )
    return MatchAnalysis(
        analyst=evaluator.name,
        own_error_rate=known_error_rate(evaluator.name),
        trials=confirm.trials if confirm is not None and can_roll_out(evaluator) else 0,
        names=record.players,
        length=record.length,
        jacoby=not record.length and (jacoby_rule(record) if jacoby is None else jacoby),
        games=len(record.games),
        finished=sum(game.result is not None for game in record.games),
        score=_final_score(record),
        players=(first, second),
        plays=tuple(worst_plays(rolls, judgements, units, record.players, evaluator, worst, cube=cube)),
        cubes=tuple(worst_cubes(acts, record.players, worst)),
    )


def _player_analysis(
    name: str,
    is_analyst: bool,
    plays: Sequence[tuple[JudgedPlay, float]],
    acts: Sequence[CubeAct],
    luck: npt.NDArray[np.float64],
    luck_units: npt.NDArray[np.float64],
) -> PlayerAnalysis:
    """The totals of one player; `plays` come with what 1 of equity was worth."""
    free = np.array([(one.error, unit) for one, unit in plays if one.legal > 1]).reshape(-1, 2)
    cubes = np.array([(act.error, act.unit) for act in acts if act.counts]).reshape(-1, 2)
    both = np.concatenate([free, cubes])
    mistakes = {}
    for kind in KINDS:
        wrong = [act for act in acts if act.mistake == kind]
        mistakes[kind] = mistakes_of([act.error for act in wrong], [act.unit for act in wrong])
    return PlayerAnalysis(
        name,
        chequer=errors_of(free[:, 0], free[:, 1]),
        cube=errors_of(cubes[:, 0], cubes[:, 1]),
        overall=errors_of(both[:, 0], both[:, 1]),
        forced=len(plays) - len(free),
        luck=luck_of(luck, luck_units),
        mistakes=mistakes,
        is_analyst=is_analyst,
    )


def _final_score(record: MatchRecord) -> tuple[int, int]:
    """Points after the last game; in money play results alone may say them."""
    if not record.games:
        return 0, 0
    last = record.games[-1]
    score = list(last.score)
    if last.result is not None:
        score[last.result.winner] += last.result.points
    return score[0], score[1]
