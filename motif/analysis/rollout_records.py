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

    def _record(self, record: Record) -> Record:
        """Add the fields common to all results to the JSON `record`."""
        settings = self.settings
        played = {"player": self.evaluator.name, "scoring": settings.scoring, "seed": settings.seed}
        cubeful = {} if self.state is None else {"cubeful": True}
        return cubeful | record | played | {"position": self.position.gnubg_id}

    def play_out(self) -> tuple[RolloutResult, Record]:
        """Roll out the position without a cube; also return the JSON record.

        Raises `PositionError` if the game is over.
        """
        check_goes_on(self.position)
        result = roll_out(self.position, self.evaluator, self.settings, jobs=self.jobs)
        record = {
            **{name: by_name(getattr(result, name)[0]) for name in ("mean", "se", "sd")},
            "trials": int(result.trials[0]),
            "seconds": result.seconds,
            "trials_per_second": result.trials_per_second,
        }
        return result, self._record(record)

    def decide(self) -> tuple[CubeRollout, CubeDecision, Record]:
        """Roll out the cube decision; also return the static decision, and the JSON record of both."""
        assert self.state is not None
        result = roll_out_cube(self.position, self.state, self.evaluator, self.settings, jobs=self.jobs)
        static = cube_decision(self.evaluator.evaluate(self.position), result.state, self.position)
        shown = ("action", "no_double", "double_take", "double_pass", "exact")
        record = result.to_dict() | {"static": {name: getattr(static, name) for name in shown}}
        return result, static, self._record(record)

    def compare(
        self, roll: tuple[int, int], candidates: int | None, named: list[str]
    ) -> tuple[Comparison, Record]:
        """Compare the `named` plays of a roll, or the best ones; also return the JSON record.

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
        record = comparison.to_dict() | valued_record(state) | cubeful | {"roll": list(roll)}
        return comparison, self._record(record)
