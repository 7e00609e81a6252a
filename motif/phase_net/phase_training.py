"""The record of a phase net's training: errors by epoch, stages, and games against other players."""

from dataclasses import asdict, dataclass
from typing import NamedTuple

from motif.phase_net.phase_settings import PhaseNetSettings
from motif.runtime.frames import Row


class Epoch(NamedTuple):
    """Figures of one pass over the boards of a round; stage 1 is round 0."""

    round: int
    epoch: int
    """Number of the epoch, from 1."""
    boards: int
    rmse_train: float
    """Mean loss over the pass, each batch measured before its step."""
    rmse_validation: float
    """Error after the pass, on boards of other games (in stage 1, on held-out boards)."""


@dataclass(frozen=True)
class GameFigures:
    """Results of a player in games against another one, with standard errors."""

    games: int
    wins: int
    win_share: float
    win_share_se: float
    ppg: float
    ppg_se: float | None

    def __str__(self) -> str:
        return f"wins {100 * self.win_share:.1f} ± {100 * self.win_share_se:.1f} % of {self.games:,} games"


@dataclass(frozen=True)
class HeuristicStage:
    """Stage 1, in which a net learns the heuristic's scores, with the errors of its last epoch."""

    epochs: int
    stopped: str
    """Reason why it ended."""
    boards: int
    rmse_train: float
    rmse_validation: float


@dataclass(frozen=True)
class Round:
    """A round of stage 2: the errors of its last epoch, and games of the net after it."""

    round: int
    boards: int
    rmse_train: float
    rmse_validation: float
    versus_heuristic: GameFigures
    versus_previous: GameFigures
    """Against the net of the round before."""
    versus_opponents: dict[str, GameFigures]


@dataclass(frozen=True)
class OutcomeStage:
    """Stage 2, in which a net learns who won games of best-of-four."""

    stopped: str
    """Reason why it ended."""
    chosen_round: int
    """Round whose net is the refined one."""
    rmse_validation_before: float
    rounds: list[Round]


@dataclass(frozen=True)
class FinalGames:
    """Games of one net of a training against another player, with dice of their own."""

    player: str
    opponent: str
    result: GameFigures

    def to_dict(self) -> Row:
        """Return the names and the results by name."""
        return {"player": self.player, "opponent": self.opponent, **asdict(self.result)}


class Difference(NamedTuple):
    """Difference between a net's scores and the heuristic's: net minus heuristic, as in the source."""

    boards: int
    mean: float
    variance: float
    mean_size: float
    """Mean absolute difference."""


@dataclass(frozen=True, eq=False)
class PhaseNetTraining:
    """Record of a training."""

    settings: PhaseNetSettings
    stage_1: HeuristicStage | None
    """None if it was left out, like `stage_2`."""
    stage_2: OutcomeStage | None
    matches: tuple[FinalGames, ...]
    difference_to_heuristic: dict[str, Difference]
    """By name of the net."""
    epochs: tuple[Epoch, ...]
    """Rows of ``history.csv``."""
    seconds: float
    seconds_by_step: dict[str, float]

    def to_dict(self) -> Row:
        """Return the contents of ``phase-net.json``: everything but the epochs."""
        return {
            "settings": asdict(self.settings),
            "stage_1": self.stage_1 and asdict(self.stage_1),
            "stage_2": self.stage_2 and asdict(self.stage_2),
            "matches": [games.to_dict() for games in self.matches],
            "difference_to_heuristic": {
                name: difference._asdict() for name, difference in self.difference_to_heuristic.items()
            },
            "seconds": self.seconds,
            "seconds_by_step": self.seconds_by_step,
        }
