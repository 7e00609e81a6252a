"""Rollouts for commands and servers, and their JSON records."""

from typing import NamedTuple

from motif.analysis.judge import MatchOptions, for_match, valued_record
from motif.board.match_state import MatchState
from motif.board.moves import check_goes_on, legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.doubling import CubeDecision, cube_decision
from motif.doubling.cube_states import cube_model_for
from motif.doubling.cubeful_rollout import CubeRollout, roll_out_cube
from motif.evaluators import Evaluator
from motif.players.ranking import cube_model_of
from motif.rollouts import Comparison, RolloutResult, RolloutSettings, compare_plays
from motif.rollouts import rollout as roll_out
from motif.rollouts.comparison import CANDIDATES
from motif.rollouts.trials import by_name
from motif.runtime.frames import Record


class RolloutQuestion(NamedTuple):
    """A rollout's position and settings."""

    position: Position
    match: MatchState | None
    """The state of the ID, if it has one."""
    options: MatchOptions
    evaluator: Evaluator
    settings: RolloutSettings
    state: MatchState | None = None
    """The match state of a cubeful rollout: that of the ID after applying the options."""
    jobs: int | None = None

    def record(self, record: Record) -> Record:
        """Add the fields common to all results to the JSON `record`."""
        settings = self.settings
        played = {"player": self.evaluator.name, "scoring": settings.scoring, "seed": settings.seed}
        cubeful = {} if self.state is None else {"cubeful": True}
        return cubeful | record | played | {"position": self.position.gnubg_id}

    def play_out(self) -> RolloutResult:
        """Roll out the position without a cube; raises `PositionError` if the game is over."""
        check_goes_on(self.position)
        return roll_out(self.position, self.evaluator, self.settings, jobs=self.jobs)

    def decide(self) -> tuple[CubeRollout, CubeDecision]:
        """Roll out the cube decision; also return the static decision."""
        assert self.state is not None
        result = roll_out_cube(self.position, self.state, self.evaluator, self.settings, jobs=self.jobs)
        chances = self.evaluator.evaluate(self.position)
        return result, cube_decision(chances, result.state, self.position)

    def compare(
        self, roll: tuple[int, int], candidates: int | None, named: list[str]
    ) -> tuple[Comparison, Record]:
        """Compare the `named` plays of a roll, or the best ones; also return the state for JSON.

        With a match or a cube, both sides double in the trials.
        """
        state = for_match(self.evaluator, self.options, self.state or self.match)
        cube_model = cube_model_of(state) if self.state is None else cube_model_for(self.state)
        legal = legal_plays(self.position, roll)
        comparison = compare_plays(
            self.position,
            roll,
            self.evaluator,
            self.settings,
            plays=[find_play(text, legal) for text in named] or None,
            candidates=CANDIDATES if candidates is None else candidates,
            cube_model=cube_model,
            jobs=self.jobs,
        )
        cubeful = {} if cube_model.is_cubeless else {"cubeful": True}
        return comparison, valued_record(state) | cubeful


def result_record(result: RolloutResult) -> Record:
    """Return the JSON record of a rolled-out position."""
    return {
        "mean": by_name(result.mean[0]),
        "se": by_name(result.se[0]),
        "sd": by_name(result.sd[0]),
        "trials": int(result.trials[0]),
        "seconds": result.seconds,
        "trials_per_second": result.trials_per_second,
    }


def cube_rollout_record(result: CubeRollout, static: CubeDecision) -> Record:
    """Return the JSON record of a rolled-out cube decision, with the static one."""
    shown = ("action", "no_double", "double_take", "double_pass", "exact")
    return result.to_dict() | {"static": {name: getattr(static, name) for name in shown}}
